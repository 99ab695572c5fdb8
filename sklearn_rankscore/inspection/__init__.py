"""Values of every query, confidence intervals and significance tests."""

from ..metrics.segment import Segment
from .compare import compare
from .comparison import Comparison
from .cross_val import cross_val_query_scores
from .difference import Difference
from .importance import query_permutation_importance
from .intervals import Interval
from .per_query import query_scores
from .prediction_powered import RectifiedMean
from .query_importances import FeatureImportance, QueryImportances
from .query_results import QueryScores
from .rank_overlap import rank_overlap
from .rectify import RectifiedScores, rectify
from .score_bounds import ScoreBounds, score_bounds
from .segment_scores import SegmentScore, SegmentScores
from .system_table import SystemTable

__all__ = [
    "Comparison",
    "Difference",
    "FeatureImportance",
    "Interval",
    "QueryImportances",
    "QueryScores",
    "RectifiedMean",
    "RectifiedScores",
    "ScoreBounds",
    "Segment",
    "SegmentScore",
    "SegmentScores",
    "SystemTable",
    "compare",
    "cross_val_query_scores",
    "query_permutation_importance",
    "query_scores",
    "rank_overlap",
    "rectify",
    "score_bounds",
]
