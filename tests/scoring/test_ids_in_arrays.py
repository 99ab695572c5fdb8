"""Query ids in arrays of any library, as `groups` of scikit-learn's functions and of ours."""

import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import sklearn
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from small_rankers import LGBM

from sklearn_rankscore import (
    PartialQueryWarning,
    QueryKFold,
    QueryRanker,
    cross_val_query_scores,
    make_ranking,
    make_ranking_scorer,
    query_train_test_split,
)

X, Y = make_ranking(n_queries=20, as_frame=True, random_state=0)
NUMBERS = X.pop("qid").to_numpy()
TEXT = [f"s{number}" for number in NUMBERS]
FORMS = {
    "values of text": pd.Series(TEXT).values,
    "values of old text": pd.Series(TEXT, dtype=object).values,
    "Arrow in pandas": pd.array(TEXT, dtype=pd.ArrowDtype(pa.string())),
    "nullable integers": pd.array(NUMBERS, dtype="Int64"),
    "categories": pd.Categorical(TEXT),
    "index": pd.Index(TEXT),
    "pyarrow": pa.array(TEXT),
    "chunks of pyarrow": pa.chunked_array([TEXT[:50], TEXT[50:]]),
    "bytes of pyarrow": pa.array([text.encode() for text in TEXT]),
    "integers of pyarrow": pa.array(NUMBERS),
    "list": TEXT,
}


@pytest.mark.parametrize("form", FORMS)
def test_groups_in_any_array(form):
    ids, cv, options = FORMS[form], QueryKFold(3), {"scoring": "ndcg@10", "cv": QueryKFold(3)}
    expected = cross_val_score(Ridge(), X, Y, groups=np.array(TEXT), **options)
    if "integers" in form:  # folds depend on the order of the ids
        expected = cross_val_score(Ridge(), X, Y, groups=NUMBERS, **options)
    assert cross_val_score(Ridge(), X, Y, groups=ids, **options) == pytest.approx(expected)
    search = GridSearchCV(Ridge(), {"alpha": [1.0]}, **options).fit(X, Y, groups=ids)
    assert search.best_score_ == pytest.approx(np.mean(expected))
    scores = cross_val_query_scores(Ridge(), X, Y, groups=ids, metrics="ndcg@10", cv=cv)
    assert len(scores) == 20
    parts = query_train_test_split(X, ids, groups=ids, random_state=0)
    assert len(parts[2]) + len(parts[3]) == len(Y)
    with sklearn.config_context(enable_metadata_routing=True):
        options["scoring"] = make_ranking_scorer("ndcg@10").set_score_request(groups=True)
        routed = cross_val_score(Ridge(), X, Y, params={"groups": ids}, **options)
        assert routed == pytest.approx(expected)


def test_a_list_of_ids_that_are_names_of_columns():
    frame = pd.DataFrame({"a": np.arange(8.0), "b": np.arange(8.0)[::-1]})
    labels, ids = [0, 1, 2, 1, 0, 1, 0, 1], list("aabbabab")
    folds = [
        [test.tolist() for _, test in QueryKFold(2).split(frame, labels, groups=groups)]
        for groups in (ids, np.array(ids))
    ]
    assert folds[0] == folds[1]
    assert {tuple(sorted({ids[row] for row in test})) for test in folds[0]} == {("a",), ("b",)}
    # two names are two columns, whose values together are the id
    split = QueryKFold(2).split(frame, labels, groups=["a", "b"])
    assert sum(len(test) for _, test in split) == 8


def test_every_fold_of_a_generator_is_checked():
    """Folds that are made one by one may get the identity of one that was freed."""
    for at in range(60, 1200, 60):
        ids = np.arange(1200) // 3
        ids[at - 1] = ids[at]  # one query lies in two of the folds
        frame = pd.DataFrame({"x": np.arange(1200.0)}, index=pd.Index(ids, name="qid"))
        labels = np.arange(1200) % 3
        with pytest.warns(PartialQueryWarning):
            cross_val_score(Ridge(), frame, labels, scoring="ndcg", cv=KFold(20))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        frame = frame.set_axis(pd.Index(np.arange(1200) // 3, name="qid"))
        cross_val_score(QueryRanker(Ridge()), frame, labels, scoring="ndcg", cv=KFold(20))


def test_a_column_that_a_step_adds():
    frame = X.assign(query=NUMBERS)
    options = {"scoring": "ndcg@10(groups=query)", "cv": QueryKFold(3, groups="query")}
    expected = cross_val_score(QueryRanker(LGBM, groups="query"), frame, Y, **options)
    rename = FunctionTransformer(pd.DataFrame.rename, kw_args={"columns": {"query": "session"}})
    pipeline = make_pipeline(rename, QueryRanker(LGBM, groups="session"))
    assert cross_val_score(pipeline, frame, Y, **options) == pytest.approx(expected)
