"""Which columns of a table hold labels, scores, query ids and weights."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from .accumulator import RankingAccumulator

# rows that are ranked at a time: queries of similar length fill their blocks, in few megabytes
BATCH_ROWS = 2**21


@dataclass(frozen=True)
class Columns:
    """Names of the columns of a table of documents."""

    label: str
    score: str
    group: str
    weight: str | None = None

    @property
    def names(self) -> list[str]:
        """The columns to read, each once."""
        given = (self.label, self.score, self.group, self.weight)
        return list(dict.fromkeys(name for name in given if name is not None))

    def check(self, available: Iterable[str], where: str) -> None:
        """Refuse a name that is no column."""
        known = list(available)
        for name in self.names:
            if name not in known:
                raise ValueError(f"{where} has no column {name!r}; it has {', '.join(known)}.")

    def check_nulls(self, counts: dict[str, int]) -> None:
        """Refuse missing values, given their number in each column."""
        for name in self.names:
            if counts[name]:
                raise ValueError(
                    f"column {name!r} has {counts[name]} missing values. Drop or fill these "
                    "documents first; a document that was not retrieved has the score -inf."
                )

    def of_arrow(self, table: Any) -> tuple[tuple[Any, Any, Any], Any]:
        """(labels, scores, ids) and weights of an Arrow table or batch."""
        self.check_nulls({name: table[name].null_count for name in self.names})
        label, score = (_numpy(table[name]) for name in (self.label, self.score))
        weight = None if self.weight is None else _numpy(table[self.weight])
        return (label, score, _ids(table[self.group])), weight

    def feed(
        self, accumulator: RankingAccumulator, batches: Iterable[Any], rows: int
    ) -> Iterator[Any]:
        """Take Arrow batches of a sorted stream into an accumulator; yield each batch."""
        for table in _gathered(batches, rows):
            arrays, weight = self.of_arrow(table)
            accumulator.update_sorted(*arrays, sample_weight=weight)
            yield table


def _gathered(batches: Iterable[Any], rows: int) -> Iterator[Any]:
    """Small Arrow batches together, about so many rows at a time."""
    import pyarrow as pa

    waiting: list[Any] = []
    for batch in batches:
        waiting.append(batch)
        if sum(b.num_rows for b in waiting) >= rows:
            yield pa.Table.from_batches(waiting)
            waiting = []
    if any(b.num_rows for b in waiting):
        yield pa.Table.from_batches(waiting)


def _numpy(column: Any) -> Any:
    return column.to_numpy()


def _ids(column: Any) -> Any:
    """Ids as NumPy reads them fast: numbers as they are, all else as codes and values."""
    import pyarrow.types as kinds

    column = column.combine_chunks()
    if kinds.is_integer(column.type) or kinds.is_floating(column.type):
        return column.to_numpy(zero_copy_only=False)
    return column if kinds.is_dictionary(column.type) else column.dictionary_encode()
