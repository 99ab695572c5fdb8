"""Columns of data frames are accepted as arrays; numeric ones are not copied."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from requires import requires
from sklearn.linear_model import Ridge

from sklearn_rankscore import (
    QueryKFold,
    QueryRanker,
    from_frames,
    from_ranked_lists,
    make_ranking,
    ndcg_score,
    query_scores,
)
from sklearn_rankscore._columns import as_numbers
from sklearn_rankscore.query_ids import as_ids, group_rows
from sklearn_rankscore.query_ids.read import as_objects
from sklearn_rankscore.ranking.queries import read_queries

RNG = np.random.default_rng(0)
SCORE = RNG.random(60)
LABEL = RNG.integers(0, 3, 60)
QUERY = np.repeat(np.arange(12), 5)
NAMES = np.array([f"query {chr(110 - q)}" for q in QUERY], dtype=object)
EXPECTED = ndcg_score(LABEL, SCORE, groups=NAMES, average=None)


def chunked(values):
    return pa.chunked_array([pa.array(values[:7]), pa.array(values[7:])])


NUMBERS = {
    "pandas": lambda values: pd.Series(values, index=np.arange(60)[::-1]),
    "pandas nullable": lambda values: pd.Series(
        values, dtype="Int64" if values.dtype.kind == "i" else "Float64"
    ),
    "pandas arrow": lambda values: pd.Series(
        values, dtype="int64[pyarrow]" if values.dtype.kind == "i" else "double[pyarrow]"
    ),
    "polars": pl.Series,
    "polars chunks": lambda values: pl.concat(
        [pl.Series(values[:7]), pl.Series(values[7:])], rechunk=False
    ),
    "pyarrow": pa.array,
    "pyarrow chunks": chunked,
}

IDS = {
    "pandas": pd.Series,
    "pandas object": lambda ids: pd.Series(ids, dtype=object),
    "pandas arrow": lambda ids: pd.Series(ids, dtype="string[pyarrow]"),
    "pandas categorical": lambda ids: pd.Series(ids, dtype="category"),
    "pandas unsorted categorical": lambda ids: pd.Series(
        pd.Categorical(ids, categories=[*pd.unique(ids), "query unused"])
    ),
    "pandas categorical index": pd.CategoricalIndex,
    "polars": lambda ids: pl.Series(ids.tolist()),
    "polars categorical": lambda ids: pl.Series(ids.tolist(), dtype=pl.Categorical),
    "polars enum": lambda ids: pl.Series(
        ids.tolist(), dtype=pl.Enum(["query z", *dict.fromkeys(ids)])
    ),
    "pyarrow": lambda ids: pa.array(ids.tolist()),
    "pyarrow chunks": lambda ids: chunked(ids.tolist()),
    "pyarrow dictionary": lambda ids: pa.array(ids.tolist()).dictionary_encode(),
    "pyarrow dictionary chunks": lambda ids: pa.chunked_array(
        [pa.array(part.tolist()).dictionary_encode() for part in (ids[33:], ids[:33])]
    ),
}


@pytest.mark.parametrize("form", NUMBERS)
def test_numbers_of_every_library(form):
    make = NUMBERS[form]
    values = ndcg_score(make(LABEL), make(SCORE), groups=make(QUERY), average=None)
    np.testing.assert_array_equal(values, EXPECTED[::-1])


@pytest.mark.parametrize("form", IDS)
def test_ids_of_every_library(form):
    rows = np.r_[33:60, 0:33]
    ids = IDS[form](NAMES if form == "pyarrow dictionary chunks" else NAMES[rows])
    queries = read_queries(LABEL[rows], SCORE[rows], groups=ids)
    assert list(queries.ids) == sorted(set(NAMES))
    values = ndcg_score(LABEL[rows], SCORE[rows], groups=ids, average=None)
    np.testing.assert_allclose(values, EXPECTED, rtol=1e-15)


@pytest.mark.parametrize("library", [pd, pl])
def test_columns_of_a_frame(library):
    frame = library.DataFrame({"y": LABEL, "s": SCORE, "q": NAMES.tolist()})
    values = ndcg_score(frame["y"], frame["s"], groups=frame["q"], average=None)
    np.testing.assert_array_equal(values, EXPECTED)
    table = pa.table({"y": LABEL, "s": SCORE, "q": NAMES.tolist()})
    values = ndcg_score(table["y"], table["s"], groups=table["q"], average=None)
    np.testing.assert_array_equal(values, EXPECTED)


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_frames_as_two_dimensional_input(library):
    rows = LABEL.reshape(12, 5), SCORE.reshape(12, 5)
    labels, scores = (library({str(c): a[:, c] for c in range(5)}) for a in rows)
    np.testing.assert_array_equal(ndcg_score(labels, scores, average=None), EXPECTED[::-1])


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "i4", "u1"])
@pytest.mark.parametrize(
    "column",
    [
        lambda a: pd.Series(a, copy=False),
        lambda a: pd.DataFrame({"a": a}, copy=False)["a"],
        lambda a: pd.Series(pd.arrays.NumpyExtensionArray(a), copy=False),
        pl.Series,
        lambda a: pl.DataFrame({"a": a})["a"],
        pa.array,
        lambda a: pa.chunked_array([a]),
        lambda a: pa.table({"a": a})["a"],
    ],
)
def test_numeric_columns_are_not_copied(column, dtype):
    values = np.arange(1000).astype(dtype)
    made = column(values)
    first, second = as_numbers(made, "y_score"), as_numbers(made, "y_score")
    assert first.dtype == values.dtype
    assert np.shares_memory(first, second)
    assert np.shares_memory(as_ids(made)[0], first)
    queries = read_queries(made, made, groups=made)
    assert np.shares_memory(queries.y_score, first)
    assert np.shares_memory(queries.y_true, first)


@pytest.mark.parametrize("dtype", ["Int64", "Float32", "UInt8"])
def test_nullable_columns_without_missing_values_are_not_copied(dtype):
    made = pd.Series(np.arange(100), dtype=dtype)
    assert np.shares_memory(as_numbers(made, "y_true"), as_numbers(made, "y_true"))


def test_an_arrow_backed_pandas_column_is_not_copied():
    made = pd.Series(pd.arrays.ArrowExtensionArray(pa.array(np.arange(100.0))))
    assert np.shares_memory(as_numbers(made, "y_true"), as_numbers(made, "y_true"))


@pytest.mark.parametrize(
    "column",
    [
        lambda: pd.Series(np.resize(["b", "a"], 100), dtype="category"),
        lambda: pl.Series(["b", "a"] * 50, dtype=pl.Categorical),
        lambda: pl.Series(["b", "a"] * 50, dtype=pl.Enum(["b", "a"])),
        lambda: pa.array(["b", "a"] * 50).dictionary_encode(),
    ],
)
def test_categorical_ids_are_read_as_codes(column):
    codes, values = as_ids(column())
    assert codes.dtype.kind in "iu"
    assert codes.tolist() == [1, 0] * 50
    assert list(values) == ["a", "b"]


TEXT = {
    "pandas": pd.Series,
    "pandas objects": lambda ids: pd.Series(ids, dtype=object),
    "pandas string": lambda ids: pd.Series(ids, dtype="string[python]"),
    "pandas arrow string": lambda ids: pd.Series(ids, dtype="string[pyarrow]"),
    "pandas arrow": lambda ids: pd.Series(ids, dtype=pd.ArrowDtype(pa.large_string())),
    "pandas index": pd.Index,
    "polars": pl.Series,
    "pyarrow": pa.array,
    "pyarrow chunks": lambda ids: pa.chunked_array([ids[:999], ids[999:]]),
    "pyarrow large": lambda ids: pa.array(ids, pa.large_string()),
    "objects": lambda ids: np.array(ids, dtype=object),
}


@pytest.mark.parametrize("order", ["sorted", "together", "apart"])
@pytest.mark.parametrize("form", TEXT)
def test_many_ids_of_text_are_encoded_by_their_library(form, order):
    names = ["ä", "b", "b\0", "a", "", "ab", *(f"q{i}" for i in range(700))]
    codes = np.tile(np.arange(len(names)), 10)
    if order != "apart":
        codes = np.sort(codes)
    ids = [names[code] for code in codes]
    ids = sorted(ids) if order == "sorted" else ids
    expected = group_rows(as_objects(ids).tolist(), len(ids))
    queries = group_rows(TEXT[form](ids), len(ids))
    assert queries.ids.tolist() == sorted(names)
    assert queries.ids.dtype == object
    np.testing.assert_array_equal(queries.codes, expected.codes)
    ids[-3] = None
    with pytest.raises(ValueError, match="groups must not have missing values"):
        group_rows(TEXT[form](ids), len(ids))


def test_more_categories_than_the_type_of_their_codes_holds():
    ids = pa.DictionaryArray.from_arrays(
        pa.array([1, 0, 1], pa.int8()), [f"q{i}" for i in range(999, 0, -1)]
    )
    assert group_rows(ids, 3).ids.tolist() == ["q998", "q999"]


@pytest.mark.skipif(np.finfo(np.longdouble).nmant <= 52, reason="long doubles are doubles")
@pytest.mark.parametrize("name", ["y_true", "y_score", "sample_weight"])
def test_long_doubles_that_double_precision_makes_equal_are_refused(name):
    values = np.array([1, 1, 0.1], dtype=np.longdouble)
    call = {"y_true": [0, 1, 0], "y_score": values / 3, "sample_weight": values[:2][[0, 0, 0]]}
    assert ndcg_score(**call, groups="none") > 0
    values[1] += np.finfo(np.longdouble).eps
    with pytest.raises(ValueError, match=f"{name} has values of the type .* rescale them first"):
        ndcg_score(**call | {name: values}, groups="none")


@pytest.mark.parametrize("form", NUMBERS)
def test_booleans(form):
    makers = {"pandas nullable": lambda v: pd.Series(v, dtype="boolean")}
    makers["pandas arrow"] = lambda v: pd.Series(v, dtype="bool[pyarrow]")
    relevant = LABEL > 0
    score = ndcg_score(makers.get(form, NUMBERS[form])(relevant), SCORE, groups=QUERY)
    assert score == ndcg_score(relevant, SCORE, groups=QUERY)


def test_decimals():
    for column in (
        pl.Series([2, 1]).cast(pl.Decimal(10, 2)),
        pa.array([2, 1]).cast(pa.decimal128(22, 2)),
    ):
        assert as_numbers(column, "y_true").tolist() == [2.0, 1.0]


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([1, None], dtype="Int64"),
        pd.Series([1, None], dtype="int64[pyarrow]"),
        pd.Series([True, None], dtype="boolean"),
        pl.Series([1, None]),
        pl.Series([True, None]),
        pa.array([1, None]),
        pa.array([True, None]),
        pa.chunked_array([[1.0], [None]]),
    ],
)
def test_missing_numbers_are_refused(column):
    with pytest.raises(ValueError, match=r"y_true contains NaN|missing, too large or non-numeric"):
        ndcg_score(column, [1, 2])


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(["a", None]),
        pd.Series(["a", None], dtype="string"),
        pd.Series(["a", None], dtype="category"),
        pd.Series([1, None], dtype="Int64"),
        pl.Series(["a", None]),
        pl.Series([1, None]),
        pl.Series(["a", None], dtype=pl.Categorical),
        pa.array(["a", None]),
        pa.array([1, None]),
        pa.array(["a", None]).dictionary_encode(),
        pa.chunked_array([["a"], [None]]),
    ],
)
def test_missing_ids_are_refused(column):
    with pytest.raises(ValueError, match="groups must not have missing values"):
        ndcg_score([1, 0], [1, 2], groups=column)


@pytest.mark.parametrize("values", [["1", "0"], pd.Series(["1", "0"]), pl.Series(["1", "0"])])
def test_numbers_in_text_are_to_be_converted(values):
    with pytest.raises(
        ValueError, match=r"got strings; map them to numbers, or .*from_ranked_lists"
    ):
        ndcg_score(values, [1, 2])


@pytest.mark.parametrize(
    "groups",
    [
        pl.Series([{"user": 1}, {"user": 2}]),
        pl.Series([[1, 2], [1, 3]], dtype=pl.Array(pl.Int64, 2)),
    ],
)
def test_a_nested_column_of_ids_is_refused(groups):
    with pytest.raises(ValueError, match="groups must be one-dimensional, one id per row"):
        ndcg_score([1, 0], [1, 2], groups=groups)


def test_a_relation_of_a_database_is_to_be_read_first():
    relation = requires("duckdb").sql("select 1 as user, 2 as item")
    with pytest.raises(TypeError, match="y_true is not in memory; read it first"):
        ndcg_score(relation["item"], [1])
    with pytest.raises(TypeError, match=r"truth is not in memory; read it first.* df"):
        from_frames(relation, relation, query="user", document="item", rank="item")


@pytest.mark.parametrize("kind", ["relation", "lazy frame"])
def test_features_in_a_database_or_a_lazy_frame_are_refused(kind):
    X, y = make_ranking(n_queries=12, as_frame=True, random_state=0)
    is_relation = kind == "relation"
    features = requires("duckdb").from_df(X) if is_relation else pl.from_pandas(X).lazy()
    ranker = QueryRanker(Ridge()).fit(X, y)
    for call in (
        lambda: QueryRanker(Ridge()).fit(features, y),
        lambda: ranker.predict(features),
        lambda: ranker.rank(features),
        lambda: [*QueryKFold(2).split(features)],
    ):
        with pytest.raises(TypeError, match="X is not in memory; read it first"):
            call()


def test_messages_show_values_without_the_types_of_numpy():
    one, two = (pd.DataFrame({"user": [u], "item": [1], "rank": [1]}) for u in (1, 2))
    with pytest.raises(ValueError, match="truth has 1, predictions has 2"):
        from_frames(one, two, query="user", document="item", rank="rank")
    with pytest.raises(ValueError, match=r"within query 7\."):
        query_scores([1, 0], [1, 2], "mrr", groups=np.array([7, 7]), segments=["a", "b"])
    with pytest.raises(TypeError, match="numbers, such as 1, and text, such as 'a', which"):
        from_ranked_lists([np.array([1])], [np.array(["a"])])


@pytest.mark.parametrize("column", [pd.Series(["a"]), pl.Series(["a"]), pa.array(["a"])])
def test_strings_are_not_numbers(column):
    with pytest.raises(TypeError, match="y_score must hold numbers; got strings"):
        ndcg_score([1], column)


@pytest.mark.parametrize("ids", [["a", "a\0", "a"], [b"a", b"a\0", b"a"]])
def test_ids_may_end_with_zeros(ids):
    expected = ndcg_score([0, 1, 1], [3, 2, 1], groups=[1, 2, 1], average=None)
    assert (ndcg_score([0, 1, 1], [3, 2, 1], groups=ids, average=None) == expected).all()


@pytest.mark.parametrize(
    "value", [np.datetime64(5, "s"), np.timedelta64(5, "s"), pd.Timestamp(5), pd.Timedelta(5)]
)
def test_objects_of_dates_are_no_scores(value):
    with pytest.raises(TypeError, match="y_score must hold numbers; got values of the type"):
        ndcg_score([0, 1], np.array([value, value], dtype=object))
