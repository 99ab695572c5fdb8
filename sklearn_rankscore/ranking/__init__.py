"""The core: a door in, the one sort, what ties mean, a door out."""

from .aggregate import Values, aggregate
from .block import Block
from .queries import NoGroupsError, Queries, read_queries
from .ranking import Ranking

__all__ = [
    "Block",
    "NoGroupsError",
    "Queries",
    "Ranking",
    "Values",
    "aggregate",
    "read_queries",
]
