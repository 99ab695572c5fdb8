"""The conventions of other libraries: `like=` as a table of options.

Each entry holds the options that differ from this package's defaults, determined by running the
library; an option given together with `like` takes precedence. XGBoost's trailing "-" is
``replace_undefined_by=0``, CatBoost's ``type=Exp`` is ``gain="exponential"`` and its
``denominator=Position`` is ``discount="reciprocal"``.

Numbers that are defects of a library are not reproduced:

- LightGBM and XGBoost add an unweighted 1 to NDCG for a weighted query without relevant documents;
- CatBoost ignores query weights in MAP, PrecisionAt, RecallAt and QueryAUC;
- torchmetrics treats documents with a score of at most 0 as not retrieved in MAP, MRR, precision
  and recall (give them the score -inf to obtain the same);
- torchmetrics (except for NDCG) and ranx (from 16 documents on) break ties arbitrarily; the entries
  average and use the input order, respectively;
- XGBoost's `auc` of a ranking also compares documents with equal labels, by their rows; there is
  no entry.

trec_eval 10 normalizes graded gains in RBP from variables that it does not initialize; the entry is
what its published outputs have, the label divided by the highest judged label of the query.

CatBoost's ``QueryAUC:type=Ranking`` is the entry `pair_accuracy`. ``Classic`` reads labels within
[0, 1] as probabilities and refuses others; the entry `query_auc` separates the labels at 0.5.
"""

from __future__ import annotations

import math
from typing import Any

from .._validation import check_choice

_STABLE: dict[str, Any] = {"ties": "stable"}
_REVERSED: dict[str, Any] = {"ties": "reversed"}
_WORST: dict[str, Any] = {"ties": "pessimistic"}
_WORST_ABOVE_HALF: dict[str, Any] = {"ties": "pessimistic", "threshold": 0.5}
# rax asks whether a label is at least 1, in single precision, which rounds from 1 - 2**-25 on to 1
_STABLE_FROM_ONE: dict[str, Any] = {
    "ties": "stable",
    "threshold": math.nextafter(1 - 2**-25, 0),
}
_DIVIDE_BY_R: dict[str, Any] = {"denominator": "relevant"}
# users without relevant items are left out
_DROP: dict[str, Any] = {"replace_undefined_by": math.nan}
_TOP_N: dict[str, dict[str, Any]] = dict.fromkeys(("precision", "recall", "mrr", "hit_rate"), _DROP)
_BINARY_NDCG: dict[str, Any] = {**_DROP, "gain": "binary"}


def _each(options: dict[str, Any], *metrics: str) -> dict[str, dict[str, Any]]:
    """Several metrics with the same options."""
    return dict.fromkeys(metrics, options)


_ALL_OF_TREC_EVAL = ("mrr", "precision", "recall", "f1", "hits", "hit_rate", "r_precision", "bpref")

CONVENTIONS: dict[str, dict[str, dict[str, Any]]] = {
    "sklearn": _each({}, "dcg", "ndcg", "query_auc"),
    "lightgbm": {
        "ndcg": {**_STABLE, "gain": "exponential", "replace_undefined_by": 1.0},
        "map": {**_STABLE, "threshold": 0.5, "replace_undefined_by": 1.0},
    },
    "xgboost": {
        "ndcg": {**_STABLE, "k": 32, "gain": "exponential", "replace_undefined_by": 1.0},
        "map": {**_STABLE, "k": 32, "replace_undefined_by": 1.0},
        "precision": {**_STABLE, "k": 32, "denominator": "min"},
    },
    "catboost": {
        **_each(_WORST, "dcg", "pfound"),
        "ndcg": {**_WORST, "replace_undefined_by": 1.0},
        **_each(_WORST_ABOVE_HALF, "map", "mrr"),
        "precision": {**_WORST_ABOVE_HALF, "denominator": "min"},
        "recall": {**_WORST_ABOVE_HALF, "replace_undefined_by": 1.0},
        "err": {**_WORST, "max_grade": None},
        "query_auc": {"threshold": 0.5, "replace_undefined_by": 0.0},
        "pair_accuracy": {"replace_undefined_by": 0.0},
    },
    "trec_eval": {
        "ndcg": _REVERSED,
        "map": {**_REVERSED, **_DIVIDE_BY_R},
        **_each(_REVERSED, *_ALL_OF_TREC_EVAL, "infap"),
        "rbp": {**_REVERSED, "p": 0.9, "gain": "linear", "normalize": True},
    },
    "ranx": {
        **_each(_STABLE, "dcg", "ndcg"),
        "map": {**_STABLE, **_DIVIDE_BY_R},
        **_each(_STABLE, *_ALL_OF_TREC_EVAL),
        "rbp": {**_STABLE, "gain": "linear"},
    },
    "torchmetrics": {
        **_each({}, "ndcg", "mrr", "precision", "recall", "hit_rate", "r_precision"),
        "map": {"denominator": "hits"},
        "query_auc": {"replace_undefined_by": 0.0},
    },
    "rax": {
        **_each({**_STABLE, "gain": "exponential"}, "dcg", "ndcg"),
        "map": {**_STABLE_FROM_ONE, **_DIVIDE_BY_R},
        **_each(_STABLE_FROM_ONE, "mrr", "recall"),
        "precision": {**_STABLE_FROM_ONE, "denominator": "min"},
        "pair_accuracy": {"ties": "pessimistic", "replace_undefined_by": 0.0},
    },
    "beir": {
        # beir/retrieval/evaluation.py calls pytrec_eval; custom_metrics.py sorts stably
        **_each(_REVERSED, "ndcg", "precision", "recall"),
        "map": {**_REVERSED, **_DIVIDE_BY_R},
        **_each(_STABLE, "mrr", "hit_rate"),
    },
    "implicit": {
        # implicit/evaluation.pyx, ranking_metrics_at_k
        "precision": {**_DROP, "denominator": "attainable", "average": "micro"},
        "map": _DROP,
        "ndcg": _BINARY_NDCG,
    },
    # recommenders/evaluation/python_evaluation.py
    "recommenders": {
        **_each(_DROP, "precision", "recall", "map", "r_precision"),
        "ndcg": _BINARY_NDCG,
    },
    # rectools/metrics; its NDCG with divide_by_achievable=True
    "rectools": {**_TOP_N, "map": {**_DROP, **_DIVIDE_BY_R}, "ndcg": _BINARY_NDCG},
    # recbole/evaluator/metrics.py
    "recbole": {**_TOP_N, "map": _DROP, "ndcg": _BINARY_NDCG},
}


def convention(like: str | None, metric: str) -> dict[str, Any]:
    """Options that make a metric agree with a library; none if `like` is None."""
    if like is None:
        return {}
    table = CONVENTIONS[check_choice("like", like, tuple(CONVENTIONS))]
    if metric not in table:
        raise ValueError(
            f"like={like!r} has no {metric!r}; it has {', '.join(table)}. Leave it out, or name "
            f"the library in the other metrics, as in 'ndcg@10(like={like})'."
        )
    return table[metric]
