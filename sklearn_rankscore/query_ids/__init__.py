"""Query ids: where they are found, how they are read, and the rows grouped by them."""

from .lookup import (
    NoGroupsError,
    find_explicit_ids,
    find_query_ids,
    no_groups_error,
    with_query_ids,
)
from .read import Grouping, as_ids, group_rows, vary_within_queries

__all__ = [
    "Grouping",
    "NoGroupsError",
    "as_ids",
    "find_explicit_ids",
    "find_query_ids",
    "group_rows",
    "no_groups_error",
    "vary_within_queries",
    "with_query_ids",
]
