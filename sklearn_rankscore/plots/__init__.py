"""Plots of metrics and of comparisons, after scikit-learn's Display convention."""

from .cutoff_curve import CutoffCurveDisplay
from .difference_curve import DifferenceCurveDisplay
from .feature_importance import FeatureImportanceDisplay
from .forest import ForestDisplay
from .label_scores import LabelScoresDisplay
from .learning_curve import QueryLearningCurveDisplay
from .query_delta import QueryDeltaDisplay
from .query_property import QueryPropertyDisplay
from .query_scatter import QueryScatterDisplay
from .rank_changes import RankChangeDisplay

__all__ = [
    "CutoffCurveDisplay",
    "DifferenceCurveDisplay",
    "FeatureImportanceDisplay",
    "ForestDisplay",
    "LabelScoresDisplay",
    "QueryDeltaDisplay",
    "QueryLearningCurveDisplay",
    "QueryPropertyDisplay",
    "QueryScatterDisplay",
    "RankChangeDisplay",
]
