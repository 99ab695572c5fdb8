"""Plots of documents: scores by label, and one query through two rankings."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import same_color
from scipy import stats

import sklearn_rankscore as rs
from sklearn_rankscore.plots.style import BETTER, MUTED, SYSTEMS, WORSE

LEVELS = [0.05, 0.25, 0.5, 0.75, 0.95]


def texts(display):
    return [text.get_text() for text in display.ax_.texts]


@pytest.mark.parametrize("scale", ["score", "query"])
@pytest.mark.parametrize("labels", ["grades", "numbers"])
def test_boxes_are_quantiles_of_each_label(data, scale, labels):
    """Documents that nobody judged have a box, and those that were not retrieved are left out."""
    y, models, groups = data
    rows, judged = np.arange(len(y)), np.arange(len(y)) % 3 > 0
    y = pd.Series(y if labels == "grades" else rows / len(y))
    lost = {name: rows % (5 + i) == 0 for i, name in enumerate(models)}
    models = {name: np.where(lost[name], -np.inf, scores) for name, scores in models.items()}
    bins = y if labels == "grades" else pd.qcut(y.where(judged), 4).cat.codes
    box = bins.where(judged, 5)
    given = {"groups": groups, "scale": scale}
    display = rs.LabelScoresDisplay.from_predictions(y.where(judged).to_numpy(), models, **given)
    boxes = np.unique(box)
    for (name, scores), color in zip(models.items(), SYSTEMS, strict=False):
        series = pd.Series(scores[~lost[name]], rows[~lost[name]])
        if scale == "query":
            series = series.groupby(groups[series.index]).transform(lambda s: stats.zscore(s))
        expected = np.array([np.quantile(series[box == of], LEVELS) for of in boxes])
        np.testing.assert_allclose(display.quantiles[name], expected)
        parts = display.boxes_[name]
        medians = [line.get_ydata()[0] for line in parts["medians"]]
        lowest = [line.get_ydata().min() for line in parts["whiskers"][::2]]
        np.testing.assert_allclose([lowest, medians], expected[:, [0, 2]].T)
        assert same_color(parts["boxes"][0].get_facecolor(), color)
    ticks = [label.get_text().rsplit("\n", 1) for label in display.ax_.get_xticklabels()]
    assert [count for _, count in ticks] == [f"{np.sum(box == of):,}" for of in boxes]
    names = [name for name, _ in ticks]
    assert names[-1] == "not judged"
    assert labels == "numbers" or names[:-1] == list("01234")
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == ["one", "two"]


def test_systems_of_one_color_have_other_hatches_and_labels_without_scores_no_box():
    many = {str(i): [1.0, -np.inf] for i in range(10)}
    display = rs.LabelScoresDisplay.from_predictions([0, 1], many, groups=[0, 0])
    looks = [of["boxes"][0] for of in display.boxes_.values()]
    assert len({(box.get_facecolor(), box.get_hatch()) for box in looks}) == 10
    assert np.isnan(display.quantiles["9"][1]).all()


@pytest.mark.parametrize("k", [1, 5])
def test_lines_go_from_rank_to_rank(data, k):
    y, models, groups = data
    # a query with another first document in each ranking
    firsts = [{s[groups == q].argmax() for s in models.values()} for q in range(60)]
    given = {"groups": groups, "query": next(q for q in range(60) if len(firsts[q]) == 2)}
    given |= {"names": np.array([f"d{i}" for i in range(len(y))]), "k": k, "threshold": 1}
    display = rs.RankChangeDisplay.from_predictions(y, models, **given)
    rows = np.flatnonzero(groups == given["query"])
    ranks = np.column_stack([stats.rankdata(-s[rows], "ordinal") for s in models.values()])
    np.testing.assert_array_equal(display.ranks, ranks)
    np.testing.assert_array_equal(display.relevant, y[rows] > 1)
    order = np.argsort(ranks[:, 0])
    shown = order[(ranks[order] <= k).any(axis=1)]
    for line, (before, after), row in zip(display.lines_, ranks[shown], rows[shown], strict=True):
        assert line.get_ydata().tolist() == [min(before, k + 1), min(after, k + 1)]
        outcome = BETTER if after < before else WORSE if after > before else MUTED
        assert same_color(line.get_color(), outcome if y[row] > 1 else MUTED)
    first = rows[np.argmax(models["one"][rows])]
    assert {f"d{first} ({y[first]})", "1"} <= {*texts(display)}
    assert display.ax_.yaxis_inverted()
    assert [label.get_text() for label in display.ax_.get_xticklabels()] == ["one", "two"]


SOME, NONE = ["tea", "rice", "salt"], []
RUNS = [
    (NONE, 10, [[1, 5], [2, 5], [3, 5], [4, 5]], ["not retrieved"]),
    (SOME, 2, [[1, 3], [2, 3], [3, 1], [3, 2]], ["> 2 or not retrieved", "not retrieved"]),
]


@pytest.mark.parametrize(("new", "k", "lines", "beyond"), RUNS)
def test_documents_that_were_not_retrieved_have_no_rank(new, k, lines, beyond):
    runs = {"old": {"u1": ["jam", "milk", "oil", "tea"]}, "new": {"u1": new}}
    documents = rs.from_ranked_lists({"u1": ["jam", "tea", "rice"]}, runs)
    display = rs.RankChangeDisplay.from_predictions(**documents, k=k)
    assert [line.get_ydata().tolist() for line in display.lines_] == lines
    assert same_color(display.lines_[0].get_color(), WORSE)
    assert [text for text in texts(display) if "retrieved" in text] == beyond
    assert {"1", "0 (1)"} <= {*texts(display)}


def test_a_query_and_its_documents_are_found_by_id():
    scores, draw = {"a": [3, 2, 1], "b": [1, 2, 3]}, rs.RankChangeDisplay.from_predictions
    assert draw([1, 0, 0], scores, groups=["q"] * 3).query == "q"
    tied = draw([1, 0, 0], {"a": [1, 1, -np.inf], "b": [0, 0, 0]}, groups=[5] * 3)
    assert tied.ranks.tolist() == [[1, 1], [2, 2], [np.inf, 3]]
    assert same_color(tied.lines_[0].get_color(), MUTED)  # relevant, and where it was
    index = pd.MultiIndex.from_arrays([[7, 7], ["jam", "tea"]], names=["qid", "item"])
    by_level = draw(pd.Series([1, 0], index), {"a": [1, 2], "b": [2, 1]}, names="item")
    assert by_level.names == ["jam (1)", "tea (0)"]


RULES = {"irrelevant": ["0 (1)", "1 (0)"], "drop": ["0 (1)"], "nan": ["0 (1)", "1 (nan)"]}


@pytest.mark.parametrize(("rule", "names"), RULES.items())
def test_documents_that_nobody_judged(rule, names):
    runs = {"one": {"q": {"a": 2.0, "x": 1.0}}, "two": {"q": {"x": 2.0, "a": 1.0}}}
    documents = rs.from_trec({"q": {"a": 1}}, runs, unjudged=rule)
    assert rs.RankChangeDisplay.from_predictions(**documents).names == names
    boxes = rs.LabelScoresDisplay.from_predictions(**documents)
    assert boxes.documents.tolist() == [1] * len(names)
