"""Plots of queries: two systems against each other, and a metric against a property."""

from itertools import pairwise

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import same_color

from sklearn_rankscore import (
    ForestDisplay,
    QueryPropertyDisplay,
    QueryScatterDisplay,
    QueryScores,
    compare,
    make_ranking,
    query_scores,
)
from sklearn_rankscore.plots.style import BETTER, WORSE

mpl.use("Agg")


@pytest.fixture(scope="module")
def data():
    X, y, groups = make_ranking(n_queries=60, random_state=0, shuffle=True)
    return y, {"one": X[:, 0], "two": X[:, 0] + X[:, 1] / 2}, groups


def test_scatter_has_a_point_for_each_query(data):
    y, models, groups = data
    scores = query_scores(y, models, ["map", "ndcg@10"], groups=groups)
    display = QueryScatterDisplay.from_query_scores(scores, metric="ndcg@10")
    one, two = scores["one"]["ndcg@10"], scores["two"]["ndcg@10"]
    difference = compare(scores)["ndcg@10", "two"]
    for points, kept in ((display.wins_, two - one > 1e-12), (display.losses_, two - one < -1e-12)):
        drawn = points.get_offsets()
        expected = np.column_stack([one, two])[kept]
        assert sorted(map(tuple, drawn.tolist())) == sorted({*map(tuple, expected.tolist())})
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert texts[0] == f"wins {difference.wins} ({difference.wins / 60:.0%})"
    assert texts[2] == f"ties {difference.ties} ({difference.ties / 60:.0%})"
    assert same_color(display.wins_.get_facecolor()[0, :3], BETTER)
    assert same_color(display.losses_.get_facecolor()[0, :3], WORSE)
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("one", "two")
    assert display.ax_.get_xlim() == display.ax_.get_ylim()
    black = display.plot(c="k")
    assert same_color(black.wins_.get_facecolor()[0, :3], "black")
    back = QueryScatterDisplay.from_predictions(
        y, models, groups=groups, metric="ndcg@10", baseline="two"
    )
    np.testing.assert_array_equal(back.baseline_values, two)


def test_scatter_draws_equal_points_once_with_their_number():
    a = QueryScores(range(5), [[0.0], [0.0], [0.0], [1.0], [np.nan]], ["m"])
    b = QueryScores(range(5), [[1.0], [1.0], [0.5], [1.0], [1.0]], ["m"])
    display = QueryScatterDisplay.from_query_scores({"a": a, "b": b})
    sizes = dict(
        zip(
            map(tuple, display.wins_.get_offsets().tolist()), display.wins_.get_sizes(), strict=True
        )
    )
    assert sizes[0, 1] == 2 * sizes[0, 0.5]
    assert display.ties_.get_offsets().tolist() == [[1, 1]]
    assert len(display.model_values) == 4
    large, rounded = (QueryScores([1, 2], [[v], [2.0]], ["dcg"]) for v in (1000, 1000 + 1e-10))
    display = QueryScatterDisplay.from_query_scores({"a": large, "b": rounded})
    assert len(display.ties_.get_offsets()) == compare({"a": large, "b": rounded})["dcg", "b"].ties
    with pytest.raises(ValueError, match="compares two models"):
        QueryScatterDisplay.from_query_scores({"a": a})
    with pytest.raises(ValueError, match="no query to plot"):
        QueryScatterDisplay.from_query_scores({"a": a.select(slice(4, 5)), "b": b.select([4])})


@pytest.mark.parametrize("property", ["documents", "relevant"])
def test_property_means_are_a_groupby(data, property):
    y, models, groups = data
    scores = query_scores(y, models, "ndcg@10", groups=groups)
    display = QueryPropertyDisplay.from_predictions(
        y, models, groups=groups, property=property, threshold=2
    )
    frame = pd.DataFrame({"q": groups, "n": y > 2 if property == "relevant" else 1})
    values = frame.groupby("q")["n"].sum()
    bins = pd.qcut(values, 4).cat.codes if values.nunique() > 10 else values
    for bars, (name, of_system) in zip(display.error_bars_, scores.items(), strict=True):
        by_bin = pd.Series(of_system["ndcg@10"]).groupby(bins.to_numpy())
        np.testing.assert_allclose(bars.lines[0].get_ydata(), by_bin.mean())
        assert display.queries.tolist() == by_bin.size().tolist()
        segments = of_system.by(values.to_numpy())
        ends = np.array([one.interval for one in segments])
        drawn = np.array(bars.lines[2][0].get_segments())[:, :, 1]
        np.testing.assert_allclose(drawn, ends)
        assert bars.get_label() == name
    ticks = [label.get_text() for label in display.ax_.get_xticklabels()]
    assert ticks[0].endswith(f"\n{display.queries[0]}")
    assert len(display.bins) == len(set(bins))


def test_any_property(data):
    y, models, groups = data
    device = np.array(["desk", "phone"])[np.unique(groups) % 2]
    scores = query_scores(y, models["one"], ["ndcg", "mrr"], groups=groups)
    given = QueryPropertyDisplay.from_query_scores(scores, {"device": device}, metric="mrr")
    assert given.bins == ["desk", "phone"]
    assert given.ax_.get_xlabel() == "device\nnumber of queries"
    expected = [scores["mrr"][device == value].mean() for value in given.bins]
    np.testing.assert_allclose(given.means["model"], expected)
    of_documents = {"device": np.array(["desk", "phone"])[groups % 2]}
    for property in ({"device": device}, of_documents):
        drawn = QueryPropertyDisplay.from_predictions(
            y, models["one"], groups=groups, metric="mrr", property=property
        )
        assert (drawn.bins, drawn.property) == (given.bins, "device")
        np.testing.assert_allclose(drawn.means["model"], expected)
    with pytest.raises(ValueError, match="property must be a single column; got a, b"):
        QueryPropertyDisplay.from_query_scores(scores, {"a": device, "b": device})
    with pytest.raises(ValueError, match="property must be one of"):
        QueryPropertyDisplay.from_predictions(y, models["one"], groups=groups, property="length")


@pytest.mark.parametrize(("n_values", "name"), [(20, "category"), (9, "a longer category")])
def test_many_values_of_a_property_do_not_overlap(data, n_values, name):
    y, models, groups = data
    values = np.array([f"{name} {i}" for i in np.arange(60) % n_values])
    scores = query_scores(y, models, "ndcg@10", groups=groups)
    display = QueryPropertyDisplay.from_query_scores(scores, {"kind": values})
    display.figure_.canvas.draw()
    labels = display.ax_.get_xticklabels()
    assert len(labels) == n_values
    boxes = [label.get_window_extent() for label in labels]
    for left, right in pairwise(boxes):
        assert left.x1 <= right.x0 + 1
    assert min(box.y0 for box in boxes) >= 0


def test_one_value_per_query_is_that_of_the_same_query_in_each_system():
    systems = {
        "a": QueryScores(["x", "y"], [[0.0], [1.0]], ["m"]),
        "b": QueryScores(["y", "x"], [[1.0], [0.0]], ["m"]),
    }
    display = QueryPropertyDisplay.from_query_scores(systems, [10, 20])
    assert display.bins == ["10", "20"]
    assert {name: means.tolist() for name, means in display.means.items()} == {
        "a": [0, 1],
        "b": [0, 1],
    }
    forest = ForestDisplay.from_query_scores(systems, by=[10, 20], means=True)
    rows = zip(forest.headings, forest.labels, strict=True)
    values = dict(zip(rows, forest.values, strict=True))
    for name in "ab":
        assert [values[f"segment = {v}", name] for v in (10, 20)] == [0, 1]
    other = {**systems, "b": QueryScores(["x", "z"], [[0.0], [1.0]], ["m"])}
    with pytest.raises(ValueError, match="must be measured on the same queries"):
        QueryPropertyDisplay.from_query_scores(other, [10, 20])


def undefined_in_places(n_values, n_queries):
    """Two systems of which the second has nothing to measure for every other query."""
    values = np.random.default_rng(0).random((n_queries, 1))
    some = np.where(np.arange(n_queries)[:, None] % 2, values, np.nan)
    ids = np.arange(n_queries)
    systems = {"a": QueryScores(ids, values, ["m"]), "b": QueryScores(ids, some, ["m"])}
    return systems, {"kind": ids // 2 % n_values}


def test_numbers_of_queries_that_differ_by_model_are_shown_as_a_range():
    systems, kinds = undefined_in_places(2, 40)
    kinds = {"kind": np.where(np.arange(40) < 2, "x", "y")}
    other = dict(reversed(systems.items()))
    for named, expected in ((systems, [[2, 38], [1, 19]]), (other, [[1, 19], [2, 38]])):
        display = QueryPropertyDisplay.from_query_scores(named, kinds)
        assert display.queries.tolist() == expected
        labels = [label.get_text() for label in display.ax_.get_xticklabels()]
        assert labels == ["x\n1–2", "y\n19–38"]
        assert display.ax_.get_xlabel() == "kind\nnumber of queries (range over models)"
    alone = QueryPropertyDisplay.from_query_scores(systems["b"], kinds)
    assert alone.queries.tolist() == [1, 19]
    same = QueryPropertyDisplay.from_query_scores({"a": systems["a"], "c": systems["a"]}, kinds)
    assert same.queries.tolist() == [2, 38]
    assert same.ax_.get_xlabel() == "kind\nnumber of queries"
