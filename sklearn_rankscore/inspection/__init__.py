"""From a number to a decision: per-query results, intervals, tests, reports, pictures."""

from .compare import Comparison, Difference, compare
from .cross_val import cross_val_query_scores
from .cutoff_curve import CutoffCurveDisplay
from .query_delta import QueryDeltaDisplay
from .query_scores import Interval, QueryScores, query_scores
from .report import ranking_report

__all__ = [
    "Comparison",
    "CutoffCurveDisplay",
    "Difference",
    "Interval",
    "QueryDeltaDisplay",
    "QueryScores",
    "compare",
    "cross_val_query_scores",
    "query_scores",
    "ranking_report",
]
