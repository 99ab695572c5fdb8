"""Which documents the rows of an array of labels are, if a function of `io/` has made it.

Metrics do not need the ids of documents; what names single documents does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._typing import Array
from .by_array import ByArray

# the code of each row, and the id of each code
_documents: ByArray[tuple[Array, Sequence[Any] | Array]] = ByArray()


def record_document_ids(labels: Array, codes: Array, ids: Sequence[Any] | Array) -> None:
    """Remember that the document of row i has the id ``ids[codes[i]]``."""
    _documents[labels] = codes, ids


def document_ids(labels: Any, rows: Array) -> list[Any] | None:
    """The ids of the documents in some rows; None if they are not known."""
    known = _documents.get(labels)
    if known is None:
        return None
    codes, ids = known
    given = [ids[code] for code in codes[rows].tolist()]
    return [entry.decode() if isinstance(entry, bytes) else entry for entry in given]
