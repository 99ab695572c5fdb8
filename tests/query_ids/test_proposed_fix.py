"""The error for missing query ids proposes the change that suits the names in X."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score

from sklearn_rankscore import (
    CutoffCurveDisplay,
    NoGroupsError,
    QueryKFold,
    QueryRanker,
    cross_val_query_scores,
    query_permutation_importance,
    query_train_test_split,
)
from sklearn_rankscore.query_ids.lookup import fix_by_name

IDS, Y = np.repeat(np.arange(8), 3), np.tile([0, 1, 2], 8)
X = pd.DataFrame({"x": Y / 2, "session_id": IDS})
COLUMN = "X.set_index('session_id').rename_axis('qid')"
LEVEL = "X.rename_axis(index={'session_id': 'qid'})"
RANKER = QueryRanker(Ridge(), group_param="sample_weight")  # which takes ids, as a ranker does
CALLS = {
    "splitter": lambda X: list(QueryKFold(2).split(X, Y)),
    "search": lambda X: GridSearchCV(QueryRanker(Ridge()), {}, cv=QueryKFold(2), scoring="mrr").fit(
        X, Y
    ),
    "fit": lambda X: RANKER.fit(X, Y),
    "cross-validation of a ranker": lambda X: cross_val_score(RANKER, X, Y, cv=KFold(2)),
    "hold-out": lambda X: query_train_test_split(Y, X),
    "queries": lambda X: cross_val_query_scores(Ridge(), X, Y, metrics="mrr", cv=QueryKFold(2)),
    "plot": lambda X: CutoffCurveDisplay.from_estimator(Ridge().fit(X, Y), X, Y, metric="ndcg"),
    "importance": lambda X: query_permutation_importance(Ridge().fit(X, Y), X, Y, "mrr"),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_calls(call):
    with pytest.raises(NoGroupsError) as error:
        call(X)
    assert f"if they are the column 'session_id', write {COLUMN}." in str(error.value)
    with pytest.raises(NoGroupsError) as error:
        call(X.set_index("session_id"))
    assert f"if they are the index level 'session_id', rename it: {LEVEL}." in str(error.value)


def test_ranks():
    indexed = X.set_index("session_id")
    ranker = QueryRanker(Ridge()).fit(indexed, Y, groups=IDS)
    with pytest.raises(NoGroupsError, match=r"QueryRanker\.rank: if they are the index level"):
        ranker.rank(indexed)


@pytest.mark.parametrize("change", [COLUMN, LEVEL])
def test_the_proposed_change_works(change):
    data = X if change is COLUMN else X.set_index("session_id")
    assert change in fix_by_name(data)
    changed = eval(change, {"X": data})
    assert len(list(QueryKFold(8).split(changed, Y))) == 8
    assert "session_id" not in changed


def test_other_tables():
    renamed = "if they are the column 'User_ID', rename it to 'qid'."
    columns = {"x": [1], "User_ID": [2]}
    assert [fix_by_name(f(columns)) for f in (pl.DataFrame, pa.table)] == [renamed] * 2
    two = X.set_index([pd.Index(IDS), pd.Index(IDS, name="day")])
    assert "rename it: X.rename_axis(index={'day': 'qid'})." in fix_by_name(two)
    for nothing in (np.ones((2, 2)), None, [[1]], X[["x"]], X[["x"]].set_axis([7], axis=1)):
        assert fix_by_name(nothing) is None
