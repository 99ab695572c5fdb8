"""Metrics over more rows than memory holds: parts that merge, and Parquet streams."""

from .accumulator import RankingAccumulator
from .moments import MetricSummary
from .parquet import evaluate_parquet

__all__ = ["MetricSummary", "RankingAccumulator", "evaluate_parquet"]
