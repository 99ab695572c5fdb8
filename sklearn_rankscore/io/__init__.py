"""Frames, ranked lists, recommendations and TREC files as arguments of a metric function."""

from .frames import from_frames
from .lists import from_ranked_lists, from_recommendations, from_relevance_lists
from .trec import from_trec

__all__ = [
    "from_frames",
    "from_ranked_lists",
    "from_recommendations",
    "from_relevance_lists",
    "from_trec",
]
