"""PyArrow tables as X, and columns as y, in scorers, splitters and rankers."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import sklearn
from sklearn.exceptions import DataConversionWarning
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV, cross_val_score

from sklearn_rankscore import (
    NoGroupsError,
    QueryKFold,
    QueryRanker,
    QueryTimeSeriesSplit,
    make_ranking,
    ndcg_score,
    query_train_test_split,
)

X, Y = make_ranking(n_queries=30, as_frame=True, random_state=0)
TABLE = pa.Table.from_pandas(X, preserve_index=False)
CV = QueryKFold(3)


def by_hand(model):
    scores = []
    for train, test in CV.split(X, Y):
        rows, ids = X.drop(columns="qid"), X["qid"]
        predicted = model.fit(rows.iloc[train], Y.iloc[train]).predict(rows.iloc[test])
        scores.append(ndcg_score(Y.iloc[test], predicted, groups=ids.iloc[test], k=10))
    return scores


def test_splitters_take_a_table():
    for cv in (CV, QueryTimeSeriesSplit(3, times=X.columns[1])):
        for of_table, of_frame in zip(cv.split(TABLE, Y), cv.split(X, Y), strict=True):
            for rows, expected in zip(of_table, of_frame, strict=True):
                np.testing.assert_array_equal(rows, expected)
    train, test = query_train_test_split(TABLE, random_state=0)
    expected, _ = query_train_test_split(X, random_state=0)
    assert train["qid"].to_pylist() == expected["qid"].tolist()
    assert set(train["qid"].to_pylist()).isdisjoint(test["qid"].to_pylist())


@pytest.mark.parametrize("table", [TABLE, TABLE.to_batches()[0]], ids=["table", "batch"])
def test_a_scorer_finds_ids_in_a_table(table):
    model = Ridge().fit(X.to_numpy(), Y)
    model.predict = lambda X: X.column(1).to_numpy()
    expected = ndcg_score(Y, X.iloc[:, 1], groups=X["qid"], k=10)
    assert get_scorer("ndcg@10")(model, table, Y) == pytest.approx(expected)


@pytest.mark.skipif(
    sklearn.__version__.startswith("1.6."),
    reason="scikit-learn 1.6 cannot take rows of a PyArrow table",
)
def test_a_ranker_in_a_search_takes_a_table():
    scores = cross_val_score(QueryRanker(Ridge()), TABLE, Y, scoring="ndcg@10", cv=CV)
    np.testing.assert_allclose(scores, by_hand(Ridge()))
    labels = pa.chunked_array([Y.to_numpy()])
    search = GridSearchCV(QueryRanker(Ridge()), {}, scoring="ndcg@10", cv=CV).fit(TABLE, labels)
    assert search.best_score_ == pytest.approx(np.mean(by_hand(Ridge())))


def test_a_column_of_labels_is_raveled():
    column = Y.to_frame("rel")
    for (_, rows), (_, expected) in zip(CV.split(X, column), CV.split(X, Y), strict=True):
        np.testing.assert_array_equal(rows, expected)
    with pytest.warns(DataConversionWarning, match="column-vector y was passed"):
        scores = cross_val_score(QueryRanker(Ridge()), X, column, scoring="ndcg@10", cv=CV)
    np.testing.assert_allclose(scores, by_hand(Ridge()))


@pytest.mark.parametrize("model", [Ridge(), LinearRegression()], ids=["one", "two dimensions"])
def test_models_that_predict_a_column_or_not(model):
    """LinearRegression that was fitted to a column predicts one."""
    indexed = X.set_index("qid")
    column = Y.to_frame("rel").set_index(indexed.index)
    with pytest.warns(DataConversionWarning):
        scores = cross_val_score(model, indexed, column, scoring="ndcg@10", cv=CV)
    np.testing.assert_allclose(scores, by_hand(model))


def test_a_column_without_ids_is_not_a_query_for_each_row():
    features, column = X.drop(columns="qid"), pd.DataFrame({"rel": Y})
    with pytest.raises(NoGroupsError):
        cross_val_score(
            LinearRegression(), features, column, scoring="ndcg@10", cv=3, error_score="raise"
        )
