"""Symmetric means of many documents, up to a low degree, from power sums.

By Newton's identities, j e_j = p_1 e_{j-1} - p_2 e_{j-2} + …, where p_i is the sum of the powers
q**i of the factors. If e_j / e_{j-1} is several times the highest factor, these terms soon are
negligible, and relative errors are at most about 1e-16 times the degree.
"""

from __future__ import annotations

import numpy as np

from .._typing import Array
from .factor_groups import FactorGroups, join_groups, reduce_groups
from .polynomials import AT_ONCE, BLOCK, NEGLIGIBLE, blocks, steps

# the highest degree; the recurrence computes one after another
HIGHEST = 2**10

# the highest ratio of a term to the one before it
RATIO = 1 / 2

# factors of a group whose powers are computed at once, few enough to stay in cache
LONGEST = 2**14


def number_of_terms(groups: FactorGroups) -> Array:
    """The number of terms that matter, for each group; 0 if other methods suit it better."""
    n_terms = np.zeros(len(groups.sizes), dtype=np.intp)
    some = np.flatnonzero((groups.sizes > BLOCK) & (groups.tops <= HIGHEST))
    some = some[_terms(groups.tops[some], groups.sizes[some]) < groups.tops[some]]
    if len(some):
        given = groups.factors, groups.starts[some], groups.sizes[some]
        # a mean of 0 has no further degrees, so that the highest factor is positive
        total, highest = reduce_groups(np.add, *given), reduce_groups(np.maximum, *given)
        terms = _terms(groups.tops[some], total / highest)
        few = terms < groups.tops[some]
        n_terms[some[few]] = terms[few]
    return n_terms


def _terms(tops: Array, relative: Array) -> Array:
    """The number of terms up to degrees, given the sum of the factors relative to the highest.

    The number of successes, each of the probability q x / (1 + q x), has probabilities proportional
    to e_j x**j, which ascend up to its mean, less 1 (Darroch's theorem). For x = r / max(q), the
    mean is at least r / (1 + r) times the relative sum, so that e_{j-1} / e_j is at most x for any
    j up to this mean, less 1.
    """
    degree = tops + 1.0
    ratio = degree / np.maximum(relative - degree, 1.0)  # at least 2 if the bound is below 1
    terms = np.ceil(np.log(NEGLIGIBLE) / np.log(np.minimum(ratio, RATIO))) + 1
    return np.where(ratio <= RATIO, terms, np.inf)


def means_from_power_sums(groups: FactorGroups, n_terms: Array) -> Array:
    """The means of degree 1, 2, … of each group, in rows."""
    signed = _power_sums(groups, int(n_terms.max()))
    signed[1::2] *= -1
    signed[np.arange(len(signed))[:, None] >= n_terms] = 0  # no group may depend on others
    return _newton(signed, groups.sizes, int(groups.tops.max()))


def _power_sums(groups: FactorGroups, n: int) -> Array:
    """The sums of the first n powers of the factors of each group, in columns."""
    n_blocks, starts, sizes = blocks(groups.starts, groups.sizes, LONGEST)
    sums = np.empty((n, len(starts)))
    for some in steps(len(starts), AT_ONCE // int(sizes.max())):
        factors, heads = join_groups(groups.factors, starts[some], sizes[some])
        power = factors.copy()
        for of_power in sums:
            np.add.reduceat(power, heads, out=of_power[some])
            power *= factors
    return np.asarray(np.add.reduceat(sums, np.cumsum(n_blocks) - n_blocks, axis=1))


def _newton(signed: Array, sizes: Array, top: int) -> Array:
    """Newton's identities for p_1, -p_2, p_3, …, in terms of means e_j / C(m, j)."""
    if len(sizes) == 1:  # doubled, because NumPy may sum a single one in another order
        return _newton(np.repeat(signed, 2, axis=1), np.repeat(sizes, 2), top)[:, :1]
    means, terms = np.empty((top, len(sizes))), np.zeros_like(signed)
    terms[0] = 1.0  # those of the degrees j, j - 1, …, times C(m, j - i) / C(m, j)
    for j, mean in enumerate(means):
        np.einsum("is,is->s", signed, terms, out=mean)
        mean /= sizes - j
        terms[1:] = terms[:-1] * ((j + 1) / (sizes - j))
        terms[0] = mean
    return means
