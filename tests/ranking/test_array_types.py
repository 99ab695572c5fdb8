"""Arrays and columns of any type give the values of NumPy arrays, for every metric.

Those of ids are in `tests/query_ids/test_readers.py`.
"""

import array
import decimal
import pickle

import numpy as np
import pandas as pd
import pytest
from frames import pa, pl

from sklearn_rankscore import dcg_score, evaluate, make_ranking_scorer, ndcg_score
from sklearn_rankscore.metrics.names import METRICS
from sklearn_rankscore.ranking import read_queries

Y = np.array([1, 0, 1, 0, 0, 1, 1, 0, 1, 0])
S = np.array([3.0, 2.0, 2.0, 0.5, -1.0, 0.25, 8.0, 0.25, 4.0, 5.0])
G = np.array([2, 0, 1, 0, 1, 1, 2, 2, 0, 1])


def read_only(values):
    copy = values.copy()
    copy.flags.writeable = False
    return copy


NUMBERS = {
    "list": lambda v: v.tolist(),
    "tuple": lambda v: tuple(v.tolist()),
    "list of numpy numbers": list,
    "array.array": lambda v: array.array("d", v),
    "memoryview": lambda v: memoryview(v.copy()),
    "read-only": read_only,
    "every second": lambda v: np.repeat(v, 2)[::2],
    "reversed view": lambda v: v[::-1].copy()[::-1],
    "column of a matrix": lambda v: np.column_stack([v, v])[:, 1],
    "big-endian": lambda v: v.astype(v.dtype.newbyteorder(">")),
    "float64": lambda v: v.astype(np.float64),
    "float32": lambda v: v.astype(np.float32),
    "float16": lambda v: v.astype(np.float16),
    "long double": lambda v: v.astype(np.longdouble),
    "objects": lambda v: v.astype(object),
    "decimals": lambda v: [decimal.Decimal(str(x)) for x in v.tolist()],
    "masked array": lambda v: np.ma.masked_array(v, mask=False),
    "matrix subclass": lambda v: v.view(type("Sub", (np.ndarray,), {})),
    "pandas": pd.Series,
    "pandas with another index": lambda v: pd.Series(v, index=np.arange(len(v))[::-1]),
    "pandas Index": pd.Index,
    "pandas Float64": lambda v: pd.Series(v, dtype="Float64"),
    "pandas arrow": lambda v: pd.Series(v, dtype="double[pyarrow]"),
    "pandas sparse": lambda v: pd.Series(pd.arrays.SparseArray(v)),
    "polars": pl.Series,
    "polars Float32": lambda v: pl.Series(v).cast(pl.Float32),
    "polars in chunks": lambda v: pl.concat([pl.Series(v[:4]), pl.Series(v[4:])], rechunk=False),
    "pyarrow": pa.array,
    "pyarrow in chunks": lambda v: pa.chunked_array([v[:3], v[3:]]),
}
OF_FEW_VALUES = {
    "bool": lambda v: v.astype(bool),
    "int8": lambda v: v.astype(np.int8),
    "uint8": lambda v: v.astype(np.uint8),
    "uint64": lambda v: v.astype(np.uint64),
    "list of bool": lambda v: v.astype(bool).tolist(),
    "pandas Int64": lambda v: pd.Series(v, dtype="Int64"),
    "pandas boolean": lambda v: pd.Series(v.astype(bool), dtype="boolean"),
    "pandas int arrow": lambda v: pd.Series(v, dtype="int64[pyarrow]"),
    "polars Boolean": lambda v: pl.Series(v.astype(bool)),
    "polars UInt8": lambda v: pl.Series(v).cast(pl.UInt8),
    "pyarrow bool": lambda v: pa.array(v.astype(bool)),
    "pyarrow int8": lambda v: pa.array(v.astype(np.int8)),
}
ALL_NAMES = list(METRICS)


def test_flat_columns_of_numbers_are_not_copied():
    for s in (S, S.astype(np.float32)):
        read = read_queries(Y, s, groups=G)
        assert np.shares_memory(read.y_true, Y)
        assert np.shares_memory(read.y_score, s)


@pytest.mark.parametrize("kind", [list, np.array])
def test_integers_up_to_2_to_53_are_scores(kind):
    scores = kind([2**53, 2**53 - 1, 2**53 - 2, 0, 1])
    assert ndcg_score(Y[:5], scores) == ndcg_score(Y[:5], [5, 4, 3, 1, 2])


def test_big_endian_scores_that_differ_in_their_last_bits_alone():
    random = np.random.default_rng(0)
    y, s = random.integers(0, 5, (2_000, 10)), random.integers(0, 5, (2_000, 10)) * 5e-324
    assert ndcg_score(y, s.astype(">f8")) == ndcg_score(y, s)


@pytest.mark.parametrize("kind", {**NUMBERS, **OF_FEW_VALUES})
def test_labels_scores_and_weights_as(kind):
    convert, weights = {**NUMBERS, **OF_FEW_VALUES}[kind], np.array([1, 0, 1])[G]
    scores = S if kind in NUMBERS else S > 1
    expected = evaluate(Y, scores * 1.0, ALL_NAMES, groups=G, average=None)
    ours = evaluate(convert(Y), convert(scores), ALL_NAMES, groups=G, average=None)
    np.testing.assert_equal(ours, expected)
    call = {"y_true": Y, "y_score": S, "metrics": ALL_NAMES, "groups": G}
    np.testing.assert_equal(
        evaluate(**call, sample_weight=convert(weights)), evaluate(**call, sample_weight=weights)
    )


TWO = Y.reshape(2, 5), S.reshape(2, 5)
MATRICES = {
    "lists": lambda m: m.tolist(),
    "column-major": np.asfortranarray,
    "transposed": lambda m: m.T.copy().T,
    "read-only": read_only,
    "pandas": pd.DataFrame,
    "pandas nullable": lambda m: pd.DataFrame(m).convert_dtypes(),
    "polars": lambda m: pl.DataFrame(m, schema=list("abcde")),
    "pyarrow": lambda m: pa.table(pd.DataFrame(m, columns=list("abcde"))),
}


@pytest.mark.parametrize("kind", MATRICES)
def test_two_dimensions_as(kind):
    expected = evaluate(*TWO, ALL_NAMES, average=None)
    np.testing.assert_equal(evaluate(*map(MATRICES[kind], TWO), ALL_NAMES, average=None), expected)


GAINS = {
    "dict in any order": lambda v: {label: v[label] for label in (2, 0, 1)},
    "pandas in any order": lambda v: pd.Series(v).iloc[[2, 0, 1]],
} | {kind: NUMBERS[kind] for kind in ("list", "tuple", "read-only", "float32", "pandas", "polars")}


@pytest.mark.parametrize("kind", GAINS)
def test_gains_by_label_as(kind):
    gains = GAINS[kind](np.array([0.0, 3.0, 1.0]))
    call = {"groups": G, "average": None, "metrics": ["dcg", "ndcg", "rbp"]}
    expected = evaluate(Y * 2, S, gain=[0, 3, 1], **call)
    np.testing.assert_equal(evaluate(Y * 2, S, gain=gains, **call), expected)
    scorer = pickle.loads(pickle.dumps(make_ranking_scorer("dcg@2", gain=gains)))
    expected = dcg_score(Y * 2, S, groups=G, k=2, gain=[0, 3, 1])
    assert scorer.score_labels(Y * 2, S, groups=G) == expected
