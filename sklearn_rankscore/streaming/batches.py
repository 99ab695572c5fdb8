"""One batch: its queries, the ids at its edges, and the values of its queries."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..ranking import Queries, read_queries
from ..ranking.arrays import Array, as_ids
from ..ranking.grouping import group_rows


def read_batch(y_true: Any, y_score: Any, groups: Any, sample_weight: Any) -> Queries:
    """Queries of a batch, in which, unlike in all rows, every weight may be zero."""
    if sample_weight is None or np.any(sample_weight):
        return read_queries(y_true, y_score, groups=groups, sample_weight=sample_weight)
    ones = np.asarray(sample_weight) + 1.0
    queries = read_queries(y_true, y_score, groups=groups, sample_weight=ones)
    return replace(queries, weights=np.zeros(len(queries)))


def edge_ids(groups: Any) -> tuple[Any, Any]:
    """Ids of the first and the last row."""
    ids, values = as_ids(groups)
    if not len(ids):
        return None, None
    first, last = ids[[0, -1]] if values is None else values[ids[[0, -1]]]
    return first, last


@dataclass(frozen=True)
class QueryValues:
    """Values of queries, batch by batch: ids, and one array a metric."""

    parts: tuple[tuple[Array, dict[str, Array]], ...] = ()

    @classmethod
    def of(cls, ids: Array, names: list[str], values: list[Array]) -> QueryValues:
        """Those of one batch."""
        return cls(((ids, dict(zip(names, values, strict=True))),))

    def extended(self, other: QueryValues) -> QueryValues:
        """These, then the others."""
        return QueryValues(self.parts + other.parts)

    def joined(self) -> tuple[Array, dict[str, Array]] | None:
        """In the order in which they came."""
        if not self.parts:
            return None
        ids = np.concatenate([ids for ids, _ in self.parts])
        names = self.parts[0][1]
        return ids, {name: np.concatenate([v[name] for _, v in self.parts]) for name in names}

    def sorted(self) -> tuple[Array, dict[str, Array]]:
        """In the order of the ids; each query once."""
        joined = self.joined()
        if joined is None:
            raise ValueError("no documents came in; at least one is needed.")
        ids, values = joined
        unique, starts, sizes, rows = group_rows(ids, len(ids))
        if len(unique) < len(ids):
            raise ValueError(
                f"query {unique[sizes > 1][0]} came in more than one part. Keep queries whole in "
                "update(), or use update_sorted()."
            )
        order = starts if rows is None else rows
        return unique, {name: column[order] for name, column in values.items()}
