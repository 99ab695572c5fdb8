"""Plots of permutation importance: the numbers of the table, the most important feature on top."""

import matplotlib as mpl
import pytest
from matplotlib.colors import same_color
from sklearn.inspection import permutation_importance
from sklearn.linear_model import Ridge

from sklearn_rankscore import (
    FeatureImportanceDisplay,
    QueryRanker,
    QueryScores,
    make_ranking,
    query_permutation_importance,
)
from sklearn_rankscore.plots.style import SYSTEMS

mpl.use("Agg")


@pytest.fixture(scope="module")
def fitted():
    X, y = make_ranking(n_queries=40, as_frame=True, random_state=0)
    return QueryRanker(Ridge()).fit(X, y), X, y


def test_rows_are_the_importances_of_one_metric(fitted):
    importances = query_permutation_importance(*fitted, ["mrr", "ndcg@10"], random_state=0)
    display = FeatureImportanceDisplay.from_importances(
        importances, metric="ndcg@10", max_features=4, lw=5
    )
    expected = importances.to_frame().query("metric == 'ndcg@10'")
    expected = expected.sort_values("importance", ascending=False)[:4]
    ticks = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert ticks == expected["feature"].tolist()
    drawn = [float(point.get_xdata()[0]) for point in display.points_]
    assert drawn == pytest.approx(expected["importance"].tolist())
    for line, low, high in zip(display.intervals_, expected["low"], expected["high"], strict=True):
        assert tuple(line.get_xdata()) == pytest.approx((low, high))
        assert same_color(line.get_color(), SYSTEMS[0])
        assert line.get_linewidth() == 5
    assert display.ax_.yaxis_inverted()
    assert repr(display) == (
        "FeatureImportanceDisplay(metric='ndcg@10', within='query', confidence=0.95)"
    )
    assert display.ax_.get_xlabel() == "loss, 95 % interval"
    assert display.ax_.get_title() == "loss of NDCG@10 if permuted within queries"
    assert FeatureImportanceDisplay.from_importances(importances).metric == "mrr"
    with pytest.raises(TypeError, match=r"query_permutation_importance; got QueryScores\."):
        FeatureImportanceDisplay.from_importances(QueryScores([1], [[1.0]], ["mrr"]))
    with pytest.raises(KeyError, match="no metric 'map'"):
        FeatureImportanceDisplay.from_importances(importances, metric="map")
    with pytest.raises(ValueError, match="max_features must be an integer of at least 1"):
        FeatureImportanceDisplay.from_importances(importances, max_features=0)


def test_over_all_rows_they_are_those_of_sklearn(fitted):
    model, X, y = fitted
    options = {"n_repeats": 2, "random_state": 3}
    display = FeatureImportanceDisplay.from_estimator(
        model, X, y, metric="ndcg@5", within="all", max_features=None, confidence=0.9, **options
    )
    theirs = permutation_importance(model, X, y, scoring="ndcg@5", **options)
    expected = dict(zip(X.columns, theirs.importances_mean, strict=True))
    shown = dict(zip(display.features, display.importances.tolist(), strict=True))
    assert shown == {name: pytest.approx(expected[name]) for name in X.columns if name != "qid"}
    assert display.ax_.get_title() == "loss of NDCG@5 if permuted over all rows"
    assert display.ax_.get_xlabel().endswith("90 % interval")


def test_clicks_with_propensities_of_an_index_level(fitted):
    model, X, y = fitted
    X = X.assign(seen=0.5).set_index("seen", append=True)
    clicks = (y > 2).to_numpy()
    weighted, plain = (
        FeatureImportanceDisplay.from_estimator(model, X, clicks, metric=metric, random_state=0)
        for metric in ("dcg@5(propensity=seen)", "dcg@5")
    )
    assert weighted.features == plain.features
    assert weighted.importances.tolist() == pytest.approx((2 * plain.importances).tolist())
