"""The difference between two models in the mean of one metric."""

from __future__ import annotations

from dataclasses import dataclass

from .._table import html_of_fields
from ..metrics.segment import Segment
from .intervals import Interval
from .margins import Verdict


@dataclass(frozen=True)
class Difference:
    """Difference between a model and the baseline in the mean of one metric.

    Parameters
    ----------
    metric, model, baseline : str
        Names of the metric and of the two models.
    segment : Segment
        Column and value of the segment; ``("", "all queries")`` for all queries.
    queries : int
        Number of queries for which the metric is defined for both models.
    share : float
        Their share of the total weight of these queries in all segments.
    baseline_mean, model_mean : float
        Means over these queries.
    difference : float
        ``model_mean - baseline_mean``.
    standard_error : float
        Standard error of the difference.
    interval : Interval
        Confidence interval of the difference.
    few_distinct : bool
        Whether fewer than six queries differ from the most common difference. The interval of
        ``method="auto"`` is then a bound that follows from the range of the metric, and nan without
        a known range.
    p_value, adjusted_p_value : float
        Two-sided p-value, and the same adjusted for multiple testing.
    direction : int
        1 if the test speaks for the model, -1 if for the baseline, 0 for neither. It is the sign of
        `difference`, but the sign of the rank sum with ``test="wilcoxon"``, which may differ; then
        neither model is called better.
    rest_p_value : float or None
        Adjusted p-value of Welch's t-test that the difference is the same for all other queries;
        None for all queries, and nan if fewer than six queries of the segment, or of all others,
        differ from the most common difference, or if one of these queries has more than 99.9 % of
        the weight.
    noninferiority_p_value, equivalence_p_value : float or None
        Adjusted p-values of a difference of at most -margin, and of one outside of ±margin; None
        without a margin.
    wins, ties, losses : int
        Number of queries for which the value of the model is higher, equal and lower.
    verdict : {"equivalent", "better", "worse", "no worse", "undecided"} or None
        The conclusion with a margin, of which the first that applies is stated: the difference is
        within ±margin, above 0, below 0, or above -margin.
    """

    metric: str
    model: str
    baseline: str
    segment: Segment
    queries: int
    share: float
    baseline_mean: float
    model_mean: float
    difference: float
    standard_error: float
    interval: Interval
    few_distinct: bool
    p_value: float
    adjusted_p_value: float
    direction: int
    rest_p_value: float | None
    noninferiority_p_value: float | None
    equivalence_p_value: float | None
    wins: int
    ties: int
    losses: int
    verdict: Verdict | None = None

    def _repr_html_(self) -> str:
        return html_of_fields(self)


def agreed_sign(difference: Difference) -> int:
    """The sign of a difference if the test speaks for the same model, 0 otherwise."""
    direction = difference.direction
    return direction if direction * difference.difference > 0 else 0
