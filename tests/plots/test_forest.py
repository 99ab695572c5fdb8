"""Forest plots: every row is a mean or a difference with its interval."""

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.colors import same_color

from sklearn_rankscore import (
    ForestDisplay,
    MeansDisplay,
    compare,
    make_ranking,
    query_scores,
)
from sklearn_rankscore.plots.style import BETTER, MUTED, SYSTEMS, WORSE

mpl.use("Agg")
METRICS = ["ndcg@10", "mrr"]


@pytest.fixture(scope="module")
def systems():
    X, y, groups = make_ranking(n_queries=60, random_state=0)
    device = np.array(["desk", "phone"])[groups % 2]
    models = {"one": X[:, 0], "two": X[:, 0] + X[:, 1] / 2, "noise": X[:, 9]}
    return query_scores(y, models, METRICS, groups=groups, segments={"device": device})


def drawn(display):
    """The value and the ends of each row, by the text beside it."""
    ticks = zip(display.ax_.get_yticks(), display.ax_.get_yticklabels(), strict=True)
    text_at = {float(y): label.get_text() for y, label in ticks}
    return [
        (text_at[float(point.get_ydata()[0])], point.get_xdata()[0], *line.get_xdata())
        for point, line in zip(display.points_, display.intervals_, strict=True)
    ]


def test_rows_are_the_differences_of_compare(systems):
    two = {name: systems[name] for name in ("one", "two")}
    display = ForestDisplay.from_query_scores(two, random_state=0)
    comparison = compare(two, by="device", random_state=0)
    segments = ["all queries", "device = desk", "device = phone"]
    assert display.headings == ["NDCG@10"] * 3 + ["MRR"] * 3
    assert [row[0] for row in drawn(display)] == segments * 2
    for one, row in zip(comparison, drawn(display), strict=True):
        assert row[1:] == pytest.approx((one.difference, *one.interval))
    # each heading once, above its rows
    ticks = zip(display.ax_.get_yticks(), display.ax_.get_yticklabels(), strict=True)
    texts = [label.get_text() for _, label in sorted(ticks, key=lambda tick: tick[0])]
    assert texts == ["NDCG@10", *segments, "MRR", *segments]
    assert display.ax_.yaxis_inverted()
    assert display.ax_.get_title() == "two − one"
    assert display.ax_.get_xlabel() == "difference, 95 % interval"


def test_differences_have_the_colors_of_their_outcome(systems):
    display = ForestDisplay.from_query_scores(systems, metric="ndcg@10", random_state=0)
    comparison = compare(systems, by="device", random_state=0)
    expected = []
    for one in comparison:
        if one.metric == "ndcg@10":
            better, worse = one.interval.low > 0, one.interval.high < 0
            expected.append(BETTER if better else WORSE if worse else MUTED)
    assert set(expected) >= {WORSE, MUTED}
    for line, point, color in zip(display.intervals_, display.points_, expected, strict=True):
        assert same_color(line.get_color(), color)
        assert same_color(point.get_color(), color)
    swapped = ForestDisplay.from_query_scores(
        {name: systems[name] for name in ("noise", "one")}, metric="ndcg@10", random_state=0
    )
    assert same_color(swapped.points_[0].get_color(), BETTER)


def test_rows_are_means_by_segment_in_the_colors_of_the_systems(systems):
    one = ForestDisplay.from_query_scores(systems["one"], metric=["mrr"], name="one")
    by, whole = systems["one"].by(), systems["one"]
    assert drawn(one) == [
        ("all queries", whole.mean()["mrr"], *whole.interval()["mrr"]),
        *(
            (f"device = {value}", by["mrr", ("device", value)].mean,
             *by["mrr", ("device", value)].interval)
            for value in ("desk", "phone")
        ),
    ]  # fmt: skip
    assert one.ax_.get_title() == "MRR, one"
    two = {name: systems[name] for name in ("one", "two")}
    both = ForestDisplay.from_query_scores(two, metric="mrr", means=True)
    assert both.labels == ["one", "two"] * 3
    assert both.headings[::2] == ["all queries", "device = desk", "device = phone"]
    assert [point.get_color() for point in both.points_] == [*SYSTEMS[:2]] * 3
    assert both.points_[3].get_xdata()[0] == systems["two"].by()["mrr", ("device", "desk")].mean


def test_from_comparison_of_all_pairs(systems):
    comparison = compare(systems, pairs="all", random_state=0)
    display = ForestDisplay.from_comparison(comparison, metric="mrr")
    assert display.labels == ["two − one", "noise − one", "noise − two"]
    np.testing.assert_allclose(display.values, [d.difference for d in comparison][3:])
    with pytest.raises(KeyError, match="no metric 'map'"):
        ForestDisplay.from_comparison(comparison, metric="map")


def test_results_that_are_not_compared_are_refused(systems):
    with pytest.raises(TypeError, match="must be the result of compare; got a dict"):
        ForestDisplay.from_comparison(systems)


def test_one_baseline_is_named_once(systems):
    display = ForestDisplay.from_comparison(compare(systems, margin={"ndcg@10": 0.1, "mrr": 0.2}))
    assert display.labels == ["two", "noise"] * 2
    assert display.ax_.get_title() == "difference from one"
    assert display.margins.tolist() == [0.1, 0.1, 0.2, 0.2]
    low, high = (lines.get_segments() for lines in display.ax_.collections[-2:])
    assert [line[0][0] for line in low] == [-0.1, -0.1, -0.2, -0.2]
    assert [line[0][0] for line in high] == [0.1, 0.1, 0.2, 0.2]
    assert display.ax_.get_xlabel().endswith("margin dashed")


def test_numbers_are_written_where_there_is_room(systems):
    _, wide = plt.subplots(figsize=(12, 3), layout="constrained")
    display = ForestDisplay.from_query_scores(systems["one"], metric="mrr", ax=wide)
    low, high = systems["one"].interval()["mrr"]
    assert display.texts_[0].get_text() == (
        f"{systems['one'].mean()['mrr']:.3f} [{low:.3f}, {high:.3f}]"
    )
    assert display.texts_[0].get_fontsize() == 9
    _, narrow = plt.subplots(figsize=(3, 3), layout="constrained")
    assert display.plot(narrow, lw=5).texts_ == []
    assert {line.get_linewidth() for line in display.intervals_} == {5}


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (-1e-7, "−1e-07 [−1.5e-07, −5e-08]"),
        (2e-4, "+0.0002 [+0.0001, +0.0003]"),
        (4e-4, "0.000 [0.000, +0.001]"),
        (-4e-4, "0.000 [−0.001, 0.000]"),
        (-0.25, "−0.250 [−0.375, −0.125]"),
        (1e-14, "0.000 [0.000, 0.000]"),
        (np.nan, "nan [nan, nan]"),
    ],
)
def test_numbers_of_rows_have_signs_and_digits(value, written):
    ends = sorted([value * 1.5, value / 2])
    shown = ForestDisplay(labels=["m"], values=[value], intervals=[ends]).plot().texts_
    assert [text.get_text().replace("e−", "e-") for text in shown] == [written]


def test_means_are_those_of_the_systems(systems):
    display = MeansDisplay.from_query_scores(systems, metric="mrr", confidence=0.9)
    expected = [(name, of.mean()["mrr"], *of.interval(0.9)["mrr"]) for name, of in systems.items()]
    assert drawn(display) == expected
    assert [point.get_color() for point in display.points_] == [*SYSTEMS[:3]]
    assert display.ax_.get_xlabel() == "mean MRR, 90 % interval"
    assert list(display.means) == list(systems)
    alone = MeansDisplay.from_query_scores(systems["one"], name="mine")
    assert drawn(alone)[0][:2] == ("mine", systems["one"].mean()["ndcg@10"])
    with pytest.raises(KeyError, match="no metric 'map'"):
        MeansDisplay.from_query_scores(systems, metric="map")
