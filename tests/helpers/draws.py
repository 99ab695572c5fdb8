"""Random examples, each of them decided by one number that Hypothesis draws.

Drawing every label and score by Hypothesis takes longer than ranking them.
"""

import zlib

import numpy as np
from hypothesis import strategies as st

SEEDS = st.integers(0, 2**32 - 1)


class Draw:
    """Random choices, others for each case of a test: the first seed of Hypothesis is always 0."""

    def __init__(self, seed, *case):
        self.random = np.random.default_rng([seed, zlib.crc32(repr(case).encode())])

    def one_of(self, values):
        return values[self.random.integers(len(values))]

    def some_of(self, values, n):
        return np.array(values)[self.random.integers(len(values), size=n)]

    def rows(self, labels, scores, n_queries, most):
        """Labels, scores and numbers of queries of one to `most` documents, in any order."""
        n = self.random.integers(1, most + 1)
        return (
            self.some_of(labels, n),
            self.some_of(scores, n),
            self.random.integers(n_queries, size=n),
        )
