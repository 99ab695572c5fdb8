"""RankingAccumulator: metrics over batches of whole queries, in parts that can be merged."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from itertools import permutations
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from .._columns import column_names
from .._table import Table
from .._typing import Array, Library, QueryIds
from .._validation import check_flag
from ..metrics.evaluate import Metrics, by_system
from ..metrics.metric import Metric, measure
from ..metrics.names import display_name
from ..metrics.resolve import list_metrics, resolve_all
from ..metrics.segment import (
    ALL_QUERIES,
    MISSING,
    MOST_CATEGORIES,
    Segment,
    constant_within,
    refuse_missing_as_text,
    values_and_missing,
)
from ..query_ids import Grouping, group_rows
from ..query_ids.lookup import check_same_order, index_ids
from ..query_ids.read import as_objects, of_python
from ..ranking import MetricValues, Queries, read_queries
from .moments import DifferenceSummary, MetricSummary, Moments, Terms

# a system, () if there is one without a name, or the baseline and the model of a difference
Systems: TypeAlias = tuple[str, ...]
Key: TypeAlias = tuple[Segment, Systems, str]

# values that differ by less are equal, and differ by rounding
TOLERANCE = 1e-12

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
    has_positive_weight : bool
        Whether some query has a positive weight.
    values : tuple of (ids, values)
        For each batch the ids of its queries and their values by system and metric, if stored.
    last_id : query id or None
        The query of the last row.
    """

    moments: dict[Key, Moments] = field(default_factory=dict)
    n_documents: int = 0
    has_positive_weight: bool = False
    values: tuple[tuple[Array, dict[tuple[Systems, str], Array]], ...] = ()
    last_id: Any = None

    def __add__(self, other: State) -> State:
        moments = dict(self.moments)
        for key, added in other.moments.items():
            moments[key] = moments[key] + added if key in moments else added
        if len(moments) > len(self.moments):
            _check_segments({segment for segment, _, _ in moments})
        return State(
            moments,
            self.n_documents + other.n_documents,
            self.has_positive_weight or other.has_positive_weight,
            self.values + other.values,
            other.last_id,
        )

    def systems(self, length: int) -> list[Systems]:
        """The systems, of length 1, or pairs of them; one without a name is of length 0."""
        systems = dict.fromkeys(names for _, names, _ in self.moments)
        return [names for names in systems if len(names) == length]


class RankingAccumulator:
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
    about the ratio. Intervals are those of Student's t, with Satterthwaite's degrees of freedom.

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
        self.metrics, self.options = list_metrics(metrics), options
        self.like, self.by = like, _segment_names(by)
        self.per_query, self.n_jobs = check_flag("per_query", per_query), n_jobs
        self._resolved = _resolve_averaged(self.metrics, like, options)
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
            Query weights, constant within each query.
        segments : array-like of shape (n_documents,), mapping or DataFrame of them, default=None
            The columns named by `by`, constant within each query.

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
        several = isinstance(y_score, Mapping)
        given: Any = y_score if several else {"y_score": y_score}
        if groups is None:
            ids = index_ids(y_true=y_true, **given)
            # each row of two-dimensional input is a query
            is_flat = all(np.ndim(values) == 1 for values in (y_true, *given.values()))
            groups = ids if ids is not None and is_flat else None
        if groups is None and (self.per_query or self.by):
            option = "per_query=True" if self.per_query else "by="
            raise ValueError(f"{option} needs groups, the ids of the queries.")
        columns = _columns_of(segments, self.by)
        named = {f"segments[{name!r}]": column for name, column in columns.items()}
        check_same_order(y_true=y_true, groups=groups, **named)

        def read(scores: Any, ids: Any) -> Queries:
            options: dict[str, Any] = {"sample_weight": sample_weight, "allow_zero_weights": True}
            return read_queries(y_true, scores, groups=ids, **options)

        if several:
            queries = by_system(read, y_true, given, groups, sample_weight)
        else:
            queries = {"": read(y_score, groups)}
        grouping = next(iter(queries.values())).grouping
        values = {name: segments_of(name, c, grouping) for name, c in columns.items()}
        first, last = (None, None) if groups is None else _ends(grouping)
        self._check_not_split(first)
        systems: list[Systems] = [(name,) if several else () for name in queries]
        return self._add(dict(zip(systems, queries.values(), strict=True)), values, last)

    def _add(
        self, queries: Mapping[Systems, Queries], segments: Mapping[str, Array], last_id: Any = None
    ) -> RankingAccumulator:
        """Add the same queries with the scores of each system, and their values of segments."""
        state, ranked = self._state, list(queries.items())
        if state.moments and [s for s, _ in ranked] != (state.systems(1) or [()]):
            raise ValueError(
                f"each batch must have the scores of the same systems; got {[*queries]!r:.80} "
                f"after {state.systems(1)!r:.80}."
            )
        _, of_first = ranked[0]
        measured = {
            systems: measure(given, self._resolved.values(), n_jobs=self.n_jobs)
            for systems, given in ranked
        }
        weights = np.ones(len(of_first)) if of_first.weights is None else of_first.weights
        parts: list[Any] = [(ALL_QUERIES, slice(None)), *_parts(segments)]
        moments = {
            (segment, systems, name): terms.moments(rows)
            for systems, name, terms in self._terms(measured, weights)
            for segment, rows in parts
        }
        stored: Any = ()
        if self.per_query:
            columns = {
                (systems, name): of.per_query(metric.replace_undefined_by)
                for systems, values in measured.items()
                for (name, metric), of in zip(self._resolved.items(), values, strict=True)
            }
            stored = ((of_first.ids, columns),)
        n_documents = len(of_first.y_true)
        added = State(moments, n_documents, bool(weights.any()), stored, last_id)
        self._replace(state, state + added)
        return self

    def _terms(
        self, measured: Mapping[Systems, list[MetricValues]], weights: Array
    ) -> Iterator[tuple[Systems, str, Terms]]:
        """The terms of each metric for each system, and for each pair of systems."""
        of_systems: dict[tuple[Systems, str], Array] = {}
        for systems, values in measured.items():
            for (name, metric), of in zip(self._resolved.items(), values, strict=True):
                per_query = of.per_query(metric.replace_undefined_by)
                of_systems[systems, name] = per_query
                counted = of.defined | (not math.isnan(metric.replace_undefined_by))
                parts = per_query, np.ones(len(weights))
                if metric.average == "micro":
                    parts = of.numerator, of.denominator
                terms = Terms.of(*parts, weights, counted, of.defined)
                if not math.isfinite(terms.numerators.sum() + terms.denominators.sum()):
                    raise ValueError(
                        f"{name!r} is infinite for a query or in the sum over queries, so it has "
                        "no mean."
                    )
                yield systems, name, terms
        for first, second in permutations(measured, 2):
            for name in (n for n, metric in self._resolved.items() if metric.average == "macro"):
                differences = _differences(of_systems[first, name], of_systems[second, name])
                counted = ~np.isnan(differences)
                one = np.ones(len(weights))
                yield first + second, name, Terms.of(differences, one, weights, counted, counted)

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
        TypeError
            If `other` is not a RankingAccumulator.
        """
        if not isinstance(other, RankingAccumulator):
            raise TypeError(
                f"merge() takes another RankingAccumulator; got {type(other).__name__}."
            )
        if other is self:
            raise ValueError(
                "an accumulator cannot be merged with itself: all its queries would count twice."
            )
        mine, theirs = self._settings(), other._settings()
        if mine != theirs:
            raise ValueError(
                "accumulators can be merged if their metrics and options are the same; got "
                f"{mine} and {theirs}."
            )
        self._add_state(other._state)
        return self

    def _add_state(self, other: State) -> None:
        """Add what another accumulator has counted."""
        state = self._state
        systems = [of.systems(1) for of in (state, other) if of.moments]
        if len(systems) == 2 and systems[0] != systems[1]:
            raise ValueError(f"both must have the same systems; got {systems[0]} and {systems[1]}.")
        self._replace(state, state + replace(other, last_id=None))

    def _settings(self) -> str:
        """Metrics and options as text, by which accumulators are compared."""
        given = {"like": self.like, "by": self.by, "per_query": self.per_query, **self.options}
        options = ", ".join(f"{name}={_text(value)}" for name, value in sorted(given.items()))
        return f"{', '.join(self.names)} ({options})"

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
        self._check_not_empty()
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
            As in `result`, and without `by`.
        """
        if not self.by:
            raise ValueError("segments need by=, the names of their columns.")
        self._check_not_empty()
        known = dict.fromkeys(segment for segment, _, _ in self._state.moments)
        return {
            segment: self._summaries(segment)
            for column in self.by
            for segment in _in_order(s for s in known if s.column == column)
        }

    def _summaries(self, segment: Segment) -> dict[str, Any]:
        by_system = {
            systems: {
                name: self._state.moments[segment, systems, name].summary(
                    metric.replace_undefined_by
                )
                for name, metric in self._resolved.items()
            }
            for systems in self._state.systems(1) or [()]
        }
        return _nested(by_system)

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
            By system and metric, over the queries for which the metric is defined for both.

        Raises
        ------
        ValueError
            If there are fewer than two systems, an unknown one or an unknown segment is named, or
            metrics have ``average="micro"``.
        """
        self._check_not_empty()
        names = [name for (name,) in self._state.systems(1)]
        if len(names) < 2:
            raise ValueError("a difference needs several systems: pass y_score as a dict.")
        baseline = names[0] if baseline is None else baseline
        if baseline not in names:
            raise ValueError(
                f"baseline must be one of {', '.join(map(repr, names))}; got {baseline!r}."
            )
        if any(metric.average == "micro" for metric in self._resolved.values()):
            raise ValueError('paired differences need average="macro".')
        if (Segment(*segment), (baseline,), self.names[0]) not in self._state.moments:
            raise ValueError(f"no segment {tuple(segment)!r}; those of by_segment() are known.")
        key = Segment(*segment)
        return {
            model: {
                name: self._state.moments[key, (baseline, model), name].difference()
                for name in self.names
            }
            for model in names
            if model != baseline
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
        self._check_not_empty()
        stored = self._state.values
        ids = _joined([ids for ids, _ in stored])
        grouping = group_rows(ids, len(ids))
        if len(grouping) < len(ids):
            raise ValueError(
                f"query {grouping.ids[grouping.sizes > 1][0]} is in several batches. Pass whole "
                "queries to update()."
            )
        by_system: dict[Systems, dict[str, Array]] = {}
        for systems, name in stored[0][1]:
            joined = np.concatenate([values[systems, name] for _, values in stored])
            by_system.setdefault(systems, {})[name] = joined[grouping.first_rows]
        return grouping.ids, _nested(by_system)

    def _check_not_empty(self) -> None:
        if not self.n_documents:
            raise ValueError("no documents given; at least one is needed.")
        if not self._state.has_positive_weight:
            raise ValueError(
                "sample_weight is zero for every query; at least one weight must be positive."
            )

    def _check_not_split(self, first: Any) -> None:
        """Refuse a batch that starts with the query with which the previous one ended."""
        before = self._state.last_id
        if before is not None and first is not None and before == first:
            raise ValueError(
                f"query {first} is split: it ends the previous batch and starts this one. Pass "
                "whole queries to update(), or batches sorted by query to evaluate_batches."
            )

    def _replace(self, state: State, following: State) -> None:
        """Take the state that follows from another, unless it is no longer the present one."""
        if self._state is not state:
            raise RuntimeError(
                "another thread changed the accumulator during this call, which has no effect. "
                "Give each thread an accumulator of its own, and merge them at the end."
            )
        self._state = following

    def _empty(self) -> RankingAccumulator:
        """An accumulator of the same metrics without documents."""
        other = copy(self)
        other._state = State()
        return other

    def __repr__(self) -> str:
        return self._table().text()

    def _repr_html_(self) -> str:
        return self._table().html()

    def _table(self) -> Table:
        title = f"{type(self).__name__} of {self.n_documents:,} documents"
        systems = [name for (name,) in self._state.systems(1)]
        header = ["", "mean", "std. error", "queries", "undefined"]
        try:
            result = self.result()
        except ValueError:  # no documents so far, or none with a weight
            return Table(title, header, [[name, *["-"] * 4] for name in self.names])
        by_system = result if systems else {"": result}
        rows = [
            [
                f"{system} {name}".strip(),
                f"{of.mean:.4f}",
                f"{of.standard_error:.4f}",
                f"{of.n_queries:,}",
                f"{of.n_undefined:,}",
            ]
            for system, summaries in by_system.items()
            for name, of in summaries.items()
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


def _resolve_averaged(
    metrics: list[Any], like: Library | None, options: dict[str, Any]
) -> dict[str, Metric]:
    """Metrics by their names, each averaged over queries."""
    resolved = resolve_all(metrics, like=like, **options)
    for name, metric in resolved.items():
        if metric.average is None:
            raise ValueError(
                "average=None gives one value per query, which an accumulator does not store; use "
                "per_query=True and query_values()."
            )
        if metric.propensity is not None or metric.clip is not None:
            option = "clip" if metric.propensity is None else "propensity"
            raise ValueError(
                f"{name!r}: accumulators, evaluate_parquet, Spark and Dask take no {option}. Use "
                "evaluate or query_scores, or compute each part by query_scores and join them."
            )
    return resolved


def _text(value: Any) -> str:
    """An option as text, in which a function is its name, and 1.0 is 1."""
    if isinstance(value, np.ndarray | list | tuple):
        return f"[{', '.join(map(_text, value))}]"
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.number):
        return display_name(value) if callable(value) else repr(value)
    return f"{float(value):.17g}"


def _differences(first: Array, second: Array) -> Array:
    """The second values minus the first; 0 where they differ only by rounding."""
    scale = np.maximum(np.maximum(np.abs(first), np.abs(second)), 1.0)
    differences = second - first
    return np.where(np.abs(differences) <= TOLERANCE * scale, 0.0, differences)


def _ends(grouping: Grouping) -> tuple[Any, Any]:
    """The ids of the first and the last row."""
    last_rows = grouping.rows_at(grouping.starts + grouping.sizes - 1)
    return grouping.ids[grouping.first_rows.argmin()], grouping.ids[last_rows.argmax()]


def _nested(by_system: dict[Systems, dict[str, Any]]) -> dict[str, Any]:
    """Results by the name of the system; those of one without a name by themselves."""
    if () in by_system:
        return by_system[()]
    return {name: of_system for (name,), of_system in by_system.items()}


def _means(result: dict[str, Any]) -> dict[str, Any]:
    return {
        name: of.mean if isinstance(of, MetricSummary) else _means(of)
        for name, of in result.items()
    }


def _joined(ids: list[Array]) -> Array:
    """Ids of several batches as one array, in which numbers and text stay what they are."""
    if len({one.dtype.kind for one in ids}) == 1:
        return np.concatenate(ids)
    return as_objects([value for one in ids for value in of_python(one)])


def _segment_names(by: Any) -> tuple[str, ...]:
    """The names of the columns of segments, given as one name, several or None."""
    names = (by,) if isinstance(by, str) else tuple(by or ())
    if not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise ValueError(f"by must be the name of a column or a list of distinct ones; got {by!r}.")
    return names


def _columns_of(segments: Any, names: Sequence[str]) -> dict[str, Any]:
    """The columns named by `names` among those given to an update."""
    if segments is None:
        if names:
            raise ValueError(
                f"segments= needs one column for each name of by, {list(names)}; got none."
            )
        return {}
    if not names:
        raise ValueError("segments= needs an accumulator with by=, the names of the columns.")
    if not (isinstance(segments, Mapping) or hasattr(segments, "columns")):
        if len(names) > 1:
            raise ValueError(f"segments must hold the columns {list(names)} by name.")
        return {names[0]: segments}
    available = column_names(segments) or list(segments)
    if missing := [name for name in names if name not in available]:
        raise ValueError(f"segments has no column {missing[0]!r}; it has {', '.join(available)}.")
    return {name: segments[name] for name in names}


def segments_of(name: str, column: Any, grouping: Grouping) -> Array:
    """The segment of each query, from one value per row in any order."""
    values, missing = values_and_missing(column)
    if values.ndim != 1:
        raise ValueError(f"segments must hold one value per document; {name!r} is not a column.")
    if len(values) != grouping.n_rows:
        raise ValueError(
            f"segments must hold one value per document ({grouping.n_rows}); {name!r} has "
            f"{len(values)}."
        )
    if missing.any():
        refuse_missing_as_text(name, values, missing)
        values = as_objects(of_python(values))
        values[missing] = MISSING
    return as_objects(of_python(constant_within(name, values, grouping)))


def _parts(columns: Mapping[str, Array]) -> Iterator[tuple[Segment, Array]]:
    """Each segment and the positions of its queries."""
    for name, values in columns.items():
        position: dict[Any, int] = {}
        codes = np.array([position.setdefault(v, len(position)) for v in values.tolist()])
        ends = np.cumsum(np.bincount(codes, minlength=len(position)))
        order = np.split(np.argsort(codes, kind="stable"), ends[:-1])
        yield from zip((Segment(name, value) for value in position), order, strict=True)


def _in_order(segments: Iterable[Segment]) -> list[Segment]:
    """Segments of one column by value, the missing one last; values need not be comparable."""
    listed = list(segments)
    present = [segment for segment in listed if segment.value != MISSING]
    try:
        present.sort(key=lambda segment: segment.value)  # type: ignore[arg-type,return-value]
    except TypeError:
        present.sort(key=lambda segment: repr(segment.value))
    return present + [segment for segment in listed if segment.value == MISSING]


def _check_segments(segments: Iterable[Segment]) -> None:
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
