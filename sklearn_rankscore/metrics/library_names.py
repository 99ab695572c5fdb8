"""How "NDCG:top=10;type=Exp" of CatBoost and "ndcg@10-" of XGBoost are written here."""

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


def translation(name: str) -> str | None:
    """What to write instead of another library's name of a metric; None for all other names."""
    name = name.partition("(")[0].strip()
    if match := re.fullmatch(r"((?:ndcg|map)(?:@\d+)?)-", name.lower()):
        options = "(replace_undefined_by=0, like=xgboost)"
        return f"{name!r} is written as in XGBoost; here it is '{match[1]}{options}'."
    if ours := _from_catboost(name.lower()):
        return f"{name!r} is written as in CatBoost; here it is {ours!r}."
    return None


def _from_catboost(name: str) -> str | None:
    match = re.fullmatch(r"(\w+):(\w+=[\w.~-]+(?:;\w+=[\w.~-]+)*)", name)
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
