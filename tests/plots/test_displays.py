"""Displays: what they draw, and that nothing is cut off."""

import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt
from sklearn.linear_model import Ridge
from sklearn.tree import DecisionTreeRegressor

from sklearn_rankscore import (
    CutoffCurveDisplay,
    DifferenceCurveDisplay,
    ForestDisplay,
    NoGroupsError,
    QueryDeltaDisplay,
    QueryLearningCurveDisplay,
    QueryPropertyDisplay,
    QueryRanker,
    QueryScatterDisplay,
    QueryScores,
    RankChangeDisplay,
    compare,
    evaluate,
    make_ranking,
    query_scores,
)

mpl.use("Agg")


@pytest.fixture(scope="module")
def data():
    X, y, groups = make_ranking(n_queries=40, random_state=0)
    return y, {"one": X[:, 0], "two": X[:, 0] + X[:, 1] / 2}, groups


@pytest.fixture(scope="module")
def fitted():
    X, y = make_ranking(n_queries=40, as_frame=True, random_state=0)
    models = {"ridge": Ridge(), "tree": DecisionTreeRegressor(max_depth=3, random_state=0)}
    return {name: QueryRanker(model).fit(X, y) for name, model in models.items()}, X, y


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_cutoff_curve_is_the_metric_at_each_cutoff(data):
    y, models, groups = data
    display = CutoffCurveDisplay.from_predictions(
        y, models, groups=groups, metric="map(threshold=1)", k=[1, 3, 10], method="t",
        bands=True,
    )  # fmt: skip
    names = [f"map@{k}(threshold=1)" for k in (1, 3, 10)]
    for line, (name, score) in zip(display.lines_, models.items(), strict=True):
        expected = list(evaluate(y, score, names, groups=groups).values())
        np.testing.assert_allclose(line.get_ydata(), expected)
        np.testing.assert_array_equal(line.get_xdata(), [1, 3, 10])
        ends = query_scores(y, score, names, groups=groups).interval(method="t")
        np.testing.assert_allclose(display.intervals[name], list(ends.values()))
    low, high = display.intervals["one"].T
    corners = display.bands_[0].get_paths()[0].vertices
    assert {*low.round(9), *high.round(9)} <= set(corners[:, 1].round(9))
    assert legend(display.ax_) == ["one", "two"]
    assert display.ax_.get_legend().get_title().get_text() == "95 % confidence bands"
    assert display.ax_.get_xlabel() == "cut-off k"
    assert display.ax_.get_ylabel() == "MAP@k(threshold=1)"


def test_cutoffs_go_to_k_to_twenty_or_to_the_longest_query(data):
    y, models, groups = data
    display = CutoffCurveDisplay.from_predictions(y, models["one"], groups=groups, name="feature")
    assert display.k.tolist() == list(range(1, 21))
    assert all(tick == int(tick) for tick in display.ax_.get_xticks())
    assert legend(display.ax_) == ["feature"]
    assert CutoffCurveDisplay.from_predictions([0, 1, 1], [1, 2, 3]).k.tolist() == [1, 2, 3]
    to_four = CutoffCurveDisplay.from_predictions(y, models, groups=groups, k=4)
    assert to_four.k.tolist() == [1, 2, 3, 4]


def test_systems_are_told_apart_without_color_also_on_the_same_axes(data):
    y, models, groups = data
    display = CutoffCurveDisplay.from_predictions(y, models, groups=groups, n_resamples=99)
    other = CutoffCurveDisplay.from_predictions(
        y, models["one"] * 0, groups=groups, name="three", ax=display.ax_, n_resamples=99
    )
    assert other.ax_ is display.ax_
    for style in ("get_linestyle", "get_marker", "get_color"):
        assert len({getattr(line, style)() for line in other.ax_.lines}) == 3
    assert legend(other.ax_) == ["one", "two", "three"]


def test_delta_shows_sorted_differences(data):
    y, models, groups = data
    scores = {n: query_scores(y, s, ["map", "ndcg@10"], groups=groups) for n, s in models.items()}
    display = QueryDeltaDisplay.from_query_scores(scores, metric="ndcg@10", random_state=0)
    deltas = np.sort(scores["two"]["ndcg@10"] - scores["one"]["ndcg@10"])[::-1]
    drawn = display.wins_.get_data().values + display.losses_.get_data().values
    np.testing.assert_allclose(drawn, deltas, atol=1e-12)
    one = compare(scores)["ndcg@10", "two"]
    wins, losses, mean = legend(display.ax_)
    assert wins == f"wins {one.wins} ({one.wins / 40:.0%})"
    assert losses == f"losses {one.losses} ({one.losses / 40:.0%})"
    number = f"{one.difference:+.3f}".replace("-", "−")
    assert mean.startswith(f"mean {number}, 95 % interval [")
    assert display.mean_line_.get_ydata()[0] == pytest.approx(one.difference)
    assert display.ax_.get_legend().get_title().get_text() == "two − one"
    assert display.ax_.get_xlabel() == f"queries, sorted by difference ({one.ties} ties)"
    weights = 1.0 + groups % 2
    back = QueryDeltaDisplay.from_predictions(
        y, models, groups=groups, sample_weight=weights, baseline="two"
    )
    np.testing.assert_allclose(np.sort(back.deltas), np.sort(-deltas), atol=1e-12)
    expected = np.average(back.deltas, weights=1.0 + np.arange(40) % 2)
    assert back.mean_line_.get_ydata()[0] == pytest.approx(expected)
    assert back.ax_.get_legend().get_title().get_text() == "one − two"


@pytest.mark.parametrize("n_queries", [1, 2, 3])
def test_queries_are_counted_in_whole_numbers(n_queries):
    display = QueryDeltaDisplay(deltas=np.arange(n_queries) - 0.5, metric="m").plot()
    display.figure_.canvas.draw()
    low, high = display.ax_.get_xlim()
    ticks = [tick for tick in display.ax_.get_xticks() if low <= tick <= high]
    assert ticks == list(range(n_queries + 1))


@pytest.mark.parametrize("kind", ["array", "figure"])
def test_what_is_no_axes_is_refused(kind):
    figure, axes = plt.subplots(1, 2)
    given = {"array": axes, "figure": figure}[kind]
    with pytest.raises(TypeError, match=r"ax must be matplotlib Axes, such as axes\[0\]; got "):
        QueryDeltaDisplay(deltas=[0.1], metric="m").plot(given)


def test_delta_of_many_queries_has_no_more_steps_than_pixels():
    deltas = np.random.default_rng(0).normal(0.1, 1, 100_003).round(2)
    display = QueryDeltaDisplay(deltas=deltas, metric="mrr", baseline="one", model="two").plot()
    values, edges, _ = display.wins_.get_data()
    assert len(values) == 5_000
    assert (edges[0], edges[-1]) == (0, 100_003)
    assert values[0] == deltas.max()
    assert display.losses_.get_data().values[-1] == deltas.min()
    ranked = np.sort(deltas)[::-1]
    np.testing.assert_array_equal(values, np.maximum(ranked[edges[:-1].astype(int)], 0))
    n_wins = np.count_nonzero(deltas > 0)
    assert legend(display.ax_)[0] == f"wins {n_wins:,} ({n_wins / 100_003:.0%})"


def test_from_estimator_finds_the_ids(fitted):
    models, X, y = fitted
    curve = CutoffCurveDisplay.from_estimator(models, X, y, k=[1, 10], n_resamples=99)
    expected = evaluate(y, models["ridge"].predict(X), ["ndcg@1", "ndcg@10"], groups=X["qid"])
    np.testing.assert_allclose(curve.means["ridge"], list(expected.values()))
    single = CutoffCurveDisplay.from_estimator(models["ridge"], X, y, n_resamples=99)
    assert legend(single.ax_) == ["Ridge"]
    delta = QueryDeltaDisplay.from_estimator(models, X, y, metric="mrr", n_resamples=99)
    assert delta.ax_.get_ylabel() == "difference in MRR"
    features = X.drop(columns="qid")
    again = QueryDeltaDisplay.from_estimator(
        models, features, y, groups=X["qid"], metric="mrr", n_resamples=99
    )
    np.testing.assert_array_equal(again.deltas, delta.deltas)
    by_name = QueryDeltaDisplay.from_estimator(
        {name: model.estimator_ for name, model in models.items()},
        features.set_axis(X["qid"].rename("session"), axis=0),
        y, groups="session", metric="mrr", n_resamples=99,
    )  # fmt: skip
    np.testing.assert_array_equal(by_name.deltas, delta.deltas)
    with pytest.raises(NoGroupsError, match="No query ids reached CutoffCurveDisplay"):
        CutoffCurveDisplay.from_estimator(models, features, y)


def test_refuses_what_it_cannot_draw(data):
    y, models, groups = data
    for metric in ("ndcg@5", "ndcg(k=5)", len):
        with pytest.raises(ValueError, match="name of a metric without a cut-off"):
            CutoffCurveDisplay.from_predictions(y, models, groups=groups, metric=metric)
    with pytest.raises(ValueError, match="no option 'k'"):
        CutoffCurveDisplay.from_predictions(y, models, groups=groups, metric="query_auc")
    with pytest.raises(ValueError, match="metrics is empty"):
        CutoffCurveDisplay.from_predictions(y, models, groups=groups, k=[])
    with pytest.raises(TypeError, match=r"k must be an integer of at least 1; got 2\.5"):
        CutoffCurveDisplay.from_predictions(y, models, groups=groups, k=2.5)
    with pytest.raises(ValueError, match="at least one model; got an empty dict"):
        CutoffCurveDisplay.from_predictions(y, {}, groups=groups)
    with pytest.raises(ValueError, match=r"compares two models.*got 3 models"):
        QueryDeltaDisplay.from_predictions(y, {**models, "three": y}, groups=groups)
    with pytest.raises(ValueError, match="baseline must be one of"):
        QueryDeltaDisplay.from_predictions(y, models, groups=groups, baseline="x")
    at = {
        2: QueryScores([0], [[0, 1]], ["m@1", "m@2"]),
        3: QueryScores([0], [[0, 1]], ["m@1", "m@3"]),
    }
    with pytest.raises(KeyError, match=r"no metric 'm@3'; the metrics are m@1, m@2"):
        CutoffCurveDisplay.from_query_scores({"b": at[3], "a": at[2]})
    never = QueryScores([0], [[np.nan]], ["m"])
    with pytest.raises(ValueError, match="'m' must be defined for both models"):
        QueryDeltaDisplay.from_query_scores({"a": never, "b": never})


@pytest.mark.parametrize(
    "display", [CutoffCurveDisplay, ForestDisplay, QueryPropertyDisplay, QueryDeltaDisplay]
)
def test_refuses_what_are_no_scores_by_name(display):
    scores = QueryScores([1, 2], [[0, 1], [1, 0]], ["m@1", "m@2"])
    with pytest.raises(
        ValueError, match=r"one model; got an empty dict|at least two models; got 0"
    ):
        display.from_query_scores({})
    with pytest.raises(TypeError, match=r"got a list of 2 QueryScores|two models: .* got list"):
        display.from_query_scores([scores, scores])
    with pytest.raises(TypeError, match=r"systems\['b'\] must be a QueryScores; got a ndarray"):
        display.from_query_scores({"a": scores, "b": scores.values})


def test_matplotlib_is_imported_only_to_draw():
    code = (
        "import sys, sklearn_rankscore as rs\n"
        "assert 'matplotlib' not in sys.modules\n"
        "sys.modules['matplotlib'] = None\n"
        "rs.CutoffCurveDisplay.from_predictions([0, 1], [1, 2])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "ImportError: CutoffCurveDisplay needs matplotlib" in done.stderr


def test_a_display_shows_its_settings():
    deltas = QueryDeltaDisplay(deltas=[0.5, -0.25], metric="ndcg@10", baseline="old", model="new")
    curve = QueryLearningCurveDisplay(
        max_queries=[5], means={"a": [0.5]}, intervals={"a": [[0.4, 0.6]]}, metric="mrr"
    )
    assert repr(deltas).startswith(
        "QueryDeltaDisplay(metric='ndcg@10', baseline='old', model='new', confidence="
    )
    assert repr(curve).startswith("QueryLearningCurveDisplay(metric='mrr', confidence=")


@pytest.mark.parametrize("name", ["max_k", "metrics", "colour"])
def test_unknown_arguments_are_refused_by_name(data, name):
    """By matplotlib, which draws with them."""
    y, models, groups = data
    given = {"groups": groups, name: 3}
    for display, more in (
        (CutoffCurveDisplay, {}),
        (QueryDeltaDisplay, {}),
        (QueryScatterDisplay, {}),
        (RankChangeDisplay, {"query": 0}),
    ):
        with pytest.raises(AttributeError, match=f"unexpected keyword argument '{name}'"):
            display.from_predictions(y, models, **given, **more)


def test_curves_take_every_spelling_of_a_metric(data):
    y, models, groups = data
    for display in (CutoffCurveDisplay, DifferenceCurveDisplay):
        for spelling, name in (("HR", "hit_rate"), ("MAP(threshold=1)", "map(threshold=1)")):
            spelt = display.from_predictions(y, models, groups=groups, metric=spelling, k=[1, 5])
            named = display.from_predictions(y, models, groups=groups, metric=name, k=[1, 5])
            assert spelt.ax_.get_ylabel() == named.ax_.get_ylabel()
            drawn = zip(spelt.ax_.lines, named.ax_.lines, strict=True)
            assert all(np.array_equal(a.get_xydata(), b.get_xydata()) for a, b in drawn)
    scores = query_scores(y, models, {"NDCG@1": "ndcg@1", "NDCG@5": "ndcg@5"}, groups=groups)
    assert CutoffCurveDisplay.from_query_scores(scores, metric="ndcg").k.tolist() == [1, 5]
