"""All displays: nothing is cut off or covered, and colors are those of the palette."""

import itertools

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.colors import to_rgb
from sklearn.linear_model import Ridge

import sklearn_rankscore as rs
from sklearn_rankscore.plots import palette

mpl.use("Agg")
LONG = ["HistGradientBoostingRegressor, 1st of two", "LGBMRanker_lambdarank_learning_rate=0.05"]


@pytest.fixture(scope="module")
def data():
    X, y, groups = rs.make_ranking(n_queries=40, random_state=0)
    return X, y, groups


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def plot(display, data, ax=None, names=LONG):
    X, y, groups = data
    kind = getattr(rs, display)
    given = {"groups": groups, "ax": ax}
    scores = dict(zip(names, [X[:, 0], X[:, 0] + X[:, 1] / 2], strict=True))
    if display == "QueryLearningCurveDisplay":
        models = {name: rs.QueryRanker(Ridge(), random_state=0) for name in names}
        return kind.from_estimator(models, X, y, max_queries=[4, 30], **given)
    if display == "RankChangeDisplay":
        documents = [f"the document of row {i} with a long name" for i in range(len(y))]
        return kind.from_predictions(y, scores, query=3, names=documents, **given)
    if display == "ForestDisplay":
        segments = {"device": np.array(["desktop", "phone"])[groups % 2]}
        return kind.from_predictions(y, scores, segments=segments, random_state=0, **given)
    return kind.from_predictions(y, scores, **given)


DISPLAYS = [name for name in rs.__all__ if name.endswith("Display")]


def test_there_are_nine():
    assert len(DISPLAYS) == 9


@pytest.mark.parametrize("display", DISPLAYS)
@pytest.mark.parametrize("width", [3, 12, None])
@pytest.mark.parametrize("style", ["default", "dark_background"])
def test_nothing_is_cut_off_or_covered(display, width, style, data):
    with plt.style.context(style):
        ax = None
        if width:
            _, ax = plt.subplots(figsize=(width, 4.5), dpi=100, layout="constrained")
        shown = plot(display, data, ax)
        figure, ax = shown.figure_, shown.ax_
        figure.canvas.draw()
        box = ax.get_tightbbox()
        whole = figure.bbox.padded(1)
        assert whole.x0 <= box.x0
        assert box.x1 <= whole.x1
        assert whole.y0 <= box.y0
        assert box.y1 <= whole.y1
        inside = ax.get_window_extent()
        if ax.get_legend() is not None:
            assert ax.get_legend().get_window_extent().y0 >= inside.y1 - 1
            if ax.get_title():
                assert ax.title.get_window_extent().y0 >= ax.get_legend().get_window_extent().y1
        ticks = [t.get_window_extent() for t in ax.get_xticklabels() if t.get_text()]
        for left, right in itertools.pairwise(sorted(ticks, key=lambda box: box.x0)):
            assert left.x1 <= right.x0 + 1
        assert inside.width > 0.2 * figure.bbox.width
        assert inside.height > 0.25 * figure.bbox.height


def luminance(color):
    rgb = np.array(to_rgb(color))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return linear @ [0.2126, 0.7152, 0.0722]


def contrast(one, other):
    high, low = sorted([luminance(one), luminance(other)], reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_colors_stand_out_on_light_and_dark():
    """WCAG asks for 3 to 1; the lightest colors of the palette have at least 2 on white."""
    for color in (palette.BETTER, palette.WORSE, palette.MUTED, palette.BLUE):
        assert contrast(color, "white") >= 3
        assert contrast(color, "black") >= 3
    for color in palette.SYSTEMS:
        assert contrast(color, "white") >= 2
        assert contrast(color, "black") >= 4
    outcomes = {palette.BETTER, palette.WORSE, palette.MUTED}
    assert not outcomes & set(palette.SYSTEMS)
    assert len(set(palette.SYSTEMS)) == len(palette.SYSTEMS)


@pytest.mark.parametrize("style", ["default", "dark_background"])
@pytest.mark.parametrize("display", DISPLAYS)
def test_reference_lines_and_text_stand_out(display, style, data):
    with plt.style.context(style):
        shown = plot(display, data)
        background = shown.ax_.get_facecolor()
        lines = [line for line in shown.ax_.lines if line.get_linestyle() != "None"]
        assert all(contrast(line.get_color(), background) > 2 for line in lines)
        assert all(contrast(text.get_color(), background) > 4 for text in shown.ax_.texts)


@pytest.mark.parametrize("display", [name for name in DISPLAYS if name != "RankChangeDisplay"])
def test_names_are_drawn_literally(display, data):
    """Neither as a formula nor as a hidden label."""
    shown = plot(display, data, names=["_cost $1 or $2_", r"$\frac{a}{$ and more"])
    shown.figure_.canvas.draw()
    legend = shown.ax_.get_legend()
    if display.startswith(("Cutoff", "Difference", "Label", "QueryProperty", "QueryLearning")):
        assert [text.get_text() for text in legend.get_texts()] == [
            r" _cost \$1 or \$2_", r"\$\frac{a}{\$ and more",
        ]  # fmt: skip
