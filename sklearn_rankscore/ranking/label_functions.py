"""Functions of labels: gains, and whether a document is relevant."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from .._typing import Array, ArrayFunction


class TabulatedFunction:
    """A function of labels that is defined for every small non-negative integer.

    It may be evaluated once per distinct label instead of once per document.
    """

    def __init__(self, function: ArrayFunction) -> None:
        self._function = function
        self._tables: dict[int, Array] = {}

    def __call__(self, labels: Array) -> Array:
        """The value of each label."""
        return self._function(labels)

    def table(self, n_labels: int) -> Array:
        """0, then the values of the labels 0, 1, …, n_labels - 1."""
        if n_labels not in self._tables:
            labels = np.arange(n_labels, dtype=np.float64)
            self._tables[n_labels] = np.append(0.0, self._function(labels))
        return self._tables[n_labels]


@TabulatedFunction
def linear(labels: Array) -> Array:
    """The label itself."""
    return np.asarray(labels, dtype=np.float64)


@TabulatedFunction
def exponential(labels: Array) -> Array:
    """2 to the power of the label, minus 1."""
    return np.asarray(np.exp2(np.asarray(labels, dtype=np.float64)) - 1.0)


@lru_cache(maxsize=256)
def relevant(threshold: float) -> ArrayFunction:
    """1 if the label exceeds the threshold, 0 otherwise."""
    return TabulatedFunction(lambda labels: np.asarray(labels > threshold, dtype=np.float64))


@TabulatedFunction
def judged(labels: Array) -> Array:
    """1 if the document was judged, 0 if the label is NaN or negative."""
    return np.asarray(labels >= 0, dtype=np.float64)


@TabulatedFunction
def pooled_unjudged(labels: Array) -> Array:
    """1 if the label is negative: in the pool to be judged, but not judged."""
    return np.asarray(labels < 0, dtype=np.float64)


@lru_cache(maxsize=256)
def judged_relevant(threshold: float) -> ArrayFunction:
    """1 if the document was judged and its label exceeds the threshold, 0 otherwise."""
    return TabulatedFunction(
        lambda labels: np.asarray((labels >= 0) & (labels > threshold), dtype=np.float64)
    )


@lru_cache(maxsize=256)
def judged_irrelevant(threshold: float) -> ArrayFunction:
    """1 if the document was judged and its label is at most the threshold, 0 otherwise."""
    return TabulatedFunction(
        lambda labels: np.asarray((labels >= 0) & (labels <= threshold), dtype=np.float64)
    )


@lru_cache(maxsize=256)
def gain_table(gains: tuple[float, ...]) -> ArrayFunction:
    """The gain of label 0, of label 1, and so on."""
    table = np.array(gains)
    return TabulatedFunction(
        lambda labels: table.take(np.asarray(labels, dtype=np.intp), mode="clip")
    )


def complement(function: ArrayFunction) -> ArrayFunction:
    """1 minus a function of labels, tabulated if that function is."""

    def one_minus(labels: Array) -> Array:
        return 1.0 - function(labels)

    return TabulatedFunction(one_minus) if isinstance(function, TabulatedFunction) else one_minus
