"""A report on one or several rankings: properties of the data, metrics by cut-off, segments."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from .._table import Table
from .._typing import Array, IntervalMethod, Library, QueryIds, Seed
from .._validation import check_count, check_cutoff, check_flag, check_number
from ..comparison import QueryScores, compare
from ..comparison.query_scores import measure_per_query, resolve_per_query
from ..comparison.segments import Segments, columns_or_levels, read_segments
from ..metrics.evaluate import MetricLike, Metrics, by_system
from ..metrics.label_bounds import default_max_label, metric_bounds
from ..metrics.metric import Metric
from ..metrics.names import METRICS, display_name, name_of_function, parse_name, with_cutoff
from ..metrics.resolve import has_option, list_metrics
from ..plots.display import inference_of
from ..ranking import Queries, read_queries
from ..ranking.queries import is_judged
from .contents import Contents, System
from .render import RankingReport

Cutoffs: TypeAlias = int | Iterable[int | None] | None


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
        measured = measure_per_query(queries, resolved, n_jobs, places)
        segments = columns_or_levels("by", by, *places)
        if segments is not None:
            columns = read_segments(segments, queries.ids, queries.grouping, data)
            measured = replace(measured, segments=columns)
        chance = _of_random_order(queries, resolved)
        of_chance = measure_per_query(queries, chance, n_jobs, places).mean() if chance else {}
        ranges = _bounds_of_means(queries, resolved) if needs_bounds else {}
        metrics = _means(measured, inference, of_chance, ranges)
        n_relevant = _count(queries, queries.y_true > limit)
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
        if metric.propensity is not None:
            continue
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
    retrieved = _count(queries, found)
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


def _count(queries: Queries, chosen: Array) -> Array:
    """The number of documents of each query that are chosen by a mask."""
    return np.bincount(queries.grouping.codes[chosen], minlength=len(queries))
