"""Parameters of the ranker's own `fit` arrive, in a search too, and keep their meaning."""

import numpy as np
import pandas as pd
import pytest
from gathered_rows import gather
from lightgbm import LGBMRanker, record_evaluation
from requires import requires
from sklearn import config_context
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from small_rankers import LGBM, make_catboost_ranker, make_ranker
from training_rounds import sizes_of

from sklearn_rankscore import (
    QueryKFold,
    QueryRanker,
    lightgbm_metric,
    make_ranking,
    make_ranking_scorer,
)

ROUTING = pytest.mark.parametrize("routing", [False, True], ids=["legacy", "routing"])


@pytest.fixture(scope="module")
def small():
    """Eight features, of which the fourth is a category; labels, ids."""
    X, y, groups = make_ranking(n_queries=40, n_features=8, random_state=0)
    random = np.random.default_rng(0)
    X[:, 3] = random.integers(0, 5, len(y))
    y = np.where(np.isin(X[:, 3], (1, 4)), np.minimum(y + 2, 4), y)
    return X, y, groups


def search_of(ranker, **options):
    grid = {"validation_fraction": [0.2]}
    return GridSearchCV(ranker, grid, cv=QueryKFold(2), error_score="raise", **options)


def fit_search(search, data, routing, **params):
    """The fitted best ranker; ids by routing, or in the index of y."""
    X, y, groups = data
    with config_context(enable_metadata_routing=routing):
        if routing:
            search.fit(X, y, groups=groups, **params)
        else:
            search.fit(X, pd.Series(y, index=pd.Index(groups, name="qid")), **params)
    return search.best_estimator_


@ROUTING
def test_eval_metric_eval_at_and_callbacks_of_lightgbm(routing, small):
    seen = {}
    ranker = QueryRanker(LGBM, early_stopping=True, random_state=0)
    best = fit_search(
        search_of(ranker, scoring="ndcg@10"),
        small,
        routing,
        eval_metric=lightgbm_metric("mrr@10"),
        eval_at=[7],
        callbacks=[record_evaluation(seen)],
    )
    assert list(seen["valid_0"]) == ["ndcg@7", "mrr@10_rankscore"]
    assert best.estimator_.evals_result_ == seen


@ROUTING
@pytest.mark.parametrize("piped", [False, True])
def test_categories_of_catboost(routing, piped, small):
    """CatBoost has no metadata requests of its own."""
    X, y, groups = small
    frame = pd.DataFrame(X).add_prefix("x").astype({"x3": int})
    model = make_catboost_ranker(iterations=10, depth=3, random_seed=0)
    keep = FunctionTransformer().set_output(transform="pandas")
    prefix = "catboostranker__" if piped and not routing else ""
    ranker = QueryRanker(make_pipeline(keep, model) if piped else model)
    best = fit_search(
        search_of(ranker, scoring="ndcg@10"),
        (frame, y, groups),
        routing,
        **{prefix + "cat_features": ["x3"]},
    )
    fitted = best.estimator_[-1] if piped else best.estimator_
    assert fitted.get_cat_feature_indices() == [3]
    assert best.n_queries_ == 40


@ROUTING
def test_categories_of_lightgbm(routing, small):
    ranker = QueryRanker(LGBMRanker(n_estimators=10, num_leaves=4, n_jobs=1, verbose=-1))
    best = fit_search(search_of(ranker, scoring="ndcg@10"), small, routing, categorical_feature=[3])
    q, X, y = gather(small[2], *small[:2])
    expected = LGBMRanker(n_estimators=10, num_leaves=4, n_jobs=1, verbose=-1)
    expected.fit(X, y, group=sizes_of(q), categorical_feature=[3])
    np.testing.assert_array_equal(best.predict(small[0]), expected.predict(small[0]))


def test_requests_of_the_inner_ranker_are_honoured(small):
    X, y, groups = small
    start = np.linspace(-3, 3, len(y))
    with config_context(enable_metadata_routing=True):
        inner = LGBMRanker(**LGBM.get_params()).set_fit_request(
            eval_metric="my_metric", init_score=False, sample_weight=True, eval_at=True
        )
        ranker = QueryRanker(inner, early_stopping=True, random_state=0)
        scorer = make_ranking_scorer("ndcg@10").set_score_request(sample_weight=False)
        best = fit_search(
            search_of(ranker, scoring=scorer),
            small,
            True,
            my_metric="map",
            eval_at=[3],
            sample_weight=1.0 + groups % 3,
        )
        assert list(best.estimator_.evals_result_["valid_0"]) == ["map@3", "ndcg@3"]
        ranker = QueryRanker(LGBM, early_stopping=True, random_state=0, validation_fraction=0.2)
        expected = ranker.fit(
            X, y, groups=groups, eval_metric="map", eval_at=[3], sample_weight=1.0 + groups % 3
        )
        np.testing.assert_array_equal(best.predict(X), expected.predict(X))
        with pytest.raises(TypeError, match="init_score"):
            search_of(QueryRanker(inner), scoring="ndcg@10").fit(
                X, y, groups=groups, init_score=start
            )


def test_weights_still_need_a_request(small):
    X, y, groups = small
    weights = np.ones(len(y))
    with config_context(enable_metadata_routing=True):
        with pytest.raises(ValueError, match="sample_weight"):
            cross_validate(
                QueryRanker(Ridge()), X, y, cv=QueryKFold(2), error_score="raise",
                scoring=make_ranking_scorer("ndcg@10"),
                params={"groups": groups, "sample_weight": weights},
            )  # fmt: skip
        search = search_of(
            QueryRanker(Ridge()).set_fit_request(sample_weight=True),
            scoring=make_ranking_scorer("ndcg@10").set_score_request(sample_weight=True),
        )
        search.fit(X, y, groups=groups, sample_weight=weights)
    assert search.best_score_ > 0.5


# what the ranker and QueryRanker request, and the metadata that the fit takes as weights
REQUESTED_WEIGHTS = {
    "declined": (None, False, None),
    "declined by the ranker": (False, None, None),
    "declined by the ranker alone": (False, True, None),
    "requested": (None, True, "sample_weight"),
    "requested by the ranker": (True, None, "sample_weight"),
    "requested by the ranker alone": (True, False, "sample_weight"),
    "another name": (None, "own", "own"),
    "another name by the ranker": ("own", None, "own"),
}


@pytest.mark.parametrize("piped", [False, True])
@pytest.mark.parametrize("case", REQUESTED_WEIGHTS)
@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
def test_weights_are_those_that_are_requested(library, case, piped, small):
    """The ranker's own request takes precedence over that of QueryRanker."""
    X, y, groups = small
    of_ranker, of_wrapper, name = REQUESTED_WEIGHTS[case]
    metadata = {"sample_weight": 1.0 + 50 * (groups % 3 == 0)}
    if name == "own":  # scikit-learn refuses what nobody requests
        metadata["own"] = 1.0 + 50 * (groups % 2)
    cv, plain = QueryKFold(2), clone(make_ranker(library))
    with config_context(enable_metadata_routing=True):
        inner = clone(plain).set_fit_request(sample_weight=of_ranker)
        ranker = QueryRanker(make_pipeline(StandardScaler(), inner) if piped else inner)
        ranker.set_fit_request(sample_weight=of_wrapper)
        fitted = cross_validate(
            ranker, X, y, cv=cv, error_score="raise", return_estimator=True,
            scoring=make_ranking_scorer("ndcg@10").set_score_request(sample_weight=True),
            params={"groups": groups, **metadata},
        )["estimator"]  # fmt: skip
    for (train, _), model in zip(cv.split(X, y, groups), fitted, strict=True):
        weight = None if name is None else metadata[name][train]
        expected = QueryRanker(make_pipeline(StandardScaler(), plain) if piped else plain)
        expected.fit(X[train], y[train], groups=groups[train], sample_weight=weight)
        np.testing.assert_array_equal(model.predict(X), expected.predict(X))


@ROUTING
def test_unknown_parameters_are_refused(routing, small):
    with pytest.raises(TypeError, match="eval_att"):
        fit_search(search_of(QueryRanker(LGBM), scoring="ndcg@10"), small, routing, eval_att=[1])


def test_sizes_given_as_group_are_honoured(small):
    X, y, groups = small
    q, X, y = gather(groups, X, y)
    expected = QueryRanker(LGBM).fit(X, y, groups=q).predict(X)
    ranker = QueryRanker(LGBM).fit(X, y, group=sizes_of(q))
    assert ranker.n_queries_ == 40
    np.testing.assert_array_equal(ranker.predict(X), expected)
    piped = QueryRanker(make_pipeline(StandardScaler(), LGBM))
    assert piped.fit(X, y, lgbmranker__group=sizes_of(q).tolist()).n_queries_ == 40
    stopped = QueryRanker(LGBM, early_stopping="ndcg@10", max_queries=20)
    assert stopped.fit(X, y, group=sizes_of(q)).n_queries_ == 20


def test_ids_by_the_name_of_the_ranker_are_honoured(small):
    X, y, groups = small
    requires("catboost")
    expected = QueryRanker(make_ranker("catboost")).fit(X, y, groups=groups).predict(X)
    fitted = QueryRanker(make_ranker("catboost")).fit(X, y, group_id=groups).predict(X)
    np.testing.assert_array_equal(fitted, expected)
    piped = QueryRanker(make_pipeline(FunctionTransformer(), make_ranker("xgboost")))
    assert piped.fit(X, y, xgbranker__qid=groups).n_queries_ == 40


@pytest.mark.parametrize("sizes", [[3, 4], [2.5, 2.5], [[1, 2]]])
def test_wrong_sizes_are_refused(sizes, small):
    X, y, _ = small
    with pytest.raises(ValueError, match=r"group holds the sizes .*groups=np.repeat"):
        QueryRanker(LGBM).fit(X, y, group=sizes)


def test_ids_given_twice_are_refused(small):
    X, y, groups = small
    for ranker, name in ((LGBM, "group"), (make_ranker("xgboost"), "group")):
        with pytest.raises(ValueError, match=f"query ids are given twice, as {name}= and"):
            QueryRanker(ranker).fit(X, y, groups=groups, **{name: sizes_of(groups)})


def test_a_ranker_without_a_signature_gets_everything(small):
    X, y, groups = small

    class Own(BaseEstimator):
        def fit(self, X, y, **params):
            self.given_ = params
            return self

    ranker = QueryRanker(Own(), group_param=None).fit(X, y, groups=groups, depth=3)
    assert ranker.estimator_.given_ == {"depth": 3}
