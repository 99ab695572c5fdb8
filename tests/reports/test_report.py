"""ranking_report: facts about the data, metrics by cut-off, segments, differences and labels."""

import copy
import math
import pickle
import re

import numpy as np
import pandas as pd
import pytest

from sklearn_rankscore import (
    compare,
    evaluate,
    from_ranked_lists,
    ndcg_score,
    propensity_summary,
    query_scores,
    ranking_report,
    score_bounds,
)

# a: one relevant document on top; b: nothing relevant, all tied; c: one document;
# d: two pairs of ties, and one document that was not retrieved
Y = [1, 0, 0, 0, 0, 2, 1, 0, 0, 1, 0]
SCORE = [3, 2, 1, 5, 5, 1, 4, 4, 3, 3, -np.inf]
GROUPS = list("aaabbcddddd")
NAMES = ["ndcg@1", "ndcg@10", "map@1", "map@10"]
K = {"k": (1, 10), "metrics": ["ndcg", "map"]}


def as_dict(y, score, **given):
    return ranking_report(y, score, output_dict=True, **given)


def test_data_facts_by_hand():
    assert as_dict(Y, SCORE, groups=GROUPS)["data"] == {
        "queries": 4, "documents": 11, "fewest_documents": 1, "median_documents": 2.5,
        "most_documents": 5, "fewest_retrieved": 1, "median_retrieved": 2.5, "most_retrieved": 4,
        "queries_without_results": 0, "queries_without_relevant": 0.25,
        "queries_of_one_document": 0.25, "queries_all_tied": 0.25,
        "documents_tied": pytest.approx(6 / 11), "documents_unjudged": 0,
    }  # fmt: skip
    higher = as_dict(Y, SCORE, groups=GROUPS, threshold=1, metrics="ndcg")["data"]
    assert higher["queries_without_relevant"] == 0.75
    alone = as_dict([1, 0, 0, 1], [1.0, -np.inf, -np.inf, -np.inf], groups=[0] * 4)["data"]
    assert (alone["documents_tied"], alone["queries_all_tied"]) == (0, 0)


@pytest.mark.parametrize("weighted", [False, True])
def test_metrics_are_those_of_evaluate_with_intervals(data, weighted):
    y, models, groups, _ = data
    given = {"groups": groups, "sample_weight": (1.0 + groups % 3) if weighted else None}
    report = as_dict(y, models["one"], method="t", **given)["metrics"]
    kinds, cuts = ("ndcg", "map", "mrr", "precision", "recall"), ("@1", "@5", "@10", "")
    names = [f"{metric}{cut}" for metric in kinds for cut in cuts]
    assert list(report) == names
    expected = query_scores(y, models["one"], names, **given).interval(method="t")
    for name, value in evaluate(y, models["one"], names, **given).items():
        assert report[name]["mean"] == pytest.approx(value)
        assert (report[name]["low"], report[name]["high"]) == pytest.approx(expected[name])
        assert report[name]["queries"] == 60


def test_rows_and_columns():
    score = [*SCORE[:-1], 0]
    report = ranking_report(
        Y, score, groups=GROUPS, k=[3, None, 1], digits=2, method="t", confidence=0.9,
        metrics=["ndcg", ndcg_score, "query_auc", "mrr@2(threshold=1)", "dcg@1"],
    )  # fmt: skip
    facts, table = report.split("\n\n")
    assert "queries of one document             25.0%" in facts.splitlines()
    header, *rows = table.splitlines()
    assert re.split("  +", header) == ["mean [90 % interval]", "@1", "@2", "@3", "all"]
    labels = [row.split("  ")[0] for row in rows if not row.startswith("  ")]
    assert labels == ["ndcg", "query_auc", "mrr(threshold=1)", "dcg"]
    scores = query_scores(Y, score, "ndcg@1", groups=GROUPS)
    numbers = scores.mean()["ndcg@1"], *scores.interval(0.9, method="t")["ndcg@1"]
    shown = "{:.2f} [{:.2f}, {:.2f}]".format(*numbers)
    # that of random orders is below the mean
    chance = evaluate(Y, np.zeros(11), "ndcg@1", groups=GROUPS)["ndcg@1"]
    assert rows[1].startswith("  random order  ")
    assert rows[1][rows[0].index(shown) :].startswith(f"{chance:.2f}  ")


@pytest.mark.slow
def test_lists_of_some_documents_are_not_compared_with_a_random_order_of_them():
    actual = {"ann": [1, 2, 30], "bob": [3, 40], "cho": [5]}
    lists = {"ann": [1, 10, 11, 12], "bob": [13, 14, 3, 15]}
    documents = from_ranked_lists(actual, {"top": lists, "all": {**lists, "cho": [5, 6]}})
    text = ranking_report(**documents, metrics=["recall", "mrr"], k=3)
    assert "random order" not in text
    report = as_dict(y=documents.pop("y_true"), score=documents.pop("y_score"),
                     **documents, metrics="recall", k=3)  # fmt: skip
    assert math.isnan(report["top"]["metrics"]["recall@3"]["random_order"])
    cells = [re.split("  +", row) for row in text.partition("\n\n")[0].splitlines()]
    facts = {name: values for name, *values in cells}
    assert facts["queries with all scores tied"] == ["0.0%", "0.0%"]  # cho has nothing but -inf
    assert facts["documents of a query"] == ["2 to 6, median 5"] * 2
    assert facts["retrieved documents of a query"] == ["0 to 4, median 4", "2 to 4, median 4"]
    assert facts["queries without results"] == ["33.3%", "0.0%"]
    assert text.to_html(plots=False).count("queries without results") == 1
    everything = ranking_report(Y, [0, *SCORE[1:-1], 0], groups=GROUPS)
    assert "retrieved" not in everything


def test_functions_of_a_block_and_options_take_part(data):
    y, models, groups, _ = data

    def size(block):
        return block.sizes

    given = {"groups": groups, "gain": "exponential"}
    report = as_dict(y, models["one"], metrics=[size, "ndcg"], k=10, **given)["metrics"]
    assert list(report) == ["size", "ndcg@10"]
    assert report["size"]["mean"] == len(y) / 60
    assert report["ndcg@10"]["mean"] == pytest.approx(ndcg_score(y, models["one"], k=10, **given))


@pytest.mark.parametrize("given", [{}, {"sample_weight": 2}, {"ties": "stable"}])
def test_random_orders_have_the_mean_of_equal_scores(data, given):
    """Whatever the rule for ties is; it is the mean over permutations too."""
    y, models, groups, _ = data
    given = {o: 1.0 + groups % 3 if o == "sample_weight" else v for o, v in given.items()}
    report = as_dict(y, models["one"], groups=groups, k=(1, 10), **given)["metrics"]
    names = list(report)
    equal = {o: v for o, v in given.items() if o != "ties"}
    expected = evaluate(y, np.zeros(len(y)), names, groups=groups, **equal)
    expectations = {name: one["random_order"] for name, one in report.items()}
    assert expectations == pytest.approx(expected)
    random = np.random.default_rng(0)
    drawn = [evaluate(y, random.random(len(y)), names, groups=groups, **equal) for _ in range(60)]
    for name in names:
        values = np.array([one[name] for one in drawn])
        assert expectations[name] == pytest.approx(values.mean(), abs=4 * values.std() / 60**0.5)


def test_random_orders_that_are_zero_or_not_known_have_no_row(data):
    y, models, groups, _ = data
    metrics = ["spearman", "ndcg(adjusted=true)", "mrr", lambda block: block.sizes]
    given = {"groups": groups, "k": 5, "metrics": metrics}
    report = as_dict(y, models["one"], **given)["metrics"]
    assert [n for n, one in report.items() if not np.isnan(one["random_order"])] == ["mrr@5"]
    assert ranking_report(y, models["one"], **given).count("random order") == 1
    clicks = {"propensity": np.full(len(y), 0.5), "groups": groups, "metrics": "dcg", "k": 5}
    assert "random order" not in ranking_report((y > 1) * 1, models["one"], **clicks)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"k": []}, "k is empty; name at least one cut-off"),
        ({"digits": -1}, "digits must be an integer of at least 0; got -1"),
        ({"by": "device"}, r"by='device' names no index level.*by=X\['device'\]"),
    ],
)
def test_refuses_arguments_out_of_range(data, given, message):
    y, models, groups, _ = data
    with pytest.raises(ValueError, match=message):
        ranking_report(y, models["one"], groups=groups, **given)


@pytest.mark.parametrize("form", ["mapping", "columns", "level"])
def test_segments_are_metrics_of_their_queries(data, form):
    y, models, groups, device = data
    ids, first = np.unique(groups, return_index=True)
    score, by = models["one"], {
        "mapping": dict(zip(ids.tolist(), device[first], strict=True)),
        "columns": {"device": device},
        "level": "device",
    }[form]  # fmt: skip
    index = pd.MultiIndex.from_arrays([groups, device], names=["qid", "device"])
    labels, given = (pd.Series(y, index), {}) if form == "level" else (y, {"groups": groups})
    report = as_dict(labels, score, by=by, **given, **K)
    column = "segment" if form == "mapping" else "device"
    assert {row["column"] for row in report["segments"]} == {column}
    rows = {(row["metric"], row["value"]): row for row in report["segments"]}
    for value in ("desk", "phone", "tv"):
        kept = device == value
        alone = as_dict(y[kept], score[kept], groups=groups[kept], **K)["metrics"]
        for name, expected in alone.items():
            row = rows[name, value]
            of = ("mean", "low", "high", "queries")
            assert [row[key] for key in of] == pytest.approx([expected[key] for key in of])
            assert row["share"] == 1 / 3
    assert list(report["metrics"]) == NAMES


@pytest.mark.parametrize("weighted", [False, True])
def test_differences_by_segment_are_those_of_compare(data, weighted):
    y, models, groups, device = data
    given = {"groups": groups, "sample_weight": 1.0 + groups % 2 if weighted else None}
    report = as_dict(y, models, by={"device": device}, random_state=0, **given, **K)
    scores = query_scores(y, models, NAMES, segments={"device": device}, **given)
    expected = compare(scores, by="device", random_state=0)
    assert not any("difference" in row for row in report["one"]["segments"])
    rows = report["two"]["segments"]
    assert len(rows) == 12
    for row in rows:
        one = expected[row["metric"], "two", (row["column"], row["value"])]
        shown = [row[f"difference{end}"] for end in ("", "_low", "_high")]
        assert shown == pytest.approx([one.difference, *one.interval])
        assert row["adjusted_p_value"] == pytest.approx(one.adjusted_p_value)
        assert row["mean"] == pytest.approx(one.model_mean)
        assert row["share"] == pytest.approx(one.share)


@pytest.mark.parametrize("has_segments", [True, False])
def test_the_text_has_all_cells_and_the_report_its_parts(data, has_segments):
    y, models, groups, device = data
    by, given = ({"device": device} if has_segments else None), {"groups": groups, **K}
    report = ranking_report(y, models, by=by, random_state=0, **given)
    assert isinstance(report, str)
    assert repr(report) == str(report)
    shown = compare(report.scores, by=by and "device", random_state=0).to_string(digits=3)
    assert report.endswith(f"\n\n{shown}")
    assert "p-values: adjusted by holm for all comparisons with one, each metric by itself" in shown
    assert report.scores["two"].mean() == pytest.approx(
        evaluate(y, models["two"], NAMES, groups=groups)
    )
    for same in (pickle.loads(pickle.dumps(report)), copy.deepcopy(report)):
        assert same == report
        assert same.comparison["map@1", "two"] == report.comparison["map@1", "two"]
    if has_segments:
        rows = device == "tv"
        value = evaluate(y[rows], models["two"][rows], "map@10", groups=groups[rows])["map@10"]
        second = report.partition("\ntwo\n\n")[2]
        rows = map(str.split, second.splitlines())
        row = next(row for row in rows if row[:3] == ["map@10", "device", "tv"])
        assert row[3:6] == ["20", "33.3%", f"{value:.3f}"]
        assert report.segments["one"]["map@1", ("device", "tv")].queries == 20
    single = ranking_report(y, models["one"], **given)
    assert (single.comparison, single.segments, list(single.scores)) == (None, {}, [""])
    assert "Compared" not in ranking_report(y, {"one": models["one"]}, **given)


@pytest.mark.parametrize("rule", ["drop", "irrelevant"])
def test_bounds_are_those_of_score_bounds(data, rule):
    y, models, groups, _ = data
    y, score = np.where(np.arange(len(y)) % 4, y, np.nan), models["one"]
    given = {"groups": groups, "metrics": ["ndcg", "mrr", "query_auc"], "k": (1, 5)}
    report = as_dict(y, score, unjudged=rule, bounds=True, **given)["metrics"]
    names = [name for name in report if name != "query_auc"]
    for name, (low, high) in score_bounds(y, score, names, groups=groups).mean().items():
        assert (report[name]["lowest"], report[name]["highest"]) == (low, high)
        assert high > low
    assert "lowest" not in report["query_auc"]  # no labels are known to be the best for it
    text = ranking_report(y, score, unjudged=rule, bounds=True, **given)
    *_, title, ndcg, _ = text.splitlines()
    assert re.split("  +", title) == ["[lowest, highest mean of any missing labels]", "@1", "@5"]
    low, high = report["ndcg@5"]["lowest"], report["ndcg@5"]["highest"]
    assert ndcg.endswith(f"[{low:.3f}, {high:.3f}]")
    assert "highest mean of any missing labels" in text.to_html(plots=False)
    assert "missing labels" not in ranking_report(y, score, unjudged=rule, **given)
    with pytest.raises(TypeError, match="bounds must be True or False"):
        ranking_report(y, score, unjudged=rule, bounds="yes", **given)


@pytest.mark.parametrize("by_name", [False, True])
def test_effective_clicks_and_clipped_documents(data, by_name):
    y, models, groups, _ = data
    clicks, score = y > 2, models["one"]
    seen = np.random.default_rng(0).choice([1, 0.5, 0.05], len(y))
    score = pd.Series(score, pd.MultiIndex.from_arrays([groups, seen], names=["qid", "seen"]))
    given = {"metrics": "dcg", "k": 3, "clip": 0.1, "propensity": "seen" if by_name else seen}
    report = as_dict(clicks, score, **given)
    summary = propensity_summary(clicks, seen, clip=0.1)
    assert report["data"]["clicks"] == summary.n_clicks
    assert report["data"]["effective_clicks"] == summary.effective_clicks
    assert report["data"]["documents_clipped"] == summary.clipped_share
    scores = query_scores(clicks, score, "dcg@3", propensity=seen, clip=0.1)
    assert report["metrics"]["dcg@3"]["mean"] == scores.mean()["dcg@3"]
    text = ranking_report(clicks, score, **given)
    assert f"{summary.n_clicks}, {summary.effective_clicks:.0f}" in text
    assert re.search(f"documents with a clipped propensity +{summary.clipped_share:.1%}", text)
    assert "clicks" not in as_dict(clicks, score, metrics="dcg")["data"]
