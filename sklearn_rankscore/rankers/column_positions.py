"""Features that are named by their positions, which change when a column of ids leaves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from .id_columns import IdColumns

OF_FIT = ("categorical_feature", "cat_features", "text_features", "embedding_features")
OF_CONSTRUCTOR = (
    *OF_FIT,
    "categorical_features",
    "ignored_features",
    "interaction_constraints",
    "interaction_cst",
)


def renumber_columns(params: dict[str, Any], ids: IdColumns) -> dict[str, Any]:
    """Parameters of `fit` whose positions mean columns of X, as positions among the features."""
    renumbered = {
        name: [_place(name, entry, ids) for entry in _as_list(params[name])]
        for name in OF_FIT
        if name in params and any(map(_is_position, _as_list(params[name])))
    }
    return params | renumbered


def check_column_positions(estimator: Any, ids: IdColumns) -> None:
    """Refuse parameters whose positions mean other columns with and without the ids."""
    if not ids.positions or not hasattr(estimator, "get_params"):
        return
    for name, value in estimator.get_params().items():
        parameter = name.rpartition("__")[2]
        used = list(_positions(value)) if parameter in OF_CONSTRUCTOR else []
        if any(position >= ids.positions[0] for position in used):
            raise ValueError(
                f"{name}={value!r} names columns by position, but QueryRanker removes the column "
                f"of query ids at position {ids.positions[0]}, so that later positions are "
                "ambiguous. Use the names of the columns; or make the ids an index level, "
                "X.set_index('qid'), or the last column."
            )


def _place(name: str, entry: Any, ids: IdColumns) -> Any:
    if not _is_position(entry):
        return entry
    if entry in ids.positions:
        raise ValueError(
            f"{name} names the column at position {entry}, which contains the query ids and is "
            "not a feature."
        )
    return int(entry) - sum(position < int(entry) for position in ids.positions)


def _is_position(entry: Any) -> bool:
    is_integer = isinstance(entry, int | np.integer) and not isinstance(entry, bool)
    return bool(is_integer and entry >= 0)


def _as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple | np.ndarray | range) else [value]


def _positions(value: Any) -> Iterator[int]:
    """Positions in a list, or in a list of lists."""
    if _is_position(value):
        yield value
    elif isinstance(value, Iterable) and not isinstance(value, str | dict):
        for entry in value:
            yield from _positions(entry)
