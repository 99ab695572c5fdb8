"""The paired difference against the cut-off, and bands of unpaired curves."""

import itertools

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt

from sklearn_rankscore import (
    CutoffCurveDisplay,
    DifferenceCurveDisplay,
    compare,
    evaluate,
    make_ranking,
    query_scores,
)
from sklearn_rankscore.plots.style import SYSTEMS

mpl.use("Agg")


@pytest.fixture(scope="module")
def data():
    X, y, groups = make_ranking(n_queries=50, random_state=0)
    return y, {"one": X[:, 0], "two": X[:, 0] + X[:, 1] / 2, "three": X[:, 2]}, groups


@pytest.mark.parametrize("weighted", [False, True])
def test_curves_and_bands_are_paired_differences(data, weighted):
    y, models, groups = data
    given = {"groups": groups, "sample_weight": 1.0 + groups % 3 if weighted else None}
    display = DifferenceCurveDisplay.from_predictions(y, models, k=[10, 1, 5], **given)
    names = ["ndcg@1", "ndcg@5", "ndcg@10"]
    values = {name: list(evaluate(y, s, names, **given).values()) for name, s in models.items()}
    comparison = compare(query_scores(y, models, names, **given), correction=None, test="t")
    for line, band, name in zip(display.lines_, display.bands_, ["two", "three"], strict=True):
        np.testing.assert_array_equal(line.get_xdata(), [1, 5, 10])
        np.testing.assert_allclose(
            line.get_ydata(), np.subtract(values[name], values["one"]), atol=1e-12
        )
        ends = [comparison[metric, name].interval for metric in names]
        np.testing.assert_allclose(display.intervals[name], ends)
        corners = set(band.get_paths()[0].vertices[:, 1].round(9))
        assert set(np.round(ends, 9).ravel()) <= corners
    assert display.zero_line_.get_ydata()[0] == 0
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert texts == ["one", "two", "three"]


def test_a_system_has_the_same_color_in_both_plots(data):
    y, models, groups = data
    curve = CutoffCurveDisplay.from_predictions(y, models, groups=groups, k=[1, 5])
    difference = DifferenceCurveDisplay.from_predictions(
        y, models, groups=groups, k=[1, 5], baseline="two"
    )
    colors = dict(zip(models, [line.get_color() for line in curve.lines_], strict=True))
    assert list(colors.values()) == [*SYSTEMS[:3]]
    assert [line.get_color() for line in difference.lines_] == [colors["one"], colors["three"]]
    assert difference.baseline == "two"


def test_unpaired_bands_are_drawn_on_request_only(data):
    y, models, groups = data
    several = CutoffCurveDisplay.from_predictions(y, models, groups=groups, k=[1, 5])
    assert several.bands_ == []
    assert several.ax_.get_legend().get_title().get_text() == ""
    assert len(several.plot(bands=True).bands_) == 3
    single = CutoffCurveDisplay.from_predictions(y, models["one"], groups=groups, k=[1, 5])
    assert len(single.bands_) == 1
    assert single.plot(bands=False).bands_ == []


def test_scores_at_several_cutoffs(data):
    y, models, groups = data
    names = ["ndcg@5", "mrr", "map@3(threshold=1)", "map@1(threshold=1)"]
    scores = query_scores(y, models, names, groups=groups)
    curve = CutoffCurveDisplay.from_query_scores(scores)
    assert (curve.metric, curve.k.tolist()) == ("map(threshold=1)", [1, 3])
    expected = [scores["two"].mean()[name] for name in (names[3], names[2])]
    np.testing.assert_allclose(curve.means["two"], expected)
    with pytest.raises(
        ValueError, match="a curve needs 'ndcg' at two cut-offs or more; the scores hold ndcg@5"
    ):
        DifferenceCurveDisplay.from_query_scores(scores, metric="ndcg")
    with pytest.raises(ValueError, match=r"a curve needs 'mrr' at two cut-offs or more"):
        DifferenceCurveDisplay.from_query_scores(scores, metric="mrr")
    with pytest.raises(ValueError, match="at least two models; got 1"):
        DifferenceCurveDisplay.from_predictions(y, models["one"], groups=groups)


@pytest.mark.parametrize("size", [None, (4, 3)])
@pytest.mark.parametrize(
    "k", [[1, 5, 10, 50, 100, 500, 1000], [9, 990, 1000], [999, 1000, 5000], range(990, 1100, 7)]
)
def test_cutoffs_do_not_overlap(data, size, k):
    y, models, groups = data
    ax = plt.subplots(figsize=size, layout="constrained")[1] if size else None
    given = {"groups": groups, "metric": "recall", "k": k, "ax": ax}
    ax = CutoffCurveDisplay.from_predictions(y, models["one"], **given).ax_
    ax.figure.canvas.draw()
    labels = ax.get_xticklabels()
    if len(k) <= 10:
        assert [labels[i].get_text() for i in (0, -1)] == [f"{k[i]}" for i in (0, -1)]
    for left, right in itertools.pairwise(label.get_window_extent() for label in labels):
        assert left.x1 + 2 <= right.x0


@pytest.mark.parametrize("k", [10, [1, 3, 5, 10], [1, 5, 10, 20, 50, 100]])
def test_cutoffs_that_have_room_are_all_labeled(data, k):
    y, models, groups = data
    ax = CutoffCurveDisplay.from_predictions(y, models, groups=groups, k=k).ax_
    assert ax.get_xticks().tolist() == (k if isinstance(k, list) else [*range(1, k + 1)])
