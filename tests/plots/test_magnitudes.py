"""The ticks of very large and very small values: their powers of ten are not covered."""

import pickle
import re
from itertools import pairwise

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt

import sklearn_rankscore as rs

mpl.use("Agg")
SIZES = [None, (3, 3), (3.2, 2.4)]
DISPLAYS = [
    "CutoffCurveDisplay", "DifferenceCurveDisplay", "ForestDisplay", "LabelScoresDisplay",
    "QueryDeltaDisplay", "QueryPropertyDisplay", "QueryScatterDisplay",
]  # fmt: skip


def plot(display, scale, size=None, baseline=0.0):
    X, y, groups = rs.make_ranking(n_queries=40, random_state=0)
    ax = plt.subplots(figsize=size, layout="constrained")[1] if size else None
    scores, options = {"old": X[:, 0], "new": X[:, 1]}, {"metric": "dcg"}
    if display == "LabelScoresDisplay":
        scores, options = {name: baseline + scale * score for name, score in scores.items()}, {}
    return getattr(rs, display).from_predictions(
        baseline + scale * y, scores, groups=groups, ax=ax, **options
    )


def texts(labels):
    return [label.get_text() for label in labels if label.get_text()]


def value(label):
    return float(label.replace("−", "-"))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("scale", [1e-8, 1e-5, 1e6, 1e12])
@pytest.mark.parametrize("display", DISPLAYS)
def test_no_legend_or_name_covers_a_power_of_ten(display, scale, size):
    ax = plot(display, scale, size).ax_
    ax.figure.canvas.draw()
    numeric = [ax.xaxis] if display == "ForestDisplay" else [ax.yaxis]
    for axis in numeric + [ax.xaxis] * (display == "QueryScatterDisplay"):
        assert axis.get_offset_text().get_text() == ""
        labels = texts(axis.get_ticklabels())
        ticks = axis.get_majorticklocs()[: len(labels)]
        np.testing.assert_allclose(list(map(value, labels)), ticks, atol=scale / 1e3)
    low, high = ax.get_xlim()
    shown = [t for t in ax.get_xticklabels() if low <= t.get_position()[0] <= high]
    for left, right in pairwise(t.get_window_extent() for t in shown if t.get_text()):
        assert left.x1 + 2 <= right.x0


def test_other_values_have_no_power_of_ten():
    ax = plot("CutoffCurveDisplay", 1).ax_
    ax.figure.canvas.draw()
    assert all(re.fullmatch(r"\d+(\.\d)?", label) for label in texts(ax.get_yticklabels()))


def test_values_that_differ_little_are_written_in_full():
    ax = plot("LabelScoresDisplay", 1e-5, baseline=0.7).ax_
    ax.figure.canvas.draw()
    assert ax.yaxis.get_offset_text().get_text() == ""
    assert all(abs(value(label) - 0.7) < 1e-3 for label in texts(ax.get_yticklabels()))


def test_powers_in_mathematical_notation():
    with plt.rc_context({"axes.formatter.use_mathtext": True}):
        ax = plot("CutoffCurveDisplay", 1e6).ax_
        ax.figure.canvas.draw()
        labels = texts(ax.get_yticklabels())
        assert len(labels) > 3
        for label in labels[1:]:  # the first is that of 0
            assert r"\times" in label
            assert label.count("$") == 2


def test_own_formatters_are_kept():
    _, ax = plt.subplots()
    ax.yaxis.set_major_formatter("{x:.0f} points")
    X, y, groups = rs.make_ranking(n_queries=10, random_state=0)
    rs.CutoffCurveDisplay.from_predictions(1e6 * y, X[:, 0], groups=groups, metric="dcg", ax=ax)
    ax.figure.canvas.draw()
    assert all(label.endswith("000 points") for label in texts(ax.get_yticklabels()))


def test_figures_are_pickled():
    figure = plot("CutoffCurveDisplay", 1e6).figure_
    again = pickle.loads(pickle.dumps(figure))
    again.canvas.draw()
    assert texts(again.axes[0].get_yticklabels())[-1].endswith("e6")
