"""QueryRanker: what the ranker learns natively, in and out of pipelines, stopped early."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from catboost import CatBoostRanker, CatBoostRegressor, Pool
from lightgbm import LGBMRanker, LGBMRegressor, early_stopping
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import BaggingRegressor, HistGradientBoostingRegressor, VotingRegressor
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import LinearSVC
from xgboost import XGBRanker, XGBRegressor

from sklearn_rankscore import (
    NoGroupsError,
    QueryKFold,
    QueryRanker,
    QueryShuffleSplit,
    lightgbm_metric,
    make_ranking,
    make_ranking_scorer,
    ndcg_score,
)

LGBM = LGBMRanker(n_estimators=30, num_leaves=7, verbose=-1, n_jobs=1)
XGB = XGBRanker(n_estimators=30, max_depth=3, n_jobs=1)
CAT = CatBoostRanker(
    iterations=30, depth=3, verbose=0, thread_count=1, allow_writing_files=False, random_seed=0
)
RANKERS = {"lightgbm": LGBM, "xgboost": XGB, "catboost": CAT}


@pytest.fixture(scope="module", params=list(RANKERS))
def library(request):
    return request.param


@pytest.fixture(scope="module")
def data(lambdarank):
    X, y, qid = lambdarank
    chosen = qid < 100
    return X[chosen][:, :60], y[chosen], qid[chosen]


def native(library, X, y, qid, weight=None):
    """The ranker's own call on rows sorted by query."""
    order = np.argsort(qid, kind="stable")
    X, y, qid = X[order], y[order], qid[order]
    _, first, sizes = np.unique(qid, return_index=True, return_counts=True)
    ranker = RANKERS[library].__class__(**RANKERS[library].get_params())
    weight = None if weight is None else weight[order]
    if library == "lightgbm":
        return ranker.fit(X, y, group=sizes, sample_weight=weight)
    if library == "xgboost":
        weight = None if weight is None else weight[first]
        return ranker.fit(X, y, qid=qid, sample_weight=weight)
    return ranker.fit(X, y, group_id=qid, group_weight=weight)


@pytest.mark.parametrize("weighted", [False, True])
def test_learns_what_the_ranker_learns_from_sorted_rows(library, weighted, data):
    X, y, qid = data
    weight = 1.0 + qid % 3 if weighted else None
    expected = native(library, X, y, qid, weight).predict(X)
    for ids in (qid, [f"query {i:03d}" for i in qid], qid * 2**33, qid * 0.25):
        ranker = QueryRanker(RANKERS[library]).fit(X, y, groups=ids, sample_weight=weight)
        np.testing.assert_array_equal(ranker.predict(X), expected)
    if weighted:
        assert not np.array_equal(native(library, X, y, qid).predict(X), expected)


@pytest.mark.parametrize("table", ["pandas", "polars", "index of X", "index of y"])
def test_ids_travel_with_tables(library, table, data):
    X, y, qid = data
    names = [f"x{i}" for i in range(X.shape[1])]
    frame = pd.DataFrame(X, columns=names)
    plain = QueryRanker(RANKERS[library]).fit(X, y, groups=qid)
    given = {
        "pandas": (frame.assign(qid=qid), pd.Series(y)),
        "polars": (pl.DataFrame(X, schema=names).with_columns(qid=pl.Series(qid)), pl.Series(y)),
        "index of X": (frame.set_index(pd.Index(qid, name="qid")), y),
        "index of y": (X, pd.Series(y, index=pd.Index(qid, name="qid"))),
    }[table]
    ranker = QueryRanker(RANKERS[library]).fit(*given)
    np.testing.assert_array_equal(ranker.predict(given[0]), plain.predict(X))
    assert ranker.n_features_in_ == X.shape[1]
    assert ranker.n_queries_ == 100
    score = ranker.score(*given)
    assert score == pytest.approx(ndcg_score(y, plain.predict(X), groups=qid))
    if table == "pandas" and library != "catboost":  # it has no feature_names_in_
        assert list(ranker.feature_names_in_) == names


def test_tells_what_the_ranker_tells(library, data):
    X, y, qid = data
    ranker = QueryRanker(RANKERS[library]).fit(X, y, groups=qid)
    expected = native(library, X, y, qid).feature_importances_
    np.testing.assert_array_equal(ranker.feature_importances_, expected)
    assert not hasattr(ranker, "coef_")
    assert not hasattr(ranker, "n_iter_")
    piped = QueryRanker(make_pipeline(StandardScaler(), Ridge())).fit(X, y, groups=qid)
    np.testing.assert_array_equal(piped.coef_, piped.estimator_[-1].coef_)
    assert not hasattr(QueryRanker(Ridge()), "coef_")


def test_pipelines_inside_and_outside_are_the_same(library, data):
    X, y, qid = data
    inside = QueryRanker(make_pipeline(StandardScaler(), make_pipeline(RANKERS[library])))
    outside = make_pipeline(StandardScaler(), QueryRanker(RANKERS[library]))
    scaled = StandardScaler().fit_transform(X)
    expected = native(library, scaled, y, qid).predict(scaled)
    # the scaler meets the rows in another order, so the last bits may differ
    predicted = inside.fit(X, y, groups=qid).predict(X)
    assert np.corrcoef(predicted, expected)[0, 1] > 0.999
    assert ndcg_score(y, predicted, groups=qid) == pytest.approx(
        ndcg_score(y, expected, groups=qid), abs=0.01
    )
    outside.fit(X, y, queryranker__groups=qid)
    np.testing.assert_array_equal(outside.predict(X), expected)
    with config_context(enable_metadata_routing=True):
        routed = make_pipeline(StandardScaler(), QueryRanker(RANKERS[library]))
        np.testing.assert_array_equal(routed.fit(X, y, groups=qid).predict(X), expected)


def test_a_column_of_ids_passes_through_a_column_transformer(data):
    X, y, qid = data
    frame = pd.DataFrame(X).add_prefix("x").assign(qid=qid)
    scale = ColumnTransformer(
        [("scale", StandardScaler(), list(frame.columns[:-1]))],
        remainder="passthrough",
        verbose_feature_names_out=False,
    ).set_output(transform="pandas")
    piped = make_pipeline(scale, QueryRanker(LGBM)).fit(frame, y)
    assert piped.score(frame, y) > 0.7


def held_out(X, y, qid, seed, fraction=0.2):
    """Training rows and held-out rows, both sorted by query."""
    order = np.argsort(qid, kind="stable")
    X, y, qid = X[order], y[order], qid[order]
    cv = QueryShuffleSplit(1, test_size=fraction, random_state=seed, contrast_only=True)
    ((train, test),) = cv.split(X, y, qid)
    return (X[train], y[train], qid[train]), (X[test], y[test], qid[test])


def sizes_of(qid):
    return np.unique(qid, return_counts=True)[1]


def native_early_stopping(library, train, test):
    """(fitted ranker, number of rounds) by each library's own call."""
    (X, y, q), (X_test, y_test, q_test) = train, test
    if library == "lightgbm":
        ranker = LGBMRanker(**LGBM.get_params()).fit(
            X, y, group=sizes_of(q), eval_X=(X_test,), eval_y=(y_test,),
            eval_group=[sizes_of(q_test)], callbacks=[early_stopping(5, verbose=False)],
        )  # fmt: skip
        return ranker, ranker.best_iteration_
    if library == "xgboost":
        ranker = XGBRanker(**{**XGB.get_params(), "early_stopping_rounds": 5}).fit(
            X, y, qid=q, eval_set=[(X_test, y_test)], eval_qid=[q_test]
        )
        return ranker, ranker.best_iteration + 1
    pool = Pool(X_test, y_test, group_id=q_test)
    ranker = CatBoostRanker(**CAT.get_params()).fit(
        X, y, group_id=q, eval_set=pool, early_stopping_rounds=5
    )
    return ranker, ranker.tree_count_


def test_early_stopping_is_the_libraries_own(library, data):
    X, y, qid = data
    train, test = held_out(X, y, qid, seed=3)
    expected, rounds = native_early_stopping(library, train, test)
    ranker = QueryRanker(
        RANKERS[library],
        early_stopping=True,
        validation_fraction=0.2,
        n_iter_no_change=5,
        random_state=3,
    ).fit(X, y, groups=qid)
    assert ranker.n_iter_ == rounds
    np.testing.assert_array_equal(ranker.predict(X), expected.predict(X))


def test_early_stopping_in_a_pipeline_transforms_the_held_out_rows(library, data, tmp_path):
    X, y, qid = data
    options = {"early_stopping": True, "validation_fraction": 0.2, "random_state": 3}
    train, test = held_out(X, y, qid, seed=3)
    scale = StandardScaler().fit(train[0])
    expected, rounds = None, None
    for memory in (None, str(tmp_path)):
        pipe = make_pipeline(
            StandardScaler(), FunctionTransformer(), RANKERS[library], memory=memory
        )
        ranker = QueryRanker(pipe, n_iter_no_change=5, **options).fit(X, y, groups=qid)
        if expected is None:
            expected, rounds = native_early_stopping(
                library,
                (scale.transform(train[0]), *train[1:]),
                (scale.transform(test[0]), *test[1:]),
            )
        assert ranker.n_iter_ == rounds
        np.testing.assert_array_equal(ranker.predict(X), expected.predict(scale.transform(X)))


def test_early_stopping_takes_weights(library, data):
    X, y, qid = data
    ranker = QueryRanker(RANKERS[library], early_stopping=True, random_state=0)
    weighted = ranker.fit(X, y, groups=qid, sample_weight=1.0 + 9 * (qid % 2)).predict(X)
    assert not np.array_equal(weighted, ranker.fit(X, y, groups=qid).predict(X))


@pytest.mark.parametrize(
    "model",
    [
        LGBMRegressor(n_estimators=50, verbose=-1, n_jobs=1),
        XGBRegressor(n_estimators=50, n_jobs=1),
        CatBoostRegressor(iterations=50, verbose=0, allow_writing_files=False),
    ],
    ids=lambda model: type(model).__name__,
)
def test_pointwise_boosters_stop_early_on_held_out_queries_too(model, data):
    X, y, qid = data
    ranker = QueryRanker(model, early_stopping=True, n_iter_no_change=3, random_state=0)
    ranker.fit(X, y, groups=qid, sample_weight=1.0 + qid % 2)
    assert 1 <= ranker.n_iter_ < 50


def test_early_stopping_is_forgotten_by_the_next_fit(data):
    X, y, qid = data
    ranker = QueryRanker(LGBM, early_stopping=True).fit(X, y, groups=qid)
    assert ranker.n_iter_ <= 30
    assert not hasattr(ranker.set_params(early_stopping=False).fit(X, y, groups=qid), "n_iter_")


def test_grid_search_holds_out_other_queries_in_each_fold(lambdarank):
    X, y, qid = lambdarank
    booster = LGBMRanker(n_estimators=100, num_leaves=7, verbose=-1, n_jobs=1)
    ranker = QueryRanker(booster, early_stopping=True, random_state=0)
    frame = pd.DataFrame(X).add_prefix("x").assign(qid=qid)
    search = GridSearchCV(
        ranker,
        {"estimator__learning_rate": [0.05, 0.2]},
        scoring={"ndcg@10": "ndcg@10", "rounds": lambda ranker, X, y: ranker.n_iter_},
        refit="ndcg@10",
        cv=QueryKFold(3),
        error_score="raise",
    ).fit(frame, y)
    folds = cross_validate(
        search.best_estimator_, frame, y, cv=QueryKFold(3), scoring="ndcg@10", return_estimator=True
    )
    rounds = [fitted.n_iter_ for fitted in folds["estimator"]]
    assert len(set(rounds)) > 1
    reported = [search.cv_results_[f"split{f}_test_rounds"][search.best_index_] for f in range(3)]
    assert reported == rounds
    assert np.mean(folds["test_score"]) == pytest.approx(search.best_score_, abs=1e-12)
    assert 1 <= search.best_estimator_.n_iter_ <= 100


def test_early_stopping_by_a_metric_of_ours(data):
    X, y, qid = data
    booster = LGBMRanker(**LGBM.get_params(), metric="None")
    ranker = QueryRanker(booster, early_stopping=True, n_iter_no_change=5, random_state=0)
    ranker.fit(X, y, groups=qid, eval_metric=lightgbm_metric("mrr@10"))
    found = ranker.estimator_.evals_result_["valid_0"]
    assert list(found) == ["mrr@10"]
    assert ranker.n_iter_ == 1 + int(np.argmax(found["mrr@10"]))


def test_max_queries_keeps_whole_queries_and_nests(data):
    X, y, qid = data

    class Seen(Ridge):
        def fit(self, X, y, groups, sample_weight=None):
            self.rows_ = {tuple(row) for row in X}
            return super().fit(X, y, sample_weight)

    before = set()
    for most in (5, 20, 80, 100, 1000):
        ranker = QueryRanker(Seen(), max_queries=most, random_state=0).fit(X, y, groups=qid)
        seen = np.array([tuple(row) in ranker.estimator_.rows_ for row in X])
        assert ranker.n_queries_ == len(set(qid[seen])) == min(most, 100)
        assert np.isin(qid, qid[seen]).sum() == seen.sum()
        assert before <= ranker.estimator_.rows_
        before = ranker.estimator_.rows_


def test_fit_parameters_as_long_as_the_rows_are_sorted_along(data):
    X, y, qid = data
    order = np.argsort(qid, kind="stable")
    start = np.linspace(-3, 3, len(y))
    expected = LGBMRanker(**LGBM.get_params()).fit(
        X[order], y[order], group=sizes_of(qid), init_score=start[order]
    )
    ranker = QueryRanker(LGBM).fit(X, y, groups=qid, init_score=start)
    np.testing.assert_array_equal(ranker.predict(X), expected.predict(X))


def test_a_classifier_ranks_by_its_expected_grade(data):
    X, y, qid = data
    model = LogisticRegression(max_iter=50, C=0.01, tol=1.0)
    ranker = QueryRanker(model).fit(X, y, groups=qid)
    order = np.argsort(qid, kind="stable")
    fitted = model.fit(X[order], y[order])
    np.testing.assert_allclose(ranker.predict(X), fitted.predict_proba(X) @ fitted.classes_)


@pytest.mark.parametrize("model", [RidgeClassifier(), LinearSVC(), LogisticRegression()], ids=repr)
@pytest.mark.parametrize("words", [False, True])
def test_a_classifier_of_two_classes_ranks_as_on_its_own(model, words):
    X, y = make_ranking(random_state=0, as_frame=True)
    relevant = np.where(y > 0, "yes", "no") if words else (y > 0).astype(int)
    features = X.drop(columns="qid")
    alone = model.fit(features, relevant).decision_function(features)
    ranker = QueryRanker(model).fit(X, relevant)
    found = make_ranking_scorer("ndcg@5")(ranker, X, pd.Series(relevant, index=X.index))
    assert found == pytest.approx(ndcg_score(y > 0, alone, groups=X["qid"], k=5))


def test_several_classes_in_words_are_no_grades():
    X, y = make_ranking(random_state=0, as_frame=True)
    words = np.array(["bad", "fair", "good", "great", "best"])[y]
    for model in (LogisticRegression(max_iter=20, tol=1), RidgeClassifier()):
        with pytest.raises(ValueError, match=r"these are words .*Code them as grades"):
            QueryRanker(model).fit(X, words).predict(X)


@pytest.mark.parametrize(
    "model",
    [
        BaggingRegressor(Ridge(), 3, random_state=0),
        VotingRegressor([("a", Ridge()), ("b", Ridge(100))]),
        GridSearchCV(Ridge(), {"alpha": [1, 10]}),
        CalibratedClassifierCV(LogisticRegression(max_iter=20, tol=1)),
    ],
    ids=lambda model: type(model).__name__,
)  # fmt: skip
def test_estimators_of_scikit_learn_are_pointwise(model):
    X, y, groups = make_ranking(random_state=0)
    y = np.minimum(y, 1)
    together = np.argsort(groups, kind="stable")
    ranker = QueryRanker(model).fit(X, y, groups=groups)
    alone = clone(model).fit(X[together], y[together])
    likely = getattr(alone, "predict_proba", None)
    expected = alone.predict(X) if likely is None else likely(X)[:, 1]
    np.testing.assert_allclose(ranker.predict(X), expected)


def test_pairs_of_catboost_move_with_their_rows():
    X, groups, y = (
        np.array([[1.0], [0], [0], [1], [0], [0]]),
        [1, 0, 1, 0, 1, 0],
        [1, 0, 0, 1, 0, 0],
    )
    model = CatBoostRanker(
        iterations=5, depth=1, learning_rate=0.5, loss_function="PairLogit", verbose=0,
        allow_writing_files=False, thread_count=1,
    )  # fmt: skip
    order = np.argsort(groups, kind="stable")
    pairs = np.array([[0, 2], [3, 5], [0, 4]])
    moved = np.argsort(order)[pairs]
    expected = clone(model).fit(
        X[order], np.array(y)[order], group_id=np.array(groups)[order], pairs=moved
    )
    found = QueryRanker(model).fit(X, y, groups=groups, pairs=pairs)
    np.testing.assert_array_equal(found.predict(X), expected.predict(X))
    assert found.predict(X)[0] > found.predict(X)[1]
    last = QueryRanker(make_pipeline(StandardScaler(), model))
    last.fit(X, y, groups=groups, catboostranker__pairs=pairs)
    np.testing.assert_array_equal(last.predict(X), expected.predict(X))
    # pairs of queries that are left out go with them, and so do their weights
    few = QueryRanker(model, max_queries=1, random_state=0)
    few.fit(X, y, groups=groups, pairs=pairs, pairs_weight=[1.0, 2.0, 3.0])
    assert few.predict(X)[0] > few.predict(X)[1]


def test_sparse_rows_of_any_format():
    X, y, groups = make_ranking(random_state=0)
    order = np.random.default_rng(0).permutation(len(y))
    X, y, groups = X[order], y[order], groups[order]
    expected = QueryRanker(Ridge()).fit(sparse.csr_matrix(X), y, groups=groups).predict(X)
    found = QueryRanker(Ridge()).fit(sparse.coo_matrix(X), y, groups=groups).predict(X)
    np.testing.assert_allclose(found, expected)


def test_labels_are_required():
    X, _, groups = make_ranking(random_state=0)
    with pytest.raises(ValueError, match="requires y to be passed, but the target y is None"):
        QueryRanker(Ridge()).fit(X, None, groups=groups)


def test_without_any_ids_a_pointwise_model_has_one_query():
    X, y, groups = make_ranking(20, random_state=0)
    ranker = QueryRanker(Ridge()).fit(X, y)
    assert ranker.n_queries_ is None
    assert ranker.score(X, y) == pytest.approx(ndcg_score(y, ranker.predict(X)))
    assert ranker.score(X, y, groups=groups) == pytest.approx(
        ndcg_score(y, ranker.predict(X), groups=groups)
    )
    with pytest.raises(NoGroupsError, match="No query ids"):
        QueryRanker(Ridge()).fit(X, y, groups=groups).score(X, y)


@pytest.mark.parametrize(
    ("ranker", "weight", "message"),
    [
        (QueryRanker(HistGradientBoostingRegressor(), early_stopping=True), None, "of LightGBM"),
        (QueryRanker(LGBM, early_stopping=True, validation_fraction=1.5), None, "between 0 and 1"),
        (QueryRanker(LGBM, early_stopping=True, n_iter_no_change=0), None, "n_iter_no"),
        (QueryRanker(LGBM, max_queries=0), None, "max_queries must be an integer of at least 1"),
        (QueryRanker(XGB), "by row", "one weight per query"),
        (QueryRanker(CAT), "by row", "one weight per query"),
        (QueryRanker(GridSearchCV(LGBM, {})), None, "takes any keyword"),
        (QueryRanker(LGBM, early_stopping=True, validation_fraction=True), None, "got True"),
        (QueryRanker(LGBM, early_stopping=True, validation_fraction="0.1"), None, "got '0.1'"),
    ],
)  # fmt: skip
def test_bad_input_gets_a_clear_error(ranker, weight, message, data):
    X, y, qid = data
    weight = np.arange(1.0, len(y) + 1) if weight else None
    with pytest.raises(ValueError, match=message):
        ranker.fit(X, y, groups=qid, sample_weight=weight)


@pytest.mark.parametrize("groups", [lambda X: X["qid"], [1, 2], 3])
def test_ids_are_bound_by_name(groups, data):
    """A function would leave the ids among the features."""
    X, y, _ = data
    with pytest.raises(TypeError, match="must be the name of a column or index level; got"):
        QueryRanker(Ridge(), groups=groups).fit(X, y)


def test_rankers_without_ids_say_how_to_give_them(library, data):
    X, y, _ = data
    for ranker in (QueryRanker(RANKERS[library]), QueryRanker(Ridge(), max_queries=3)):
        with pytest.raises(NoGroupsError, match="No query ids reached"):
            ranker.fit(X, y)
