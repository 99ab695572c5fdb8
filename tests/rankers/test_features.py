"""Features in any form: columns that are dropped, sparse matrices, Arrow, lists and text."""

import numpy as np
import pandas as pd
import pytest
from frames import pa, pl
from native_fits import fit, make
from ranking_rows import rows_of
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_rankscore import QueryRanker, cross_val_query_scores

X, Y, IDS = rows_of(30, 0)
# the last is a category, whose order says little
X = np.column_stack([X[:, 1:4], (np.digitize(X[:, 0], [-0.5, 0.5]) + 1) % 3])
FRAME = pd.DataFrame(X, columns=list("abcd")).astype({"d": int})
NAMED, INDEXED = FRAME.assign(qid=IDS), FRAME.set_index(pd.Index(IDS, name="qid"))
COLORED = FRAME.assign(color=np.where(X[:, 0] > X[:, 1], "red", "blue"))
CATEGORIES = COLORED.astype({"color": "category"})
RANKERS = ("LGBMRanker", "XGBRanker", "CatBoostRanker")
# how the boosters are told that a column has categories: parameters of the model, and of fit
COLORS = {
    "L": ({}, {}), "X": ({"enable_categorical": True}, {}), "C": ({}, {"cat_features": ["color"]})
}  # fmt: skip
LIBRARIES = {"pandas": pd.DataFrame, "polars": pl.from_pandas, "pyarrow": pa.Table.from_pandas}


# --- columns that are no features


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


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("model", [Ridge(), make("LGBMRanker", 5)], ids=["Ridge", "LGBMRanker"])
def test_a_column_of_the_given_ids_among_the_features_warns(library, model):
    """As one has that `groups` was taken from; not if a step leaves it out, or by chance."""
    given = LIBRARIES[library](FRAME.assign(session=IDS))
    with pytest.warns(UserWarning, match=r"'session' of X holds the query ids.*groups='session'"):
        QueryRanker(model).fit(given, Y, groups=IDS)
    QueryRanker(model, groups="session").fit(given, Y)
    QueryRanker(model).fit(LIBRARIES[library](FRAME.assign(one=1)), Y, groups=np.ones(len(Y)))
    if library == "pandas":
        keeps = ColumnTransformer([("keep", "passthrough", list("abcd"))])
        QueryRanker(make_pipeline(keeps, model)).fit(given, Y, groups=IDS)


@pytest.mark.parametrize("library", LIBRARIES)
def test_ids_may_become_a_column_after_the_fit(library):
    of_library = LIBRARIES[library]
    for rows, later in ((of_library(FRAME), of_library(NAMED)), (INDEXED, NAMED)):
        fitted = QueryRanker(Ridge()).fit(rows, Y, groups=IDS)
        np.testing.assert_allclose(fitted.predict(later), fitted.predict(rows), rtol=1e-12)


def test_columns_of_a_composite_id_among_the_features_warn():
    names, frame = ["time", "user"], FRAME.assign(user=IDS // 5, time=IDS % 5)
    with pytest.warns(UserWarning, match=r"\['time', 'user'\] of X holds .*groups=\['time', 'user"):
        cross_val_query_scores(QueryRanker(Ridge()), frame, Y, "ndcg", groups=names)
    cross_val_query_scores(QueryRanker(Ridge(), groups=names), frame, Y, "ndcg", groups=names)
    ids = list(zip(frame["time"], frame["user"], strict=True))
    QueryRanker(Ridge()).fit(frame.drop(columns="time"), Y, groups=ids)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, sparse.coo_array])
def test_columns_of_an_array_are_dropped_by_position(form):
    given = form(np.column_stack([Y, X, IDS]))
    expected = Ridge().fit(form(X), Y).predict(form(X))
    for dropped in ([0, -1], [5, 0]):
        ranker = QueryRanker(Ridge(), drop_columns=dropped).fit(given, Y, groups=IDS)
        assert ranker.n_features_in_ == 4
        for features in (given, form(X)):
            np.testing.assert_allclose(ranker.predict(features), expected)


def scale_columns(columns):
    return make_pipeline(ColumnTransformer([("s", StandardScaler(), columns)]), Ridge())


# positions of features are others once a column of ids is dropped
POSITIONS = {
    "fit": lambda: (make("LGBMRanker", 2), {"categorical_feature": [3]}),
    "array": lambda: (make("LGBMRanker", 2), {"categorical_feature": np.array([3])}),
    "catboost": lambda: (make("CatBoostRanker", 2, cat_features=(3,)), {}),
    "forest": lambda: (HistGradientBoostingRegressor(max_iter=2, categorical_features=[3]), {}),
    "sets": lambda: (make("LGBMRanker", 2, interaction_constraints=[[0, 1], [2, 3]]), {}),
    "monotone": lambda: (make("XGBRegressor", 2, monotone_constraints=(0, -1, 0, 0)), {}),
    "columns": lambda: (scale_columns([1, 2]), {}),
    "slice": lambda: (scale_columns(slice(1, 3)), {}),
}


@pytest.mark.parametrize("case", POSITIONS)
def test_positions_of_features_are_refused_beside_a_column_of_ids(case):
    model, params = POSITIONS[case]()
    with pytest.raises(ValueError, match=r"by position.*drops 'qid'.*X.set_index\('qid'\)"):
        QueryRanker(model).fit(NAMED, Y, **params)
    QueryRanker(model).fit(INDEXED, Y, **params)


def test_names_of_features_are_taken_beside_a_column_of_ids():
    by_name = QueryRanker(make("LGBMRanker")).fit(NAMED, Y, categorical_feature=["d"])
    expected = fit(make("LGBMRanker"), X, Y, IDS, categorical_feature=[3]).predict(X)
    np.testing.assert_array_equal(by_name.predict(NAMED), expected)
    assert not np.array_equal(fit(make("LGBMRanker"), X, Y, IDS).predict(X), expected)


# --- forms that the boosters read, and those on which they fail


def as_polars(of, missing=False):
    if not pl:
        return None
    frame = pl.DataFrame(COLORED).with_columns(pl.col("color").cast(of))
    null = pl.when(pl.col("a") > 1).then(None).otherwise("color").alias("color")
    return frame.with_columns(null) if missing else frame


SPARSE = np.where(np.abs(X) < 0.5, 0, X)
TYPES = pd.DataFrame({"f": X[:, 0].astype("f4"), "g": X[:, 1], "flag": X[:, 2] > 0}).assign(
    **{f"x{dtype}": (np.abs(X[:, 0]) * 9).astype(dtype) for dtype in ("i1", "u2", "i4", "u8")}
)
# what pandas would make an index is a feature
INDEXED_TABLE, ITS_ORDER = pa.Table.from_pandas(CATEGORIES.set_index("d")), [*"abc", "color", "d"]
# a form of the features, what the booster itself is given instead, and rankers
READ = {
    **{
        form.__name__: (form(SPARSE), sparse.csr_matrix(SPARSE), RANKERS)
        for form in (sparse.csr_array, sparse.coo_array, sparse.csc_array, sparse.csr_matrix)
    },
    "lists": (X.tolist(), X, RANKERS),
    "polars, numbers": (pl.from_pandas(TYPES), TYPES, RANKERS[:1]),
    "pyarrow, numbers": (pa.Table.from_pandas(TYPES), TYPES, RANKERS[:1]),
    "pyarrow, categories": (pa.Table.from_pandas(CATEGORIES), COLORED, RANKERS[2:]),
    "pyarrow, text": (pa.Table.from_pandas(COLORED), COLORED, RANKERS[2:]),
    "polars, categories": (pl.DataFrame(CATEGORIES), COLORED, RANKERS[2:]),
    "polars, text": (pl.DataFrame(COLORED), COLORED, RANKERS[2:]),
    "polars, Categorical": (as_polars(pl.Categorical), CATEGORIES, RANKERS[:1]),
    "polars, Enum": (as_polars(pl.Enum(["blue", "red"])), CATEGORIES, RANKERS[:1]),
    # XGBoost asserts that names of categories have no mask, which pyarrow makes from pandas
    "pyarrow, for XGBoost": (pa.Table.from_pandas(CATEGORIES), CATEGORIES, RANKERS[1:2]),
    "pyarrow, index": (INDEXED_TABLE, CATEGORIES[ITS_ORDER], RANKERS[1:2]),
    "pyarrow, index of CatBoost": (INDEXED_TABLE, COLORED[ITS_ORDER], RANKERS[2:]),
}


CASES = [(case, name) for case, (*_, names) in READ.items() for name in names]


@pytest.mark.slow
@pytest.mark.parametrize(("case", "name"), CASES)
def test_the_booster_reads_the_same_numbers(case, name):
    given, native, _ = READ[case]
    params, of_fit = COLORS[name[0]] if "color" in getattr(native, "columns", ()) else ({}, {})
    rows = native.iloc if hasattr(native, "iloc") else native
    codes = pd.factorize(IDS)[0]
    order = np.argsort(codes, kind="stable")
    ids = {"L": {"group": np.bincount(codes)}, "X": {"qid": codes[order]},
           "C": {"group_id": codes[order]}}  # fmt: skip
    model = make(name, 10, **params).fit(rows[order], Y[order], **ids[name[0]], **of_fit)
    expected, labels = model.predict(native), Y.tolist() if isinstance(given, list) else Y
    ranker = QueryRanker(make(name, 10, **params))
    for sets in ({}, {"eval_set": [(given, labels)], "eval_qid": [IDS]}):
        ranker.fit(given, labels, groups=IDS, **sets, **of_fit)
        np.testing.assert_allclose(ranker.predict(given), expected, rtol=1e-6)
    assert ranker.n_features_in_ == np.shape(native)[1]
    ranker.set_params(early_stopping="ndcg", random_state=0)
    assert ranker.fit(given, labels, groups=IDS, **of_fit).predict(given).shape == Y.shape


# on which LightGBM crashes, or CatBoost; frames of pandas with the same columns have an own error
FAILS = {
    "text": ("LGBMRanker", as_polars(pl.String)),
    "CatBoost, missing text": ("CatBoostRanker", as_polars(pl.String, True)),
    "CatBoost, missing category": ("CatBoostRanker", as_polars(pl.Categorical, True)),
    "text, XGBoost": ("XGBRanker", as_polars(pl.String)),
}


@pytest.mark.parametrize("case", FAILS)
def test_features_of_polars_on_which_a_library_fails_are_those_of_pandas(case):
    name, given = FAILS[case]
    ranker, of_fit = QueryRanker(make(name, 2)), COLORS[name[0]][1]
    with pytest.raises(Exception, match=r".") as of_pandas:
        ranker.fit(given.to_pandas(), Y, groups=IDS, **of_fit)
    with pytest.raises(type(of_pandas.value)):
        ranker.fit(given, Y, groups=IDS, **of_fit)


# --- names


@pytest.mark.parametrize(
    "form", [pd.DataFrame, pl.DataFrame, pd.DataFrame.to_numpy], ids=["pandas", "polars", "array"]
)
def test_other_columns_are_refused(form, ranker):
    """LightGBM would evaluate, and stop, on the wrong columns."""
    model, given, fewer = QueryRanker(make(ranker, 2)), form(FRAME), form(FRAME[["a", "b", "c"]])

    def fit_with(*sets):
        sets = {"eval_set": [(X, Y) for X in sets], "eval_qid": [IDS] * len(sets)}
        return model.fit(given, Y, groups=IDS, **sets)

    assert fit_with(given).n_features_in_ == 4
    with pytest.raises(ValueError, match=r"now missing:\n- d|X has 3 features, but"):
        model.predict(fewer)
    unlike = r"^an evaluation set is unlike X: (The feature names|X has 3)"
    with pytest.raises(ValueError, match=unlike):
        fit_with(given, fewer)
    if pl and isinstance(given, pl.DataFrame):
        mixed = form(FRAME[["b", "a", "c", "d"]])
        for call in (
            lambda: model.predict(mixed),
            lambda: model.rank(mixed, groups=IDS),
            lambda: fit_with(mixed),
        ):
            with pytest.raises(ValueError, match="in the same order as they were in fit"):
                call()
