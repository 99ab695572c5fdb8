"""Functions of labels: gains, and whether a document is relevant."""

from __future__ import annotations

from functools import lru_cache, partial

import numpy as np

from .._typing import Array, ArrayFunction


def tabulated(function: ArrayFunction) -> ArrayFunction:
    """Declare a function of labels to be defined for every small non-negative integer.

    It may be evaluated once per distinct label instead of once per document.
    """
    function.is_tabulated = True  # type: ignore[attr-defined]
    return function


def is_tabulated(function: ArrayFunction) -> bool:
    """Whether a function of labels is defined for every small non-negative integer."""
    return hasattr(function, "is_tabulated")


@lru_cache(maxsize=1024)
def table(function: ArrayFunction, n_labels: int, first: float = 0.0) -> Array:
    """The first value, then those of the labels 0, 1, …, n_labels - 1."""
    return np.append(first, function(np.arange(n_labels, dtype=np.float64)))


linear = tabulated(partial(np.asarray, dtype=np.float64))
"""The label itself."""


@tabulated
def exponential(labels: Array) -> Array:
    """2 to the power of the label, minus 1."""
    return np.asarray(np.exp2(np.asarray(labels, dtype=np.float64)) - 1.0)


@lru_cache(maxsize=256)
def relevant(threshold: float) -> ArrayFunction:
    """1 if the label exceeds the threshold, 0 otherwise."""
    return tabulated(lambda labels: np.asarray(labels > threshold, dtype=np.float64))


@tabulated
def judged(labels: Array) -> Array:
    """1 if the document was judged, 0 if the label is NaN or negative."""
    return np.asarray(labels >= 0, dtype=np.float64)


@tabulated
def pooled_unjudged(labels: Array) -> Array:
    """1 if the label is negative: in the pool to be judged, but not judged."""
    return np.asarray(labels < 0, dtype=np.float64)


@lru_cache(maxsize=256)
def judged_relevant(threshold: float) -> ArrayFunction:
    """1 if the document was judged and its label exceeds the threshold, 0 otherwise."""
    return tabulated(
        lambda labels: np.asarray((labels >= 0) & (labels > threshold), dtype=np.float64)
    )


@lru_cache(maxsize=256)
def judged_irrelevant(threshold: float) -> ArrayFunction:
    """1 if the document was judged and its label is at most the threshold, 0 otherwise."""
    return tabulated(
        lambda labels: np.asarray((labels >= 0) & (labels <= threshold), dtype=np.float64)
    )


@lru_cache(maxsize=256)
def gain_table(gains: tuple[float, ...]) -> ArrayFunction:
    """The gain of label 0, of label 1, and so on."""
    by_label = np.array(gains)
    return tabulated(lambda labels: by_label.take(np.asarray(labels, dtype=np.intp), mode="clip"))
