"""How much the rankings of two systems have in common, query by query."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

import numpy as np
from numpy.typing import ArrayLike

from .._columns import as_numbers
from .._typing import Array, QueryIds
from .._validation import check_choice, check_count, check_fraction
from ..metrics.evaluate import check_systems
from ..query_ids.lookup import check_same_order, index_ids
from ..ranking import read_queries
from .query_results import QueryScores
from .rank_biased_overlap import (
    Places,
    RBOEstimate,
    RBOTies,
    expected_overlap,
    rank_biased_overlap,
)
from .segments import Segments, read_segments

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
    _refuse_values(score_a=score_a, score_b=score_b)
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
    for members in queries_of_equal_size(queries.sizes, BLOCK_DOCUMENTS):
        rows = queries.grouping.rows_of(members)
        first, second = (Places.of(s.ravel()[rows].astype(np.float64)) for s in (a, b))
        rbo = rank_biased_overlap(first, second, p, ties, estimate)
        values[members] = np.column_stack([rbo, *_overlaps(first, second, k)])
    columns = None
    if segments is not None:
        columns = read_segments(segments, queries.ids, queries.grouping, given)
    metrics = ("rbo", f"overlap@{k}", "top_changed")
    return QueryScores(queries.ids, values, metrics, queries.weights, columns)


def _refuse_values(**scores: ArrayLike) -> None:
    """Refuse what query_scores returns, and results of two calls that prepared documents."""
    for name, given in scores.items():
        if isinstance(given, QueryScores):
            raise TypeError(
                f"{name} must hold the scores of documents; got a QueryScores, which holds values "
                "of metrics. Pass what query_scores was given as y_score, or test differences of "
                "the metrics by compare({'a': a, 'b': b})."
            )
    check_systems(scores["score_a"], {"score_b": scores["score_b"]}, "score_a")


def _overlaps(a: Places, b: Places, k: int) -> tuple[Array, Array]:
    """The share of documents in common within k, and whether the first documents differ."""
    overlap = expected_overlap(a, b)
    depth = np.minimum(k, np.maximum(a.length, b.length))
    is_empty = np.minimum(a.length, b.length) == 0
    within = overlap[np.arange(len(depth)), np.maximum(depth, 1) - 1] / np.maximum(depth, 1)
    return np.where(is_empty, np.nan, within), np.where(is_empty, np.nan, 1 - overlap[:, 0])


def queries_of_equal_size(sizes: Array, n_documents: int) -> Iterator[Array]:
    """Queries of one size with up to `n_documents` documents, then others, the longest first."""
    by_size = np.argsort(sizes, kind="stable")[::-1]
    starts = np.flatnonzero(np.diff(sizes[by_size], prepend=-1))
    for same in np.split(by_size, starts)[1:]:  # nothing is before the first start
        step = max(1, n_documents // int(sizes[same[0]]))
        for start in range(0, len(same), step):
            yield same[start : start + step]
