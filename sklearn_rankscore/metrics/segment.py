"""Segment: some of the queries, by a value that they have in common."""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

# numbers with more distinct values than this are no categories
MOST_CATEGORIES = 10
MISSING = "missing"


class Segment(NamedTuple):
    """Some of the queries.

    Parameters
    ----------
    column : str
        Name of the column of segments, empty for all queries.
    value : hashable
        Its value for these queries; a text for the bin of a number.
    """

    column: str
    value: Hashable


ALL_QUERIES = Segment("", "all queries")
