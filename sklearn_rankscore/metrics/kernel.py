"""What every metric shares: a formula over one block, and the way from options to values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from ..ranking import Block, Queries, Ranking, Values, aggregate
from ..ranking.arrays import Array
from .options import READERS, check_average, choice, gain_function, number


def _no_check(queries: Queries, **options: Any) -> None:
    """Labels of any size."""


@dataclass(frozen=True)
class Kernel:
    """The formula of a metric.

    Parameters
    ----------
    formula : callable
        ``formula(block, **options)``, which returns numerator, denominator and whether the metric
        is defined, each an array with one entry per query of the block.
    ratio : bool
        Whether the ratio of the sums over queries (``average="micro"``) means something.
    check : callable
        ``check(queries, **options)`` raises where the labels do not suit the options.
    denominators : tuple of str
        What the option `denominator` may be, if there is one.
    """

    formula: Callable[..., tuple[Array, Array, Array]]
    ratio: bool
    check: Callable[..., None]
    denominators: tuple[str, ...]

    def bind(self, **options: Any) -> BoundKernel:
        """The formula with its options, each checked and turned into what it stands for."""
        ready = {
            name: READERS[name](value) if name in READERS else value
            for name, value in options.items()
        }
        if "gain" in ready:
            ready["gain"] = gain_function(ready["gain"], ready.get("threshold", 0.0))
        if "denominator" in ready:
            choice("denominator", ready["denominator"], self.denominators)
        return BoundKernel(partial(self.formula, **ready), ready.get("k"), self, options)

    def score(
        self,
        queries: Queries,
        average: str | None,
        replace_undefined_by: float,
        n_jobs: int | None,
        **options: Any,
    ) -> float | Array:
        """The answer of a page: every query's value, then their aggregate."""
        check_average(average, ratio=self.ratio)
        replacement = number("replace_undefined_by", replace_undefined_by, nan=True)
        values = self.values(queries, n_jobs, **options)
        return aggregate(values, average, replacement, queries.weights)

    def values(self, queries: Queries, n_jobs: int | None, **options: Any) -> Values:
        """The value of every query."""
        bound = self.bind(**options)
        bound.check(queries)
        return Ranking(queries, bound.depth).apply([bound.formula], n_jobs)[0]


@dataclass(frozen=True)
class BoundKernel:
    """A kernel with its options: what remains is a function of a block."""

    formula: Callable[[Block], Any]
    depth: int | None
    kernel: Kernel
    options: dict[str, Any]

    def check(self, queries: Queries) -> None:
        """Raise where the labels do not suit the options."""
        self.kernel.check(queries, **self.options)


def kernel(
    *,
    ratio: bool = False,
    check: Callable[..., None] = _no_check,
    denominators: tuple[str, ...] = (),
) -> Callable[[Callable[..., tuple[Array, Array, Array]]], Kernel]:
    """Make a formula a kernel."""

    def wrap(formula: Callable[..., tuple[Array, Array, Array]]) -> Kernel:
        return Kernel(formula, ratio, check, denominators)

    return wrap
