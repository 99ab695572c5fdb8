"""Sources of query ids: which reach the scorer of each tool, and which take precedence.

The metric `whole_queries` is 1 if the ids have arrived, aligned with the rows of a fold.
"""

import numpy as np
import oracle
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
import sklearn
from id_alignment import FOLDS, QID, X, Y, whole_queries
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.ensemble import BaggingRegressor, HistGradientBoostingRegressor
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_selection import RFECV, SequentialFeatureSelector
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression, Ridge, RidgeCV
from sklearn.model_selection import (
    GridSearchCV,
    TunedThresholdClassifierCV,
    cross_val_score,
    cross_validate,
    learning_curve,
    permutation_test_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.utils import _safe_indexing

from sklearn_rankscore import NoGroupsError, QueryKFold, QueryRanker, make_ranking_scorer

VERSION = tuple(int(part) for part in sklearn.__version__.split(".")[:2])

pytestmark = pytest.mark.filterwarnings(
    # scikit-learn 1.6 sets options that SciPy has since deprecated
    "ignore:scipy.optimize:DeprecationWarning"
)


INDEX = pd.Index(QID, name="qid")


def frame(**columns):
    return pd.DataFrame(X, columns=["a", "b", "c"]).assign(**columns)


# name: (X, y, groups of make_ranking_scorer)
SOURCES = {
    "X column": (frame(qid=QID), Y, None),
    "X column, polars": (pl.from_pandas(frame(qid=QID)), Y, None),
    "X level": (frame().set_index(INDEX), Y, None),
    "X level of two": (frame(day=1, qid=QID).set_index(["day", "qid"]), Y, None),
    "named column": (frame(session=QID), Y, "session"),
    "named level": (frame().set_index(INDEX.rename("session")), Y, "session"),
    "y level": (X, pd.Series(Y, INDEX), None),
    "y level, sparse X": (scipy.sparse.csr_matrix(X), pd.Series(Y, INDEX), None),
    "named y level": (X, pd.Series(Y, INDEX.rename("session")), "session"),
}
ON_Y = {name for name in SOURCES if "y level" in name}
ALL = set(SOURCES)


def aligned(id_source):
    return make_ranking_scorer(whole_queries, groups=id_source)


def split(id_source, n_jobs=None):
    return {"scoring": aligned(id_source), "cv": FOLDS, "n_jobs": n_jobs}


def search(id_source, **kwargs):
    grid = {"alpha": [1, 10]}
    return GridSearchCV(Ridge(), grid, **split(id_source), error_score="raise", **kwargs)


def tool_cross_val_score(X, y, id_source):
    return cross_val_score(Ridge(), X, y, **split(id_source), error_score="raise")


def tool_cross_validate(X, y, id_source):
    several = {"ours": aligned(id_source), "theirs": "r2"}
    scores = cross_validate(Ridge(), X, y, scoring=several, cv=FOLDS, error_score="raise")
    return scores["test_ours"]


def tool_grid_search(X, y, id_source):
    fitted = search(id_source).fit(X, y)
    return [*fitted.cv_results_["mean_test_score"], fitted.score(X, y)]


def tool_pipeline(X, y, id_source):
    model = make_pipeline(MaxAbsScaler(), Ridge())
    return cross_val_score(model, X, y, **split(id_source), error_score="raise")


def tool_learning_curve(X, y, id_source):
    return learning_curve(Ridge(), X, y, **split(id_source), error_score="raise")[2]


def tool_permutation_test(X, y, id_source):
    # the scores of the permutations mean nothing here
    return permutation_test_score(Ridge(), X, y, **split(id_source), n_permutations=3)[0]


def tool_permutation_importance(X, y, id_source):
    fitted = Ridge().fit(X, y)
    importance = permutation_importance(fitted, X, y, scoring=aligned(id_source), n_repeats=1)
    return 1 - importance.importances[:3]  # shuffling a feature changes no query; a column qid does


def tool_sequential_feature_selector(X, y, id_source):
    selector = SequentialFeatureSelector(Ridge(), n_features_to_select=1, **split(id_source))
    return selector.fit(X, y).get_support().sum()


def tool_ridge_cv(X, y, id_source):
    return RidgeCV(alphas=[1, 10], scoring=aligned(id_source), cv=FOLDS).fit(X, y).best_score_


def tool_ridge_cv_leave_one_out(X, y, id_source):
    return RidgeCV(alphas=[1, 10], scoring=aligned(id_source)).fit(X, y).best_score_


def tool_rfecv(X, y, id_source):
    return RFECV(Ridge(), **split(id_source)).fit(X, y).cv_results_["mean_test_score"]


def tool_bagged_search(X, y, id_source):
    inner = GridSearchCV(Ridge(), {"alpha": [1]}, scoring=aligned(id_source), cv=2)
    return BaggingRegressor(inner.set_params(error_score="raise"), 2).fit(X, y).score(X, y)


def tool_hist_gradient_boosting(X, y, id_source):
    model = HistGradientBoostingRegressor(scoring=aligned(id_source), early_stopping=True)
    return model.fit(X, y).train_score_


# the sources of ids that reach the scorer of each tool, without metadata routing
ARRIVES = {
    tool_cross_val_score: ALL,
    tool_cross_validate: ALL,
    tool_grid_search: ALL,
    tool_pipeline: ALL,
    tool_learning_curve: ALL,
    # a permutation moves the index of y along with y
    tool_permutation_test: ALL,
    # it converts X to an array unless X is a pandas frame, and refuses sparse matrices
    tool_permutation_importance: ALL - {"X column, polars", "y level, sparse X"},
    tool_ridge_cv: ALL,
    tool_sequential_feature_selector: ON_Y,
    tool_rfecv: set(),
    tool_ridge_cv_leave_one_out: set(),
    tool_bagged_search: set(),
    tool_hist_gradient_boosting: set(),
}

LOST = {
    "no ids": "No query ids reached the metric",
    "column is gone": "names no column or index level",
    "rows have no index": "has no attribute 'index'",
    "polars became an array": "valid feature names",
    "sparse is not taken": "array-like|Sparse data was passed",
}


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("tool", ARRIVES, ids=lambda tool: tool.__name__)
def test_ids_arrive_aligned_or_are_missed(tool, source):
    if source in ARRIVES[tool]:
        np.testing.assert_allclose(tool(*SOURCES[source]), 1.0)
    else:
        # a tool that turns errors of a scorer into nan warns with their message
        with pytest.raises(
            (ValueError, TypeError, AttributeError, UserWarning), match="|".join(LOST.values())
        ):
            tool(*SOURCES[source])


@pytest.mark.parametrize("source", SOURCES)
def test_value_equals_a_loop_over_folds(source):
    rows, labels, id_source = SOURCES[source]
    scorer = make_ranking_scorer("ndcg@3", groups=id_source)
    scores = cross_validate(
        Ridge(), rows, labels, scoring=scorer, cv=FOLDS, return_estimator=True, n_jobs=2
    )
    for (_, test), model, value in zip(
        FOLDS, scores["estimator"], scores["test_score"], strict=True
    ):
        predicted = model.predict(_safe_indexing(rows, test)).tolist()
        expected = oracle.score("ndcg", Y[test].tolist(), predicted, QID[test].tolist(), k=3)
        assert value == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    "source", [name for name, (_, _, id_source) in SOURCES.items() if id_source is None]
)
def test_splitters_read_the_same_sources(source):
    rows, labels, _ = SOURCES[source]
    values = cross_val_score(Ridge(), rows, labels, scoring=aligned(None), cv=QueryKFold(3))
    np.testing.assert_allclose(values, 1.0)


class Constant(RegressorMixin, BaseEstimator):
    """Predicts the scores that it is given."""

    def __init__(self, scores):
        self.scores = scores

    def predict(self, X):
        return self.scores


def mean_size(block):
    return block.sizes.astype(float)


def ids(n_queries, n_rows=24):
    return np.arange(n_rows) % n_queries


def test_precedence_of_sources():
    """Each source gives another number of queries; the first in order is removed each time."""
    plain, model, n = make_ranking_scorer(mean_size), Constant(np.zeros(24)), 24
    by_session = make_ranking_scorer(mean_size, groups="session")
    full = pd.DataFrame({"x": np.zeros(n), "session": ids(2), "qid": ids(3)})
    level = full[["x"]].set_index(pd.Index(ids(6), name="qid"))
    y = pd.Series(np.zeros(n), pd.Index(ids(6), name="qid"))
    zeros = np.zeros(n)
    routed = {"groups": ids(8)}

    def queries(scorer, rows, labels, **ids):
        return n / scorer(model, rows, labels, **ids)

    assert queries(by_session, full, y, qid=ids(12), **routed) == 12
    assert queries(by_session, full, y, **routed) == 2
    assert queries(plain, full, y, **routed) == 3
    assert queries(plain, level, zeros, **routed) == 6
    assert queries(plain, full[["x"]], y, **routed) == 6
    assert queries(plain, full[["x"]], y.to_numpy(), **routed) == 8
    with pytest.raises(NoGroupsError):
        queries(plain, full[["x"]], y.to_numpy())


def test_ids_that_contradict_each_other_are_refused():
    """As pandas refuses to group by a name that is both a column and a level."""
    model, plain = Constant(np.zeros(24)), make_ranking_scorer("ndcg")
    both = pd.DataFrame({"x": 0.0, "qid": ids(3)}, pd.Index(ids(4), name="qid"))
    y = pd.Series(np.zeros(24), pd.Index(ids(3), name="qid"))
    message = "'qid' is both a column and an index level, and they differ"
    for call in (
        lambda: plain(model, both, np.zeros(24)),
        lambda: next(QueryKFold(2).split(both)),
        lambda: QueryRanker(Ridge()).fit(both, np.zeros(24)),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    same = both.set_axis(pd.Index(ids(3), name="qid"))
    assert plain(model, same, y) == plain(model, both.reset_index(drop=True), y)
    assert QueryRanker(Ridge()).fit(same, y).n_queries_ == 3
    with pytest.raises(ValueError, match="X and y have different query ids in their index levels"):
        plain(model, both[["x"]], y)


def test_rows_of_two_dimensional_scores_are_queries():
    labels, scores = np.array([[1, 0, 0], [0, 1, 0]]), np.array([[3.0, 2, 1], [3, 2, 1]])
    assert make_ranking_scorer("mrr")(Constant(scores), None, labels) == pytest.approx(0.75)


def test_a_missing_column_is_an_error():
    scorer = make_ranking_scorer("ndcg", groups="session")
    with pytest.raises(NoGroupsError, match="groups='session' names no column or index level"):
        scorer(Constant(np.zeros(len(Y))), frame(), Y, groups=QID)


def test_groups_none_makes_each_fold_one_query():
    name = "precision@7(groups=none)"
    scores = cross_validate(Ridge(), X, Y % 10, scoring=name, cv=FOLDS, return_estimator=True)
    for (_, test), model, value in zip(
        FOLDS, scores["estimator"], scores["test_score"], strict=True
    ):
        top = np.argsort(-model.predict(X[test]))[:7]
        assert value == pytest.approx((Y[test][top] % 10 > 0).mean())
    by_option = make_ranking_scorer("precision@7", groups="none")
    np.testing.assert_array_equal(
        cross_val_score(Ridge(), X, Y % 10, scoring=by_option, cv=FOLDS), scores["test_score"]
    )


@pytest.mark.parametrize("name", ["ndcg@3(average=none)", "ndcg@3(groups=none,average=none)"])
def test_a_scorer_with_average_none_is_refused(name):
    with pytest.raises(ValueError, match="average=None gives one per query"):
        make_ranking_scorer(name)(Ridge().fit(X, Y), X, Y)


@pytest.mark.parametrize("source", ["y level", "y level, sparse X"])
def test_threshold_tuning_reads_the_index_of_y(source):
    rows, labels, _ = SOURCES[source]
    model = TunedThresholdClassifierCV(LogisticRegression(), scoring="precision@3", cv=FOLDS)
    assert model.fit(rows, (labels % 10 > 2).astype(int)).best_score_ > 0


@pytest.mark.parametrize("source", ["X column", "X level"])
def test_threshold_tuning_cannot_see_x(source):
    rows, labels, id_source = SOURCES[source]
    scorer = make_ranking_scorer("precision@3", groups=id_source)
    model = TunedThresholdClassifierCV(LogisticRegression(), scoring=scorer, cv=FOLDS)
    with pytest.raises(NoGroupsError, match="No query ids reached"):
        model.fit(rows, (labels % 10 > 2).astype(int))


def test_threshold_tuning_refuses_string_labels():
    """Nothing tells which of two strings is the relevant one."""
    words = pd.Series(np.where(Y > 0, "yes", "no"), index=pd.Index(QID, name="qid"))
    tuned = TunedThresholdClassifierCV(LogisticRegression(), scoring="f1@5", cv=QueryKFold(2))
    with pytest.raises(
        ValueError, match=r"y_true holds strings, such as .* Encode them as numbers"
    ):
        tuned.fit(X, words)


@pytest.mark.parametrize("error_score", ["raise", np.nan])
def test_the_error_names_the_fix_before_the_first_fit(error_score):
    with pytest.raises(NoGroupsError, match=r"pass groups=ids and cv=QueryKFold\(5\)"):
        cross_val_score(Ridge(), X, Y, scoring="ndcg@3", cv=FOLDS, error_score=error_score)
