"""Prediction-powered estimates of a mean.

A. N. Angelopoulos, J. C. Duchi, T. Zrnic. PPI++: Efficient Prediction-Powered Inference. 2023.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from .._table import html_of_fields
from .._typing import Array
from .intervals import (
    TOLERANCE,
    Interval,
    degrees_of_freedom,
    has_few_distinct,
    standard_error,
)


@dataclass(frozen=True)
class RectifiedMean:
    """Mean of one metric, or difference of two systems, estimated from human and machine labels.

    Parameters
    ----------
    metric, system, versus : str
        Names of the metric, of the system, and of the system that it is compared with; `versus` is
        "" for a mean, and `system` is "" for a single system.
    estimate : float
        Estimate of the mean that human labels for all queries would give; unbiased if the power is
        not tuned, and otherwise with many human-labeled queries.
    interval : Interval
        Its confidence interval; nan like the standard error.
    standard_error : float
        Its standard error; nan if fewer than six values by human labels differ from the most common
        one, unless all values are different.
    human_mean, machine_mean : float
        Mean by the human labels alone, and by the machine labels of all queries alone.
    power : float
        Weight of the machine labels, from 0 to 1; 0 if they carry no information about the human
        labels.
    human_queries, machine_queries : int
        Number of queries with human labels, and of those with machine labels only; queries of
        weight 0 do not count.
    effective_queries : float
        Number of human-labeled queries that would give the same standard error without machine
        labels; nan like the standard error.
    """

    metric: str
    system: str
    versus: str
    estimate: float
    interval: Interval
    standard_error: float
    human_mean: float
    machine_mean: float
    power: float
    human_queries: int
    machine_queries: int
    effective_queries: float

    def _repr_html_(self) -> str:
        return html_of_fields(self)


@dataclass(frozen=True)
class Sample:
    """Values of queries by human and by machine labels, and of others by machine labels alone.

    Parameters
    ----------
    human, machine : array of shape (n_human,)
        Values of the same queries.
    other : array of shape (n_other,)
        Values of other queries, by machine labels.
    weights, other_weights : array
        Weights of the queries, with the mean 1.
    human_share : float
        Share of the queries with human labels in the weight of all queries.
    """

    human: Array
    machine: Array
    other: Array
    weights: Array
    other_weights: Array
    human_share: float

    def __sub__(self, baseline: Sample) -> Sample:
        """The differences to another system."""
        return Sample(
            self.human - baseline.human,
            self.machine - baseline.machine,
            self.other - baseline.other,
            self.weights,
            self.other_weights,
            self.human_share,
        )

    def power(self) -> float:
        """The weight of the machine labels for which the estimate has the least variance."""
        weights = np.concatenate([self.weights, self.other_weights])
        pooled = np.concatenate([self.machine, self.other])
        variance = np.var(weights * (pooled - np.average(pooled, weights=weights)), ddof=1)
        covariance = np.mean(
            _influence(self.human, self.weights) * _influence(self.machine, self.weights)
        )
        if variance == 0:
            return 0.0
        ratio = covariance / ((1 + len(self.human) / len(self.other)) * variance)
        return float(np.clip(ratio, 0, 1))

    def _has_few_distinct(self) -> bool:
        """Whether human labels give too few distinct values to estimate an error from.

        A few values that are all different do not suggest a common one.
        """
        all_differ = np.diff(np.sort(self.human)).min() > TOLERANCE
        return bool(has_few_distinct(self.human[:, None])[0]) and not all_differ

    def rectified(
        self, metric: str, system: str, versus: str, tuned: bool, method: str, confidence: float
    ) -> RectifiedMean:
        """The estimate with its interval."""
        power = self.power() if tuned else 1.0
        corrections, others = self.human - power * self.machine, power * self.other
        parts = [
            _squared_error(corrections, self.weights, method),
            _squared_error(others, self.other_weights, method),
        ]
        human, machine = (np.average(x, weights=self.weights) for x in (self.human, self.machine))
        other = np.average(self.other, weights=self.other_weights)
        estimate = human + power * (other - machine)
        error = np.nan if self._has_few_distinct() else np.sqrt(sum(parts))
        margin = error * _quantile(parts, [self.weights, self.other_weights], method, confidence)
        n, n_other = len(self.human), len(self.other)
        of_human = _squared_error(self.human, self.weights, method)
        effective = n * of_human / error**2 if error else np.nan
        by_machine = self.human_share * machine + (1 - self.human_share) * other
        interval = Interval(float(estimate - margin), float(estimate + margin))
        return RectifiedMean(
            metric, system, versus, float(estimate), interval, float(error), float(human),
            float(by_machine), power, n, n_other, float(effective),
        )  # fmt: skip


def _influence(values: Array, weights: Array) -> Array:
    """What each query contributes to the error of the weighted mean."""
    return np.asarray(weights * (values - np.average(values, weights=weights)))


def _squared_error(values: Array, weights: Array, method: str) -> float:
    """Squared standard error of the weighted mean: that of the references, or of a t interval."""
    if method == "normal":
        return float(np.var(_influence(values, weights))) / len(values)
    return float(standard_error(values[:, None], weights)[0]) ** 2


def _quantile(parts: list[float], weights: list[Array], method: str, confidence: float) -> float:
    """Of the normal distribution, or of Student's with the degrees of freedom of Welch."""
    level = (1 + confidence) / 2
    total = sum(parts)
    if method == "normal" or total == 0:
        return float(stats.norm.ppf(level))
    dfs = map(degrees_of_freedom, weights)
    freedom = total**2 / sum(part**2 / df for part, df in zip(parts, dfs, strict=True))
    return float(stats.t.ppf(level, freedom))
