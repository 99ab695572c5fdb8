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
- The maximum of NDCG with several grades, by `Steps`.

A gain is a sum of steps, one for each label that it reaches, so that DCG and ideal DCG are sums
over the steps of what they would be if the documents that reach the step had a gain of 1. The best
labels do not rise along the ranks: the first of the unjudged documents reach a step, and no more of
them than reach the step below. Dinkelbach's method (Management Science 13(7), 1967) maximizes the
ratio of the two sums by maximizing DCG - t * ideal DCG for increasing t.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from .._columns import descending
from .._typing import Array, ArrayFunction
from .._validation import shown
from ..query_ids import Grouping
from ..ranking import Queries, read_queries
from ..ranking.label_functions import linear
from ..ranking.queries import is_judged
from . import formulas
from .metric import Metric, measure

# DCG and ideal DCG of rows of labels, of which each is its own gain
Ratio = Callable[[Array], tuple[Array, Array]]


@dataclass
class Steps:
    """DCG and ideal DCG by the number of unjudged documents that reach each step.

    Parameters
    ----------
    dcg, ideal : array of shape (max_label, n_unjudged + 1)
        Of the steps up to each label.
    fixed_dcg, fixed_ideal : float
        Of the steps that all or none of the unjudged documents reach.
    """

    dcg: Array
    ideal: Array
    fixed_dcg: float = 0.0
    fixed_ideal: float = 0.0

    @classmethod
    def of(
        cls, labels: Array, order: Array, gain: ArrayFunction, max_label: int, ratio: Ratio
    ) -> Steps:
        """The steps of a query; `order` is -1 for judged documents, else 0, 1, … by rank."""
        counts = np.arange(order.max() + 2)[:, None]
        empty = (max_label, len(counts))
        steps = cls(np.zeros(empty), np.zeros(empty))
        reached = np.unique([*labels[order < 0], *range(max_label + 1)])
        heights = np.diff(np.asarray(gain(reached), dtype=np.float64), prepend=0.0)
        for label, height in zip(reached.tolist(), heights, strict=True):
            reaches = np.where(order >= 0, order < counts, labels >= label)
            dcg, ideal = (height * values for values in ratio(reaches.astype(np.float64)))
            # an unjudged document with an integer label reaches one between integers by the next
            if 0 < label <= max_label:
                steps.dcg[math.ceil(label) - 1] += dcg
                steps.ideal[math.ceil(label) - 1] += ideal
            else:
                chosen = -1 if label <= 0 else 0
                steps.fixed_dcg += dcg[chosen]
                steps.fixed_ideal += ideal[chosen]
        return steps

    def highest_ratio(self) -> float:
        """The greatest DCG / ideal DCG; 0 if no label has a gain."""
        best, at = 0.0, np.arange(len(self.dcg))
        while True:
            counts = _best_counts(self.dcg - best * self.ideal)
            ideal = self.fixed_ideal + self.ideal[at, counts].sum()
            dcg = self.fixed_dcg + self.dcg[at, counts].sum()
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


# documents of candidate rankings that are measured at a time
BATCH = 2**21


@dataclass(frozen=True)
class UnjudgedQuery:
    """One query with unjudged documents.

    Parameters
    ----------
    position : int
        Its position among all queries.
    labels, scores : array of shape (n_documents,)
        Labels, NaN where nobody judged, and scores.
    order : int array of shape (n_documents,)
        0, 1, … for the unjudged documents from the first rank to the last; others are -1.
    """

    position: int
    labels: Array
    scores: Array
    order: Array

    @property
    def counts(self) -> Array:
        """0, 1, …, the number of unjudged documents, in a column."""
        return np.arange(self.order.max() + 2)[:, None]

    def labeled(self, chosen: Array, label: float) -> Array:
        """Labels if the chosen unjudged documents have this one, and all others 0."""
        given = np.where(chosen, label, 0.0)
        return np.where(self.order >= 0, given, np.broadcast_to(self.labels, given.shape))


def metric_bounds(queries: Queries, metric: Metric, max_label: int) -> tuple[Array, Array]:
    """The least and the greatest value for every query, of labels 0, 1, …, `max_label`."""
    kind = _kind(metric, max_label, int(queries.sizes.max()))
    lowest, highest = _of_equal_labels(queries, metric, max_label)
    if kind == "rising":
        return lowest, highest
    for query in _with_unjudged(queries, metric.ties):
        worst = query.labeled(query.order >= query.counts[::-1], max_label)
        lowest[query.position] = _values(query, metric, worst).min()
        if kind == "by count":
            best = query.labeled(query.order < query.counts, max_label)
            highest[query.position] = _values(query, metric, best).max()
        else:
            highest[query.position] = _highest_of_grades(query, metric, max_label)
    return lowest, highest


def _highest_of_grades(query: UnjudgedQuery, metric: Metric, max_label: int) -> float:
    """The greatest NDCG."""
    options = metric.function.keywords  # type: ignore[attr-defined]
    of_steps = replace(metric, function=partial(formulas.ndcg, **{**options, "gain": linear}))

    def ratio(labels: Array) -> tuple[Array, Array]:
        numerator, denominator, _ = _measured(query, of_steps, labels)
        return numerator, denominator

    steps = Steps.of(query.labels, query.order, options["gain"], max_label, ratio)
    return steps.highest_ratio()


def _kind(metric: Metric, max_label: int, n_documents: int) -> str:
    """Which of the three cases applies; refuse all other metrics."""
    if metric.unjudged in ("irrelevant", "drop"):
        raise ValueError(
            f"{metric.name!r} has a rule for unjudged documents, which score_bounds replaces. "
            "Leave the option out."
        )
    if metric.propensity is not None:
        raise ValueError(
            f"score_bounds has no bounds of {metric.name!r} with propensity=, because a document "
            "without a click is not an unjudged document. Leave propensity out."
        )
    options: dict[str, Any] = getattr(metric.function, "keywords", {})
    kind = metric.definition.bounds if metric.definition else None
    is_sum = not (options.get("normalize") or options.get("denominator") == "hits")
    if metric.definition is None or kind is None or metric.is_adjusted or not is_sum:
        raise ValueError(f"score_bounds has no exact bounds of {metric.name!r}: {_reason(metric)}")
    if options.get("denominator") == "attainable":
        return "by count"
    if "gain" in options:
        gains = _gains(metric.name, options["gain"], max_label)
        if metric.definition.formula is formulas.ndcg:
            _check_discount(metric, options["discount"], n_documents)
            if len(np.unique(gains)) > 2:
                _check_linear(metric.name, metric.ties)
                return "grades"
    return kind


def _check_linear(name: str, ties: str) -> None:
    """Refuse a rule of ties that makes DCG a convex function of the gains."""
    if ties == "optimistic":
        raise ValueError(
            f"score_bounds has no exact bounds of {name!r} with several grades and "
            "ties='optimistic': the least value may be that of any labels. Use another rule of "
            "ties, or gain='binary'."
        )


def _check_discount(metric: Metric, discount: ArrayFunction, n_documents: int) -> None:
    """Refuse a discount with which the best labels are not those of the first ranks."""
    n_ranks = n_documents if metric.cutoff is None else min(metric.cutoff, n_documents)
    discounts = discount(np.arange(1, n_ranks + 1))
    rises = np.flatnonzero(discounts[1:] > discounts[:-1] * (1 + 1e-12))
    if len(rises):
        rank = int(rises[0])
        raise ValueError(
            f"score_bounds needs a discount that does not rise with the rank; that of "
            f"{metric.name!r} is {discounts[rank]:g} at rank {rank + 1} and "
            f"{discounts[rank + 1]:g} at rank {rank + 2}. Use such a discount, or dcg, which has "
            "bounds with any."
        )


def _reason(metric: Metric) -> str:
    if metric.is_adjusted:
        return (
            "adjusted=True rescales it by the values of random and ideal orders, which depend on "
            "the missing labels as well. Use adjusted=False."
        )
    options: dict[str, Any] = getattr(metric.function, "keywords", {})
    if options.get("normalize"):
        return "normalize=True divides by the highest label. Use normalize=False."
    if options.get("denominator") == "hits":
        return "it divides by the hits themselves. Use denominator='relevant' or 'min'."
    return (
        "no labels are known to be the best or the worst for it. Exact bounds exist of dcg, ndcg, "
        "map, mrr, precision, recall, f1, hits, hit_rate, r_precision, err, rbp and pfound."
    )


def _gains(name: str, gain: ArrayFunction, max_label: int) -> Array:
    gains = np.asarray(gain(np.arange(max_label + 1.0)))
    if (np.diff(gains) < 0).any():
        raise ValueError(
            f"score_bounds needs a gain that does not decrease with the label; that of {name!r} is "
            f"{gains.tolist()} for the labels 0 to {max_label}."
        )
    return gains


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


def _with_unjudged(queries: Queries, ties: str) -> Iterator[UnjudgedQuery]:
    """The queries with unjudged documents."""
    grouping = queries.grouping
    unjudged = ~is_judged(queries.y_true)
    for position in np.unique(grouping.codes[unjudged]):
        rows = grouping.rows_of(np.array([position]))[0]
        scores, place = queries.y_score[rows], np.arange(len(rows))
        ranked = np.lexsort((-place if ties == "reversed" else place, descending(scores)))
        order = np.full(len(rows), -1)
        order[ranked[unjudged[rows][ranked]]] = np.arange(unjudged[rows].sum())
        yield UnjudgedQuery(position, queries.y_true[rows], scores, order)


def _values(query: UnjudgedQuery, metric: Metric, candidates: Array) -> Array:
    """The value of each candidate, a row of labels."""
    numerator, denominator, defined = _measured(query, metric, candidates)
    values = numerator / np.where(denominator == 0, 1.0, denominator)
    return np.where(defined, values, metric.replace_undefined_by)


def _measured(
    query: UnjudgedQuery, metric: Metric, candidates: Array
) -> tuple[Array, Array, Array]:
    """Numerator, denominator and definedness of each candidate."""
    parts, width = [], candidates.shape[1]
    step = max(1, BATCH // width)
    for first in range(0, len(candidates), step):
        rows = candidates[first : first + step]
        n = len(rows)
        grouping = Grouping(np.arange(n), np.arange(n) * width, np.full(n, width))
        scores = np.tile(query.scores, n)
        parts += measure(read_queries(rows.ravel(), scores, groups=grouping), [metric])
    numerator, denominator, defined = (
        np.concatenate([getattr(part, name) for part in parts])
        for name in ("numerator", "denominator", "defined")
    )
    return numerator, denominator, defined


def default_max_label(queries: Queries) -> int:
    """The highest judged label as an integer, at least 1."""
    judged = queries.y_true[is_judged(queries.y_true)]
    return max(1, math.ceil(judged.max())) if len(judged) else 1
