"""Aggregate one value per query into the result."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import Array


class MetricValues:
    """The value of a metric for each query: numerator, denominator, and whether it is defined.

    Parameters
    ----------
    n_queries : int
        Number of queries, each of which must be given a value by `set`.

    Attributes
    ----------
    defined : bool array of shape (n_queries,)
        Whether the metric is defined for each query.
    """

    def __init__(self, n_queries: int) -> None:
        self._ratio, self.defined = np.empty(n_queries), np.ones(n_queries, dtype=bool)
        self._parts: list[tuple[Array, Array, Array]] = []

    def set(self, queries: Array, result: Any) -> None:
        """Store what a formula returned for some queries: values, or a tuple of three arrays."""
        if not (isinstance(result, tuple) and queries.shape in map(np.shape, result)):
            values = np.asarray(result, float)
            if values.shape != queries.shape:
                raise ValueError(
                    "a metric must return one value per query of the block: "
                    f"{len(queries)} queries, got an array of shape {values.shape}."
                )
            result = values, 1.0, ~np.isnan(values)
        numerator, denominator, defined = result
        # copied, because they may be views of larger arrays
        numerator, denominator = np.array(numerator, float), np.array(denominator, float)
        defined = np.asarray(defined, dtype=bool)
        if not numerator.shape == defined.shape == queries.shape:  # some may be numbers
            numerator, defined = (np.full(queries.shape, part) for part in (numerator, defined))
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = numerator / denominator
        ratio[(denominator == 0) & defined] = 0.0
        # only what is always needed, because writing to queries that are far apart is slow
        self._ratio[queries] = ratio
        self._parts.append((queries, numerator, denominator))
        self.defined[queries[np.flatnonzero(~defined)]] = False

    @property
    def numerator(self) -> Array:
        """One numerator per query."""
        return self._in_order([(queries, numerator) for queries, numerator, _ in self._parts])

    @property
    def denominator(self) -> Array:
        """One denominator per query."""
        return self._in_order([(queries, denominator) for queries, _, denominator in self._parts])

    def _in_order(self, parts: list[tuple[Array, Array]]) -> Array:
        of_all = np.empty(len(self.defined))
        for queries, values in parts:
            of_all[queries] = values
        return of_all

    def per_query(self, replace_undefined_by: float) -> Array:
        """One value per query."""
        ratio = self._ratio.copy()
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
