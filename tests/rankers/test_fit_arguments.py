"""Parameters of the ranker's own `fit` arrive, in a search too, and keep their meaning."""

import numpy as np
import pandas as pd
import pytest
from gathered_rows import gather
from lightgbm import LGBMRanker, record_evaluation
from requires import requires
from sklearn import config_context
from sklearn.base import BaseEstimator, clone
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.decomposition import PCA
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import FunctionTransformer, PolynomialFeatures, StandardScaler
from small_rankers import LGBM, make_catboost_ranker, make_ranker
from training_rounds import sizes_of
from xgboost import XGBRegressor

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


def test_requests_within_a_pipeline(small):
    class Shift(FunctionTransformer):
        def fit(self, X, y=None, *, shift=None):
            self.shift_ = shift
            return super().fit(X, y)

    X, y, groups = small
    with config_context(enable_metadata_routing=True):
        pipe = make_pipeline(
            Shift().set_fit_request(shift=True),
            LGBMRanker(**LGBM.get_params()).set_fit_request(eval_at="depths"),
        )
        ranker = QueryRanker(pipe, early_stopping="ndcg@3")
        best = fit_search(search_of(ranker, scoring="ndcg@10"), small, True, shift=7, depths=[4])
        assert best.estimator_[0].shift_ == 7
        assert "ndcg@4" in best.estimator_[-1].evals_result_["valid_0"]
        again = QueryRanker(pipe).fit(X, y, groups=groups, shift=9)
        assert again.estimator_[0].shift_ == 9


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


@pytest.mark.parametrize("place", ["step", "column", "inner pipeline"])
@pytest.mark.parametrize("declined", [False, True])
def test_weights_requested_by_another_step_are_refused(place, declined, small):
    """QueryRanker passes weights to the last step, so that this one would have none."""
    X, y, groups = small
    with config_context(enable_metadata_routing=True):
        scaler = StandardScaler().set_fit_request(sample_weight=True)
        if place == "column":
            scaler = make_column_transformer((scaler, [0]), remainder="passthrough")
        model = clone(LGBM).set_fit_request(sample_weight=not declined)
        pipeline = make_pipeline(scaler, model)
        ranker = QueryRanker(
            make_pipeline("passthrough", pipeline) if place == "inner pipeline" else pipeline
        )
        scoring = make_ranking_scorer("ndcg").set_score_request(sample_weight=False)
        ids = {"groups": groups}
        cross_validate(ranker, X, y, cv=QueryKFold(2), scoring=scoring, params=ids)
        params = {"groups": groups, "sample_weight": 1.0 + groups % 3}
        for call in (
            lambda: cross_validate(ranker, X, y, cv=QueryKFold(2), scoring=scoring, params=params),
            lambda: ranker.fit(X, y, **params),
        ):
            with pytest.raises(ValueError, match=r"requests sample_weight \(StandardScaler\), but"):
                call()


@ROUTING
def test_unknown_parameters_are_refused(routing, small):
    with pytest.raises(TypeError, match="eval_att"):
        fit_search(search_of(QueryRanker(LGBM), scoring="ndcg@10"), small, routing, eval_att=[1])


def place(X, groups, position):
    """A frame of the features with the column of ids at some position."""
    frame = pd.DataFrame(X).add_prefix("x").astype({"x3": int})
    frame.insert(position, "qid", groups)
    return frame


@pytest.mark.parametrize("position", [0, 3, 8])
@pytest.mark.parametrize("library", ["lightgbm", "catboost"])
def test_positions_of_columns_keep_their_meaning(position, library, small):
    X, y, groups = small
    frame = place(X, groups, position)
    name = {"lightgbm": "categorical_feature", "catboost": "cat_features"}[library]
    by_name = QueryRanker(make_ranker(library)).fit(frame, y, **{name: ["x3"]}).predict(frame)
    column = list(frame.columns).index("x3")
    for given in ([column], np.array([column]), (column,)):
        fitted = QueryRanker(make_ranker(library)).fit(frame, y, **{name: given})
        np.testing.assert_array_equal(fitted.predict(frame), by_name)
    other = QueryRanker(make_ranker(library)).fit(frame, y).predict(frame)
    assert not np.array_equal(other, by_name)
    with pytest.raises(ValueError, match=f"{name} names the column at position {position}, which"):
        QueryRanker(make_ranker(library)).fit(frame, y, **{name: [position]})


def test_positions_of_the_constructor_are_refused_where_they_could_mean_two_columns(small):
    X, y, groups = small
    catboost = make_catboost_ranker(iterations=5, cat_features=(3,))
    forest = HistGradientBoostingRegressor(max_iter=5, categorical_features=[3])
    constrained = LGBMRanker(n_estimators=5, interaction_constraints=[[0, 1], [2, 3]], verbose=-1)
    for model in (catboost, forest, constrained, make_pipeline(FunctionTransformer(), catboost)):
        for position in (0, 3):
            with pytest.raises(ValueError, match=r"names columns by position.*set_index\('qid'\)"):
                QueryRanker(model).fit(place(X, groups, position), y)
        last = QueryRanker(model).fit(place(X, groups, 8), y)
        index = place(X, groups, 0).set_index("qid")
        np.testing.assert_array_equal(
            last.predict(index), QueryRanker(model).fit(index, y).predict(index)
        )
    constrained.set_params(interaction_constraints=[["x0", "x1"], ["x2", "x3"]])


def scale(*columns):
    return make_pipeline(
        *(ColumnTransformer([("s", StandardScaler(), chosen)]) for chosen in columns), Ridge()
    )


POINTWISE_CATBOOST = {"iterations": 5, "verbose": 0, "allow_writing_files": False}
SHIFTED = {
    "a list": lambda: scale([1, 2]),
    "an array": lambda: scale(np.array([1, 2])),
    "a position": lambda: scale([1]),
    "a slice": lambda: scale(slice(1, 4)),
    "an open slice": lambda: scale(slice(1, None)),
    "a later step": lambda: make_pipeline(FunctionTransformer(), *scale([1, 2])),
    "monotone constraints": lambda: XGBRegressor(
        n_estimators=5, monotone_constraints=(0, -1, 0)
    ),
    "monotone constraints as text": lambda: XGBRegressor(
        n_estimators=5, monotone_constraints="(0,-1,0)"
    ),
    "monotone constraints of CatBoost": lambda: requires("catboost").CatBoostRegressor(
        **POINTWISE_CATBOOST, monotone_constraints="1:-1"
    ),
    "interaction constraints as text": lambda: XGBRegressor(
        n_estimators=5, interaction_constraints="[[0, 1], [2, 3]]"
    ),
}  # fmt: skip


def test_positions_from_the_end_mean_other_columns_if_the_ids_are_last(small):
    X, y, groups = small
    with pytest.raises(ValueError, match="names columns by position"):
        QueryRanker(scale([-2])).fit(place(X, groups, 8), y)
    QueryRanker(scale([-2])).fit(place(X, groups, 0), y)


NOT_SHIFTED = {
    "names": lambda: scale(["x0", "x1"]),
    "a slice of names": lambda: scale(slice("x0", "x2")),
    "all columns": lambda: scale(slice(None)),
    "the last column": lambda: scale([-1], [0]),
    "before the ids": lambda: scale([0, 1], slice(0, 2)),
    "constraints of all features": lambda: XGBRegressor(
        n_estimators=5, monotone_constraints=(0, 0, 0, 0, -1, 0, 0, 0)
    ),
    "constraints by name": lambda: XGBRegressor(
        n_estimators=5, monotone_constraints={"x4": -1}, interaction_constraints=[["x1", "x3"]]
    ),
    "components": lambda: make_pipeline(PCA(6, random_state=0), scale([3, 5])),
    "selected": lambda: make_pipeline(SelectKBest(f_regression, k=6), scale([3, 5])),
    "products": lambda: make_pipeline(PolynomialFeatures(2), scale([3, 5])),
    "a union": lambda: make_pipeline(make_union(StandardScaler()), scale([3, 5])),
    "columns of a ColumnTransformer": lambda: make_pipeline(
        ColumnTransformer([("s", StandardScaler(), ["x6", "x7"])], remainder="passthrough"),
        HistGradientBoostingRegressor(max_iter=5, interaction_cst=[{0, 5}, {1, 2}]),
    ),
    "columns of steps in a step": lambda: make_pipeline(
        make_pipeline(StandardScaler(), PCA(6, random_state=0)), scale([3, 5])
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", NOT_SHIFTED)
def test_positions_with_one_meaning_are_accepted(case, small):
    X, y, groups = small
    fitted = QueryRanker(NOT_SHIFTED[case]()).fit(place(X, groups, 3), y)
    index = place(X, groups, 3).set_index("qid")
    np.testing.assert_array_equal(
        fitted.predict(index), QueryRanker(NOT_SHIFTED[case]()).fit(index, y).predict(index)
    )


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
        with pytest.raises(ValueError, match=f"query ids are given twice: as {name}= of"):
            QueryRanker(ranker).fit(X, y, groups=groups, **{name: sizes_of(groups)})


def test_a_ranker_without_a_signature_gets_everything(small):
    X, y, groups = small

    class Own(BaseEstimator):
        def fit(self, X, y, **params):
            self.given_ = params
            return self

    ranker = QueryRanker(Own(), group_param=None).fit(X, y, groups=groups, depth=3)
    assert ranker.estimator_.given_ == {"depth": 3}
