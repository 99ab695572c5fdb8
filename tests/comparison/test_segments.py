"""Segments of queries: how they are given, their means, and how they differ from the rest."""

import numpy as np
import pandas as pd
import pytest
from frames import pa, pl
from query_values import error_and_freedom, scores_of
from scipy import stats

from sklearn_rankscore import compare, query_scores, ranking_report
from sklearn_rankscore.comparison.significance import holm


def own(values, ids=None, **given):
    """Scores of one metric that is not one of this package."""
    return scores_of(values, ["own"], ids=ids, **given)


def means(by):
    return [(one.segment.value, one.mean) for one in by]


# how they are given

IDS = ["u3", "u1", "u4", "u2"]  # of the queries in the order of their first documents
PICK = np.array([0, 1, 2, 3, 1])  # the query of each document
KINDS = {"u1": "x", "u2": "x", "u3": "y", "u4": "z"}
SORTED, BACKWARDS = pd.Series(KINDS), pd.Series(KINDS)[::-1]
USERS = {"user": [*BACKWARDS.index], "kind": [*BACKWARDS]}
LIBRARIES = [pd.DataFrame, dict, *([pl.DataFrame, pa.table] if pl else [])]
OF_QUERIES = {
    "list": [*SORTED],
    "array": SORTED.to_numpy(),
    "mapping": dict(BACKWARDS),
    "pandas": BACKWARDS,
    "categorical": BACKWARDS.astype("category"),
    "more queries": pd.concat([pd.Series({"u9": "q", "u8": "q"}), BACKWARDS]),
    "columns": {"kind": [*SORTED]},
    "columns of mappings": {"kind": dict(BACKWARDS)},
    "columns of pandas": {"kind": BACKWARDS},
    "frame": BACKWARDS.to_frame("kind"),
    **{f"key of {of.__module__} {of.__name__}": of(USERS) for of in LIBRARIES},
    "key of another index": pd.DataFrame(USERS, index=list("wxyz")),
    "key last": pd.DataFrame(USERS)[["kind", "user"]],
    "key of more": pd.DataFrame({name: ["u9", *of, "u8"] for name, of in USERS.items()}),
}
ROWS = SORTED[IDS].to_numpy()[PICK]
OF_DOCUMENTS = {
    "list of documents": ROWS.tolist(),
    "array of documents": ROWS,
    "columns of documents": {"kind": ROWS},
    "pandas of documents": pd.Series(ROWS),
    "frame of documents": pd.DataFrame({"kind": ROWS}),
    "ids as index": pd.Series(ROWS, np.array(IDS)[PICK]),
    **({"polars of documents": pl.Series(ROWS), "arrow": pa.table({"kind": ROWS})} if pl else {}),
    "level": "kind",
    "levels": ["kind"],
}


@pytest.mark.parametrize("form", [*OF_QUERIES, *OF_DOCUMENTS])
def test_each_query_gets_its_own_segment_in_any_form(form):
    groups = np.array(IDS)[PICK]
    levels = pd.MultiIndex.from_arrays([groups, ROWS], names=["qid", "kind"])
    y = pd.Series([0, 1, 1, 1, 0], levels)
    systems = {"one": [1, 1, 1, 1, 2], "two": [1, 2, 1, 1, 1]}
    segments = {**OF_QUERIES, **OF_DOCUMENTS}[form]
    given = query_scores(y, systems, "mrr", segments=segments)
    expected = {"x": 0.75, "y": 0, "z": 1}
    assert dict(means(given["one"].by())) == expected
    report = ranking_report(y, systems["one"], metrics="mrr", by=segments, output_dict=True)
    assert {one["value"]: one["mean"] for one in report["segments"]} == expected
    assert len({one["column"] for one in report["segments"]}) == 1
    if form in OF_QUERIES:
        scores = query_scores(y, systems, "mrr")
        assert dict(means(scores["one"].by(segments))) == expected
        compared = compare(scores, by=segments)
        assert {one.segment.value for one in compared} == {"all queries", *expected}


def by_key(ids, **columns):
    return own([0.0] * len(ids), ids=ids).by(pd.DataFrame(columns))


def of_documents(segments):
    """Of five queries of two documents, by number."""
    return query_scores([1] * 10, [0] * 10, "mrr", groups=np.arange(10) // 2, segments=segments)


LISTED = pd.Series(list("xyz"))
STORED = {"a": own(range(4), segments={"device": list("xxyy")}), "b": own(range(4))}
COUNTS = "merely counts its values, and does not say which qu"
LACKS = r"1 of 3 are missing \('w'\); .* A query without a segment has the value None"
REFUSED = [
    (lambda: of_documents(np.arange(3)), r"per query \(5\) or one per document .* \(3,\)"),
    (lambda: of_documents({0: "a", 1: "b"}), r"3 of 5 are missing \(2, 3, 4\); the first key is 0"),
    (lambda: of_documents({"0": 1, "1": 2}), r"5 of 5 are missing .*; the first key is '0'"),
    (lambda: of_documents({}), "at least one column; got none"),
    (lambda: of_documents(np.arange(10)), "constant within each .* varies within 5 queries"),
    (lambda: of_documents("country"), r"'country'.* such as segments=X\['country'\]"),
    (lambda: of_documents(3), "segments must be .*; got 3"),
    # the index of a Series after `reset_index`, whose values may be in any order
    *((lambda ids=ids, of=of: own([1, 0, 0], ids=ids).by(of), COUNTS)
      for ids in ([1, 0, 2], [3, 4, 5], list("uvw"))
      for of in (LISTED, {"kind": LISTED}, LISTED.to_frame(), pd.DataFrame({1: LISTED, 2: 0}))),
    *((lambda of=of: own([1, 0, 0], ids=list("uvw")).by(of), LACKS)
      for ids in ("uv", "vut", "vtus")
      for of in (pd.Series("x", list(ids)), pd.DataFrame({"kind": "x"}, index=list(ids)))),
    (lambda: own([0, 1]).by(pd.Series(["u", "v"], [1, 1])), r"1 of 2 are missing \(0\)"),
    (lambda: own([0, 1]).by(pd.Series(list("uvw"), [1, 1, 0])), r"1 occurs more than once"),
    (lambda: by_key([1, 2, 3], u=[1, 2, 3], v=[3, 1, 2], k=list("abc")), "columns 'u', 'v' of seg"),
    (lambda: by_key([3, 5, 8], qid=list("853"), k=list("abb")), "'qid' .* another type"),
    (lambda: by_key(list("358"), qid=[8, 5, 3], k=list("abb")), "'qid' .* another type"),
    (lambda: own([1, 0], ids=list("uv")).by({"qid": ["w", "u"], "k": ["x", "y"]}), "but not 'v'"),
    (lambda: STORED["b"].by(), r"have no segments\. Pass segments="),
    (lambda: STORED["a"].by(True), "or names of segments of the scores"),
    (lambda: compare(STORED, by=["device", "devise"]), r"'devise'.*; they have 'device'\."),
    (lambda: STORED["a"].by()["own", ("device", "z")], r"no segment .* \('own', \('device', 'x'"),
    *((lambda of=of: own([1, 0, 0]).by({"c": of(["missing", "z", None])}), "text 'missing'.*'c'")
      for of in (list, pd.Series, *((pl.Series, pa.array) if pl else ()))),
]  # fmt: skip


@pytest.mark.parametrize(("call", "message"), REFUSED)
def test_refusals(call, message):
    with pytest.raises((KeyError, TypeError, ValueError), match=message):
        call()


def test_ids_in_the_index_beside_a_column_of_some_of_them():
    users = pd.DataFrame({"country": ["x", "y"], "friend": ["v", "z"]}, index=["v", "u"])
    means = own([1, 0], ids=list("uv")).by(users)
    assert [means["own", ("country", value)].mean for value in "xy"] == [0, 1]


def test_an_index_of_numbers_says_which_query_if_it_is_named_or_that_of_a_dict():
    for segments in (dict(enumerate("xyz")), LISTED.rename_axis("qid")):
        by = own([1.0, 0.5, 0.75], ids=[1, 0, 2]).by(segments)
        assert means(by) == [("x", 0.5), ("y", 1), ("z", 0.75)]


# numbers in quartiles, missing values, frames


@pytest.mark.parametrize("n_infinite", [0, 3, 15])
def test_numbers_in_quartiles(n_infinite):
    """A ratio of two properties, of which the second is 0 for some queries."""
    random = np.random.default_rng(0)
    values, ratio = random.random(40), random.permutation(40) * 1.5
    clipped = np.minimum(ratio, np.sort(ratio)[-n_infinite - 1])
    by = own(values).by(np.where(ratio > clipped, np.inf, ratio))
    names, measured = zip(*means(by), strict=True)
    expected = pd.Series(values).groupby(pd.qcut(clipped, 4, duplicates="drop").codes).mean()
    assert measured == pytest.approx(expected.tolist())
    assert names[0].startswith("[0, ")
    assert names[-1].endswith(", inf]" if n_infinite else "(43.875, 58.5]")


@pytest.mark.parametrize(("first", "step"), [(1_700_000_000, 60), (0.5, 1.6e-9), (0, 3)])
def test_quartiles_of_large_or_close_numbers_have_different_names(first, step):
    values = first + step * np.arange(16)
    by = own(np.linspace(0, 1, 16)).by(values)
    edges = [float(name[1:].split(",")[0]) for name, _ in means(by)]
    assert edges == pytest.approx(np.quantile(values, [0, 0.25, 0.5, 0.75]), rel=1e-6)
    assert len(set(edges)) == 4


MISSING = [  # a column, and its other values
    (pd.Series(["a", pd.NA, "b"], dtype="string"), ["a", "b"]),
    (["a", pd.NA, "b"], ["a", "b"]),
    (pd.Series([2, pd.NA, 1], dtype="Int64"), [1, 2]),
    *((of([2, None, 1]), [1, 2]) for of in ((pl.Series, pa.array) if pl else ())),
    (pd.Series([True, pd.NA, False], dtype="boolean"), [False, True]),
    (pd.Series([2.5, None, 1]), [1.0, 2.5]),
    (pd.to_datetime(pd.Series(["2026-01-02", None, "2026-01-02"])), [pd.Timestamp(2026, 1, 2)]),
]


@pytest.mark.parametrize(("column", "expected"), MISSING)
def test_missing_values_of_any_library_are_a_segment(column, expected):
    by = own([0.0, 1.0, 0.5]).by(column)
    assert by["own", ("segment", "missing")].mean == 1
    assert [one.segment.value for one in by] == [*expected, "missing"]
    rows = query_scores([1, 0, 1], [1, 2, 3], "mrr", groups=range(3), segments=column)
    assert [one.segment for one in rows.by()] == [one.segment for one in by]


TYPES = [
    ({"device": list("aabb"), "slot": [1, 2, 1, 2]}, pl.String),
    ({"slot": [1, 2, 1, None]}, pl.String),
    ({"slot": [1, 2, 1, 2]}, pl.Int64),
    ({"slot": [1, 2, 1, 2], "share": [0.5, 0.5, 0.1, 0.1]}, pl.Float64),
    ({"new": [True, False] * 2}, pl.Boolean),
    ({"day": pd.to_datetime(["2026-01-02"] * 2 + ["2026-01-03"] * 2)}, pl.Datetime),
]


@pytest.mark.parametrize(("segments", "expected"), TYPES)
def test_polars_frames_have_text_for_segments_of_several_types(segments, expected):
    by = own([0, 1, 0, 1], segments=segments).by()
    frame, values = by.to_frame("polars"), [one.segment.value for one in by]
    assert frame["value"].dtype == expected
    assert frame["value"].to_list() == (list(map(str, values)) if expected == pl.String else values)
    assert frame["mean"].to_list() == by.to_frame()["mean"].tolist()
    assert by.to_frame()["value"].tolist() == values


# means and differences


@pytest.mark.parametrize("scale", [None, 1.0, 1e306, 1e-300])
def test_a_comparison_by_segment_is_one_of_the_queries_of_each(scale):
    """With the shares of the weight, whatever its unit."""
    random, device = np.random.default_rng(0), np.arange(60) % 3
    weights = np.ones(60) if scale is None else 1.0 + np.arange(60) % 2
    values, given = random.random((2, 60, 2)), {"correction": None, "test": "t"}

    def systems(rows, unit):
        given = {"segments": {"device": device[rows]}, "ids": np.arange(60)[rows]}
        given["weights"] = None if unit is None else weights[rows] * unit
        return {name: scores_of(of[rows], **given) for name, of in zip("ab", values, strict=True)}

    whole = compare(systems(slice(None), scale), by="device", **given)
    for rows in (slice(None), *(device == value for value in range(3))):
        segment = () if isinstance(rows, slice) else (("device", device[rows][0]),)
        for expected in compare(systems(rows, 1.0), **given):
            one = whole[expected.metric, "b", *segment]
            for name in ("difference", "interval", "p_value", "wins", "losses", "model_mean"):
                assert getattr(one, name) == pytest.approx(getattr(expected, name))
            assert one.share == pytest.approx(weights[rows].sum() / weights.sum())


def welch(values, weights, own):
    """It is nan if fewer than six values of a side differ from the most common one."""
    means, errors, freedoms = [], [], []
    for side in (own & ~np.isnan(values), ~own & ~np.isnan(values)):
        most = np.unique(values[side], return_counts=True)[1].max(initial=0)
        if side.sum() - most < 6:
            return np.nan
        means.append(np.average(values[side], weights=weights[side]))
        error, freedom = error_and_freedom(values[side], weights[side], each=False)
        errors.append(error)
        freedoms.append(freedom)
    error = np.hypot(*errors)
    df = error**4 / sum(e**4 / d for e, d in zip(errors, freedoms, strict=True))
    p_value = 2 * stats.t.sf(abs(means[0] - means[1]) / error, df)
    if np.ptp(weights) == 0 and not np.isnan(values).any():
        scipys = stats.ttest_ind(values[own], values[~own], equal_var=False).pvalue
        assert p_value == pytest.approx(scipys)
    return p_value


@pytest.mark.parametrize("weighting", ["equal", "lognormal", "light segment", "far from zero"])
@pytest.mark.parametrize("seed", range(3))
def test_differences_from_the_rest_are_welchs_test(weighting, seed):
    """By its definition, one segment and its rest after the other, and adjusted by Holm."""
    random, n = np.random.default_rng(seed), 60
    segments = random.choice(4, n, p=[0.7, 0.15, 0.1, 0.05])
    columns = [
        random.random(n),
        random.choice([0, 1], n, p=[0.1, 0.9]),
        random.choice([0, 0.5, 1], n),
        np.where(segments == 0, random.random(n), random.integers(2)),
        np.where(random.random(n) < 0.3, np.nan, random.random(n).round(1)),
    ]
    weights = np.ones(n) if weighting in ("equal", "far from zero") else random.lognormal(0, 1, n)
    weights[segments == 0] *= 1e-6 if weighting == "light segment" else 1
    offset = 1e8 if weighting == "far from zero" else 0.0
    values, names = np.column_stack(columns), list("abcde")
    scores = scores_of(values + offset, names, weights)
    expected = [[welch(of, weights, segments == one) for of in values.T] for one in range(4)]
    by = scores.by(segments)
    for metric, p_values in zip(names, np.transpose(expected), strict=True):
        measured = [one.rest_p_value for one in by if one.metric == metric]
        np.testing.assert_allclose(measured, holm(p_values), rtol=1e-5 if offset else 1e-6)
    assert 0 < np.isnan(expected).mean() < 1
    systems = {"x": scores_of(0 * values, names, weights), "y": scores}
    compared = compare(systems, by=segments, correction=None, test="t")
    for i, p_values in enumerate(expected):
        measured = [compared[m, "y", ("segment", i)].rest_p_value for m in names]
        np.testing.assert_allclose(measured, p_values, rtol=1e-5)


def test_a_segment_without_a_rest_or_with_few_queries_is_not_compared():
    random = np.random.default_rng(0)
    first, second = own(random.random(40)), own(random.random(40))
    reason = "nan: no test, because fewer than six queries of the segment"
    for n, is_few in ((40, True), (2, True), (20, False)):
        segments = {"s": np.arange(40) < n}
        by, compared = first.by(segments), compare({"x": first, "y": second}, by=segments)
        p_values = [one.rest_p_value for one in (*by, *compared) if one.rest_p_value is not None]
        assert set(np.isnan(p_values)) == {is_few}
        assert (reason in str(by)) == (reason in str(compared)) == is_few
    for head, is_tested in ((100.0, True), (1e7, False), (1e10, False)):
        by = own(random.random(60), weights=np.append(head, np.ones(59))).by(np.arange(60) < 30)
        assert [np.isfinite(segment.rest_p_value) for segment in by] == [is_tested] * 2
        assert ("or one of these queries has nearly all the weight" in str(by)) != is_tested


def test_a_segment_of_weight_zero_has_no_mean():
    random = np.random.default_rng(0)
    given = {"weights": np.repeat([1.0, 0.0], 20), "segments": np.repeat(["desk", "phone"], 20)}
    systems = {name: own(random.random(40), **given) for name in "ab"}
    desk, phone = systems["a"].by()
    assert (phone.queries, phone.share, desk.share) == (0, 0, 1)
    assert np.isnan([phone.mean, *phone.interval, phone.rest_p_value]).all()
    assert desk.mean == pytest.approx(systems["a"]["own"][:20].mean())
    compared = compare(systems, by="segment")
    none = compared["own", "b", ("segment", "phone")]
    assert (none.queries, none.wins) == (0, 0)
    assert np.isnan([none.difference, none.baseline_mean, none.p_value, *none.interval]).all()
    assert compared["own", "b"].difference == compared["own", "b", ("segment", "desk")].difference
