"""Metrics over data larger than memory: mergeable accumulators, and Parquet files."""

from .accumulator import RankingAccumulator
from .moments import MetricSummary
from .parquet import evaluate_parquet

__all__ = ["MetricSummary", "RankingAccumulator", "evaluate_parquet"]
