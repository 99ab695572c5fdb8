"""Records of judgments and runs, joined by query and document."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from .._typing import Array
from .join import ItemLists, JoinedDocuments, join_relevance
from .trec_records import Records

Runs: TypeAlias = dict[str, Records]

# records of whole queries that are joined at a time: sorting few at a time is faster
BATCH = 2**13


def join_records(judged: Records, runs: Runs, selected: list[Any]) -> tuple[JoinedDocuments, Array]:
    """The documents of all queries, joined for some thousands at a time, and their ids by code."""
    position = {query: at for at, query in enumerate(selected)}
    sources = [RecordsByQuery(records, position) for records in (judged, *runs.values())]
    batch = np.cumsum(sum(np.diff(source.starts) for source in sources)) // BATCH
    cuts = [0, *(np.flatnonzero(np.diff(batch)) + 1).tolist(), len(selected)]
    parts, texts = zip(
        *(_join_batch(sources, list(runs), a, b) for a, b in pairwise(cuts)), strict=True
    )
    starts = np.cumsum([0, *map(len, texts)])
    return JoinedDocuments(
        np.concatenate([part.labels for part in parts]),
        {name: np.concatenate([part.scores.pop(name) for part in parts]) for name in runs},
        np.concatenate([part.sizes for part in parts]),
        np.concatenate([part.items + a for part, a in zip(parts, starts[:-1], strict=True)]),
    ), np.concatenate(texts)


class RecordsByQuery:
    """Records by position of their query; those of other queries are left out."""

    def __init__(self, records: Records, position: dict[Any, int]) -> None:
        of_code = np.array([position.get(query, -1) for query in records.queries], dtype=np.int32)
        query = of_code[records.query]
        self.records, self.rows = records, None
        if (query[1:] < query[:-1]).any():
            self.rows = np.argsort(query, kind="stable")
            query = query[self.rows]
        self.starts = np.searchsorted(query, np.arange(len(position) + 1))

    def batch(self, first: int, last: int) -> tuple[Array, Array]:
        """Rows, and the positions of their queries, for some queries."""
        start, end = self.starts[first], self.starts[last]
        rows = np.arange(start, end) if self.rows is None else self.rows[start:end]
        sizes = np.diff(self.starts[first : last + 1])
        return rows, np.repeat(np.arange(last - first), sizes)


def _join_batch(
    sources: list[RecordsByQuery], names: list[str], first: int, last: int
) -> tuple[JoinedDocuments, Array]:
    """The documents of the queries from `first` to before `last`, and their ids by code."""
    batches = [source.batch(first, last) for source in sources]
    query = np.concatenate([of_source for _, of_source in batches])
    texts = np.concatenate(
        [s.records.document[rows] for s, (rows, _) in zip(sources, batches, strict=True)]
    )
    order = np.lexsort((texts, query))
    texts, query = texts[order], query[order]
    # one number for each document of each query, in ascending order of both
    is_new = np.append(False, (texts[1:] != texts[:-1]) | (query[1:] != query[:-1]))
    codes = np.cumsum(is_new)
    ends = np.cumsum([len(rows) for rows, _ in batches])
    of_source = np.searchsorted(ends, order, side="right")
    lists = []
    for number, (source, (rows, _)) in enumerate(zip(sources, batches, strict=True)):
        mine = of_source == number
        sorted_rows = rows[order[mine] - (ends[number] - len(rows))]
        _refuse_duplicates(source.records, sorted_rows, codes[mine])
        lists.append(ItemLists(query[mine], codes[mine], source.records.value[sorted_rows]))
    systems = dict(zip(names, lists[1:], strict=True))
    is_new[:1] = True
    documents = join_relevance(last - first, lists[0], systems, sorted_items=True)
    return documents, texts[is_new]


def _refuse_duplicates(records: Records, rows: Array, codes: Array) -> None:
    duplicate = codes[1:] == codes[:-1]
    if duplicate.any():
        at = int(rows[1:][duplicate].min())
        raise ValueError(
            f"{records.locate(at)}: duplicate document {records.document[at].decode()!r} for query "
            f"{records.queries[records.query[at]]!r}."
        )
