"""Results of queries whose ids are dates, in two units or types: equal dates are one query."""

import datetime

import numpy as np
import pandas as pd
import pytest

from sklearn_rankscore import QueryScores, RankChangeDisplay, compare, query_scores, rectify
from sklearn_rankscore.query_ids.lookup import ids_in

DAYS = np.arange("2020-01-01", "2020-02-10", dtype="M8[D]")
UNITS = ["D", "s", "us", "ns", "date"]


def scores(values, days, unit):
    ids = days.tolist() if unit == "date" else days.astype(f"M8[{unit}]")
    return QueryScores(ids, np.asarray(values)[:, None], ("ndcg",))


def difference(baseline, model):
    (only,) = compare({"baseline": baseline, "model": model}, random_state=0)
    return only


@pytest.mark.parametrize("first", UNITS)
@pytest.mark.parametrize("second", UNITS)
def test_queries_of_two_results(first, second):
    (a, b), order = (
        np.random.default_rng(0).random((2, 40)),
        np.random.default_rng(1).permutation(40),
    )
    expected = difference(scores(a, DAYS, "us"), scores(b, DAYS, "us"))
    model = scores(b[order], DAYS[order], second)
    measured = difference(scores(a, DAYS, first), model)
    assert measured.difference == expected.difference == pytest.approx(np.mean(b - a))
    assert measured.p_value == pytest.approx(expected.p_value)
    labeled = scores(a[:20], DAYS[:20], first), scores(b[:20], DAYS[:20], second)
    together, apart = (
        rectify(*labeled, others)["ndcg"] for others in (model, scores(b[20:], DAYS[20:], second))
    )
    assert together.interval == pytest.approx(apart.interval)


@pytest.mark.parametrize("unit", ["W", "D", "h", "m", "s", "ms", "us", "ns"])
@pytest.mark.parametrize("kind", ["M", "m"])
def test_frames_of_polars_hold_every_unit(kind, unit):
    ids = np.array([0, 7], dtype=f"{kind}8[D]").astype(f"{kind}8[{unit}]")
    column = query_scores([1, 1], [0, 0], "mrr", groups=ids).to_frame("polars")["query"].to_list()
    expected = [datetime.timedelta(0), datetime.timedelta(7)]
    if kind == "M":
        expected = [datetime.datetime(1970, 1, 1) + since for since in expected]
        expected = [day.date() for day in expected] if unit == "D" else expected
    assert column == expected


@pytest.mark.parametrize("kind", ["numpy", "python", "s", "us", "ns"])
def test_segments_of_queries_whose_ids_are_days(kind):
    days = {"numpy": DAYS[:4], "python": DAYS[:4].tolist()}.get(kind)
    days = pd.to_datetime(DAYS[:4]).as_unit(kind) if days is None else days
    of_queries = query_scores([1, 0, 0, 0], [0] * 4, "mrr", groups=days)
    # pandas has no days, and makes them times at midnight
    backwards, kinds = pd.to_datetime(DAYS[3::-1]), list("bbba")
    for segments in (
        dict(zip(backwards, kinds, strict=True)),
        dict(zip(backwards.to_pydatetime(), kinds, strict=True)),
        dict(zip(of_queries.ids[::-1], kinds, strict=True)),
        pd.Series(kinds, index=backwards),
        pd.DataFrame({"day": backwards, "kind": kinds}),
    ):
        by = of_queries.by(segments)
        shown = [(score.segment.value, score.queries, score.mean) for score in by]
        assert shown == [("a", 1, 1), ("b", 3, 0)]
        compared = compare({"x": of_queries, "y": of_queries}, by=segments)
        assert [entry.queries for entry in compared] == [4, 1, 3]


def test_segments_that_are_times_of_queries_whose_ids_are_tuples():
    ids = [("a", 1), ("a", 2), ("b", 1)]
    hours = np.array(["2020-01-01T00", "2020-01-01T05", "2020-01-01T00"], dtype="M8[h]")
    by = query_scores([1] * 3, [0] * 3, "mrr", groups=ids, segments=hours).by()
    expected = [(datetime.datetime(2020, 1, 1, hour), n) for hour, n in ((0, 2), (5, 1))]
    assert [(score.segment.value, score.queries) for score in by] == expected


@pytest.mark.parametrize("query", [DAYS[1], pd.Timestamp(DAYS[1]), datetime.date(2020, 1, 2)])
@pytest.mark.parametrize("unit", ["D", "s", "us", "ns"])
def test_a_query_of_a_day_is_named_by_any_type(query, unit):
    systems = {"a": [1, 2, 3, 4], "b": [2, 1, 3, 4]}
    given = {"groups": DAYS[[0, 0, 1, 1]].astype(f"M8[{unit}]"), "query": query}
    display = RankChangeDisplay.from_predictions([1, 0, 0, 1], systems, **given)
    assert display.relevant.tolist() == [False, True]
    assert display.query == str(query)


@pytest.mark.parametrize("unit", ["s", "us", "ns"])
def test_ids_of_a_date_and_another_column(unit):
    days = pd.to_datetime(DAYS[[0, 0, 1, 1]]).as_unit(unit)
    ids = ids_in(pd.DataFrame({"day": days, "user": list("abaa")}), ["day", "user"])
    days = [datetime.datetime(2020, 1, day) for day in (1, 2)]
    assert ids.tolist() == [(days[0], "a"), (days[0], "b"), (days[1], "a"), (days[1], "a")]
