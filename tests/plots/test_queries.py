"""Plots of queries: two systems against each other, and a metric against a property."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import same_color
from query_values import scores_of

import sklearn_rankscore as rs
from sklearn_rankscore.plots.style import BETTER, WORSE


def legend(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


@pytest.fixture(scope="module")
def scores(data):
    y, models, groups = data
    return rs.query_scores(y, models, ["map", "ndcg@10"], groups=groups)


def shares(difference, *kinds):
    """How many queries a system wins, loses or ties."""
    numbers = {kind: getattr(difference, kind) for kind in kinds}
    return [f"{kind} {n} ({n / 60:.0%})" for kind, n in numbers.items()]


def test_delta_shows_sorted_differences(data, scores):
    display = rs.QueryDeltaDisplay.from_query_scores(scores, metric="ndcg@10", random_state=0)
    deltas = np.sort(scores["two"]["ndcg@10"] - scores["one"]["ndcg@10"])[::-1]
    drawn = display.wins_.get_data().values + display.losses_.get_data().values
    np.testing.assert_allclose(drawn, deltas, atol=1e-12)
    one = rs.compare(scores)["ndcg@10", "two"]
    *counts, mean = legend(display)
    assert counts == shares(one, "wins", "losses")
    numbers = one.difference, *one.interval
    shown = "mean {:+.3f}, 95 % interval [{:+.3f}, {:+.3f}]".format(*numbers)
    assert mean == shown.replace("-", "−")
    assert display.mean_line_.get_ydata()[0] == pytest.approx(one.difference)
    assert display.ax_.get_legend().get_title().get_text() == "two − one"
    assert display.ax_.get_xlabel() == f"queries, sorted by difference ({one.ties} ties)"
    y, models, groups = data
    weights = 1.0 + groups % 2
    back = rs.QueryDeltaDisplay.from_predictions(
        y, models, groups=groups, sample_weight=weights, baseline="two"
    )
    np.testing.assert_allclose(np.sort(back.deltas), np.sort(-deltas), atol=1e-12)
    expected = np.average(back.deltas, weights=1.0 + np.arange(60) % 2)
    assert back.mean_line_.get_ydata()[0] == pytest.approx(expected)


def test_delta_of_few_queries_counts_them_and_of_many_has_no_more_steps_than_pixels():
    few = rs.QueryDeltaDisplay(deltas=[0.5, -0.5], metric="m").plot()
    few.figure_.canvas.draw()
    assert [tick for tick in few.ax_.get_xticks() if 0 <= tick <= 2] == [0, 1, 2]
    deltas = np.random.default_rng(0).normal(0.1, 1, 12_003).round(2)
    display = rs.QueryDeltaDisplay(deltas=deltas, metric="mrr").plot()
    values, edges, _ = display.wins_.get_data()
    assert len(values) == 5_000
    assert (edges[0], edges[-1]) == (0, 12_003)
    ranked = np.sort(deltas)[::-1]
    np.testing.assert_array_equal(values, np.maximum(ranked[edges[:-1].astype(int)], 0))
    assert display.losses_.get_data().values[-1] == ranked[-1]


def test_scatter_has_a_point_for_each_query(scores):
    display = rs.QueryScatterDisplay.from_query_scores(scores, metric="ndcg@10")
    one, two = scores["one"]["ndcg@10"], scores["two"]["ndcg@10"]
    difference = rs.compare(scores)["ndcg@10", "two"]
    kinds = (display.wins_, two - one > 1e-12, BETTER), (display.losses_, two - one < -1e-12, WORSE)
    for points, kept, color in kinds:
        expected = np.unique(np.column_stack([one, two])[kept], axis=0)
        np.testing.assert_array_equal(points.get_offsets(), expected)
        assert same_color(points.get_facecolor()[0, :3], color)
    assert legend(display) == shares(difference, "wins", "losses", "ties")
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("one", "two")
    assert display.ax_.get_xlim() == display.ax_.get_ylim()
    assert same_color(display.plot(color="k").wins_.get_facecolor()[0, :3], "black")
    back = rs.QueryScatterDisplay.from_query_scores(scores, metric="ndcg@10", baseline="two")
    np.testing.assert_array_equal(back.baseline_values, two)


def test_scatter_pairs_queries_and_draws_equal_points_once_with_their_number():
    systems = {
        "a": scores_of([0, 0, 0, 1, np.nan], ["m"]),
        "b": scores_of([1, 1, 1, 1, 0.5], ["m"], ids=[4, 3, 0, 1, 2]),
    }
    display = rs.QueryScatterDisplay.from_query_scores(systems)
    assert display.wins_.get_offsets().tolist() == [[0, 0.5], [0, 1]]
    small, large = display.wins_.get_sizes()
    assert large == 2 * small
    assert display.ties_.get_offsets().tolist() == [[1, 1]]
    assert len(display.model_values) == 4
    rounded = {"a": scores_of([1000, 2], ["dcg"]), "b": scores_of([1000 + 1e-10, 2], ["dcg"])}
    assert len(rs.QueryScatterDisplay.from_query_scores(rounded).ties_.get_offsets()) == 2


@pytest.mark.parametrize("name", ["documents", "relevant", "device"])
def test_property_means_are_a_groupby(data, scores, name):
    y, models, groups = data
    device = np.array(["desk", "phone"])[groups % 2]
    frame = pd.DataFrame({"q": groups, "documents": 1, "relevant": y > 2, "device": device})
    values = frame.groupby("q")[name].agg("first" if name == "device" else "sum")
    bins = pd.qcut(values, 4).cat.codes if values.nunique() > 10 else values
    given = {"groups": groups, "metric": "ndcg@10", "threshold": 2}
    given["property"] = {name: device} if name == "device" else name
    display = rs.QueryPropertyDisplay.from_predictions(y, models, **given)
    for bars, (system, of_system) in zip(display.error_bars_, scores.items(), strict=True):
        by_bin = pd.Series(of_system["ndcg@10"]).groupby(bins.to_numpy())
        np.testing.assert_allclose(bars.lines[0].get_ydata(), by_bin.mean())
        assert display.queries.tolist() == by_bin.size().tolist()
        segments = of_system.by(values.to_numpy())
        ends = np.array([one.interval for one in segments if one.metric == "ndcg@10"])
        drawn = np.array(bars.lines[2][0].get_segments())[:, :, 1]
        np.testing.assert_allclose(drawn, ends)
        assert bars.get_label() == system
    ticks = [label.get_text() for label in display.ax_.get_xticklabels()]
    assert ticks[0].endswith(f"\n{display.queries[0]}")
    assert len(display.bins) == len(set(bins))
    assert display.ax_.get_xlabel().startswith("device\nnumber of queries") == (name == "device")


def test_queries_of_a_property_are_paired_and_counted_by_system():
    """Numbers of queries that differ by model are shown as a range."""
    draw, b = rs.QueryPropertyDisplay.from_query_scores, scores_of([1, 0], ["m"], ids=["y", "x"])
    systems = {"a": scores_of([0, 1], ["m"], ids=["x", "y"]), "b": b}
    display = draw(systems, [10, 20])
    assert display.bins == ["10", "20"]
    assert [means.tolist() for means in display.means.values()] == [[0, 1], [0, 1]]
    ids, values = np.arange(40), np.linspace(0, 1, 40)
    full, half = (scores_of(of, ["m"]) for of in (values, np.where(ids % 2, values, np.nan)))
    kinds = {"kind": np.where(ids < 2, "x", "y")}
    for first, queries, labels, of in (
        (half, [[1, 19], [2, 38]], ["x\n1–2", "y\n19–38"], " (range over models)"),
        (full, [2, 38], ["x\n2", "y\n38"], ""),
    ):
        display = draw({"b": first, "a": full}, kinds)
        assert display.queries.tolist() == queries
        assert [label.get_text() for label in display.ax_.get_xticklabels()] == labels
        assert display.ax_.get_xlabel() == f"kind\nnumber of queries{of}"
