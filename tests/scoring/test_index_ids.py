"""Query ids as a pandas Index of Arrow, of which scikit-learn cannot select rows."""

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.linear_model import Ridge
from sklearn.model_selection import (
    GridSearchCV,
    cross_val_predict,
    cross_val_score,
    learning_curve,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_rankscore import QueryKFold, QueryRanker, query_train_test_split

RANDOM = np.random.default_rng(0)
NAMES = np.repeat([f"query {i}" for i in range(30)], 8)
X, Y = RANDOM.normal(size=(240, 3)), RANDOM.integers(0, 4, 240)
CV, SCORING = QueryKFold(3), "ndcg@5"


@pytest.fixture(params=["string[pyarrow]", "int64[pyarrow]", "category"])
def index(request):
    ids = NAMES if request.param != "int64[pyarrow]" else pd.factorize(NAMES)[0]
    return pd.Index(ids, dtype=request.param, name="qid")


def pipeline():
    return make_pipeline(StandardScaler(), QueryRanker(Ridge()))


def expected():
    return cross_val_score(pipeline(), X, Y, groups=NAMES, scoring=SCORING, cv=CV).tolist()


def test_in_the_data(index):
    for of_rows in (index, pd.MultiIndex.from_arrays([index, np.arange(240)], names=["qid", "n"])):
        table = pd.DataFrame(X, index=of_rows)
        scores = cross_val_score(pipeline(), table, Y, scoring=SCORING, cv=CV)
        assert scores.tolist() == expected()
        search = GridSearchCV(pipeline(), {}, scoring=SCORING, cv=CV).fit(table, Y)
        assert search.best_score_ == pytest.approx(np.mean(expected()))
        assert len(cross_val_predict(pipeline(), table, Y, cv=CV)) == 240


def test_as_groups(index):
    given = {"groups": index, "scoring": SCORING, "cv": CV}
    assert cross_val_score(pipeline(), X, Y, **given).tolist() == expected()
    curve = learning_curve(pipeline(), X, Y, **given, train_sizes=[1.0])
    assert curve[2][0].tolist() == expected()


def test_beside_rows_that_are_a_list(index):
    given = {"groups": index, "scoring": SCORING, "cv": CV}
    assert cross_val_score(pipeline(), X.tolist(), Y, **given).tolist() == expected()
    search = GridSearchCV(pipeline(), {}, scoring=SCORING, cv=CV).fit(X.tolist(), Y, groups=index)
    assert search.best_score_ == pytest.approx(np.mean(expected()))


def test_as_metadata(index):
    wanted = expected()
    with config_context(enable_metadata_routing=True):
        params = {"groups": index}
        scores = cross_val_score(pipeline(), X, Y, params=params, scoring=SCORING, cv=CV)
        assert scores.tolist() == wanted
        search = GridSearchCV(pipeline(), {}, scoring=SCORING, cv=CV).fit(X, Y, **params)
        assert search.best_score_ == pytest.approx(np.mean(wanted))


def test_params_of_the_caller_stay_as_they_were(index):
    params = {"queryranker__groups": index}
    with_ids = pd.DataFrame(X, index=index)
    cross_val_score(pipeline(), with_ids, Y, params=params, scoring=SCORING, cv=CV)
    assert params["queryranker__groups"] is index


def test_split_together_with_the_rows(index):
    *_, train, test = query_train_test_split(X, index, groups=index, random_state=0)
    assert isinstance(train, pd.Index)
    assert set(train) | set(test) == set(index)
    assert not set(train) & set(test)
