"""Several systems at once: each as alone, the same rows for all, and no rows mixed."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from sklearn_rankscore import (
    CutoffCurveDisplay,
    QueryDeltaDisplay,
    compare,
    evaluate,
    from_frames,
    from_ranked_lists,
    from_recommendations,
    from_relevance_lists,
    query_scores,
    ranking_report,
)

NAMES = ["ndcg", "ndcg@3", "map", "map@3", "mrr", "precision@3", "recall@3", "r_precision"]


def random_systems(seed, repeats=False):
    """Relevance and lists by query; the systems retrieve different documents."""
    rng = np.random.default_rng(seed)
    queries, items = [f"q{i}" for i in range(12)], [f"d{i}" for i in range(15)]
    actual = {
        q: {d: int(rng.integers(0, 3)) for d in rng.choice(items, 6, replace=False).tolist()}
        for q in queries
    }
    systems = {
        name: {q: rng.choice(items, size, replace=repeats).tolist() for q in queries}
        for name, size in [("a", 8), ("b", 5), ("c", 1)]
    }
    return actual, systems


def assert_each_as_alone(together, alone, **options):
    values = evaluate(metrics=NAMES, **together, average=None, **options)
    for name, documents in alone.items():
        expected = evaluate(metrics=NAMES, **documents, average=None, **options)
        for metric in NAMES:
            np.testing.assert_allclose(values[name][metric], expected[metric], rtol=1e-12)


@pytest.mark.parametrize("unjudged", ["irrelevant", "nan"])
def test_a_repeated_item_is_no_other_item_and_judged(unjudged):
    # "c" is relevant and retrieved by no system
    actual = [["a", "b", "c"]]
    systems = {"twice": [["a", "a", "x"]], "once": [["a"]], "later": [["b", "a", "a", "a"]]}
    together = from_ranked_lists(actual, systems, unjudged=unjudged)
    names = ["recall@3(unjudged=irrelevant)", "judged@3", "bpref", "ndcg@2(unjudged=drop)"]
    values = evaluate(metrics=names, **together)
    for name, lists in systems.items():
        alone = from_ranked_lists(actual, lists, unjudged=unjudged)
        assert values[name] == pytest.approx(evaluate(metrics=names, **alone))
    assert values["twice"][names[0]] == pytest.approx(1 / 3)
    assert values["twice"]["judged@3"] == pytest.approx(2 / 3)


def as_items(systems):
    """Items that carry their relevance: the n-th with one is the same item in all systems."""
    items = {
        name: [[(x, ranked[:i].count(x)) for i, x in enumerate(ranked)] for ranked in lists]
        for name, lists in systems.items()
    }
    by_query = zip(*items.values(), strict=True)
    return [{item: item[0] for lists in of_query for item in lists} for of_query in by_query], items


@pytest.mark.parametrize("same", [True, False])
def test_relevance_by_rank(same):
    rng = np.random.default_rng(4)
    lists = [rng.integers(0, 3, rng.integers(1, 9)).tolist() for _ in range(30)]
    systems = {
        name: [rng.permutation(labels)[: None if same else size].tolist() for labels in lists]
        for name, size in [("a", 5), ("b", 3)]
    }
    together = from_relevance_lists(systems)
    if same:
        alone = {name: from_relevance_lists(lists) for name, lists in systems.items()}
        assert_each_as_alone(together, alone)
    expected = evaluate(metrics=NAMES, **from_ranked_lists(*as_items(systems)), average=None)
    values = evaluate(metrics=NAMES, **together, average=None)
    np.testing.assert_equal(values, expected)
    arrays = {name: np.array([labels[:2] for labels in lists]) for name, lists in
              {"a": [[0, 1], [1, 1]], "b": [[1, 0], [1, 1]]}.items()}  # fmt: skip
    assert evaluate(metrics="mrr", **from_relevance_lists(arrays)) == {
        "a": {"mrr": 0.75},
        "b": {"mrr": 1.0},
    }


def test_relevance_by_rank_of_a_system_without_a_query():
    systems = {"a": {"p": [1, 0], "q": [np.nan, 1, 1]}, "b": {"q": [1, np.nan]}}
    documents = from_relevance_lists(systems)
    assert documents["groups"].tolist() == ["p", "p", "q", "q", "q"]
    values = evaluate(metrics=["mrr", "recall"], **documents, unjudged="drop", average=None)
    assert values["a"]["mrr"].tolist() == [1, 1]
    assert values["b"]["mrr"].tolist() == [0, 1]
    assert values["b"]["recall"].tolist() == [0, 0.5]


def test_reports_and_displays_take_the_systems():
    actual, systems = random_systems(3)
    documents = from_ranked_lists(actual, {name: systems[name] for name in "ab"})
    scores = query_scores(metrics=NAMES, **documents)
    values = evaluate(metrics=NAMES, **documents)
    for name, of_system in scores.items():
        assert of_system.mean() == pytest.approx(values[name], rel=1e-12)
    difference = compare(scores, baseline="a", n_resamples=99)["map", "b"].difference
    assert difference == pytest.approx(values["b"]["map"] - values["a"]["map"])
    reports = ranking_report(**documents, k=3, metrics="ndcg", output_dict=True, n_resamples=99)
    for name, report in reports.items():
        assert report["metrics"]["ndcg@3"]["mean"] == pytest.approx(values[name]["ndcg@3"])
    text = ranking_report(**documents, k=3, metrics="ndcg", n_resamples=99)
    assert [line for line in text.splitlines() if line in ("a", "b")] == ["a", "b"]
    curve = CutoffCurveDisplay.from_predictions(**documents, k=[1, 3], n_resamples=9)
    assert curve.means["b"][1] == pytest.approx(values["b"]["ndcg@3"])
    delta = QueryDeltaDisplay.from_predictions(**documents, metric="map", n_resamples=9)
    assert np.mean(delta.deltas) == pytest.approx(difference)


def test_series_of_other_indexes_are_refused():
    y = pd.Series([1, 0, 1], index=[3, 4, 5])
    scores = {
        "a": pd.Series([3, 2, 1], index=[3, 4, 5]),
        "b": pd.Series([1, 2, 3], index=[5, 4, 3]),
    }
    with pytest.raises(ValueError, match="the scores of 'b' have another index"):
        evaluate(y, scores, "mrr")
    scores["b"] = scores["b"].loc[y.index]
    assert evaluate(y, scores, "mrr")["b"]["mrr"] == 1


def test_a_system_without_a_name_is_refused():
    top = pd.DataFrame({"q": [1], "d": ["a"], "s": [1.0]})
    columns = {"groups": "q", "document": "d"}
    interactions = csr_array([[1, 0]])
    for call in (
        lambda: from_frames(top, {"": top}, score="s", **columns),
        lambda: from_frames(top, top, score={"": "s"}, **columns),
        lambda: from_frames(top, relevance="s", score={"": "s"}, **columns),
        lambda: from_frames(top, top, score={}, **columns),
        lambda: from_frames(top, relevance="s", score={}, **columns),
        lambda: from_relevance_lists({"": [[1, 0]]}),
        lambda: from_ranked_lists([["a"]], {"": [["a"]]}),
        lambda: from_recommendations(interactions, {"": [[0]]}),
        lambda: from_recommendations(interactions, {1: [[0]]}),
        lambda: from_recommendations(interactions, {}),
    ):
        with pytest.raises(TypeError, match=r"at least one system with names as keys.*; got \["):
            call()
    unnamed = {"": [1, 2], "b": [2, 1]}
    for function in (evaluate, query_scores, ranking_report):
        with pytest.raises(ValueError, match=r"the names are \['', 'b'\]\. Give it another name"):
            function([1, 0], unnamed, metrics="mrr")


def test_systems_may_have_numbers_as_names():
    y, groups = [1, 0, 0, 1], [0, 0, 1, 1]
    numbered = {1: [2, 1, 2, 1], 2: [1, 2, 1, 2]}
    assert evaluate(y, numbered, "mrr", groups=groups) == {1: {"mrr": 0.75}, 2: {"mrr": 0.75}}
    comparison = compare(query_scores(y, numbered, "mrr", groups=groups))
    for table in (comparison, comparison.system_table()):
        assert "<td>0.75" in table._repr_html_() or "<b>0.75" in table._repr_html_()
        assert "0.75" in table.to_markdown()
        assert "0.75" in table.to_latex()
    report = ranking_report(y, numbered, groups=groups, metrics="mrr", by={0: "x", 1: "y"})
    assert "Compared with 1 by the permutation test" in report.to_html()
