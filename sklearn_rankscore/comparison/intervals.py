"""Means of queries with their standard errors and confidence intervals.

Throughout, `values` has shape (n_queries, n_metrics) and no nan, and `weights` has shape
(n_queries,) and is positive.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from numbers import Integral
from typing import Any, NamedTuple, TypeVar, get_args

import numpy as np
from scipy import stats
from sklearn.utils import check_random_state
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from .._table import number_text
from .._typing import Array, IntervalMethod, Seed
from .._validation import check_choice, check_count, check_fraction

T = TypeVar("T")

# sums of the same terms in a different order differ by rounding, and must still count as equal
TOLERANCE = 1e-12

# with a larger share of the weight the mean is the value of one query, and has no estimated error
ALL_OF_ONE = 0.99

# with fewer, the permutation test cannot reject at the level of 5 %, because 2 / 2**5 > .05
FEWEST_DISTINCT = 6

# a query at an end of the range, such as one in n may be without being seen, would move the mean by
# this many standard errors
FARTHEST = 15

# queries that are checked first, because they suffice nearly always
SOME = 200

# how often a batch of resamples draws each query, so that the counts fit in cache
BATCH_SIZE = 2**18

# columns of one product of these counts
AT_ONCE = 8

# seconds before a progress bar appears
DELAY = 2.0


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
    share = weights / weights.sum()
    if share.max() > ALL_OF_ONE:
        return np.full(values.shape[1], np.nan)
    squares = _weighted_sum((values - mean(values, weights)) ** 2, _factors(share))
    return np.asarray(np.sqrt(squares))


def _factors(share: Array) -> Array:
    """The factor of each squared residual in the squared standard error."""
    return np.asarray(share**2 / (1 - 2 * share + (share**2).sum()))


def degrees_of_freedom(weights: Array) -> float:
    """Degrees of freedom of `standard_error`; n - 1 if all weights are equal.

    Satterthwaite's approximation for values of equal variance, (tr A)² / tr(A²), where the squared
    error is the quadratic form of A; Bell and McCaffrey, as above.
    """
    share = weights / weights.sum()
    if share.max() > ALL_OF_ONE:
        return np.nan
    factor, total = _factors(share), float((share**2).sum())
    # A_kj² = f_k f_j (Σh² - h_k - h_j)² outside of the diagonal, and the trace is Σh²
    zero, one, two = (float((factor * share**power).sum()) for power in range(3))
    outside = (total * zero) ** 2 - 4 * total * zero * one + 2 * zero * two + 2 * one**2
    return total**2 / (outside + float((factor**2 * (1 - 4 * share + 2 * total)).sum()))


def of_equal_variances(two: Any, three: Any, four: Any, five: Any) -> tuple[Any, Any]:
    """Tr A and tr A² of A = M' diag(h²) M with M = I - 1 h', from Σ h², Σ h³, Σ h⁴ and Σ h⁵.

    With shares h of the weight, the squared error Σ h² r² of a mean is a quadratic form in the
    values, with the matrix A. If their variances are equal, its expectation is their variance times
    tr A, and its degrees of freedom are Satterthwaite's (tr A)² / tr A².
    """
    trace = two - 2 * three + two**2
    cross = two**4 - 4 * two**2 * three + 2 * two * four + 2 * three**2
    return trace, four * (1 + 2 * two) - 4 * five + cross


def skewness_of_mean(values: Array, weights: Array) -> Array:
    """Skewness of the weighted mean of each column; 0 without variation.

    That of the values is assumed to be the same for all weights, like their variance in
    `standard_error`: cubed weighted residuals miss rare losses if no large weight is among them.
    """
    by_metric = np.ascontiguousarray(values.T)  # so that no metric is rounded by the others
    residuals = by_metric - by_metric.mean(axis=1, keepdims=True)
    squares = residuals * residuals  # a power of 3 is computed by logarithms
    second, third = np.mean(squares, axis=1), np.mean(squares * residuals, axis=1)
    scaled = weights / weights.max()
    of_weights = (scaled**3).sum() / (scaled**2).sum() ** 1.5
    varies = np.ptp(values, axis=0) > TOLERANCE
    zeros = np.zeros_like(third)
    return np.asarray(of_weights * np.divide(third, second**1.5, out=zeros, where=varies))


def without_skewness(t: Array, skewness: Array) -> Array:
    """The t statistics of means, transformed to have nearly the distribution of Student.

    P. Hall. On the Removal of Skewness by Transformation. Journal of the Royal Statistical Society
    B 54, 1992.
    """
    return np.asarray(t + skewness * t**2 / 3 + skewness**2 * t**3 / 27 + skewness / 6)


def _with_skewness(quantile: float, skewness: Array) -> Array:
    """The t statistics that `without_skewness` transforms to a quantile."""
    is_skewed = np.abs(skewness) > 1e-8
    safe = np.where(is_skewed, skewness, 1.0)
    skewed = 3 / safe * (np.cbrt(1 + safe * (quantile - safe / 6)) - 1)
    return np.where(is_skewed, skewed, quantile)


def t_interval(values: Array, weights: Array, confidence: float, *, skewed: bool = False) -> Array:
    """Student's t interval of the mean, of shape (2, n_metrics).

    If it is `skewed`, skewness moves each end, away from the mean only.
    """
    center, error = mean(values, weights), standard_error(values, weights)
    skewness = skewness_of_mean(values, weights) if skewed else np.zeros_like(error)
    return skewed_ends(center, error, skewness, degrees_of_freedom(weights), confidence)


def skewed_ends(
    center: Array, error: Array, skewness: Array, freedom: float, confidence: float
) -> Array:
    """`t_interval` of the mean, its standard error and its skewness, as a stream knows them."""
    t = stats.t.ppf((1 + confidence) / 2, freedom)
    above, below = _with_skewness(t, skewness), _with_skewness(-t, skewness)
    return np.asarray(center - error * np.array([np.maximum(t, above), np.minimum(-t, below)]))


def difference_interval(
    values: Array, weights: Array, confidence: float, low: Array, high: Array
) -> Array:
    """The skewed `t_interval`, but where `shows_too_little` of the differences `bounded_interval`.

    Without a finite range it is then nan, as the p-values of `one_sided_p_values` are.
    """
    ends = t_interval(values, weights, confidence, skewed=True)
    weak = shows_too_little(values, weights, low, high)
    ends[:, weak] = np.nan
    bounded = weak & np.isfinite(low) & np.isfinite(high)
    ends[:, bounded] = bounded_interval(
        values[:, bounded], weights, confidence, low[bounded], high[bounded]
    )
    return ends


def mean_interval(
    values: Array, weights: Array, confidence: float, low: Array, high: Array
) -> Array:
    """`bounded_interval` where the range is finite, `difference_interval` elsewhere."""
    ends = np.empty((2, values.shape[1]))
    bounded = np.isfinite(low) & np.isfinite(high)
    for which, interval in ((bounded, bounded_interval), (~bounded, difference_interval)):
        ends[:, which] = interval(values[:, which], weights, confidence, low[which], high[which])
    return ends


def shows_too_little(values: Array, weights: Array, low: Array, high: Array) -> Array:
    """Whether no error of each mean can be estimated: few values differ, or all by next to nothing.

    Small wins do not tell whether one query in some dozen loses much, as the range [low, high] of
    the values allows.
    """
    effective = effective_share(weights)
    few = has_few_distinct(values, effective)
    move = np.where(np.isfinite(high - low), (high - low) / 2, 0) / (effective * len(values))
    return np.asarray(few | (FARTHEST * standard_error(values, weights) < move))


def has_few_distinct(values: Array, effective: Array | float, rows: Array | None = None) -> Array:
    """Whether too few values of each column differ from the most common one to estimate an error.

    Fewer than six, if the queries have equal weights; their number is multiplied by the `effective`
    share of the queries. Values of nan do not count.
    """
    rows = np.arange(len(values)) if rows is None else rows
    needed = np.broadcast_to(
        # equal weights must not lose a query by rounding
        np.divide(FEWEST_DISTINCT * (1 - TOLERANCE), np.maximum(effective, TOLERANCE)),
        values.shape[1:],
    )
    few = np.asarray(_n_differing(values[rows[:SOME]]) < needed)
    # more queries can only add values that differ
    if few.any() and len(rows) > SOME:
        few[few] = _n_differing(values[np.ix_(rows, few)]) < needed[few]
    return few


def effective_share(weights: Array) -> float:
    """The effective number of queries with these weights, as a share of their number."""
    scaled = weights / weights.max()
    return float(scaled.sum() ** 2 / (len(weights) * (scaled**2).sum()))


def _n_differing(values: Array) -> Array:
    """How many values of each column differ from the most common one; nan does not count."""
    if not len(values):
        return np.zeros(values.shape[1])
    ascending, rows = np.sort(values, axis=0), np.arange(len(values))[:, None]
    defined = ~np.isnan(ascending)
    starts = np.where(np.diff(ascending, axis=0, prepend=-np.inf) > TOLERANCE, rows, 0)
    of_same = np.where(defined, rows - np.maximum.accumulate(starts, axis=0) + 1, 0)
    return np.asarray(defined.sum(axis=0) - of_same.max(axis=0))


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
    low_end = _lower_end(values, weights, confidence, low)
    return np.array([low_end, -_lower_end(-values, weights, confidence, -high)])


def bounded_tail(values: Array, weights: Array, at: Array, low: Array) -> Array:
    """p-value of a mean of at most `at`, for values of at least `low`; see `bounded_interval`."""
    values, weights = _with_lowest(values, weights, low)
    inside = (at > low) & (at < values.max(axis=0))
    p_values = np.where(at <= low, 0.0, 1.0)
    if inside.any():
        quantiles = _tail_quantile(values[:, inside], weights, at[inside])
        p_values[inside] = stats.norm.cdf(quantiles)
    return p_values


def _with_lowest(values: Array, weights: Array, low: Array) -> tuple[Array, Array]:
    """With one further value, of the weight of a query drawn in proportion to the weights."""
    return np.vstack([low, values]), np.append((weights**2).sum() / weights.sum(), weights)


def _lower_end(values: Array, weights: Array, confidence: float, low: Array) -> Array:
    """The mean m below which Σ E_i w_i (v_i - m) is negative with probability (1 - confidence) / 2.

    E are standard exponential variables, whose normalized values are uniform on the simplex.
    """
    values, weights = _with_lowest(values, weights, low)
    target = stats.norm.ppf((1 - confidence) / 2)
    end = low.astype(np.float64)
    open_columns = values.max(axis=0) - low > TOLERANCE
    if open_columns.any():
        end[open_columns] = _solve(values[:, open_columns], weights, target, low[open_columns])
    return end


def _solve(values: Array, weights: Array, target: float, low: Array) -> Array:
    """The mean at which the normal quantile of `_tail_quantile` is `target`; regula falsi."""
    a, b = low.astype(np.float64), mean(values, weights)
    # at the lowest value the sum is never negative; at the mean it is so about half of the time
    at_a, at_b = np.full(len(a), 8 * target), np.zeros(len(a))
    center, scale = b, b - a
    spread = np.sqrt(_weighted_sum((values - b) ** 2, weights**2)) / weights.sum()
    guess = np.clip(center + target * spread, a + scale / 100, b - scale / 100)
    side, is_solved = np.zeros(len(a)), np.zeros(len(a), dtype=bool)
    for _ in range(60):
        quantile = _tail_quantile(values, weights, guess)
        below = quantile < target
        # the Illinois rule: an end that stays twice counts half
        at_b = np.where(below & (side == -1), (at_b + target) / 2, at_b)
        at_a = np.where(~below & (side == 1), (at_a + target) / 2, at_a)
        a, at_a = np.where(below, guess, a), np.where(below, quantile, at_a)
        b, at_b = np.where(below, b, guess), np.where(below, at_b, quantile)
        side = np.where(below, -1, 1)
        is_solved |= (np.abs(quantile - target) < 1e-7) | (b - a <= 1e-13 * scale)
        if is_solved.all():
            break
        rise = at_b - at_a
        part = np.divide(target - at_a, rise, out=np.full_like(rise, 0.5), where=rise > 0)
        guess = np.where(is_solved, guess, np.clip(a + (b - a) * part, a, b))
    return np.asarray(guess)


def _tail_quantile(values: Array, weights: Array, at: Array) -> Array:
    """Normal quantile of P(Σ E_i w_i (v_i - at) <= 0), for standard exponential variables E.

    A saddlepoint approximation: O. E. Barndorff-Nielsen. Inference on Full or Partial Parameters
    Based on the Standardized Signed Log Likelihood Ratio. Biometrika 73, 1986.
    """
    terms = np.ascontiguousarray((weights[:, None] * (values - at)).T)
    tiny = np.finfo(np.float64).tiny
    low, high = 1 / np.minimum(terms.min(axis=1), -tiny), 1 / np.maximum(terms.max(axis=1), tiny)
    saddle, is_solved = np.zeros(len(terms)), np.zeros(len(terms), dtype=bool)
    for _ in range(60):
        ratio = terms / (1 - terms * saddle[:, None])
        slope, curvature = ratio.sum(axis=1), (ratio**2).sum(axis=1)
        low, high = np.where(slope < 0, saddle, low), np.where(slope > 0, saddle, high)
        step = -slope / curvature
        is_solved |= np.abs(step) * np.sqrt(curvature) < 1e-9
        if is_solved.all():
            break
        newton = saddle + step
        is_inside = (newton > low) & (newton < high)
        saddle = np.where(is_solved, saddle, np.where(is_inside, newton, (low + high) / 2))
    cumulant = -np.log1p(-terms * saddle[:, None]).sum(axis=1)
    root = np.sign(saddle) * np.sqrt(np.maximum(-2 * cumulant, 0))
    scaled = saddle * np.sqrt(curvature)
    with np.errstate(divide="ignore", invalid="ignore"):
        modified = root + np.log(scaled / root) / root
    return np.asarray(np.where(np.abs(root) < 1e-5, root, modified))


def interval_estimate(
    auto: Callable[..., Array],
    confidence: float,
    method: IntervalMethod,
    n_resamples: int,
    random_state: Seed,
) -> Callable[..., Array]:
    """The interval as a statistic of values, weights and the range of each metric.

    Every call of it draws the same resamples, so that no result depends on others.
    """
    confidence = check_fraction("confidence", confidence)
    n_resamples = check_count("n_resamples", n_resamples, 1)
    seed = draw_seed(random_state)
    if check_choice("method", method, get_args(IntervalMethod)) == "auto":
        return lambda values, weights, *ranges: auto(values, weights, confidence, *ranges)
    if method == "t":
        return lambda values, weights, *_: t_interval(values, weights, confidence)
    return lambda values, weights, *_: bootstrap_interval(
        values, weights, confidence, n_resamples, np.random.default_rng(seed)
    )


def draw_seed(random_state: Seed) -> int:
    """A seed of a NumPy generator from any `random_state` that scikit-learn accepts."""
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**32))
    if isinstance(random_state, Integral):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31))


def bootstrap_interval(
    values: Array, weights: Array, confidence: float, n_resamples: int, random: np.random.Generator
) -> Array:
    """Bias-corrected and accelerated (BCa) bootstrap interval of the mean.

    B. Efron. Better Bootstrap Confidence Intervals. JASA 82, 1987.
    """
    center = mean(values, weights)
    if len(values) < 2:
        return np.full((2, len(center)), np.nan)
    deviations = values - center
    resampled = resampled_means(deviations, weights, n_resamples, random)
    levels = _bca_levels(resampled, deviations, weights, confidence)
    quantiles = np.column_stack(
        [np.quantile(column, level) for column, level in zip(resampled.T, levels.T, strict=True)]
    )
    is_constant = np.ptp(values, axis=0) == 0
    return np.where(is_constant, center, center + quantiles)


@threadpool_limits.wrap(limits=1, user_api="blas")  # narrow products are bound by memory
def resampled_means(
    values: Array, weights: Array, n_resamples: int, random: np.random.Generator
) -> Array:
    """Weighted means of bootstrap resamples, of shape (n_resamples, n_metrics)."""
    terms, n_metrics = np.column_stack([weights[:, None] * values, weights]), values.shape[1]
    # products of BLAS round alike only if they have the same number of columns
    padded = np.pad(terms, ((0, 0), (0, -terms.shape[1] % AT_ONCE)))
    blocks = [padded[:, i : i + AT_ONCE].copy() for i in range(0, padded.shape[1], AT_ONCE)]
    batches = _resampled_counts(len(values), n_resamples, random)
    sums = np.concatenate([np.hstack([c @ block for block in blocks]) for c in batches])
    return np.asarray(sums[:, :n_metrics] / sums[:, n_metrics, None])


def _resampled_counts(
    n_queries: int, n_resamples: int, random: np.random.Generator
) -> Iterator[Array]:
    """How often each resample draws each query, in batches of resamples."""
    size = max(1, BATCH_SIZE // n_queries)
    sizes = [min(size, n_resamples - start) for start in range(0, n_resamples, size)]
    for n_rows in with_progress(sizes, len(sizes), "batches of resamples"):
        drawn = random.integers(0, n_queries, size=(n_rows, n_queries))
        drawn += np.arange(n_rows)[:, None] * n_queries
        counts = np.bincount(drawn.ravel(), minlength=drawn.size)
        yield counts.reshape(drawn.shape).astype(np.float64)


def _bca_levels(resampled: Array, deviations: Array, weights: Array, confidence: float) -> Array:
    """Quantiles of the resampled means at which the interval ends, of shape (2, n_metrics).

    The jackknife needs no loop: without query i, a weighted mean changes by
    -w_i (v_i - mean) / (Σ w - w_i).
    """
    tolerance = TOLERANCE * np.abs(deviations).max(axis=0)
    # a resampled mean equal to the estimate counts half, as in scipy.stats.bootstrap
    p_less, p_at_most = (resampled < -tolerance).mean(axis=0), (resampled <= tolerance).mean(axis=0)
    p_min = 0.5 / len(resampled)
    bias = stats.norm.ppf(np.clip((p_less + p_at_most) / 2, p_min, 1 - p_min))
    w = weights[:, None]
    changes = -w * deviations / (weights.sum() - w)
    influence = changes.mean(axis=0) - changes
    cubes, scale = (influence**3).sum(axis=0), (influence**2).sum(axis=0) ** 1.5
    acceleration = np.divide(cubes, 6 * scale, out=np.zeros_like(scale), where=scale > 0)
    z = bias + stats.norm.ppf([[(1 - confidence) / 2], [(1 + confidence) / 2]])
    return np.asarray(stats.norm.cdf(bias + z / np.maximum(1 - acceleration * z, 1e-12)))


def with_progress(items: Iterable[T], total: int, unit: str) -> Iterable[T]:
    """The items, with a progress bar on a terminal if they take long; it disappears at the end."""
    try:
        from tqdm import tqdm
    except ImportError:
        return items
    bar: Iterable[T] = tqdm(
        items, total=total, unit=f" {unit}", delay=DELAY, disable=None, leave=False
    )
    return bar
