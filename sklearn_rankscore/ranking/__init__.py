"""The core: reads documents, ranks them in blocks, applies tie rules and aggregates values."""

from .aggregate import MetricValues, aggregate
from .block import Block
from .queries import Queries, read_queries
from .ranking import Ranking

__all__ = ["Block", "MetricValues", "Queries", "Ranking", "aggregate", "read_queries"]
