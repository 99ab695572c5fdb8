"""The core: documents in, ranked blocks, the meaning of ties, values out."""

from .aggregate import MetricValues, aggregate
from .block import Block
from .queries import Queries, read_queries
from .ranking import Ranking

__all__ = ["Block", "MetricValues", "Queries", "Ranking", "aggregate", "read_queries"]
