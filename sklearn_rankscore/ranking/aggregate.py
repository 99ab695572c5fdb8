"""Aggregate one value per query into the result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import Array


@dataclass
class MetricValues:
    """The value of a metric for each query: numerator, denominator, and whether it is defined."""

    numerator: Array
    denominator: Array
    defined: Array

    @classmethod
    def empty(cls, n_queries: int) -> MetricValues:
        """Room for the values of `n_queries` queries."""
        return cls(np.empty(n_queries), np.empty(n_queries), np.empty(n_queries, dtype=bool))

    def set(self, queries: Array, result: Any) -> None:
        """Store what a formula returned for some queries: values, or a tuple of three arrays."""
        if isinstance(result, tuple) and any(np.shape(part) == queries.shape for part in result):
            (
                self.numerator[queries],
                self.denominator[queries],
                self.defined[queries],
            ) = result
            return
        values = np.asarray(result, dtype=np.float64)
        if values.shape != queries.shape:
            raise ValueError(
                f"a metric must return one value per query of the block: {len(queries)} queries, "
                f"got an array of shape {values.shape}."
            )
        self.numerator[queries], self.denominator[queries] = values, 1.0
        self.defined[queries] = ~np.isnan(values)

    def take(self, queries: Array) -> MetricValues:
        """The values of some queries."""
        return MetricValues(
            self.numerator[queries], self.denominator[queries], self.defined[queries]
        )

    def per_query(self, replace_undefined_by: float) -> Array:
        """One value per query."""
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = self.numerator / self.denominator
        ratio[self.defined & (self.denominator == 0)] = 0.0
        # by positions, because an irregular mask is several times slower
        ratio[np.flatnonzero(~self.defined)] = replace_undefined_by
        return ratio


def scaled_weights(weights: Array) -> Array:
    """Weights divided by a power of two, exactly, so that their sum is finite."""
    return np.asarray(np.ldexp(weights, -np.frexp(weights.max(initial=0.0))[1]))


def aggregate(
    values: MetricValues,
    average: str | None,
    replace_undefined_by: float,
    weights: Array | None,
) -> float | Array:
    """Mean over queries, ratio of sums, or the value of each query."""
    if average is None:
        return values.per_query(replace_undefined_by)
    if average == "macro" and weights is None:
        scores = values.per_query(replace_undefined_by)
        scores = scores[values.defined] if np.isnan(replace_undefined_by) else scores
        return float(scores.sum() / len(scores)) if len(scores) else float("nan")
    counted = values.defined if np.isnan(replace_undefined_by) else np.ones_like(values.defined)
    w = counted.astype(np.float64) if weights is None else scaled_weights(weights * counted)
    if not w.any():
        return float("nan")
    if average == "micro":
        denominator = float((w * values.denominator)[counted].sum())
        numerator = float((w * values.numerator)[counted].sum())
        return numerator / denominator if denominator else float(replace_undefined_by)
    return float((w * values.per_query(replace_undefined_by))[counted].sum() / w.sum())
