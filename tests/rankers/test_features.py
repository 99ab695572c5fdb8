"""Features in any form: columns that are dropped, sparse matrices, Arrow, lists and text."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from native_fits import fit, make
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from sklearn_rankscore import QueryRanker, make_ranking

X, Y, IDS = make_ranking(n_queries=30, n_features=4, random_state=0)
ORDER = np.random.default_rng(0).permutation(len(Y))
X, Y, IDS = X[ORDER], Y[ORDER], IDS[ORDER]
X[:, 3] = IDS % 3
FRAME = pd.DataFrame(X, columns=list("abcd")).astype({"d": int})
COLORED = FRAME.assign(color=np.where(X[:, 0] > X[:, 1], "red", "blue"))
CATEGORIES = COLORED.astype({"color": "category"})
VALID = {"eval_qid": [IDS], "groups": IDS}


def is_colored(model):
    """How the boosters are told that the fifth column has categories."""
    return {
        "C": lambda: ({}, {"cat_features": ["color"]}),
        "X": lambda: ({"enable_categorical": True}, {}),
        "L": lambda: ({}, {}),
    }[model[0]]()


# --- columns that are no features

LIBRARIES = {"pandas": pd.DataFrame, "polars": pl.from_pandas, "pyarrow": pa.Table.from_pandas}


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("position", [0, 2, 4])
def test_columns_are_dropped_by_name(library, position):
    frame = FRAME.copy()
    frame.insert(position, "session", IDS)
    frame.insert(position, "clicks", Y)
    given = LIBRARIES[library](frame)
    expected = fit(make("LGBMRanker", 5), X, Y, IDS).predict(X)
    for dropped in ("clicks", ["clicks"]):
        ranker = QueryRanker(make("LGBMRanker", 5), groups="session", drop_columns=dropped)
        ranker.fit(given, Y)
        assert ranker.n_features_in_ == 4
        for features in (given, LIBRARIES[library](FRAME)):
            np.testing.assert_array_equal(ranker.predict(features), expected)


def test_levels_of_the_index_are_no_features():
    frame = FRAME.assign(clicks=Y, session=IDS).set_index(["session", "clicks"])
    ranker = QueryRanker(Ridge(), groups="session", drop_columns=["clicks"]).fit(frame, Y)
    np.testing.assert_array_equal(ranker.predict(frame), Ridge().fit(FRAME, Y).predict(FRAME))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, sparse.coo_array])
def test_columns_of_an_array_are_dropped_by_position(form):
    given = form(np.column_stack([Y, X, IDS]))
    expected = Ridge().fit(form(X), Y).predict(form(X))
    for dropped in ([0, -1], [5, 0]):
        ranker = QueryRanker(Ridge(), drop_columns=dropped).fit(given, Y, groups=IDS)
        assert ranker.n_features_in_ == 4
        for features in (given, form(X)):
            np.testing.assert_allclose(ranker.predict(features), expected)


# positions of features are others once a column of ids is dropped
POSITIONS = {
    "fit": lambda: (make("LGBMRanker", 2), {"categorical_feature": [3]}),
    "array": lambda: (make("LGBMRanker", 2), {"categorical_feature": np.array([3])}),
    "catboost": lambda: (make("CatBoostRanker", 2, cat_features=(3,)), {}),
    "forest": lambda: (HistGradientBoostingRegressor(max_iter=2, categorical_features=[3]), {}),
    "sets": lambda: (make("LGBMRanker", 2, interaction_constraints=[[0, 1], [2, 3]]), {}),
    "monotone": lambda: (make("XGBRegressor", 2, monotone_constraints=(0, -1, 0, 0)), {}),
    "columns": lambda: (
        make_pipeline(ColumnTransformer([("s", StandardScaler(), [1, 2])]), Ridge()), {}
    ),
    "slice": lambda: (
        make_pipeline(ColumnTransformer([("s", StandardScaler(), slice(1, 3))]), Ridge()), {}
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", POSITIONS)
def test_positions_of_features_are_refused_beside_a_column_of_ids(case):
    model, params = POSITIONS[case]()
    with pytest.raises(ValueError, match=r"by position.*drops 'qid'.*X.set_index\('qid'\)"):
        QueryRanker(model).fit(FRAME.assign(qid=IDS), Y, **params)
    QueryRanker(model).fit(FRAME.set_index(pd.Index(IDS, name="qid")), Y, **params)


def test_names_of_features_are_taken_beside_a_column_of_ids():
    frame = FRAME.assign(qid=IDS)
    by_name = QueryRanker(make("LGBMRanker")).fit(frame, Y, categorical_feature=["d"])
    expected = fit(make("LGBMRanker"), X, Y, IDS, categorical_feature=[3]).predict(X)
    np.testing.assert_array_equal(by_name.predict(frame), expected)
    assert not np.array_equal(fit(make("LGBMRanker"), X, Y, IDS).predict(X), expected)


# --- forms that the boosters read, and those on which they fail

SPARSE = np.where(np.abs(X) < 0.5, 0, X)
TYPES = pd.DataFrame({"f": X[:, 0].astype("f4"), "g": X[:, 1], "flag": X[:, 2] > 0}).assign(
    **{f"x{dtype}": (np.abs(X[:, 0]) * 9).astype(dtype) for dtype in ("i1", "u2", "i4", "u8")}
)
INDEXED_TABLE = pa.Table.from_pandas(CATEGORIES.set_index("d"))

# a form of the features, and what the booster itself is given instead
READ = {
    **{
        f"{form.__name__}, {name}": (name, form(SPARSE), sparse.csr_matrix(SPARSE), None)
        for form in (sparse.csr_array, sparse.coo_array, sparse.csc_array, sparse.csr_matrix)
        for name in ("LGBMRanker", "XGBRanker", "CatBoostRanker")
    },
    **{
        f"lists, {name}": (name, X.tolist(), X, None)
        for name in ("LGBMRanker", "XGBRanker", "CatBoostRanker")
    },
    "polars, numbers": ("LGBMRanker", pl.from_pandas(TYPES), TYPES, None),
    "pyarrow, numbers": ("LGBMRanker", pa.Table.from_pandas(TYPES), TYPES, None),
    "pyarrow, categories, CatBoost": (
        "CatBoostRanker", pa.Table.from_pandas(CATEGORIES), COLORED, is_colored
    ),
    "pyarrow, text, CatBoost": (
        "CatBoostRanker", pa.Table.from_pandas(COLORED), COLORED, is_colored
    ),
    "polars, categories, CatBoost": (
        "CatBoostRanker", pl.DataFrame(CATEGORIES), COLORED, is_colored
    ),
    "polars, text, CatBoost": ("CatBoostRanker", pl.DataFrame(COLORED), COLORED, is_colored),
    # XGBoost asserts that names of categories have no mask, which pyarrow makes from pandas
    "pyarrow, categories, XGBoost": (
        "XGBRanker", pa.Table.from_pandas(CATEGORIES), CATEGORIES, is_colored
    ),
    # what pandas would make an index is a feature
    "pyarrow, index, XGBoost": (
        "XGBRanker", INDEXED_TABLE, CATEGORIES[["a", "b", "c", "color", "d"]], is_colored
    ),
    "pyarrow, index, CatBoost": (
        "CatBoostRanker", INDEXED_TABLE, COLORED[["a", "b", "c", "color", "d"]], is_colored
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", READ)
def test_the_booster_reads_the_same_numbers(case):
    name, given, native, of_colors = READ[case]
    params, of_fit = ({}, {}) if of_colors is None else of_colors(name)
    model, y = make(name, 10, **params), Y
    native_rows = native.iloc if hasattr(native, "iloc") else native
    order = np.argsort(pd.factorize(IDS)[0], kind="stable")
    q = pd.factorize(IDS)[0][order]
    arguments = {
        "L": {"group": np.bincount(q)}, "X": {"qid": q}, "C": {"group_id": q}
    }[name[0]]  # fmt: skip
    expected = model.fit(native_rows[order], y[order], **arguments, **of_fit).predict(native)
    labels = y.tolist() if isinstance(given, list) else y
    ranker = QueryRanker(make(name, 10, **params)).fit(given, labels, groups=IDS, **of_fit)
    np.testing.assert_allclose(ranker.predict(given), expected, rtol=1e-6)
    assert ranker.n_features_in_ == np.shape(native)[1]
    ranker.fit(given, labels, **VALID, eval_set=[(given, labels)], **of_fit)
    np.testing.assert_allclose(ranker.predict(given), expected, rtol=1e-6)
    ranker.set_params(early_stopping="ndcg", random_state=0)
    assert ranker.fit(given, labels, groups=IDS, **of_fit).predict(given).shape == y.shape


def numbers(frame):
    return np.asarray(frame[list("abcd")])


def test_steps_before_lightgbm_take_text_of_arrow():
    ranker = QueryRanker(make_pipeline(FunctionTransformer(numbers), make("LGBMRanker", 5)))
    expected = fit(make("LGBMRanker", 5), X, Y, IDS).predict(X)
    frame = pl.DataFrame(COLORED)
    np.testing.assert_array_equal(ranker.fit(frame, Y, groups=IDS).predict(frame), expected)


def as_arrow(dictionary):
    table = pl.DataFrame(COLORED).to_arrow(compat_level=pl.CompatLevel.oldest())
    if dictionary:
        table = table.set_column(4, "color", table["color"].dictionary_encode())
    return table


def as_polars(of, missing=False):
    frame = pl.DataFrame(COLORED).with_columns(pl.col("color").cast(of))
    null = pl.when(pl.col("a") > 1).then(None).otherwise("color").alias("color")
    return frame.with_columns(null) if missing else frame


# on which LightGBM crashes, or CatBoost; frames of pandas with the same columns have an own error
FAILS = {
    "text": ("LGBMRanker", as_polars(pl.String)),
    "text of Arrow": ("LGBMRanker", as_arrow(False)),
    "missing text": ("CatBoostRanker", as_polars(pl.String, True)),
    "missing category": ("CatBoostRanker", as_polars(pl.Categorical, True)),
    "text, XGBoost": ("XGBRanker", as_polars(pl.String)),
    "text of Arrow, XGBoost": ("XGBRanker", as_arrow(False)),
}


@pytest.mark.parametrize("case", FAILS)
def test_features_on_which_a_library_fails_are_those_of_pandas(case):
    name, given = FAILS[case]
    _, of_fit = is_colored(name)
    ranker = QueryRanker(make(name, 2))
    with pytest.raises(Exception, match=r".") as of_pandas:
        ranker.fit(given.to_pandas(), Y, groups=IDS, **of_fit)
    with pytest.raises(type(of_pandas.value)):
        ranker.fit(given, Y, groups=IDS, **of_fit)


@pytest.mark.parametrize("of", [pl.Categorical, pl.Enum(["blue", "red"])])
def test_lightgbm_takes_categories_as_those_of_pandas(of):
    given = as_polars(of)
    by_pandas = QueryRanker(make("LGBMRanker", 2)).fit(given.to_pandas(), Y, groups=IDS)
    scores = QueryRanker(make("LGBMRanker", 2)).fit(given, Y, groups=IDS).predict(given)
    np.testing.assert_array_equal(scores, by_pandas.predict(given.to_pandas()))


# --- names


@pytest.mark.parametrize("form", [pd.DataFrame, pl.DataFrame, lambda frame: frame.to_numpy()])
def test_other_columns_are_refused(form, ranker):
    """LightGBM would evaluate, and stop, on the wrong columns."""
    model = QueryRanker(make(ranker, 2))
    fitted = model.fit(form(FRAME), Y, **VALID, eval_set=[(form(FRAME), Y)])
    assert fitted.n_features_in_ == 4
    fewer = form(FRAME[["a", "b", "c"]])
    with pytest.raises(ValueError, match=r"now missing:\n- d|X has 3 features, but"):
        fitted.predict(fewer)
    with pytest.raises(
        ValueError, match=r"^an evaluation set is unlike X: (The feature names|X has 3)"
    ):
        model.fit(form(FRAME), Y, groups=IDS, eval_qid=[IDS, IDS],
                  eval_set=[(form(FRAME), Y), (fewer, Y)])  # fmt: skip
    if form(FRAME) is not FRAME and hasattr(fewer, "columns"):
        mixed = form(FRAME[["b", "a", "c", "d"]])
        for call in (
            lambda: fitted.predict(mixed),
            lambda: fitted.rank(mixed, groups=IDS),
            lambda: model.fit(form(FRAME), Y, **VALID, eval_set=[(mixed, Y)]),
        ):
            with pytest.raises(ValueError, match="in the same order as they were in fit"):
                call()


def test_names_of_features_are_those_of_the_frame():
    fitted = QueryRanker(make_pipeline(StandardScaler(), Ridge())).fit(FRAME, Y, groups=IDS)
    assert list(fitted.feature_names_in_) == list("abcd")
    with (
        pytest.warns(UserWarning, match="X does not have valid feature names"),
        pytest.raises(ValueError, match=r"X has 3 features, but QueryRanker is expecting 4"),
    ):
        fitted.predict(np.ones((4, 3)))
