"""Real rankers tuned by scoring="ndcg@10" on real data, and trees equal to native training."""

import lightgbm
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import xgboost
from gathered_rows import gather
from requires import requires
from sklearn import config_context
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import ndcg_score
from sklearn.model_selection import GridSearchCV
from threadpoolctl import threadpool_limits

from sklearn_rankscore import QueryKFold, QueryRanker

pytestmark = pytest.mark.filterwarnings(
    # scikit-learn 1.6 sets options that SciPy has since deprecated
    "ignore:scipy.optimize:DeprecationWarning"
)

catboost = requires("catboost")
LGBM = lightgbm.LGBMRanker(n_estimators=10, num_leaves=7, n_jobs=1, verbose=-1)
# XGBoost takes the zeros of a sparse matrix for missing values
XGB = xgboost.XGBRanker(n_estimators=10, max_depth=3, n_jobs=1, missing=0.0)
CATBOOST = catboost.CatBoostRanker(
    iterations=10, depth=3, thread_count=1, verbose=0, allow_writing_files=False
)
RANKERS = [LGBM, XGB, CATBOOST]
POINTWISE = [
    HistGradientBoostingRegressor(max_iter=10, max_leaf_nodes=7, early_stopping=False),
    Ridge(100.0, solver="sparse_cg", tol=1e-12),
    LogisticRegression(C=1e-3, tol=1e-2),
]
MODELS = [*RANKERS, *POINTWISE]
TAKE_SPARSE = [*RANKERS, *POINTWISE[1:]]


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Threads cost more than they save for models this small."""
    with threadpool_limits(1):
        yield


def named(model):
    return type(model).__name__


def search_over(models):
    """A search over estimators."""
    return GridSearchCV(
        QueryRanker(Ridge()),
        {"estimator": models},
        scoring="ndcg@10",
        cv=QueryKFold(5),
        n_jobs=2,
        error_score="raise",
    )


def fold_scores(search):
    results = search.cv_results_
    return np.array([results[f"split{f}_test_score"] for f in range(5)]).T


def indexed(y, qid):
    return pd.Series(y, index=pd.Index(qid, name="qid"))


@pytest.fixture(scope="module")
def by_column(lambdarank):
    """Query ids as a column of X, without metadata routing."""
    X, y, qid = lambdarank
    frame = pd.DataFrame(X, columns=[f"f{i}" for i in range(X.shape[1])])
    frame.insert(0, "qid", qid)
    return search_over(MODELS).fit(frame, y)


def test_query_ids_in_the_index_of_y(lambdarank, by_column):
    """Query ids as the index of y, without metadata routing."""
    X, y, qid = lambdarank
    search = search_over(MODELS).fit(X, indexed(y, qid))
    np.testing.assert_array_equal(fold_scores(search), fold_scores(by_column))


def test_routed_groups(lambdarank, by_column):
    """With metadata routing, one groups= for splitter, ranker and scorer."""
    X, y, qid = lambdarank
    with config_context(enable_metadata_routing=True):
        search = search_over(MODELS).fit(X, y, groups=qid)
        score = search.score(X, y, groups=qid)
    np.testing.assert_array_equal(fold_scores(search), fold_scores(by_column))
    assert score == search.score(X, indexed(y, qid))


def test_sparse_features(lambdarank, by_column):
    X, y, qid = lambdarank
    search = search_over(TAKE_SPARSE).fit(scipy.sparse.csr_matrix(X), indexed(y, qid))
    dense = dict(zip(map(named, MODELS), fold_scores(by_column), strict=True))
    expected = [dense[named(model)] for model in TAKE_SPARSE]
    np.testing.assert_allclose(fold_scores(search), expected, rtol=1e-12)


def test_search_finds_the_best(by_column):
    best = MODELS[int(np.argmax(fold_scores(by_column).mean(axis=1)))]
    assert named(by_column.best_estimator_.estimator) == named(best)


def fit_natively(model, X, y, ids, weights=None):
    """The library used directly, on rows gathered by query."""
    ids, X, y, weights = gather(ids, X, y, weights)
    _, heads, codes, sizes = np.unique(
        ids, return_index=True, return_inverse=True, return_counts=True
    )
    model = clone(model)
    if isinstance(model, lightgbm.LGBMRanker):
        return model.fit(X, y, group=sizes, sample_weight=weights)
    if isinstance(model, xgboost.XGBRanker):
        return model.fit(X, y, qid=codes, sample_weight=None if weights is None else weights[heads])
    if isinstance(model, catboost.CatBoostRanker):
        return model.fit(X, y, group_id=codes, group_weight=weights)
    return model.fit(X, y, sample_weight=weights)


def score_natively(fitted, X):
    if hasattr(fitted, "predict_proba"):
        return fitted.predict_proba(X) @ fitted.classes_
    return fitted.predict(X)


def mean_ndcg(y, scores, qid):
    """Mean of scikit-learn's ndcg_score, which averages over ties but refuses single documents."""
    values = []
    for query in np.unique(qid):
        labels, given = y[qid == query], scores[qid == query]
        one = len(labels) == 1
        values.append(float(labels[0] > 0) if one else ndcg_score([labels], [given], k=10))
    return np.mean(values)


@pytest.mark.parametrize("model", MODELS, ids=named)
def test_scores_equal_a_loop_with_native_training(model, lambdarank, by_column):
    X, y, qid = lambdarank
    expected = []
    for train, test in QueryKFold(5).split(X, y, qid):
        fitted = fit_natively(model, X[train], y[train], qid[train])
        expected.append(mean_ndcg(y[test], score_natively(fitted, X[test]), qid[test]))
    scores = fold_scores(by_column)[MODELS.index(model)]
    np.testing.assert_allclose(scores, expected, rtol=1e-9)


def dump(fitted):
    """The trees as the library writes them."""
    if isinstance(fitted, lightgbm.LGBMRanker):
        return fitted.booster_.model_to_string()
    if isinstance(fitted, xgboost.XGBRanker):
        return fitted.get_booster().get_dump(with_stats=True, dump_format="json")
    splits = [fitted._get_tree_splits(i, None) for i in range(fitted.tree_count_)]
    return splits, fitted.get_leaf_values().tolist(), fitted.get_leaf_weights().tolist()


IDS = {
    "small integers": lambda qid: qid,
    "strings": lambda qid: np.array([f"q{q:03d}" for q in qid]),
    "beyond 32 bits": lambda qid: qid.astype(np.int64) * 2**32,
}


@pytest.mark.parametrize("ids", IDS.values(), ids=IDS)
@pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("model", RANKERS, ids=named)
def test_trees_equal_native_training(model, weighted, ids, lambdarank, lambdarank_test):
    X, y, qid = lambdarank
    weights = np.random.default_rng(1).uniform(0.1, 5.0, size=qid.max() + 1)[qid]
    weights = weights if weighted else None
    native = fit_natively(model, X, y, qid, weights)
    ours = QueryRanker(model).fit(X, y, groups=ids(qid), sample_weight=weights)
    assert dump(ours.estimator_) == dump(native)
    np.testing.assert_array_equal(
        ours.predict(lambdarank_test[0]), native.predict(lambdarank_test[0])
    )


@pytest.mark.parametrize("model", RANKERS, ids=named)
def test_weights_matter(model, lambdarank):
    X, y, qid = lambdarank
    weights = np.where(qid % 2, 10.0, 0.1)
    assert dump(fit_natively(model, X, y, qid, weights)) != dump(fit_natively(model, X, y, qid))
