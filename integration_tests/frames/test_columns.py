"""Labels and scores of any library: read without a copy, or refused with the way to read them."""

import os
import subprocess
import sys
from importlib import import_module

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.linear_model import Ridge

from sklearn_rankscore import (
    QueryKFold,
    QueryRanker,
    evaluate,
    from_frames,
    from_ranked_lists,
    from_trec,
    make_ranking,
    make_ranking_scorer,
    ndcg_score,
)
from sklearn_rankscore._columns import as_numbers
from sklearn_rankscore.query_ids import as_ids
from sklearn_rankscore.ranking.queries import read_queries

ALIKE = {  # forms of a column that hold the memory of its numbers
    "Series": lambda a: pd.Series(a, copy=False),
    "column of a frame": lambda a: pd.DataFrame({"a": a}, copy=False)["a"],
    "extension array": lambda a: pd.Series(pd.arrays.NumpyExtensionArray(a), copy=False),
    "Arrow in pandas": lambda a: pd.Series(pd.arrays.ArrowExtensionArray(pa.array(a))),
    "nullable": lambda a: pd.Series(a, dtype=a.dtype.name.capitalize().replace("Ui", "UI")),
    "polars": pl.Series,
    "polars frame": lambda a: pl.DataFrame({"a": a})["a"],
    "pyarrow": pa.array,
    "one chunk": lambda a: pa.chunked_array([a]),
    "pyarrow table": lambda a: pa.table({"a": a})["a"],
}


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "i4", "u1"])
@pytest.mark.parametrize("form", ALIKE)
def test_numeric_columns_are_not_copied(form, dtype):
    made = ALIKE[form](np.arange(1000).astype(dtype))
    first, second = as_numbers(made, "y_score"), as_numbers(made, "y_score")
    assert first.dtype == np.dtype(dtype)
    assert np.shares_memory(first, second)
    queries = read_queries(made, made, groups=made)
    assert np.shares_memory(queries.y_score, first)
    assert np.shares_memory(queries.y_true, first)
    assert np.shares_memory(as_ids(made)[0], first)


CATEGORIES = {  # text of these libraries is in tests/query_ids/test_readers.py
    "pandas": lambda ids: pd.Series(ids, dtype="category"),
    "polars": lambda ids: pl.Series(ids, dtype=pl.Categorical),
    "polars Enum": lambda ids: pl.Series(ids, dtype=pl.Enum(["b", "a"])),
    "pyarrow": lambda ids: pa.array(ids).dictionary_encode(),
}


@pytest.mark.parametrize("form", CATEGORIES)
def test_categories_are_read_as_codes(form):
    codes, values = as_ids(CATEGORIES[form](["b", "a"] * 50))
    assert codes.dtype.kind in "iu"
    assert (codes.tolist(), list(values)) == ([1, 0] * 50, ["a", "b"])


NUMBERS = np.random.default_rng(0).random((12, 5)).round(1)


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_frames_as_two_dimensional_input(library):
    frames = (library({str(c): a[:, c] for c in range(5)}) for a in (NUMBERS, NUMBERS[::-1]))
    assert ndcg_score(*frames) == ndcg_score(NUMBERS, NUMBERS[::-1])


INSTANTS = [np.datetime64(5, "s"), np.timedelta64(5, "s"), pd.Timestamp(5), pd.Timedelta(5)]
LIBRARIES = [pl.Series, pa.array, lambda values: pa.chunked_array([values])]
REFUSED = {  # what an error tells, and columns
    r"y_score contains NaN|missing, too large or non-numeric": [
        *(pd.Series([1, None], dtype=dtype) for dtype in ("Int64", "int64[pyarrow]", "boolean")),
        *(column([value, None]) for column in LIBRARIES for value in (1, True)),
    ],
    "must hold numbers; got strings": [column(["1", "0"]) for column in LIBRARIES],
    "must hold numbers; got values of the type": [
        np.array([value] * 2, dtype=object) for value in INSTANTS
    ],
}


def test_decimals_are_numbers():
    decimals = pa.array([2, 1]).cast(pa.decimal128(22, 2))
    for column in (decimals, pl.Series(decimals)):
        assert ndcg_score([1, 2], column) == ndcg_score([1, 2], [2, 1])


@pytest.mark.parametrize("message", REFUSED)
def test_what_holds_no_numbers_is_refused(message):
    for column in REFUSED[message]:
        with pytest.raises((TypeError, ValueError), match=message):
            ndcg_score([1, 2], column)


@pytest.mark.skipif(np.finfo(np.longdouble).nmant <= 52, reason="long doubles are doubles")
@pytest.mark.parametrize("name", ["y_true", "y_score", "sample_weight"])
def test_long_doubles_that_double_precision_makes_equal_are_refused(name):
    values = np.array([1, 1, 0.1], dtype=np.longdouble)
    call = {"y_true": [0, 1, 0], "y_score": values / 3, "sample_weight": values[:2][[0, 0, 0]]}
    assert ndcg_score(**call, groups="none") > 0
    values[1] += np.finfo(np.longdouble).eps
    with pytest.raises(ValueError, match=f"{name} has values of the type .* rescale them first"):
        ndcg_score(**call | {name: values}, groups="none")


@pytest.mark.parametrize("kind", ["relation", "lazy frame"])
def test_tables_that_are_not_in_memory_are_refused(kind):
    X, y = make_ranking(n_queries=12, as_frame=True, random_state=0)
    rows = duckdb.from_df(X) if kind == "relation" else pl.from_pandas(X).lazy()
    ranker = QueryRanker(Ridge()).fit(X, y)
    for name, call in (
        ("X", lambda: QueryRanker(Ridge()).fit(rows, y)),
        ("X", lambda: ranker.predict(rows)),
        ("X", lambda: ranker.rank(rows)),
        ("X", lambda: make_ranking_scorer("ndcg")(ranker, rows, y)),
        ("X", lambda: [*QueryKFold(2).split(rows)]),
        ("y_true", lambda: ndcg_score(rows, [1])),
        ("truth", lambda: from_frames(rows, X, groups="qid", document="x1", rank="x2")),
        ("qrels", lambda: from_trec(rows, {"1": {"a": 1}})),
        ("run", lambda: from_trec({"1": {"a": 1}}, rows)),
        ("actual", lambda: from_ranked_lists(rows, [[1]])),
        ("predicted", lambda: from_ranked_lists([[1]], rows)),
    ):
        with pytest.raises(TypeError, match=f"^{name} is not in memory; read it first"):
            call()


RANDOM = np.random.default_rng(0)
DATA = {"y_true": RANDOM.integers(0, 4, 50), "y_score": RANDOM.random(50).round(1)}
DATA["groups"] = RANDOM.integers(0, 5, 50)
DATA["sample_weight"] = DATA["groups"] + 1.0


class OnlyDLPack:
    """An array that others can read by DLPack and in no other way."""

    def __init__(self, values):
        self.__dlpack__, self.__dlpack_device__ = values.__dlpack__, values.__dlpack_device__


@pytest.mark.parametrize(
    "library", ["dlpack", pytest.param("array_api_strict", marks=pytest.mark.integration)]
)
def test_arrays_of_other_libraries(library):
    convert = OnlyDLPack if library == "dlpack" else import_module(library).asarray
    arrays = {name: convert(values) for name, values in DATA.items()}
    assert evaluate(metrics="ndcg", **arrays) == evaluate(metrics="ndcg", **DATA)


@pytest.mark.slow
@pytest.mark.integration
def test_tensors():
    torch = import_module("torch")
    arrays = {name: torch.tensor(values) for name, values in DATA.items()}
    arrays["y_score"].requires_grad_()
    assert evaluate(metrics="ndcg", **arrays) == evaluate(metrics="ndcg", **DATA)
    halves = arrays["y_score"].bfloat16()
    rounded = {**DATA, "y_score": halves.detach().double().numpy()}
    assert ndcg_score(**{**arrays, "y_score": halves}) == ndcg_score(**rounded)
    for name in DATA:  # tensors without data
        with pytest.raises(TypeError, match=f"{name} is an array that NumPy cannot read"):
            ndcg_score(**{**DATA, name: torch.zeros(50, device="meta")})


TORCH_MODEL = """
from numpy.testing import assert_allclose
from sklearn import set_config
from sklearn.linear_model import Ridge
from sklearn.model_selection import cross_val_score
from torch import is_tensor, tensor

from sklearn_rankscore import QueryKFold, make_ranking, ndcg_score

X, y, groups = make_ranking(n_queries=40, random_state=0)
options = {"scoring": "ndcg@10", "cv": QueryKFold(4), "params": {"groups": groups}}
model, y = Ridge(solver="svd"), y.astype(float)
set_config(enable_metadata_routing=True)
expected = cross_val_score(model, X, y, **options), model.fit(X, y).predict(X)
set_config(array_api_dispatch=True)
tensors = tensor(X), tensor(y)
assert_allclose(cross_val_score(model, *tensors, **options), expected[0], rtol=1e-12)
predicted = model.fit(*tensors).predict(tensors[0])
assert is_tensor(predicted)
ndcg = ndcg_score(y, expected[1], groups=groups)
assert_allclose(ndcg_score(tensors[1], predicted, groups=tensor(groups)), ndcg)
print("equal")
"""


@pytest.mark.slow
@pytest.mark.integration
def test_scoring_a_torch_model():
    """scikit-learn asks for an environment variable that is set before SciPy is imported."""
    import_module("torch")
    environment = os.environ | {"SCIPY_ARRAY_API": "1"}
    command = [sys.executable, "-c", TORCH_MODEL]
    run = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert run.stdout == "equal\n", run.stderr
