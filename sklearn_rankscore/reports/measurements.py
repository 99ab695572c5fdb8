"""What a ranking report is about: properties of the data, means, segments and differences."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..inspection.comparison import Comparison
from ..inspection.intervals import Interval
from ..inspection.query_scores import QueryScores
from ..inspection.segments import SegmentScores
from .cells import Cell
from .data_facts import DataFacts

# the name of a system that was not given by name
UNNAMED = ""


@dataclass(frozen=True)
class SystemMeasurements:
    """Measurements of one system."""

    facts: DataFacts
    scores: QueryScores
    intervals: dict[str, Interval]
    segments: SegmentScores | None
    # the mean of each metric for random orders of the documents, where it is known
    random_order: dict[str, float]
    bounds: Mapping[str, Interval] = field(default_factory=dict)

    def summary(self, comparison: Comparison | None, name: str) -> dict[str, Any]:
        """Unrounded numbers, with the differences from the baseline by segment."""
        means, counts = self.scores.mean(), self.scores.included().sum(axis=0).tolist()
        metrics = {
            metric: {
                "mean": means[metric], **self.intervals[metric]._asdict(), "queries": count,
                "random_order": self.random_order.get(metric, math.nan),
            }
            for metric, count in zip(self.scores.metrics, counts, strict=True)
        }  # fmt: skip
        for metric, (low, high) in self.bounds.items():
            metrics[metric] |= {"lowest": low, "highest": high}
        summary = {"data": self.facts.summary(), "metrics": metrics}
        return summary if self.segments is None else {**summary, **self._rows(comparison, name)}

    def _rows(self, comparison: Comparison | None, name: str) -> dict[str, list[dict[str, Any]]]:
        """One row per metric and segment, with the difference from the baseline."""
        differences = {
            (d.metric, d.segment): {
                "difference": d.difference,
                "difference_low": d.interval.low,
                "difference_high": d.interval.high,
                "adjusted_p_value": d.adjusted_p_value,
            }
            for d in comparison or ()
            if d.model == name
        }
        rows = [
            {
                "metric": s.metric, **s.segment._asdict(), "queries": s.queries, "share": s.share,
                "mean": s.mean, **s.interval._asdict(), "rest_p_value": s.rest_p_value,
                **differences.get((s.metric, s.segment), {}),
            }
            for s in self.segments or ()
        ]  # fmt: skip
        return {"segments": rows}


@dataclass(frozen=True)
class Measurements:
    """All that is in a report.

    Parameters
    ----------
    systems : dict of str to SystemMeasurements
        By name; a single system that was not given by name has the name "".
    cells : dict of str to Cell
        Row and column of each metric.
    comparison : Comparison or None
        All other systems compared with the first.
    inference : dict
        Arguments of all intervals: `confidence`, `method`, `n_resamples` and `random_state`.
    digits : int
        Number of decimals.
    conventions : dict
        Options that were given, and `like`.
    """

    systems: Mapping[str, SystemMeasurements]
    cells: Mapping[str, Cell]
    comparison: Comparison | None
    inference: Mapping[str, Any]
    digits: int
    conventions: Mapping[str, Any] = field(default_factory=dict)

    def summary(self) -> Any:
        """What `ranking_report` returns with ``output_dict=True``."""
        summaries = {name: s.summary(self.comparison, name) for name, s in self.systems.items()}
        return summaries.get(UNNAMED, summaries)

    @property
    def confidence(self) -> float:
        """Confidence level of the intervals."""
        return float(self.inference["confidence"])

    @property
    def spec(self) -> str:
        """The format of numbers."""
        return f".{self.digits}f"
