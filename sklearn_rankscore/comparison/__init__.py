"""Values of every query, confidence intervals and significance tests."""

from .compare import compare
from .cross_val import cross_val_query_scores
from .importance import FeatureImportance, QueryImportances, query_permutation_importance
from .intervals import Interval
from .overlap import rank_overlap
from .query_scores import QueryScores, query_scores
from .rectify import RectifiedMean, RectifiedScores, rectify
from .results import Comparison, Difference, SystemTable
from .score_bounds import ScoreBounds, score_bounds
from .segments import Segment, SegmentScore, SegmentScores

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
