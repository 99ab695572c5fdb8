"""Results of comparing models with a baseline."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from .._typing import SignificanceTest
from .intervals import Interval
from .table import Table, Tabular

Correction: TypeAlias = Literal["holm"] | None

FEW_DISTINCT = (
    "* fewer than six queries differ from all others; the interval is a bound that follows from "
    "the range of the metric"
)


@dataclass(frozen=True)
class Difference:
    """Difference between a model and the baseline in the mean of one metric.

    Parameters
    ----------
    metric, model : str
        Names of the metric and the model.
    baseline_mean, model_mean : float
        Means over the queries for which the metric is defined for both models.
    difference : float
        ``model_mean - baseline_mean``.
    standard_error : float
        Standard error of the difference.
    interval : Interval
        Confidence interval of the difference.
    few_distinct : bool
        Whether fewer than six queries differ from the most common difference. The interval is then
        a bound that follows from the range of the metric, and nan without a known range.
    p_value, adjusted_p_value : float
        Two-sided p-value, and the same adjusted for multiple testing.
    wins, ties, losses : int
        Number of queries for which the value of the model is higher, equal and lower.
    """

    metric: str
    model: str
    baseline_mean: float
    model_mean: float
    difference: float
    standard_error: float
    interval: Interval
    few_distinct: bool
    p_value: float
    adjusted_p_value: float
    wins: int
    ties: int
    losses: int


@dataclass(frozen=True, repr=False)
class Comparison(Tabular):
    """What `compare` returns: one `Difference` for each metric and model.

    Iteration yields the differences; ``comparison["ndcg@10", "tuned"]`` selects one.

    Parameters
    ----------
    baseline : str
        Name of the model that all others are compared with.
    differences : tuple of Difference
        By metric, then by model.
    confidence : float
        Confidence level of the intervals.
    test : {"permutation", "t", "wilcoxon"}
        Significance test of the p-values.
    correction : {"holm", None}
        Correction of the p-values for multiple testing.

    Notes
    -----
    `to_frame` has one row per metric and model, with the attributes of `Difference` as columns and
    the interval as "low" and "high".
    """

    baseline: str
    differences: tuple[Difference, ...]
    confidence: float
    test: SignificanceTest
    correction: Correction

    def __iter__(self) -> Iterator[Difference]:
        return iter(self.differences)

    def __len__(self) -> int:
        return len(self.differences)

    def __getitem__(self, metric_and_model: tuple[str, str]) -> Difference:
        for difference in self.differences:
            if (difference.metric, difference.model) == metric_and_model:
                return difference
        known = ", ".join(repr((d.metric, d.model)) for d in self.differences)
        raise KeyError(f"no comparison {metric_and_model!r}; the comparisons are {known}.")

    def _columns(self) -> dict[str, Any]:
        rows = [{**vars(d), **d.interval._asdict()} for d in self.differences]
        return {name: [row[name] for row in rows] for name in rows[0] if name != "interval"}

    def _table(self) -> Table:
        p = "p" if self.correction is None else f"p ({self.correction})"
        interval = f"{self.confidence * 100:g} % interval"
        header = ("", "", "baseline", "mean", "difference", interval, p, "wins/ties/losses")
        rows = [
            (
                d.metric,
                d.model,
                f"{d.baseline_mean:.4f}",
                f"{d.model_mean:.4f}",
                f"{d.difference:+.4f}",
                f"{d.interval:+.4f}{'*' if d.few_distinct else ''}",
                f"{d.adjusted_p_value:.4f}",
                f"{d.wins}/{d.ties}/{d.losses}",
            )
            for d in self.differences
        ]
        title = f"Compared with {self.baseline!r} by the {self.test} test"
        note = FEW_DISTINCT if any(d.few_distinct for d in self) else ""
        return Table(title, header, rows, n_labels=2, note=note)
