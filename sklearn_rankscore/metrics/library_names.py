"""How "NDCG:top=10;type=Exp" of CatBoost and "ndcg@10-" of XGBoost are written here."""

from __future__ import annotations

import re

_GAINS = "top type=base type=exp denominator=logposition denominator=position"
# each metric of CatBoost, our name of it, and the parameters that CatBoost takes
_METRICS = {
    "dcg": ("dcg", _GAINS.split()),
    "ndcg": ("ndcg", _GAINS.split()),
    "map": ("map", ["top", "border"]),
    "mrr": ("mrr", ["top", "border"]),
    "err": ("err", ["top"]),
    "pfound": ("pfound", ["top", "decay"]),
    "precisionat": ("precision", ["top", "border"]),
    "recallat": ("recall", ["top", "border"]),
    "queryauc": ("query_auc", ["type=classic", "type=ranking"]),
}
_DEFAULTS = ["type=base", "type=classic", "type=ranking", "denominator=logposition"]
_OPTIONS = {
    **dict.fromkeys(_DEFAULTS, ""),
    "type=exp": "gain=exponential",
    "denominator=position": "discount=reciprocal",
}
# what is shown, and whether weights count if they are given
_ELSEWHERE = ("hints", "use_weights")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,2})?")
_CATBOOST = re.compile(r"(\w+):\s*(\w+\s*=.*)|(precisionat|recallat)")
_XGBOOST = re.compile(r"((?:ndcg|map)(?:@[1-9]\d{0,17})?)-")


def translation(name: str) -> str | None:
    """What to write instead of another library's name of a metric; None for all other names."""
    base, parenthesis, rest = name.strip().partition("(")
    given = rest.rstrip(") ") if parenthesis else ""
    if match := _XGBOOST.fullmatch(base.strip().lower()):
        options = ", ".join(filter(None, [given, "replace_undefined_by=0", "like=xgboost"]))
        return f"{name!r} is written as in XGBoost; here it is '{match[1]}({options})'."
    match = _CATBOOST.fullmatch(base.strip().lower())
    metric = (match[1] or match[3]) if match else None
    if match is None or metric not in _METRICS:
        return None
    ours = None if given else _from_catboost(metric, match[2] or "")
    if ours is None:
        return (
            f"{name!r} is written as in CatBoost; here names are written as in "
            "'ndcg@10(gain=exponential)', and several names are a list."
        )
    of_labels = ", of labels 0 and 1" if ours.startswith("query_auc") else ""
    return f"{name!r} is written as in CatBoost; here it is {ours!r}{of_labels}."


def _from_catboost(metric: str, text: str) -> str | None:
    """Our name of a metric with CatBoost's parameters; None if it has no such parameters."""
    name, allowed = _METRICS[metric]
    parts = [part.partition("=") for part in text.split(";")] if text else []
    given = {key.strip(): value.strip() for key, _, value in parts}
    translated = [_translated(allowed, key, value) for key, value in given.items()]
    if len(given) < len(parts) or None in translated:
        return None
    if "type=ranking" in allowed and given.get("type") == "ranking":
        name = "pair_accuracy"
    cutoff = "".join(part for part in translated if part and part.startswith("@"))
    options = [part for part in translated if part and not part.startswith("@")]
    return f"{name}{cutoff}({', '.join([*options, 'like=catboost'])})"


def _translated(allowed: list[str], key: str, value: str) -> str | None:
    """A parameter as an option or "@k", empty if it is the default; None if it is not allowed."""
    if key in _ELSEWHERE:
        return ""
    if f"{key}={value}" in allowed:
        return _OPTIONS[f"{key}={value}"]
    if key not in allowed:
        return None
    if key == "top":
        return _cutoff(value)
    if _NUMBER.fullmatch(value) is None or (key == "decay" and not 0 <= float(value) <= 1):
        return None
    return f"{'threshold' if key == 'border' else key}={value}"


def _cutoff(top: str) -> str | None:
    """The cut-off as "@k", empty of a negative number, which means none; None of other text."""
    if re.fullmatch(r"-\d+", top):
        return ""
    return f"@{int(top)}" if re.fullmatch(r"\+?0*[1-9]\d{0,8}", top) else None
