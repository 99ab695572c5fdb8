"""The column of query ids is no feature; if it is left among the features, that is told."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from lightgbm import LGBMRanker
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import Ridge
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from small_rankers import LGBM

from sklearn_rankscore import QueryKFold, QueryRanker

rng = np.random.default_rng(0)
SESSIONS = np.repeat(np.arange(1000, 1040), 8)
FEATURES = rng.normal(size=(len(SESSIONS), 3))
LABELS = rng.integers(0, 3, len(SESSIONS))
COLUMNS = {"a": FEATURES[:, 0], "session_id": SESSIONS, "b": FEATURES[:, 1]}
FRAME = pd.DataFrame(COLUMNS)

WARNING = r"column 'session_id' of X holds the query ids.*QueryRanker\(..., groups='session_id'\)"


@pytest.mark.parametrize("ids", [FRAME["session_id"], SESSIONS], ids=["Series", "array"])
def test_warns_of_ids_among_the_features(ids):
    with pytest.warns(UserWarning, match=WARNING):
        QueryRanker(LGBMRanker(n_estimators=2, verbose=-1)).fit(FRAME, LABELS, groups=ids)


def test_warns_of_ids_in_a_polars_frame():
    with pytest.warns(UserWarning, match=WARNING):
        QueryRanker(Ridge()).fit(pl.DataFrame(COLUMNS), LABELS, groups=pl.Series(SESSIONS))


def test_warns_in_cross_validation():
    with pytest.warns(UserWarning, match=WARNING):
        cross_val_score(
            QueryRanker(Ridge()),
            FRAME,
            LABELS,
            groups=FRAME["session_id"],
            scoring="ndcg@10",
            cv=QueryKFold(3),
        )


@pytest.mark.parametrize(
    ("X", "ids"),
    [
        pytest.param(FRAME.drop(columns="session_id"), SESSIONS, id="dropped"),
        pytest.param(FRAME, SESSIONS // 2, id="coarser"),
        pytest.param(FEATURES.tolist(), SESSIONS, id="lists"),
        pytest.param(np.ones((len(SESSIONS), 1)), np.ones(len(SESSIONS)), id="one query"),
    ],
)
def test_other_columns_are_features(X, ids):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        QueryRanker(Ridge()).fit(X, LABELS, groups=ids)


def numeric(X):
    return [name for name in X if name != "session_id"]


SCALED = {
    "names": ([("s", StandardScaler(), ["a", "b"])], "drop"),
    "one name": ([("s", "passthrough", ["b"])], "drop"),
    "positions": ([("s", StandardScaler(), [0, -1])], "drop"),
    "mask": ([("s", StandardScaler(), [True, False, True])], "drop"),
    "slice": ([("s", StandardScaler(), slice(2, None))], "drop"),
    "function": ([("s", StandardScaler(), numeric)], "drop"),
    "dropped by name": ([("id", "drop", ["session_id"])], "passthrough"),
}
TRAINED_ON = {
    "names": ([("s", StandardScaler(), ["a", "session_id"])], "drop"),
    "positions": ([("s", StandardScaler(), [0, 1])], "drop"),
    "function": ([("s", StandardScaler(), list)], "drop"),
    "slice of names": ([("s", StandardScaler(), slice("a", "b"))], "drop"),
    "others": ([("s", StandardScaler(), ["a", "b"])], "passthrough"),
    "others scaled": ([("id", "drop", ["a"])], StandardScaler()),
}


def fit_columns(transformers, remainder):
    columns = ColumnTransformer(transformers, remainder=remainder)
    return QueryRanker(make_pipeline(columns, Ridge())).fit(FRAME, LABELS, groups=SESSIONS)


@pytest.mark.parametrize("name", SCALED)
def test_a_pipeline_may_leave_the_column_out(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = fit_columns(*SCALED[name])
    features = fitted.estimator_[0].get_feature_names_out()
    assert not any("session_id" in feature for feature in features)


@pytest.mark.parametrize("name", TRAINED_ON)
def test_a_pipeline_may_keep_the_column(name):
    with pytest.warns(UserWarning, match=WARNING):
        fit_columns(*TRAINED_ON[name])


@pytest.mark.parametrize("X", [FEATURES, pd.DataFrame(FEATURES)], ids=["array", "frame"])
@pytest.mark.parametrize("dropped", [True, np.True_, [True], [0, np.False_], 1.0, [0.5]])
def test_flags_and_fractions_are_no_positions(X, dropped):
    with pytest.raises(TypeError, match=r"drop_columns must hold names of .* got "):
        QueryRanker(Ridge(), drop_columns=dropped).fit(X, LABELS, groups=SESSIONS)


@pytest.mark.parametrize("X", [FEATURES, FRAME], ids=["array", "frame"])
def test_ids_of_several_fields_are_compared_with_no_column(X):
    records = np.array([(s // 2, s % 2) for s in SESSIONS], dtype=[("user", int), ("visit", int)])
    by_record = QueryRanker(clone(LGBM)).fit(X, LABELS, groups=records)
    expected = QueryRanker(clone(LGBM)).fit(X, LABELS, groups=SESSIONS.astype(str))
    np.testing.assert_array_equal(by_record.predict(X), expected.predict(X))
