"""The core: reads documents, ranks them in blocks, applies tie rules and aggregates values."""

from .block import Block
from .queries import Queries, read_queries
from .ranking import MetricValues, Ranking, aggregate, scaled_weights

__all__ = [
    "Block",
    "MetricValues",
    "Queries",
    "Ranking",
    "aggregate",
    "read_queries",
    "scaled_weights",
]
