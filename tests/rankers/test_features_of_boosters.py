"""Features in forms that the library of a booster refuses, or on which it crashes."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from requires import requires
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from small_rankers import LGBM, make_ranker
from xgboost import XGBRanker

from sklearn_rankscore import QueryRanker, make_ranking


@pytest.fixture(scope="module")
def rows():
    X, y, groups = make_ranking(n_queries=30, n_features=4, random_state=0)
    order = np.random.default_rng(0).permutation(len(y))
    return X[order], y[order], groups[order]


@pytest.fixture(scope="module")
def colored(rows):
    frame = pd.DataFrame(rows[0], columns=list("abcd"))
    return frame.assign(color=np.where(frame["a"] > frame["b"], "red", "blue"))


@pytest.mark.parametrize(
    "form", [sparse.csr_array, sparse.coo_array, sparse.csc_array, sparse.csr_matrix]
)
def test_boosters_take_sparse_arrays(form, library, rows):
    X, y, groups = rows
    X = np.where(np.abs(X) < 0.5, 0, X)
    ranker = QueryRanker(make_ranker(library), early_stopping="ndcg", random_state=0)
    # to XGBoost, what is not stored is missing
    dense = sparse.csr_matrix(X) if library == "xgboost" else X
    expected = ranker.fit(dense, y, groups=groups).predict(dense)
    valid = {"eval_set": [(form(X), y)], "eval_qid": [groups]}
    for given in ({}, valid):
        ranker.fit(form(X), y, groups=groups, **given)
        assert ranker.predict(form(X)).shape == y.shape
    np.testing.assert_allclose(
        ranker.fit(form(X), y, groups=groups).predict(form(X)), expected, rtol=1e-6
    )


@pytest.mark.parametrize("of", [pl.String, pl.Categorical])
def test_missing_texts_of_polars_are_refused_before_catboost_ends_the_process(of, rows, colored):
    requires("catboost")
    _, y, groups = rows
    ranker = QueryRanker(make_ranker("catboost"))
    fit = {"groups": groups, "cat_features": ["color"]}
    given = pl.DataFrame(colored).with_columns(pl.col("color").cast(of))
    missing = given.with_columns(
        pl.when(pl.col("a") > 1).then(None).otherwise("color").alias("color")
    )
    message = r"missing text .*\['color'\]. Fill it.*pl.col\('color'\).cast"
    with pytest.raises(ValueError, match=message):
        ranker.fit(missing, y, **fit)
    filled = missing.with_columns(pl.col("color").cast(pl.String).fill_null("missing"))
    scores = ranker.fit(filled, y, **fit).predict(filled)
    with pytest.raises(ValueError, match=message):
        ranker.predict(missing)
    expected = ranker.fit(filled.to_pandas(), y, **fit).predict(filled.to_pandas())
    np.testing.assert_array_equal(scores, expected)


@pytest.mark.parametrize("of", ["large_string", "dictionary"])
@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_catboost_takes_categories_of_arrow(library, of, rows, colored):
    requires("catboost")
    _, y, groups = rows
    ranker = QueryRanker(make_ranker("catboost"))
    fit = {"groups": groups, "cat_features": ["color"]}
    expected = ranker.fit(colored, y, **fit).predict(colored)
    frame = colored if of == "large_string" else colored.astype({"color": "category"})
    given = pl.DataFrame(frame) if library == "polars" else pa.Table.from_pandas(frame)
    valid = [(given, y)]
    ranker.fit(given, y, **fit, eval_set=valid, eval_qid=[groups])
    assert ranker.estimator_.feature_names_ == ["a", "b", "c", "d", "color"]
    np.testing.assert_array_equal(ranker.fit(given, y, **fit).predict(given), expected)


def test_xgboost_takes_categories_of_pyarrow(rows, colored):
    """XGBoost asserts that names of categories have no mask, which pyarrow makes from pandas."""
    _, y, groups = rows
    frame = colored.astype({"color": "category"})
    ranker = QueryRanker(XGBRanker(n_estimators=5, n_jobs=1, enable_categorical=True))
    expected = ranker.fit(frame, y, groups=groups).predict(frame)
    table = pa.Table.from_pandas(frame)
    valid = {"eval_set": [(table, y)], "eval_qid": [groups]}
    ranker.fit(table, y, groups=groups, **valid)
    np.testing.assert_array_equal(ranker.predict(table), expected)
    assert "color" in str(ranker.estimator_.get_booster().feature_names)


def test_catboost_takes_index_columns_of_arrow_as_features(rows, colored):
    _, y, groups = rows
    table = pa.Table.from_pandas(colored.drop(columns="color").set_index("d"))
    ranker = QueryRanker(make_ranker("catboost")).fit(table, y, groups=groups)
    assert ranker.n_features_in_ == ranker.estimator_.n_features_in_ == 4


def test_xgboost_takes_index_columns_of_arrow_as_features(rows, colored):
    _, y, groups = rows
    table = pa.Table.from_pandas(colored.astype({"color": "category"}).set_index("d"))
    model = XGBRanker(n_estimators=5, n_jobs=1, enable_categorical=True)
    ranker = QueryRanker(model).fit(table, y, groups=groups)
    assert ranker.estimator_.get_booster().feature_names == ["a", "b", "c", "color", "d"]


@pytest.mark.parametrize("library", [pl.DataFrame, pa.Table.from_pandas])
def test_lightgbm_takes_numbers_of_arrow(library, rows):
    X, y, groups = rows
    frame = pd.DataFrame({"single": X[:, 0].astype("f4"), "double": X[:, 1], "flag": X[:, 2] > 0})
    for dtype in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"):
        frame[dtype] = (np.abs(X[:, 3]) * 10).astype(dtype)
    expected = QueryRanker(LGBM).fit(frame, y, groups=groups).predict(frame)
    fitted = QueryRanker(LGBM).fit(library(frame), y, groups=groups)
    np.testing.assert_array_equal(fitted.predict(library(frame)), expected)


@pytest.mark.parametrize(
    ("of", "shown"),
    [
        (pl.String, "String"),
        (pl.Categorical, "Categorical"),
        (pl.Enum(["blue", "red"]), "Enum"),
        ("string", "large_string"),
        ("dictionary", "dictionary"),
    ],
)
def test_lightgbm_refuses_categories_of_arrow(of, shown, rows, colored):
    _, y, groups = rows
    frame = pl.DataFrame(colored)
    if isinstance(of, str):
        given = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
        if of == "dictionary":
            given = given.set_column(4, "color", given["color"].dictionary_encode())
    else:
        given = frame.with_columns(pl.col("color").cast(of))
    message = rf"crashes on columns of other types; got 'color': {shown}.*to_pandas\(\)"
    plain = given.select(["a", "b", "c", "d"])
    fitted = QueryRanker(LGBM).fit(plain, y, groups=groups)
    calls = [
        lambda: QueryRanker(LGBM).fit(given, y, groups=groups),
        lambda: fitted.fit(plain, y, groups=groups, eval_set=[(given, y)], eval_qid=[groups]),
        lambda: fitted.predict(given.select(["color", "b", "c", "d"])),
    ]
    for call in calls:
        with pytest.raises(TypeError, match=f"(?s){message}"):
            call()


def test_one_document_without_its_axis_is_refused(library, rows, colored):
    X, y, groups = rows
    fitted = QueryRanker(make_ranker(library)).fit(X, y, groups=groups)
    frame = colored.drop(columns="color")
    for row in (X[0], X[0].tolist(), frame.iloc[0], []):
        with pytest.raises(ValueError, match=r"1D array instead.*pass X\[\[i\]\] or df.iloc"):
            fitted.predict(row)
    np.testing.assert_array_equal(fitted.predict(X[[0]]), fitted.predict(X)[:1])


@pytest.mark.parametrize("frames", [pd.DataFrame, pl.DataFrame, lambda frame: frame.to_numpy()])
def test_evaluation_sets_with_other_columns_are_refused(frames, library, rows):
    """LightGBM would evaluate, and stop, on the wrong columns."""
    X, y, groups = rows
    frame = pd.DataFrame(X, columns=list("abcd"))
    ranker = QueryRanker(make_ranker(library))
    given, fewer = frames(frame), frames(frame[["a", "b", "c"]])
    valid = {"groups": groups, "eval_qid": [groups]}
    ranker.fit(given, y, **valid, eval_set=[(given, y)])
    with pytest.raises(ValueError, match=r"^evaluation set 0: (The feature names|X has 3)"):
        ranker.fit(given, y, **valid, eval_set=[(fewer, y)])
    if frames in (pd.DataFrame, pl.DataFrame):
        with pytest.raises(ValueError, match="must be in the same order as they were in fit"):
            ranker.fit(given, y, **valid, eval_set=[(frames(frame[["b", "a", "c", "d"]]), y)])


def numbers(frame):
    return np.asarray(frame[["a", "b", "c", "d"]])


def test_steps_before_lightgbm_take_text_of_arrow(rows, colored):
    """Of a pipeline, LightGBM is given what the steps before it make of the columns."""
    _, y, groups = rows
    ranker = QueryRanker(make_pipeline(FunctionTransformer(numbers), LGBM))
    expected = ranker.fit(colored, y, groups=groups).predict(colored)
    frame = pl.DataFrame(colored)
    np.testing.assert_array_equal(ranker.fit(frame, y, groups=groups).predict(frame), expected)


@pytest.mark.parametrize("library", [pl.DataFrame, pa.Table.from_pandas])
def test_xgboost_refuses_text_of_arrow(library, rows, colored):
    """XGBoost raises a KeyError of the type."""
    _, y, groups = rows
    ranker = QueryRanker(XGBRanker(n_estimators=2, n_jobs=1, enable_categorical=True))
    with pytest.raises(TypeError, match=r"got text in 'color'.*enable_categorical=True"):
        ranker.fit(library(colored), y, groups=groups)


def test_an_array_beside_a_training_frame_is_evaluated_without_a_warning(rows):
    X, y, groups = rows
    frame = pd.DataFrame(X, columns=list("abcd"))
    ranker = QueryRanker(make_ranker("lightgbm"))
    valid = {"groups": groups, "eval_qid": [groups]}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ranker.fit(frame, y, **valid, eval_set=[(X, y)])
        ranker.fit(X, y, **valid, eval_set=[(frame, y)])
    with pytest.raises(ValueError, match=r"^evaluation set 0: X has 3 features, .* expecting 4"):
        ranker.fit(frame, y, **valid, eval_set=[(X[:, :3], y)])
