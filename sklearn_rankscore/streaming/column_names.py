"""The names of the columns of labels, scores, query ids and weights."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True)
class ColumnNames:
    """Names of the columns of a table of documents."""

    label: str = "label"
    score: str = "score"
    group: str = "qid"
    weight: str | None = None

    @classmethod
    def pop_from(cls, options: dict[str, Any]) -> ColumnNames:
        """The names given among keyword arguments, from which they are removed."""
        names = [field.name for field in fields(cls)]
        return cls(**{name: options.pop(name) for name in names if name in options})

    @property
    def distinct(self) -> list[str]:
        """The columns to read."""
        given = (self.label, self.score, self.group, self.weight)
        return list(dict.fromkeys(name for name in given if name is not None))

    def check(self, available: Iterable[str], source: str) -> None:
        """Refuse a name that is not a column of the source."""
        known = list(available)
        for name in self.distinct:
            if name not in known:
                raise ValueError(f"{source} has no column {name!r}; it has {', '.join(known)}.")

    def check_not_among(self, metrics: Iterable[str]) -> None:
        """Refuse a table of the values of queries with two columns of one name."""
        if self.group in metrics:
            raise ValueError(
                f"the column of query ids has the name of a metric, {self.group!r}, so the result "
                "would have two columns of that name. Rename the column first."
            )

    def check_missing(self, counts: dict[str, int]) -> None:
        """Refuse missing values, given their number in each column, except among the labels.

        A missing label means that nobody judged the document, of which the metrics decide.
        """
        for name in self.distinct:
            if counts[name] and name != self.label:
                raise ValueError(
                    f"column {name!r} has {counts[name]} missing values. Drop or fill these "
                    "documents first; a document that was not retrieved has the score -inf."
                )
