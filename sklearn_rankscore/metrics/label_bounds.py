"""The least and the greatest value of a metric over all labels of unjudged documents.

Three cases are exact; all other metrics are refused.

- Metrics that never fall if a label rises: all unjudged documents take the lowest or the highest
  label.
- Metrics whose denominator depends on the number R of relevant documents alone: with R fixed, the
  best labels are those of the unjudged documents ranked first, the worst those ranked last, because
  exchanging the labels of two documents so that the higher one stands first never lowers the
  metric, unless a discount rises with the rank. Every R is tried. The minimum of NDCG belongs here
  too: it is a linear function of the gains over a convex one, so that its least value is taken
  where each gain is lowest or highest. Under pessimistic ties the function is concave, with the
  same conclusion, and under optimistic ones convex, without it.
- The maximum of NDCG with several grades.

A gain is a sum of steps, one for each label that it reaches, so that DCG and ideal DCG are sums
over the steps of what they would be if the documents that reach the step had a gain of 1. The best
labels do not rise along the ranks: the first of the unjudged documents reach a step, and no more of
them than reach the step below. Dinkelbach's method (Management Science 13(7), 1967) maximizes the
ratio of the two sums by maximizing DCG - t * ideal DCG for increasing t.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from .._columns import descending
from .._typing import Array
from .._validation import shown
from ..query_ids import Grouping
from ..ranking import MetricValues, Queries, read_queries
from ..ranking.label_functions import linear
from ..ranking.queries import is_judged
from . import formulas
from .definition import METRICS
from .metric import Metric, measure

# documents of candidate rankings that are measured at a time
BATCH = 2**21


def default_max_label(queries: Queries) -> int:
    """The highest judged label as an integer, at least 1."""
    judged = queries.y_true[is_judged(queries.y_true)]
    return max(1, math.ceil(judged.max())) if len(judged) else 1


def metric_bounds(queries: Queries, metric: Metric, max_label: int) -> tuple[Array, Array]:
    """The least and the greatest value for every query, of labels 0, 1, …, `max_label`."""
    kind = _kind(metric, max_label, int(queries.sizes.max()))
    lowest, highest = _of_equal_labels(queries, metric, max_label)
    if kind == "rising":
        return lowest, highest
    unjudged = ~is_judged(queries.y_true)
    for query in np.unique(queries.grouping.codes[unjudged]):
        rows = queries.grouping.rows_of(np.array([query]))[0]
        labels, scores = queries.y_true[rows], queries.y_score[rows]
        order = _order(unjudged[rows], scores, metric.ties)
        counts = np.arange(order.max() + 2)[:, None]
        last = np.where(order >= counts[::-1], max_label, 0.0)
        worst = np.where(order >= 0, last, labels)
        lowest[query] = _values(metric, worst, scores).min()
        if kind == "by count":
            best = np.where(order >= 0, np.where(order < counts, max_label, 0.0), labels)
            highest[query] = _values(metric, best, scores).max()
        else:
            highest[query] = _highest_of_grades(metric, labels, scores, order, max_label)
    return lowest, highest


def _kind(metric: Metric, max_label: int, n_documents: int) -> str:
    """Which of the three cases applies; refuse all other metrics."""
    definition, options = metric.definition, metric.ready
    gains, rises = np.arange(2.0), False
    if definition.bounds and "gain" in options:
        gains = np.asarray(options["gain"](np.arange(max_label + 1.0)))
    is_ndcg = definition.formula is formulas.ndcg
    is_graded = is_ndcg and len(np.unique(gains)) > 2
    if is_ndcg:
        ranks = np.arange(1, min(metric.cutoff or n_documents, n_documents) + 1)
        discounts = options["discount"](ranks)
        rises = (discounts[1:] > discounts[:-1] * (1 + 1e-12)).any()
    refused = {
        f"no labels are known to be its best or worst; they are for "
        f"{', '.join(name for name, known in METRICS.items() if known.bounds)}": (
            definition.bounds is None
        ),
        "score_bounds replaces the rule unjudged=": metric.unjudged in ("irrelevant", "drop"),
        "a document without a click is not an unjudged one, as propensity= takes it to be": (
            metric.propensity is not None
        ),
        "adjusted=True rescales it by values that depend on the labels": metric.is_adjusted,
        "normalize=True divides by the highest label": options.get("normalize"),
        "it divides by the hits themselves; use denominator='relevant' or 'min'": (
            options.get("denominator") == "hits"
        ),
        f"its gain decreases with the label: {gains}": (np.diff(gains) < 0).any(),
        # the best labels would not be those of the first ranks
        "its discount rises with the rank; dcg has bounds with any": rises,
        # DCG would be a convex function of the gains
        "with several grades and ties='optimistic' any labels may be the worst": (
            is_graded and metric.ties == "optimistic"
        ),
    }
    for reason, applies in refused.items():
        if applies:
            raise ValueError(f"score_bounds has no exact bounds of {metric.name!r}: {reason}.")
    if options.get("denominator") == "attainable":
        return "by count"
    return "grades" if is_graded else str(definition.bounds)


def _of_equal_labels(queries: Queries, metric: Metric, max_label: int) -> tuple[Array, Array]:
    """Values of each query if all unjudged documents have the lowest or the highest label.

    A query that only some labels define is refused, unless its value is 0 under the others.
    """
    replacement, results = metric.replace_undefined_by, []
    for label in (0.0, float(max_label)):
        labels = np.where(is_judged(queries.y_true), queries.y_true, label)
        filled = read_queries(labels, queries.y_score, groups=queries.grouping)
        results += measure(filled, [metric])
    low, high = results
    if replacement != 0 and (depends := low.defined != high.defined).any():
        query = shown(queries.ids[depends][0])
        raise ValueError(
            f"{metric.name!r} of query {query} is undefined for some labels of its unjudged "
            f"documents, where its value would be replace_undefined_by={replacement}. The bounds "
            "are known only if it is 0, the least possible value. Use replace_undefined_by=0."
        )
    return low.per_query(replacement), high.per_query(replacement)


def _order(unjudged: Array, scores: Array, ties: str) -> Array:
    """0, 1, … for the unjudged documents of a query from the first rank to the last, others -1."""
    place, order = np.arange(len(scores)), np.full(len(scores), -1)
    ranked = np.lexsort((-place if ties == "reversed" else place, descending(scores)))
    order[ranked[unjudged[ranked]]] = np.arange(unjudged.sum())
    return order


def _measured(metric: Metric, candidates: Array, scores: Array) -> Iterator[MetricValues]:
    """The metric for each row of candidate labels of one query, in batches."""
    step, width = max(1, BATCH // len(scores)), len(scores)
    for first in range(0, len(candidates), step):
        rows = candidates[first : first + step]
        n = len(rows)
        grouping = Grouping(np.arange(n), np.arange(n) * width, np.full(n, width))
        yield from measure(
            read_queries(rows.ravel(), np.tile(scores, n), groups=grouping), [metric]
        )


def _values(metric: Metric, candidates: Array, scores: Array) -> Array:
    parts = _measured(metric, candidates, scores)
    return np.concatenate([part.per_query(metric.replace_undefined_by) for part in parts])


def _highest_of_grades(
    metric: Metric, labels: Array, scores: Array, order: Array, max_label: int
) -> float:
    """The greatest NDCG."""
    of_gains = replace(metric, ready={**metric.ready, "gain": linear})
    counts = np.arange(order.max() + 2)[:, None]  # unjudged documents that reach a step
    # DCG and ideal DCG of the steps up to each label, and of those that all or none reach
    sums, fixed = np.zeros((2, max_label, len(counts))), np.zeros(2)
    reached = np.unique([*labels[order < 0], *range(max_label + 1)])
    heights = np.diff(np.asarray(metric.ready["gain"](reached), dtype=np.float64), prepend=0.0)
    for label, height in zip(reached.tolist(), heights, strict=True):
        reaches = np.where(order >= 0, order < counts, labels >= label).astype(np.float64)
        parts = [(p.numerator, p.denominator) for p in _measured(of_gains, reaches, scores)]
        of_step = height * np.concatenate(parts, axis=1)
        # an unjudged document with an integer label reaches one between integers by the next
        if 0 < label <= max_label:
            sums[:, math.ceil(label) - 1] += of_step
        else:
            fixed += of_step[:, -1 if label <= 0 else 0]
    best, steps = 0.0, np.arange(max_label)
    while True:
        chosen = _best_counts(sums[0] - best * sums[1])
        dcg, ideal = fixed + sums[:, steps, chosen].sum(axis=1)
        if ideal <= 0 or dcg / ideal <= best * (1 + 1e-15):
            return best
        best = float(dcg / ideal)


def _best_counts(values: Array) -> Array:
    """For each row a column, not after that of the row before, such that the sum is greatest."""
    total, best_after = np.empty_like(values), np.zeros(values.shape[1])
    for row in range(len(values) - 1, -1, -1):
        total[row] = values[row] + best_after
        best_after = np.maximum.accumulate(total[row])
    counts, last = [], values.shape[1] - 1
    for row in total:
        last = int(row[: last + 1].argmax())
        counts.append(last)
    return np.array(counts, dtype=np.intp)
