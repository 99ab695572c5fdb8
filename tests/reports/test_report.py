"""ranking_report: facts about the data, then metrics by cut-off."""

import math
import re

import numpy as np
import pytest

from sklearn_rankscore import (
    evaluate,
    from_ranked_lists,
    make_ranking,
    ndcg_score,
    query_scores,
    ranking_report,
)

# a: one relevant document on top; b: nothing relevant, all tied; c: one document;
# d: two pairs of ties, and one document that was not retrieved
Y = [1, 0, 0, 0, 0, 2, 1, 0, 0, 1, 0]
SCORE = [3, 2, 1, 5, 5, 1, 4, 4, 3, 3, -np.inf]
GROUPS = list("aaabbcddddd")


@pytest.fixture(scope="module")
def data():
    X, y, groups = make_ranking(n_queries=50, random_state=1)
    return y, X[:, 0], groups


def test_data_facts_by_hand():
    facts = ranking_report(Y, SCORE, groups=GROUPS, output_dict=True)["data"]
    assert facts == {
        "queries": 4,
        "documents": 11,
        "fewest_documents": 1,
        "median_documents": 2.5,
        "most_documents": 5,
        "fewest_retrieved": 1,
        "median_retrieved": 2.5,
        "most_retrieved": 4,
        "queries_without_results": 0,
        "queries_without_relevant": 0.25,
        "queries_of_one_document": 0.25,
        "queries_all_tied": 0.25,
        "documents_tied": pytest.approx(6 / 11),
        "documents_unjudged": 0,
    }
    higher = ranking_report(Y, SCORE, groups=GROUPS, threshold=1, output_dict=True)["data"]
    assert higher["queries_without_relevant"] == 0.75


def test_many_documents_not_retrieved_are_not_tied():
    score = [1.0, -np.inf, -np.inf, -np.inf]
    report = ranking_report([1, 0, 0, 1], score, groups=[0, 0, 0, 0], output_dict=True)
    assert report["data"]["documents_tied"] == 0
    assert report["data"]["queries_all_tied"] == 0


@pytest.mark.parametrize("weighted", [False, True])
def test_metrics_are_those_of_evaluate_with_intervals(data, weighted):
    y, score, groups = data
    given = {"groups": groups, "sample_weight": (1.0 + groups % 3) if weighted else None}
    report = ranking_report(y, score, **given, method="t", output_dict=True)["metrics"]
    names = [
        f"{metric}{cut}"
        for metric in ("ndcg", "map", "mrr", "precision", "recall")
        for cut in ("@1", "@5", "@10", "")
    ]
    assert list(report) == names
    expected = query_scores(y, score, names, **given).interval(method="t")
    for name, value in evaluate(y, score, names, **given).items():
        assert report[name]["mean"] == pytest.approx(value)
        assert (report[name]["low"], report[name]["high"]) == pytest.approx(expected[name])
        assert report[name]["queries"] == 50


def test_rows_and_columns():
    score = [*SCORE[:-1], 0]
    report = ranking_report(
        Y, score, groups=GROUPS, k=[3, None, 1], digits=2, method="t", confidence=0.9,
        metrics=["ndcg", ndcg_score, "query_auc", "mrr@2(threshold=1)", "dcg@1"],
    )  # fmt: skip
    data, table = report.split("\n\n")
    assert "queries of one document             25.0%" in data.splitlines()
    header, *rows = table.splitlines()
    assert header.split("  ")[0] == "mean [90 % interval]"
    assert header.split()[-5:] == ["interval]", "@1", "@2", "@3", "all"]
    labels = [row.split("  ")[0] for row in rows if not row.startswith("  ")]
    assert labels == ["ndcg", "query_auc", "mrr(threshold=1)", "dcg"]
    scores = query_scores(Y, score, "ndcg@1", groups=GROUPS)
    low, high = scores.interval(0.9, method="t")["ndcg@1"]
    shown = f"{scores.mean()['ndcg@1']:.2f} [{low:.2f}, {high:.2f}]"
    assert shown in rows[0]
    # numbers of a column are below one another, whatever their intervals
    starts = [row.rindex("  0.") for row in rows if row.startswith(("ndcg", "query_auc"))]
    assert len({*starts}) == 1
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
    report = ranking_report(**documents, metrics="recall", k=3, output_dict=True)
    assert math.isnan(report["top"]["metrics"]["recall@3"]["random_order"])
    cells = [re.split("  +", row) for row in text.partition("\n\n")[0].splitlines()]
    facts = {name: values for name, *values in cells}
    assert facts["queries with all scores tied"] == ["0.0%", "0.0%"]  # cho has nothing but -inf
    assert facts["documents of a query"] == ["2 to 6, median 5"] * 2
    assert facts["retrieved documents of a query"] == ["0 to 4, median 4", "2 to 4, median 4"]
    assert facts["queries without results"] == ["33.3%", "0.0%"]
    assert "queries without results" not in ranking_report(Y, [0, *SCORE[1:-1], 0], groups=GROUPS)
    table = text.to_html(plots=False)
    assert table.count("queries without results") == 1
    # a system that retrieved all documents beside one that did not
    both = {"all": [2.0, 1.0], "one": [2.0, -np.inf]}
    html = ranking_report([1, 0], both, groups=[0, 0], metrics="mrr", k=1).to_html(plots=False)
    assert "retrieved documents of a query" in html


def test_functions_of_a_block_and_options_take_part(data):
    y, score, groups = data

    def size(block):
        return block.sizes

    report = ranking_report(
        y, score, groups=groups, metrics=[size, "ndcg"], k=10, gain="exponential", output_dict=True
    )["metrics"]
    assert list(report) == ["size", "ndcg@10"]
    assert report["size"]["mean"] == len(y) / 50
    expected = ndcg_score(y, score, groups=groups, k=10, gain="exponential")
    assert report["ndcg@10"]["mean"] == pytest.approx(expected)


@pytest.mark.parametrize("given", [{}, {"sample_weight": 2}, {"ties": "stable"}])
def test_random_orders_have_the_mean_of_equal_scores(data, given):
    """Whatever the rule for ties is; it is the mean over permutations too."""
    y, score, groups = data
    given = {o: 1.0 + groups % 3 if o == "sample_weight" else v for o, v in given.items()}
    report = ranking_report(y, score, groups=groups, k=(1, 10), **given, output_dict=True)
    names = list(report["metrics"])
    equal = {o: v for o, v in given.items() if o != "ties"}
    expected = evaluate(y, np.zeros(len(y)), names, groups=groups, **equal)
    expectations = {name: one["random_order"] for name, one in report["metrics"].items()}
    assert expectations == pytest.approx(expected)
    random = np.random.default_rng(0)
    drawn = [evaluate(y, random.random(len(y)), names, groups=groups, **equal) for _ in range(60)]
    for name in names:
        values = np.array([one[name] for one in drawn])
        assert expectations[name] == pytest.approx(values.mean(), abs=4 * values.std() / 60**0.5)


def test_random_orders_that_are_zero_or_not_known_have_no_row(data):
    y, score, groups = data
    metrics = ["spearman", "ndcg(adjusted=true)", "mrr", lambda block: block.sizes]
    given = {"groups": groups, "k": 5, "metrics": metrics}
    report = ranking_report(y, score, **given, output_dict=True)["metrics"]
    known = [name for name, one in report.items() if not np.isnan(one["random_order"])]
    assert known == ["mrr@5"]
    assert ranking_report(y, score, **given).count("random order") == 1
    clicks = {"propensity": np.full(len(y), 0.5), "groups": groups, "metrics": "dcg", "k": 5}
    assert "random order" not in ranking_report((y > 1) * 1, score, **clicks)


def test_conventions_and_thresholds_reach_the_metrics(data):
    y, score, groups = data
    given = {"groups": groups, "metrics": ["map", "ndcg"], "k": 10, "output_dict": True}
    report = ranking_report(y, score, like="lightgbm", **given)["metrics"]
    expected = evaluate(y, score, ["map@10", "ndcg@10"], groups=groups, like="lightgbm")
    assert {name: one["mean"] for name, one in report.items()} == pytest.approx(expected)
    report = ranking_report(y, score, threshold=2, **given)["metrics"]
    assert report["map@10"]["mean"] == pytest.approx(
        evaluate(y, score, "map@10(threshold=2)", groups=groups)["map@10(threshold=2)"]
    )
    # a threshold for the data alone, where no metric has one
    ranking_report(y, score, groups=groups, metrics="ndcg", threshold=2)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"k": 0}, "k must be at least 1"),
        ({"metrics": []}, "metrics is empty"),
        ({"metrics": "ndgc"}, "Did you mean 'ndcg'"),
        ({"k": []}, "k is empty; name at least one cut-off"),
        ({"digits": -1}, "digits must be an integer of at least 0; got -1"),
        ({"confidence": 95}, "confidence must be between"),
        ({"gains": "linear"}, "no option 'gains'|has an option 'gains'"),
    ],
)
def test_refuses_arguments_out_of_range(data, given, message):
    y, score, groups = data
    with pytest.raises(ValueError, match=message):
        ranking_report(y, score, groups=groups, **given)
