"""What a fitted QueryRanker offers: ranks, scores, attributes, and a place in other estimators."""

import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from native_fits import fit, make
from ranking_rows import IDS, ROWS, X, Y
from scipy.stats import rankdata
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import get_scorer, roc_auc_score
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.fixes import parse_version

from sklearn_rankscore import PartialQueryWarning, QueryKFold, QueryRanker, ndcg_score

METHODS = {"average": "average", "optimistic": "min", "pessimistic": "max", "stable": "ordinal"}
CV = QueryKFold(3)


@parametrize_with_checks([QueryRanker(Ridge()), QueryRanker(LogisticRegression())])
def test_scikit_learns_checks(estimator, check):
    check(estimator)


class AsGiven(Ridge):
    """Scores are the first feature."""

    def predict(self, X):
        return np.asarray(X)[:, 0]


@pytest.mark.parametrize("ties", METHODS)
def test_ranks_equal_those_of_scipy(ties):
    random = np.random.default_rng(0)
    ids = np.array(["b", "a", "c", "d"])[random.integers(0, 4, 200)]
    ids[7] = "e"  # a query of one document
    tied = np.column_stack([random.integers(0, 8, 200) / 2.0, random.normal(size=200)])
    ranker = QueryRanker(AsGiven()).fit(tied, np.zeros(200), groups=ids)
    ranks = ranker.rank(tied, groups=ids, ties=ties)
    for rows in (ids == query for query in np.unique(ids)):
        np.testing.assert_array_equal(ranks[rows], rankdata(-tied[rows, 0], method=METHODS[ties]))
    assert ranks.dtype.kind == ("f" if ties == "average" else "i")
    first = ranker.rank(tied, 5, qid=ids, ties=ties)
    np.testing.assert_array_equal(first, np.where(ranks <= 5, ranks, np.nan))
    reversed_rows = ranker.rank(tied[::-1], groups=ids[::-1], ties="reversed")[::-1]
    np.testing.assert_array_equal(reversed_rows, ranker.rank(tied, groups=ids))
    # grades that LinearSVC predicts may be unsigned integers, which have no negative
    whole = (tied * [2, 0]).astype("u1")
    np.testing.assert_array_equal(ranker.rank(whole, groups=ids, ties=ties), ranks)


def test_a_model_without_ids_has_one_query():
    plain, scores = QueryRanker(Ridge()).fit(X, Y), Ridge().fit(X, Y).predict(X)
    assert plain.n_queries_ is None
    assert plain.score(X, Y) == pytest.approx(ndcg_score(Y, scores))
    assert plain.score(X, Y, groups=IDS) == pytest.approx(ndcg_score(Y, scores, groups=IDS))
    assert plain.score(X, Y, qid=IDS) == plain.score(X, Y, groups=IDS)
    np.testing.assert_array_equal(plain.rank(X), rankdata(-scores, method="ordinal"))
    with pytest.raises(AttributeError, match="no attribute 'decision_function'"):
        _ = plain.decision_function
    weights = 1.0 + IDS % 3
    weighted = ndcg_score(Y, scores, groups=IDS, sample_weight=weights)
    assert plain.score(X, Y, IDS, sample_weight=weights) == pytest.approx(weighted)


# --- attributes


def test_attributes_are_those_of_the_fitted_model(ranker):
    native, regressor = fit(make(ranker), *ROWS), make(ranker.replace("Ranker", "Regressor"))
    # of CatBoost, the default for a ranking loss needs the training data
    of_catboost = {"type": "PredictionValuesChange"}
    expected = (
        native.get_feature_importance(**of_catboost) if ranker[0] == "C"
        else native.feature_importances_
    )  # fmt: skip
    of_regressor = clone(regressor).fit(X, Y).feature_importances_
    for model, importances in (
        (make(ranker), expected),
        (make_pipeline("passthrough", make(ranker)), expected),
        (regressor, of_regressor),
    ):
        fitted = QueryRanker(model).fit(*ROWS)
        np.testing.assert_array_equal(fitted.feature_importances_, importances)
        assert not hasattr(fitted, "coef_")
        assert not hasattr(fitted, "n_iter_")
    assert hasattr(QueryRanker(make(ranker)).fit(*ROWS), "classes_") == hasattr(native, "classes_")
    for name in ("feature_importances_", "coef_", "classes_", "predict_proba"):
        assert not hasattr(QueryRanker(make(ranker)), name)
    piped = QueryRanker(make_pipeline(StandardScaler(), Ridge())).fit(*ROWS)
    np.testing.assert_array_equal(piped.coef_, piped.estimator_[-1].coef_)
    assert not hasattr(piped, "feature_importances_")


def test_probabilities_and_thresholds():
    model = LogisticRegression(max_iter=1000)
    for labels in (Y, (Y > 1).astype(int)):
        fitted, alone = QueryRanker(model).fit(X, labels, IDS), clone(model).fit(X, labels)
        np.testing.assert_allclose(fitted.predict_proba(X), alone.predict_proba(X))
        np.testing.assert_array_equal(fitted.classes_, alone.classes_)
        # of several classes scikit-learn expects one score each
        assert hasattr(fitted, "decision_function") == (labels is not Y)
    for estimator in (Ridge(), model, make("LGBMRanker", 5)):
        fitted = QueryRanker(estimator).fit(X, labels, IDS)
        np.testing.assert_array_equal(fitted.decision_function(X), fitted.predict(X))
        expected = roc_auc_score(labels, fitted.predict(X))
        assert get_scorer("roc_auc")(fitted, X, labels) == expected
        if parse_version(sklearn.__version__) >= parse_version("1.9"):
            # before, scikit-learn takes a pipeline with this method for a classifier or refuses it
            assert get_scorer("roc_auc")(make_pipeline(fitted), X, labels) == expected
        assert is_regressor(QueryRanker(estimator)) == (estimator is not model)
    for estimator in (QueryRanker(Ridge()), QueryRanker(Ridge()).fit(*ROWS)):
        assert not hasattr(estimator, "predict_proba")
    assert not is_classifier(QueryRanker(model))


@pytest.mark.skipif(sklearn.__version__.startswith("1.6."), reason="it calibrates classifiers only")
def test_calibrated_probabilities():
    model, labels = LogisticRegression(max_iter=1000), (Y > 1).astype(int)
    calibrated = CalibratedClassifierCV(QueryRanker(model), cv=QueryKFold(3))
    rows = pd.DataFrame(X, pd.Index(IDS, name="qid"))
    plain = CalibratedClassifierCV(model, cv=[*QueryKFold(3).split(rows, labels)]).fit(X, labels)
    np.testing.assert_allclose(
        calibrated.fit(rows, labels).predict_proba(rows), plain.predict_proba(X)
    )


# --- parts of queries

EVERY, FIRST, LAST, HALF = IDS >= 0, IDS < 20, IDS >= 25, np.arange(len(Y)) % 2 == 0
# rows that are trained on, rows that are scored, and the numbers of the queries
OTHERS = {
    "the same rows": (FIRST, FIRST, IDS),
    "other queries": (FIRST, ~FIRST, IDS),
    "half of the queries are new": (FIRST, EVERY, IDS),
    # those of a test set of its own, numbered from 0 or 1 like those of the training set
    "numbered from 0": (FIRST, LAST, np.where(FIRST, IDS, IDS - 25)),
    "numbered from 1": (FIRST, LAST, np.where(FIRST, IDS + 1, IDS - 24)),
}
PARTS = {
    "the other half of the rows": (HALF, ~HALF, IDS),
    "more rows of the queries": (HALF, EVERY, IDS),
    "as many queries": (FIRST, ~FIRST, np.where(FIRST, IDS, IDS - 20)),
    "numbers that do not start at 0 or 1": (FIRST, LAST, np.where(FIRST, IDS, IDS - 25) + 5),
}


@pytest.mark.parametrize("case", [*PARTS, *OTHERS])
def test_parts_of_trained_queries_warn(case):
    trained, scored, ids = (PARTS | OTHERS)[case]
    fitted = QueryRanker(Ridge()).fit(X[trained], Y[trained], groups=ids[trained])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fitted.score(X[scored], Y[scored], groups=ids[scored])
    told = [str(w.message) for w in caught if w.category is PartialQueryWarning]
    assert len(told) == (case in PARTS)
    assert all("query_train_test_split" in message for message in told)


def test_training_rows_and_folds_do_not_warn():
    QueryRanker(Ridge(), max_queries=10, random_state=0).fit(*ROWS).score(*ROWS)
    QueryRanker(Ridge()).fit(X, Y).score(*ROWS)
    cross_val_score(QueryRanker(Ridge()), X, Y, groups=IDS, cv=CV)
