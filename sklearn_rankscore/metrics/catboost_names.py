"""Names of CatBoost's metrics, ``"NDCG:top=10;type=Exp"``, in this package's words."""

from __future__ import annotations

import re

_METRICS = {
    "dcg": "dcg",
    "ndcg": "ndcg",
    "map": "map",
    "mrr": "mrr",
    "err": "err",
    "pfound": "pfound",
    "precisionat": "precision",
    "recallat": "recall",
    "queryauc": "query_auc",
}
_OPTIONS = {
    "type=base": "",
    "type=exp": "gain=exponential",
    "type=classic": "",
    "denominator=logposition": "",
    "denominator=position": "discount=reciprocal",
}
_NUMBERS = {"border": "threshold", "decay": "decay"}


def from_catboost(name: str) -> str | None:
    """The name here of a metric that is written as in CatBoost; None for all others."""
    match = re.fullmatch(r"(\w+):(\w+=[\w.~-]+(?:;\w+=[\w.~-]+)*)", name.strip().lower())
    if match is None or match[1] not in _METRICS:
        return None
    metric, parts = _METRICS[match[1]], match[2].split(";")
    if metric == "query_auc" and "type=ranking" in parts:
        metric = "pair_accuracy"
        parts.remove("type=ranking")
    cutoff, options = "", []
    for part in parts:
        key, _, value = part.partition("=")
        if key == "top":
            cutoff = "" if value == "-1" else f"@{value}"
        elif key in _NUMBERS:
            options.append(f"{_NUMBERS[key]}={value}")
        elif part in _OPTIONS:
            options.append(_OPTIONS[part])
        elif key != "hints":  # what is shown, not what is computed
            return None
    return f"{metric}{cutoff}({', '.join([*filter(None, options), 'like=catboost'])})"
