"""From a number to a decision: per-query results, intervals, tests, reports, pictures."""

from .compare import Comparison, Difference, compare
from .convention_report import convention_report
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
    "convention_report",
    "cross_val_query_scores",
    "query_scores",
    "ranking_report",
]
