"""Ranked data that every library accepts: sorted by query, with scores exact in float32."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pytest

from sklearn_rankscore import evaluate

CUTOFFS = (1, 2, 3, 5, 10)


@dataclass(frozen=True)
class Sample:
    """Labels 0 to 4, scores and sorted query ids."""

    y: np.ndarray
    score: np.ndarray
    qid: np.ndarray

    @property
    def labels(self):
        """The labels as each type of metric takes them."""
        return {"graded": self.y, "binary": (self.y > 1).astype(int), "probability": self.y / 4}

    @cached_property
    def sizes(self):
        return np.unique(self.qid, return_counts=True)[1]

    def of_queries(self, queries):
        """The sample of these queries only (a mask over them)."""
        rows = np.repeat(queries, self.sizes)
        return Sample(self.y[rows], self.score[rows], self.qid[rows])

    def untied(self):
        """The sample with a distinct score for every row."""
        noise = np.random.default_rng(0).permutation(len(self.y)) / 2**20
        return replace(self, score=self.score + noise)

    def query_weights(self):
        """A weight of each row, constant within a query."""
        return np.repeat(
            np.random.default_rng(0).choice([0.5, 1.0, 2.0], len(self.sizes)), self.sizes
        )

    def empty(self, labels="graded"):
        """Whether each query has no relevant document."""
        starts = np.cumsum(self.sizes) - self.sizes
        return np.add.reduceat(self.labels[labels], starts) == 0


def random_sample(longest, n_queries=60):
    """Queries of 1 to `longest` documents, a quarter without relevant ones, nine scores in all."""
    rng = np.random.default_rng(longest)
    sizes = rng.integers(1, longest + 1, n_queries)
    qid = np.repeat(np.arange(n_queries), sizes)
    y = rng.integers(0, 5, len(qid)) * np.repeat(rng.random(n_queries) > 0.25, sizes)
    return Sample(y, rng.integers(-4, 5, len(qid)) / 4, qid)


def lambdarank_sample(X, y, qid):
    """LightGBM's lambdarank example, scored by the sum of some features in steps of 1/4."""
    order = np.argsort(qid, kind="stable")
    return Sample(y[order], np.round(X[order, :120].sum(axis=1) * 4) / 4, qid[order])


def assert_same(theirs, sample, labels, name, like, **weights):
    """Check that `like`, as an option and in a name, gives the number of the library."""
    given = (sample.labels[labels], sample.score)
    by_option = evaluate(*given, name, groups=sample.qid, like=like, **weights)[name]
    full_name = name[:-1] + f",like={like})" if name.endswith(")") else name + f"(like={like})"
    by_name = evaluate(*given, full_name, groups=sample.qid, **weights)[full_name]
    assert by_option == by_name == pytest.approx(theirs, rel=1e-6)
