"""Columns of ids, and those that are no features, are dropped by name."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from lightgbm import LGBMRanker
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from small_rankers import LGBM, make_catboost_ranker
from xgboost import XGBRegressor

from sklearn_rankscore import QueryRanker, make_ranking

X, Y, IDS = make_ranking(n_queries=20, n_features=4, random_state=0)
X[:, 3] = IDS % 3
FRAME = pd.DataFrame(X, columns=list("abcd")).astype({"d": int})
EXPECTED = QueryRanker(LGBM).fit(X, Y, groups=IDS).predict(X)

FRAMES = {"pandas": pd.DataFrame, "polars": pl.from_pandas, "pyarrow": pa.Table.from_pandas}


@pytest.mark.parametrize("library", FRAMES)
@pytest.mark.parametrize("position", [0, 2, 4])
def test_columns_are_dropped_by_name(library, position):
    frame = FRAME.copy()
    frame.insert(position, "session", IDS)
    frame.insert(position, "clicks", Y)
    given = FRAMES[library](frame)
    ranker = QueryRanker(LGBM, groups="session", drop_columns=["clicks"]).fit(given, Y)
    assert ranker.n_features_in_ == 4
    for features in (given, FRAMES[library](FRAME)):
        np.testing.assert_array_equal(ranker.predict(features), EXPECTED)


def test_a_column_of_an_array_is_dropped_by_position():
    given = np.column_stack([Y, X, IDS])
    for dropped in ([0, -1], [5, 0]):
        ranker = QueryRanker(LGBM, drop_columns=dropped).fit(given, Y, groups=IDS)
        assert ranker.n_features_in_ == 4
        np.testing.assert_array_equal(ranker.predict(given), EXPECTED)
        np.testing.assert_array_equal(ranker.predict(X), EXPECTED)


@pytest.mark.parametrize("features", [X, FRAME], ids=["array", "frame"])
@pytest.mark.parametrize("dropped", [True, [0, np.False_], [1.0], 4, "e"], ids=str)
def test_other_columns_cannot_be_dropped(features, dropped):
    with pytest.raises(ValueError, match="is not a column of X"):
        QueryRanker(Ridge(), drop_columns=dropped).fit(features, Y, groups=IDS)


POSITIONS = {
    "fit": lambda: (LGBM, {"categorical_feature": [3]}),
    "array": lambda: (LGBM, {"categorical_feature": np.array([3])}),
    "catboost": lambda: (make_catboost_ranker(iterations=2, cat_features=(3,)), {}),
    "forest": lambda: (HistGradientBoostingRegressor(max_iter=2, categorical_features=[3]), {}),
    "sets": lambda: (LGBMRanker(interaction_constraints=[[0, 1], [2, 3]], verbose=-1), {}),
    "monotone": lambda: (XGBRegressor(n_estimators=2, monotone_constraints=(0, -1, 0, 0)), {}),
    "columns": lambda: (
        make_pipeline(ColumnTransformer([("s", StandardScaler(), [1, 2])]), Ridge()),
        {},
    ),
    "slice": lambda: (
        make_pipeline(ColumnTransformer([("s", StandardScaler(), slice(1, 3))]), Ridge()),
        {},
    ),
}


@pytest.mark.parametrize("case", POSITIONS)
def test_positions_of_features_are_refused_beside_a_column_of_ids(case):
    model, params = POSITIONS[case]()
    with pytest.raises(ValueError, match=r"by position.*drops 'qid'.*X.set_index\('qid'\)"):
        QueryRanker(model).fit(FRAME.assign(qid=IDS), Y, **params)
    QueryRanker(model).fit(FRAME.set_index(pd.Index(IDS, name="qid")), Y, **params)


def test_names_of_features_are_taken_beside_a_column_of_ids():
    frame = FRAME.assign(qid=IDS)
    by_name = QueryRanker(LGBM).fit(frame, Y, categorical_feature=["d"])
    index = frame.set_index("qid")
    expected = QueryRanker(LGBM).fit(index, Y, categorical_feature=[3])
    np.testing.assert_array_equal(by_name.predict(frame), expected.predict(index))
