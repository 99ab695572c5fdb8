"""Plots of metrics and of comparisons, after scikit-learn's Display convention."""

from .cutoff_curve import CutoffCurveDisplay
from .query_delta import QueryDeltaDisplay

__all__ = ["CutoffCurveDisplay", "QueryDeltaDisplay"]
