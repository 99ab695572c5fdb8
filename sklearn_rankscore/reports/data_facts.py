"""Properties of labels, query sizes and ties that metrics depend on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from .._typing import Array
from ..ranking import Block, Queries, Ranking
from ..ranking.label_functions import relevant
from ..ranking.queries import AS_GIVEN, is_judged


@dataclass(frozen=True)
class DataFacts:
    """Counts for each query, and how many scores are tied.

    Parameters
    ----------
    sizes, retrieved, relevant : array of shape (n_queries,)
        Number of documents, of retrieved and of relevant documents of each query.
    all_tied, documents_tied, documents_unjudged : float
        Share of the queries of which all retrieved documents are tied, of the documents tied with
        another, and of the documents without a judgment.
    clicks : dict of str to float
        Number of clicks, their effective number, and the share of clipped documents; empty without
        propensities.
    """

    sizes: Array
    retrieved: Array
    relevant: Array
    all_tied: float
    documents_tied: float
    documents_unjudged: float
    clicks: Mapping[str, float] = field(default_factory=dict)

    def summary(self) -> dict[str, float]:
        """The entry "data" of a report."""
        return {
            "queries": len(self.sizes),
            "documents": int(self.sizes.sum()),
            "fewest_documents": int(self.sizes.min()),
            "median_documents": float(np.median(self.sizes)),
            "most_documents": int(self.sizes.max()),
            "fewest_retrieved": int(self.retrieved.min()),
            "median_retrieved": float(np.median(self.retrieved)),
            "most_retrieved": int(self.retrieved.max()),
            "queries_without_results": float((self.retrieved == 0).mean()),
            "queries_without_relevant": float((self.relevant == 0).mean()),
            "queries_of_one_document": float((self.sizes == 1).mean()),
            "queries_all_tied": self.all_tied,
            "documents_tied": self.documents_tied,
            "documents_unjudged": self.documents_unjudged,
            **self.clicks,
        }


def describe(queries: Queries, threshold: float, n_jobs: int | None) -> DataFacts:
    """Count documents, relevant documents and ties."""
    is_relevant = relevant(threshold)
    formulas = (
        lambda block: block.retrieved.astype(np.float64),
        lambda block: block.total(is_relevant),
        _count_tied,
        _all_tied,
    )
    retrieved, n_relevant, n_tied, all_tied = (
        np.asarray(values.numerator)
        for values in Ranking(queries).under_rules(AS_GIVEN).apply(formulas, n_jobs)
    )
    share_tied = float(n_tied.sum() / queries.sizes.sum())
    unjudged = 1 - float(is_judged(queries.y_true).mean())
    return DataFacts(
        queries.sizes, retrieved, n_relevant, float(all_tied.mean()), share_tied, unjudged
    )


def _count_tied(block: Block) -> Array:
    """Number of retrieved documents that share their score with another one."""
    _, size = block.tie_groups()
    is_tied = (size > 1) & (block.ranks <= block.retrieved[:, None])
    return np.asarray(is_tied.sum(axis=1), dtype=np.float64)


def _all_tied(block: Block) -> Array:
    """Whether all retrieved documents of a query, at least two, have the same score."""
    _, size = block.tie_groups()
    first = size[:, 0] if isinstance(size, np.ndarray) else size
    return np.asarray((first == block.retrieved) & (block.retrieved > 1), dtype=np.float64)
