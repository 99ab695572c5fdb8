"""Rows of means, differences and importances: values, intervals, names and colors."""

import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.colors import same_color
from sklearn.linear_model import Ridge

import sklearn_rankscore as rs
from sklearn_rankscore.plots.style import BETTER, MUTED, SYSTEMS, WORSE


@pytest.fixture(scope="module")
def systems():
    X, y, groups = rs.make_ranking(n_queries=60, random_state=0)
    device = np.array(["desk", "phone"])[groups % 2]
    models = {"one": X[:, 0], "two": X[:, 0] + X[:, 1] / 2, "noise": X[:, 9]}
    given = {"groups": groups, "segments": {"device": device}}
    return rs.query_scores(y, models, ["ndcg@10", "mrr"], **given)


def rows(display):
    """The text beside each row, its value and its ends, from top to bottom."""
    ticks = zip(display.ax_.get_yticks(), display.ax_.get_yticklabels(), strict=True)
    text_at = {float(y): label.get_text() for y, label in ticks}
    assert display.ax_.yaxis_inverted()
    return [
        (text_at[float(point.get_ydata()[0])], point.get_xdata()[0], *line.get_xdata())
        for point, line in zip(display.points_, display.intervals_, strict=True)
    ]


def test_rows_are_the_differences_of_compare(systems):
    two = {name: systems[name] for name in ("one", "two")}
    display = rs.ForestDisplay.from_query_scores(two, random_state=0)
    comparison = rs.compare(two, by="device", random_state=0)
    segments = ["all queries", "device = desk", "device = phone"]
    names, *values = zip(*rows(display), strict=True)
    assert list(names) == segments * 2
    expected = [(one.difference, *one.interval) for one in comparison]
    np.testing.assert_allclose(np.transpose(values), expected, atol=1e-12)
    # each heading once, above its rows
    ticks = zip(display.ax_.get_yticks(), display.ax_.get_yticklabels(), strict=True)
    texts = [label.get_text() for _, label in sorted(ticks, key=lambda tick: tick[0])]
    assert texts == ["NDCG@10", *segments, "MRR", *segments]
    assert display.ax_.get_title() == "two − one"
    assert display.ax_.get_xlabel() == "difference, 95 % interval"


def test_differences_have_the_colors_of_their_outcome():
    ends = {"better": (0.1, 0.2), "worse": (-0.2, -0.1), "open": (-0.1, 0.2), "touching": (0, 0.1)}
    display = rs.ForestDisplay(labels=[*ends], values=[0] * 4, intervals=[*ends.values()]).plot()
    colors = [BETTER, WORSE, MUTED, MUTED]
    for line, point, color in zip(display.intervals_, display.points_, colors, strict=True):
        assert same_color(line.get_color(), color)
        assert same_color(point.get_color(), color)


def test_a_comparison_names_what_its_rows_share_once(systems):
    comparison = rs.compare(systems, pairs="all", random_state=0)
    display = rs.ForestDisplay.from_comparison(comparison, metric="mrr")
    assert display.labels == ["two − one", "noise − one", "noise − two"]
    np.testing.assert_allclose(display.values, [d.difference for d in comparison][3:])
    comparison = rs.compare(systems, margin={"ndcg@10": 0.1, "mrr": 0.2})
    display = rs.ForestDisplay.from_comparison(comparison)
    assert display.labels == ["two", "noise"] * 2
    assert display.ax_.get_title() == "difference from one"
    low, high = (lines.get_segments() for lines in display.ax_.collections[-2:])
    assert [line[0][0] for line in low] == [-0.1, -0.1, -0.2, -0.2]
    assert [line[0][0] for line in high] == [0.1, 0.1, 0.2, 0.2]
    assert display.ax_.get_xlabel().endswith("margin dashed")


def test_numbers_are_written_where_there_is_room(systems):
    _, wide = plt.subplots(figsize=(12, 3), layout="constrained")
    display = rs.MeansDisplay.from_query_scores(systems["one"], metric="mrr", ax=wide)
    numbers = systems["one"].mean()["mrr"], *systems["one"].interval()["mrr"]
    assert display.texts_[0].get_text() == "{:.3f} [{:.3f}, {:.3f}]".format(*numbers)
    _, narrow = plt.subplots(figsize=(3, 3), layout="constrained")
    assert display.plot(narrow, lw=5).texts_ == []
    assert {line.get_linewidth() for line in display.intervals_} == {5}


WRITTEN = {
    -1e-7: "−1e-07 [−1.5e-07, −5e-08]", 2e-4: "+0.0002 [+0.0001, +0.0003]",
    4e-4: "0.000 [0.000, +0.001]", -0.25: "−0.250 [−0.375, −0.125]",
    1e-14: "0.000 [0.000, 0.000]", np.nan: "nan [nan, nan]",
}  # fmt: skip


@pytest.mark.parametrize(("value", "written"), WRITTEN.items())
def test_numbers_of_rows_have_signs_and_digits(value, written):
    ends = sorted([value * 1.5, value / 2])
    shown = rs.ForestDisplay(labels=["m"], values=[value], intervals=[ends]).plot().texts_
    assert [text.get_text().replace("e−", "e-") for text in shown] == [written]


def test_means_are_those_of_the_systems(systems):
    display = rs.MeansDisplay.from_query_scores(systems, metric="mrr", confidence=0.9)
    assert rows(display) == [
        (name, of.mean()["mrr"], *of.interval(0.9)["mrr"]) for name, of in systems.items()
    ]
    assert [point.get_color() for point in display.points_] == [*SYSTEMS[:3]]
    assert display.ax_.get_xlabel() == "mean MRR, 90 % interval"


def test_features_have_the_importances_of_one_metric():
    """Of clicks, whose propensities are an index level of the features."""
    X, y = rs.make_ranking(15, 4, as_frame=True, random_state=0)
    model = rs.QueryRanker(Ridge()).fit(X, y)
    X, clicks = X.assign(seen=0.5).set_index("seen", append=True), (y > 2).to_numpy()
    options = {"within": "all", "n_repeats": 2, "random_state": 3, "confidence": 0.9}
    names = ["mrr", "dcg@5(propensity=seen)"]
    importances = rs.query_permutation_importance(model, X, clicks, names, **options)
    draw = rs.FeatureImportanceDisplay.from_importances
    display = draw(importances, metric=names[1], max_features=3, lw=5)
    frame = importances.to_frame().query("metric == @names[1]")
    frame = frame.sort_values("importance", ascending=False)
    frame = frame[["feature", "importance", "low", "high"]]
    assert rows(display) == list(frame[:3].itertuples(index=False, name=None))
    assert all(same_color(line.get_color(), SYSTEMS[0]) for line in display.intervals_)
    assert {line.get_linewidth() for line in display.intervals_} == {5}
    assert display.ax_.get_xlabel() == "loss, 90 % interval"
    assert display.ax_.get_title() == "loss of DCG@5(propensity=seen) if permuted over all rows"
    of_model = rs.FeatureImportanceDisplay.from_estimator(
        model, X, clicks, metric=names[1], max_features=None, **options
    )
    assert rows(of_model) == list(frame.itertuples(index=False, name=None))
    assert draw(importances).metric == "mrr"
    with pytest.raises(KeyError, match="no metric 'map'"):
        draw(importances, metric="map")
