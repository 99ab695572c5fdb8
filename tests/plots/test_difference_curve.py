"""Curves against the cut-off: means, paired differences, and their bands."""

import itertools

import numpy as np
import pytest
from matplotlib import pyplot as plt

from sklearn_rankscore import (
    CutoffCurveDisplay,
    DifferenceCurveDisplay,
    compare,
    evaluate,
    query_scores,
)
from sklearn_rankscore.plots.style import SYSTEMS


def legend(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


def check_curve(line, band, values, ends):
    np.testing.assert_array_equal(line.get_xdata(), [1, 3, 10])
    np.testing.assert_allclose(line.get_ydata(), values, atol=1e-12)
    corners = band.get_paths()[0].vertices[:, 1].round(9)
    assert {*np.round(ends, 9).ravel()} <= {*corners}


@pytest.mark.parametrize("weighted", [False, True])
def test_curves_and_bands_are_those_of_each_cutoff(data, weighted):
    y, models, groups = data
    models = {**models, "three": -models["one"]}
    given = {"groups": groups, "sample_weight": 1.0 + groups % 3 if weighted else None}
    names = [f"map@{k}(threshold=1)" for k in (1, 3, 10)]
    given_curve = {**given, "metric": "map(threshold=1)", "k": [10, 1, 3]}
    means = CutoffCurveDisplay.from_predictions(y, models, **given_curve, method="t", bands=True)
    scores = query_scores(y, models, names, **given)
    values = {name: [*evaluate(y, s, names, **given).values()] for name, s in models.items()}
    for line, band, (name, of) in zip(means.lines_, means.bands_, scores.items(), strict=True):
        check_curve(line, band, values[name], [*of.interval(method="t").values()])
    differences = DifferenceCurveDisplay.from_predictions(y, models, **given_curve)
    compared = compare(scores, test="t")
    drawn = zip(differences.lines_, differences.bands_, ["two", "three"], strict=True)
    for line, band, name in drawn:
        ends = [compared[metric, name].interval for metric in names]
        check_curve(line, band, np.subtract(values[name], values["one"]), ends)
    assert differences.zero_line_.get_ydata()[0] == 0
    for display in (means, differences):
        assert legend(display) == ["one", "two", "three"]
        assert display.ax_.get_xlabel() == "cut-off k"
        assert "95 % confidence bands" in display.ax_.get_legend().get_title().get_text()
    assert means.ax_.get_ylabel() == "MAP@k(threshold=1)"
    assert differences.ax_.get_ylabel() == "difference in MAP@k(threshold=1)"


def test_a_system_has_the_same_color_in_both_plots(data):
    y, models, groups = data
    given = {"groups": groups, "k": [1, 5]}
    curve = CutoffCurveDisplay.from_predictions(y, models, **given)
    difference = DifferenceCurveDisplay.from_predictions(y, models, **given, baseline="two")
    assert [line.get_color() for line in curve.lines_] == [*SYSTEMS[:2]]
    assert [line.get_color() for line in difference.lines_] == [SYSTEMS[0]]
    assert difference.baseline == "two"


def test_systems_are_told_apart_without_color_also_on_the_same_axes(data):
    y, models, groups = data
    given = {"groups": groups, "k": 3}
    display = CutoffCurveDisplay.from_predictions(y, models, **given)
    other = CutoffCurveDisplay.from_predictions(
        y, models["one"] * 0, name="three", ax=display.ax_, **given
    )
    for look in ("get_linestyle", "get_marker", "get_color"):
        assert len({getattr(line, look)() for line in other.ax_.lines}) == 3
    assert legend(other) == ["one", "two", "three"]


def test_unpaired_bands_are_drawn_on_request_only(data):
    y, models, groups = data
    several = CutoffCurveDisplay.from_predictions(y, models, groups=groups, k=[1, 5])
    assert several.bands_ == []
    assert several.ax_.get_legend().get_title().get_text() == ""
    assert len(several.plot(bands=True).bands_) == 2
    single = CutoffCurveDisplay.from_predictions(y, models["one"], groups=groups, k=[1, 5])
    assert len(single.bands_) == 1
    assert single.plot(bands=False).bands_ == []


def test_scores_at_several_cutoffs_in_every_spelling(data):
    y, models, groups = data
    names = ["ndcg@5", "mrr", "map@3(threshold=1)", "map@1(threshold=1)"]
    scores = query_scores(y, models, names, groups=groups)
    for metric in (None, "map(threshold=1)", "MAP(threshold=1)"):
        curve = CutoffCurveDisplay.from_query_scores(scores, metric=metric)
        assert (curve.metric, curve.k.tolist()) == ("map(threshold=1)", [1, 3])
        expected = [scores["two"].mean()[name] for name in (names[3], names[2])]
        np.testing.assert_allclose(curve.means["two"], expected)
    for metric in ("ndcg", "mrr"):
        message = f"a curve needs '{metric}' at two cut-offs or more; the scores hold ndcg@5"
        with pytest.raises(ValueError, match=message):
            DifferenceCurveDisplay.from_query_scores(scores, metric=metric)
    with pytest.raises(ValueError, match="at least two models; got 1"):
        DifferenceCurveDisplay.from_predictions(y, models["one"], groups=groups)


def test_cutoffs_go_to_k_to_twenty_or_to_the_longest_query(data):
    y, models, groups = data
    display = CutoffCurveDisplay.from_predictions(y, models["one"], groups=groups, name="feature")
    assert display.k.tolist() == list(range(1, 21))
    assert all(tick == int(tick) for tick in display.ax_.get_xticks())
    assert legend(display) == ["feature"]
    assert CutoffCurveDisplay.from_predictions([0, 1, 1], [1, 2, 3]).k.tolist() == [1, 2, 3]
    to_four = CutoffCurveDisplay.from_predictions(y, models, groups=groups, k=4)
    assert to_four.k.tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("k", "are_all_shown"),
    [
        ([1, 5, 10, 50, 100, 500, 1000], False), ([9, 990, 1000], False),
        (range(990, 1100, 7), False), ([1, 3, 5, 10], True), ([1, 5, 10, 20, 50, 100], True),
    ],
)  # fmt: skip
def test_cutoffs_do_not_overlap(data, k, are_all_shown):
    y, models, groups = data
    ax = plt.subplots(figsize=(5, 3), layout="constrained")[1]
    CutoffCurveDisplay.from_predictions(y, models["one"], groups=groups, k=k, ax=ax)
    ax.figure.canvas.draw()
    labels = ax.get_xticklabels()
    if are_all_shown:
        assert [label.get_text() for label in labels] == [*map(str, k)]
    boxes = [label.get_window_extent() for label in labels]
    assert all(left.x1 + 2 <= right.x0 for left, right in itertools.pairwise(boxes))
