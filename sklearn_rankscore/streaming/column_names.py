"""The names of the columns of labels, scores, query ids and weights."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any


def refuse_segments(by: tuple[str, ...]) -> None:
    """Refuse `by` for values of queries, which are of no segment."""
    if by:
        raise ValueError("query_scores has no by=: join the column of segments to its result.")


@dataclass(frozen=True)
class ColumnNames:
    """Names of the columns of a table of documents; those of `by` hold segments."""

    label: str = "label"
    score: str = "score"
    group: str | Sequence[str] = "qid"
    weight: str | None = None
    by: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for field, name in (("label", self.label), ("score", self.score), ("weight", self.weight)):
            if not isinstance(name, str) and (name is not None or field != "weight"):
                several = " Several systems need one call each." if field == "score" else ""
                raise TypeError(f"{field} must be the name of one column; got {name!r}.{several}")
        if not hasattr(self.group, "__len__") or not all(isinstance(n, str) for n in self.group):
            raise TypeError(
                f"group must be the name of a column or a list of names; got {self.group!r:.60}."
            )
        names = self.ids
        if not names or len(set(names)) < len(names):
            raise ValueError(f"group must be a column or a list of distinct ones; got {names}.")

    @classmethod
    def pop_from(cls, options: dict[str, Any]) -> ColumnNames:
        """The names given among keyword arguments, from which they are removed."""
        names = [field.name for field in fields(cls) if field.name != "by"]
        return cls(**{name: options.pop(name) for name in names if name in options})

    @property
    def ids(self) -> list[str]:
        """The columns that together identify a query."""
        return [self.group] if isinstance(self.group, str) else list(map(str, self.group))

    def id_columns(self, ids: Any) -> dict[str, Any]:
        """The columns of which ids, tuples if there are several, consist."""
        parts = [ids] if isinstance(self.group, str) else zip(*ids, strict=True)
        return dict(zip(self.ids, parts, strict=True))

    @property
    def distinct(self) -> list[str]:
        """The columns to read."""
        given = (self.label, self.score, *self.ids, self.weight, *self.by)
        return list(dict.fromkeys(name for name in given if name is not None))

    def check(self, available: Iterable[str], source: str) -> None:
        """Refuse a name that is not a column of the source, or that of several."""
        known = list(available)
        for name in self.distinct:
            if name not in known:
                field = next(field for field in fields(self) if name in self._names_of(field.name))
                raise ValueError(
                    f"{source} has no column {name!r}; it has {', '.join(map(str, known))}. Name "
                    f"the column by {field.name}=."
                )
            if known.count(name) > 1:
                raise ValueError(
                    f"{source} has {known.count(name)} columns {name!r}. Rename or drop all but "
                    "one of them."
                )

    def _names_of(self, field: str) -> Sequence[str]:
        given = getattr(self, field)
        return [given] if isinstance(given, str) else list(given if given is not None else ())

    def check_not_among(self, metrics: Iterable[str], *, ignore_case: bool = False) -> None:
        """Refuse a table of the values of queries with two columns of one name."""
        key = str.lower if ignore_case else str
        known = set(map(key, metrics))
        for name in self.ids:
            if key(name) in known:
                raise ValueError(
                    f"the column of query ids has the name of a metric, {name!r}, so the result "
                    "would have two columns of that name. Rename the column first."
                )

    def check_missing(self, counts: dict[str, int]) -> None:
        """Refuse missing values, given their number in each column, except among the labels.

        A missing label means that nobody judged the document; the metrics decide how it counts.
        Queries whose segment is missing are a segment.
        """
        for name in filter(None, [self.score, *self.ids, self.weight]):
            if counts[name]:
                fix = "; a document that was not retrieved has the score -inf"
                raise ValueError(
                    f"column {name!r} has {counts[name]} missing values. Drop or fill these "
                    f"documents first{fix if name == self.score else ''}."
                )
