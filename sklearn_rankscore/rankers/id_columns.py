"""The columns of X that are not features: query ids, and what scorers read."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Self

import numpy as np

from .._columns import column_names
from .._typing import Array
from .._validation import stacklevel_of_caller
from ..query_ids.lookup import QID, level_names
from ..scoring.columns import listed
from .pipelines import leaves_out

# rows that are compared first, so that few columns are compared as a whole
FIRST_ROWS = 100


@dataclass(frozen=True)
class IdColumns:
    """Columns with query ids, and others that are not features.

    Parameters
    ----------
    positions : tuple of int
        Where they are among the columns of the training data, ascending.
    names : tuple
        Their names in a frame; empty for an array.
    n_columns : int or None
        The number of columns of the training data; None for input without columns.
    """

    positions: tuple[int, ...] = ()
    names: tuple[Any, ...] = ()
    n_columns: int | None = None

    @classmethod
    def find(cls, X: Any, source: Any, ids: Any, dropped: Any = None) -> Self:
        """The columns that `source`, where the ids are found, stands for, and those to drop."""
        dropped, names = _names_or_positions(dropped), column_names(X)
        if not names and not dropped and (source is None or isinstance(source, str)):
            return cls()
        n_columns = len(names) if names else _n_columns(X)
        if callable(source):
            positions = _columns_that_equal(X, names, ids)
        elif isinstance(source, Integral):
            positions = [int(source) % n_columns] if n_columns else []
        elif not names:
            positions = []
        else:
            keys = [source or QID] if source is None or isinstance(source, str) else source
            positions = [place for place, name in enumerate(names) if name in keys]
        positions = sorted({*positions, *_dropped(X, names, n_columns, dropped)})
        id_names = tuple(names[place] for place in positions) if names else ()
        return cls(tuple(positions), id_names, n_columns)

    def warn_of_features(self, X: Any, ids: Any, estimator: Any) -> None:
        """Warn if a column that holds the query ids is left among the features."""
        features, names = self.drop(X), column_names(X)
        columns = [] if ids is None else _columns_that_equal(features, column_names(features), ids)
        columns = [column for column in columns if not leaves_out(estimator, features, column)]
        if not columns or len(set(np.asarray(ids)[:FIRST_ROWS].tolist())) <= 1:
            return
        column = column_names(features)[columns[0]] if names else columns[0]
        warnings.warn(
            f"column {column!r} of X holds the query ids, and the model is trained on it as a "
            "feature. Drop it from X"
            + (f", or use QueryRanker(..., groups={column!r}), which does." if names else "."),
            UserWarning,
            stacklevel=stacklevel_of_caller(),
        )

    def drop(self, X: Any) -> Any:
        """`X` without these columns; an array that never had them is returned as it is."""
        names = column_names(X)
        if names:
            present = [name for name in self.names if name in names]
            if not present:
                return X
            return X.drop(columns=present) if hasattr(X, "iloc") else X.drop(present)
        if not self.positions or (n_columns := _n_columns(X)) != self.n_columns:
            return X
        X = X.tocsr() if hasattr(X, "tocsr") else np.asarray(X)
        is_feature = np.ones(n_columns or 0, dtype=bool)
        is_feature[list(self.positions)] = False
        return X[:, np.flatnonzero(is_feature)]


def _names_or_positions(columns: Any) -> list[Any]:
    """`drop_columns` as a list, without flags and fractions."""
    given: list[Any] = [columns] if isinstance(columns, np.bool_ | Real) else listed(columns)
    for column in given:
        if isinstance(column, bool | np.bool_ | float | np.floating):
            raise TypeError(
                "drop_columns must hold names of columns or index levels, or positions of columns; "
                f"got {column!r}. Of a mask, pass the positions: numpy.flatnonzero(mask)."
            )
    return given


def _dropped(
    X: Any, names: list[Any], n_columns: int | None, dropped: Sequence[str | int]
) -> Iterator[int]:
    """The positions of the columns to drop; an index level is no column."""
    for column in dropped:
        if column in names:
            yield names.index(column)
        elif not isinstance(column, str) and n_columns and -n_columns <= column < n_columns:
            yield int(column) % n_columns
        elif column not in level_names(X):
            raise ValueError(
                f"drop_columns={column!r} is not a column of X"
                + (f"; its columns are {', '.join(map(str, names))}." if names else ", an array.")
            )


def _n_columns(X: Any) -> int | None:
    shape: tuple[int, ...] = np.shape(X) if isinstance(X, list | tuple) else getattr(X, "shape", ())
    return int(shape[1]) if len(shape) == 2 else None


def _columns_that_equal(X: Any, names: list[Any], ids: Any) -> list[int]:
    """The columns that hold the ids, by their name or by their values."""
    if isinstance(getattr(ids, "name", None), str) and ids.name in names:
        return [names.index(ids.name)]
    given: Array = np.asarray(ids)
    is_record = given.dtype.names is not None  # which NumPy does not compare with a column
    if given.ndim != 1 or is_record or hasattr(X, "tocsr") or not _n_columns(X):
        return []
    columns = [X[name] for name in names] if names else list(np.asarray(X).T)
    return [i for i, column in enumerate(columns) if _equal(column, given)]


def _equal(column: Any, ids: Array) -> bool:
    first_rows = np.asarray(column[:FIRST_ROWS])
    return np.array_equal(first_rows, ids[:FIRST_ROWS]) and np.array_equal(np.asarray(column), ids)
