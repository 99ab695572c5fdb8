"""All displays: nothing is cut off or covered, names are literal, colors tell things apart."""

import itertools

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from matplotlib.colors import to_rgb
from matplotlib.transforms import Bbox
from sklearn.linear_model import Ridge

import sklearn_rankscore as rs
from sklearn_rankscore.plots import style

# of 40 characters, and what matplotlib would take for a formula and for a hidden label
LONG = [
    "_HistGradientBoostingRegressor, $1st of $2",
    r"LGBM_lambdarank_rate=0.05 $\frac{a}{$ and more",
]
THREE = [*LONG, "a neural network with two towers"]
DISPLAYS = [name for name in rs.__all__ if name.endswith("Display")]


def draw(display, ax=None, names=LONG):
    X, y, groups = rs.make_ranking(n_queries=20, random_state=0)
    kind, given = getattr(rs, display), {"groups": groups, "ax": ax}
    scores = {name: X[:, 0] + X[:, i] / 2 for i, name in enumerate(names)}
    if display == "QueryLearningCurveDisplay":
        models = {name: rs.QueryRanker(Ridge(), random_state=0) for name in names}
        return kind.from_estimator(models, X, y, max_queries=[4, 30], **given)
    if display == "FeatureImportanceDisplay":
        frame = pd.DataFrame(X[:, :3], columns=THREE, index=pd.Index(groups, name="qid"))
        model = rs.QueryRanker(Ridge()).fit(frame, y)
        return kind.from_estimator(model, frame, y, n_repeats=1, random_state=0, ax=ax)
    if display == "RankChangeDisplay":
        documents = [f"the document of row {i} with a long name" for i in range(len(y))]
        return kind.from_predictions(y, scores, query=3, names=documents, **given)
    if display == "QueryPropertyDisplay":
        given["property"] = {"kind": [f"a longer category {i % 9}" for i in range(20)]}
    if display == "ForestDisplay":
        given["segments"] = {"a device": np.array(["desktop", "phone"])[groups % 2]}
    return kind.from_predictions(y, scores, **given)


def boxes(labels):
    return [label.get_window_extent() for label in labels if label.get_text()]


def check_apart(labels, axis="x", gap=-1):
    """No two texts on an axis overlap."""
    ends = sorted((getattr(box, f"{axis}0"), getattr(box, f"{axis}1")) for box in boxes(labels))
    assert all(left[1] + gap <= right[0] for left, right in itertools.pairwise(ends))


def check_layout(shown):
    figure, ax = shown.figure_, shown.ax_
    figure.canvas.draw()
    box, inside = ax.get_tightbbox(), ax.get_window_extent()
    assert Bbox.union([box, figure.bbox.padded(1)]).bounds == figure.bbox.padded(1).bounds
    if ax.get_legend() is not None:
        assert ax.get_legend().get_window_extent().y0 >= inside.y1 - 1
    check_apart(ax.get_xticklabels())
    check_apart(ax.get_yticklabels(), "y")
    assert inside.width > 0.2 * figure.bbox.width
    assert inside.height > 72


MANY = [f"{i % 9}, {LONG[i % 2]}, with further options" for i in range(18)]
ROWS = [*THREE, *(f"{name}, again" for name in LONG)]
# the size of a figure, None if the display chooses it, and the heights of its axes
CASES = [
    *((display, LONG, *of) for display in DISPLAYS for of in (
        ((6.4, 5), [12, 1], "default"), ((12.8, 5), [12, 1], "dark_background"),
        (None, None, "default"))),
    *((f"{kind}Display", MANY, None, None, "default") for kind in ("CutoffCurve", "LabelScores")),
    *((display, names, size, [1], "default")
      for display, names in (("ForestDisplay", ROWS), ("MeansDisplay", MANY[:16]))
      for size in (None, (6, 6), (6.4, 4.8))),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("display", "names", "size", "heights", "look"), CASES)
def test_nothing_is_cut_off_covered_or_faint(display, names, size, heights, look):
    """However many systems and rows of long names there are."""
    with plt.style.context(look):
        axes = [None]
        if size:
            given = {"figsize": size, "layout": "constrained", "squeeze": False}
            axes = plt.subplots(len(heights), height_ratios=heights, **given)[1][:, 0]
        shown = draw(display, axes[0], names)
        check_layout(shown)
        assert len(boxes(shown.ax_.get_xticklabels())) >= 2
        if size:  # axes of others keep their size, and what is beside them
            assert shown.figure_.get_size_inches().tolist() == list(size)
            assert not any(other.has_data() for other in axes[1:])
            assert shown.ax_ is axes[0]
        if names is ROWS:
            assert len(shown.ax_.get_yticklabels()) == 16  # of which four are headings
        background = shown.ax_.get_facecolor()
        lines = [line for line in shown.ax_.lines if line.get_linestyle() != "None"]
        assert all(contrast(line.get_color(), background) > 2 for line in lines)
        assert all(contrast(text.get_color(), background) > 4 for text in shown.ax_.texts)


@pytest.mark.parametrize("scale", [1e-6, 1e6])
@pytest.mark.parametrize("display", ["CutoffCurveDisplay", "QueryDeltaDisplay", "ForestDisplay"])
def test_no_legend_or_name_covers_a_power_of_ten(display, scale, data):
    y, models, groups = data
    shown = getattr(rs, display).from_predictions(scale * y, models, groups=groups, metric="dcg")
    shown.figure_.canvas.draw()
    axis = shown.ax_.xaxis if display == "ForestDisplay" else shown.ax_.yaxis
    assert axis.get_offset_text().get_text() == ""
    labels = [label.get_text().replace("−", "-") for label in axis.get_ticklabels()]
    np.testing.assert_allclose(list(map(float, labels)), axis.get_majorticklocs(), rtol=1e-6)


DRAWN = {  # names, and how they begin and end
    "a\nb\x1b[31m\u202e": (r"a\nb\x1b[31m\u202e", ""),
    "x" * 150 + " end": ("x" * 50 + "…", " end"),
    "_cost $1": (r" _cost \$1", ""),
    r"$\frac{a}{$ and more": (r"\$\frac{a}{\$ and more", ""),
}


@pytest.mark.parametrize("name", DRAWN)
def test_names_of_others_are_clean_and_keep_their_ends(name):
    display = rs.MeansDisplay(means={name: 0.5}, intervals={name: (0.4, 0.6)}, metric="mrr").plot()
    display.figure_.canvas.draw()
    (text,) = (label.get_text().replace("\n", "") for label in display.ax_.get_yticklabels())
    begins, ends = DRAWN[name]
    assert text.startswith(begins)
    assert text.endswith(ends)


def linear_rgb(color):
    rgb = np.array(to_rgb(color))
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def contrast(one, other):
    low, high = sorted(linear_rgb(color) @ [0.2126, 0.7152, 0.0722] for color in (one, other))
    return (high + 0.05) / (low + 0.05)


OUTCOMES = (style.BETTER, style.WORSE, style.MUTED)


@pytest.mark.parametrize("background", ["white", "black", "#14181e"])
def test_colors_stand_out_on_light_and_dark(background):
    """WCAG asks for 3 to 1; the last background is that of dark reports."""
    for color in (*OUTCOMES, *style.SYSTEMS):
        assert contrast(color, background) >= 3, color


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
    seen = {color: lab(color, cones) for color in (*OUTCOMES, *style.SYSTEMS)}
    for pair in itertools.combinations(seen, 2):
        are_systems = not {*pair} & {*OUTCOMES}
        least = 30 if {*pair} == {style.BETTER, style.WORSE} else 20 if are_systems else 9
        assert np.linalg.norm(seen[pair[0]] - seen[pair[1]]) >= least, pair
