"""How much the rankings of two systems have in common, query by query.

The symbols are those of M. Corsi, J. Urbano. The Treatment of Ties in Rank-Biased Overlap. SIGIR
2024. https://doi.org/10.1145/3626772.3657700: S is the shorter ranking of s documents, L the longer
one of l, X_d the overlap at depth d, and A_d the agreement.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from .._columns import as_numbers
from .._typing import Array, QueryIds
from .._validation import check_choice, check_count, check_fraction
from ..metrics.evaluate import check_systems
from ..query_ids.lookup import check_same_order, index_ids
from ..ranking import read_queries
from .query_scores import QueryScores
from .segments import Segments, read_segments

RBOTies: TypeAlias = Literal["a", "b", "w"]
RBOEstimate: TypeAlias = Literal["ext", "min", "max"]

# documents of queries that are compared together
BLOCK_DOCUMENTS = 2**17


def rank_overlap(
    score_a: ArrayLike,
    score_b: ArrayLike,
    *,
    groups: QueryIds | None = None,
    p: float = 0.9,
    k: int = 10,
    ties: RBOTies = "a",
    estimate: RBOEstimate = "ext",
    sample_weight: ArrayLike | None = None,
    segments: Segments | None = None,
) -> QueryScores:
    """Compare two rankings of the same documents with each other.

    The comparison requires no labels. It computes three values for each query. For the first two,
    higher is more similar, and 1 means the same ranking or the same first k documents:

    - ``"rbo"``, rank-biased overlap (RBO) [1]_, the mean over d of the fraction of the first d
      documents that both rankings have in common, with the weight ``(1 - p) * p**(d - 1)`` of a
      user who continues to the next rank with probability p;
    - ``"overlap@k"``, that fraction for d = k;
    - ``"top_changed"``, whether the first documents differ.

    Parameters
    ----------
    score_a, score_b : array-like of shape (n_documents,) or (n_queries, n_documents)
        Scores of the same documents by two systems; higher ranks first, -inf means not retrieved.
    groups : array-like of shape (n_documents,), default=None
        Query ids of any hashable dtype, in any row order. None takes those of an index level
        ``qid``; without one, all documents are a single query, or each row of 2-D input is one.
    p : float, default=0.9
        Probability that the user continues to the next rank, between 0 and 1. The first 10 ranks
        have 86 % of the weight of RBO for 0.9, and 42 % for 0.98.
    k : int, default=10
        Depth of the overlap; the length of the longer ranking if it has fewer documents.
    ties : {"a", "b", "w"}, default="a"
        How RBO treats equal scores, named as in [2]_. "a": the expectation over all orders of the
        tied documents, independent in both rankings; ties beyond the end of a shorter ranking are
        extrapolated as in [2]_, which is not an expectation. "b": the same,
        corrected for the information that is missing due to ties, so that a ranking with ties has
        an overlap of 1 with itself. "w": tied documents actually share a rank, as in sports.
    estimate : {"ext", "min", "max"}, default="ext"
        What RBO assumes about documents beyond the end of the rankings: that the agreement at the
        end continues, that no further documents agree, or that as many as possible do. "ext" and
        "max" are equal if both systems rank all documents of a query.
    sample_weight : array-like of shape (n_documents,) or (n_queries,), default=None
        Query weights, constant within each query; one per row of 2-D input.
    segments : array-like, mapping or DataFrame, default=None
        Segments of the queries, as in `query_scores`.

    Returns
    -------
    QueryScores
        One row per query with the metrics ``"rbo"``, ``"overlap@k"`` with the given k and
        ``"top_changed"``. If scores are tied, the latter two are expectations over all orders,
        independent in both rankings. The value is nan for a query for which a system retrieved no
        document.

    Raises
    ------
    ValueError
        If lengths differ, a score is NaN, or an option is invalid.

    See Also
    --------
    compare : Test which of two systems is better, given labels.

    References
    ----------
    .. [1] W. Webber, A. Moffat, J. Zobel. A Similarity Measure for Indefinite Rankings. ACM TOIS
       28(4), 2010. https://doi.org/10.1145/1852102.1852106
    .. [2] M. Corsi, J. Urbano. The Treatment of Ties in Rank-Biased Overlap. SIGIR 2024.
       https://doi.org/10.1145/3626772.3657700

    Examples
    --------
    >>> from sklearn_rankscore import rank_overlap
    >>> old, new = [0.9, 0.8, 0.3, 0.7, 0.6], [0.9, 0.7, 0.8, 0.1, 0.5]
    >>> overlap = rank_overlap(old, new, groups=["a", "a", "a", "b", "b"], k=2)
    >>> overlap["rbo"].round(3), overlap["overlap@2"], overlap["top_changed"]
    (array([0.955, 0.9  ]), array([0.5, 1. ]), array([0., 1.]))
    """
    p, k = check_fraction("p", p), check_count("k", k, 1)
    check_choice("ties", ties, get_args(RBOTies))
    check_choice("estimate", estimate, get_args(RBOEstimate))
    check_systems(score_a, {"score_b": score_b}, "score_a")
    a, b = as_numbers(score_a, "score_a"), as_numbers(score_b, "score_b")
    if a.shape != b.shape:
        raise ValueError(
            f"score_a and score_b must be scores of the same documents, in the same rows; got "
            f"arrays of shapes {a.shape} and {b.shape}. A document that one system did not "
            "retrieve has the score -inf."
        )
    groups = index_ids(score_a=score_a, score_b=score_b) if groups is None else groups
    given = {"score_a": score_a, "score_b": score_b, "groups": groups}
    check_same_order(**given, sample_weight=sample_weight)
    queries = read_queries(np.zeros(a.shape), a, groups=groups, sample_weight=sample_weight)
    values = np.empty((len(queries), 3))
    for size in np.unique(queries.sizes).tolist():
        of_size = np.flatnonzero(queries.sizes == size)
        step = max(1, BLOCK_DOCUMENTS // size)
        for members in (of_size[start : start + step] for start in range(0, len(of_size), step)):
            rows = queries.grouping.rows_of(members)
            first, second = (Places.of(s.ravel()[rows].astype(np.float64)) for s in (a, b))
            rbo = rank_biased_overlap(first, second, p, ties, estimate)
            values[members] = np.column_stack([rbo, *_overlaps(first, second, k)])
    columns = None
    if segments is not None:
        columns = read_segments(segments, queries.ids, queries.grouping, given)
    metrics = ("rbo", f"overlap@{k}", "top_changed")
    return QueryScores(queries.ids, values, metrics, queries.weights, columns)


def _overlaps(a: Places, b: Places, k: int) -> tuple[Array, Array]:
    """The share of documents in common within k, and whether the first documents differ."""
    overlap = expected_overlap(a, b)
    depth = np.minimum(k, np.maximum(a.length, b.length))
    is_empty = np.minimum(a.length, b.length) == 0
    within = overlap[np.arange(len(depth)), np.maximum(depth, 1) - 1] / np.maximum(depth, 1)
    return np.where(is_empty, np.nan, within), np.where(is_empty, np.nan, 1 - overlap[:, 0])


class Places(NamedTuple):
    """Where each document of some rows is ranked; the arrays have shape (n_queries, n_documents).

    Parameters
    ----------
    before, after : int array
        Number of documents above its tie group, and of those above the end of the group.
    ranked : bool array
        Whether it has a rank, which those with the score -inf have not.
    """

    before: Array
    after: Array
    ranked: Array

    @classmethod
    def of(cls, scores: Array) -> Places:
        """The places of documents with these scores, those of a query in one row."""
        least, most = (
            stats.rankdata(-scores, rule, axis=1).astype(np.intp) for rule in ("min", "max")
        )
        return cls(least - 1, most, scores > -np.inf)

    @property
    def length(self) -> Array:
        """Number of ranked documents of each row."""
        return np.asarray(self.ranked.sum(axis=1))

    def swapped(self, rows: Array, other: Places) -> Places:
        """The places of `other` in some rows."""
        pairs = zip(self, other, strict=True)
        return Places(*(np.where(rows[:, None], b, a) for a, b in pairs))


def expected_overlap(a: Places, b: Places) -> Array:
    """X_d, the expected overlap at each depth over independent orders of the ties.

    The first d of a ranking hold a document with a probability that rises linearly within its tie
    group, so that a product of two of them is a polynomial of degree two between few depths.
    """
    both = a.ranked & b.ranked
    low, high = np.maximum(a.before, b.before), np.maximum(a.after, b.after)
    first_end = np.minimum(a.after, b.after)
    product = (both & (first_end > low)) / ((a.after - a.before) * (b.after - b.before))
    later = np.where(a.after >= b.after, a.before, b.before)
    ramp = both / (high - later)
    middle = np.maximum(low, first_end)
    # constant, linear and quadratic terms that begin after each of three depths
    starts = [low, middle, high]
    constant, linear = product * a.before * b.before, product * (a.before + b.before)
    depth = np.arange(1, a.before.shape[1] + 1)
    c = _sums_from(starts, [constant, -constant - ramp * later, ramp * later + both])
    d = _sums_from(starts, [-linear, linear + ramp, -ramp])
    e = _sums_from(starts[:2], [product, -product])
    return np.asarray(c + depth * (d + depth * e))


def rank_biased_overlap(
    a: Places, b: Places, p: float, ties: RBOTies, estimate: RBOEstimate
) -> Array:
    """RBO of each row; nan if one of its rankings is empty."""
    swap = a.length > b.length
    short, long = a.swapped(swap, b), b.swapped(swap, a)
    s, length = short.length[:, None], np.maximum(long.length, 1)[:, None]
    depth = np.arange(1, a.before.shape[1] + 1)
    overlap_of = _certain_overlap if ties == "w" else expected_overlap
    overlap, size = overlap_of(short, long), np.broadcast_to(depth, (len(s), len(depth)))
    if ties != "a":
        # beyond the shorter ranking, the set of its documents has the size of the depth
        own = np.where(depth > s, depth, overlap_of(short, short))
        other = overlap_of(long, long)
        of_both = (own + other) / 2 if ties == "w" else np.sqrt(own * other)
        size = np.where(s > 0, of_both, depth)
    at_s = _at(overlap / size, s)
    unseen: Array | float = 0.0
    if estimate != "min":
        unseen = _unseen_overlap(short, long, overlap, ties, at_s if estimate == "ext" else None)
    agreement = (overlap + np.where(depth > s, unseen, 0.0)) / size
    total = np.where(depth <= length, agreement * p**depth, 0.0).sum(axis=1, keepdims=True)
    total += _beyond(_at(overlap, length), s, length, p, estimate, at_s, depth)
    return np.asarray(np.where(s > 0, total * (1 - p) / p, np.nan)[:, 0])


def _certain_overlap(a: Places, b: Places) -> Array:
    """The overlap where all documents of a tie group have its first rank."""
    return _sums_from([np.maximum(a.before, b.before)], [(a.ranked & b.ranked) * 1.0])


def _unseen_overlap(
    short: Places, long: Places, overlap: Array, ties: RBOTies, agreement: Array | None
) -> Array:
    """What the continuation of the shorter ranking adds to the overlap, from its end on.

    It agrees with documents of the longer ranking alone as much as the `agreement` so far, or, if
    that is None, with the first of them.
    """
    depth = np.arange(1, overlap.shape[1] + 1)
    further = np.maximum(depth - short.length[:, None], 0)
    if ties == "w":
        return np.asarray(further * (1.0 if agreement is None else agreement))
    alone = (long.ranked & ~short.ranked) * 1.0
    started, ended = _sums_from([long.before], [alone]), _sums_from([long.after - 1], [alone])
    expected = depth - overlap  # documents of the longer ranking alone, within the depth
    if agreement is not None:
        return np.asarray(further * agreement * expected / np.maximum(started, 1))
    partly = (expected - ended) / np.maximum(started - ended, 1)
    return np.asarray(np.minimum(further, ended) + np.maximum(further - ended, 0) * partly)


def _beyond(
    overlap: Array,
    s: Array,
    length: Array,
    p: float,
    estimate: RBOEstimate,
    at_s: Array,
    depth: Array,
) -> Array:
    """The sum over the depths beyond the longer ranking, given the overlap at its end."""
    if estimate == "ext":
        agreement = (overlap + (length - s) * at_s) / length
        return np.asarray(agreement * p ** (length + 1.0) / (1 - p))
    harmonic = np.broadcast_to(np.cumsum(p**depth / depth), (len(s), len(depth)))
    up_to_length = _at(harmonic, length)
    if estimate == "min":
        return np.asarray(overlap * (-np.log1p(-p) - up_to_length))
    # each further document of either ranking may be one of the other, until all are
    union = length + s - overlap
    last = np.rint(union).astype(np.intp)
    geometric = (p ** (length + 1.0) - p ** (union + 1)) / (1 - p)
    partial = 2 * geometric - union * (_at(harmonic, last) - up_to_length)
    return np.asarray(partial + p ** (union + 1) / (1 - p))


def _sums_from(starts: list[Array], values: list[Array]) -> Array:
    """The sum of the values that start before each depth, of shape (n_queries, n_documents)."""
    n_rows, width = starts[0].shape
    slots = np.arange(n_rows)[:, None] * (width + 1)
    changes = sum(
        np.bincount((slots + start).ravel(), value.ravel(), n_rows * (width + 1))
        for start, value in zip(starts, values, strict=True)
    )
    return np.asarray(np.reshape(changes, (n_rows, width + 1))[:, :width].cumsum(axis=1))


def _at(values: Array, depth: Array) -> Array:
    """The value of each row at a depth of at least 1."""
    return np.take_along_axis(values, np.maximum(depth, 1) - 1, axis=1)
