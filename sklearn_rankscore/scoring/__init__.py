"""Ranking metrics as scikit-learn scorers, by name or object."""

from .register import PartialQueryWarning, patch_sklearn, unpatch_sklearn
from .scorer import make_ranking_scorer
from .weighted_sum import make_weighted_scorer

__all__ = [
    "PartialQueryWarning",
    "make_ranking_scorer",
    "make_weighted_scorer",
    "patch_sklearn",
    "unpatch_sklearn",
]
