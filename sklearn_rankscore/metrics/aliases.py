"""Other spellings of the names of metrics, and what a misspelled name may mean."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import SequenceMatcher
from functools import lru_cache

# What papers, trec_eval, ir_measures, LightGBM, XGBoost, CatBoost, RecBole and MTEB call each
# metric; one without other names has no entry. Case, "_" and "-" do not matter.
ALIASES: dict[str, tuple[str, ...]] = {
    "dcg": ("discounted_cumulative_gain",),
    "ndcg": ("normalized_discounted_cumulative_gain", "ndcg_cut"),
    "map": ("AP", "average_precision", "mean_average_precision", "map_cut"),
    "mrr": ("RR", "recip_rank", "reciprocal_rank", "mean_reciprocal_rank"),
    "precision": ("P", "prec", "pre"),
    "recall": ("R",),
    "hits": ("num_hits", "num_rel_ret"),
    "hit_rate": ("hit", "HR", "hit_ratio", "success"),
    "r_precision": ("Rprec",),
    "err": ("expected_reciprocal_rank",),
    "rbp": ("rank_biased_precision",),
    "query_auc": ("GAUC", "group_auc"),
    "kendall_tau": ("kendall", "kendall_tau_b", "tau_b"),
    "infap": ("inferred_average_precision", "inferred_ap"),
    "spearman": ("spearmanr", "spearman_rho"),
}

# without a cut-off, a single letter may be a typo, and trec_eval computes a list of cut-offs
_NEED_CUTOFF = {"p", "r", "ndcgcut", "mapcut", "success"}

# numbers of documents that trec_eval counts; none of these metrics is similar
_COUNTS = {"numq", "numret", "numrel"}

# names that libraries use for different metrics
AMBIGUOUS: dict[str, str] = {
    "auc": (
        "'query_auc', the AUC within each query, or scikit-learn's 'roc_auc', over all rows at once"
    ),
    "accuracy": (
        "'hit_rate', the fraction of queries with a relevant document within the cut-off, or "
        "'query_auc', the fraction of pairs of documents in the right order"
    ),
    "top_k_accuracy": (
        "'hit_rate@k', the fraction of queries with a relevant document within the cut-off, or "
        "'precision@k', the fraction of relevant documents within it"
    ),
}

# a name without "@" is compared with names of at least this length, because a short one is
# one letter away from too many others ("mape", "mae" and "map")
SHORTEST_TYPO, LEAST_SIMILAR = 4, 0.75

_WITH_CUTOFF = re.compile(r"(?:(.+)_at|(ndcg_cut|map_cut|p|recall|success))[_.](\d+)")
_WITH_NUMBER = re.compile(r"(.*[^\d_. -])[_. -]*(\d+)")


def split_cutoff(name: str) -> tuple[str, str | None]:
    """``"P_10"`` of trec_eval and ``"ndcg_at_10"`` as name and cut-off; the latter may be None."""
    match = _WITH_CUTOFF.fullmatch(name.lower())
    return (match[1] or match[2], match[3]) if match else (name, None)


def needs_cutoff(name: str) -> bool:
    """Whether a name means a metric only with a cut-off."""
    return _key(name) in _NEED_CUTOFF


def canonical_name(name: str, known: Iterable[str]) -> str | None:
    """The name of the metric that a name or an alias stands for; None if there is none."""
    return _spellings(tuple(known)).get(_key(name))


def ambiguity(name: str) -> str | None:
    """What a name with several meanings may stand for; None for all others."""
    return next((text for word, text in AMBIGUOUS.items() if _key(word) == _key(name)), None)


def suggestions(name: str, known: Iterable[str]) -> list[str]:
    """Up to three metrics whose names or aliases are most similar to a misspelled one."""
    known = tuple(known)
    name, cutoff = split_cutoff(name)
    number = _WITH_NUMBER.fullmatch(name)
    if persistence := re.fullmatch(r"rbp(\.\d+)", name.lower()):  # of ranx
        return [f"rbp(p=0{persistence[1]})"]
    if cutoff is None and number and canonical_name(number[1], known):  # "ndcg10"
        return [f"{canonical_name(number[1], known)}@{number[2]}"]
    if _key(name) in _COUNTS:
        return []
    similarity: dict[str, float] = {}
    for spelling, metric in _spellings(known).items():
        similarity[metric] = max(similarity.get(metric, 0.0), _similarity(_key(name), spelling))
    near = [metric for metric in known if similarity[metric] >= 0.6]
    return sorted(near, key=lambda metric: -similarity[metric])[:3]


def is_near(name: str, known: Iterable[str], others: Iterable[str]) -> bool:
    """Whether a name without "@" is more similar to one of these metrics than to `others`."""
    if (number := _WITH_NUMBER.fullmatch(name)) and canonical_name(number[1], known):
        return True
    key = _key(name)
    candidates = [
        spelling for spelling in _spellings(tuple(known)) if len(spelling) >= SHORTEST_TYPO
    ]
    best = max(_similarity(key, spelling) for spelling in candidates)
    return best >= LEAST_SIMILAR and best > max(
        (_similarity(key, _key(other)) for other in others), default=0.0
    )


def _key(name: str) -> str:
    letters = re.sub("[_ ]", "", name.lower())
    # not "-" at an end, as in XGBoost's "ndcg-" or a negated "-ndcg"
    return re.sub(r"(?<=\w)-+(?=\w)", "", letters)


@lru_cache
def _spellings(known: tuple[str, ...]) -> dict[str, str]:
    """The metric of each spelling."""
    return {
        _key(spelling): metric
        for metric in known
        for spelling in (metric, *ALIASES.get(metric, ()))
    }


def _similarity(a: str, b: str) -> float:
    return SequenceMatcher(None, a, b).ratio()


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
