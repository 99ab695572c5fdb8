"""Every formula, side by side.

A formula takes a block of ranked queries (one row per query, one column per rank) and its options,
and returns numerator, denominator and whether the metric is defined, for each query. The references
stand in the public functions of the same metrics.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from .._typing import Array, ArrayFunction
from ..ranking import Block
from ..ranking.block import up_to
from ..ranking.label_functions import (
    judged,
    judged_irrelevant,
    judged_relevant,
    relevant,
    tabulated,
)
from .expectations import (
    at_first,
    average_ranks,
    inferred_precisions,
    inversions,
    mean_precision_of_hits,
    number_of_pairs,
    precision_at_relevant,
    preferences_lost,
    ranked_labels,
    tied_pairs,
)

# Cumulated gain


def dcg(
    block: Block, k: int | None, gain: ArrayFunction, discount: ArrayFunction, ties: Any
) -> Any:
    """Sum of discounted gains."""
    gains, discounts = block.by_rank(gain, ties)[:, :k], discount(block.ranks[:k])
    return np.einsum("qr,r->q", gains, discounts), 1.0, block.ideal(gain)[:, 0] > 0


def ndcg(
    block: Block, k: int | None, gain: ArrayFunction, discount: ArrayFunction, ties: Any
) -> Any:
    """DCG over the DCG of the ideal order."""
    ideal, discounts = block.ideal(gain)[:, :k], discount(block.ranks[:k])
    gains = block.by_rank(gain, ties)[:, :k]
    ideal_dcg = np.einsum("qr,r->q", ideal, discounts)
    return np.einsum("qr,r->q", gains, discounts), ideal_dcg, ideal[:, 0] > 0


# Precision and recall


def precision(block: Block, k: int | None, threshold: float, denominator: str, ties: Any) -> Any:
    """Relevant documents within the cut-off, over the number of ranks."""
    n_relevant = block.total(relevant(threshold))
    attainable = n_relevant if k is None else np.minimum(k, n_relevant)
    n_ranks = attainable if denominator == "attainable" else _n_ranks(block, k, denominator)
    return _hits(block, k, threshold, ties), n_ranks, n_relevant > 0


def recall(block: Block, k: int | None, threshold: float, denominator: str, ties: Any) -> Any:
    """Relevant documents within the cut-off, over all relevant documents."""
    n_relevant = block.total(relevant(threshold))
    most = n_relevant if k is None or denominator == "relevant" else np.minimum(k, n_relevant)
    return _hits(block, k, threshold, ties), most, n_relevant > 0


def f1(block: Block, k: int | None, threshold: float, denominator: str, ties: Any) -> Any:
    """Harmonic mean of precision and recall."""
    n_relevant, n_ranks = block.total(relevant(threshold)), _n_ranks(block, k, denominator)
    return 2 * _hits(block, k, threshold, ties), n_ranks + n_relevant, n_relevant > 0


def r_precision(block: Block, threshold: float, ties: Any) -> Any:
    """Precision at R, the number of relevant documents."""
    n_relevant = block.total(relevant(threshold))
    within = up_to(n_relevant, block)
    n_hits = (block.by_rank(relevant(threshold), ties) * within).sum(axis=1)
    return n_hits, n_relevant, n_relevant > 0


def average_precision(
    block: Block, k: int | None, threshold: float, denominator: str, ties: Any
) -> Any:
    """Sum of the precision at each relevant document, over their number."""
    n_relevant = block.total(relevant(threshold))
    precisions = precision_at_relevant(block, threshold, ties)[:, :k]
    if denominator == "hits":
        mean, n_hits = mean_precision_of_hits(block, precisions, threshold, ties)
        return mean * n_hits, n_hits, n_relevant > 0
    most = n_relevant if k is None or denominator == "relevant" else np.minimum(n_relevant, k)
    return precisions.sum(axis=1), most, n_relevant > 0


# The first relevant document


def hits(block: Block, k: int | None, threshold: float, ties: Any) -> Any:
    """Number of relevant documents within the cut-off."""
    return _hits(block, k, threshold, ties), 1.0, block.total(relevant(threshold)) > 0


def hit_rate(block: Block, k: int | None, threshold: float, ties: Any) -> Any:
    """Probability that a relevant document is within the cut-off."""
    within = at_first(block, k, threshold, ties, lambda ranks: np.ones(ranks.shape))
    return within, 1.0, block.total(relevant(threshold)) > 0


def reciprocal_rank(block: Block, k: int | None, threshold: float, ties: Any) -> Any:
    """Expected reciprocal of the rank of the first relevant document."""
    reciprocals = at_first(block, k, threshold, ties, lambda ranks: 1.0 / ranks)
    return reciprocals, 1.0, block.total(relevant(threshold)) > 0


# User models


def err(block: Block, k: int | None, max_grade: float | None, ties: Any) -> Any:
    """Expected reciprocal of the rank at which the user stops."""
    stops = _stop_prob(block, _not_satisfied(max_grade), ties) / block.ranks
    return stops[:, :k].sum(axis=1), 1.0, block.total(relevant(0.0)) > 0


def pfound(block: Block, k: int | None, decay: float, ties: Any) -> Any:
    """Probability that the user is satisfied before giving up."""
    satisfied = _stop_prob(block, _not_satisfied(None), ties) * decay ** (block.ranks - 1.0)
    return satisfied[:, :k].sum(axis=1), 1.0, block.total(relevant(0.0)) > 0


def rbp(
    block: Block,
    k: int | None,
    p: float,
    gain: ArrayFunction,
    normalize: bool,
    threshold: float,
    ties: Any,
) -> Any:
    """Gains, weighted by the probability that the user reads that far."""
    reads = (1 - p) * p ** (block.ranks[:k] - 1.0)
    gains, highest = block.by_rank(gain, ties)[:, :k], block.ideal(gain)[:, 0]
    full_gain = np.maximum(highest, 1.0) if normalize else 1.0
    return (gains * reads).sum(axis=1), full_gain, highest > 0


# Pairs of documents, and correlation


def query_auc(block: Block, threshold: float, ties: Any) -> Any:
    """Pairs of a relevant and an irrelevant document in the right order, over all such pairs."""
    block = block.complete()
    positives = block.by_rank(relevant(threshold), ties)
    negatives: Array = up_to(block.sizes, block) - positives
    offset, size = block.tie_groups(ties)
    # of a tied pair, the positive counts half
    positives_above = np.cumsum(positives, axis=1) - (offset + (1 - size / 2)) * positives
    n_pairs = positives.sum(axis=1) * negatives.sum(axis=1)
    return (negatives * positives_above).sum(axis=1), n_pairs, n_pairs > 0


def pair_accuracy(block: Block, ties: Any) -> Any:
    """Pairs of different labels in the right order, over all such pairs."""
    # of the best order of ties, no tied pair is an inversion
    labels, offset, size = ranked_labels(block, "optimistic" if ties == "average" else ties)
    tied_label, tied_both = tied_pairs(labels, offset)
    n_pairs = number_of_pairs(block.sizes) - tied_label
    tied = ((size - 1) / 2).sum(axis=1) - tied_both if ties == "average" else 0.0
    return n_pairs - inversions(labels) - tied / 2, n_pairs, n_pairs > 0


def kendall_tau(block: Block) -> Any:
    """Concordant minus discordant pairs, over the geometric mean of untied pairs."""
    # ties in descending order of label, so that no pair tied by score is an inversion
    labels, offset, size = ranked_labels(block, "optimistic")
    n_pairs, tied_score = number_of_pairs(block.sizes), ((size - 1) / 2).sum(axis=1)
    tied_label, tied_both = tied_pairs(labels, offset)
    discordant = inversions(labels)
    untied = n_pairs - tied_score - tied_label + tied_both
    possible = np.sqrt((n_pairs - tied_score) * (n_pairs - tied_label))
    return untied - 2 * discordant, possible, possible > 0


def spearman(block: Block) -> Any:
    """Covariance of the ranks by label and by score, over the product of their deviations."""
    labels, offset, size = ranked_labels(block, "stable")
    center, is_document = (block.sizes[:, None] + 1) / 2, np.isfinite(labels)
    a = (block.ranks - offset + (size - 1) / 2 - center) * is_document
    del offset, size
    b = (average_ranks(labels) - center) * is_document
    deviations = np.sqrt((a * a).sum(axis=1) * (b * b).sum(axis=1))
    return (a * b).sum(axis=1), deviations, deviations > 0


# Incomplete judgments


def judged_share(block: Block, k: int | None, ties: Any) -> Any:
    """Judged documents within the cut-off, over the number of ranks."""
    n_ranks = _n_ranks(block, k, "min")
    return block.by_rank(judged, ties)[:, :k].sum(axis=1), n_ranks, n_ranks > 0


def bpref(block: Block, threshold: float, ties: Any) -> Any:
    """Share of judged irrelevant documents below each relevant one, summed over R."""
    expected = block.by_rank(judged_relevant(threshold), ties)
    n_relevant = block.total(judged_relevant(threshold))
    most = np.minimum(block.total(judged_irrelevant(threshold)), n_relevant)
    lost = preferences_lost(block, threshold, ties, n_relevant) / np.maximum(most, 1)[:, None]
    return (expected * (1 - lost)).sum(axis=1), n_relevant, n_relevant > 0


def inferred_ap(block: Block, threshold: float, ties: Any) -> Any:
    """Sum of the inferred precision at each judged relevant document, over their number."""
    n_relevant = block.total(judged_relevant(threshold))
    return inferred_precisions(block, threshold, ties).sum(axis=1), n_relevant, n_relevant > 0


# Terms that several formulas share


def _hits(block: Block, k: int | None, threshold: float, ties: Any) -> Array:
    return np.asarray(block.by_rank(relevant(threshold), ties)[:, :k].sum(axis=1))


def _n_ranks(block: Block, k: int | None, denominator: str) -> Array:
    """What precision divides by."""
    if k is None:
        return block.retrieved
    return np.full(len(block.sizes), k) if denominator == "k" else np.minimum(k, block.retrieved)


def _stop_prob(block: Block, continue_prob: ArrayFunction, ties: Any) -> Array:
    """Probability that a user who continues with some probability stops at each rank."""
    stops = -np.diff(block.survival(continue_prob, ties), axis=1, prepend=1.0)
    return np.maximum(stops, 0.0, out=stops)  # rounding errors between tie groups


@lru_cache(maxsize=256)
def _not_satisfied(max_grade: float | None) -> ArrayFunction:
    """The probability of continuing after a document, 1 - (2**y - 1) / 2**max_grade.

    Without a highest grade a label is the probability of stopping.
    """
    if max_grade is None:
        return tabulated(lambda labels: np.asarray(1.0 - labels))
    return tabulated(lambda labels: np.asarray(1.0 - (np.exp2(labels) - 1.0) / 2.0**max_grade))
