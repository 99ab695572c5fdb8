"""Values of every query, confidence intervals, significance tests, reports and plots."""

from .compare import compare
from .comparison import Comparison
from .convention_report import convention_report
from .cross_val import cross_val_query_scores
from .cutoff_curve import CutoffCurveDisplay
from .difference import Difference
from .intervals import Interval
from .per_query import query_scores
from .query_delta import QueryDeltaDisplay
from .query_results import QueryScores
from .report import ranking_report
from .score_bounds import ScoreBounds, score_bounds
from .segment_scores import SegmentScore, SegmentScores
from .segments import Segment
from .system_table import SystemTable

__all__ = [
    "Comparison",
    "CutoffCurveDisplay",
    "Difference",
    "Interval",
    "QueryDeltaDisplay",
    "QueryScores",
    "ScoreBounds",
    "Segment",
    "SegmentScore",
    "SegmentScores",
    "SystemTable",
    "compare",
    "convention_report",
    "cross_val_query_scores",
    "query_scores",
    "ranking_report",
    "score_bounds",
]
