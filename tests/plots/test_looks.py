"""All displays: nothing is cut off or covered, and colors are those of the palette."""

import itertools

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from matplotlib.colors import to_rgb
from sklearn.linear_model import Ridge

import sklearn_rankscore as rs
from sklearn_rankscore.plots import style as palette

mpl.use("Agg")
LONG = ["HistGradientBoostingRegressor, 1st of two", "LGBMRanker_lambdarank_learning_rate=0.05"]


@pytest.fixture(scope="module")
def data():
    X, y, groups = rs.make_ranking(n_queries=20, random_state=0)
    return X, y, groups


def plot(display, data, ax=None, names=LONG):
    X, y, groups = data
    kind = getattr(rs, display)
    given = {"groups": groups, "ax": ax}
    scores = dict(zip(names, [X[:, 0], X[:, 0] + X[:, 1] / 2], strict=True))
    if display == "QueryLearningCurveDisplay":
        models = {name: rs.QueryRanker(Ridge(), random_state=0) for name in names}
        return kind.from_estimator(models, X, y, max_queries=[4, 30], **given)
    if display == "FeatureImportanceDisplay":
        wide = np.column_stack([X[:, :2], np.zeros(len(y))])
        features = [*names, names[0] + ", once more"]
        frame = pd.DataFrame(wide, columns=features, index=pd.Index(groups, name="qid"))
        model = rs.QueryRanker(Ridge()).fit(frame, y)
        return kind.from_estimator(model, frame, y, n_repeats=1, random_state=0, ax=ax)
    if display == "RankChangeDisplay":
        documents = [f"the document of row {i} with a long name" for i in range(len(y))]
        return kind.from_predictions(y, scores, query=3, names=documents, **given)
    if display == "ForestDisplay":
        segments = {"device": np.array(["desktop", "phone"])[groups % 2]}
        return kind.from_predictions(y, scores, segments=segments, random_state=0, **given)
    return kind.from_predictions(y, scores, **given)


DISPLAYS = [name for name in rs.__all__ if name.endswith("Display")]


@pytest.mark.slow
@pytest.mark.parametrize("display", DISPLAYS)
@pytest.mark.parametrize(
    ("width", "style"), [(6.4, "default"), (12.8, "dark_background"), (None, "default")]
)
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


THREE = [*LONG, "a neural network with two towers"]
DEVICES = ["a television in the living room", "desktop", "phone"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "display", ["CutoffCurveDisplay", "DifferenceCurveDisplay", "LabelScoresDisplay"]
)
def test_a_figure_has_room_for_the_legend_of_many_systems(display, data):
    X, y, groups = data
    scores = {f"{LONG[0]}, with some further options {i}": X[:, 0] + X[:, i] for i in range(10)}
    scores |= {f"{name}, {LONG[1]}": score for name, score in scores.items()}
    ax = getattr(rs, display).from_predictions(y, scores, groups=groups).ax_
    ax.figure.draw_without_rendering()
    legend, area = ax.get_legend().get_window_extent(), ax.figure.bbox
    assert legend.y1 <= area.y1 + 1
    assert ax.get_window_extent().height > 72
    # axes of others keep their size
    figure, (own, _) = plt.subplots(2, layout="constrained")
    before = figure.get_size_inches().tolist()
    getattr(rs, display).from_predictions(y, scores, groups=groups, ax=own)
    assert figure.get_size_inches().tolist() == before


@pytest.mark.slow
@pytest.mark.parametrize("size", [None, (5, 6), (6.4, 4.8)])
def test_many_rows_of_long_names_do_not_overlap(size, data):
    X, y, groups = data
    scores = {name: X[:, 0] + X[:, i] for i, name in enumerate(THREE)}
    ax = plt.subplots(figsize=size, layout="constrained")[1] if size else None
    segments = {"device": np.array(DEVICES)[groups % 3]}
    shown = rs.ForestDisplay.from_predictions(
        y, scores, groups=groups, segments=segments, by="device", random_state=0, ax=ax
    )
    shown.figure_.canvas.draw()
    names = [t.get_window_extent() for t in shown.ax_.get_yticklabels()]
    assert len(names) == 10  # of which two are headings
    for upper, lower in itertools.pairwise(names):
        assert upper.y0 >= lower.y1 - 1 or lower.y0 >= upper.y1 - 1
    numbers = [t.get_window_extent() for t in shown.ax_.get_xticklabels() if t.get_text()]
    assert len(numbers) >= 2
    for left, right in itertools.pairwise(sorted(numbers, key=lambda box: box.x0)):
        assert left.x1 + 2 <= right.x0


def linear_rgb(color):
    rgb = np.array(to_rgb(color))
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def luminance(color):
    return linear_rgb(color) @ [0.2126, 0.7152, 0.0722]


def contrast(one, other):
    high, low = sorted([luminance(one), luminance(other)], reverse=True)
    return (high + 0.05) / (low + 0.05)


OUTCOMES = (palette.BETTER, palette.WORSE, palette.MUTED)


@pytest.mark.parametrize("background", ["white", "black", "#14181e"])
@pytest.mark.parametrize("color", [*OUTCOMES, *palette.SYSTEMS])
def test_colors_stand_out_on_light_and_dark(color, background):
    """WCAG asks for 3 to 1; the last background is that of dark reports."""
    assert contrast(color, background) >= 3


# G. M. Machado, M. M. Oliveira, L. A. F. Fernandes. A Physiologically-based Model for Simulation of
# Color Vision Deficiency. IEEE TVCG 15, 2009: linear RGB without one type of cones
SEEN_WITHOUT = {
    "none": np.eye(3),
    "red": np.array([[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
                     [-0.003882, -0.048116, 1.051998]]),
    "green": np.array([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
                       [-0.011820, 0.042940, 0.968881]]),
    "blue": np.array([[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
                      [0.004733, 0.691367, 0.303900]]),
}  # fmt: skip
TO_XYZ = np.array([[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750],
                   [0.0193339, 0.1191920, 0.9503041]])  # fmt: skip


def lab(color, cones):
    """CIELAB of a color, as it is seen without some cones."""
    seen = np.clip(SEEN_WITHOUT[cones] @ linear_rgb(color), 0, 1)
    ratio = TO_XYZ @ seen / TO_XYZ.sum(axis=1)
    x, y, z = np.where(ratio > 216 / 24389, np.cbrt(ratio), (24389 / 27 * ratio + 16) / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("cones", SEEN_WITHOUT)
def test_colors_differ_for_all_types_of_color_vision(cones):
    """A distance of 2 is just noticeable side by side."""
    seen = {color: lab(color, cones) for color in (*OUTCOMES, *palette.SYSTEMS)}
    for one, other in itertools.combinations(seen, 2):
        least = 9
        if {one, other} == {palette.BETTER, palette.WORSE}:
            least = 30
        elif not {one, other} & set(OUTCOMES):
            least = 20
        assert np.linalg.norm(seen[one] - seen[other]) >= least, (one, other)


@pytest.mark.slow
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


@pytest.mark.parametrize("scale", [1e-6, 1e6])
@pytest.mark.parametrize("display", ["CutoffCurveDisplay", "QueryDeltaDisplay", "ForestDisplay"])
def test_no_legend_or_name_covers_a_power_of_ten(display, scale, data):
    X, y, groups = data
    scores = {"old": X[:, 0], "new": X[:, 1]}
    kind = getattr(rs, display)
    ax = kind.from_predictions(scale * y, scores, groups=groups, metric="dcg").ax_
    ax.figure.canvas.draw()
    axis = ax.xaxis if display == "ForestDisplay" else ax.yaxis
    assert axis.get_offset_text().get_text() == ""
    labels = [label.get_text().replace("−", "-") for label in axis.get_ticklabels()]
    np.testing.assert_allclose(list(map(float, labels)), axis.get_majorticklocs(), rtol=1e-6)


@pytest.mark.parametrize(
    ("name", "written"),
    [("a\nb\x1b[31m\u202e", r"a\nb\x1b[31m\u202e"), ("x" * 150 + " end", "x" * 50 + "…")],
)
def test_names_of_others_are_clean_and_keep_their_ends(name, written):
    display = rs.MeansDisplay(means={name: 0.5}, intervals={name: (0.4, 0.6)}, metric="mrr").plot()
    (label,) = display.ax_.get_yticklabels()
    text = label.get_text().replace("\n", "")
    assert text.startswith(written)
    assert text.endswith(name[-3:]) or "\u202e" in name
