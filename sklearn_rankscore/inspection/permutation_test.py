"""The paired permutation test of weighted mean differences: it flips the signs of differences.

Throughout, `terms` has shape (n_queries, n_metrics) and holds weighted differences. Terms of 0 do
not count, as flipping their sign changes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy import stats

from .._typing import Array
from .intervals import TOLERANCE
from .resampling import BATCH_SIZE, batch_sizes, with_single_threaded_blas

# with more differences than this, the error of the saddlepoint approximation is below that of
# 9,999 resamples
MOST_RESAMPLED = 1000

# a term is enumerated, not approximated, if its square is more than this share of the sum of the
# squares of all smaller terms, and if there are at most this many possible sums
DOMINANT, MOST_SUMS = 0.1, 2**20

# sums are taken for continuous if the largest term is more than this many of their steps
FINEST_STEP = 10_000

# standard deviations between which tails are interpolated; a sum exceeds the last of them with a
# probability below 1e-15 (Hoeffding's inequality)
GRID = np.linspace(0, 8.5, 35)

# if each size occurs so often on average, counting the flips by size is faster than a product of
# matrices
FEWEST_OF_A_SIZE = 10

# the bytes of random bits of one batch whose flips are counted by size
LARGE_BATCH = 2**21

# the number of bits that are set in each byte
SET_BITS = np.unpackbits(np.arange(2**8, dtype=np.uint8)[:, None], axis=1).sum(1, dtype=np.uint16)


@dataclass(frozen=True)
class _Sizes:
    """The distinct sizes of the terms of one metric, ascending, and how often each occurs.

    Only the number of terms that flip matters among those of one size.
    """

    values: Array
    counts: Array
    observed: float

    @classmethod
    def of(cls, terms: Array, observed: float) -> _Sizes:
        return cls(*_distinct(np.abs(terms[terms != 0])), observed)

    def n_sums(self) -> float:
        """The number of sums that flips can give, at most."""
        with np.errstate(over="ignore"):
            return float(np.prod(self.counts + 1.0))

    def exact_p_value(self) -> float:
        """Of all possible sums, as each number of flips has a binomial distribution."""
        sums, probabilities = np.zeros(1), np.ones(1)
        for value, count in zip(self.values, self.counts, strict=True):
            flips = np.arange(count + 1)
            sums = np.add.outer(sums, value * (count - 2 * flips)).ravel()
            probabilities = np.outer(probabilities, stats.binom.pmf(flips, count, 0.5)).ravel()
        return min(float(probabilities[np.abs(sums) >= self.observed].sum()), 1.0)

    def n_extreme(self, flips: Array, before: Array) -> int:
        """How many samples are as extreme as the observed sum.

        Row i of `flips` has the bits of eight terms, and row i of `before` the number of bits that
        are set above it.
        """
        row, n_bits = np.divmod(np.concatenate([[0], np.cumsum(self.counts)]), 8)
        first_bits = ((1 << n_bits) - 1).astype(np.uint8)[:, None]
        up_to = before[row] + SET_BITS.take(flips[row] & first_bits)
        by_size = np.diff(up_to.astype(np.float64), axis=0)
        sums = self.values @ (self.counts[:, None] - 2 * by_size)
        return int((np.abs(sums) >= self.observed).sum())


def _distinct(sizes: Array) -> tuple[Array, Array]:
    """The distinct sizes, ascending, and how often each occurs.

    Differences of values such as .6 - .4 and .4 - .2 differ by rounding, and count as equal.
    """
    ascending = np.sort(sizes)
    differs = np.append(True, np.diff(ascending) > TOLERANCE * ascending[1:])[: len(sizes)]
    (first,) = np.nonzero(differs)
    return ascending[first], np.diff(first, append=len(sizes))


def permutation_p_values(terms: Array, n_resamples: int, random: np.random.Generator) -> Array:
    """Two-sided p-values of the null hypothesis that the mean difference is 0.

    The distribution is enumerated if it has at most `n_resamples` sums, sampled if at most
    `MOST_RESAMPLED` queries differ, and approximated otherwise. If b of m samples are as extreme as
    the observed sum, which also counts, the p-value is (b + 1) / (m + 1).
    """
    n, p_values = np.count_nonzero(terms, axis=0), np.empty(terms.shape[1])
    # sums of the same terms in another order differ by rounding
    observed = np.abs(terms.sum(axis=0)) - TOLERANCE * np.abs(terms).sum(axis=0)
    by_size, single, approximated = {}, [], []
    for j, column in enumerate(terms.T):
        sizes = _Sizes.of(column, observed[j]) if n[j] <= max(n_resamples, MOST_RESAMPLED) else None
        if sizes is not None and sizes.n_sums() <= n_resamples:
            p_values[j] = sizes.exact_p_value()
        elif sizes is None or n[j] > MOST_RESAMPLED:
            approximated.append(j)
        elif FEWEST_OF_A_SIZE * len(sizes.values) <= n[j]:
            by_size[j] = sizes
        else:
            single.append(j)
    p_values[list(by_size)] = _flip_by_size(list(by_size.values()), n_resamples, random)
    p_values[single] = _flip_signs(terms[:, single], observed[single], n_resamples, random)
    p_values[approximated] = _approximate(terms[:, approximated])
    return p_values


def _flip_by_size(
    metrics: Sequence[_Sizes], n_resamples: int, random: np.random.Generator
) -> Array:
    n_extreme = np.zeros(len(metrics))
    n_rows = 1 + max((of.counts.sum() for of in metrics), default=0) // 8
    for size in batch_sizes(n_rows, n_resamples, LARGE_BATCH) if metrics else ():
        flips = random.integers(0, 2**8, size=(n_rows, size), dtype=np.uint8)
        before = np.zeros(flips.shape, dtype=np.uint16)
        for i in range(n_rows - 1):  # several times as fast as np.cumsum along this axis
            np.add(before[i], SET_BITS.take(flips[i]), out=before[i + 1])
        n_extreme += [of.n_extreme(flips, before) for of in metrics]
    return np.asarray((n_extreme + 1) / (n_resamples + 1))


@with_single_threaded_blas
def _flip_signs(
    terms: Array, observed: Array, n_resamples: int, random: np.random.Generator
) -> Array:
    terms = terms[terms.any(axis=1)].T
    sums, n_extreme = terms.sum(axis=1, keepdims=True), np.zeros(len(terms))
    for flipped in _random_flips(terms.shape[1], n_resamples, random):
        flipped_sums = sums - 2 * (terms @ flipped.astype(np.float64))
        n_extreme += (np.abs(flipped_sums) >= observed[:, None]).sum(axis=1)
    return np.asarray((n_extreme + 1) / (n_resamples + 1))


def _random_flips(n: int, n_resamples: int, random: np.random.Generator) -> Iterator[Array]:
    """Whether each term flips, of shape (n, size of the batch)."""
    for size in batch_sizes(max(n, 1), n_resamples, BATCH_SIZE):
        bits = random.integers(0, 256, size=(n, -(-size // 8)), dtype=np.uint8)
        yield np.unpackbits(bits, axis=1, count=size)


def _approximate(terms: Array) -> Array:
    """Two-sided p-values by a saddlepoint approximation; exact if all differences are equal.

    If some terms have much of the variance, as with weights by traffic, sums are not nearly normal.
    The signs of these terms are then enumerated, and only the sum of the others is approximated.
    """
    tails = [_enumerate_largest(np.abs(column), abs(column.sum())) for column in terms.T]
    return np.asarray(np.minimum(2 * np.array(tails), 1.0))


def _enumerate_largest(sizes: Array, observed: float) -> float:
    """P(S >= observed), given each number of positive signs among the terms of one size."""
    largest = sizes.max()
    values, counts = _distinct(sizes[sizes > 0] / largest)
    squares = counts * values**2
    smaller, n_bits = np.cumsum(squares) - squares, np.cumsum(np.log2(counts[::-1] + 1))[::-1]
    # larger ones too, because similar terms dominate together
    (dominant,) = np.nonzero((values**2 > DOMINANT * smaller) & (n_bits <= np.log2(MOST_SUMS)))
    n = dominant[0] if len(dominant) else len(values)
    # sums of the same terms in another order differ by rounding
    at, probabilities = np.array([observed / largest - TOLERANCE * (counts @ values)]), np.ones(1)
    for value, count in zip(values[n:][::-1], counts[n:][::-1], strict=True):
        positive = np.arange(count + 1)
        at = np.subtract.outer(at, value * (2 * positive - count)).ravel()
        of_count = stats.binom.pmf(positive, count, 0.5)
        probabilities = np.outer(probabilities, of_count).ravel()
    if not n:
        return float(probabilities @ (at <= 0))
    others = np.repeat(values[:n], counts[:n])[:, None]
    return float(probabilities @ _upper_tails(others, _between_sums(values[:n], counts[:n], at)))


def _between_sums(values: Array, counts: Array, at: Array) -> Array:
    """Half a step below the least possible sum of at least `at`, if the sums have equal steps.

    There a continuous distribution has nearly the same tail (continuity correction). H. E. Daniels.
    Tail Probability Approximations. International Statistical Review 55, 1987.
    """
    if not (half_step := _common_divisor(values)):
        return at
    highest = counts @ values
    n_steps = np.floor((highest - at) / (2 * half_step))
    return np.asarray(highest - (2 * n_steps + 1) * half_step)


def _common_divisor(values: Array) -> float:
    """The largest number of which all values, of at most 1, are multiples; 0 if it is tiny."""
    numerator, denominator = 0, 1
    for value in values.tolist():
        ratio = Fraction(value).limit_denominator(FINEST_STEP)
        if abs(value - ratio) > TOLERANCE:
            return 0.0
        common = math.lcm(denominator, ratio.denominator)
        numerator = math.gcd(
            numerator * (common // denominator), ratio.numerator * (common // ratio.denominator)
        )
        denominator = common
        if denominator > FINEST_STEP * numerator:
            return 0.0
    return numerator / denominator


def _upper_tails(sizes: Array, at: Array) -> Array:
    """As `_upper_tail` of one metric, at many values.

    They are interpolated as quantiles of a normal distribution, nearly a straight line.
    """
    if len(at) <= len(GRID):
        return np.array([_upper_tail(sizes, value)[0] for value in at[:, None]])
    grid = GRID * np.sqrt(np.sum(sizes**2))
    tails = [_upper_tail(sizes, value)[0] for value in grid[:, None]]
    quantiles = stats.norm.isf(np.maximum(tails, np.finfo(np.float64).tiny))
    return np.asarray(stats.norm.sf(np.sign(at) * np.interp(np.abs(at), grid, quantiles)))


def _upper_tail(sizes: Array, at: Array) -> Array:
    """P(S >= at) for the sum S of terms of these sizes with random signs, of shape (n_metrics,).

    J. Robinson. Saddlepoint Approximations for Permutation Tests and Confidence Intervals. Journal
    of the Royal Statistical Society B 44, 1982.
    """
    sums = np.abs(at)
    largest = sizes.max(axis=0, initial=0)
    saddle, curvature = np.zeros(len(sums)), np.einsum("qm,qm->m", sizes, sizes)
    reachable = np.minimum(sums, sizes.sum(axis=0) * (1 - 1e-9))
    for _ in range(60):
        tanh = np.tanh(saddle * sizes)
        slope = np.einsum("qm,qm->m", sizes, tanh) - reachable
        curvature = np.einsum("qm,qm->m", sizes**2, 1 - tanh**2)
        step = slope / np.maximum(curvature, np.finfo(np.float64).tiny)
        if (np.abs(slope) <= 1e-10 * np.sqrt(curvature)).all():
            break
        saddle = np.maximum(saddle - np.clip(step, -2 / largest, 2 / largest), 0)
    exponents = saddle * sizes
    cumulant = (exponents + np.log1p(np.exp(-2 * exponents)) - np.log(2)).sum(axis=0)
    root = np.sqrt(np.maximum(2 * (saddle * reachable - cumulant), 0))
    with np.errstate(divide="ignore", invalid="ignore"):
        modified = root + np.log(saddle * np.sqrt(curvature) / root) / root
    modified = np.where(root < 1e-4, root, modified)
    # near the largest sum, where the saddle point is infinite, only the bound of Chernoff holds
    tail = np.minimum(stats.norm.sf(modified), np.exp(-(root**2) / 2))
    tail[sums > sizes.sum(axis=0) * (1 + TOLERANCE)] = 0.0
    return np.asarray(np.where(at < 0, 1 - tail, tail))
