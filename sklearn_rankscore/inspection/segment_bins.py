"""Segments of columns: categories, or quartiles of numbers."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass

import numpy as np

from .._typing import Array
from ..metrics.segment import MISSING, MOST_CATEGORIES, refuse_missing_as_text

N_BINS = 4


@dataclass(frozen=True)
class SegmentColumn:
    """A column of segments: the distinct values, and the position of that of each query."""

    name: str
    values: list[Hashable]
    codes: Array


def bin_segments(columns: Mapping[str, Array]) -> list[SegmentColumn]:
    """Numbers with more than ten values as quartiles, anything else as categories."""
    return [_column(name, values) for name, values in columns.items()]


def _column(name: str, values: Array) -> SegmentColumn:
    missing = np.array([value is None for value in values.tolist()], dtype=bool)
    refuse_missing_as_text(name, values, missing)
    codes = np.empty(len(values), dtype=np.intp)
    present = values[~missing]
    if missing.any() and {type(value) for value in present.tolist()} <= {int, float}:
        present = np.array(present.tolist())
    if present.dtype.kind in "iuf" and len(np.unique(present)) > MOST_CATEGORIES:
        names, codes[~missing] = _quantile_bins(present)
    else:
        distinct: dict[Hashable, None] = dict.fromkeys(present.tolist())
        try:
            names = sorted(distinct)  # type: ignore[type-var]
        except TypeError:
            names = list(distinct)
        position = {value: code for code, value in enumerate(names)}
        codes[~missing] = [position[value] for value in present.tolist()]
    if missing.any():
        codes[missing], names = len(names), [*names, MISSING]
    return SegmentColumn(name, names, codes)


def _quantile_bins(values: Array) -> tuple[list[Hashable], Array]:
    """Bins that are closed above, as in `pandas.qcut`; infinite values belong to the outer ones."""
    finite = values[np.isfinite(values)]
    clipped = np.clip(values, finite.min(), finite.max())
    edges = np.unique(np.quantile(clipped, np.linspace(0, 1, N_BINS + 1)))
    codes = np.maximum(np.searchsorted(edges, clipped) - 1, 0)
    edges = np.array([values.min(), *edges[1:-1], values.max()], dtype=np.float64)
    brackets = "[" + "(" * (len(edges) - 2)
    texts = _distinct_texts(edges)
    names: list[Hashable] = [
        f"{bracket}{low}, {high}]"
        for bracket, low, high in zip(brackets, texts[:-1], texts[1:], strict=True)
    ]
    return names, codes


def _distinct_texts(edges: Array) -> list[str]:
    """Different numbers as different texts, with at least six significant digits."""
    texts: list[str] = []
    for digits in range(6, 18):
        texts = [f"{edge:.{digits}g}" for edge in edges]
        if len(set(texts)) == len(texts):
            break
    return texts
