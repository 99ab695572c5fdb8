"""Labels that a metric refuses are an error before the fit for their fold, not nan."""

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import (
    cross_val_score,
)

from sklearn_rankscore import (
    NoGroupsError,
    QueryKFold,
    QueryRanker,
    make_ranking,
    make_ranking_scorer,
    make_weighted_scorer,
)

X, GRADES, IDS = make_ranking(n_queries=12, n_features=3, random_state=0)
NEGATIVE = GRADES - 1
SCORINGS = {
    "name": "ndcg@5",
    "scorer": make_ranking_scorer("ndcg", k=5, like="lightgbm"),
    "several": {"r2": "r2", "ndcg": "ndcg"},
    "sum": make_weighted_scorer({"ndcg@5": 0.5, "recall@5": 0.5}),
}


class NeverFitted(Ridge):
    def fit(self, X, y, sample_weight=None):
        raise AssertionError("fitted")


def test_labels_that_suit_the_metric():
    cv = QueryKFold(3)
    scores = cross_val_score(Ridge(), X, NEGATIVE, groups=IDS, scoring="recall@5", cv=cv)
    assert np.isfinite(scores).all()
    frame = pd.DataFrame(X).assign(orders=GRADES)
    scorer = make_ranking_scorer("ndcg@5", target="orders")
    model = QueryRanker(Ridge(), drop_columns=["orders"])
    frame.columns = frame.columns.astype(str)
    scores = cross_val_score(model, frame, NEGATIVE, groups=IDS, scoring=scorer, cv=cv)
    assert np.isfinite(scores).all()


def test_a_target_that_is_routed():
    params = {"groups": IDS, "target": GRADES}
    with config_context(enable_metadata_routing=True):
        scorer = make_ranking_scorer("ndcg@5").set_score_request(groups=True, target=True)
        scores = cross_val_score(
            Ridge(), X, NEGATIVE, params=params, scoring=scorer, cv=QueryKFold(3)
        )
    # a shift of the labels does not change the order of the predictions
    expected = cross_val_score(Ridge(), X, GRADES, groups=IDS, scoring="ndcg@5", cv=QueryKFold(3))
    np.testing.assert_allclose(scores, expected)


def test_labels_of_nan_are_left_to_the_fit():
    labels = np.where(np.arange(len(GRADES)) % 5 == 0, np.nan, GRADES)
    options = {"groups": IDS, "scoring": "ndcg@5", "cv": QueryKFold(3), "error_score": "raise"}
    with pytest.raises(ValueError, match=r"^y contains NaN .*first at row"):
        cross_val_score(QueryRanker(Ridge()), X, labels, **options)


def test_missing_ids_come_first():
    with pytest.raises(NoGroupsError, match="No query ids reached"):
        cross_val_score(NeverFitted(), X, NEGATIVE, scoring="ndcg@5", cv=3)


def test_classes_are_no_labels():
    classes = np.minimum(GRADES, 2) - 1
    options = {"scoring": "ndcg@1(groups=rows)", "cv": 3}
    scores = cross_val_score(LogisticRegression(), X, classes, **options)
    of_names = cross_val_score(LogisticRegression(), X, classes.astype(str), **options)
    np.testing.assert_array_equal(scores, of_names)
    assert np.isfinite(scores).all()
