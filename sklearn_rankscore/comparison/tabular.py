"""Results that are printed as a table, and convert to other forms of it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import fields
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Generic,
    Literal,
    TypeAlias,
    TypeVar,
    get_args,
    overload,
)

from .._table import Printed, Table, html_of_fields
from .._typing import DataFrameLibrary
from .._validation import check_choice, check_count, examples, installed
from ..query_ids.read import as_objects, python_values

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

# of the printed table, by name
Columns: TypeAlias = str | Iterable[str] | None

R = TypeVar("R", bound="Record")


def _of_one_type(column: Any) -> Any:
    """A column of Python's values, as text if it mixes types other than numbers."""
    values = python_values(column)
    types = {*map(type, values)} - {type(None)}
    if len(types) > 1 and types != {int, float}:
        return [None if value is None else str(value) for value in values]
    return as_objects(values) if types == {tuple} else values


class Tabular(Printed):
    """Results that are printed as a table and convert to a DataFrame, Markdown and LaTeX."""

    @abstractmethod
    def _columns(self) -> dict[str, Any]:
        """The columns of the DataFrame."""

    @overload
    def to_frame(self, library: Literal["pandas"] = "pandas") -> pd.DataFrame: ...
    @overload
    def to_frame(self, library: Literal["polars"]) -> pl.DataFrame: ...
    def to_frame(self, library: DataFrameLibrary = "pandas") -> Any:
        """Convert the results to a DataFrame.

        Parameters
        ----------
        library : {"pandas", "polars"}, default="pandas"
            DataFrame library.

        Returns
        -------
        DataFrame
            Its columns are listed in the Notes of the class. In polars, where all values of a
            column have the same type, values of several types, such as those of different
            segments, become text.
        """
        check_choice("library", library, get_args(DataFrameLibrary))
        columns = self._columns()
        frame_of = installed(library, "to_frame").DataFrame
        if library == "pandas":
            return frame_of(columns)
        return frame_of({name: _of_one_type(c) for name, c in columns.items()}, strict=False)

    def to_string(self, *, columns: Columns = None, digits: int | None = None) -> str:
        """Return the table as it is printed, or some of its columns.

        Parameters
        ----------
        columns : str or iterable of str, default=None
            Columns behind the names of the rows, in this order; None means all.
        digits : int, default=None
            Number of decimals; None means those of the printed table.

        Returns
        -------
        str
            Columns of equal width.
        """
        return self._shown(columns, digits).text()

    def to_markdown(self, *, columns: Columns = None, digits: int | None = None) -> str:
        """Return the printed table as a Markdown table.

        Parameters
        ----------
        columns, digits
            See `to_string`.

        Returns
        -------
        str
            A table of GitHub's Markdown.
        """
        return self._shown(columns, digits).markdown()

    def to_latex(
        self,
        *,
        caption: str | None = None,
        label: str | None = None,
        columns: Columns = None,
        digits: int | None = None,
    ) -> str:
        """Return the printed table as LaTeX.

        Parameters
        ----------
        caption : str, default=None
            Caption, which may contain commands of LaTeX; None means the title of the table, if it
            has one.
        label : str, default=None
            Label for references to the table, which needs a caption.
        columns, digits
            See `to_string`.

        Returns
        -------
        str
            A table environment, which requires the package booktabs.
        """
        table = self._shown(columns, digits)
        if label is not None and not (table.title or caption):
            raise ValueError(f"label={label!r} refers to a caption, and the table has none.")
        return table.latex(caption, label)

    def _shown(self, columns: Columns, digits: int | None) -> Table:
        digits = None if digits is None else check_count("digits", digits, 0)
        return self._table().narrowed(columns, digits)


class Record:
    """One row of `Records`, a dataclass."""

    def _repr_html_(self) -> str:
        return html_of_fields(self)


class Records(Tabular, Generic[R]):
    """Results of one record for each row, which a key selects; iteration yields them."""

    # what errors call a record, and the attribute that holds all
    _kind: ClassVar[str]
    _attribute: ClassVar[str]

    @property
    def _records(self) -> tuple[R, ...]:
        return tuple(getattr(self, self._attribute))

    @abstractmethod
    def _key(self, record: R) -> tuple[Any, ...]:
        """What selects a record."""

    def __iter__(self) -> Iterator[R]:
        return iter(self._records)

    def __len__(self) -> int:
        return len(self._records)

    def __getitem__(self, key: Any) -> R:
        parts = key if isinstance(key, tuple) else (key,)
        wanted = tuple(tuple(part) if isinstance(part, list) else part for part in parts)
        keys = [self._key(record) for record in self]
        if wanted in keys:
            return self._records[keys.index(wanted)]
        kind = self._kind
        raise KeyError(f"no {kind} {wanted!r}; the {kind}s are {examples(keys, 10)}.")

    def _columns(self) -> dict[str, Any]:
        """One for each field of the records, and for each part of an interval or a segment."""
        columns: dict[str, list[Any]] = {}
        for record in self:
            for name in (field.name for field in fields(record)):  # type: ignore[arg-type]
                value = getattr(record, name)
                parts = value._asdict() if hasattr(value, "_asdict") else {name: value}
                for part, of in parts.items():
                    columns.setdefault(part, []).append(of)
        return columns
