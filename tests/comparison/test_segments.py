"""Segments of queries: how they are given, their means, and how they differ from the rest."""

from importlib import import_module

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import stats

from sklearn_rankscore import QueryScores, compare, make_ranking, query_scores, ranking_report
from sklearn_rankscore.comparison import intervals
from sklearn_rankscore.comparison.intervals import has_few_distinct
from sklearn_rankscore.comparison.segments import bin_segments, segment_parts
from sklearn_rankscore.comparison.significance import holm

METRICS = ["ndcg@10", "mrr"]


@pytest.fixture(scope="module")
def data():
    X, y, groups = make_ranking(n_queries=90, random_state=0, shuffle=True)
    device = np.array(["desk", "phone", "tv"])[groups % 3]
    return y, {"one": X[:, 0], "two": X[:, 0] + X[:, 1] / 2}, groups, device


def two_systems(data, metrics=METRICS, **options):
    y, models, groups, _ = data
    return query_scores(y, models, metrics, groups=groups, **options)


def shown(by):
    """Value and mean of each segment."""
    return [(one.segment.value, one.mean) for one in by]


@pytest.mark.integration
def test_means_are_a_groupby_over_the_values_of_pytrec_eval(data):
    pytrec_eval = import_module("pytrec_eval")
    y, models, groups, device = data
    qrel, run = {}, {}
    for row, query in enumerate(groups.astype(str)):
        qrel.setdefault(query, {})[str(row)] = int(y[row])
        run.setdefault(query, {})[str(row)] = float(models["one"][row])
    measures = {"ndcg_cut_10", "recip_rank"}
    values = pytrec_eval.RelevanceEvaluator(qrel, measures).evaluate(run)
    frame = pd.DataFrame.from_dict(values, orient="index")
    frame["device"] = pd.Series(dict(zip(groups.astype(str), device, strict=True)))
    expected = frame.groupby("device").agg(["mean", "count"])
    by = two_systems(data, segments=pd.Series(device, name="device"))["one"].by("device")
    for metric, theirs in zip(METRICS, ["ndcg_cut_10", "recip_rank"], strict=True):
        for value in ("desk", "phone", "tv"):
            one = by[metric, ("device", value)]
            assert one.mean == pytest.approx(expected.loc[value, (theirs, "mean")], abs=1e-6)
            assert one.queries == expected.loc[value, (theirs, "count")] == 30
            assert one.share == pytest.approx(1 / 3)


NAMES, PICK = list("aabbcc"), np.array([0, 5, 1, 2, 3, 4, 4])
PER_QUERY = {
    "list": NAMES,
    "array": np.array(NAMES),
    "mapping": dict(enumerate(NAMES)),
    "pandas": pd.Series(NAMES, name="segment"),
    "polars": pl.Series("segment", NAMES),
    "categorical": pd.Series(NAMES, name="segment").astype("category"),
    "more queries": pd.Series([*NAMES, "d"], [*range(6), 99], name="segment")[::-1],
    "columns": {"segment": NAMES},
    "columns of mappings": {"segment": dict(enumerate(NAMES))},
    "frame": pd.DataFrame({"segment": NAMES}),
    "polars frame": pl.DataFrame({"segment": NAMES}),
    "arrow table": pa.table({"segment": NAMES}),
}
PER_DOCUMENT = {
    "list": np.array(NAMES)[PICK].tolist(),
    "array": np.array(NAMES)[PICK],
    "polars": PER_QUERY["polars"][PICK.tolist()],
    "categorical": PER_QUERY["categorical"].iloc[PICK],
    "columns": {"segment": np.array(NAMES)[PICK]},
    "frame": PER_QUERY["frame"].iloc[PICK],
    "polars frame": PER_QUERY["polars frame"][PICK.tolist()],
    "arrow table": PER_QUERY["arrow table"].take(PICK),
}


@pytest.mark.parametrize("kind", PER_QUERY)
def test_segments_of_queries_in_any_form(kind):
    scores = QueryScores(np.arange(6), [[0], [1], [1], [1], [0], [0.5]], ["mrr"])
    by = scores.by(PER_QUERY[kind])
    assert [one.segment for one in by] == [("segment", name) for name in "abc"]
    assert [(one.queries, one.mean) for one in by] == [(2, 0.5), (2, 1), (2, 0.25)]


@pytest.mark.parametrize("kind", PER_DOCUMENT)
def test_segments_of_documents_in_any_form(kind):
    given = {"groups": PICK, "segments": PER_DOCUMENT[kind]}
    by = query_scores([1, 0, 1, 1, 1, 0, 1], [1] * 7, "hit_rate@1", **given).by()
    assert [one.segment for one in by] == [("segment", name) for name in "abc"]
    assert [(one.queries, one.mean) for one in by] == [(2, 1), (2, 1), (2, 0.25)]


def test_a_mapping_is_by_query_id_where_each_query_has_one_document():
    given = {1: "a", 2: "b"}
    for segments in (given, {"device": given}, {"device": given, "other": {1: 0, 2: 0}}):
        by = query_scores([1, 0], [1, 2], "mrr", groups=[2, 1], segments=segments).by()
        assert shown(by)[:2] == [("a", 0), ("b", 1)]


@pytest.mark.parametrize(
    "as_frame",
    [
        pd.DataFrame,
        pl.DataFrame,
        pa.table,
        dict,
        lambda data: pd.DataFrame(data, index=list("wxyz")),
        lambda data: pd.DataFrame(data)[["country", "user"]],
        # of more users than those evaluated
        lambda data: pl.DataFrame({n: ["u9", *v, "u8"][:6] for n, v in data.items()}),
    ],
)
def test_a_column_of_the_query_ids_is_the_key_and_no_segment(as_frame):
    segments = as_frame({"user": ["u3", "u1", "u4", "u2"], "country": ["DE", "US", "DE", "US"]})
    y, groups = [1, 0, 1, 0, 0, 1, 0, 1], np.repeat(["u1", "u2", "u3", "u4"], 2)
    systems = {"one": [0.9, 0.1, 0.8, 0.2] * 2, "two": [0.1, 0.9, 0.2, 0.8] * 2}
    expected = {("country", "DE"): 0.5, ("country", "US"): 1}
    given = query_scores(y, systems, "mrr", groups=groups, segments=segments)
    scores = query_scores(y, systems, "mrr", groups=groups)
    for by in (given["one"].by(), scores["one"].by(segments)):
        assert {one.segment: one.mean for one in by} == expected
    assert {one.segment for one in compare(scores, by=segments)} == {("", "all queries"), *expected}
    options = {"metrics": "mrr", "groups": groups, "by": segments, "output_dict": True}
    report = ranking_report(y, systems["one"], **options)
    assert {one["column"] for one in report["segments"]} == {"country"}


def test_a_column_of_query_ids_beside_values_of_documents_is_no_segment():
    rows = pd.DataFrame({"user": ["b", "a", "b"], "country": ["DE", "US", "DE"]})
    scores = query_scores([1, 1, 0], [1, 2, 3], "mrr", groups=rows["user"], segments=rows)
    assert shown(scores.by()) == [("DE", 0.5), ("US", 1)]


def test_segments_by_the_name_of_an_index_level():
    levels = {"qid": [1, 1, 2], "device": ["desk", "desk", "phone"]}
    index = pd.MultiIndex.from_arrays(list(levels.values()), names=list(levels))
    y, systems = pd.Series([1, 0, 1], index=index), {"a": [2, 1, 3], "b": [1, 2, 3]}
    for given in (systems, {n: pd.Series(s, index=index) for n, s in systems.items()}):
        by = query_scores(y, given, "mrr", segments="device")["b"].by()
        assert [one.mean for one in by] == [0.5, 1]
    for name, message in (
        ("country", r"'country'.* such as segments=X\['country'\]"),
        (3, "got 3"),
    ):
        with pytest.raises((ValueError, TypeError), match=f"segments.*{message}"):
            query_scores(y, systems, "mrr", segments=name)


def test_segments_are_aligned_by_an_index_of_query_ids():
    given = {"groups": ["q2", "q2", "q1", "q1"]}
    of_rows = ([1, 0, 0, 1], [4, 3, 2, 1], "mrr")
    by_query = pd.Series(["hi", "lo"], index=["q2", "q1"])
    # one value per document, of which the index may be the query ids as well
    rows = pd.Series(["hi", "hi", "lo", "lo"], index=given["groups"])
    for segments in (by_query, by_query.to_frame("segment"), {"segment": by_query}, rows):
        by = query_scores(*of_rows, **given, segments=segments).by()
        assert shown(by) == [("hi", 1), ("lo", 0.5)]
    scores = query_scores(*of_rows, **given)
    assert shown(scores.by(by_query)) == [("hi", 1), ("lo", 0.5)]
    for index in (["q1", "q3"], ["q1", "q1"]):
        with pytest.raises(ValueError, match=r"1 of 2 are missing \('q2'\); .*to_numpy\(\)"):
            scores.by(pd.Series(["hi", "lo"], index=index))


def test_an_index_of_the_same_numbers_in_another_order_is_ambiguous():
    values, labels = [[1.0], [0.5], [0.75]], {0: "x", 1: "y", 2: "z"}
    scores, listed = QueryScores([1, 0, 2], values, ["mrr"]), pd.Series(list("xyz"))
    by_id, by_position = [("x", 0.5), ("y", 1), ("z", 0.75)], [("x", 1), ("y", 0.5), ("z", 0.75)]
    assert shown(scores.by(labels)) == by_id
    assert shown(scores.by(listed.rename_axis("qid"))) == by_id
    assert shown(scores.by(listed.to_numpy())) == by_position
    assert shown(QueryScores([0, 1, 2], values, ["mrr"]).by(listed)) == by_position
    with pytest.raises(ValueError, match="index of 'segment' may hold the query ids or merely"):
        scores.by(listed)


def test_several_columns_with_numbers_in_quartiles_and_missing_values():
    random = np.random.default_rng(0)
    length = random.permutation(40) * 1.5
    scores = QueryScores(np.arange(40), random.random((40, 1)), ["mrr"])
    month = np.where(np.arange(40) < 4, np.nan, np.arange(40) % 3)
    by = scores.by({"length": length, "month": month})
    expected = pd.Series(scores["mrr"]).groupby(pd.qcut(length, 4).codes).mean()
    quartiles = [one for one in by if one.segment.column == "length"]
    assert [one.mean for one in quartiles] == pytest.approx(expected.tolist())
    names = [one.segment.value for one in by]
    assert (names[0], names[3]) == ("[0, 14.625]", "(43.875, 58.5]")
    assert names[4:] == [0, 1, 2, "missing"]
    assert by["mrr", ("month", "missing")].mean == pytest.approx(scores["mrr"][:4].mean())


@pytest.mark.parametrize("n_infinite", [1, 3, 15])
def test_infinite_numbers_belong_to_the_outer_quartiles(n_infinite):
    """A ratio of two properties, of which the second is 0 for some queries."""
    ratio = np.append(np.arange(40.0 - n_infinite), [np.inf] * n_infinite)
    by = QueryScores(range(40), np.zeros((40, 1)), ["own"]).by(ratio)
    names = [one.segment.value for one in by]
    assert names[0].startswith("[0, ")
    assert names[-1].endswith(", inf]")
    assert "nan" not in "".join(names)


@pytest.mark.parametrize(
    ("first", "step", "edges"),
    [
        (1_700_000_000, 60, ["1.7e+09", "1.7000002e+09", "1.7000004e+09", "1.7000007e+09"]),
        (0.5, 1.6e-9, ["0.5", "0.500000006", "0.500000012", "0.500000018"]),
        (0, 3, ["0", "11.25", "22.5", "33.75"]),
    ],
)
def test_quartiles_of_large_or_close_numbers_have_different_names(first, step, edges):
    values = np.linspace(0, 1, 16)[:, None]
    by = QueryScores(range(16), values, ["m"], segments={"time": first + step * np.arange(16)}).by()
    assert [name[1:].split(",")[0] for name, _ in shown(by)] == edges
    means = [part.mean() for part in np.split(values, 4)]
    assert [mean for _, mean in shown(by)] == pytest.approx(means)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_comparison_by_segment_is_one_of_the_queries_of_each(data, weighted):
    y, models, groups, device = data
    weights = 1.0 + groups % 2 if weighted else None
    systems = two_systems(data, segments={"device": device}, sample_weight=weights)
    whole = compare(systems, by="device", correction=None, random_state=0, test="t")
    for value in ("desk", "phone", "tv"):
        rows = device == value
        own = {"groups": groups[rows], "sample_weight": weights[rows] if weighted else None}
        of_models = {name: s[rows] for name, s in models.items()}
        alone = query_scores(y[rows], of_models, METRICS, **own)
        for expected in compare(alone, correction=None, test="t"):
            one = whole[expected.metric, "two", ("device", value)]
            assert one.difference == pytest.approx(expected.difference)
            assert one.interval == pytest.approx(expected.interval)
            assert one.p_value == pytest.approx(expected.p_value)
            assert (one.wins, one.losses) == (expected.wins, expected.losses)
    for one in compare(systems, correction=None, test="t"):
        overall = whole[one.metric, "two"]
        assert (overall.p_value, overall.interval) == (one.p_value, one.interval)
    assert sum(one.share for one in whole if one.metric == "mrr") == pytest.approx(2)


def test_tables_and_frames(data):
    systems = two_systems(data, segments={"device": data[3]})
    comparison = compare(systems, by="device", test="t")
    lines = repr(comparison).splitlines()
    assert "p (differs from the rest)" in lines[1]
    assert lines[2].startswith("ndcg@10  two          all queries       90  100.0%")
    frame = comparison.to_frame()
    assert frame["value"].tolist() == ["all queries", "desk", "phone", "tv"] * 2
    assert comparison["mrr", "two"].rest_p_value is None
    by = systems["one"].by()
    assert len(by) == 6
    assert by.to_frame("polars")["value"].to_list() == ["desk", "phone", "tv"] * 2
    assert "<th>phone</th><td>30</td>" in by._repr_html_()
    with pytest.raises(KeyError, match=r"no segment .*the segments are \('ndcg@10', \('device'"):
        by["ndcg@10", ("device", "watch")]


VARYING = "varying"


@pytest.mark.parametrize(
    ("segments", "message"),
    [
        (np.arange(5), r"one value per query \(90\) or one per document .* has shape \(5,\)"),
        ({0: "a", 1: "b"}, r"a value for each of them, once; .* 88 of 90 are missing \(2, 3"),
        ({"0": 1, "1": 2}, r"90 of 90 are missing \(0, 1, 2, 3, 4, …\); the first key is '0'"),
        ({}, "at least one column; got none"),
        (VARYING, r"constant within each .* varies within query 7"),
    ],
)
def test_refuses_segments_that_do_not_fit(data, segments, message):
    y, models, groups, _ = data
    if segments is VARYING:
        segments = np.where(np.arange(len(y)) == np.flatnonzero(groups == 7)[0], -1, groups)
    with pytest.raises(ValueError, match=message):
        query_scores(y, models["one"], "mrr", groups=groups, segments=segments)


@pytest.mark.parametrize(
    ("ids", "frame", "error", "message"),
    [
        (
            *([1, 2, 3], {"user": [1, 2, 3], "place": [3, 1, 2], "device": list("abc")}),
            *(ValueError, "each of the columns 'user', 'place' of segments holds"),
        ),
        (
            [3, 5, 8],
            {"qid": list("853"), "device": list("abb")},
            TypeError,
            "'qid' .* another type",
        ),
        (
            list("358"),
            {"qid": [8, 5, 3], "device": list("abb")},
            TypeError,
            "'qid' .* another type",
        ),
    ],
)
def test_refuses_columns_that_may_be_the_query_ids(ids, frame, error, message):
    with pytest.raises(error, match=message):
        query_scores([1, 1, 1], [0, 0, 0], "mrr", groups=ids).by(pd.DataFrame(frame))


def test_refuses_names_of_segments_that_are_absent(data):
    without, systems = two_systems(data), two_systems(data, segments={"device": data[3]})
    for call, error, message in (
        (lambda: compare(without, by="device"), ValueError, r"have no segments 'device'\. Pass"),
        (lambda: without["one"].by(), ValueError, r"have no segments\. Pass segments="),
        (lambda: compare(systems, by=True), TypeError, "or names of segments of the scores"),
        *(
            (lambda n=n: compare(systems, by=n), ValueError, r"'devise'.*; they have 'device'\.")
            for n in ("devise", ["devise"], ["device", "devise"])
        ),
    ):
        with pytest.raises(error, match=message):
            call()


@pytest.mark.parametrize("scale", [1e308, 1e-300])
def test_the_scale_of_weights_does_not_matter(scale):
    random = np.random.default_rng(0)
    weights = np.where(np.arange(30) < 10, 1.0, 0.5)
    values = dict(zip("ab", random.random((2, 30, 1)), strict=True))

    def compared(w):
        segments = np.arange(30) % 3
        systems = {n: QueryScores(range(30), v, ["mrr"], w, segments) for n, v in values.items()}
        return [*compare(systems, by="segment", test="t"), *systems["a"].by()]

    for one, other in zip(compared(weights * scale), compared(weights), strict=True):
        assert one.share == pytest.approx(other.share)
        assert one.interval == pytest.approx(other.interval)


@pytest.mark.parametrize(
    ("segments", "expected"),
    [
        ({"device": list("aabb"), "slot": [1, 2, 1, 2]}, pl.String),
        ({"slot": [1, 2, 1, None]}, pl.String),
        ({"slot": [1, 2, 1, 2]}, pl.Int64),
        ({"slot": [1, 2, 1, 2], "share": [0.5, 0.5, 0.1, 0.1]}, pl.Float64),
        ({"new": [True, False] * 2}, pl.Boolean),
        ({"new": [True, False] * 2, "slot": [1, 2, 1, 2]}, pl.String),
        ({"day": pd.to_datetime(["2026-01-02"] * 2 + ["2026-01-03"] * 2)}, pl.Datetime),
    ],
)
def test_polars_frames_have_text_for_segments_of_several_types(segments, expected):
    scores = QueryScores(range(4), [[0], [1], [0], [1]], ["mrr"], segments=segments)
    by = scores.by()
    frame, values = by.to_frame("polars"), [one.segment.value for one in by]
    assert frame["value"].dtype == expected
    assert frame["value"].to_list() == (list(map(str, values)) if expected == pl.String else values)
    assert frame["mean"].to_list() == by.to_frame()["mean"].tolist()
    assert by.to_frame()["value"].tolist() == values
    comparison = compare({"x": scores, "y": scores}, by=list(segments)).to_frame("polars")
    assert comparison["value"].to_list() == ["all queries", *map(str, values)]


@pytest.mark.parametrize("library", [list, pd.Series, pl.Series, pa.array])
def test_the_text_missing_beside_missing_values_is_refused(library):
    scores = QueryScores(range(3), [[1.0], [0.5], [0.0]], ["m"])
    assert len(scores.by({"c": library(["missing", "z", "z"])})) == 2
    message = r"beside the text 'missing'.*'c' has both. Replace one of"
    with pytest.raises(ValueError, match=message):
        scores.by({"c": library(["missing", "z", None])})


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (pd.Series(["a", pd.NA, "b"], dtype="string"), ["a", "b", "missing"]),
        (["a", pd.NA, "b"], ["a", "b", "missing"]),
        (pd.Series([2, pd.NA, 1], dtype="Int64"), ["1", "2", "missing"]),
        (pl.Series([2, None, 1]), ["1", "2", "missing"]),
        (pa.array([2, None, 1]), ["1", "2", "missing"]),
        (pd.Series([True, pd.NA, False], dtype="boolean"), ["False", "True", "missing"]),
        (pd.Series([2.5, None, 1]), ["1.0", "2.5", "missing"]),
        (pd.to_datetime(pd.Series(["2026-01-02", None, "2026-01-02"])), None),
    ],
)
def test_missing_values_of_any_library_are_a_segment(column, expected):
    by = QueryScores(range(3), [[0.0], [1.0], [0.5]], ["mrr"]).by(column)
    assert by["mrr", ("segment", "missing")].mean == 1
    assert expected is None or [str(one.segment.value) for one in by] == expected
    rows = query_scores([1, 0, 1], [1, 2, 3], "mrr", groups=range(3), segments=column)
    assert [one.segment for one in rows.by()] == [one.segment for one in by]


# differences from the rest


def raw_p_values(scores, segments):
    (column,) = bin_segments({"s": np.asarray(segments)})
    return np.array([part.rest_p_values for part in segment_parts(scores, column)])


def test_differences_from_the_rest_are_welchs_test(data):
    systems = two_systems(data, ["ndcg", "map"], segments={"device": data[3]})
    by = compare(systems, by="device", correction=None)
    differences = systems["two"].values - systems["one"].values
    raw = {}
    for name, values in (("one", systems["one"].values), ("two", differences)):
        for metric, column in zip(["ndcg", "map"], values.T, strict=True):
            for i, value in enumerate(["desk", "phone", "tv"]):
                rows = np.arange(90) % 3 == i
                welch = stats.ttest_ind(column[rows], column[~rows], equal_var=False)
                raw[name, metric, value] = welch.pvalue
    for metric in ("ndcg", "map"):
        own = np.array([raw["one", metric, value] for value in ("desk", "phone", "tv")])
        of_metric = [one for one in systems["one"].by() if one.metric == metric]
        assert [one.rest_p_value for one in of_metric] == pytest.approx(holm(own).tolist())
        for value in ("desk", "phone", "tv"):
            one = by[metric, "two", ("device", value)]
            assert one.rest_p_value == pytest.approx(raw["two", metric, value])


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("some", [8, 1000])
def test_p_values_are_nan_exactly_where_either_side_has_few_distinct_values(
    seed, some, monkeypatch
):
    """Against the definition, one segment and its rest after the other."""
    monkeypatch.setattr(intervals, "SOME", some)
    random = np.random.default_rng(seed)
    n = 60
    segments = random.choice(4, n, p=[0.7, 0.15, 0.1, 0.05])
    columns = [
        random.random(n),
        random.choice([0, 1], n, p=[0.1, 0.9]),
        random.choice([0, 0.5, 1], n),
        np.where(segments == 0, random.random(n), random.integers(2)),
        np.where(random.random(n) < 0.3, np.nan, random.random(n).round(1)),
    ]
    scores = QueryScores(range(n), np.column_stack(columns), list("abcde"))
    p_values = raw_p_values(scores, segments)
    for row, segment in zip(p_values, np.unique(segments), strict=True):
        for p_value, values in zip(row, scores.values.T, strict=True):
            own = segments == segment
            sides = [of[~np.isnan(of)] for of in (values[own], values[~own])]
            if any(not len(side) or has_few_distinct(side[:, None], 1.0)[0] for side in sides):
                assert np.isnan(p_value)
            else:
                expected = stats.ttest_ind(*sides, equal_var=False).pvalue
                assert p_value == pytest.approx(expected)
    assert 0 < np.isnan(p_values).mean() < 1


@pytest.mark.parametrize("offset", [0, 1e8, 1e9])
def test_values_far_from_zero(offset):
    random = np.random.default_rng(0)
    values, segments = random.normal(size=400) + offset, np.repeat(["a", "b"], [150, 250])
    scores = QueryScores(range(400), values[:, None], ["own"])
    expected = stats.ttest_ind(values[:150], values[150:], equal_var=False).pvalue
    assert raw_p_values(scores, segments) == pytest.approx(expected, rel=1e-5)


def welch_by_matrices(values, weights, own):
    """With the quadratic form of each squared error as a matrix, scaled to be unbiased."""
    means, errors, dfs = [], [], []
    for side in (own, ~own):
        share = weights[side] / weights[side].sum()
        residuals = np.eye(len(share)) - share
        form = residuals.T @ np.diag(share**2) @ residuals
        form *= (share**2).sum() / np.trace(form)
        means.append(share @ values[side])
        errors.append(values[side] @ form @ values[side])
        dfs.append(np.trace(form) ** 2 / np.trace(form @ form))
    df = sum(errors) ** 2 / sum(e**2 / d for e, d in zip(errors, dfs, strict=True))
    return 2 * stats.t.sf(abs(means[0] - means[1]) / sum(errors) ** 0.5, df)


@pytest.mark.parametrize("scale", [1, 1e-6])
def test_weighted_tests_are_unbiased_quadratic_forms(scale):
    """Also where one segment has almost all of the weight."""
    random = np.random.default_rng(0)
    values, weights = random.random(60), random.lognormal(0, 1, 60)
    segments = np.repeat(["a", "b", "c"], [20, 15, 25])
    weights[segments != "b"] *= scale
    measured = raw_p_values(QueryScores(range(60), values[:, None], ["own"], weights), segments)
    expected = [welch_by_matrices(values, weights, segments == one) for one in "abc"]
    assert measured.ravel() == pytest.approx(expected, rel=1e-6)


def test_a_segment_without_a_rest_or_with_few_queries_is_not_compared():
    random = np.random.default_rng(0)
    alone = QueryScores(range(20), random.random((20, 1)), ["mrr"])
    assert np.isnan(raw_p_values(alone, ["all"] * 20)).all()
    reason = "nan: no test, because fewer than six queries of the segment"
    first, second = (QueryScores(range(40), random.random((40, 1)), ["own"]) for _ in range(2))
    for n_few, is_few in ((2, True), (3, True), (20, False)):
        segments = {"s": dict(enumerate(np.repeat(["a", "b"], [n_few, 40 - n_few])))}
        by, compared = first.by(segments), compare({"x": first, "y": second}, by=segments)
        assert all(np.isnan(one.rest_p_value) == is_few for one in by)
        assert np.isnan(compared["own", "y", ("s", "a")].rest_p_value) == is_few
        assert all((reason in text) == is_few for text in (str(by), by._repr_html_()))
        assert (reason in str(compared)) == is_few


def test_a_segment_of_weight_zero_has_no_mean():
    random = np.random.default_rng(0)
    weights, device = np.repeat([1.0, 0.0], 20), np.repeat(["desk", "phone"], 20)
    systems = {
        name: QueryScores(np.arange(40), values, ["mrr"], weights, device)
        for name, values in zip("ab", random.random((2, 40, 1)), strict=True)
    }
    desk, phone = systems["a"].by()
    assert (phone.queries, phone.share, desk.share) == (0, 0, 1)
    assert np.isnan([phone.mean, *phone.interval, phone.rest_p_value]).all()
    assert desk.mean == pytest.approx(systems["a"]["mrr"][:20].mean())
    compared = compare(systems, by="segment")
    none = compared["mrr", "b", ("segment", "phone")]
    assert (none.queries, none.wins) == (0, 0)
    assert np.isnan([none.difference, none.baseline_mean, none.p_value, *none.interval]).all()
    alone = compared["mrr", "b", ("segment", "desk")]
    assert compared["mrr", "b"].difference == alone.difference


def test_a_query_with_nearly_all_the_weight_permits_no_test():
    random, groups = np.random.default_rng(0), {"s": ["x"] * 30 + ["y"] * 30}
    for head, is_tested in ((100.0, True), (1e7, False), (1e10, False)):
        weights = np.append(head, np.ones(59))
        by = QueryScores(range(60), random.random((60, 1)), ["own"], weights).by(groups)
        assert [np.isfinite(segment.rest_p_value) for segment in by] == [is_tested] * 2
        assert ("or one of these queries has nearly all the weight" in str(by)) != is_tested
