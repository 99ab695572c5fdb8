"""The only door out: one value per query becomes the answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .arrays import Array


@dataclass
class Values:
    """What a kernel found for each query: a ratio, and whether there was anything to measure."""

    numerator: Array
    denominator: Array
    defined: Array

    @classmethod
    def empty(cls, n_queries: int) -> Values:
        """Room for so many queries."""
        return cls(np.empty(n_queries), np.empty(n_queries), np.empty(n_queries, dtype=bool))

    def put(self, queries: Array, found: Any) -> None:
        """Store a kernel's result for some queries: (numerator, denominator, defined) or values."""
        if isinstance(found, tuple):
            (
                self.numerator[queries],
                self.denominator[queries],
                self.defined[queries],
            ) = found
            return
        values = np.asarray(found, dtype=np.float64)
        if values.shape != queries.shape:
            raise ValueError(
                f"a metric must return one value per query of the block: {len(queries)} queries, "
                f"got an array of shape {values.shape}."
            )
        self.numerator[queries], self.denominator[queries] = values, 1.0
        self.defined[queries] = ~np.isnan(values)

    def per_query(self, replace_undefined_by: float) -> Array:
        """One value per query."""
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = self.numerator / self.denominator
        ratio[self.defined & (self.denominator == 0)] = 0.0
        # by places, because a mask that changes at every other query is several times as slow
        ratio[np.flatnonzero(~self.defined)] = replace_undefined_by
        return ratio


def aggregate(
    values: Values,
    average: str | None,
    replace_undefined_by: float,
    weights: Array | None,
) -> float | Array:
    """Mean over queries, ratio of sums, or the array."""
    if average is None:
        return values.per_query(replace_undefined_by)
    if average == "macro" and weights is None:
        found = values.per_query(replace_undefined_by)
        found = found[values.defined] if np.isnan(replace_undefined_by) else found
        return float(found.sum() / len(found)) if len(found) else float("nan")
    counted = values.defined if np.isnan(replace_undefined_by) else np.ones_like(values.defined)
    w = counted.astype(np.float64) if weights is None else weights * counted
    if not w.any():
        return float("nan")
    if average == "micro":
        below = float((w * values.denominator)[counted].sum())
        above = float((w * values.numerator)[counted].sum())
        return above / below if below else float(replace_undefined_by)
    return float((w * values.per_query(replace_undefined_by))[counted].sum() / w.sum())
