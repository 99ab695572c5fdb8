"""Metrics over data larger than memory: mergeable accumulators, and Parquet files."""

from .accumulator import RankingAccumulator
from .batches import evaluate_batches
from .moments import MetricSummary
from .parquet import evaluate_parquet

__all__ = ["MetricSummary", "RankingAccumulator", "evaluate_batches", "evaluate_parquet"]
