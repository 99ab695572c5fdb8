"""Copies of a table with permuted columns, stacked so that one prediction serves many of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from sklearn.utils import check_random_state

from .._columns import column_at, column_names
from .._sklearn_compat import num_samples, safe_indexing
from .._typing import Array, Seed

Within: TypeAlias = Literal["query", "all"]

# values in the copies that are predicted together; a single copy may have more
BATCH_VALUES = 2**24


def permutations(codes: Array, within: Within, n_repeats: int, seed: Seed) -> list[Array]:
    """For each repeat, the row from which each row takes its value.

    Those of all rows are the ones that scikit-learn's `permutation_importance` draws from the seed.
    """
    random = np.random.RandomState(_draw_seed(seed))
    n = len(codes)
    if within == "query":
        by_query = np.argsort(codes, kind="stable")
        drawn = [np.lexsort((random.random_sample(n), codes)) for _ in range(n_repeats)]
        return [rows[np.argsort(by_query)] for rows in drawn]
    shuffled, order, orders = np.arange(n), np.arange(n), []
    for _ in range(n_repeats):
        random.shuffle(shuffled)
        order = order[shuffled]  # scikit-learn permutes the column that it permuted before
        orders.append(order)
    return orders


def _draw_seed(random_state: Seed) -> int:
    end = np.iinfo(np.int32).max + 1
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(end))
    return int(check_random_state(random_state).randint(end))


def as_table(X: Any) -> Any:
    """A frame as it is, and everything else as an array; refuses sparse matrices."""
    if column_names(X):
        return X
    if hasattr(X, "tocsr"):
        raise TypeError(
            "X is a sparse matrix, whose columns cannot be permuted efficiently. Pass X.toarray()."
        )
    array = np.asarray(X)
    if array.ndim != 2:
        raise ValueError(f"X must have rows and columns; got an array of shape {array.shape}.")
    return array


def with_columns(X: Any, columns: Sequence[tuple[int, Array]]) -> Any:
    """Copies of a table below one another, each with the rows of one column permuted.

    Parameters
    ----------
    X : DataFrame or array of shape (n_documents, n_columns)
        The table.
    columns : sequence of (position, rows)
        For each copy the column, and the row from which each of its rows takes its value.
    """
    n = num_samples(X)
    stacked = safe_indexing(X, np.tile(np.arange(n), len(columns)))
    for position in sorted({position for position, _ in columns}):
        rows = [rows if p == position else np.arange(n) for p, rows in columns]
        values = safe_indexing(column_at(X, position), np.concatenate(rows))
        stacked = _replaced(stacked, position, values)
    return stacked


def _replaced(X: Any, position: int, values: Any) -> Any:
    """The table with other values of one column."""
    if hasattr(X, "iloc"):
        X.isetitem(position, values.array)
    elif hasattr(X, "set_column"):  # pyarrow
        return X.set_column(position, X.schema.field(position), values)
    elif hasattr(X, "with_columns"):  # polars
        return X.with_columns(values)
    else:
        X[:, position] = values
    return X


def changes(X: Any, position: int, rows: Array) -> bool:
    """Whether a permutation of the rows changes a column."""
    values = np.asarray(column_at(X, position))
    if values.dtype == object:  # of which missing values may not be comparable
        values = np.array([f"{type(value)} {value!r}" for value in values.tolist()])
    is_nan = values != values
    return bool(np.any((values != values[rows]) & ~(is_nan & is_nan[rows])))


def predict_copies(
    predict: Callable[[Any], Array], X: Any, columns: Sequence[tuple[int, Array]]
) -> Iterator[Array]:
    """The predictions for each copy of `with_columns`, from few large batches.

    A model that predicts a row differently if other rows are added, as one does that compares the
    documents of a query, is given one copy at a time.
    """
    n, width = num_samples(X), max(1, len(column_names(X)) or np.shape(X)[1])
    batch = max(1, BATCH_VALUES // (n * width))
    for start in range(0, len(columns), batch):
        part = columns[start : start + batch]
        scores = predict(with_columns(X, part)).reshape(len(part), n)
        if start == 0 and len(part) > 1:
            alone = predict(with_columns(X, part[-1:])).ravel()
            if not np.allclose(scores[-1], alone, rtol=1e-5, atol=1e-8 * np.abs(alone).max()):
                yield from (predict(with_columns(X, [column])).ravel() for column in columns)
                return
        yield from scores
