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

CONVENTIONS: dict[str, dict[str, dict[str, Any]]] = {
    "sklearn": {"dcg": {}, "ndcg": {}, "query_auc": {}},
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
        "dcg": _WORST,
        "ndcg": {**_WORST, "replace_undefined_by": 1.0},
        "map": _WORST_ABOVE_HALF,
        "mrr": _WORST_ABOVE_HALF,
        "precision": {**_WORST_ABOVE_HALF, "denominator": "min"},
        "recall": {**_WORST_ABOVE_HALF, "replace_undefined_by": 1.0},
        "err": {**_WORST, "max_grade": None},
        "pfound": _WORST,
        "query_auc": {"threshold": 0.5, "replace_undefined_by": 0.0},
        "pair_accuracy": {"replace_undefined_by": 0.0},
    },
    "trec_eval": {
        "ndcg": _REVERSED,
        "map": {**_REVERSED, **_DIVIDE_BY_R},
        "mrr": _REVERSED,
        "precision": _REVERSED,
        "recall": _REVERSED,
        "f1": _REVERSED,
        "hits": _REVERSED,
        "hit_rate": _REVERSED,
        "r_precision": _REVERSED,
        "rbp": {**_REVERSED, "p": 0.9, "gain": "linear", "normalize": True},
        "bpref": _REVERSED,
        "infap": _REVERSED,
    },
    "ranx": {
        "dcg": _STABLE,
        "ndcg": _STABLE,
        "map": {**_STABLE, **_DIVIDE_BY_R},
        "mrr": _STABLE,
        "precision": _STABLE,
        "recall": _STABLE,
        "f1": _STABLE,
        "hits": _STABLE,
        "hit_rate": _STABLE,
        "r_precision": _STABLE,
        "rbp": {**_STABLE, "gain": "linear"},
        "bpref": _STABLE,
    },
    "torchmetrics": {
        "ndcg": {},
        "map": {"denominator": "hits"},
        "mrr": {},
        "precision": {},
        "recall": {},
        "hit_rate": {},
        "r_precision": {},
        "query_auc": {"replace_undefined_by": 0.0},
    },
    "rax": {
        "dcg": {**_STABLE, "gain": "exponential"},
        "ndcg": {**_STABLE, "gain": "exponential"},
        "map": {**_STABLE_FROM_ONE, **_DIVIDE_BY_R},
        "mrr": _STABLE_FROM_ONE,
        "precision": {**_STABLE_FROM_ONE, "denominator": "min"},
        "recall": _STABLE_FROM_ONE,
        "pair_accuracy": {"ties": "pessimistic", "replace_undefined_by": 0.0},
    },
    "beir": {
        # beir/retrieval/evaluation.py calls pytrec_eval; custom_metrics.py sorts stably
        "ndcg": _REVERSED,
        "map": {**_REVERSED, **_DIVIDE_BY_R},
        "precision": _REVERSED,
        "recall": _REVERSED,
        "mrr": _STABLE,
        "hit_rate": _STABLE,
    },
    "implicit": {
        # implicit/evaluation.pyx, ranking_metrics_at_k
        "precision": {**_DROP, "denominator": "attainable", "average": "micro"},
        "map": _DROP,
        "ndcg": _BINARY_NDCG,
    },
    "recommenders": {
        # recommenders/evaluation/python_evaluation.py
        **dict.fromkeys(("precision", "recall", "map", "r_precision"), _DROP),
        "ndcg": _BINARY_NDCG,
    },
    "rectools": {
        # rectools/metrics; its NDCG with divide_by_achievable=True
        **_TOP_N,
        "map": {**_DROP, **_DIVIDE_BY_R},
        "ndcg": _BINARY_NDCG,
    },
    "recbole": {
        # recbole/evaluator/metrics.py
        **_TOP_N,
        "map": _DROP,
        "ndcg": _BINARY_NDCG,
    },
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
