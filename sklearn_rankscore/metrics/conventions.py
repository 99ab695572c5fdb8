"""What other libraries mean by the same words: `like=` as a literal table of options.

Each entry holds what differs from this package's defaults, found by running the library; an option
given beside `like` goes over it. XGBoost's trailing "-" is ``replace_undefined_by=0``, CatBoost's
``type=Exp`` is ``gain="exponential"`` and its ``denominator=Position`` ``discount="reciprocal"``.

Where a library's number is a defect, the entry leaves it out:

- LightGBM and XGBoost add an unweighted 1 to NDCG for a weighted query without relevant documents;
- CatBoost ignores query weights in MAP, PrecisionAt, RecallAt and QueryAUC;
- torchmetrics takes documents with a score of at most 0 for not retrieved in MAP, MRR, precision
  and recall (give them the score -inf to have the same);
- torchmetrics (but for NDCG) and ranx (from 16 documents on) break ties arbitrarily; the entries
  average and keep the input order;
- trec_eval 10 scales graded gains in RBP by uninitialised memory; the entry is its RBP of labels 0
  and 1.

CatBoost's QueryAUC is the same for labels 0 and 1 in both of its types, and so is the entry. For
other labels they differ: ``Classic`` reads labels within [0, 1] as probabilities and refuses
others, ``Ranking`` counts all pairs of different labels; the entry splits the labels at 0.5.
"""

from __future__ import annotations

from typing import Any

from .options import choice

_STABLE: dict[str, Any] = {"ties": "stable"}
_REVERSED: dict[str, Any] = {"ties": "reversed"}
_WORST: dict[str, Any] = {"ties": "pessimistic"}
_WORST_BORDER: dict[str, Any] = {"ties": "pessimistic", "threshold": 0.5}
_DIVIDE_BY_R: dict[str, Any] = {"denominator": "relevant"}

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
        "map": _WORST_BORDER,
        "mrr": _WORST_BORDER,
        "precision": {**_WORST_BORDER, "denominator": "min"},
        "recall": {**_WORST_BORDER, "replace_undefined_by": 1.0},
        "err": {**_WORST, "max_grade": None},
        "pfound": _WORST,
        "query_auc": {"threshold": 0.5, "replace_undefined_by": 0.0},
    },
    "trec_eval": {
        "ndcg": _REVERSED,
        "map": {**_REVERSED, **_DIVIDE_BY_R},
        "mrr": _REVERSED,
        "precision": _REVERSED,
        "recall": _REVERSED,
        "hits": _REVERSED,
        "hit_rate": _REVERSED,
        "r_precision": _REVERSED,
        "rbp": {**_REVERSED, "p": 0.9},
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
        "map": {**_STABLE, **_DIVIDE_BY_R},
        "mrr": _STABLE,
        "precision": {**_STABLE, "denominator": "min"},
        "recall": _STABLE,
    },
}


def convention(like: str | None, metric: str) -> dict[str, Any]:
    """Options that make `metric` agree with a library; none without one."""
    if like is None:
        return {}
    table = CONVENTIONS[choice("like", like, tuple(CONVENTIONS))]
    if metric not in table:
        raise ValueError(
            f"like={like!r} knows no {metric!r}; it has {', '.join(table)}. Leave like= out, or "
            "give the options one by one."
        )
    return table[metric]
