"""Documents of many queries for the tests of streams, Spark and Dask."""

import math

import numpy as np

from sklearn_rankscore import evaluate

EXACT = {"rel": 1e-12, "abs": 1e-12}
METRICS = [
    "dcg@10",
    "ndcg@10(gain=exponential)",
    "map@5",
    "mrr",
    "precision@3",
    "recall@5",
    "f1@5",
    "hits@5",
    "hit_rate@3",
    "r_precision",
    "err@10",
    "rbp",
    "pfound@10",
    "query_auc",
    "kendall_tau",
    "spearman",
]
RATIOS = ["ndcg@10", "map@5", "precision@3", "recall@5", "f1@5", "r_precision", "query_auc"]
UNJUDGED = [
    "ndcg@10(unjudged=drop)",
    "map@5(unjudged=irrelevant)",
    "precision@3(unjudged=drop)",
    "query_auc(unjudged=drop)",
    "mrr(adjusted=true,unjudged=drop)",
    "ndcg@3(adjusted=true,unjudged=irrelevant)",
    "judged@5",
    "bpref",
    "infap",
]


def make_documents(n_queries=60, *, seed=0, long=0, strings=False):
    """Sorted columns with ties and queries without relevant documents; `long` is an extra query."""
    random = np.random.default_rng(seed)
    sizes = random.integers(1, 12, size=n_queries)
    if long:
        sizes[n_queries // 2] = long
    qid = np.repeat(np.arange(n_queries), sizes)
    n = len(qid)
    label = (
        random.choice([0.0, 0.0, 0.25, 0.5, 1.0], size=n) * (random.random(n_queries) < 0.8)[qid]
    )
    columns = {
        "qid": qid,
        "label": label,
        "score": np.round(random.normal(label, 1.0), 1),
        "weight": random.integers(0, 5, size=n_queries)[qid].astype(float),
    }
    if strings:
        columns["qid"] = np.array([f"q{i:04d}ü" for i in qid], dtype=object)
    return columns


def with_unjudged(columns):
    """The columns with NaN for every third label, and for all labels of some queries."""
    label = columns["label"].astype(float)
    label[1::3] = np.nan
    _, query = np.unique(columns["qid"], return_inverse=True)
    label[query % 7 == 3] = np.nan
    return {**columns, "label": label}


def in_memory(columns, metrics=METRICS, weight=None, **options):
    """The metrics of all rows at once."""
    weights = None if weight is None else columns[weight]
    given = columns["label"], columns["score"], metrics
    return evaluate(*given, groups=columns["qid"], sample_weight=weights, **options)


# documents, metrics and options, whose results are the same however the documents are given
CASES = {
    "text ids": (make_documents(long=200, strings=True), METRICS, {}),
    "weights": (make_documents(long=200), METRICS, {"weight": "weight"}),
    "micro": (make_documents(seed=4), RATIOS, {"weight": "weight", "average": "micro"}),
    **{
        f"{average}, undefined left out": (
            make_documents(seed=4),
            RATIOS,
            {"weight": "weight", "average": average, "replace_undefined_by": math.nan},
        )
        for average in ("macro", "micro")
    },
    "unjudged": (with_unjudged(make_documents(long=100)), UNJUDGED, {}),
}
