"""Labels in another row order than X are refused, except in a permutation test."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.ensemble import BaggingRegressor
from sklearn.inspection import permutation_importance
from sklearn.linear_model import Ridge
from sklearn.metrics import get_scorer
from sklearn.model_selection import (
    GridSearchCV,
    RandomizedSearchCV,
    cross_val_predict,
    cross_val_score,
    cross_validate,
    learning_curve,
    permutation_test_score,
    validation_curve,
)
from sklearn.pipeline import make_pipeline
from small_rankers import LGBM

from sklearn_rankscore import QueryKFold, QueryRanker, make_ranking, ndcg_score

FRAME, LABELS = make_ranking(n_queries=40, as_frame=True, random_state=0)
IDS, X = FRAME["qid"], FRAME.drop(columns="qid")
SHUFFLED = LABELS.sample(frac=1, random_state=1)  # the same row labels
INDEXED = X.set_index(pd.Index(IDS, name="qid"))
INDEXED_LABELS = LABELS.set_axis(INDEXED.index)
MOVED = INDEXED_LABELS.sample(frac=1, random_state=1)  # ids in both, in different orders
MODEL = QueryRanker(Ridge())
CV = QueryKFold(3)
FITTED = QueryRanker(Ridge()).fit(X, LABELS, groups=IDS)
BY_NDCG = {"scoring": "ndcg@10", "cv": CV}
GRID = {"estimator__alpha": [1.0]}

CALLS = {
    "fit": lambda X, y, p: MODEL.fit(X, y, **p),
    "score": lambda X, y, p: FITTED.score(X, y, **p),
    "scorer": lambda X, y, p: get_scorer("ndcg@10")(FITTED, X, y, **p),
    "eval_set": lambda X, y, p: QueryRanker(LGBM).fit(
        INDEXED, INDEXED_LABELS, eval_set=[(X, y)], **{f"eval_{k}": [v] for k, v in p.items()}
    ),
    "cross_val_score": lambda X, y, p: cross_val_score(Ridge(), X, y, **BY_NDCG, **p),
    "cross_validate": lambda X, y, p: cross_validate(MODEL, X, y, cv=CV, **p),
    "search": lambda X, y, p: GridSearchCV(MODEL, GRID, **BY_NDCG).fit(X, y, **p),
    "parallel search": lambda X, y, p: RandomizedSearchCV(
        MODEL, GRID, n_iter=1, n_jobs=2, **BY_NDCG
    ).fit(X, y, **p),
    "validation_curve": lambda X, y, p: validation_curve(
        Ridge(), X, y, param_name="alpha", param_range=[1.0], **BY_NDCG, **p
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_labels_in_another_order_are_refused(name):
    keyword = "qid" if name in ("scorer", "eval_set") else "groups"
    call, ids = CALLS[name], {keyword: IDS}
    with pytest.raises(ValueError, match=r"X and y.* hold the same row labels in different orders"):
        call(X, SHUFFLED, ids)
    with pytest.raises(ValueError, match=r"X and y.* different query ids in their index levels"):
        call(INDEXED, MOVED, {})
    call(X, SHUFFLED.loc[X.index], ids)
    call(X, SHUFFLED.to_numpy(), ids)  # the positions are right, says the user
    call(INDEXED, INDEXED_LABELS, {})


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize("model", [Ridge(), MODEL, make_pipeline(MODEL)], ids=type)
def test_a_permutation_test_shuffles_labels(model, n_jobs):
    for rows, labels, params in (
        (INDEXED, INDEXED_LABELS, {}),
        (INDEXED, INDEXED_LABELS.to_numpy(), {}),
    ):
        # labels are shuffled within groups, if these are given
        score, permuted, p_value = permutation_test_score(
            model,
            rows,
            labels,
            n_permutations=5,
            random_state=0,
            n_jobs=n_jobs,
            **BY_NDCG,
            **params,
        )
        assert np.isfinite(permuted).all()
        assert (permuted < score).all()
        assert p_value == pytest.approx(1 / 6)


def test_a_permutation_test_calls_a_function_that_calls_a_scorer():
    def score(model, rows, labels):
        return get_scorer("ndcg@10")(model, rows, labels)

    options = {"n_permutations": 3, "random_state": 0, "cv": CV}
    by_function, by_name = (
        permutation_test_score(MODEL, INDEXED, INDEXED_LABELS, scoring=scoring, **options)
        for scoring in (score, "ndcg@10")
    )
    assert by_function[0] == pytest.approx(by_name[0])
    np.testing.assert_allclose(by_function[1], by_name[1])


def test_tools_that_draw_or_slice_rows_work_with_frames():
    bagged = BaggingRegressor(Ridge(), 3, random_state=0).fit(INDEXED, INDEXED_LABELS)
    assert np.isfinite(get_scorer("ndcg")(bagged, INDEXED, INDEXED_LABELS))
    importances = permutation_importance(
        FITTED, INDEXED, INDEXED_LABELS, scoring="ndcg@10", n_repeats=2, random_state=0
    )
    assert np.isfinite(importances.importances).all()
    predicted = cross_val_predict(MODEL, INDEXED, INDEXED_LABELS, cv=CV)
    assert stats.spearmanr(predicted, LABELS)[0] > 0.3
    _, _, curve = learning_curve(MODEL, INDEXED, INDEXED_LABELS, train_sizes=[0.5, 1.0], **BY_NDCG)
    assert np.isfinite(curve).all()


def test_the_advice_gives_the_score_for_a_series():
    """Of a Series, pandas would look up the new index by label."""
    search = GridSearchCV(MODEL, GRID, **BY_NDCG).fit(X, LABELS, groups=IDS)
    with pytest.raises(ValueError, match=r"pd\.Series\(numpy\.asarray\(y\), index=pd\.Index\("):
        search.score(X, LABELS)
    labels = pd.Series(LABELS.to_numpy(), index=pd.Index(IDS, name="qid"))
    expected = ndcg_score(LABELS, search.predict(X), groups=IDS, k=10)
    assert search.score(X, labels) == pytest.approx(expected)
