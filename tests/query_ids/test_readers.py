"""Ids of any library, type and order are read as a dictionary would read them."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from frames import pa, pl

from sklearn_rankscore import ndcg_score, query_scores
from sklearn_rankscore.query_ids import as_ids

RNG = np.random.default_rng(0)


def total(block):
    """The sum of the labels of each query, which tells its rows if labels are large and random."""
    return block.total(np.asarray)


def read(ids, n_rows):
    """The ids of the queries in their order, and what tells the rows of each."""
    labels = np.random.default_rng(n_rows).integers(0, 2**30, n_rows)
    scores = query_scores(labels, np.zeros(n_rows), total, groups=ids)
    return scores.ids.tolist(), scores.values[:, 0].tolist()


def by_dictionary(ids, *, in_order=sorted):
    labels = np.random.default_rng(len(ids)).integers(0, 2**30, len(ids)).tolist()
    sums = {}
    for key, label in zip(ids, labels, strict=True):
        sums[key] = sums.get(key, 0) + label
    keys = in_order(sums)
    return list(keys), [sums[key] for key in keys]


def chunks(values, make=pa.array):
    cut = len(values) // 2 + 1
    return pa.chunked_array([make(values[:cut]), make(values[cut:])])


def encoded(values):
    return pa.array(values).dictionary_encode()


def names_of(values):
    """The distinct ones as they appear, and one that does not."""
    return [*dict.fromkeys(value for value in values if value is not None), "unused"]


def unsorted(values):
    return pd.Series(pd.Categorical(values, categories=names_of(values)))


LISTS = {
    "list": list,
    "tuple": tuple,
    "objects": lambda ids: np.fromiter(ids, dtype=object, count=len(ids)),
    "pandas objects": lambda ids: pd.Series(ids, dtype=object),
    "pandas categories": lambda ids: pd.Series(ids, dtype="category"),
}
OF_TEXT = {
    "pandas": pd.Series,
    "pandas text": partial(pd.Series, dtype="string[python]"),
    "pandas Arrow text": partial(pd.Series, dtype="string[pyarrow]"),
    "pandas Arrow": lambda ids: pd.Series(ids, dtype=pd.ArrowDtype(pa.large_string())),
    "pandas index": pd.Index,
    "pandas index of categories": pd.CategoricalIndex,
    "pandas categories, unsorted": unsorted,
    "polars": pl.Series,
    "polars Categorical": partial(pl.Series, dtype=pl.Categorical),
    "polars Enum": lambda ids: pl.Series(ids, dtype=pl.Enum(names_of(ids)[::-1])),
    "pyarrow": pa.array,
    "pyarrow large": partial(pa.array, type=pa.large_string()),
    "pyarrow chunks": chunks,
    "pyarrow dictionary": encoded,
    "pyarrow dictionary chunks": partial(chunks, make=encoded),
}
OF_NUMBERS = {name: OF_TEXT[name] for name in ("pandas", "pandas index", "polars", "pyarrow")}
OF_NUMBERS |= {"array": np.array, "pyarrow chunks": chunks}
NULLABLE = {
    "pandas Int64": partial(pd.Series, dtype="Int64"),
    "pandas Arrow": partial(pd.Series, dtype="int64[pyarrow]"),
}
OF_DTYPES = {
    dtype: partial(np.array, dtype=dtype) for dtype in ("i1", "u1", "i4", "u8", "f4", ">i8", "O")
}
WHOLE_RANGE = [-(2**63), 2**63 - 1, *RNG.integers(-(2**63), 2**63 - 1, 398).tolist()]
# ids, and the forms that hold them
KINDS = {
    "text": (["ä", "b", "b\0", "a", "", "ab", *(f"q{i}" for i in range(694))], LISTS | OF_TEXT),
    "text of one width": ([f"{i:0>3}" for i in range(700)], {"array": np.array}),
    "text of 64 letters": ([f"{i:0>64}" for i in range(40)], {"array": np.array}),
    "text of 65 letters": ([f"{i:0>65}" for i in range(40)], {"array": np.array}),
    "bytes": ([b"x", b"yy", b"y", b"x\0"], LISTS | {"pyarrow": pa.array}),
    "small integers": (list(range(-3, 120)), LISTS | OF_NUMBERS | NULLABLE),
    "integers": (list(range(100)), OF_DTYPES),
    "integers of the whole range": (WHOLE_RANGE, LISTS | OF_NUMBERS | NULLABLE),
    "integers of a byte": ([-128, 127, 0, 5], {"i1": OF_DTYPES["i1"]}),
    "integers too large for NumPy": ([2**64, 2**64 + 1, -1], {"list": list}),
    "integers among floats": ([2**53 + 1, 2**53, 0.5], {"list": list}),
    "floats": ([0.5, -1.25, 3.0, np.inf, 2.0**52], LISTS | OF_NUMBERS),
    "booleans": ([True, False], LISTS | OF_NUMBERS),
    "tuples": ([(1, "a"), (1, "b"), (0, "a")], {k: LISTS[k] for k in ("list", "tuple", "objects")}
               | {"pandas index": pd.MultiIndex.from_tuples}),
    "days": (np.arange("2020-01-01", "2020-03-01", dtype="M8[D]").astype(object).tolist(),
             LISTS | {"array": partial(np.array, dtype="M8[D]")}),
}  # fmt: skip
TABLE = [(kind, form) for kind, (_, forms) in KINDS.items() for form in forms]


# in an order, each so many times; of rotated rows, the first query is the last one too
ORDERS = [("sorted", 2), ("together", 2), ("rotated", 10), ("apart", 2), ("apart", 10)]


@pytest.mark.parametrize(("order", "n_times"), ORDERS)
@pytest.mark.parametrize(("kind", "form"), TABLE)
def test_ids(kind, form, order, n_times):
    names, forms = KINDS[kind]
    shuffled = [names[i] for i in np.random.default_rng(1).permutation(len(names))]
    ordered = sorted(names) if order == "sorted" else shuffled
    ids = ordered * n_times if order == "apart" else [n for n in ordered for _ in range(n_times)]
    ids = [*ids[1:], ids[0]] if order == "rotated" else ids
    assert read(forms[form](ids), len(ids)) == by_dictionary(ids)


NOT_COMPARABLE = ["b", 1, "b", ("c",), 1, 2.5, "1"] * 3


def test_ids_that_cannot_be_compared_are_in_order_of_appearance():
    for form in ("list", "objects"):
        ids = LISTS[form](NOT_COMPARABLE)
        assert read(ids, 21) == by_dictionary(NOT_COMPARABLE, in_order=list)
    for values in (["a", "a", 1, 1], ["a", 1, "a", 1], [1, "a", 1, "a"]):
        column = pd.Series(pd.Categorical(values, categories=["unused", 1, "a"]))
        assert read(column, 4) == by_dictionary(values, in_order=list)


ENCODED = "pandas Arrow text, pandas Arrow, polars, pyarrow, pyarrow large, pyarrow chunks"


def test_many_texts_in_arrow_are_encoded_by_their_library():
    """As objects of Python they would take several times the memory."""
    for form in ENCODED.split(", "):
        assert as_ids(OF_TEXT[form]([f"q{i % 9}" for i in range(6000)]))[0].dtype.kind in "iu"


def test_ids_keep_their_dtype():
    for ids in (["b", "a", "b"], [b"b", b"a", b"b"], [2, 1, 2], [2.5, 1, 2.5]):
        scores = query_scores(np.ones(3), np.zeros(3), total, groups=np.array(ids))
        assert scores.ids.dtype == np.array(ids).dtype


def test_categories_in_arrow_that_repeat_or_outnumber_the_type_of_their_codes():
    repeated = pa.DictionaryArray.from_arrays([0, 1, 2], ["b", "a", "b"])
    assert read(repeated, 3) == by_dictionary(["b", "a", "b"])
    codes = pa.array([1, 0, 1], pa.int8())
    ids = pa.DictionaryArray.from_arrays(codes, [f"q{i}" for i in range(999, 0, -1)])
    assert read(ids, 3)[0] == ["q998", "q999"]


def test_ids_with_equal_hashes_are_distinct(monkeypatch):
    # so that only the last letter counts
    monkeypatch.setattr("sklearn_rankscore.query_ids.read.HASH_FACTOR", np.uint64(0))
    for ids in ([f"query {i % 30:03}" for i in range(120)], WHOLE_RANGE[:30] * 4):
        assert read(np.array(ids), 120) == by_dictionary(ids)


LIMITS = {"f8": 2**53, "f4": 2**24, "f2": 2**11}


def test_floats_are_ids_as_long_as_they_hold_integers_exactly():
    for dtype, limit in LIMITS.items():
        ids = np.array([limit - 1, 0.5, limit - 2, 1 - limit, np.inf], dtype)
        assert len(read(ids, 5)[0]) == 5


TWO = {"user": ["a", "b", "b"], "day": [1, 1, 2]}
ROUNDED = "rounds different integers to the same number"
REFUSED = {  # what an error tells, its class, and ids
    "not have missing values": (ValueError, [
        *([groups[i] for i in order]
          for value in (np.nan, None, pd.NA, pd.NaT, ("x", np.nan))
          for groups in [[("a", 1.0), ("a", value), ("a", value), ("b", 2.0)]]
          for order in ([0, 1, 2, 3], [0, 2, 1, 3], [1, 3, 2, 0])),
        pd.MultiIndex.from_tuples([("a", 1.0), ("a", pd.NA), ("b", 2.0)]),
        np.array(["2020", "NaT", "2021"], "M8[s]"), np.array([1.0, np.nan]),
        pd.Series([1, None, 2], dtype="Int64"),
    ]),
    ROUNDED: (ValueError, [
        np.array(values, dtype)
        for dtype, limit in LIMITS.items() for values in ([limit, 0.5, np.inf], [-limit, 0.5, 1])
    ]),
    r"float64 up to .*from 2": (ValueError, [pd.Categorical([1e16, 2.0, 1e16])]),
    r"got shape \(3, 2\)\. Pass the column.* list\(zip": (ValueError, [pd.DataFrame(TWO)]),
    "groups must be one-dimensional, one id per row; got int 7": (ValueError, [7]),
    "groups must be one-dimensional": (ValueError, [[["a"], ["b"], ["c"]]]),
    "groups must hold one id per row: got 2 for 3 rows. These look like group sizes: pass np.repea":
        (ValueError, [[1, 2]]),
    "got 2 for 3 rows.$": (ValueError, [["a", "b"], [2, 2]]),
    "groups must hold hashable ids": (TypeError, [[("a", np.ones(2))] * 3]),
    "must not have masked values": (ValueError, [np.ma.masked_array([1, 2, 3], [0, 1, 0])]),
}  # fmt: skip


@pytest.mark.parametrize("message", REFUSED)
def test_refused_ids(message):
    error, refused = REFUSED[message]
    for ids in refused:
        n_rows = 3 if type(ids) is int or "2 for 3 rows" in message else len(ids)
        with pytest.raises(error, match=message):
            ndcg_score(np.arange(n_rows), np.arange(n_rows), groups=ids)


@pytest.mark.parametrize("form", LISTS | OF_TEXT)
def test_missing_text(form):
    for n_times in (1, 700):
        ids = (LISTS | OF_TEXT)[form](["a", None, *("abcdefgh" * n_times)])
        with pytest.raises(ValueError, match="not have missing values"):
            ndcg_score(np.arange(len(ids)), np.arange(len(ids)), groups=ids)


IN_ARROW = {  # ids of three rows, and what an error tells
    "polars, missing": (lambda: pl.Series([1, None, 2]), "not have missing values"),
    "pyarrow, missing": (lambda: pa.chunked_array([[1], [None, 2]]), "not have missing values"),
    "polars, two columns": (lambda: pl.DataFrame(TWO), r"shape \(3, 2\)\. Pass .* list\(zip"),
    "polars, a table": (lambda: pl.DataFrame(TWO)[["day"]], r"got shape \(3, 1\)\. Pass"),
    "polars, dicts": (lambda: pl.Series([{"a": 1}] * 3), "groups must be one-dimensional"),
    "polars, arrays": (
        lambda: pl.Series([[1, 2]] * 3, dtype=pl.Array(pl.Int64, 2)),
        "groups must be one-dimensional",
    ),
}


@pytest.mark.parametrize("form", IN_ARROW)
def test_refused_ids_of_other_libraries(form):
    make, message = IN_ARROW[form]
    with pytest.raises(ValueError, match=message):
        ndcg_score(np.arange(3), np.arange(3), groups=make())
