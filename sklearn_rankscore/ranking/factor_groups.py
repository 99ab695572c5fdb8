"""Groups of factors, one for each document of a tie group."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .._typing import Array
from .polynomials import AT_ONCE, BLOCK, steps


@dataclass
class FactorGroups:
    """Groups of factors, and the highest degree of each whose mean is computed."""

    factors: Array
    starts: Array
    sizes: Array
    tops: Array

    def take(self, chosen: Array) -> FactorGroups:
        """Some of the groups."""
        return FactorGroups(
            self.factors, self.starts[chosen], self.sizes[chosen], self.tops[chosen]
        )

    def batches(self) -> Iterator[Array]:
        """Groups of similar degrees and sizes at once."""
        exponent = np.frexp(self.tops)[1]
        order = np.lexsort((self.sizes, exponent))
        for part in np.split(order, np.flatnonzero(np.diff(exponent[order])) + 1):
            # the coefficients of one block for each group, at most one per document and degree
            columns = AT_ONCE // min(int(self.tops[part].max(initial=1)), BLOCK)
            yield from (part[some] for some in steps(len(part), columns))


def reduce_groups(function: np.ufunc, values: Array, starts: Array, sizes: Array) -> Array:
    """A sum or product over each group; groups do not overlap, and their starts ascend."""
    edges = np.stack([starts, starts + sizes], axis=1).ravel()
    return np.asarray(function.reduceat(values, edges[edges < len(values)])[::2])


def join_groups(values: Array, starts: Array, sizes: Array) -> tuple[Array, Array]:
    """The values of one group after another, and where each begins."""
    parts = zip(starts.tolist(), (starts + sizes).tolist(), strict=True)
    joined = np.concatenate([values[start:end] for start, end in parts])
    return joined, np.cumsum(sizes) - sizes
