"""Metrics over data larger than memory: accumulators, streams of batches, and Parquet files."""

from .accumulator import RankingAccumulator, StreamedScores
from .moments import DifferenceSummary, MetricSummary
from .tables import evaluate_batches, evaluate_parquet

__all__ = [
    "DifferenceSummary",
    "MetricSummary",
    "RankingAccumulator",
    "StreamedScores",
    "evaluate_batches",
    "evaluate_parquet",
]
