"""With metadata routing one `groups=` reaches splitter and scorer, which request it by default."""

import numpy as np
import oracle
import pandas as pd
import pytest
from id_alignment import FOLDS, QID, X, Y, whole_queries
from joblib import parallel_config
from sklearn import config_context
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_selection import RFECV, SequentialFeatureSelector
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifierCV, RidgeCV
from sklearn.metrics import get_scorer
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    HalvingGridSearchCV,
    RandomizedSearchCV,
    TunedThresholdClassifierCV,
    cross_val_score,
    cross_validate,
    learning_curve,
    permutation_test_score,
    validation_curve,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_rankscore import NoGroupsError, QueryKFold, QueryRanker, make_ranking_scorer

pytestmark = pytest.mark.filterwarnings(
    # scikit-learn 1.6 sets options that SciPy has since deprecated
    "ignore:scipy.optimize:DeprecationWarning"
)
SCORER = make_ranking_scorer(whole_queries)
SPLIT = {"scoring": SCORER, "cv": GroupKFold(3), "error_score": "raise"}
GRID = {"alpha": [1, 10]}


@pytest.fixture(autouse=True)
def routing():
    with config_context(enable_metadata_routing=True):
        yield


def tool_cross_val_score(**ids):
    return cross_val_score(Ridge(), X, Y, **SPLIT, params=ids)


def tool_cross_validate(**ids):
    several = {**SPLIT, "scoring": {"ours": SCORER, "again": "hit_rate@5", "theirs": "r2"}}
    return cross_validate(Ridge(), X, Y, **several, params=ids)["test_ours"]


def tool_grid_search(**ids):
    search = GridSearchCV(Ridge(), GRID, n_jobs=2, **SPLIT).fit(X, Y, **ids)
    return [*search.cv_results_["mean_test_score"], search.score(X, Y, **ids)]


def tool_randomized_search(**ids):
    return RandomizedSearchCV(Ridge(), GRID, n_iter=1, **SPLIT).fit(X, Y, **ids).best_score_


def tool_halving_search(**ids):
    sizes = {"resource": "n_estimators", "min_resources": 1, "max_resources": 2, "factor": 2}
    search = HalvingGridSearchCV(ExtraTreesRegressor(), {"max_depth": [1, 2]}, **sizes, **SPLIT)
    return search.fit(X, Y, **ids).cv_results_["mean_test_score"]


def tool_nested_search(**ids):
    inner = GridSearchCV(Ridge(), GRID, **SPLIT)
    return cross_val_score(inner, X, Y, **SPLIT, params=ids)


def tool_learning_curve(**ids):
    return learning_curve(Ridge(), X, Y, **SPLIT, params=ids)[2]


def tool_validation_curve(**ids):
    curve = {"param_name": "alpha", "param_range": [1, 10]}
    return validation_curve(Ridge(), X, Y, **curve, **SPLIT, params=ids)[1]


def tool_permutation_test(**ids):
    split = {"scoring": SCORER, "cv": GroupKFold(3), "n_permutations": 2}
    return permutation_test_score(Ridge(), X, Y, **split, params=ids)[0]


def tool_rfecv(**ids):
    selector = RFECV(Ridge(), scoring=SCORER, cv=GroupKFold(3)).fit(X, Y, **ids)
    return [*selector.cv_results_["mean_test_score"], selector.score(X, Y, **ids)]


def tool_sequential_feature_selector(**ids):
    selector = SequentialFeatureSelector(Ridge(), n_features_to_select=1, scoring=SCORER, cv=FOLDS)
    return selector.fit(X, Y, **ids).get_support().sum()


def tool_ridge_cv(**ids):
    return RidgeCV(alphas=[1, 10], scoring=SCORER, cv=GroupKFold(3)).fit(X, Y, **ids).best_score_


def tool_ridge_cv_leave_one_out(**ids):
    return RidgeCV(alphas=[1, 10], scoring=SCORER).fit(X, Y, **ids).best_score_


TOOLS = [tool for name, tool in list(globals().items()) if name.startswith("tool_")]


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.__name__)
def test_groups_arrive_aligned(tool):
    np.testing.assert_allclose(tool(groups=QID), 1.0)


def test_qid_arrives_aligned():
    split = {**SPLIT, "cv": QueryKFold(3)}
    values = cross_val_score(Ridge(), X, Y, **split, params={"qid": QID})
    np.testing.assert_allclose(values, 1.0)


def test_default_requests_of_a_scorer_by_name():
    request = get_scorer("ndcg@10").get_metadata_routing().score.requests
    on_demand = dict.fromkeys(["sample_weight", "propensity", "target"])
    assert request == {"groups": True, "qid": True, **on_demand}


def test_scorers_of_sklearn_are_not_affected():
    several = {**SPLIT, "scoring": ["ndcg@3", "r2"]}
    scores = cross_validate(Ridge(), X, Y, **several, params={"groups": QID})
    alone = cross_val_score(Ridge(), X, Y, scoring="r2", cv=FOLDS)
    np.testing.assert_allclose(scores["test_r2"], alone)


def test_coarser_groups_are_for_the_splitter_only():
    """Ids in the data define the queries; routed groups may contain several of them."""
    pairs = QID // 2
    y = pd.Series(Y, index=pd.Index(QID, name="qid"))
    values = cross_val_score(Ridge(), X, y, **SPLIT, params={"groups": pairs})
    np.testing.assert_allclose(values, 1.0)
    by_pair = cross_val_score(Ridge(), X, Y, **SPLIT, params={"groups": pairs})
    np.testing.assert_allclose(by_pair, 0.0)


def test_request_under_another_name():
    scorer = make_ranking_scorer(whole_queries).set_score_request(groups="session")
    split = {"scoring": scorer, "cv": GroupKFold(3), "error_score": "raise"}
    params = {"session": QID, "groups": QID // 2}
    np.testing.assert_allclose(cross_val_score(Ridge(), X, Y, **split, params=params), 1.0)


def test_missing_ids_are_an_error():
    with pytest.raises(NoGroupsError, match="No query ids reached"):
        cross_val_score(Ridge(), X, Y, scoring="ndcg@3", cv=FOLDS, error_score="raise")


def test_threshold_tuning():
    model = TunedThresholdClassifierCV(
        LogisticRegression(), scoring="precision@3", cv=GroupKFold(3), thresholds=3
    )
    assert model.fit(X, (Y % 10 > 2).astype(int), groups=QID).best_score_ > 0


def test_ridge_classifier_cv_needs_a_request_for_weights():
    """It always passes sample_weight, which a scorer by name does not request."""
    model = RidgeClassifierCV(alphas=[1, 10], cv=GroupKFold(3))
    relevant = (Y % 10 > 2).astype(int)
    with pytest.raises(ValueError, match="sample_weight"):
        model.set_params(scoring="ndcg@3").fit(X, relevant, groups=QID)
    scorer = get_scorer("ndcg@3").set_score_request(sample_weight=True)
    assert model.set_params(scoring=scorer).fit(X, relevant, groups=QID).best_score_ > 0


def test_permutation_importance_routes_nothing():
    fitted = Ridge().fit(X, Y)
    with pytest.raises(TypeError, match="groups"):
        permutation_importance(fitted, X, Y, scoring=SCORER, groups=QID)


def test_requested_weights_reach_the_scorer():
    weights = 1.0 + QID
    scorer = make_ranking_scorer("mrr(threshold=3)").set_score_request(sample_weight=True)
    model = Ridge().set_fit_request(sample_weight=False)
    labels = Y % 10
    split = {"scoring": scorer, "cv": GroupKFold(3), "error_score": "raise"}
    params = {"groups": QID, "sample_weight": weights}
    scores = cross_validate(model, X, labels, **split, params=params, return_estimator=True)
    for (_, test), fitted, value in zip(
        FOLDS, scores["estimator"], scores["test_score"], strict=True
    ):
        y, s, q = labels[test].tolist(), fitted.predict(X[test]).tolist(), QID[test].tolist()
        expected = oracle.score("mrr", y, s, q, threshold=3, sample_weight=weights[test].tolist())
        assert value == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_ids_reach_every_task_of_a_pipeline_in_parallel(backend):
    """joblib prepares all but the first tasks in threads that do not have the configuration."""
    pipeline = make_pipeline(StandardScaler(), QueryRanker(Ridge()))
    options = {"scoring": "ndcg@3", "cv": QueryKFold(8), "params": {"groups": QID}}
    with parallel_config(backend):
        values = cross_val_score(pipeline, X, Y % 10, n_jobs=2, error_score="raise", **options)
    assert values.tolist() == cross_val_score(pipeline, X, Y % 10, **options).tolist()


def test_what_requests_no_groups_is_named():
    """The folds are those of a splitter that keeps queries whole, and not at fault."""
    scorer = make_ranking_scorer("ndcg@3").set_score_request(groups="session_id")
    options = {"cv": QueryKFold(3), "params": {"groups": QID}, "error_score": "raise"}
    with pytest.raises(NoGroupsError, match="let scorers request them"):
        cross_val_score(QueryRanker(Ridge()), X, Y % 10, scoring=scorer, **options)
    scorer = make_ranking_scorer("ndcg@3").set_score_request(groups=True)
    assert len(cross_val_score(QueryRanker(Ridge()), X, Y % 10, scoring=scorer, **options)) == 3
