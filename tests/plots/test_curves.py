"""Curves against the cut-off and the number of training queries: means, differences, bands."""

import itertools

import numpy as np
import pytest
from matplotlib import pyplot as plt
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from small_rankers import LGBM

import sklearn_rankscore as rs
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
    means = rs.CutoffCurveDisplay.from_predictions(y, models, **given_curve, method="t", bands=True)
    scores = rs.query_scores(y, models, names, **given)
    values = {name: [*rs.evaluate(y, s, names, **given).values()] for name, s in models.items()}
    for line, band, (name, of) in zip(means.lines_, means.bands_, scores.items(), strict=True):
        check_curve(line, band, values[name], [*of.interval(method="t").values()])
    differences = rs.DifferenceCurveDisplay.from_predictions(y, models, **given_curve)
    compared = rs.compare(scores, test="t")
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


def test_systems_have_the_same_look_in_both_plots_and_are_told_apart_without_color(data):
    y, models, groups = data
    given = {"groups": groups, "k": [1, 5]}
    curve = rs.CutoffCurveDisplay.from_predictions(y, models, **given)
    difference = rs.DifferenceCurveDisplay.from_predictions(y, models, **given, baseline="two")
    assert [line.get_color() for line in curve.lines_] == [*SYSTEMS[:2]]
    assert [line.get_color() for line in difference.lines_] == [SYSTEMS[0]]
    assert difference.baseline == "two"
    third = {"name": "three", "ax": curve.ax_}
    other = rs.CutoffCurveDisplay.from_predictions(y, models["one"] * 0, **third, **given)
    for look in ("get_linestyle", "get_marker", "get_color"):
        assert len({getattr(line, look)() for line in other.ax_.lines}) == 3
    assert legend(other) == ["one", "two", "three"]


def test_unpaired_bands_are_drawn_on_request_only(data):
    y, models, groups = data
    several = rs.CutoffCurveDisplay.from_predictions(y, models, groups=groups, k=[1, 5])
    assert several.bands_ == []
    assert several.ax_.get_legend().get_title().get_text() == ""
    assert len(several.plot(bands=True).bands_) == 2
    single = rs.CutoffCurveDisplay.from_predictions(y, models["one"], groups=groups, k=[1, 5])
    assert len(single.bands_) == 1
    assert single.plot(bands=False).bands_ == []


def test_scores_at_several_cutoffs_in_every_spelling(data):
    y, models, groups = data
    names = ["ndcg@5", "mrr", "map@3(threshold=1)", "map@1(threshold=1)"]
    scores = rs.query_scores(y, models, names, groups=groups)
    for metric in (None, "map(threshold=1)", "MAP(threshold=1)"):
        curve = rs.CutoffCurveDisplay.from_query_scores(scores, metric=metric)
        assert (curve.metric, curve.k.tolist()) == ("map(threshold=1)", [1, 3])
        expected = [scores["two"].mean()[name] for name in (names[3], names[2])]
        np.testing.assert_allclose(curve.means["two"], expected)
    with pytest.raises(ValueError, match=r"needs 'mrr' at two cut-offs or more; .* ndcg@5, mrr"):
        rs.DifferenceCurveDisplay.from_query_scores(scores, metric="mrr")


@pytest.mark.parametrize(
    ("y_true", "k", "last"), [([1] + 29 * [0], None, 20), ([0, 1, 1], None, 3), ([0, 1], 4, 4)]
)
def test_cutoffs_go_to_k_to_twenty_or_to_the_longest_query(y_true, k, last):
    display = rs.CutoffCurveDisplay.from_predictions(y_true, np.arange(len(y_true)), k=k)
    assert display.k.tolist() == [*range(1, last + 1)]
    assert all(tick == int(tick) for tick in display.ax_.get_xticks())


MANY = [[1, 5, 10, 50, 100, 500, 1000], [9, 990, 1000], range(990, 1100, 7)]
FEW = [[1, 3, 5, 10], [1, 5, 10, 20, 50, 100]]


@pytest.mark.parametrize("k", [*MANY, *FEW])
def test_cutoffs_do_not_overlap(k):
    ax = plt.subplots(figsize=(5, 3), layout="constrained")[1]
    rs.CutoffCurveDisplay.from_predictions([0, 1, 1], [1, 2, 3], k=k, ax=ax)
    ax.figure.canvas.draw()
    labels = ax.get_xticklabels()
    assert k in MANY or [label.get_text() for label in labels] == [*map(str, k)]
    boxes = [label.get_window_extent() for label in labels]
    assert all(left.x1 + 2 <= right.x0 for left, right in itertools.pairwise(boxes))


@pytest.fixture(scope="module")
def learned():
    return rs.make_ranking(n_queries=30, as_frame=True, random_state=0)


def test_points_are_cross_validated_scores(learned):
    X, y = learned
    models = {str(a): rs.QueryRanker(Ridge(a), random_state=0) for a in (1, 1e4)}
    given = {"cv": rs.QueryKFold(3)}
    display = rs.QueryLearningCurveDisplay.from_estimator(
        models, X, y, metric=["mrr", "map"], max_queries=[20, 4], confidence=0.9, **given
    )
    for line, (name, model) in zip(display.lines_, models.items(), strict=True):
        assert line.get_xdata().tolist() == [4, 20]
        for i, n in enumerate((4, 20)):
            sized = rs.QueryRanker(model.estimator, max_queries=n, random_state=0)
            scores = rs.cross_val_query_scores(sized, X, y, metrics="mrr", **given)
            assert line.get_ydata()[i] == pytest.approx(scores.mean()["mrr"])
            assert display.intervals[name][i] == pytest.approx(scores.interval(0.9)["mrr"])
        assert model.max_queries is None
    assert (display.bands_, display.confidence) == ([], 0.9)
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("training queries", "MRR")
    assert display.plot(bands=True).ax_.get_legend().get_title().get_text().startswith("90 %")


SCALED = make_pipeline(StandardScaler(), Ridge())
WAYS = {  # to give the ids, and the model that a ranker wraps
    "column": (Ridge(), lambda X, ids: (X.assign(qid=ids), {})),
    "array": (SCALED, lambda X, ids: (X.to_numpy(), {"groups": ids})),
    "name": (LGBM, lambda X, ids: (X.assign(session=ids), {"groups": "session"})),
    "splitter": (make_pipeline(rs.QueryRanker(LGBM)), lambda X, ids: (
        X.assign(user=ids // 3, session=ids), {"cv": rs.QueryKFold(2, groups=["user", "session"])}
    )),
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_models_that_are_not_in_a_query_ranker(learned, way):
    X, y = learned
    ids, (model, form) = X["qid"].to_numpy(), WAYS[way]
    given, params = form(X.drop(columns="qid"), ids)
    options, draw = {"max_queries": [6], "cv": rs.QueryKFold(2)}, rs.QueryLearningCurveDisplay
    display = draw.from_estimator(model, given, y, random_state=0, **options | params)
    wrapped = {"wrapped": rs.QueryRanker(model, random_state=0)}
    expected = draw.from_estimator(wrapped, X, y, groups=ids, **options)
    [name] = display.means
    assert name == ("Ridge" if way in ("column", "array") else type(LGBM).__name__)
    np.testing.assert_allclose(display.means[name], expected.means["wrapped"], rtol=1e-9)


@pytest.mark.parametrize(
    ("max_queries", "cv", "sizes"),
    [(None, None, [2, 6, 12, 24]), (None, 2, [2, 4, 8, 15]), ([5, 20, 1000], "long", [5, 14])],
)
def test_sizes_go_up_to_those_on_which_each_fold_trains(learned, max_queries, cv, sizes):
    X, y = learned
    if cv == "long":  # a test fold of 16 of the 30 queries, and two of seven each
        fold = np.digitize(X["qid"], [7, 14])
        cv = iter([(X.index[fold != i], X.index[fold == i]) for i in range(3)])
    given = rs.QueryRanker(Ridge(), random_state=0), X, y
    display = rs.QueryLearningCurveDisplay.from_estimator(*given, max_queries=max_queries, cv=cv)
    assert display.max_queries.tolist() == sizes
    assert len(display.bands_) == 1
