"""ranking_report: facts about the data, metrics by cut-off, segments, differences and labels."""

import copy
import pickle
import re

import numpy as np
import pandas as pd
import pytest

import sklearn_rankscore as rs

# a: one relevant document on top; b: nothing relevant, all tied; c: one document;
# d: two pairs of ties
Y = [1, 0, 0, 0, 0, 2, 1, 0, 0, 1, 0]
SCORE = [3, 2, 1, 5, 5, 1, 4, 4, 3, 3, 0]
GROUPS = list("aaabbcddddd")
NAMES = ["ndcg@1", "ndcg@10", "map@1", "map@10"]
K = {"k": (1, 10), "metrics": ["ndcg", "map"]}


def as_dict(y, score, **given):
    return rs.ranking_report(y, score, output_dict=True, **given)


@pytest.mark.parametrize("n_values", [1, 2, 5])
def test_facts_are_counts_of_rows_by_query(n_values):
    """Ties are those of retrieved documents."""
    random = np.random.default_rng(n_values)
    groups, score = random.integers(0, 40, 100), random.integers(0, n_values, 100) * 1.0
    score[random.random(100) < 0.3] = -np.inf
    y = np.where(random.random(100) < 0.2, np.nan, np.arange(100) % 3)
    frame = pd.DataFrame({"q": groups, "s": score, "relevant": y > 1, "found": score > -np.inf})
    of_query = frame.groupby("q")
    sizes, retrieved = of_query.size(), of_query["found"].sum()
    found = frame[frame["found"]]
    n_scores = found.groupby("q")["s"].nunique().reindex(sizes.index, fill_value=0)
    given = {"threshold": 1, "unjudged": "irrelevant", "metrics": "ndcg"}
    assert as_dict(y, score, groups=groups, **given)["data"] == pytest.approx({
        "queries": len(sizes), "documents": 100,
        "fewest_documents": sizes.min(), "median_documents": sizes.median(),
        "most_documents": sizes.max(), "fewest_retrieved": retrieved.min(),
        "median_retrieved": retrieved.median(), "most_retrieved": retrieved.max(),
        "queries_without_results": (retrieved == 0).mean(),
        "queries_without_relevant": 1 - of_query["relevant"].any().mean(),
        "queries_of_one_document": (sizes == 1).mean(),
        "queries_all_tied": ((n_scores == 1) & (retrieved > 1)).mean(),
        "documents_tied": found.duplicated(["q", "s"], keep=False).sum() / 100,
        "documents_unjudged": np.isnan(y).mean(),
    })  # fmt: skip


def size(block):
    return block.sizes


@pytest.mark.parametrize("has_segments", [True, False])
@pytest.mark.parametrize("given", [
    {}, {"sample_weight": 2, "method": "t"}, {"like": "trec_eval", "confidence": 0.9},
    {"gain": "exponential", "metrics": [size, "ndcg"]}, {"threshold": 1, "metrics": "map"},
])  # fmt: skip
def test_numbers_are_those_of_the_functions(data, given, has_segments):
    """Means, intervals, segments and differences."""
    y, models, groups, device = data
    by, given = ({"device": device} if has_segments else None), {**given, "groups": groups}
    if "sample_weight" in given:
        given["sample_weight"] = 1.0 + groups % 3
    report = as_dict(y, models, **{**K, **given}, by=by, random_state=0)
    metrics, inference = given.pop("metrics", ["ndcg", "map"]), {"random_state": 0}
    names = [size] * (metrics[0] is size) + [n for n in NAMES if n.partition("@")[0] in metrics]
    inference |= {o: given.pop(o) for o in ("method", "confidence") if o in given}
    scores = rs.query_scores(y, models, names, segments=by, **given)
    compared = rs.compare(scores, by=by and "device", **inference)
    assert "segments" not in report["one"] or by
    for name, of in scores.items():
        ends, values = of.interval(**inference), of.mean()
        expected = {n: {"mean": values[n], **ends[n]._asdict(), "queries": 60} for n in of.metrics}
        assert [*report[name]["metrics"]] == [*expected]
        for metric, numbers in expected.items():
            shown = report[name]["metrics"][metric]
            assert {key: shown[key] for key in numbers} == pytest.approx(numbers)
        rows = report[name].get("segments", [])
        for row, s in zip(rows, of.by(**inference) if by else (), strict=True):
            assert (row["metric"], row["column"], row["value"]) == (s.metric, *s.segment)
            numbers = [s.queries, s.share, s.mean, *s.interval, s.rest_p_value]
            if name == "two":
                d = compared[s.metric, "two", tuple(s.segment)]
                numbers += [d.difference, *d.interval, d.adjusted_p_value]
            assert [*row.values()][3:] == pytest.approx(numbers, nan_ok=True)


def test_rows_and_columns():
    """The example of `ranking_report` shows where random orders stand."""
    report = rs.ranking_report(
        Y, SCORE, groups=GROUPS, k=[3, None, 1], digits=2, method="t", confidence=0.9,
        metrics=["ndcg", rs.ndcg_score, "query_auc", "mrr@2(threshold=1)", "dcg@1"],
    )  # fmt: skip
    facts, table = report.split("\n\n")
    assert "queries of one document             25.0%" in facts.splitlines()
    header, *rows = table.splitlines()
    assert re.split("  +", header) == ["mean [90 % interval]", "@1", "@2", "@3", "all"]
    labels = [row.split("  ")[0] for row in rows if not row.startswith("  ")]
    assert labels == ["ndcg", "query_auc", "mrr(threshold=1)", "dcg"]
    scores = rs.query_scores(Y, SCORE, "ndcg@1", groups=GROUPS)
    numbers = scores.mean()["ndcg@1"], *scores.interval(0.9, method="t")["ndcg@1"]
    assert re.split("  +", rows[0])[1] == "{:.2f} [{:.2f}, {:.2f}]".format(*numbers)
    kinds, cuts = ("ndcg", "map", "mrr", "precision", "recall"), ("@1", "@5", "@10", "")
    default = as_dict(Y, SCORE, groups=GROUPS)["metrics"]
    assert [*default] == [f"{metric}{cut}" for metric in kinds for cut in cuts]


@pytest.mark.slow
def test_lists_of_some_documents_are_not_compared_with_a_random_order_of_them():
    actual = {"ann": [1, 2, 30], "bob": [3, 40], "cho": [5]}
    lists = {"ann": [1, 10, 11, 12], "bob": [13, 14, 3, 15]}
    documents = rs.from_ranked_lists(actual, {"top": lists, "all": {**lists, "cho": [5, 6]}})
    text = rs.ranking_report(**documents, metrics=["recall", "mrr"], k=3)
    assert "random order" not in text
    cells = [re.split("  +", row) for row in text.partition("\n\n")[0].splitlines()]
    facts = {name: values for name, *values in cells}
    assert facts["queries with all scores tied"] == ["0.0%", "0.0%"]  # cho has nothing but -inf
    assert facts["documents of a query"] == ["2 to 6, median 5"] * 2
    assert facts["retrieved documents of a query"] == ["0 to 4, median 4", "2 to 4, median 4"]
    assert facts["queries without results"] == ["33.3%", "0.0%"]
    assert text.to_html(plots=False).count("queries without results") == 1
    assert "retrieved" not in rs.ranking_report(Y, SCORE, groups=GROUPS)


@pytest.mark.parametrize("weighted", [False, True])
def test_random_orders_have_the_mean_of_equal_scores(data, weighted):
    """Whatever the rule for ties."""
    y, models, groups, _ = data
    given = {"groups": groups, "sample_weight": 1.0 + groups % 3 if weighted else None}
    report = as_dict(y, models["one"], k=(1, 10), ties="stable", **given)["metrics"]
    expected = rs.evaluate(y, np.zeros(len(y)), list(report), **given)
    assert {name: one["random_order"] for name, one in report.items()} == pytest.approx(expected)
    # those that are 0 or not known have no row
    given |= {"k": 5, "metrics": ["spearman", "ndcg(adjusted=true)", "mrr", size]}
    report = as_dict(y, models["one"], **given)["metrics"]
    assert [n for n, one in report.items() if not np.isnan(one["random_order"])] == ["mrr@5"]
    assert rs.ranking_report(y, models["one"], **given).count("random order") == 1


REFUSED = [
    ({"k": []}, "k is empty; name at least one cut-off"),
    ({"digits": -1}, "digits must be an integer of at least 0; got -1"),
    ({"by": "device"}, r"by='device' names no index level.*by=X\['device'\]"),
    ({"bounds": "yes"}, "bounds must be True or False"),
]


@pytest.mark.parametrize(("given", "message"), REFUSED)
def test_refusals(given, message):
    with pytest.raises((TypeError, ValueError), match=message):
        rs.ranking_report(Y, SCORE, groups=GROUPS, **given)


def test_the_report_is_a_text_and_has_its_parts(data):
    y, models, groups, device = data
    given = {"groups": groups, "random_state": 0, **K}
    report = rs.ranking_report(y, models, by={"device": device}, **given)
    assert isinstance(report, str)
    assert repr(report) == str(report)
    shown = rs.compare(report.scores, by="device", random_state=0).to_string(digits=3)
    assert report.endswith(f"\n\n{shown}")
    for name, scores in report.scores.items():
        part = report.partition(f"\n{name}\n\n")[2]
        assert f"{scores.mean()['map@10']:.3f}" in part
        assert scores.by().to_string(digits=3) in part
        assert str(report.segments[name]) == str(scores.by())
    for same in (pickle.loads(pickle.dumps(report)), copy.deepcopy(report)):
        assert same == report
        assert same.comparison["map@1", "two"] == report.comparison["map@1", "two"]
        assert same.to_html(plots=False) == report.to_html(plots=False)
    single = rs.ranking_report(y, models["one"], **given)
    assert (single.comparison, single.segments, list(single.scores)) == (None, {}, [""])
    assert "Compared" not in rs.ranking_report(y, {"one": models["one"]}, **given)


@pytest.mark.parametrize("rule", ["drop", "irrelevant"])
def test_bounds_are_those_of_score_bounds(data, rule):
    y, models, groups, _ = data
    few = groups < 15
    y = np.where(np.arange(len(y)) % 4, y, np.nan)[few]
    given = {"groups": groups[few], "unjudged": rule, "k": (1, 5)}
    given["metrics"] = ["ndcg", "mrr", "query_auc"]
    report = as_dict(y, models["one"][few], bounds=True, **given)["metrics"]
    names = [name for name in report if name != "query_auc"]
    bounds = rs.score_bounds(y, models["one"][few], names, groups=groups[few]).mean()
    for name, (low, high) in bounds.items():
        assert (report[name]["lowest"], report[name]["highest"]) == (low, high)
        assert high > low
    assert "lowest" not in report["query_auc"]  # no labels are known to be the best for it
    *_, title, ndcg, _ = rs.ranking_report(y, models["one"][few], bounds=True, **given).splitlines()
    assert re.split("  +", title) == ["[lowest, highest mean of any missing labels]", "@1", "@5"]
    assert ndcg.endswith("[{:.3f}, {:.3f}]".format(*bounds["ndcg@5"]))
    assert "missing labels" not in rs.ranking_report(y, models["one"][few], **given)


@pytest.mark.parametrize("by_name", [False, True])
def test_effective_clicks_and_clipped_documents(data, by_name):
    y, models, groups, _ = data
    clicks, seen = y > 2, np.random.default_rng(0).choice([1, 0.5, 0.05], len(y))
    index = pd.MultiIndex.from_arrays([groups, seen], names=["qid", "seen"])
    score = pd.Series(models["one"], index)
    given = {"metrics": "dcg", "k": 3, "clip": 0.1, "propensity": "seen" if by_name else seen}
    report = as_dict(clicks, score, **given)
    keys = ("clicks", "effective_clicks", "documents_clipped")
    summary = rs.propensity_summary(clicks, seen, clip=0.1)
    expected = summary.n_clicks, summary.effective_clicks, summary.clipped_share
    assert tuple(report["data"][key] for key in keys) == expected
    scores = rs.query_scores(clicks, score, "dcg@3", propensity=seen, clip=0.1)
    assert report["metrics"]["dcg@3"]["mean"] == scores.mean()["dcg@3"]
    text = rs.ranking_report(clicks, score, **given)
    assert f"{summary.n_clicks}, {summary.effective_clicks:.0f}" in text
    assert re.search(f"documents with a clipped propensity +{summary.clipped_share:.1%}", text)
    assert "clicks" not in as_dict(clicks, score, metrics="dcg")["data"]
