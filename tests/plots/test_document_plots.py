"""Plots of documents: scores by label, and one query through two rankings."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import same_color
from scipy import stats

from sklearn_rankscore import (
    LabelScoresDisplay,
    RankChangeDisplay,
    from_ranked_lists,
    from_trec,
)
from sklearn_rankscore.plots.style import BETTER, MUTED, SYSTEMS, WORSE

LEVELS = [0.05, 0.25, 0.5, 0.75, 0.95]


@pytest.mark.parametrize("scale", ["score", "query"])
def test_boxes_are_quantiles_of_each_label(data, scale):
    y, models, groups = data
    display = LabelScoresDisplay.from_predictions(y, models, groups=groups, scale=scale)
    for (name, scores), color in zip(models.items(), SYSTEMS, strict=False):
        series = pd.Series(scores)
        if scale == "query":
            series = series.groupby(groups).transform(lambda s: stats.zscore(s))
        expected = np.array([np.quantile(series[y == label], LEVELS) for label in range(5)])
        np.testing.assert_allclose(display.quantiles[name], expected)
        boxes = display.boxes_[name]
        medians = [line.get_ydata()[0] for line in boxes["medians"]]
        np.testing.assert_allclose(medians, expected[:, 2])
        lowest = [line.get_ydata().min() for line in boxes["whiskers"][::2]]
        np.testing.assert_allclose(lowest, expected[:, 0])
        assert same_color(boxes["boxes"][0].get_facecolor(), color)
    ticks = [label.get_text() for label in display.ax_.get_xticklabels()]
    assert ticks == [f"{label}\n{np.sum(y == label):,}" for label in range(5)]
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert texts == ["one", "two"]


def test_hatches_tell_more_systems_than_colors_apart(data):
    y, models, groups = data
    many = {str(i): models["one"] + i for i in range(10)}
    display = LabelScoresDisplay.from_predictions(y, many, groups=groups)
    boxes = [parts["boxes"][0] for parts in display.boxes_.values()]
    assert len({(box.get_facecolor(), box.get_hatch()) for box in boxes}) == 10


def test_documents_that_were_not_retrieved_are_left_out():
    y, scores = [0, 0, 1, 1, 1], [1.0, 3.0, 2.0, 4.0, -np.inf]
    for scale in ("score", "query"):
        display = LabelScoresDisplay.from_predictions(y, scores, groups=[0] * 5, scale=scale)
        values = np.array(scores[:4])
        if scale == "query":
            values = (values - values.mean()) / values.std()
        medians = display.quantiles["model"][:, 2]
        np.testing.assert_allclose(medians, [values[:2].mean(), values[2:].mean()])
    never = LabelScoresDisplay.from_predictions([0, 1], [1.0, -np.inf], groups=[0, 0])
    assert np.isnan(never.quantiles["model"][1]).all()
    with pytest.raises(ValueError, match="scale must be one of"):
        LabelScoresDisplay.from_predictions(y, scores, groups=[0] * 5, scale="rank")


def test_documents_that_nobody_judged_have_a_box(data):
    y, models, groups = data
    for labels in (y, np.linspace(0, 1, len(y))):
        judged = np.arange(len(y)) % 3 > 0
        some = LabelScoresDisplay.from_predictions(
            np.where(judged, labels, np.nan), models, groups=groups
        )
        of_judged = LabelScoresDisplay.from_predictions(
            labels[judged],
            {name: scores[judged] for name, scores in models.items()},
            groups=groups[judged],
        )
        assert some.labels == [*of_judged.labels, "not judged"]
        assert some.documents.tolist() == [*of_judged.documents, np.sum(~judged)]
        for name, scores in models.items():
            expected = [*of_judged.quantiles[name], np.quantile(scores[~judged], LEVELS)]
            np.testing.assert_allclose(some.quantiles[name], expected)
    none = LabelScoresDisplay.from_predictions([np.nan] * 3, [3, 1, 2], groups=[1] * 3)
    assert none.labels == ["not judged"]


@pytest.mark.parametrize("k", [1, 5])
def test_lines_go_from_rank_to_rank(data, k):
    y, models, groups = data
    # a query with another first document in each ranking
    query = next(
        q for q in range(60) if len({s[groups == q].argmax() for s in models.values()}) == 2
    )
    names = np.array([f"d{i}" for i in range(len(y))])
    display = RankChangeDisplay.from_predictions(
        y, models, groups=groups, query=query, names=names, k=k, threshold=1
    )
    rows = np.flatnonzero(groups == query)
    ranks = np.column_stack([stats.rankdata(-s[rows], "ordinal") for s in models.values()])
    np.testing.assert_array_equal(display.ranks, ranks)
    shown = rows[np.argsort(ranks[:, 0])]
    shown = [row for row in shown if ranks[rows == row].min() <= k]
    assert len(display.lines_) == len(shown)
    for line, row in zip(display.lines_, shown, strict=True):
        before, after = ranks[rows == row][0]
        assert line.get_ydata().tolist() == [min(before, k + 1), min(after, k + 1)]
        outcome = BETTER if after < before else WORSE if after > before else MUTED
        assert same_color(line.get_color(), outcome if y[row] > 1 else MUTED)
    texts = {text.get_text() for text in display.ax_.texts}
    first = rows[np.argmax(models["one"][rows])]
    assert {f"d{first} ({y[first]})", "1"} <= texts
    assert display.ax_.yaxis_inverted()
    assert [label.get_text() for label in display.ax_.get_xticklabels()] == ["one", "two"]


def test_documents_that_were_not_retrieved_have_no_rank():
    runs = {"old": {"u1": ["jam", "milk", "oil", "tea"]}, "new": {"u1": []}}
    documents = from_ranked_lists({"u1": ["jam", "tea", "rice"]}, runs)
    display = RankChangeDisplay.from_predictions(**documents)
    assert display.ranks.tolist() == [[rank, np.inf] for rank in (1, 2, 3, 4, np.inf)]
    assert [line.get_ydata().tolist() for line in display.lines_] == [[r, 5] for r in (1, 2, 3, 4)]
    assert same_color(display.lines_[0].get_color(), WORSE)
    texts = [text.get_text() for text in display.ax_.texts]
    assert texts[-1] == "not retrieved"
    assert "> 10" not in texts
    assert texts[:2] == ["1", "0 (1)"]
    runs["new"] = {"u1": ["tea", "rice", "salt"]}
    display = RankChangeDisplay.from_predictions(
        **from_ranked_lists({"u1": ["jam", "tea", "rice"]}, runs), k=2
    )
    assert [line.get_ydata().tolist() for line in display.lines_] == [
        [1, 3],
        [2, 3],
        [3, 1],
        [3, 2],
    ]
    texts = [text.get_text() for text in display.ax_.texts]
    assert [text for text in texts if "retrieved" in text] == [
        "> 2 or not retrieved", "not retrieved",
    ]  # fmt: skip
    with pytest.raises(ValueError, match="neither system retrieved a document for query 7"):
        RankChangeDisplay.from_predictions([1], {"a": [-np.inf], "b": [-np.inf]}, groups=[7])


def test_query_is_found_by_its_id():
    scores = {"a": [3, 2, 1], "b": [1, 2, 3]}
    only = RankChangeDisplay.from_predictions([1, 0, 0], scores, groups=["q"] * 3)
    assert only.query == "q"
    tied = RankChangeDisplay.from_predictions(
        [1, 0, 0], {"a": [1, 1, -np.inf], "b": [0, 0, 0]}, groups=[5] * 3
    )
    assert tied.ranks.tolist() == [[1, 1], [2, 2], [np.inf, 3]]
    assert same_color(tied.lines_[0].get_color(), MUTED)  # relevant, and where it was
    with pytest.raises(ValueError, match="query must be one of the query ids, 1, 2; got None"):
        RankChangeDisplay.from_predictions([1, 0, 0], scores, groups=[1, 1, 2])
    for names in (["x"], list("wxyz")):
        with pytest.raises(ValueError, match=rf"one name per document \(3\); got {len(names)}"):
            RankChangeDisplay.from_predictions(
                [1, 0, 0], scores, groups=[1, 1, 2], query=1, names=names
            )
    with pytest.raises(ValueError, match="compares two models"):
        RankChangeDisplay.from_predictions([1, 0, 0], {"a": [3, 2, 1]}, groups=[1, 1, 1])


def test_names_may_be_an_index_level():
    index = pd.MultiIndex.from_arrays([[7, 7], ["jam", "tea"]], names=["qid", "item"])
    display = RankChangeDisplay.from_predictions(
        pd.Series([1, 0], index), {"a": [1, 2], "b": [2, 1]}, names="item"
    )
    assert display.names == ["jam (1)", "tea (0)"]


def test_documents_that_nobody_judged():
    runs = {"one": {"q": {"a": 2.0, "x": 1.0}}, "two": {"q": {"x": 2.0, "a": 1.0}}}
    for rule, names in (("irrelevant", ["0 (1)", "1 (0)"]), ("drop", ["0 (1)"])):
        documents = from_trec({"q": {"a": 1}}, runs, unjudged=rule)
        display = RankChangeDisplay.from_predictions(**documents)
        assert display.names == names
        boxes = LabelScoresDisplay.from_predictions(**documents)
        assert boxes.documents.tolist() == [1] * len(names)
    documents = from_trec({"q": {"a": 1}}, runs, unjudged="nan")
    assert RankChangeDisplay.from_predictions(**documents).names == ["0 (1)", "1 (nan)"]
