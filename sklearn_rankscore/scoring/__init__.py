"""Ranking metrics as scikit-learn scorers, by name or object."""

from .partial_queries import PartialQueryWarning
from .registration import register, unregister
from .scorer import make_ranking_scorer
from .weighted_sum import make_weighted_scorer

__all__ = [
    "PartialQueryWarning",
    "make_ranking_scorer",
    "make_weighted_scorer",
    "register",
    "unregister",
]
