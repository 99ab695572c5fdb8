"""Results of queries whose ids are dates, in two units or types: equal dates are one query."""

import datetime

import numpy as np
import pandas as pd
import pytest
from query_values import scores_of

import sklearn_rankscore as rs

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
    one = scores_of(a, ["m"], ids=FORMS[first](DAYS))
    other = scores_of(b[order], ["m"], ids=FORMS[second](DAYS[order]))
    (paired,) = rs.compare({"a": one, "b": other}, test="t")
    (expected,) = rs.compare({"a": scores_of(a, ["m"]), "b": scores_of(b, ["m"])}, test="t")
    assert paired.difference == expected.difference == pytest.approx(np.mean(b - a))
    assert paired.p_value == pytest.approx(expected.p_value)
    human, machine = one.select(slice(20)), other.select(order < 20)
    together, apart = (rs.rectify(human, machine, of) for of in (other, other.select(order >= 20)))
    assert together["m"].interval == pytest.approx(apart["m"].interval)


@pytest.mark.parametrize("form", FORMS)
def test_frames_of_polars_hold_them(form):
    scores = rs.query_scores([1, 1], [0, 0], "mrr", groups=FORMS[form](DAYS[[0, 7]]))
    column = scores.to_frame("polars")["query"].cast(str).str.slice(0, 10)
    assert column.to_list() == ["2020-01-01", "2020-01-08"]


@pytest.mark.parametrize("form", FORMS)
def test_segments_and_a_query_of_ids_that_are_days(form):
    days = FORMS[form](DAYS[:4])
    of_queries = rs.query_scores([1, 0, 0, 0], [0] * 4, "mrr", groups=days)
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
        compared = rs.compare({"x": of_queries, "y": of_queries}, by=segments)
        assert [entry.queries for entry in compared] == [4, 1, 3]
    for query in (DAYS[1], pd.Timestamp(DAYS[1]), datetime.date(2020, 1, 2)):
        display = rs.RankChangeDisplay.from_predictions(
            [1, 0, 0, 0], {"a": [1, 2, 3, 4], "b": [2, 1, 3, 4]}, groups=days, query=query
        )
        assert (display.relevant.tolist(), display.query) == ([False], str(query))
