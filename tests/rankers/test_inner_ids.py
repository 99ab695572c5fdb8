"""Query ids reach splitters, scorers and rankers inside of the wrapped estimator."""

import numpy as np
import pandas as pd
import pytest
from gathered_rows import gather
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.ensemble import BaggingRegressor, StackingRegressor, VotingRegressor
from sklearn.feature_selection import RFECV
from sklearn.linear_model import Lasso, LassoCV, Ridge, RidgeCV
from sklearn.metrics import ndcg_score as scikit_learns_ndcg
from sklearn.model_selection import GridSearchCV, GroupKFold, RandomizedSearchCV, cross_val_predict
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from small_rankers import LGBM

from sklearn_rankscore import QueryKFold, QueryRanker, make_ranking

CV = QueryKFold(3)
RANKER = QueryRanker(clone(LGBM).set_params(n_estimators=5))


@pytest.fixture(scope="module")
def rows():
    """Features, labels and ids, rows shuffled."""
    X, y, groups = make_ranking(n_queries=24, n_features=8, random_state=0)
    order = np.random.default_rng(0).permutation(len(y))
    return X[order], y[order], groups[order]


def framed(X, **columns):
    return pd.DataFrame(X).add_prefix("x").assign(**columns)


WAYS = {
    "column": lambda X, q: (framed(X, qid=q), {}, None),
    "index": lambda X, q: (framed(X, qid=q).set_index("qid"), {}, None),
    "array": lambda X, q: (X, {"groups": q}, None),
    "qid": lambda X, q: (X, {"qid": q}, None),
    "frame and groups": lambda X, q: (framed(X), {"groups": q}, None),
    "sparse": lambda X, q: (sparse.csr_array(X), {"groups": q}, None),
    "name": lambda X, q: (framed(X, session=q), {}, "session"),
    "level": lambda X, q: (framed(X, session=q).set_index("session"), {}, "session"),
    "two names": lambda X, q: (framed(X, user=q // 2, visit=q % 2), {}, ["user", "visit"]),
}


def mean_ndcg(y, scores, q, k=10):
    rows = [q == query for query in np.unique(q)]
    return np.mean([scikit_learns_ndcg([y[r]], [scores[r]], k=k) for r in rows])


def best_alpha(X, y, q, alphas, splits):
    """The alpha with the greatest mean NDCG@10 over the splits, and that mean."""
    means = [
        np.mean([mean_ndcg(y[b], Ridge(alpha).fit(X[a], y[a]).predict(X[b]), q[b])
                 for a, b in splits])
        for alpha in alphas
    ]  # fmt: skip
    return alphas[int(np.argmax(means))], max(means)


ALPHAS = [0.1, 1e4, 1e6]


@pytest.mark.parametrize("routing", [False, True], ids=["legacy", "routing"])
@pytest.mark.parametrize("way", WAYS)
def test_a_search_inside_chooses_by_whole_queries(way, routing, rows):
    X, y, groups = rows
    given, params, source = WAYS[way](X, groups)
    search = GridSearchCV(Ridge(), {"alpha": ALPHAS}, scoring="ndcg@10", cv=CV, error_score="raise")
    with config_context(enable_metadata_routing=routing):
        ranker = QueryRanker(search, groups=source).fit(given, y, **params)
    q, X_gathered, y_gathered = gather(groups, X, y)
    splits = list(CV.split(X_gathered, y_gathered, q))
    alpha, mean = best_alpha(X_gathered, y_gathered, q, ALPHAS, splits)
    assert ranker.estimator_.best_params_ == {"alpha": alpha}
    assert ranker.estimator_.best_score_ == pytest.approx(mean, rel=1e-9)
    assert ranker.n_features_in_ == X.shape[1]
    expected = Ridge(alpha).fit(X, y).predict(X)
    tolerance = 1e-3 if way == "sparse" else 1e-9  # that of the solver
    np.testing.assert_allclose(ranker.predict(given), expected, rtol=tolerance, atol=tolerance)


MODELS = {
    "LassoCV": lambda cv: LassoCV(cv=cv),
    "RidgeCV": lambda cv: RidgeCV(ALPHAS, cv=cv),
    "a pipeline": lambda cv: make_pipeline(RFECV(Ridge(), cv=cv), RidgeCV(ALPHAS, cv=cv)),
    "StackingRegressor": lambda cv: StackingRegressor([("r", Ridge()), ("l", Lasso(0.1))], cv=cv),
    "GridSearchCV": lambda cv: GridSearchCV(Ridge(), {"alpha": ALPHAS}, cv=cv),
    "RandomizedSearchCV": lambda cv: RandomizedSearchCV(
        Ridge(), {"alpha": ALPHAS}, n_iter=2, cv=cv, random_state=0
    ),
}  # fmt: skip


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("cv", [CV, GroupKFold(3)], ids=["QueryKFold", "GroupKFold"])
@pytest.mark.parametrize("name", MODELS)
def test_splitters_inside_split_queries(name, cv, weighted, rows):
    X, y, groups = rows
    weight = 1.0 + groups % 3 if weighted else None
    q, X_gathered, y_gathered, weight_gathered = gather(groups, X, y, weight)
    by_hand = MODELS[name](list(cv.split(X_gathered, y_gathered, q)))
    params = {} if weight is None else {"sample_weight": weight_gathered}
    if hasattr(by_hand, "steps"):
        params = {f"ridgecv__{name}": value for name, value in params.items()}
    by_hand.fit(X_gathered, y_gathered, **params)
    for way in ("column", "index", "array"):
        given, ids, _ = WAYS[way](X, groups)
        ranker = QueryRanker(MODELS[name](cv)).fit(given, y, sample_weight=weight, **ids)
        expected = by_hand.predict(X)
        np.testing.assert_allclose(ranker.predict(given), expected, rtol=1e-6, atol=1e-9)
        last = ranker.estimator_[-1] if hasattr(by_hand, "steps") else ranker.estimator_
        assert last.cv is not None
        assert not isinstance(last.cv, list)


ENSEMBLES = ["column", "index", "array", "frame and groups", "name", "two names"]


@pytest.mark.parametrize("way", ENSEMBLES)
def test_rankers_inside_of_ensembles(way, rows):
    X, y, groups = rows
    given, params, source = WAYS[way](X, groups)
    members = [("ridge", Ridge()), ("ranker", RANKER)]
    q, X_gathered, y_gathered = gather(groups, X, y)
    alone = clone(RANKER).fit(X_gathered, y_gathered, groups=q).predict(X)
    vote = QueryRanker(VotingRegressor(members), groups=source).fit(given, y, **params)
    expected = (alone + Ridge().fit(X, y).predict(X)) / 2
    np.testing.assert_allclose(vote.predict(given), expected, rtol=1e-6)
    stack = StackingRegressor(members, final_estimator=Ridge(), cv=CV)
    stacked = QueryRanker(stack, groups=source).fit(given, y, **params)
    splits = list(CV.split(X_gathered, y_gathered, q))
    indexed = framed(X_gathered, qid=q).set_index("qid")
    columns = [
        cross_val_predict(member, data, y_gathered, cv=splits)
        for member, data in ((Ridge(), X_gathered), (RANKER, indexed))
    ]
    final = Ridge().fit(np.column_stack(columns), y_gathered)
    features = np.column_stack([Ridge().fit(X, y).predict(X), alone])
    np.testing.assert_allclose(stacked.predict(given), final.predict(features), rtol=1e-5)


def test_arrays_reach_rankers_in_a_vote(rows):
    X, y, groups = rows
    vote = QueryRanker(VotingRegressor([("ranker", RANKER)])).fit(X, y, groups=groups)
    expected = clone(RANKER).fit(X, y, groups=groups).predict(X)
    np.testing.assert_array_equal(vote.predict(X), expected)


@pytest.mark.parametrize("final", [None, Ridge(), QueryRanker(Ridge()), RANKER], ids=str)
def test_arrays_reach_the_final_estimator_of_a_stack(final, rows):
    X, y, groups = rows
    members = [("ranker", RANKER), ("ridge", Ridge())]
    stack = StackingRegressor(members, final_estimator=final, cv=CV)
    pipe = make_pipeline(StandardScaler(), stack)
    fitted = QueryRanker(pipe).fit(X, y, groups=groups)
    indexed = framed(StandardScaler().fit_transform(X), qid=groups).set_index("qid")
    expected = QueryRanker(stack).fit(indexed, y)
    np.testing.assert_allclose(fitted.predict(X), expected.predict(indexed), rtol=1e-6, atol=1e-8)
    assert stack.final_estimator is final
    last = fitted.estimator_[-1]
    assert type(last.final_estimator) is type(final)
    assert type(last.final_estimator_) is type(expected.estimator_.final_estimator_)


@pytest.mark.parametrize("routing", [False, True], ids=["legacy", "routing"])
@pytest.mark.parametrize("way", ["column", "index", "array"])
def test_a_ranker_of_the_predictions_of_pointwise_models(way, routing, rows):
    """scikit-learn passes the final estimator of a stack only what its members request."""
    X, y, groups = rows
    given, params, _ = WAYS[way](X, groups)
    members = [("ridge", Ridge()), ("lasso", Lasso(0.1))]
    stack = StackingRegressor(members, final_estimator=RANKER, cv=CV)
    with config_context(enable_metadata_routing=routing):
        fitted = QueryRanker(stack).fit(given, y, **params)
    q, X_gathered, y_gathered = gather(groups, X, y)
    splits = list(CV.split(X_gathered, y_gathered, q))
    models = [model for _, model in members]
    columns = [cross_val_predict(model, X_gathered, y_gathered, cv=splits) for model in models]
    final = clone(RANKER).fit(np.column_stack(columns), y_gathered, groups=q)
    features = [clone(model).fit(X_gathered, y_gathered).predict(X) for model in models]
    expected = final.predict(np.column_stack(features))
    np.testing.assert_allclose(fitted.predict(given), expected, rtol=1e-9)
    assert type(fitted.estimator_.final_estimator_) is QueryRanker
    assert stack.final_estimator is RANKER


@pytest.mark.parametrize("way", ["column", "array", "name"])
def test_a_search_over_rankers_inside_of_a_pipeline(way, rows):
    X, y, groups = rows
    given, params, source = WAYS[way](X, groups)
    grid = {"estimator__num_leaves": [3, 15]}
    search = GridSearchCV(RANKER, grid, scoring=["ndcg@10", "map@5"], refit="map@5", cv=CV,
                          error_score="raise")  # fmt: skip
    pipe = make_pipeline(StandardScaler(), search)
    ranker = QueryRanker(pipe, groups=source).fit(given, y, **params)
    q, X_gathered, y_gathered = gather(groups, StandardScaler().fit_transform(X), y)
    expected = clone(search).fit(framed(X_gathered, qid=q).set_index("qid"), y_gathered)
    fitted = ranker.estimator_[-1]
    for metric in ("ndcg@10", "map@5"):
        np.testing.assert_allclose(
            fitted.cv_results_[f"mean_test_{metric}"],
            expected.cv_results_[f"mean_test_{metric}"],
            rtol=1e-9,
        )


def test_a_splitter_of_users_splits_users(rows):
    """A splitter inside that names another column uses that one."""
    X, y, groups = rows
    frame = framed(X, qid=groups).set_index("qid")
    frame.index = pd.MultiIndex.from_arrays([groups, groups // 4], names=["qid", "user"])
    search = GridSearchCV(Ridge(), {"alpha": [1]}, cv=QueryKFold(3, groups="user"))
    ranker = QueryRanker(search).fit(frame, y)
    _, X_gathered, y_gathered, users = gather(groups, X, y, groups // 4)
    expected = GridSearchCV(Ridge(), {"alpha": [1]}, cv=QueryKFold(3))
    expected = expected.set_params(cv=list(QueryKFold(3).split(X_gathered, y_gathered, users)))
    expected.fit(X_gathered, y_gathered)
    assert ranker.estimator_.best_score_ == pytest.approx(expected.best_score_, rel=1e-9)


def test_a_search_around_a_search(rows):
    X, y, groups = rows
    inner = GridSearchCV(Ridge(), {"alpha": ALPHAS}, scoring="ndcg@10", cv=QueryKFold(2))
    outer = GridSearchCV(
        QueryRanker(inner), {"max_queries": [10, None]}, scoring="ndcg@10", cv=CV,
        error_score="raise",
    )  # fmt: skip
    outer.fit(framed(X, qid=groups), y)
    assert outer.best_estimator_.estimator_.best_params_["alpha"] in ALPHAS
    assert 0.5 < outer.best_score_ < 1


def test_the_estimator_is_left_as_it_is(rows):
    X, y, groups = rows
    model = LassoCV(cv=CV)
    ranker = QueryRanker(model).fit(X, y, groups=groups)
    assert model.cv is CV
    assert ranker.estimator_.cv.get_n_splits() == 3
    with pytest.raises(ValueError, match="n_splits"):
        QueryRanker(LassoCV(cv=QueryKFold(100))).fit(X, y, groups=groups)


MEMBERS = [("booster", RANKER), ("ridge", Ridge())]
ENSEMBLES = {
    "Voting": VotingRegressor(MEMBERS),
    "Stacking": StackingRegressor(MEMBERS, cv=CV, final_estimator=Ridge()),
    "a pipeline": make_pipeline(StandardScaler(), VotingRegressor(MEMBERS)),
}


@pytest.mark.parametrize("way", ["array", "frame and groups", "index"])
@pytest.mark.parametrize("name", ENSEMBLES)
def test_weights_reach_the_members_of_an_ensemble_beside_the_ids(name, way, rows):
    X, y, groups = rows
    weight = 1.0 + groups % 5 * 4
    given, params, _ = WAYS[way](X, groups)
    ranker = QueryRanker(ENSEMBLES[name]).fit(given, y, sample_weight=weight, **params)
    Z = StandardScaler().fit_transform(X) if name == "a pipeline" else X

    def fitted(rows):
        booster = clone(RANKER).fit(Z[rows], y[rows], groups=groups[rows],
                                    sample_weight=weight[rows])  # fmt: skip
        return booster, Ridge().fit(Z[rows], y[rows], sample_weight=weight[rows])

    every = np.arange(len(y))
    expected = np.column_stack([model.predict(Z) for model in fitted(every)])
    if name != "Stacking":
        expected = expected.mean(axis=1)
    else:
        meta = np.empty((len(y), 2))
        for train, test in CV.split(X, y, groups):
            meta[test] = np.column_stack([model.predict(Z[test]) for model in fitted(train)])
        expected = Ridge().fit(meta, y, sample_weight=weight).predict(expected)
    np.testing.assert_allclose(ranker.predict(given), expected, rtol=1e-6)


def test_bagging_takes_weights_beside_the_ids(rows):
    X, y, groups = rows
    model = QueryRanker(BaggingRegressor(RANKER, 2, random_state=0))
    plain = model.fit(X, y, groups=groups).predict(X)
    weighted = model.fit(X, y, groups=groups, sample_weight=1.0 + groups % 5 * 4).predict(X)
    assert np.abs(plain - weighted).max() > 0.01


def test_members_without_weights_are_refused(rows):
    X, y, groups = rows
    vote = VotingRegressor([("booster", RANKER), ("near", KNeighborsRegressor())])
    with pytest.raises(TypeError, match="'near' of VotingRegressor is a KNeighborsRegressor"):
        QueryRanker(vote).fit(X, y, groups=groups, sample_weight=np.ones(len(y)))


def test_a_search_over_rankers_takes_weights(rows):
    X, y, groups = rows
    weight = 1.0 + groups % 5
    search = GridSearchCV(RANKER, {"estimator__num_leaves": [3, 15]}, cv=CV, scoring="ndcg@10")
    fitted = QueryRanker(search).fit(X, y, groups=groups, sample_weight=weight)
    frame = framed(X, qid=groups).set_index("qid")
    expected = clone(search).fit(frame, y, sample_weight=weight)
    assert fitted.estimator_.best_score_ == pytest.approx(expected.best_score_, rel=1e-9)
