"""RankingAccumulator: metrics over batches of whole queries, in parts that can be merged."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import permutations
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from .._columns import column_names
from .._table import Printed, Table
from .._typing import Array, Library, QueryIds
from .._validation import check_choice, check_flag, check_system_names
from ..comparison.compare import value_differences
from ..comparison.segments import (
    ALL_QUERIES,
    MISSING,
    MOST_CATEGORIES,
    Segment,
    read_segments,
    refuse_missing_as_text,
    values_and_missing,
)
from ..metrics.evaluate import Metrics, by_system
from ..metrics.labels import warn_of_fixed_values
from ..metrics.metric import measure
from ..metrics.names import display_name
from ..metrics.resolve import list_metrics, resolve_all
from ..query_ids import group_rows
from ..query_ids.lookup import index_ids
from ..query_ids.read import as_objects, python_values
from ..ranking import Queries, read_queries
from .moments import DifferenceSummary, Moments

# the name of a system that was not given one
ALONE = ""

# a segment, a system, or the baseline and the model of a difference, and a metric
Key: TypeAlias = tuple[Segment, str | tuple[str, str], str]

# each segment costs some hundred bytes per metric, in every partition
MOST_SEGMENTS = 10_000


@dataclass(frozen=True)
class State:
    """What an accumulator has counted: numbers and query ids, but no functions.

    A state is never changed, only replaced, so that an error leaves the one before.

    Parameters
    ----------
    moments : dict of Key to Moments
        The sums of each segment, system or pair of systems, and metric.
    n_documents : int
        Number of documents.
    values : tuple of (ids, values)
        For each batch the ids of its queries and their values by system and metric, if stored.
    last_id : query id or None
        The query of the last row.
    """

    moments: dict[Key, Moments] = field(default_factory=dict)
    n_documents: int = 0
    values: tuple[tuple[Array, dict[tuple[str, str], Array]], ...] = ()
    last_id: Any = None

    def __add__(self, other: State) -> State:
        if self.moments and other.moments and {*self.systems} != {*other.systems}:
            got = f"{self.systems!r:.80} and {other.systems!r:.80}"
            raise ValueError(f"all queries must have scores of the same systems; got {got}.")
        moments = dict(self.moments)
        for key, added in other.moments.items():
            moments[key] = moments[key] + added if key in moments else added
        if len(moments) > len(self.moments):
            _check_segments({segment for segment, _, _ in moments})  # of all batches
        n_documents = self.n_documents + other.n_documents
        return State(moments, n_documents, self.values + other.values, other.last_id)

    @cached_property
    def systems(self) -> list[str]:
        """Names of the systems."""
        return list(dict.fromkeys(of for _, of, _ in self.moments if isinstance(of, str)))


class RankingAccumulator(Printed):
    """Ranking metrics over batches of documents, as partial results that can be merged.

    An accumulator stores a few numbers per metric. It can be pickled and merged in any order; the
    result is that of `evaluate` on all rows at once. Each thread or process needs an accumulator of
    its own, to be merged at the end.

    Parameters
    ----------
    metrics : str, callable or iterable of them
        As in `evaluate`. Functions must be importable for the accumulator to be pickled.
    like : str, default=None
        Library whose conventions to use, as in `evaluate`.
    by : str or list of str, default=None
        Names of columns that define segments, such as ``"country"``, for `by_segment`.
    per_query : bool, default=False
        Whether to store the value of every query for `query_values`, which requires more memory.
    n_jobs : int, default=None
        Number of threads; None means 1 unless in a joblib context, -1 all processors.
    **options
        Options of the metrics, as in `evaluate`; `average` is ``"macro"`` or ``"micro"``.

    Raises
    ------
    ValueError
        For an unknown name or option, and for ``average=None``.

    See Also
    --------
    evaluate : The same for data in memory.
    evaluate_parquet : The same for Parquet files.

    Notes
    -----
    The standard error of a mean with query weights w is the square root of ``sum(h**2 * (v -
    mean)**2) * s2 / (s2 - 2 * s3 + s2**2)`` with ``h = w / sum(w)`` and ``sp = sum(h**p)``, over
    the queries that count; without weights it is the standard deviation over the square root of n.
    It divides the sum of all squared residuals by its expectation for values of equal variance;
    that of `QueryScores`, which needs all values at once, divides each squared residual by its own.
    Both are equal for equal weights. With ``average="micro"`` the residual is that of the numerator
    about the ratio. Intervals are corrected for skewness, as those of `QueryScores`; where too few
    queries differ from the most common value, they are bounds by the range of the metric, of
    Clopper and Pearson, which may be wider than those in memory.

    Examples
    --------
    >>> from sklearn_rankscore import RankingAccumulator
    >>> monday, tuesday = RankingAccumulator("mrr"), RankingAccumulator("mrr")
    >>> monday.update([0, 1, 1, 0], [0.9, 0.4, 0.8, 0.1], ["a", "a", "b", "b"]).scores()
    {'mrr': 0.75}
    >>> week = tuesday.update([0, 0], [0.9, 0.8], ["c", "c"]).merge(monday).result()["mrr"]
    >>> week.mean, week.n_queries, week.n_undefined
    (0.5, 3, 1)
    """

    def __init__(
        self,
        metrics: Metrics,
        *,
        like: Library | None = None,
        by: str | Sequence[str] | None = None,
        per_query: bool = False,
        n_jobs: int | None = None,
        **options: Any,
    ) -> None:
        self.options, self.like, self.n_jobs = options, like, n_jobs
        self.by = (by,) if isinstance(by, str) else tuple(by or ())
        self.per_query = check_flag("per_query", per_query)
        self._resolved = resolve_all(list_metrics(metrics), like=like, **options)
        for name, metric in self._resolved.items():
            if metric.average is None or metric.propensity is not None or metric.clip is not None:
                raise ValueError(
                    f"{name!r}: accumulators, evaluate_parquet, Spark and Dask take no propensity, "
                    "and no average=None: use per_query=True and query_values()."
                )
        self._state = State()

    @property
    def n_documents(self) -> int:
        """Number of documents so far."""
        return self._state.n_documents

    @property
    def names(self) -> list[str]:
        """Names of the metrics, the keys of the results."""
        return list(self._resolved)

    def update(
        self,
        y_true: ArrayLike,
        y_score: ArrayLike | Mapping[str, ArrayLike],
        groups: QueryIds | None = None,
        *,
        sample_weight: ArrayLike | None = None,
        segments: Any = None,
    ) -> RankingAccumulator:
        """Add a batch of whole queries.

        Parameters
        ----------
        y_true, y_score : array-like of shape (n_documents,) or (n_queries, n_documents)
            Relevance and score of each document. For several systems, a dict from their names to
            their scores, as in `evaluate`, which is the same for each batch.
        groups : array-like of shape (n_documents,), default=None
            Query id of each document, in any row order; no id may occur in two batches. None takes
            those of an index level ``qid``; without one, a batch is a single query, or each row of
            2-D input is one.
        sample_weight : array-like of shape (n_documents,) or (n_queries,), default=None
            Query weights, constant within each query; one per row of 2-D input.
        segments : array-like, mapping or DataFrame of them, default=None
            The columns named by `by`: one value per document, constant within each query, or per
            query, as in `query_scores`.

        Returns
        -------
        RankingAccumulator
            The accumulator itself.

        Raises
        ------
        ValueError
            For any input that `evaluate` refuses, and if the batch starts with the query with which
            the previous batch ended.
        """
        if groups is None and np.ndim(y_true) == 1:
            systems = y_score if isinstance(y_score, Mapping) else {"y_score": y_score}
            groups = index_ids(y_true=y_true, **systems)

        def read(scores: Any, ids: Any) -> Queries:
            weights: dict[str, Any] = {"sample_weight": sample_weight, "allow_zero_weights": True}
            return read_queries(y_true, scores, groups=ids, **weights)

        if isinstance(y_score, Mapping):
            queries = by_system(read, y_true, y_score, groups, sample_weight)
            check_system_names("y_score", queries)
        else:
            queries = {ALONE: read(y_score, groups)}
        grouping, rows = next(iter(queries.values())).grouping, {"y_true": y_true, "groups": groups}
        if bool(self.by) != (segments is not None):
            raise ValueError(f"segments= must hold the columns of by=, {list(self.by)}.")
        values = {}
        if segments is not None:
            if not isinstance(segments, Mapping) and not hasattr(segments, "columns"):
                segments = {self.by[0]: segments}
            names = column_names(segments) or list(segments)
            if lacking := [name for name in self.by if name not in names]:
                raise ValueError(f"segments= has no column {lacking[0]!r} of by=; it has {names}.")
            # those of queries may have a column of ids; others of documents are not read
            n_rows = grouping.n_rows if grouping.n_rows != len(grouping) else None
            used = [name for name in names if name in self.by or len(segments[name]) != n_rows]
            given = {name: segments[name] for name in used}
            columns = read_segments(given, grouping.ids, grouping, rows)
            values = {name: segment_values(name, columns[name]) for name in self.by}
        last_id = None
        if groups is not None:
            first_id, last_id = grouping.ids[grouping.codes[[0, -1]]]
            if self._state.last_id is not None and self._state.last_id == first_id:
                raise ValueError(
                    f"query {first_id} is split: it ends the previous batch and starts this one. "
                    "Pass whole queries to update(), or sorted batches to evaluate_batches."
                )
        return self._add(queries, values, last_id)

    def _add(
        self, queries: Mapping[str, Queries], segments: Mapping[str, Array], last_id: Any = None
    ) -> RankingAccumulator:
        """Add the same queries with the scores of each system, and their values of segments."""
        first_system = next(iter(queries.values()))
        n, weights = len(first_system), first_system.weights
        weights = np.ones(n) if weights is None else weights
        parts: list[tuple[Segment, Any]] = [(ALL_QUERIES, slice(None))]
        for column, of_queries in segments.items():
            by_value = group_rows(of_queries, n)
            for i, value in enumerate(by_value.ids.tolist()):
                entries = by_value.starts[i] + np.arange(by_value.sizes[i])
                parts.append((Segment(column, value), by_value.rows_at(entries)))
        _check_segments({segment for segment, _ in parts})
        if not self._state.moments:
            warn_of_fixed_values(first_system, self._resolved.values())
        values: dict[tuple[str, str], Array] = {}
        terms: dict[tuple[Any, str], tuple[Any, ...]] = {}
        for system, given in queries.items():
            measured = measure(given, self._resolved.values(), n_jobs=self.n_jobs)
            for (name, metric), of in zip(self._resolved.items(), measured, strict=True):
                value = values[system, name] = of.per_query(metric.replace_undefined_by)
                terms[system, name] = value, None, ~of.defined
                if metric.average == "micro":
                    numerator = np.where(np.isnan(value), np.nan, of.numerator)
                    terms[system, name] = numerator, of.denominator, ~of.defined
        for pair in permutations(queries, 2):
            for name in self._resolved:
                both = [values[system, name] for system in pair]
                difference = value_differences(*both)
                terms[pair, name] = difference, None, np.isnan(difference), *both
        moments = {
            (segment, *key): Moments.of(weights[rows], *(t if t is None else t[rows] for t in of))
            for segment, rows in parts
            for key, of in terms.items()
        }
        stored = ((first_system.ids, values),) if self.per_query else ()
        return self._collect([State(moments, len(first_system.y_true), stored, last_id)])

    def _collect(self, states: Iterable[State]) -> RankingAccumulator:
        """Add all of several parts, or none."""
        self._state = sum(states, self._state)
        return self

    def merge(self, other: RankingAccumulator) -> RankingAccumulator:
        """Add the queries of another accumulator of the same metrics.

        Merge each accumulator once: that the same rows were added to both is not noticed.

        Parameters
        ----------
        other : RankingAccumulator
            The other accumulator, which is not changed.

        Returns
        -------
        RankingAccumulator
            The accumulator itself.

        Raises
        ------
        ValueError
            If the metrics or options differ; functions are compared by name.
        """
        if self._settings() != other._settings():
            raise ValueError(
                "accumulators can be merged if their metrics and options are the same; got "
                f"{self._settings()} and {other._settings()}."
            )
        return self._collect([replace(other._state, last_id=None)])

    def _settings(self) -> str:
        """Metrics and options as text, by which accumulators are compared."""
        options = {"like": self.like, "by": self.by, "per_query": self.per_query, **self.options}
        shown = {n: display_name(v) if callable(v) else v for n, v in sorted(options.items())}
        return f"{', '.join(self.names)} with {shown}"

    def result(self) -> dict[str, Any]:
        """Mean, standard error and numbers of queries of each metric.

        Returns
        -------
        dict of str to MetricSummary
            The summary of each metric under its name; for several systems a dict of such dicts.

        Raises
        ------
        ValueError
            If there are no documents, or no query has a positive weight.
        """
        return self._summaries(ALL_QUERIES)

    def by_segment(self) -> dict[Segment, dict[str, Any]]:
        """Like `result`, for the queries of each segment.

        Returns
        -------
        dict of Segment to dict
            The result of each ``(column, value)``, in the order of `by`, and by value within a
            column; queries whose value is missing are those of ``(column, "missing")``.

        Raises
        ------
        ValueError
            As in `result`.
        """

        def place(segment: Segment) -> tuple[Any, ...]:
            value = segment.value
            return self.by.index(segment.column), value == MISSING, type(value).__name__, value

        segments = {segment for segment, _, _ in self._counted().moments} - {ALL_QUERIES}
        return {segment: self._summaries(segment) for segment in sorted(segments, key=place)}

    def _summaries(self, segment: Segment) -> dict[str, Any]:
        moments = self._counted().moments
        return self._by_system(
            lambda system, name: moments[segment, system, name].summary(self._resolved[name])
        )

    def _by_system(self, compute: Callable[[str, str], Any]) -> dict[str, Any]:
        """Results by system and metric; by metric, if there is one system without a name."""
        results = {
            system: {name: compute(system, name) for name in self.names}
            for system in self._state.systems
        }
        return results.get(ALONE, results)

    def differences(
        self, baseline: str | None = None, *, segment: tuple[str, Hashable] = ALL_QUERIES
    ) -> dict[str, dict[str, DifferenceSummary]]:
        """The paired difference of each system and a baseline, as in `compare`.

        Parameters
        ----------
        baseline : str, default=None
            Name of the system with which the others are compared; None is the first.
        segment : tuple of (column, value), default=("", "all queries")
            The queries to compare, one of `by_segment`.

        Returns
        -------
        dict of str to dict of str to DifferenceSummary
            By system and metric, over the queries for which the metric is defined for both; empty
            for a single system.

        Raises
        ------
        ValueError
            If an unknown system is named, or metrics have ``average="micro"``.
        KeyError
            If an unknown segment is named.
        """
        state, key = self._counted(), Segment(*segment)
        names = state.systems
        if any(metric.average == "micro" for metric in self._resolved.values()):
            raise ValueError('paired differences need average="macro".')
        first = names[0] if baseline is None else check_choice("baseline", baseline, tuple(names))
        return {
            model: {
                name: state.moments[key, (first, model), name].difference(metric)
                for name, metric in self._resolved.items()
            }
            for model in names
            if model != first
        }

    def scores(self) -> dict[str, Any]:
        """Return the mean of each metric under its name, as `evaluate` does.

        Returns
        -------
        dict of str to float
            The value of each metric; for several systems a dict of such dicts.
        """
        return _means(self.result())

    def query_values(self) -> tuple[Array, dict[str, Any]]:
        """Return the value of every query, if ``per_query=True``.

        Returns
        -------
        ids : ndarray of shape (n_queries,)
            Query ids in sorted order.
        values : dict of str to ndarray of shape (n_queries,)
            The values of each metric; for several systems a dict of such dicts.

        Raises
        ------
        ValueError
            If the values were not stored, or a query is in several batches.
        """
        if not self.per_query:
            raise ValueError("the values of queries are stored only with per_query=True.")
        state = self._counted()
        parts = [ids for ids, _ in state.values]
        if len({ids.dtype.kind for ids in parts}) > 1:  # numbers and text stay what they are
            parts = [as_objects(python_values(ids)) for ids in parts]
        ids = np.concatenate(parts)
        grouping = group_rows(ids, len(ids))
        if len(grouping) < len(ids):
            raise ValueError(
                f"query {grouping.ids[grouping.sizes > 1][0]} is in several batches. Pass whole "
                "queries to update()."
            )

        def values(*key: Any) -> Array:
            return np.concatenate([of[key] for _, of in state.values])[grouping.first_rows]

        return grouping.ids, self._by_system(values)

    def _counted(self) -> State:
        if not any(of.counts[6] for of in self._state.moments.values()):
            raise ValueError("no documents so far, or none whose query has a positive weight.")
        return self._state

    def _empty(self) -> RankingAccumulator:
        """An accumulator of the same metrics without documents."""
        other = copy(self)
        other._state = State()
        return other

    def _table(self) -> Table:
        title = f"{type(self).__name__} of {self.n_documents:,} documents"
        header = ["", "mean", "std. error", "queries", "undefined"]
        rows = [
            [" ".join(filter(None, [system, name])), *of.summary(self._resolved[name])[:4]]
            for (segment, system, name), of in self._state.moments.items()
            if segment == ALL_QUERIES and isinstance(system, str)
        ]
        return Table(title, header, rows)


class StreamedScores(dict[Any, Any]):
    """Means as `evaluate` returns them, and the accumulator that knows more of them.

    It is a dict from the names of metrics to their values; for several systems a dict of such
    dicts, and with `by` one of these for ``("", "all queries")`` and each ``(column, value)``.

    Parameters
    ----------
    accumulator : RankingAccumulator
        The accumulator of all queries. Its methods `result`, `by_segment` and `differences` give
        standard errors, intervals and paired differences.
    """

    def __init__(self, accumulator: RankingAccumulator) -> None:
        self.accumulator = copy(accumulator)
        scores: dict[Any, Any] = accumulator.scores()
        if accumulator.by:
            of_segments = {s: _means(of) for s, of in accumulator.by_segment().items()}
            scores = {ALL_QUERIES: scores, **of_segments}
        super().__init__(scores)

    def __reduce__(self) -> Any:
        return type(self), (self.accumulator,)

    @property
    def summaries(self) -> dict[str, Any]:
        """The `MetricSummary` of each metric; for several systems a dict of such dicts."""
        return self.accumulator.result()

    @property
    def differences(self) -> dict[str, dict[str, DifferenceSummary]]:
        """The paired difference of each further system and the first, by metric."""
        return self.accumulator.differences()

    def _repr_html_(self) -> str:
        return self.accumulator._repr_html_()


def _means(result: dict[str, Any]) -> dict[str, Any]:
    return {name: _means(of) if isinstance(of, dict) else of.mean for name, of in result.items()}


def segment_values(name: str, column: Any) -> Array:
    """A column of segments as objects, in which missing values are a segment of their own."""
    values, missing = values_and_missing(column)
    refuse_missing_as_text(name, values, missing)
    values = as_objects(python_values(values))
    values[missing] = MISSING
    return values


class TooManySegmentsError(ValueError):
    """A column has too many values to define segments."""


def _check_segments(segments: set[Segment]) -> None:
    """Refuse columns with too many distinct values to be segments."""
    for name in {segment.column for segment in segments}:
        kinds = [type(segment.value) for segment in segments if segment.column == name]
        n_numbers = kinds.count(int) + kinds.count(float)
        if n_numbers > MOST_CATEGORIES or len(kinds) > MOST_SEGMENTS:
            raise TooManySegmentsError(
                f"column {name!r} has more than {MOST_CATEGORIES} distinct numbers, or "
                f"{MOST_SEGMENTS:,} other values, to define segments. Bin them, or convert to text."
            )
