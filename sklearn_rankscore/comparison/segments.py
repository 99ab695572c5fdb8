"""Segments of queries: how they are given, their means, and how they differ from the rest."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from .._columns import column_names, refuse_masked, to_numpy
from .._table import Number, PValue, Table
from .._typing import Array
from .._validation import counted, examples, shown
from ..query_ids import Grouping
from ..query_ids.lookup import check_same_order, index_level
from ..query_ids.read import as_objects, comparable_ids, factorize, python_values, which_missing
from ..ranking import scaled_weights
from .intervals import Interval, has_few_distinct, of_equal_variances
from .tabular import Record, Records

# of query_scores.py, which builds on this file
QueryScores: TypeAlias = Any

# a column, several by name, or the value of each query by its id
Segments: TypeAlias = ArrayLike | Mapping[Any, Any]

# numbers with more distinct values than this are no categories
MOST_CATEGORIES = 10
MISSING = "missing"

N_BINS = 4

# the share of the expected sum of squares below which one query has nearly all the weight
DOMINATED = 1e-6

NO_TEST = (
    "nan: no test, because fewer than six queries of the segment, or of all others, differ from "
    "the most common value, or one of these queries has nearly all the weight"
)
FAMILY = "p-values: adjusted by holm for the segments of a column, each metric by itself"


class Segment(NamedTuple):
    """Some of the queries.

    Parameters
    ----------
    column : str
        Name of the column of segments, empty for all queries.
    value : hashable
        Its value for these queries; a text for the bin of a number.
    """

    column: str
    value: Hashable


ALL_QUERIES = Segment("", "all queries")


def read_segments(
    segments: Any,
    ids: Array,
    grouping: Grouping | None = None,
    rows: Mapping[str, Any] | None = None,
) -> dict[str, Array]:
    """Columns of one value per query, in the order of `ids`.

    With a `grouping`, whose ids these are, columns may be aligned with rows, which must then be in
    the order of the columns in `rows`. Beside other columns, one of the query ids says which query
    each value belongs to, and is no segment itself.
    """
    queries = comparable_ids(ids)
    given = _by_name(segments, queries)
    columns = {name: _values_and_keys(name, column, queries) for name, column in given.items()}
    shared = _key_among(columns, queries, grouping) if len(columns) > 1 else None
    read, counts = {}, [*range(len(ids))]
    for name, (values, keys) in columns.items():
        of_rows = grouping is not None and values.shape == (grouping.n_rows,)
        # a column of values of documents may have any index
        by_key = values.shape == ids.shape or not of_rows
        keys = keys if shared is None or isinstance(given[name], Mapping) else shared
        order = _positions(keys or [], queries) if by_key else None
        if order is not None:
            read[name] = np.asarray(values[order])
        elif grouping is not None and of_rows:
            label = "segments" if name == "segment" else f"segments[{name!r}]"
            check_same_order(**rows or {}, **{label: given[name]})
            read[name] = _constant_within(name, values, grouping)
        elif keys is not None:
            raise _missing_error(name, keys, queries)
        elif values.shape != ids.shape:
            of_documents = "" if grouping is None else f" or one per document ({grouping.n_rows})"
            hint = "" if grouping else " Give those of documents to query_scores, as segments=."
            raise ValueError(
                f"segments must hold one value per query ({len(ids)}){of_documents}, several such "
                f"columns by name, or a mapping from query ids to values; {name!r} has shape "
                f"{values.shape}.{hint}"
            )
        elif hasattr(given[name], "iloc") and queries != counts:
            raise ValueError(
                f"the index of {name!r} merely counts its values, and does not say which query "
                "each belongs to. Make the query ids its index, with a name, or pass to_numpy() "
                "if the values are in the order of `scores.ids`."
            )
        else:
            if len(columns) > 1:
                _check_no_ids(name, values, queries)
            read[name] = values
    return {name: of for name, of in read.items() if comparable_ids(of) != queries} or read


def _by_name(segments: Any, queries: list[Any]) -> dict[str, Any]:
    if isinstance(segments, str | Real):
        raise TypeError(
            "segments must be values of queries or of documents, or names of segments of the "
            f"scores; got {segments!r}."
        )
    columns = {str(name): segments[name] for name in column_names(segments) or ()}
    if not columns and isinstance(segments, Mapping):
        of_names = segments.values()
        are_columns = all(hasattr(of, "__len__") and not isinstance(of, str) for of in of_names)
        by_name = are_columns and set(queries).isdisjoint(comparable_ids(segments))
        columns = dict(segments) if by_name else {"segment": segments}
        if not segments:
            raise ValueError("segments must hold at least one column; got none.")
    return columns or {str(getattr(segments, "name", None) or "segment"): segments}


def _values_and_keys(
    name: str, column: Any, queries: list[Any]
) -> tuple[Array, list[Hashable] | None]:
    """The values of a column, None if missing, and what its index or mapping says they belong to.

    An index of pandas that merely counts the values says nothing.
    """
    keys: list[Hashable] | None = None
    if isinstance(column, Mapping):
        of_key = dict(zip(comparable_ids(column), column.values(), strict=True))
        if not of_key.keys() >= set(queries):
            raise _missing_error(name, [*of_key], queries)
        column, keys = [of_key[query] for query in queries], queries
    elif hasattr(column, "iloc"):
        index = column.index
        counts = (getattr(index, "start", None), getattr(index, "step", None)) == (0, 1)
        keys = None if counts and index.name is None else comparable_ids(index.to_numpy())
    values, missing = values_and_missing(column)
    if missing.any() or values.dtype.kind in "mM":
        values = as_objects(python_values(values))
        values[missing] = None
    return values, keys


def _missing_error(name: str, keys: Iterable[Any], queries: list[Any]) -> ValueError:
    counts = Counter(keys)
    missing = [query for query in queries if query not in counts]
    repeated = [query for query in queries if counts[query] > 1]
    found = f"{len(missing)} of {len(queries)} are missing ({examples(missing)})"
    if not missing:
        found = f"{examples(repeated)} occurs more than once"
    advice = (
        "to_numpy() has values in the order of `scores.ids`."
        if len(missing) == len(queries)
        else "A query without a segment has the value None."
    )
    return ValueError(
        f"segments by query id must have a value for each of them, once; in {name!r} "
        f"{found}; the first key is {next(iter(keys), None)!r}. {advice}"
    )


def _key_among(
    columns: Mapping[str, tuple[Array, Any]], queries: list[Any], grouping: Grouping | None
) -> list[Any] | None:
    """The values of a column that holds every query id once, if there is one."""
    keys: dict[tuple[int, ...], tuple[str, list[Any]]] = {}
    for name, (column, _) in columns.items():
        # values of documents are no key, even if those of some column are all distinct
        if grouping is not None and len(column) == grouping.n_rows != len(queries):
            continue
        values = comparable_ids(column)
        if (order := _positions(values, queries)) is not None:
            keys[tuple(order)] = name, values
        elif queries[0] not in values and {*map(str, queries)} <= {*map(str, values)}:
            raise TypeError(
                f"the column {name!r} of segments holds the query ids in another type: "
                f"{values[0]!r}, where a query id is {queries[0]!r}. Convert one of them."
            )
    if len(keys) > 1:
        names = ", ".join(repr(name) for name, _ in keys.values())
        raise ValueError(
            f"each of the columns {names} of segments holds the query ids, in different orders. "
            "Make the right one the index, or pass a dict by query id."
        )
    return next((values for _, values in keys.values()), None)


def _check_no_ids(name: str, values: Array, queries: list[Any]) -> None:
    """Refuse a column of text that lacks some of the query ids, and is taken by position."""
    known = set(values.tolist()) if isinstance(values[0], str) else set()
    lacking = [query for query in queries if query not in known]
    if len(known) == len(values) and 0 < len(lacking) < len(queries):
        raise ValueError(
            f"the column {name!r} of segments holds some of the query ids, but not "
            f"{examples(lacking)}. A query without a segment has the value None."
        )


def _positions(keys: Sequence[Any], queries: list[Any]) -> list[int] | None:
    """The position of each query among keys that hold every id, each once; None for others."""
    if not all(isinstance(key, Hashable) for key in keys):
        return None
    position = {key: row for row, key in enumerate(keys)}
    is_key = len(position) == len(keys) and position.keys() >= set(queries)
    return [position[query] for query in queries] if is_key else None


def values_and_missing(column: Any) -> tuple[Array, Array]:
    """A column of segments as an array, and where values are missing; integers stay integers."""
    refuse_masked(column, "segments")
    values = to_numpy(column, "segments")
    if values.ndim != 1:
        return values, np.zeros(values.shape, dtype=bool)
    missing = which_missing(values)
    if values.dtype.kind == "f" and missing.any() and _has_integer_type(column):
        listed = column.to_pylist() if hasattr(column, "to_pylist") else list(column)
        values = np.fromiter(listed, dtype=object, count=len(values))
    return values, missing


def refuse_missing_as_text(name: str, values: Array, missing: Array) -> None:
    """Refuse a column in which missing values would share a segment with the text "missing"."""
    if missing.any() and MISSING in values[~missing].tolist():
        raise ValueError(
            f"segments must not hold missing values beside the text {MISSING!r}, because their "
            f"segment has this name; {name!r} has both. Replace one of them by another text."
        )


def _constant_within(name: str, values: Array, grouping: Grouping) -> Array:
    """The value of each query, from one value per row."""
    by_entry = grouping.by_entry(values)
    changes = np.append(True, by_entry[1:] != by_entry[:-1])
    changes[grouping.starts] = False
    if changes.any():
        rows = grouping.rows_at(np.flatnonzero(changes))
        queries = grouping.ids[np.unique(grouping.codes[rows])]
        example, n_queries = shown(queries[0]), counted(len(queries), "query")
        where = f"query {example}" if len(queries) == 1 else f"{n_queries} (such as {example})"
        raise ValueError(
            f"segments must be constant within each query; {name!r} varies within {where}."
        )
    return np.asarray(values[grouping.first_rows])


def _has_integer_type(column: Any) -> bool:
    """Whether the library of the column has integers with missing values, unlike NumPy."""
    kind = getattr(column, "type", getattr(column, "dtype", ""))
    return "int" in str(kind).lower()


def columns_or_levels(option: str, segments: Any, *data: Any) -> Any:
    """Segments by the names of index levels of the data; anything else unchanged."""
    if not _are_names(segments):
        return segments
    names = [segments] if isinstance(segments, str) else segments
    of_names = ((index_level(one, name) for one in data) for name in names)
    levels = [next((level for level in of if level is not None), None) for of in of_names]
    if all(level is not None for level in levels):
        return dict(zip(names, levels, strict=True))
    if isinstance(segments, str):
        raise ValueError(
            f"{option}={segments!r} names no index level of y_true, y_score or groups. Pass the "
            f"column itself, such as {option}=X[{segments!r}]."
        )
    return segments


def _are_names(names: Any) -> bool:
    return isinstance(names, str) or (
        isinstance(names, list | tuple) and all(isinstance(name, str) for name in names)
    )


def select_segments(
    segments: Any, ids: Array, stored: Mapping[str, Array] | None
) -> dict[str, Array]:
    """Columns that are given, or of the stored ones those that are named."""
    stored = stored or {}
    if segments is not None and not _are_names(segments):
        return read_segments(segments, ids)
    names = [segments] if isinstance(segments, str) else segments or [*stored]
    if names and set(names) <= set(stored):
        return {name: stored[name] for name in names}
    # a list of strings has the values of queries, or names of columns
    if isinstance(segments, list | tuple) and len(segments) == len(ids):
        return read_segments(segments, ids)
    named = "" if segments is None else f" {segments!r}"
    known = f"; they have {', '.join(map(repr, stored))}" if stored else ""
    raise ValueError(
        f"the scores have no segments{named}{known}. Pass segments= to query_scores, or a Series "
        "or dict of one value for each query id."
    )


@dataclass(frozen=True)
class SegmentColumn:
    """A column of segments: the distinct values, and the position of that of each query."""

    name: str
    values: list[Hashable]
    codes: Array


def bin_segments(columns: Mapping[str, Array]) -> list[SegmentColumn]:
    """Numbers with more than ten values as quartiles, anything else as categories."""
    return [_column(name, values) for name, values in columns.items()]


def _column(name: str, values: Array) -> SegmentColumn:
    missing = np.array([value is None for value in values.tolist()], dtype=bool)
    refuse_missing_as_text(name, values, missing)
    codes = np.empty(len(values), dtype=np.intp)
    present = values[~missing]
    if missing.any() and {type(value) for value in present.tolist()} <= {int, float}:
        present = np.array(present.tolist())
    if present.dtype.kind in "iuf" and len(np.unique(present)) > MOST_CATEGORIES:
        names, codes[~missing] = _quantile_bins(present)
    else:
        distinct, codes[~missing] = factorize(present, name)
        names = distinct.tolist()
    if missing.any():
        codes[missing], names = len(names), [*names, MISSING]
    return SegmentColumn(name, names, codes)


def _quantile_bins(values: Array) -> tuple[list[Hashable], Array]:
    """Bins that are closed above, as in `pandas.qcut`; infinite values belong to the outer ones."""
    finite = values[np.isfinite(values)]
    clipped = np.clip(values, finite.min(), finite.max())
    edges = np.unique(np.quantile(clipped, np.linspace(0, 1, N_BINS + 1)))
    codes = np.maximum(np.searchsorted(edges, clipped) - 1, 0)
    edges = np.array([values.min(), *edges[1:-1], values.max()], dtype=np.float64)
    brackets = "[" + "(" * (len(edges) - 2)
    texts = _distinct_texts(edges)
    names: list[Hashable] = [
        f"{bracket}{low}, {high}]"
        for bracket, low, high in zip(brackets, texts[:-1], texts[1:], strict=True)
    ]
    return names, codes


def _distinct_texts(edges: Array) -> list[str]:
    """Different numbers as different texts, with at least six significant digits."""
    rounded = ([f"{edge:.{digits}g}" for edge in edges] for digits in range(6, 18))
    return next(texts for texts in rounded if len(set(texts)) == len(texts))


@dataclass(frozen=True)
class SegmentScore(Record):
    """Mean of one metric over the queries of one segment.

    Parameters
    ----------
    metric : str
        Name of the metric.
    segment : Segment
        Column and value.
    queries : int
        Number of queries for which the metric is defined.
    share : float
        Their share of the total weight of these queries in all segments.
    mean : float
        Weighted mean.
    interval : Interval
        Confidence interval of the mean.
    rest_p_value : float
        p-value of Welch's t-test that the mean equals that of all other queries, adjusted for
        multiple testing over the segments of the same column and metric; nan if fewer than six
        queries of the segment, or of all others, differ from the most common value, or if one of
        these queries has more than 99.9 % of the weight.
    """

    metric: str
    segment: Segment
    queries: int
    share: float
    mean: float
    interval: Interval
    rest_p_value: float


@dataclass(frozen=True, repr=False)
class SegmentScores(Records[SegmentScore]):
    """What `QueryScores.by` returns: one `SegmentScore` for each metric and segment.

    Iteration yields them; ``by["ndcg@10", ("device", "phone")]`` selects one.

    Parameters
    ----------
    scores : tuple of SegmentScore
        By metric, then by segment.
    confidence : float
        Confidence level of the intervals.

    Notes
    -----
    `to_frame` has one row per metric and segment, with the columns "metric", "column", "value",
    "queries", "share", "mean", "low", "high" and "rest_p_value".
    """

    scores: tuple[SegmentScore, ...]
    confidence: float

    _kind, _attribute = "segment", "scores"

    def _key(self, record: SegmentScore) -> tuple[Any, ...]:
        return record.metric, tuple(record.segment)

    def _table(self) -> Table:
        interval = f"{self.confidence * 100:g} % interval"
        labels = ("metric", "column", "segment")
        header = (*labels, "queries", "share", "mean", interval, "p (differs from the rest)")
        rows = [
            (
                s.metric, s.segment.column, str(s.segment.value), int(s.queries),
                f"{s.share:.1%}", s.mean, Number(s.interval), PValue(s.rest_p_value),
            )
            for s in self.scores
        ]  # fmt: skip
        note = [FAMILY, no_test_note(s.rest_p_value for s in self.scores)]
        return Table("Means by segment", header, rows, n_labels=3, note=note)


def no_test_note(rest_p_values: Iterable[float]) -> str:
    """Why some segments are not compared with the rest; empty if all are."""
    return NO_TEST if any(map(math.isnan, rest_p_values)) else ""


class SegmentPart(NamedTuple):
    """The queries of one segment, and per metric how they relate to all other queries."""

    segment: Segment
    rows: Array | slice
    shares: Array
    rest_p_values: Array


def whole_part(scores: QueryScores) -> SegmentPart:
    """All queries as one segment."""
    shares = np.where(scores.included().any(axis=0), 1.0, np.nan)
    return SegmentPart(ALL_QUERIES, slice(None), shares, np.full(len(scores.metrics), np.nan))


def segment_parts(scores: QueryScores, column: SegmentColumn) -> list[SegmentPart]:
    """The segments of a column with p-values of Welch's t-test of each and all other queries."""
    order = np.argsort(column.codes, kind="stable")
    starts = np.searchsorted(column.codes[order], np.arange(len(column.values)))
    rows = np.split(order, starts[1:])
    own = np.array([np.add.reduceat(power, starts, axis=1) for power in _test_terms(scores, order)])
    rest = _of_rest(own)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = own[1] / own[1].sum(axis=1, keepdims=True)
        (mean, error, df), (other, other_error, other_df) = map(_mean_and_error, (own, rest))
        both = error + other_error
        t = np.abs(mean - other) / np.sqrt(both)
        degrees = both**2 / (error**2 / df + other_error**2 / other_df)
        p_values = np.asarray(2 * stats.t.sf(t, degrees)).T
    values = np.where(scores.included(), scores.values, np.nan)
    for of_segment, p_value in zip(rows, p_values, strict=True):
        for part in (of_segment, np.delete(np.arange(len(order)), of_segment)):
            p_value[has_few_distinct(values, 1.0, part)] = np.nan
    return [
        SegmentPart(Segment(column.name, value), *of)
        for value, *of in zip(column.values, rows, shares.T, p_values, strict=True)
    ]


def _test_terms(scores: QueryScores, order: Array) -> Iterator[Array]:
    """1, w, w v, (w v)², w² v, w², …, w⁵ for centered values v of weight w; 0 if not included.

    A row for each metric, whose sums then do not depend on how many other metrics there are.
    """
    weights = np.ones(len(order)) if scores.weights is None else scaled_weights(scores.weights)
    included = np.array(scores.included()[order].T, dtype=np.float64, order="C")
    yield included
    w, v = included * weights[order], np.array(scores.values[order].T, order="C")
    v[included == 0] = 0.0
    # the test does not depend on the origin, and far from it squares would cancel
    total = np.maximum(w.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)
    v -= (w * v).sum(axis=1, keepdims=True) / total
    yield w
    yield w * v
    yield (w * v) ** 2
    yield w**2 * v
    for power in range(2, 6):
        yield w**power


def _of_rest(sums: Array) -> Array:
    """The sums over all other segments; differences from the total would cancel."""
    none = np.zeros_like(sums[..., :1])
    before = np.concatenate([none, sums[..., :-1]], axis=-1).cumsum(axis=-1)
    after = np.concatenate([none, sums[..., :0:-1]], axis=-1).cumsum(axis=-1)[..., ::-1]
    return np.asarray(before + after)


def _mean_and_error(sums: Array) -> tuple[Array, Array, Array]:
    """Mean, squared standard error and degrees of freedom, from sums of powers.

    As those of `standard_error`, they account for the influence of large weights: the sum of the
    squared residuals is divided by its expectation for values of equal variance, and the degrees of
    freedom are Satterthwaite's.
    """
    n, w, wv, wwvv, wwv, *powers = sums
    mean = wv / w
    two, three, four, five = (power / w**k for k, power in enumerate(powers, 2))
    squares = np.maximum(wwvv - 2 * mean * wwv + mean**2 * powers[0], 0) / w**2
    expected, square = of_equal_variances(two, three, four, five)
    expected[expected < DOMINATED * two] = np.nan  # a difference of nearly equal numbers
    return mean, np.where(n > 1, squares * two / expected, np.nan), expected**2 / square
