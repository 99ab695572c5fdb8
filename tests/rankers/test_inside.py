"""Models inside of a ranker find the query ids in the index, or are refused."""

import numpy as np
import pandas as pd
import pytest
from gathered_rows import gather
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import BaggingRegressor, StackingRegressor, VotingRegressor
from sklearn.feature_selection import RFECV, SelectFromModel
from sklearn.linear_model import LassoCV, Ridge, RidgeCV
from sklearn.model_selection import GridSearchCV, GroupKFold, PredefinedSplit, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from small_rankers import LGBM

from sklearn_rankscore import NoGroupsError, QueryKFold, QueryRanker, make_ranking, ndcg_score

RANKER = QueryRanker(clone(LGBM).set_params(n_estimators=5))
CV = QueryKFold(3)
ALPHAS = [0.1, 1e4, 1e6]
X, Y, IDS = make_ranking(n_queries=24, n_features=8, random_state=0)
ORDER = np.random.default_rng(0).permutation(len(Y))
X, Y, IDS = X[ORDER], Y[ORDER], IDS[ORDER]
FRAME = pd.DataFrame(X).add_prefix("x")
INDEXED = FRAME.set_index(pd.Index(IDS, name="qid"))
SPLITS = list(CV.split(X, Y, IDS))
WEIGHTS = 1.0 + IDS % 5

WAYS = {
    "index": lambda: (INDEXED, {}, None),
    "column": lambda: (FRAME.assign(qid=IDS), {}, None),
    "array": lambda: (X, {"groups": IDS}, None),
    "qid": lambda: (X, {"qid": IDS}, None),
    "frame and groups": lambda: (FRAME, {"groups": IDS}, None),
    "name": lambda: (FRAME.assign(session=IDS), {}, "session"),
    "two names": lambda: (FRAME.assign(user=IDS // 2, visit=IDS % 2), {}, ["user", "visit"]),
}


def mean_of_folds(model, fit):
    values = []
    for train, test in SPLITS:
        fitted = fit(clone(model), train)
        values.append(ndcg_score(Y[test], fitted.predict(X[test]), groups=IDS[test], k=10))
    return np.mean(values)


@pytest.mark.parametrize("routing", [False, True], ids=["legacy", "routing"])
@pytest.mark.parametrize("cv", [CV, GroupKFold(3)], ids=["QueryKFold", "GroupKFold"])
@pytest.mark.parametrize("way", WAYS)
def test_a_search_inside_chooses_by_whole_queries(way, cv, routing):
    if isinstance(cv, GroupKFold) and way == "two names":
        return  # the numbers of queries in the order of their first rows make other folds
    given, params, source = WAYS[way]()
    search = GridSearchCV(Ridge(), {"alpha": ALPHAS}, scoring="ndcg@10", cv=cv, error_score="raise")
    with config_context(enable_metadata_routing=routing):
        fitted = QueryRanker(search, groups=source).fit(given, Y, **params)
    codes = pd.factorize(IDS)[0]
    splits = list(cv.split(X, Y, codes))
    means = {
        alpha: np.mean(
            [
                ndcg_score(Y[b], Ridge(alpha).fit(X[a], Y[a]).predict(X[b]), groups=IDS[b], k=10)
                for a, b in splits
            ]
        )
        for alpha in ALPHAS
    }
    best = max(means, key=means.get)
    assert fitted.estimator_.best_params_ == {"alpha": best}
    assert fitted.estimator_.best_score_ == pytest.approx(means[best], rel=1e-9)
    np.testing.assert_allclose(fitted.predict(given), Ridge(best).fit(X, Y).predict(X), rtol=1e-9)


@pytest.mark.parametrize("wrap", [lambda s: s, lambda s: make_pipeline("passthrough", s)])
def test_a_search_over_rankers_inside(wrap):
    search = GridSearchCV(RANKER, {"estimator__num_leaves": [2, 15]}, scoring="ndcg@10", cv=CV)
    by_index = clone(search).fit(INDEXED, Y)
    fitted = QueryRanker(wrap(search)).fit(X, Y, groups=IDS).estimator_
    fitted = fitted[-1] if hasattr(fitted, "steps") else fitted
    np.testing.assert_allclose(
        fitted.cv_results_["mean_test_score"], by_index.cv_results_["mean_test_score"], rtol=1e-9
    )


def test_a_ranker_in_a_ranker_and_below_a_transformed_target():
    expected = clone(RANKER).fit(X, Y, groups=IDS, sample_weight=WEIGHTS).predict(X)
    for model in (RANKER, make_pipeline("passthrough", RANKER)):
        fitted = QueryRanker(model).fit(X, Y, groups=IDS, sample_weight=WEIGHTS)
        np.testing.assert_array_equal(fitted.predict(X), expected)
    plain = clone(RANKER).fit(X, Y, groups=IDS).predict(X)
    fitted = QueryRanker(TransformedTargetRegressor(RANKER)).fit(X, Y, groups=IDS)
    np.testing.assert_allclose(fitted.predict(X), plain, rtol=1e-9)


def test_ids_in_the_index_reach_ensembles_and_selections():
    alone, ridge = clone(RANKER).fit(X, Y, groups=IDS).predict(X), Ridge().fit(X, Y)
    members = [("ranker", RANKER), ("ridge", Ridge())]
    vote = QueryRanker(VotingRegressor(members)).fit(INDEXED, Y)
    np.testing.assert_allclose(vote.predict(INDEXED), (alone + ridge.predict(X)) / 2, rtol=1e-9)
    columns = [cross_val_predict(model, INDEXED, Y, cv=SPLITS) for _, model in members]
    final = Ridge().fit(np.column_stack(columns), Y)
    stack = QueryRanker(StackingRegressor(members, Ridge(), cv=CV)).fit(INDEXED, Y)
    expected = final.predict(np.column_stack([alone, ridge.predict(X)]))
    np.testing.assert_allclose(stack.predict(INDEXED), expected, rtol=1e-9)
    cv = QueryRanker(RidgeCV([1.0], scoring="ndcg@10", cv=CV)).fit(INDEXED, Y).estimator_
    by_hand = mean_of_folds(Ridge(), lambda model, rows: model.fit(X[rows], Y[rows]))
    assert cv.best_score_ == pytest.approx(by_hand, rel=1e-9)
    chosen = QueryRanker(make_pipeline(SelectFromModel(RANKER), LGBM)).fit(INDEXED, Y)
    selection = SelectFromModel(RANKER).fit(X, Y, groups=IDS)
    support = chosen.estimator_[0].get_support()
    np.testing.assert_array_equal(support, selection.get_support())
    expected = QueryRanker(LGBM).fit(X[:, support], Y, groups=IDS).predict(X[:, support])
    np.testing.assert_array_equal(chosen.predict(INDEXED), expected)


REFUSED = {
    "a vote": VotingRegressor([("a", RANKER)]),
    "a stack": StackingRegressor([("a", RANKER)], cv=CV),
    "bagging": BaggingRegressor(RANKER),
    "RFECV": RFECV(Ridge(), scoring="ndcg@10", cv=CV),
    "RidgeCV": RidgeCV(scoring="ndcg@10", cv=CV),
    "a selection": make_pipeline(SelectFromModel(RANKER), LGBM),
    "LassoCV": LassoCV(cv=CV),
}


@pytest.mark.parametrize("case", REFUSED)
def test_arrays_without_ids_inside_are_refused(case):
    with pytest.raises(NoGroupsError, match="have them in the index of X"):
        QueryRanker(REFUSED[case]).fit(X, Y, groups=IDS)


def test_metadata_routing_reaches_what_requests_groups():
    with config_context(enable_metadata_routing=True):
        selection = QueryRanker(RFECV(Ridge(), scoring="ndcg@10", cv=CV)).fit(X, Y, groups=IDS)
        by_hand = mean_of_folds(Ridge(), lambda model, rows: model.fit(X[rows], Y[rows]))
        score = selection.estimator_.cv_results_["mean_test_score"][-1]
        assert score == pytest.approx(by_hand, rel=1e-9)
        vote = QueryRanker(VotingRegressor([("a", RANKER)])).fit(X, Y, groups=IDS)
        expected = clone(RANKER).fit(X, Y, groups=IDS).predict(X)
        np.testing.assert_array_equal(vote.predict(X), expected)


def test_splits_of_the_given_rows():
    """They number the rows that fit is given, which a pointwise model keeps."""
    search = GridSearchCV(Ridge(), {"alpha": [1.0]}, cv=SPLITS, scoring="r2")
    inner = QueryRanker(search).fit(X, Y, groups=IDS).estimator_
    expected = clone(search).fit(X, Y)
    assert inner.best_score_ == pytest.approx(expected.best_score_, rel=1e-9)
    for cv in (SPLITS, PredefinedSplit(IDS % 3)):
        pipe = make_pipeline(SelectFromModel(LassoCV(cv=cv)), LGBM)
        with pytest.raises(ValueError, match="cv numbers the rows that fit is given"):
            QueryRanker(pipe).fit(X, Y, groups=IDS)
        q, X_gathered, y_gathered = gather(IDS, X, Y)
        QueryRanker(pipe).fit(X_gathered, y_gathered, groups=q)


def test_the_estimator_is_left_as_it_is():
    search = GridSearchCV(Ridge(), {"alpha": [1.0]}, cv=CV, scoring="ndcg@10")
    model = make_pipeline(StandardScaler(), search)
    before = repr(model.get_params())
    QueryRanker(model).fit(X, Y, groups=IDS)
    assert repr(model.get_params()) == before
