"""A report on one or several rankings: properties of the data, metrics by cut-off, segments."""

from __future__ import annotations

import math
import platform
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from .._table import Number, Table
from .._typing import Array, IntervalMethod, Library, QueryIds, Seed
from .._validation import check_count, check_cutoff, check_flag, check_number
from ..comparison import Comparison, QueryScores, SegmentScores, compare
from ..comparison.compare import paired_differences
from ..comparison.query_scores import measure_per_query, resolve_per_query
from ..comparison.segments import Segments, columns_or_levels, read_segments
from ..metrics.evaluate import MetricLike, Metrics, by_system
from ..metrics.label_bounds import default_max_label, metric_bounds
from ..metrics.metric import Metric
from ..metrics.names import METRICS, display_name, name_of_function, parse_name, with_cutoff
from ..metrics.resolve import has_option, list_metrics
from ..plots import (
    CutoffCurveDisplay,
    DifferenceCurveDisplay,
    ForestDisplay,
    QueryDeltaDisplay,
    QueryPropertyDisplay,
    QueryScatterDisplay,
)
from ..plots.display import inference_of
from ..plots.queries import LABELS
from ..ranking import Queries, read_queries
from ..ranking.queries import is_judged
from .render import Plot, RankingReport, Section

Cutoffs: TypeAlias = int | Iterable[int | None] | None
N_QUERIES = 10
PACKAGES = (__name__.partition(".")[0], "sklearn", "numpy", "scipy", "matplotlib")
SHARES = {
    "queries_without_relevant": "queries without relevant documents",
    "queries_of_one_document": "queries of one document",
    "queries_all_tied": "queries with all scores tied",
    "documents_tied": "documents tied with another one",
}


def ranking_report(
    y_true: ArrayLike,
    y_score: ArrayLike | Mapping[str, ArrayLike],
    *,
    groups: QueryIds | None = None,
    metrics: Metrics = ("ndcg", "map", "mrr", "precision", "recall"),
    k: Cutoffs = (1, 5, 10, None),
    threshold: float | None = None,
    by: Segments | str | Sequence[str] | None = None,
    bounds: bool = False,
    confidence: float = 0.95,
    method: IntervalMethod = "auto",
    n_resamples: int = 9999,
    random_state: Seed = None,
    like: Library | None = None,
    sample_weight: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    n_jobs: int | None = None,
    digits: int = 3,
    output_dict: bool = False,
    **options: Any,
) -> Any:
    """Build a report of the main ranking metrics, as `classification_report` does for classes.

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Relevance labels, finite numbers; higher is more relevant. NaN means that nobody judged the
        document, and requires the option `unjudged`.
    y_score : array-like of the same shape as `y_true`, or dict of str to array-like
        Scores; higher ranks first. -inf means not retrieved; NaN is an error. For several systems,
        a dict from their names to their scores of the same documents.
    groups : array-like of shape (n_documents,), default=None
        Query ids of any hashable dtype, in any row order. None takes those of an index level
        ``qid`` of `y_true` or `y_score`; without one, all documents are a single query, or each
        row of 2-D input is one.
    metrics : str, callable or iterable of them, default=("ndcg", "map", "mrr", "precision", \
"recall")
        One row each. A metric with the option `k` and no cut-off in its name is computed at each
        `k`.
    k : int, None or iterable of them, default=(1, 5, 10, None)
        Cut-offs, one column each; None means no cut-off.
    threshold : float, default=None
        A document is relevant if its label exceeds this value. None means the default of each
        metric or of `like`, and 0 for the statistics of the data.
    by : array-like, mapping, DataFrame, str or list of str, default=None
        Segments of the queries for which means are tabulated, and differences between systems: one
        value per document, constant within each query, or one per query; several such columns by
        name; a mapping from query ids to values; or the names of index levels of `y_true`,
        `y_score` or `groups`. Numbers with more than ten distinct values are divided into
        quartiles.
    bounds : bool, default=False
        Whether to add a second interval, the smallest and the largest mean over all possible labels
        of unjudged documents, see `score_bounds`. Metrics without exact bounds are left out.
    confidence : float, default=0.95
        Confidence level of the intervals.
    method : {"auto", "t", "bootstrap"}, default="auto"
        How intervals are computed, see `QueryScores.interval`.
    n_resamples : int, default=9999
        Number of bootstrap resamples.
    random_state : int, RandomState instance, Generator or None, default=None
        Seed of the bootstrap.
    like : str, default=None
        Library whose conventions to use, as in `evaluate`.
    sample_weight : array-like of shape (n_documents,) or (n_queries,), default=None
        Query weights, constant within each query; one per row of 2-D input. The statistics of the
        data are not weighted.
    labels : array-like of shape (n_classes,), default=None
        Classes of the columns of `y_score` if `y_true` holds class labels (:doc:`/guide/inputs`).
    n_jobs : int, default=None
        Number of threads; -1 uses all processors.
    digits : int, default=3
        Number of decimals in the text.
    output_dict : bool, default=False
        Whether to return a dict of unrounded numbers instead of the text.
    **options
        Options of the metrics except `average`. An option applies to each metric that has it.

    Returns
    -------
    RankingReport or dict
        A text that notebooks display as tables, with a method `to_html`; or ``{"data": {...},
        "metrics": {"ndcg@1": {"mean", "low", "high", "queries", "random_order"}, ...}}``, where
        "queries" is the number of queries for which the metric is defined, and "random_order" the
        expected mean for random orders of the documents; with `bounds`, also "lowest" and
        "highest". With `by`, the dict contains a list "segments" with one entry per metric and
        segment, as in `QueryScores.by`. For several systems, the text also contains their
        differences from the first, and the result is a dict of such dicts.

    Raises
    ------
    ValueError
        For any input that `query_scores`, `QueryScores.interval` or `QueryScores.by` refuses.

    See Also
    --------
    compare : Differences between systems with p-values.
    sklearn.metrics.classification_report : The counterpart for classifiers.

    Notes
    -----
    Below each metric, the row "random order" shows its expectation over all orders of the
    documents, which is computed exactly. It is omitted, and nan in the dict, if it is 0 (for
    correlations and with ``adjusted=True``) or unknown: with propensities, for functions of a
    block, and if some documents were not retrieved, because those that a system could have
    retrieved are then not known.

    Examples
    --------
    >>> from sklearn_rankscore import make_ranking, ranking_report
    >>> X, y, groups = make_ranking(random_state=0)
    >>> print(ranking_report(y, X[:, 0], groups=groups, k=(1, 10), metrics="ndcg", random_state=0))
    queries                             100
    documents                           1,973
    documents of a query                10 to 30, median 19
    queries without relevant documents  2.0%
    queries of one document             0.0%
    queries with all scores tied        0.0%
    documents tied with another one     0.0%
    <BLANKLINE>
    mean [95 % interval]                    @1                   @10
    ndcg                  0.830 [0.762, 0.881]  0.830 [0.777, 0.863]
      random order        0.276                 0.457
    """
    digits, as_dict = check_count("digits", digits, 0), check_flag("output_dict", output_dict)
    cells = dict(_cells(metrics, k))
    if threshold is not None and any(has_option(metric, "threshold") for metric in cells):
        options["threshold"] = threshold
    resolved = resolve_per_query(list(cells), like=like, **options)
    needs_bounds, limit = check_flag("bounds", bounds), check_number("threshold", threshold or 0)
    inference = inference_of(confidence, method, n_resamples, random_state)

    def compute(scores: Any, groups: Any) -> System:
        queries = read_queries(
            y_true, scores, groups=groups, sample_weight=sample_weight, labels=labels, n_jobs=n_jobs
        )
        # where propensities and segments that are given by name are looked up
        data = {"y_true": y_true, "y_score": scores, "groups": groups}
        places = tuple(data.values())
        measured = measure_per_query(queries, resolved, places, n_jobs)
        segments = columns_or_levels("by", by, *places)
        if segments is not None:
            columns = read_segments(segments, queries.ids, queries.grouping, data)
            measured = replace(measured, segments=columns)
        chance = _of_random_order(queries, resolved)
        of_chance = measure_per_query(queries, chance, places, n_jobs).mean() if chance else {}
        ranges = _bounds_of_means(queries, resolved) if needs_bounds else {}
        metrics = _means(measured, inference, of_chance, ranges)
        n_relevant = _n_chosen(queries, queries.y_true > limit)
        by_segment = None if measured.segments is None else measured.by(**inference)
        facts = _describe(queries, n_relevant, measured)
        return System(facts, metrics, queries.sizes, n_relevant, measured, by_segment)

    if isinstance(y_score, Mapping):
        systems = by_system(compute, y_true, y_score, groups)
    else:
        systems = {"": compute(y_score, groups)}
    scores = {name: system.scores for name, system in systems.items()}
    segments = next(iter(scores.values())).segments
    names = None if segments is None else list(segments)
    comparison = compare(scores, by=names, **inference) if len(scores) > 1 else None
    if as_dict:
        summaries = {name: system.summary(comparison, name) for name, system in systems.items()}
        return summaries.get("", summaries)
    rows: dict[str, dict[int | None, str]] = {}
    texts = {}
    for (name, metric), (label, cutoff) in zip(resolved.items(), cells.values(), strict=True):
        rows.setdefault(label, {})[cutoff] = name
        texts[label] = _options_text(metric)
    title = f"Conventions of {like or 'this package'}"
    conventions = Table(title, ["metric", "options"], [*texts.items()], n_labels=2)
    contents = Contents(systems, rows, comparison, inference, digits)
    by_segment = {n: s.segments for n, s in systems.items() if s.segments is not None}
    return RankingReport._of(
        list(contents.sections(conventions)),
        comparison=comparison, scores=scores, segments=by_segment,
    )  # fmt: skip


def _cells(metrics: Metrics, k: Cutoffs) -> Iterator[tuple[MetricLike, tuple[str, int | None]]]:
    """Each metric to compute, with the row and the column of the table."""
    cutoffs = [check_cutoff(cutoff) for cutoff in (k if isinstance(k, Iterable) else [k])]
    if not cutoffs:
        raise ValueError("k is empty; name at least one cut-off, or None for no cut-off.")
    for given in list_metrics(metrics):
        metric = name_of_function(given) or given
        if not isinstance(metric, str):
            yield metric, (display_name(metric), None)
            continue
        name, options = parse_name(metric)
        listed = ", ".join(f"{option}={value}" for option, value in options if option != "k")
        label = f"{name}({listed})" if listed else name
        if "k" in dict(options) or "k" not in METRICS[name].options:
            yield metric, (label, dict(options).get("k"))
            continue
        for cutoff in cutoffs:
            yield with_cutoff(label, cutoff) if cutoff else metric, (label, cutoff)


def _options_text(metric: Metric) -> str:
    """``"gain=linear, ties=average, …"`` for a named metric."""
    if not metric.definition.is_known:
        return "a function of a block"
    undefined = metric.replace_undefined_by
    options = metric.options | {"unjudged": metric.unjudged, "replace_undefined_by": undefined}
    hidden = {"k", "average", "propensity", "clip"}
    shown = {name: getattr(v, "__name__", v) for name, v in options.items() if name not in hidden}
    return ", ".join(f"{name}={value}" for name, value in shown.items())


def _of_random_order(queries: Queries, metrics: Mapping[str, Metric]) -> dict[str, Metric]:
    """The metrics whose means for random orders of the documents are known.

    Documents that were retrieved are the choice of a system, and in no random order of all.
    """
    known = {} if math.isinf(queries.lowest_score) else metrics
    chance = {name: metric.of_random_order() for name, metric in known.items()}
    return {name: metric for name, metric in chance.items() if metric is not None}


def _bounds_of_means(
    queries: Queries, metrics: Mapping[str, Metric]
) -> dict[str, dict[str, float]]:
    """The least and the greatest mean for any missing labels; none without exact bounds."""
    bounds = {}
    for name, metric in metrics.items():
        given = replace(metric, unjudged="error")
        try:
            values = np.column_stack(metric_bounds(queries, given, default_max_label(queries)))
        except ValueError:  # it has no exact bounds
            continue
        both = QueryScores(queries.ids, values, ("lowest", "highest"), queries.weights)
        bounds[name] = both.mean()
    return bounds


def _means(
    scores: QueryScores,
    inference: Mapping[str, Any],
    chance: Mapping[str, float],
    bounds: Mapping[str, Mapping[str, float]],
) -> dict[str, dict[str, float]]:
    """What is known of the mean of each metric."""
    means, ends, counts = scores.mean(), scores.interval(**inference), scores.included().sum(axis=0)
    return {
        name: {
            "mean": means[name], **ends[name]._asdict(), "queries": count,
            "random_order": chance.get(name, math.nan), **bounds.get(name, {}),
        }
        for name, count in zip(scores.metrics, counts.tolist(), strict=True)
    }  # fmt: skip


def _describe(queries: Queries, n_relevant: Array, scores: QueryScores) -> dict[str, float]:
    """Numbers of documents, and shares of queries and documents with ties or without results."""
    codes, values, sizes = queries.grouping.codes, queries.y_score, queries.sizes
    found = values > -math.inf
    retrieved = _n_chosen(queries, found)
    order = np.lexsort((values[found], codes[found]))
    codes, values = codes[found][order], values[found][order]
    # documents that have the score of the next one in the same query
    tied = np.append((codes[1:] == codes[:-1]) & (values[1:] == values[:-1]), False)[: len(codes)]
    n_tied = np.bincount(codes[tied], minlength=len(sizes))
    facts: dict[str, float] = {"queries": len(sizes), "documents": int(sizes.sum())}
    for kind, counts in (("documents", sizes), ("retrieved", retrieved)):
        facts[f"fewest_{kind}"] = int(counts.min())
        facts[f"median_{kind}"] = float(np.median(counts))
        facts[f"most_{kind}"] = int(counts.max())
    facts |= {
        "queries_without_results": float((retrieved == 0).mean()),
        "queries_without_relevant": float((n_relevant == 0).mean()),
        "queries_of_one_document": float((sizes == 1).mean()),
        "queries_all_tied": float(((n_tied == retrieved - 1) & (n_tied > 0)).mean()),
        "documents_tied": float((tied | np.roll(tied, 1)).sum() / sizes.sum()),
        "documents_unjudged": 1 - float(is_judged(queries.y_true).mean()),
    }
    for clicks in [*scores.propensity_summary().values()][:1]:
        facts |= {
            "clicks": clicks.n_clicks, "effective_clicks": clicks.effective_clicks,
            "documents_clipped": clicks.clipped_share,
        }  # fmt: skip
    return facts


def _n_chosen(queries: Queries, chosen: Array) -> Array:
    """The number of documents of each query that are chosen by a mask."""
    return np.bincount(queries.grouping.codes[chosen], minlength=len(queries))


@dataclass(frozen=True)
class System:
    """Measurements of one system.

    Parameters
    ----------
    facts : dict of str to float
        Properties of the data: the entry "data" of a report.
    metrics : dict of str to dict of str to float
        What is known of the mean of each metric: the entry "metrics" of a report.
    sizes, relevant : array of shape (n_queries,)
        Number of documents and of relevant documents of each query.
    scores : QueryScores
        The values of each query.
    segments : SegmentScores or None
        Means by segment.
    """

    facts: Mapping[str, float]
    metrics: Mapping[str, Mapping[str, float]]
    sizes: Array
    relevant: Array
    scores: QueryScores
    segments: SegmentScores | None

    def summary(self, comparison: Comparison | None, name: str) -> dict[str, Any]:
        """Unrounded numbers, with the differences from the baseline by segment."""
        known: dict[str, Any] = {"data": self.facts, "metrics": self.metrics}
        if self.segments is None:
            return known
        columns = self.segments._columns()
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        own = {(d.metric, *d.segment): d for d in comparison or () if d.model == name}
        for row in rows if own else ():
            d = own[row["metric"], row["column"], row["value"]]
            row |= {
                "difference": d.difference, "difference_low": d.interval.low,
                "difference_high": d.interval.high, "adjusted_p_value": d.adjusted_p_value,
            }  # fmt: skip
        return known | {"segments": rows}


@dataclass(frozen=True)
class Contents:
    """All that is known of the systems.

    Parameters
    ----------
    systems : dict of str to System
        By name; a single system that was not given by name has the name "".
    rows : dict of str to dict of int or None to str
        The metrics of each row by cut-off, which is None without one.
    comparison : Comparison or None
        All other systems compared with the first.
    inference : dict
        Arguments of all intervals: `confidence`, `method`, `n_resamples` and `random_state`.
    digits : int
        Number of decimals.
    """

    systems: Mapping[str, System]
    rows: Mapping[str, Mapping[int | None, str]]
    comparison: Comparison | None
    inference: Mapping[str, Any]
    digits: int

    @property
    def main_metrics(self) -> list[str]:
        """One metric of each row: that with the largest cut-off, or without any."""
        return [at[max(at, key=lambda k: k or 0)] for at in self.rows.values()]

    def sections(self, conventions: Table) -> Iterator[Section]:
        """The sections of the report, of which the first ones are in the text as well."""
        metrics: list[Table | str] = []
        for name, system in self.systems.items():
            metrics += [str(name)] if name != "" else []
            metrics += self.means(system)
        yield Section("Data", [self.facts()], is_in_text=True)
        yield Section("Metrics", metrics, is_in_text=True)
        if self.comparison is not None:
            table = self.comparison._table().narrowed(digits=self.digits)
            yield Section("Differences", [table], is_in_text=True)
        if plots := list(self.plots()):
            yield Section("Plots", plots)
        yield Section("Queries", list(self.worst_queries()))
        yield Section("Conventions", [conventions])
        yield Section("Versions", [versions()])

    def facts(self) -> Table:
        """Properties of the data; one column if they are the same for all systems."""
        columns = [_facts(system.facts) for system in self.systems.values()]
        if all(column == columns[0] for column in columns):
            return Table("", ["", ""], list(columns[0].items()), n_labels=2)
        names = dict.fromkeys(name for column in columns for name in column)
        rows = [[name, *(column.get(name, "") for column in columns)] for name in names]
        return Table("", ["", *map(str, self.systems)], rows, n_labels=1 + len(columns))

    def means(self, system: System) -> Iterator[Table]:
        """Means by cut-off, with what they are compared with, and means by segment."""
        spec = f".{self.digits}f"
        means: list[tuple[str, dict[int | None, Number]]] = []
        bounds: list[tuple[str, dict[int | None, Number]]] = []
        for label, at in self.rows.items():
            of = {k: system.metrics[name] for k, name in at.items()}
            mean = {k: Number(m["mean"], spec, (m["low"], m["high"])) for k, m in of.items()}
            orders = {k: m["random_order"] for k, m in of.items()}
            chance = {k: Number(v, spec) for k, v in orders.items() if not math.isnan(v)}
            means += [(label, mean), ("  random order", chance)]
            ends = {k: (m["lowest"], m["highest"]) for k, m in of.items() if "lowest" in m}
            bounds.append((label, {k: Number(pair, spec) for k, pair in ends.items()}))
        level = f"{self.inference['confidence'] * 100:g} %"
        tables = {
            f"mean [{level} interval]": means,
            "[lowest, highest mean of any missing labels]": bounds,
        }
        for title, rows in tables.items():
            cutoffs = sorted({k for _, of in rows for k in of}, key=lambda k: (k is None, k))
            header = [title, *("all" if k is None else f"@{k}" for k in cutoffs)]
            cells = [[name, *(of.get(k, "") for k in cutoffs)] for name, of in rows if of]
            if cells:
                yield Table("", header, cells)
        if system.segments is not None:
            yield system.segments._table().narrowed(digits=self.digits)

    def worst_queries(self) -> Iterator[Table]:
        """Where each model loses most, or the lowest scores of a single system."""
        metric, spec = self.main_metrics[0], f".{self.digits}f"
        (name, first), *others = self.systems.items()
        labels = {"query": first.scores.ids, **(first.scores.segments or {})}

        def table(title: str, order: Array, columns: list[tuple[str, Array, str]]) -> Table:
            rows = np.argsort(order, kind="stable")[: min(N_QUERIES, np.isfinite(order).sum())]
            body = [
                [
                    *(str(column[row]) for column in labels.values()),
                    int(first.sizes[row]), int(first.relevant[row]),
                    *(Number(float(column[row]), spec) for _, column, spec in columns),
                ]
                for row in rows
            ]  # fmt: skip
            header = [*labels, "documents", "relevant", *(str(name) for name, *_ in columns)]
            return Table(title, header, body, len(labels), "" if body else "none")

        values = first.scores[metric]
        if not others:
            yield table(f"Queries with the lowest {metric}", values, [(metric, values, spec)])
        for model, system in others:
            change = paired_differences(first.scores, system.scores)[metric]
            both = [(name, values, spec), (model, system.scores[metric], spec)]
            losses = np.where(change < 0, change, np.nan)
            columns = [*both, ("difference", change, f"+{spec}")]
            yield table(f"Queries on which {model} loses most, by {metric}", losses, columns)

    def plots(self) -> Iterator[Plot]:
        """The plots that these measurements allow."""
        main, comparison = self.main_metrics[0], self.comparison
        given: Any = {"metric": main, **self.inference}
        label, at = next(iter(self.rows.items()))
        scores = {name or label: system.scores for name, system in self.systems.items()}
        baseline, *models = scores
        first = next(iter(self.systems.values()))
        if comparison is not None:
            shown = self.main_metrics if first.segments is None else [main]
            n_rows = sum(d.metric in shown for d in comparison)
            draw: Any = partial(ForestDisplay.from_comparison, comparison, metric=shown)
            yield Plot("Differences", draw, 0.3 * n_rows + 2)
        for model in models:
            pair = {name: scores[name] for name in (baseline, model)}
            if comparison is not None and comparison[main, model].queries:
                draw = partial(QueryDeltaDisplay.from_query_scores, pair, **given)
                yield Plot(f"Queries on which {model} wins and loses", draw)
                draw = partial(QueryScatterDisplay.from_query_scores, pair, metric=main)
                yield Plot(f"Each query, {baseline} and {model}", draw, 5.5)
        if len({*at} - {None}) > 1:
            of_curve: Any = {**given, "metric": label}
            draw = partial(CutoffCurveDisplay.from_query_scores, scores, **of_curve)
            yield Plot("By cut-off", draw)
            if models:
                draw = partial(DifferenceCurveDisplay.from_query_scores, scores, **of_curve)
                yield Plot("Differences by cut-off", draw)
        counts = {LABELS["documents"]: first.sizes, LABELS["relevant"]: first.relevant}
        shown_by: dict[str, Any] = {f"By {name}": name for name in first.scores.segments or ()}
        shown_by |= {f"By number of {n}": {n: v} for n, v in counts.items() if len({*v}) > 1}
        for title, values in shown_by.items():
            draw = partial(QueryPropertyDisplay.from_query_scores, scores, values, **given)
            yield Plot(title, draw)


def versions() -> Table:
    """Versions of Python and of the packages that computed and drew the numbers."""
    used = {package: sys.modules.get(package) for package in PACKAGES}
    rows = [[package, str(module.__version__)] for package, module in used.items() if module]
    return Table("", ["", ""], [["python", platform.python_version()], *rows], n_labels=2)


def _facts(data: Mapping[str, float]) -> dict[str, str]:
    """Names and values of the properties of the data."""
    of_query, retrieved = (
        f"{data[f'fewest_{of}']:,} to {data[f'most_{of}']:,}, median {data[f'median_{of}']:g}"
        for of in ("documents", "retrieved")
    )
    facts = {of: f"{data[of]:,}" for of in ("queries", "documents")}
    facts["documents of a query"] = of_query
    facts |= {label: f"{data[share]:.1%}" for share, label in SHARES.items()}
    if retrieved != of_query:
        facts["retrieved documents of a query"] = retrieved
        facts["queries without results"] = f"{data['queries_without_results']:.1%}"
    if data["documents_unjudged"]:
        facts["documents without a judgment"] = f"{data['documents_unjudged']:.1%}"
    if "clicks" in data:
        effective = f"{data['clicks']:,}, {data['effective_clicks']:,.0f}"
        facts["clicks, and their effective number"] = effective
        facts["documents with a clipped propensity"] = f"{data['documents_clipped']:.1%}"
    return facts
