"""Columns of segments: one value per query, for which results are collected separately."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from .._columns import column_names
from .._typing import Array
from ..metrics.segment import (
    MISSING,
    MOST_CATEGORIES,
    Segment,
    constant_within,
    refuse_missing_as_text,
    values_and_missing,
)
from ..query_ids import Grouping
from ..query_ids.lookup import check_same_order
from ..query_ids.read import as_objects, of_python

# each segment costs some hundred bytes per metric, in every partition and checkpoint
MOST_SEGMENTS = 10_000


def segment_names(by: Any) -> tuple[str, ...]:
    """The names of the columns of segments, given as one name, several or None."""
    names = (by,) if isinstance(by, str) else tuple(by or ())
    if not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise ValueError(f"by must be the name of a column or a list of distinct ones; got {by!r}.")
    return names


def columns_of(segments: Any, names: Sequence[str]) -> dict[str, Any]:
    """The columns named by `names` among those given to an update."""
    if not names:
        if segments is not None:
            raise ValueError("segments= needs an accumulator with by=, the names of the columns.")
        return {}
    if segments is None:
        raise ValueError(
            f"segments= needs one column for each name of by, {list(names)}; got none."
        )
    if not (isinstance(segments, Mapping) or hasattr(segments, "columns")):
        if len(names) > 1:
            raise ValueError(f"segments must hold the columns {list(names)} by name.")
        return {names[0]: segments}
    available = column_names(segments) or list(segments)
    if missing := [name for name in names if name not in available]:
        raise ValueError(f"segments has no column {missing[0]!r}; it has {', '.join(available)}.")
    return {name: segments[name] for name in names}


def check_order_of_segments(y_true: Any, groups: Any, columns: Mapping[str, Any]) -> None:
    """Refuse columns whose row labels are in another order than those of the labels or ids."""
    named = {f"segments[{name!r}]": column for name, column in columns.items()}
    check_same_order(y_true=y_true, groups=groups, **named)


def with_missing(name: str, column: Any) -> Array:
    """A column whose missing values are the text "missing"."""
    values, missing = values_and_missing(column)
    if values.ndim != 1:
        raise ValueError(f"segments must hold one value per document; {name!r} is not a column.")
    if values.dtype.kind in "biuUS" or (values.dtype.kind in "mM" and not missing.any()):
        return values
    refuse_missing_as_text(name, values, missing)
    # a copy of objects, which are converted once for each query
    is_object = values.dtype.kind == "O"
    values = values.astype(object) if is_object else as_objects(of_python(values))
    values[missing] = MISSING
    return values


def plain(values: Array) -> Array:
    """The same values as Python objects."""
    return as_objects(of_python(values))


def values_of_queries(name: str, column: Any, grouping: Grouping) -> Array:
    """The value of each query, from one value per row in any order."""
    values = with_missing(name, column)
    if len(values) != grouping.n_rows:
        raise ValueError(
            f"segments must hold one value per document ({grouping.n_rows}); {name!r} has "
            f"{len(values)}."
        )
    return plain(constant_within(name, values, grouping))


def segments_of(columns: Mapping[str, Array]) -> Iterator[tuple[Segment, Array]]:
    """Each segment and the positions of its queries."""
    for name, values in columns.items():
        position: dict[Any, int] = {}
        listed = (position.setdefault(v, len(position)) for v in values.tolist())
        codes = np.fromiter(listed, dtype=np.intp, count=len(values))
        ends = np.cumsum(np.bincount(codes, minlength=len(position)))
        order = np.split(np.argsort(codes, kind="stable"), ends[:-1])
        yield from (
            (Segment(name, value), rows) for value, rows in zip(position, order, strict=True)
        )


def in_order_of_values(segments: Iterable[Segment]) -> list[Segment]:
    """Segments of one column by value, the missing one last; values need not be comparable."""
    listed = list(segments)
    present = [segment for segment in listed if segment.value != MISSING]
    try:
        present.sort(key=lambda segment: segment.value)  # type: ignore[arg-type,return-value]
    except TypeError:
        present.sort(key=lambda segment: repr(segment.value))
    return present + [segment for segment in listed if segment.value == MISSING]


def check_number_of_segments(segments: Iterable[Segment]) -> None:
    """Refuse columns with too many distinct values to be segments."""
    counts: Counter[str] = Counter()
    numbers: Counter[str] = Counter()
    for column, value in segments:
        counts[column] += 1
        numbers[column] += isinstance(value, int | float) and not isinstance(value, bool)
    for name, count in counts.items():
        if numbers[name] > MOST_CATEGORIES:
            raise ValueError(
                f"column {name!r} has more than {MOST_CATEGORIES} distinct numbers, which do not "
                "define segments. Bin them first, or convert categories to strings."
            )
        if count > MOST_SEGMENTS:
            raise ValueError(
                f"column {name!r} has more than {MOST_SEGMENTS:,} distinct values. Group them "
                "into fewer segments first, or use query_scores."
            )
