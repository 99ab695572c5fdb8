"""Ids, values and weights of queries as arrays, checked."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import Array
from ..query_ids.read import as_objects


def as_id_array(ids: Any) -> Array:
    """Ids as a one-dimensional array; tuples stay tuples, and 1 and "1" stay distinct."""
    if isinstance(ids, np.ndarray):
        return ids
    ids = list(ids)
    types = {type(i) for i in ids}
    if len(types) > 1 or any(issubclass(t, tuple) for t in types):
        return as_objects(ids)
    return np.asarray(ids)


def check_query_values(
    ids: Array, values: Array, metrics: tuple[str, ...], weights: Array | None
) -> None:
    """Refuse arrays of inconsistent shapes, duplicates and invalid weights."""
    shape = (len(ids), len(metrics))
    if values.shape != shape:
        raise ValueError(
            f"values must have shape {shape}, one row per query and one column per metric; got "
            f"shape {values.shape}."
        )
    if not len(ids):
        raise ValueError("QueryScores needs at least one query; got none.")
    for kind, names in (("query ids", ids.tolist()), ("metrics", list(metrics))):
        if len(set(names)) < len(names):
            duplicate = next(name for name in names if names.count(name) > 1)
            raise ValueError(f"{kind} must be unique; got {duplicate!r} more than once.")
    if weights is None:
        return
    if weights.shape != shape[:1]:
        raise ValueError(f"weights must have shape {shape[:1]}; got shape {weights.shape}.")
    if not (np.isfinite(weights) & (weights >= 0)).all() or not weights.any():
        raise ValueError(
            "weights must be finite and not negative, and at least one must be positive; got "
            f"values from {weights.min()} to {weights.max()}."
        )
