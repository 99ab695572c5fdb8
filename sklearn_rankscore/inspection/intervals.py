"""Confidence intervals of weighted means, in closed form or by a root of one equation.

Throughout, `values` has shape (n_queries, n_metrics) and no nan, and `weights` has shape
(n_queries,) and is positive.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import stats

from .._typing import Array

# sums of the same terms in a different order differ by rounding, and must still count as equal
TOLERANCE = 1e-12

# with less weight on all other queries the mean is the value of one, and has no estimated error
ALL_OF_ONE = 2.0**-52

# with fewer, the permutation test cannot reject at the level of 5 %, because 2 / 2**5 > .05
FEWEST_DISTINCT = 6


class Interval(NamedTuple):
    """A confidence interval.

    Parameters
    ----------
    low, high : float
        Its lower and upper end.
    """

    low: float
    high: float

    def __format__(self, spec: str) -> str:
        if not spec:
            return str(self)
        return f"[{number_text(self.low, spec)}, {number_text(self.high, spec)}]"


def number_text(number: float, spec: str) -> str:
    """A formatted number; nan without a sign, and rounding errors as 0."""
    shown = 0.0 if abs(number) <= TOLERANCE else number
    return f"{shown:{spec}}".replace("+nan", "nan")


def mean(values: Array, weights: Array) -> Array:
    """Weighted mean of each column."""
    return np.asarray(_weighted_sum(values, weights) / weights.sum())


def _weighted_sum(values: Array, weights: Array) -> Array:
    """Weighted sum of each column, which does not depend on how many other columns there are.

    The sums over rows of NumPy and the products of BLAS round differently for each shape.
    """
    return np.asarray(np.sum(np.ascontiguousarray(values.T) * weights, axis=-1))


def standard_error(values: Array, weights: Array) -> Array:
    """Standard error of the weighted mean; s / sqrt(n) if all weights are equal.

    sqrt(Σ h² (v - mean)² / (1 - 2 h + Σ h²)) with h = w / Σ w: each squared residual is divided by
    its expectation for values of equal variance, so that the squared error is then unbiased. The
    estimator CR2 of a regression on a constant: R. M. Bell, D. F. McCaffrey. Bias Reduction in
    Standard Errors for Linear Regression with Multi-Stage Samples. Survey Methodology 28, 2002.
    """
    if len(values) < 2:
        return np.full(values.shape[1], np.nan)
    share, rest = _shares(weights)
    if rest.min() < ALL_OF_ONE:
        return np.full(values.shape[1], np.nan)
    factor = _factors(share, rest)
    squares = _weighted_sum((values - mean(values, weights)) ** 2, factor)
    return np.asarray(np.sqrt(squares))


def _shares(weights: Array) -> tuple[Array, Array]:
    """The share of each query in the total weight, and that of all others."""
    total, largest = weights.sum(), np.argmax(weights)
    share, rest = weights / total, (total - weights) / total
    rest[largest] = np.delete(weights, largest).sum() / total  # 1 - share would cancel
    return share, rest


def _factors(share: Array, rest: Array) -> Array:
    """The factor of each squared residual in the squared standard error."""
    largest = np.argmax(share)
    others = float((np.delete(share, largest) ** 2).sum())
    of_others = others + share[largest] ** 2 - share**2  # the squared shares of all others
    of_others[largest] = others  # where the difference would cancel
    return np.asarray(share**2 / (rest**2 + of_others))


def degrees_of_freedom(weights: Array) -> float:
    """Degrees of freedom of `standard_error`; n - 1 if all weights are equal.

    Satterthwaite's approximation for values of equal variance, (tr A)² / tr(A²), where the squared
    error is the quadratic form of A; Bell and McCaffrey, as above.
    """
    share, rest = _shares(weights)
    if rest.min() < ALL_OF_ONE:
        return np.nan
    factor, largest = _factors(share, rest), np.argmax(weights)
    # the query of the largest weight by itself, whose terms cancel to a square of `rest`
    first, first_share, first_rest = (float(of[largest]) for of in (factor, share, rest))
    share, factor = np.delete(share, largest), np.delete(factor, largest)
    others = float((share**2).sum())
    total = first_share**2 + others
    zero, one, two = (float((factor * share**power).sum()) for power in range(3))
    cross = (total * zero) ** 2 - 4 * total * zero * one + 2 * zero * two + 2 * one**2
    diagonal = float((factor**2 * (1 - 4 * share + 2 * total)).sum())
    own, between = first * (first_rest**2 + others), others - first_share * first_rest
    with_first = 2 * first * (between**2 * zero - 2 * between * one + two)
    trace = own + zero * (1 + total) - 2 * one
    return trace**2 / (own**2 + with_first + diagonal + cross)


def t_interval(values: Array, weights: Array, confidence: float) -> Array:
    """Student's t interval of the mean, of shape (2, n_metrics)."""
    if len(values) < 2:
        return np.full((2, values.shape[1]), np.nan)
    t = stats.t.ppf((1 + confidence) / 2, degrees_of_freedom(weights))
    center, margin = mean(values, weights), t * standard_error(values, weights)
    return np.array([center - margin, center + margin])


def bounded_interval(
    values: Array, weights: Array, confidence: float, low: Array, high: Array
) -> Array:
    """Interval of the mean of values in [low, high], of shape (2, n_metrics).

    The lower end is a quantile of Σ D_i v_i with D uniform on the simplex, where one further value
    equals `low`; for the upper end it equals `high`. For values 0 and 1 it is the interval of
    Clopper and Pearson, up to the error of a saddlepoint approximation, and for all others no
    distribution is known that it covers too rarely: E. Learned-Miller, P. S. Thomas. A New
    Confidence Interval for the Mean of a Bounded Random Variable. arXiv 1905.06208, 2019, after
    N. Gaffke, 2005.
    """
    ends = [
        sign * _lower_end(sign * values, weights, confidence, sign * bound)
        for sign, bound in ((1, low), (-1, high))
    ]
    return np.array(ends)


def auto_interval(
    values: Array, weights: Array, confidence: float, low: Array, high: Array
) -> Array:
    """`bounded_interval` where the range is finite, `t_interval` elsewhere."""
    ends = t_interval(values, weights, confidence)
    ends[:, np.ptp(values, axis=0) <= TOLERANCE] = np.nan  # no variation, no error to estimate
    bounded = np.isfinite(low) & np.isfinite(high)
    ends[:, bounded] = bounded_interval(
        values[:, bounded], weights, confidence, low[bounded], high[bounded]
    )
    return ends


def difference_interval(
    values: Array, weights: Array, confidence: float, low: Array, high: Array
) -> Array:
    """`t_interval`, but where too few queries differ from all others `bounded_interval`.

    Without a finite range it is then nan, as the p-values of `margin_p_values` are.
    """
    ends = t_interval(values, weights, confidence)
    few = has_few_distinct(values)
    ends[:, few] = np.nan
    bounded = few & np.isfinite(low) & np.isfinite(high)
    ends[:, bounded] = bounded_interval(
        values[:, bounded], weights, confidence, low[bounded], high[bounded]
    )
    return ends


def has_few_distinct(values: Array) -> Array:
    """Whether fewer than six values of each column differ from the most common one."""
    n = len(values)
    if n < 2 * FEWEST_DISTINCT:
        equal = np.abs(values[:, None] - values[None]) <= TOLERANCE
        most = equal.sum(axis=0).max(axis=0)
    else:  # it is then the value of six of any eleven queries, and their median
        most = (np.abs(values - _common(values)) <= TOLERANCE).sum(axis=0)
    return np.asarray(n - most < FEWEST_DISTINCT)


def _common(values: Array) -> Array:
    """The most common value of each column if fewer than six of many differ from it."""
    first = values[: 2 * FEWEST_DISTINCT - 1]
    return np.asarray(np.sort(first, axis=0)[len(first) // 2])


def bounded_tail(values: Array, weights: Array, at: Array, low: Array) -> Array:
    """p-value of a mean of at most `at`, for values of at least `low`; see `bounded_interval`."""
    values, weights, counts = _with_lowest(values, weights, low)
    inside = (at > low) & (at < values.max(axis=0))
    p_values = np.where(at <= low, 0.0, 1.0)
    if inside.any():
        quantiles = _tail_quantile(values[:, inside], weights, counts, at[inside])
        p_values[inside] = stats.norm.cdf(quantiles)
    return p_values


def _with_lowest(values: Array, weights: Array, low: Array) -> tuple[Array, Array, Array]:
    """With one further value, of the weight of a query drawn in proportion to the weights.

    The third array has the number of queries of each row: those with the most common values and
    weight share the first one.
    """
    further = (weights**2).sum() / weights.sum()
    rows = np.column_stack([values, weights])
    is_common = (rows == _common(rows)).all(axis=1)
    common, others = np.flatnonzero(is_common), np.flatnonzero(~is_common)
    rows = rows[np.concatenate([common[:1], others])]
    counts = np.ones(1 + len(rows))
    counts[1 : 1 + len(common[:1])] = len(common)
    return np.vstack([low, rows[:, :-1]]), np.insert(rows[:, -1], 0, further), counts


def _lower_end(values: Array, weights: Array, confidence: float, low: Array) -> Array:
    """The mean m below which Σ E_i w_i (v_i - m) is negative with probability (1 - confidence) / 2.

    E are standard exponential variables, whose normalized values are uniform on the simplex.
    """
    values, weights, counts = _with_lowest(values, weights, low)
    target = stats.norm.ppf((1 - confidence) / 2)
    end = low.astype(np.float64)
    open_columns = values.max(axis=0) - low > TOLERANCE
    columns = values[:, open_columns]
    if columns.size:
        end[open_columns] = _solve(columns, weights, counts, target, low[open_columns])
    return end


def _solve(values: Array, weights: Array, counts: Array, target: float, low: Array) -> Array:
    """The mean at which the normal quantile of `_tail_quantile` is `target`; regula falsi."""
    a, b = low.astype(np.float64), mean(values, weights * counts)
    # at the lowest value the sum is never negative; at the mean it is so about half of the time
    at_a, at_b = np.full(len(a), 8 * target), np.zeros(len(a))
    center, scale = b, b - a
    spread = np.sqrt((weights**2 * counts) @ (values - b) ** 2) / (weights @ counts)
    guess = np.clip(center + target * spread, a + scale / 100, b - scale / 100)
    side = np.zeros(len(a))
    for _ in range(60):
        quantile = _tail_quantile(values, weights, counts, guess)
        below = quantile < target
        # the Illinois rule: an end that stays twice counts half
        at_b = np.where(below & (side == -1), (at_b + target) / 2, at_b)
        at_a = np.where(~below & (side == 1), (at_a + target) / 2, at_a)
        a, at_a = np.where(below, guess, a), np.where(below, quantile, at_a)
        b, at_b = np.where(below, b, guess), np.where(below, at_b, quantile)
        side = np.where(below, -1, 1)
        if (np.abs(quantile - target) < 1e-7).all() or (b - a <= 1e-13 * scale).all():
            break
        rise = at_b - at_a
        part = np.divide(target - at_a, rise, out=np.full_like(rise, 0.5), where=rise > 0)
        guess = np.clip(a + (b - a) * part, a, b)
    return np.asarray(guess)


def _tail_quantile(values: Array, weights: Array, counts: Array, at: Array) -> Array:
    """Normal quantile of P(Σ E_i w_i (v_i - at) <= 0), for standard exponential variables E.

    A saddlepoint approximation: O. E. Barndorff-Nielsen. Inference on Full or Partial Parameters
    Based on the Standardized Signed Log Likelihood Ratio. Biometrika 73, 1986.
    """
    terms = weights[:, None] * (values - at)
    tiny = np.finfo(np.float64).tiny
    low, high = 1 / np.minimum(terms.min(axis=0), -tiny), 1 / np.maximum(terms.max(axis=0), tiny)
    saddle = np.zeros(terms.shape[1])
    for _ in range(60):
        ratio = terms / (1 - terms * saddle)
        slope, curvature = counts @ ratio, np.einsum("q,qm,qm->m", counts, ratio, ratio)
        low, high = np.where(slope < 0, saddle, low), np.where(slope > 0, saddle, high)
        step = -slope / curvature
        if (np.abs(step) * np.sqrt(curvature) < 1e-9).all():
            break
        newton = saddle + step
        is_inside = (newton > low) & (newton < high)
        saddle = np.where(is_inside, newton, (low + high) / 2)
    cumulant = -(counts @ np.log1p(-terms * saddle))
    root = np.sign(saddle) * np.sqrt(np.maximum(-2 * cumulant, 0))
    scaled = saddle * np.sqrt(curvature)
    with np.errstate(divide="ignore", invalid="ignore"):
        modified = root + np.log(scaled / root) / root
    return np.asarray(np.where(np.abs(root) < 1e-5, root, modified))
