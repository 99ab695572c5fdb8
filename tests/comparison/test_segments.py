"""Means and comparisons by segment of queries."""

from importlib import import_module

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import stats

from sklearn_rankscore import QueryScores, compare, make_ranking, query_scores, ranking_report
from sklearn_rankscore.comparison.significance import holm

METRICS = ["ndcg@10", "mrr"]


@pytest.fixture(scope="module")
def data():
    X, y, groups = make_ranking(n_queries=90, random_state=0, shuffle=True)
    device = np.array(["desk", "phone", "tv"])[groups % 3]
    return y, {"one": X[:, 0], "two": X[:, 0] + X[:, 1] / 2}, groups, device


def two_systems(data, **options):
    y, models, groups, _ = data
    return {
        name: query_scores(y, score, METRICS, groups=groups, **options)
        for name, score in models.items()
    }


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


def given_as():
    ids = np.arange(6)
    names = list("aabbcc")
    return {
        "list": names,
        "array": np.array(names),
        "mapping": dict(zip(ids.tolist(), names, strict=True)),
        "pandas": pd.Series(names, name="segment"),
        "polars": pl.Series("segment", names),
        "categorical": pd.Series(names, name="segment").astype("category"),
        "more queries": pd.Series([*names, "d"], [*ids, 99], name="segment")[::-1],
        "columns": {"segment": names},
        "columns of mappings": {"segment": dict(zip(ids.tolist(), names, strict=True))},
        "frame": pd.DataFrame({"segment": names}),
        "polars frame": pl.DataFrame({"segment": names}),
        "arrow table": pa.table({"segment": names}),
    }


BY_QUERY = {"mapping", "columns of mappings", "more queries"}


@pytest.mark.parametrize(
    ("kind", "per_row"),
    # those are by query
    [
        (kind, rows)
        for kind in given_as()
        for rows in (False, True)
        if not (rows and kind in BY_QUERY)
    ],
)
def test_segments_in_any_form(kind, per_row):
    segments = given_as()[kind]
    scores = QueryScores(np.arange(6), [[0], [1], [1], [1], [0], [0.5]], ["mrr"])
    if per_row:
        pick = np.array([0, 5, 1, 2, 3, 4, 4])
        rows = {
            "columns": lambda: {"segment": np.array(segments["segment"])[pick]},
            "polars frame": lambda: segments[pick.tolist()],
            "arrow table": lambda: segments.take(pick),
            "polars": lambda: segments[pick.tolist()],
            "frame": lambda: segments.iloc[pick],
        }.get(kind, lambda: pd.Series(segments, name="segment").iloc[pick].to_numpy())()
        y_true, segments = [1, 0, 1, 1, 1, 0, 1], None
        scores = query_scores(y_true, [1] * 7, "hit_rate@1", groups=pick, segments=rows)
    by = scores.by(segments)
    assert [one.segment for one in by] == [("segment", name) for name in "abc"]
    assert [one.queries for one in by] == [2, 2, 2]
    assert [one.mean for one in by] == ([1, 1, 0.25] if per_row else [0.5, 1, 0.25])


def test_a_mapping_is_by_query_id_where_each_query_has_one_document():
    given = {1: "a", 2: "b"}
    for segments in (given, {"device": given}, {"device": given, "other": {1: 0, 2: 0}}):
        by = query_scores([1, 0], [1, 2], "mrr", groups=[2, 1], segments=segments).by()
        assert [(one.segment.value, one.mean) for one in by][:2] == [("a", 0), ("b", 1)]


def users():
    return {"user": ["u3", "u1", "u4", "u2"], "country": ["DE", "US", "DE", "US"]}


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
    segments = as_frame(users())
    y = [1, 0, 1, 0, 0, 1, 0, 1]
    systems = {"one": [0.9, 0.1, 0.8, 0.2] * 2, "two": [0.1, 0.9, 0.2, 0.8] * 2}
    groups = np.repeat(["u1", "u2", "u3", "u4"], 2)
    expected = {("country", "DE"): 0.5, ("country", "US"): 1}
    given = query_scores(y, systems, "mrr", groups=groups, segments=segments)
    assert {one.segment: one.mean for one in given["one"].by()} == expected
    scores = query_scores(y, systems, "mrr", groups=groups)
    assert {one.segment: one.mean for one in scores["one"].by(segments)} == expected
    compared = compare(scores, by=segments)
    assert {one.segment for one in compared} == {("", "all queries"), *expected}
    report = ranking_report(
        y, systems["one"], metrics="mrr", groups=groups, by=segments, output_dict=True
    )
    assert {one["column"] for one in report["segments"]} == {"country"}


def test_a_column_of_query_ids_beside_values_of_documents_is_no_segment():
    rows = pd.DataFrame({"user": ["b", "a", "b"], "country": ["DE", "US", "DE"]})
    scores = query_scores([1, 1, 0], [1, 2, 3], "mrr", groups=rows["user"], segments=rows)
    assert {one.segment: one.mean for one in scores.by()} == {
        ("country", "DE"): 0.5,
        ("country", "US"): 1,
    }


def test_segments_by_the_name_of_an_index_level():
    index = pd.MultiIndex.from_arrays(
        [[1, 1, 2], ["desk", "desk", "phone"]], names=["qid", "device"]
    )
    y, systems = pd.Series([1, 0, 1], index=index), {"a": [2, 1, 3], "b": [1, 2, 3]}
    for given in (systems, {n: pd.Series(s, index=index) for n, s in systems.items()}):
        by = query_scores(y, given, "mrr", segments="device")["b"].by()
        assert [one.mean for one in by] == [0.5, 1]
    for name in ("country", 3):
        with pytest.raises((ValueError, TypeError), match=f"segments.*{name!r}"):
            query_scores(y, [2, 1, 3], "mrr", segments=name)
    with pytest.raises(ValueError, match=r"such as segments=X\['country'\]"):
        query_scores(y, systems, "mrr", segments="country")


def test_two_columns_of_query_ids_in_different_orders_are_refused():
    scores = QueryScores([1, 2, 3], [[0.0], [1], [1]], ["mrr"])
    with pytest.raises(ValueError, match="each of the columns 'user', 'place' of segments holds"):
        scores.by(pd.DataFrame({"user": [1, 2, 3], "place": [3, 1, 2], "device": list("abc")}))


def test_several_columns_with_numbers_in_quartiles_and_missing_values():
    random = np.random.default_rng(0)
    length = random.permutation(40) * 1.5
    scores = QueryScores(np.arange(40), random.random((40, 1)), ["mrr"])
    month = np.where(np.arange(40) < 4, np.nan, np.arange(40) % 3)
    by = scores.by({"length": length, "month": month})
    expected = pd.Series(scores["mrr"]).groupby(pd.qcut(length, 4).codes).mean()
    quartiles = [one for one in by if one.segment.column == "length"]
    assert [one.mean for one in quartiles] == pytest.approx(expected.tolist())
    names = [one.segment.value for one in quartiles]
    assert names[0] == "[0, 14.625]"
    assert names[3] == "(43.875, 58.5]"
    assert [one.segment.value for one in by][4:] == [0, 1, 2, "missing"]
    assert by["mrr", ("month", "missing")].mean == pytest.approx(scores["mrr"][:4].mean())


@pytest.mark.parametrize("weighted", [False, True])
def test_a_comparison_by_segment_is_one_of_the_queries_of_each(data, weighted):
    y, models, groups, device = data
    weights = 1.0 + groups % 2 if weighted else None
    systems = two_systems(data, segments={"device": device}, sample_weight=weights)
    whole = compare(systems, by="device", correction=None, random_state=0, test="t")
    for value in ("desk", "phone", "tv"):
        rows = device == value
        options = {"sample_weight": None if weights is None else weights[rows]}
        alone = compare(
            {
                name: query_scores(y[rows], s[rows], METRICS, groups=groups[rows], **options)
                for name, s in models.items()
            },
            correction=None, test="t",
        )  # fmt: skip
        for expected in alone:
            one = whole[expected.metric, "two", ("device", value)]
            assert one.difference == pytest.approx(expected.difference)
            assert one.interval == pytest.approx(expected.interval)
            assert one.p_value == pytest.approx(expected.p_value)
            assert (one.wins, one.losses) == (expected.wins, expected.losses)
    for one in compare(systems, correction=None, test="t"):
        overall = whole[one.metric, "two"]
        assert (overall.p_value, overall.interval) == (one.p_value, one.interval)
    assert sum(one.share for one in whole if one.metric == "mrr") == pytest.approx(2)


@pytest.mark.parametrize("n_infinite", [1, 3, 15])
def test_infinite_numbers_belong_to_the_outer_quartiles(n_infinite):
    """A ratio of two properties, of which the second is 0 for some queries."""
    ratio = np.append(np.arange(40.0 - n_infinite), [np.inf] * n_infinite)
    scores = QueryScores(range(40), np.zeros((40, 1)), ["own"])
    names = [one.segment.value for one in scores.by(ratio)]
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
    segments = [one.segment for one in by]
    assert len(set(segments)) == 4
    assert [value[1:].split(",")[0] for _, value in segments] == edges
    for part, segment in zip(np.split(values, 4), segments, strict=True):
        assert by["m", segment].mean == pytest.approx(part.mean())


def test_differences_from_the_rest_are_welchs_test(data):
    y, models, groups, device = data
    systems = {
        name: query_scores(y, s, ["ndcg", "map"], groups=groups, segments={"device": device})
        for name, s in models.items()
    }
    delta = systems["two"].values - systems["one"].values
    by = compare(systems, by="device", correction=None)
    scores = systems["one"].by()
    for j, metric in enumerate(["ndcg", "map"]):
        for i, value in enumerate(["desk", "phone", "tv"]):
            rows = np.arange(90) % 3 == i
            expected = stats.ttest_ind(delta[rows, j], delta[~rows, j], equal_var=False).pvalue
            segment = ("device", value)
            assert by[metric, "two", segment].rest_p_value == pytest.approx(expected)
    raw = [
        stats.ttest_ind(column[rows], column[~rows], equal_var=False).pvalue
        for column in systems["one"].values.T
        for rows in (np.arange(90) % 3 == i for i in range(3))
    ]
    expected = [p for of in (raw[:3], raw[3:]) for p in holm(np.array(of)).tolist()]
    assert [one.rest_p_value for one in scores] == pytest.approx(expected)
    assert by["map", "two"].rest_p_value is None


def test_tables_and_frames(data):
    systems = two_systems(data, segments={"device": data[3]})
    comparison = compare(systems, by="device", test="t")
    lines = repr(comparison).splitlines()
    assert "p (differs from the rest)" in lines[1]
    assert lines[2].startswith("ndcg@10  two          all queries       90  100.0%")
    frame = comparison.to_frame()
    assert frame["value"].tolist() == ["all queries", "desk", "phone", "tv"] * 2
    by = systems["one"].by()
    assert len(by) == 6
    assert by.to_frame("polars")["value"].to_list() == ["desk", "phone", "tv"] * 2
    assert "<th>phone</th><td>30</td>" in by._repr_html_()
    with pytest.raises(KeyError, match=r"no segment .*the segments are \('ndcg@10', \('device'"):
        by["ndcg@10", ("device", "watch")]


@pytest.mark.parametrize(
    ("segments", "message"),
    [
        (np.arange(5), r"one value per query \(90\) or one per document .* has shape \(5,\)"),
        ({0: "a", 1: "b"}, r"a value for each of them, once; .* 88 of 90 are missing \(2, 3"),
        ({"0": 1, "1": 2}, r"90 of 90 are missing \(0, 1, 2, 3, 4, …\); the first key is '0'"),
        ({}, "at least one column; got none"),
    ],
)
def test_refuses_segments_that_do_not_fit(data, segments, message):
    y, models, groups, _ = data
    with pytest.raises(ValueError, match=message):
        query_scores(y, models["one"], "mrr", groups=groups, segments=segments)


@pytest.mark.parametrize(("ids", "given"), [([3, 5, 8], list("853")), (list("358"), [8, 5, 3])])
def test_refuses_a_column_of_query_ids_of_another_type(ids, given):
    scores = query_scores([1, 1, 1], [0, 0, 0], "mrr", groups=ids)
    with pytest.raises(TypeError, match=r"'qid' of segments holds the query ids in another type"):
        scores.by(pd.DataFrame({"qid": given, "device": ["tv", "desk", "desk"]}))


def test_refuses_segments_that_vary_or_are_absent(data):
    y, models, groups, _ = data
    varying = groups.copy()
    varying[np.flatnonzero(groups == 7)[0]] = -1
    with pytest.raises(ValueError, match=r"constant within each .* varies within query 7"):
        query_scores(y, models["one"], "mrr", groups=groups, segments=varying)
    systems = two_systems(data)
    with pytest.raises(ValueError, match=r"have no segments 'device'\. Pass"):
        compare(systems, by="device")
    with pytest.raises(ValueError, match=r"have no segments\. Pass segments="):
        systems["one"].by()
    systems = two_systems(data, segments={"device": data[3]})
    with pytest.raises(TypeError, match=r"or names of segments of the scores; got True"):
        compare(systems, by=True)
    for names in ("devise", ["devise"], ["device", "devise"]):
        with pytest.raises(ValueError, match=r"no segments .*'devise'.*; they have 'device'\."):
            compare(systems, by=names)


@pytest.mark.parametrize("scale", [1e308, 1e-300])
def test_the_scale_of_weights_does_not_matter(scale):
    random = np.random.default_rng(0)
    weights = np.where(np.arange(30) < 10, 1.0, 0.5)
    first, second = random.random((2, 30, 1))

    def compared(w):
        systems = {
            name: QueryScores(np.arange(30), values, ["mrr"], w, np.arange(30) % 3)
            for name, values in (("a", first), ("b", second))
        }
        return compare(systems, by="segment", test="t"), systems["a"].by()

    for scaled, expected in zip(compared(weights * scale), compared(weights), strict=True):
        for one, other in zip(scaled, expected, strict=True):
            assert one.share == pytest.approx(other.share)
            assert one.interval == pytest.approx(other.interval)
            assert one.rest_p_value == pytest.approx(other.rest_p_value)


def test_segments_are_aligned_by_an_index_of_query_ids():
    ids = ["q2", "q2", "q1", "q1"]
    by_query = pd.Series(["hi", "lo"], index=["q2", "q1"])
    for segments in (by_query, by_query.to_frame("segment"), {"segment": by_query}):
        by = query_scores([1, 0, 0, 1], [4, 3, 2, 1], "mrr", groups=ids, segments=segments).by()
        assert (by["mrr", ("segment", "hi")].mean, by["mrr", ("segment", "lo")].mean) == (1, 0.5)
    scores = query_scores([1, 0, 0, 1], [4, 3, 2, 1], "mrr", groups=ids)
    assert scores.by(by_query)["mrr", ("segment", "hi")].mean == 1
    # one value per document, of which the index may be the query ids as well
    rows = pd.Series(["hi", "hi", "lo", "lo"], index=ids)
    by = query_scores([1, 0, 0, 1], [4, 3, 2, 1], "mrr", groups=ids, segments=rows).by()
    assert by["mrr", ("segment", "hi")].mean == 1
    for index in (["q1", "q3"], ["q1", "q1"]):
        with pytest.raises(ValueError, match=r"1 of 2 are missing \('q2'\); .*to_numpy\(\)"):
            scores.by(pd.Series(["hi", "lo"], index=index))


def test_an_index_of_the_same_numbers_in_another_order_is_ambiguous():
    values = np.array([[1.0], [0.5], [0.75]])
    scores, labels = QueryScores([1, 0, 2], values, ["mrr"]), {0: "x", 1: "y", 2: "z"}
    by_id = scores.by(labels).to_frame()["mean"].tolist()
    assert by_id == [0.5, 1, 0.75]
    with pytest.raises(ValueError, match="index of 'segment' may hold the query ids or merely"):
        scores.by(pd.Series(list(labels.values())))
    assert scores.by(pd.Series(labels).rename_axis("qid")).to_frame()["mean"].tolist() == by_id
    by_position = scores.by(pd.Series(list(labels.values())).to_numpy())
    assert by_position.to_frame()["mean"].tolist() == [1, 0.5, 0.75]
    in_order = QueryScores([0, 1, 2], values, ["mrr"]).by(pd.Series(list(labels.values())))
    assert in_order.to_frame()["mean"].tolist() == [1, 0.5, 0.75]


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


def test_polars_frames_have_text_for_query_ids_of_several_types():
    ids = np.array(["a", 1, ("b", 2)], dtype=object)
    frame = QueryScores(ids, [[0], [1], [0]], ["mrr"]).to_frame("polars")
    assert frame["query"].to_list() == ["a", "1", "('b', 2)"]


@pytest.mark.parametrize("library", [list, pd.Series, pl.Series, pa.array])
def test_the_text_missing_beside_missing_values_is_refused(library):
    scores = QueryScores(range(3), [[1.0], [0.5], [0.0]], ["m"])
    assert len(scores.by({"c": library(["missing", "z", "z"])})) == 2
    with pytest.raises(
        ValueError, match=r"beside the text 'missing'.*'c' has both. Replace one of"
    ):
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
