"""Dates, times and durations as query ids and segments: the instant counts, not unit or type."""

import datetime as dt
import pickle
from itertools import permutations, product
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis_profiles import examples

from sklearn_rankscore import (
    RankingAccumulator,
    evaluate_batches,
    evaluate_parquet,
    query_scores,
)
from sklearn_rankscore.metrics.segment import Segment
from sklearn_rankscore.streaming.key_set import keys_of

DAYS = ["2020-01-01", "2020-01-02", "2020-01-05", "9999-12-31"]
UNITS = ["D", "s", "ms", "us", "ns"]


def of_python(days, zone=None):
    return [dt.datetime.fromisoformat(day).replace(tzinfo=zone) for day in days]


def stamps(days, unit="us", zone=None):
    return pd.to_datetime(days).tz_localize(zone).as_unit(unit)


# the same days in each form in which they reach a stream
FORMS = {
    **{unit: lambda days, unit=unit: np.array(days, f"M8[{unit}]") for unit in UNITS},
    "date": lambda days: [dt.date.fromisoformat(day) for day in days],
    "datetime": of_python,
    "Timestamp": lambda days: list(stamps(days)),
    "Timestamp in ns": lambda days: list(stamps(days, "ns")),
    "pandas": stamps,
    "aware": lambda days: of_python(days, dt.UTC),
    "pandas aware": lambda days: stamps(days, zone="UTC"),
    "other offset": lambda days: [
        day.astimezone(dt.timezone(dt.timedelta(hours=5))) for day in of_python(days, dt.UTC)
    ],
    "other zone": lambda days: [
        day.astimezone(ZoneInfo("America/New_York")) for day in of_python(days, dt.UTC)
    ],
}


def add(stream, ids, order="grouped"):
    n = len(ids)
    return stream.update_sorted(np.arange(n) % 2, np.arange(n), ids, order=order)


@pytest.mark.parametrize("order", ["ascending", "grouped"])
@pytest.mark.parametrize("form", FORMS)
def test_a_query_continues_in_the_next_batch(form, order):
    stream = RankingAccumulator("mrr")
    for days in (["2020-01-01", "2020-01-02"], ["2020-01-02", "2020-01-02"], ["2020-01-02"]):
        add(stream, FORMS[form](days), order)
    assert stream.result()["mrr"].n_queries == 2


@pytest.mark.parametrize(("first", "second"), permutations(FORMS, 2))
def test_a_day_that_returns_in_another_form_is_refused(first, second):
    one = add(RankingAccumulator("mrr"), FORMS[first](DAYS[:3]))
    two = add(RankingAccumulator("mrr"), FORMS[second](["2020-01-07", DAYS[1], "2020-01-09"]))
    for a, b in ((one, two), (two, one)):
        with pytest.raises(ValueError, match="share a query"):
            pickle.loads(pickle.dumps(a)).merge(b)
    with pytest.raises(ValueError, match=r"(2020-01-02|01-01 19:00).* returns after other queries"):
        add(one, FORMS[second](["2020-01-07", DAYS[1]]))


@pytest.mark.parametrize("order", ["ascending", "grouped"])
@pytest.mark.parametrize(
    ("first", "second"),
    [
        *product([*UNITS, "date", "datetime", "pandas", "Timestamp in ns"], repeat=2),
        *product(["aware", "pandas aware", "other offset", "other zone"], repeat=2),
    ],
)
def test_a_query_continues_in_another_form(first, second, order):
    stream = RankingAccumulator("mrr")
    for form, days in ((first, DAYS[:2]), (second, DAYS[1:3])):
        add(stream, FORMS[form](days), order)
    assert stream.result()["mrr"].n_queries == 3
    parts = [
        add(RankingAccumulator("mrr"), FORMS[f](d), order)
        for f, d in ((first, DAYS[:2]), (second, DAYS[1:3]))
    ]
    assert parts[1].merge(parts[0]).result()["mrr"].n_queries == 3
    if "aware" not in first and "other" not in first:
        add(stream, np.array([DAYS[3]], "M8[s]"), order)  # beyond the range of nanoseconds
        assert stream.result()["mrr"].n_queries == 4


@pytest.mark.parametrize(("first", "second"), permutations([*UNITS, "pandas"], 2))
def test_a_complete_batch_with_an_open_query_is_refused(first, second):
    for order, error in (("ascending", "is split"), ("grouped", "returns after|is split")):
        stream = add(RankingAccumulator("mrr"), FORMS[first](DAYS[:3]), order)
        for day in (DAYS[0], DAYS[2]):
            with pytest.raises(ValueError, match=error):
                stream.update([1, 1], [2, 1], FORMS[second](["2020-01-07", day]))


@pytest.mark.parametrize("in_tuples", [False, True])
@pytest.mark.parametrize(("first", "second"), permutations(["s", "ms", "us", "ns"], 2))
@pytest.mark.parametrize("batch_rows", [1, 2, 2**21])
def test_batches_and_files(tmp_path, first, second, batch_rows, in_tuples):
    def table(days, unit):
        ids = pa.array(stamps(days, unit))
        columns = {"qid": ids, "part": ["a"] * len(days)} if in_tuples else {"qid": ids}
        return pa.table({**columns, "label": np.arange(len(days)) % 2, "score": range(len(days))})

    options = {"order": "grouped", "group": ["qid", "part"] if in_tuples else "qid"}
    returning = [table(DAYS[:3], first), table(["2020-01-07", DAYS[1]], second)]
    continued = [table(DAYS[:2], first), table(DAYS[1:3], second)]
    with pytest.raises(ValueError, match="returns after other queries"):
        evaluate_batches(returning, "mrr", batch_rows=batch_rows, **options)
    stream = RankingAccumulator("mrr")
    evaluate_batches(continued, stream, batch_rows=batch_rows, **options)
    assert stream.result()["mrr"].n_queries == 3
    for tables in (continued, returning):
        stream, paths = RankingAccumulator("mrr"), []
        for number, part in enumerate(tables):
            paths.append(tmp_path / f"{number}.parquet")
            pq.write_table(part, paths[-1])
        evaluate_parquet(paths[0], stream, progress=False, **options)
        if tables is continued:
            evaluate_parquet(paths[1], stream, progress=False, **options)
            assert stream.result()["mrr"].n_queries == 3
        else:
            with pytest.raises(ValueError, match="returns after other queries"):
                evaluate_parquet(paths[1], stream, progress=False, **options)


def test_durations_and_times_of_day():
    hour = dt.timedelta(hours=1)
    same = [
        [np.timedelta64(1, "h")],
        [np.timedelta64(60, "m")],
        [hour],
        [pd.Timedelta(hour)],
        np.array([3600], "m8[s]"),
        np.array([3600 * 10**9], "m8[ns]"),
    ]
    assert len({int(keys_of(np.asarray(ids))[0]) for ids in same}) == 1
    times = [dt.time(5, tzinfo=dt.timezone(dt.timedelta(hours=h))) for h in (0, 1)]
    times += [dt.time(6, tzinfo=dt.timezone(hour)), dt.time(5), dt.time(5, fold=1), dt.time(6)]
    keys = keys_of(np.array(times))
    for (a, one), (b, two) in permutations(zip(times, keys, strict=True), 2):
        assert (a == b) == (one == two)


instants = st.one_of(
    st.tuples(st.integers(-(10**6), 10**6), st.sampled_from(["h", "s", "ms", "us", "ns", "ps"])),
    st.tuples(st.integers(-(2**62), 2**62), st.sampled_from(["us", "ns", "ps", "as"])),
)
EXACT_UNITS = {
    "h": 3600 * 10**18,
    "s": 10**18,
    "ms": 10**15,
    "us": 10**12,
    "ns": 10**9,
    "ps": 10**6,
    "as": 1,
}


@examples(200)
@given(st.lists(instants, min_size=2, max_size=8), st.sampled_from("mM"))
def test_keys_are_equal_for_equal_instants(listed, kind):
    keys = {}
    for number, unit in listed:
        key = int(keys_of(np.array([number], f"{kind}8[{unit}]"))[0])
        in_tuple = np.empty(1, dtype=object)
        in_tuple[0] = (np.array([number], f"{kind}8[{unit}]")[0],)
        keys.setdefault(number * EXACT_UNITS[unit], set()).add((key, int(keys_of(in_tuple)[0])))
    assert all(len(of_one) == 1 for of_one in keys.values())
    assert len({key for of_one in keys.values() for key in of_one}) == len(keys)


def test_dates_are_no_numbers():
    ids = [np.array([1, 2, 3], kind) for kind in ("i8", "M8[s]", "M8[ns]", "m8[s]", "m8[ns]")]
    assert len(np.unique(np.concatenate(list(map(keys_of, ids))))) == 15
    stream = add(RankingAccumulator("mrr"), ids[1])
    for one in (ids[0], ids[2], ids[3]):
        stream = add(stream, one)
    assert stream.result()["mrr"].n_queries == 12


SEGMENTS = {
    form: FORMS[form] for form in ("s", "ms", "us", "ns", "datetime", "Timestamp", "pandas")
}


@pytest.mark.parametrize("form", SEGMENTS)
@pytest.mark.parametrize("method", ["update", "update_sorted", "batches", "query_scores"])
def test_segments_by_day(form, method):
    ids, days = np.repeat(np.arange(4), 2), SEGMENTS[form](np.repeat(DAYS[:2], 4).tolist())
    y_true, y_score = [1, 0, 0, 1, 1, 0, 0, 1], [2, 1] * 4
    if method == "batches":
        frame = pd.DataFrame({"qid": ids, "label": y_true, "score": y_score, "day": days})
        values = list(evaluate_batches([frame], "mrr", by="day"))
    elif method == "query_scores":
        scores = query_scores(y_true, y_score, "mrr", groups=ids, segments={"day": days})
        values = [tuple(score.segment) for score in scores.by("day")]
    else:
        stream = RankingAccumulator("mrr", by="day")
        values = list(getattr(stream, method)(y_true, y_score, ids, segments=days).by_segment())
    expected = [("day", day) for day in of_python(DAYS[:2])]
    assert [one for one in values if one[0]] == expected
    assert all(isinstance(value, dt.datetime) for name, value in values if name)


@pytest.mark.parametrize(("first", "second"), permutations(SEGMENTS, 2))
def test_a_segment_continues_in_another_form(first, second):
    parts = [SEGMENTS[form]([DAYS[0]] * 4) for form in (first, second)]
    stream = RankingAccumulator("mrr", by="day")
    ids = [[0, 0, 1, 1], [1, 2, 2, 2]]
    for groups, days in zip(ids, parts, strict=True):
        stream.update_sorted([1, 0, 0, 1], [1, 2, 3, 4], groups, segments=days)
    day = Segment("day", of_python(DAYS[:1])[0])
    assert list(stream.by_segment()) == [day]
    assert stream.by_segment()[day]["mrr"].n_queries == 3


@pytest.mark.filterwarnings("ignore:(in )?nearly all queries:UserWarning")
@pytest.mark.parametrize("unit", ["s", "us", "ns"])
def test_more_days_than_numbers_may_have_segments_and_missing_ones(unit):
    ids = np.repeat(np.arange(30), 2)
    days = np.arange(30).astype("M8[D]").astype(f"M8[{unit}]").repeat(2)
    days[:2] = "NaT"
    stream = RankingAccumulator("mrr", by="day").update(ids % 2, ids, ids, segments=days)
    values = [value for _, value in stream.by_segment()]
    assert values == [*of_python(days[2::2].astype("M8[D]").astype(str)), "missing"]
    with_nat = query_scores(ids % 2, ids, "mrr", groups=ids, segments={"day": days})
    assert [score.segment.value for score in with_nat.by("day")] == values


def test_durations_as_segments():
    ids = np.repeat(np.arange(4), 2)
    for unit in ("s", "us", "ns"):
        waits = np.array([1, 1, 1, 1, 2, 2, 2, 2], "m8[s]").astype(f"m8[{unit}]")
        stream = RankingAccumulator("mrr", by="wait").update(ids % 2, ids, ids, segments=waits)
        values = [value for _, value in stream.by_segment()]
        assert values == [dt.timedelta(seconds=1), dt.timedelta(seconds=2)]
    finer = np.array([1, 1, 1, 1, 1001, 1001, 1000, 1000], "m8[ns]")
    stream = RankingAccumulator("mrr", by="wait").update(ids % 2, ids, ids, segments=finer)
    values = [value for _, value in stream.by_segment()]
    assert set(values) == {dt.timedelta(microseconds=1), *finer[[0, 4]]}


def test_batches_with_nanoseconds_within_tuples_and_times():
    columns = {"label": [1, 0, 0, 1], "score": [2, 1, 2, 1], "part": list("aaaa")}
    for kind in (pa.timestamp("ns"), pa.duration("ns")):
        ids = pa.array([1, 1, 2, 2], pa.int64()).cast(kind)
        table = pa.table({"qid": ids, **columns})
        for group in ("qid", ["qid", "part"]):
            assert evaluate_batches([table], "mrr", group=group) == {"mrr": 0.75}
            with pytest.raises(ValueError, match="returns after other queries"):
                evaluate_batches([table, table], "mrr", group=group, order="grouped")


def test_times_of_day_with_nanoseconds_are_refused():
    ids = pa.array([1, 1], pa.time64("ns"))
    table = pa.table({"qid": ids, "label": [1, 0], "score": [1, 2]})
    with pytest.raises(ValueError, match=r"type time64\[ns\] must be whole microseconds .*to text"):
        evaluate_batches([table], "mrr")
    whole = table.set_column(0, "qid", pa.array([1000, 1000], pa.time64("ns")))
    assert evaluate_batches([whole], "mrr") == {"mrr": 0.5}


def test_dates_beside_numbers_and_text():
    ids = [np.array(DAYS[:2], "M8[ns]"), [1, 2], ["a", "b"], np.array([1, 2], "m8[ns]")]
    stream = RankingAccumulator("mrr")
    for one in ids:
        add(stream, one)
    assert stream.result()["mrr"].n_queries == 8
    with pytest.raises(ValueError, match=r"2020-01-01.* returns after"):
        add(stream, of_python(DAYS[:1]))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (np.array(["2020-01-01"], "M8[ns]"), np.array(["2999-01-01"], "M8[D]")),
        (np.array(["1600-01-01"], "M8[s]"), np.array(["2020-01-01"], "M8[ns]")),
        (np.array([3], "m8[ns]"), np.array([200_000], "m8[D]")),
        (np.array(["é"]), np.array([b"\xff"])),
        (np.array([b"\xff"]), np.array(["é", "z"])),
    ],
    ids=str,
)
def test_ids_of_types_without_a_common_one_are_unchanged(first, second):
    stream = RankingAccumulator("hits", per_query=True)
    for ids in (first, second):
        stream.update(np.ones(len(ids)), np.ones(len(ids)), groups=ids)
    ids, _ = stream.query_values()
    assert set(ids) == {*first, *second}
