"""Other spellings of the names of metrics, and what a misspelled name may mean."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from difflib import get_close_matches
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
    "topkaccuracy": (
        "'hit_rate@k', the fraction of queries with a relevant document within the cut-off, or "
        "'precision@k', the fraction of relevant documents within it"
    ),
}

# of trec_eval, MTEB and ir_measures, whose rel is the lowest relevant label
_WITH_CUTOFF = re.compile(r"(?:(.+)_at|(ndcg_cut|map_cut|p|recall|success))[_.](\d+)")
_WITH_REL = re.compile(r"\s*([^@()]+)\(\s*rel\s*=\s*(\d+)\s*\)\s*(@\s*\d+)?\s*")
_WITH_NUMBER = re.compile(r"(.*[^\d_. -])[_. -]*(\d+)")

# of CatBoost, "NDCG:top=10;type=Exp", and of XGBoost, "ndcg@10-"
_PARAMETER = r"(?:top|type|border|decay|denominator|hints|use_weights)=[-+.\w~]+"
_CATBOOST = re.compile(rf"(\w+?)(?:at)?:({_PARAMETER}(?:;{_PARAMETER})*)|(precision|recall)at")
_XGBOOST = re.compile(r"((?:ndcg|map)(?:@[1-9]\d*)?)-")
_PARAMETERS = {
    **dict.fromkeys(("type=base", "type=classic", "denominator=logposition"), ""),
    "type=exp": "gain=exponential",
    "denominator=position": "discount=reciprocal",
}

# shorter names, such as "mae", are one letter away from too many others
SHORTEST_TYPO, LEAST_SIMILAR = 4, 0.75


def without_rel(name: str) -> str:
    """``"P(rel=2)@5"`` of ir_measures as ``"P@5(threshold=1)"``; other names unchanged."""
    match = _WITH_REL.fullmatch(name)
    if match is None:
        return name
    return f"{match[1]}{match[3] or ''}(threshold={int(match[2]) - 1})"


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
    return AMBIGUOUS.get(_key(name))


def translation(name: str, known: Iterable[str]) -> str | None:
    """What to write instead of a name of CatBoost or XGBoost; None for all other names."""
    written, _, given = name.lower().replace(" ", "").partition("(")
    if match := _XGBOOST.fullmatch(written):
        options = [*filter(None, given.rstrip(")").split(",")), "replace_undefined_by=0"]
        ours, library = f"{match[1]}({', '.join([*options, 'like=xgboost'])})", "XGBoost"
    elif match := _CATBOOST.fullmatch(written):
        metric, library = canonical_name(match[1] or match[3], known), "CatBoost"
        if metric is None:
            return None
        ours = _from_catboost(metric, match[2].split(";") if match[2] else [])
    else:
        return None
    return f"{name!r} is written as in {library}; here it is {ours!r}."


def _from_catboost(metric: str, parameters: list[str]) -> str:
    cutoff, options = "", []
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name == "top":
            cutoff = "" if value.startswith("-") else f"@{value.lstrip('+')}"
        elif parameter == "type=ranking":
            metric = "pair_accuracy"
        elif name not in ("hints", "use_weights"):  # what is shown, and whether weights count
            options.append(_PARAMETERS.get(parameter, parameter.replace("border=", "threshold=")))
    return f"{metric}{cutoff}({', '.join([*filter(None, options), 'like=catboost'])})"


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
    spellings = _spellings(known)
    near = (spellings[spelling] for spelling in get_close_matches(_key(name), spellings, 6))
    return list(dict.fromkeys(near))[:3]


def is_near(name: str, known: Iterable[str], others: Collection[str]) -> bool:
    """Whether a name without "@" is more similar to one of these metrics than to `others`."""
    if (number := _WITH_NUMBER.fullmatch(name)) and canonical_name(number[1], known):
        return True
    ours = {spelling for spelling in _spellings(tuple(known)) if len(spelling) >= SHORTEST_TYPO}
    theirs = set(map(_key, others))
    nearest = get_close_matches(_key(name), ours | theirs, 1, LEAST_SIMILAR)
    return bool(nearest) and nearest[0] not in theirs


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
