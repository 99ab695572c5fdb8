"""Results of queries whose ids are dates, in two units or types: equal dates are one query."""

import datetime

import numpy as np
import pandas as pd
import pytest
from query_values import scores_of
from sklearn.linear_model import Ridge

from sklearn_rankscore import (
    QueryKFold,
    QueryRanker,
    RankChangeDisplay,
    compare,
    cross_val_query_scores,
    query_scores,
    rectify,
)

DAYS = np.arange("2020-01-01", "2020-02-10", dtype="M8[D]")
FORMS = {
    unit: lambda days, unit=unit: days.astype(f"M8[{unit}]") for unit in ("D", "s", "us", "ns")
}
FORMS |= {"date": np.ndarray.tolist, "pandas": pd.to_datetime}


@pytest.mark.parametrize("first", FORMS)
@pytest.mark.parametrize("second", FORMS)
def test_queries_of_two_results(first, second):
    a, b = np.random.default_rng(0).random((2, 40))
    order = np.random.default_rng(1).permutation(40)
    model = scores_of(b[order], ["m"], ids=FORMS[second](DAYS[order]))
    (one,) = compare({"a": scores_of(a, ["m"], ids=FORMS[first](DAYS)), "b": model}, test="t")
    (expected,) = compare({"a": scores_of(a, ["m"]), "b": scores_of(b, ["m"])}, test="t")
    assert one.difference == expected.difference == pytest.approx(np.mean(b - a))
    assert one.p_value == pytest.approx(expected.p_value)
    labeled = [
        scores_of(of[:20], ["m"], ids=FORMS[unit](DAYS[:20]))
        for of, unit in ((a, first), (b, second))
    ]
    unlabeled = scores_of(b[20:], ["m"], ids=FORMS[second](DAYS[20:]))
    together, apart = (rectify(*labeled, others)["m"] for others in (model, unlabeled))
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


@pytest.mark.parametrize("form", FORMS)
def test_segments_and_a_query_of_ids_that_are_days(form):
    days = FORMS[form](DAYS[:4])
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
    for query in (DAYS[1], pd.Timestamp(DAYS[1]), datetime.date(2020, 1, 2)):
        display = RankChangeDisplay.from_predictions(
            [1, 0, 0, 0], {"a": [1, 2, 3, 4], "b": [2, 1, 3, 4]}, groups=days, query=query
        )
        assert (display.relevant.tolist(), display.query) == ([False], str(query))


def test_times_within_ids_of_two_columns_and_as_segments():
    hours = np.array(["2020-01-01T00", "2020-01-01T05", "2020-01-01T00"], dtype="M8[h]")
    expected = [(datetime.datetime(2020, 1, 1, hour), n) for hour, n in ((0, 2), (5, 1))]
    ids = [("a", 1), ("a", 2), ("b", 1)]
    by = query_scores([1] * 3, [0] * 3, "mrr", groups=ids, segments=hours).by()
    assert [(score.segment.value, score.queries) for score in by] == expected
    frame = pd.DataFrame({"user": list("aba"), "x": [3.0, 2.0, 1.0]})
    columns = ["time", "user"]
    ranker = QueryRanker(Ridge(), groups=columns)
    for unit in ("s", "us", "ns"):
        frame["time"] = pd.DatetimeIndex(hours).as_unit(unit)
        scores = cross_val_query_scores(
            ranker, frame, [1, 1, 0], groups=columns, metrics="mrr", cv=QueryKFold(2)
        )
        assert scores.ids.tolist() == [(expected[0][0], "a"), (expected[1][0], "b")]
