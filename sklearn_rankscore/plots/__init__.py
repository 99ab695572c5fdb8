"""Plots of metrics and of comparisons, after scikit-learn's Display convention."""

from .curves import CutoffCurveDisplay, DifferenceCurveDisplay, QueryLearningCurveDisplay
from .documents import LabelScoresDisplay, RankChangeDisplay
from .queries import QueryDeltaDisplay, QueryPropertyDisplay, QueryScatterDisplay
from .rows import FeatureImportanceDisplay, ForestDisplay, MeansDisplay

__all__ = [
    "CutoffCurveDisplay",
    "DifferenceCurveDisplay",
    "FeatureImportanceDisplay",
    "ForestDisplay",
    "LabelScoresDisplay",
    "MeansDisplay",
    "QueryDeltaDisplay",
    "QueryLearningCurveDisplay",
    "QueryPropertyDisplay",
    "QueryScatterDisplay",
    "RankChangeDisplay",
]
