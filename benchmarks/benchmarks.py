"""Benchmarks of time and peak memory for airspeed velocity: ``asv run`` collects the classes."""

from __future__ import annotations

import numpy as np
from data import SHAPES, make

from sklearn_rankscore import QueryKFold, evaluate, ndcg_score


class NDCG:
    """One metric on each shape, with sorted query ids."""

    params = (list(SHAPES), [10, None])
    param_names = ("shape", "k")

    def setup(self, shape, k):
        self.data = make(SHAPES[shape](10))
        self.groups = self.data.groups

    def time_ndcg(self, shape, k):
        ndcg_score(self.data.y, self.data.score, groups=self.groups, k=k)

    def peakmem_ndcg(self, shape, k):
        ndcg_score(self.data.y, self.data.score, groups=self.groups, k=k)


class Ids:
    """Query ids of several types, sorted and shuffled."""

    params = (["int", "str", "object"], [False, True])
    param_names = ("dtype", "shuffled")

    def setup(self, dtype, shuffled):
        data = make(SHAPES["30,000 x 120"](10))
        groups = data.groups
        order = np.random.default_rng(0).permutation(len(groups)) if shuffled else slice(None)
        ids = groups if dtype == "int" else np.char.add("query-", groups.astype("U8"))
        self.y, self.score = data.y[order], data.score[order]
        self.groups = ids[order].astype(object) if dtype == "object" else ids[order]

    def time_ndcg(self, dtype, shuffled):
        ndcg_score(self.y, self.score, groups=self.groups, k=10)


class Ties:
    """Every tie rule on scores with few distinct values."""

    params = ("average", "stable", "reversed", "optimistic", "pessimistic")
    param_names = ("ties",)

    def setup(self, ties):
        self.data = make(SHAPES["30,000 x 120"](10))
        self.score, self.groups = np.round(self.data.score), self.data.groups

    def time_ten_metrics(self, ties):
        names = ["ndcg@5", "ndcg@10", "map@10", "mrr@10", "precision@5", "recall@10", "err@10"]
        names += ["hit_rate@5", "rbp@10", "f1@10"]
        evaluate(self.data.y, self.score, names, groups=self.groups, ties=ties)


class Split:
    """Balanced folds of many queries."""

    params = (10_000, 100_000)
    param_names = ("n_queries",)

    def setup(self, n_queries):
        sizes = np.random.default_rng(0).integers(1, 30, n_queries)
        self.groups = np.repeat(np.arange(n_queries), sizes)
        self.y = np.random.default_rng(0).integers(0, 2, len(self.groups))

    def time_query_k_fold(self, n_queries):
        list(QueryKFold(5).split(self.groups, self.y, self.groups))
