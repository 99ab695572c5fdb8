"""Query ids: where they are found, how they are read, and the rows grouped by them."""

from .grouping import Grouping, group_rows
from .lookup import NoGroupsError, drop_id_column, find_query_ids, no_groups_error
from .read import as_ids

__all__ = [
    "Grouping",
    "NoGroupsError",
    "as_ids",
    "drop_id_column",
    "find_query_ids",
    "group_rows",
    "no_groups_error",
]
