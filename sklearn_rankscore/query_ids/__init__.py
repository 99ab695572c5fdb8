"""Query ids: where they are found, how they are read, and the rows grouped by them."""

from .fold_rows import carried_query_ids, with_query_ids
from .grouping import Grouping, group_rows
from .lookup import (
    NoGroupsError,
    find_explicit_ids,
    find_query_ids,
    no_groups_error,
)
from .read import as_ids, check_no_missing, concatenate_ids, missing_ids_error

__all__ = [
    "Grouping",
    "NoGroupsError",
    "as_ids",
    "carried_query_ids",
    "check_no_missing",
    "concatenate_ids",
    "find_explicit_ids",
    "find_query_ids",
    "group_rows",
    "missing_ids_error",
    "no_groups_error",
    "with_query_ids",
]
