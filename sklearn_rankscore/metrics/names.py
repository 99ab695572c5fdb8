"""Names of metrics: their grammar, ``name[@k][(option=value, ...)]``, and what others write.

Case, "_" and "-" do not matter in a name.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping
from difflib import get_close_matches
from functools import lru_cache
from typing import Any, NamedTuple

from .._table import Printed, Table, html_of_fields
from .definition import METRICS as METRICS
from .definition import SPELLINGS, key
from .definition import display_name as display_name
from .definition import name_of_function as name_of_function

# options of scorers that name a column
OF_DATA = ("groups", "propensity", "target")

_NAME = re.compile(r"(?P<name>[^@()]+)(?:@(?P<k>[^()]*))?(?:\((?P<options>[^()]*)\))?")
_WORDS = {"none": None, "nan": math.nan, "true": True, "false": False}
LONGEST_NAME = 500


@lru_cache(maxsize=4096)
def parse_name(name: str) -> tuple[str, tuple[tuple[str, Any], ...]]:
    """``"NDCG@10(gain=exponential)"`` as ``("ndcg", (("k", 10), ("gain", "exponential")))``."""
    match = _match(name)
    if match is None:
        raise ValueError(
            f"{name!r:.60} is not the name of a metric. Names are written 'metric', 'metric@k' or "
            f"'metric@k(option=value, ...)', such as 'ndcg@10'.{_if_several(name[:LONGEST_NAME])}"
        )
    spelling, cutoff = match["name"].strip(), match["k"]
    metric = canonical_name(spelling)
    if metric is None:
        raise _unknown_metric(name, spelling)
    if cutoff is None and key(spelling) in _NEED_CUTOFF:
        raise ValueError(f"{name!r} needs a cut-off, such as '{spelling}@5', or is {metric!r}.")
    options: dict[str, Any] = {} if cutoff is None else {"k": _parse_cutoff(name, cutoff)}
    for part in filter(None, map(str.strip, (match["options"] or "").split(","))):
        option, _, value = (text.strip() for text in part.partition("="))
        option = option.lower()
        if not option or not value:
            raise ValueError(
                f"{name!r}: options are written option=value, of numbers and words; got {part!r}."
            )
        if option in options:
            raise ValueError(f"{name!r} gives {option!r} twice.")
        options[option] = _parse_value(option, value)
    return metric, tuple(options.items())


def is_metric(name: str) -> bool:
    """Whether a name, with any cut-off and options, is that of a metric of this package."""
    match = _match(name)
    return match is not None and canonical_name(match["name"].strip()) is not None


def _match(name: str) -> re.Match[str] | None:
    """The parts of a name that is well formed, in the words of this package."""
    match = _NAME.fullmatch(respelled(name)) if len(name) <= LONGEST_NAME else None
    return match if match and match["name"].strip() else None


def _unknown_metric(name: str, spelling: str) -> ValueError:
    if choices := AMBIGUOUS.get(key(spelling)):
        return ValueError(f"{name!r} has several meanings: use {choices}.")
    if several := _if_several(spelling):
        return ValueError(f"{name!r} is not the name of a metric.{several}")
    rest = name.strip().removeprefix(spelling)
    options = "(" + rest.partition("(")[2] if "(" in rest else ""
    near = [one + (rest if _takes_cutoff(one) else options) for one in suggestions(spelling)]
    hint = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
    return ValueError(
        f"{name!r} is not a known metric.{hint} Known are "
        f"{', '.join(METRICS)}, and the aliases that metric_names() lists."
    )


def _takes_cutoff(spelling: str) -> bool:
    """Whether a cut-off can be written after the name of a metric."""
    return "@" not in spelling and "k" in METRICS[SPELLINGS[key(spelling)]].options


def _if_several(text: str) -> str:
    """How to name several metrics or cut-offs, if a comma or the like separates them."""
    separated = "=" not in text and re.search(r"[,;]|[0-9]\s+\S", text)
    # only the command line splits a string into names
    return " Give several as a list, such as ['ndcg@5', 'ndcg@10']." if separated else ""


def _parse_cutoff(name: str, text: str) -> int:
    digits = text.strip()
    if not re.fullmatch(r"[0-9]+", digits) or int(digits) < 1:
        raise ValueError(
            f"{name!r}: the cut-off after @ must be a positive integer, got {text!r}."
            f"{_if_several(digits)}"
        )
    return int(digits)


def _parse_value(option: str, text: str) -> Any:
    if option in OF_DATA and not text.removeprefix("-").isdecimal() and text.lower() not in _WORDS:
        return text  # the name of a column, of which case and blanks are kept
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text.lower()


def with_cutoff(metric: str, k: int) -> str:
    """``"MAP(threshold=1)"`` at 5 as ``"map@5(threshold=1)"``."""
    name, _ = parse_name(metric)
    _, parenthesis, options = respelled(metric).partition("(")
    return f"{name}@{k}{parenthesis}{options.strip()}"


def with_options(name: str, options: Mapping[str, Any]) -> str:
    """``"ndcg@5"`` as ``"ndcg@5(gain=exponential)"``; None and what the name sets is left out."""
    in_name = dict(parse_name(name)[1]) if is_metric(name) else {}
    shown = [f"{o}={v}" for o, v in options.items() if v is not None and o not in in_name]
    if not shown:
        return name
    head = f"{name[:-1]}," if name.endswith(")") else f"{name}("
    return f"{head}{','.join(shown)})"


def names_metric(name: Any, others: Collection[str]) -> bool:
    """Whether a string is meant to be the name of one of these metrics, well formed or not.

    Anything with "@" is, and any name that is more similar to one of these than to `others`.
    """
    if not isinstance(name, str) or len(name) > LONGEST_NAME:
        return isinstance(name, str) and "@" in name
    base = respelled(name).partition("(")[0].strip()
    functions = {known.function.__name__ for known in METRICS.values()}
    if "@" in base or canonical_name(base) or base in functions:
        return True
    if base.lower() in others:  # "R2" and "Accuracy"
        return False
    if key(base) in AMBIGUOUS or _with_number(base):
        return True
    ours = {spelling for spelling in SPELLINGS if len(spelling) >= SHORTEST_TYPO}
    theirs = set(map(key, others))
    nearest = get_close_matches(key(base), ours | theirs, 1, LEAST_SIMILAR)
    return bool(nearest) and nearest[0] not in theirs


# What is written in other ways, and what a misspelled name may mean

# without a cut-off, a single letter may be a typo, and trec_eval computes a list of cut-offs
_NEED_CUTOFF = {"p", "r", "ndcgcut", "mapcut", "success"}

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
    "numrelret": "'hits', the mean over queries, where trec_eval prints the sum",
}

# what others write, in the words of this package, with an option: trec_eval and MTEB, "P_10",
# "ndcg_at_10" and "relative_P_5"; ranx, "rbp.95"; XGBoost, "ndcg@10-"
_OTHERS = tuple(
    (re.compile(pattern), spelling, option)
    for pattern, spelling, option in (
        (r"(?:(.+)_at|(ndcg_cut|map_cut|p|recall|success))[_.](\d+)", r"\1\2@\3", ""),
        (r"relative_p[_.](\d+)", r"precision@\1", "denominator=attainable"),
        (r"rbp(\.\d+)", "rbp", r"p=0\1"),
        (r"((?:ndcg|map)(?:@[1-9]\d*)?)-", r"\1", "replace_undefined_by=0, like=xgboost"),
    )
)
# ir_measures, whose rel is the lowest relevant label, "P(rel=2)@5"
_IR_MEASURES = re.compile(r"([^@()]+)\(([^@()]+)\)\s*(@\s*\d+)?")
_REL = re.compile(r"\brel\s*=\s*(\d+)")
# CatBoost, "NDCG:top=10;type=Exp"
_PARAMETER = r"(?:top|type|border|decay|denominator|hints|use_weights)=[-+.\w~]+"
_CATBOOST = re.compile(rf"(\w+?)(?:at)?:({_PARAMETER}(?:;{_PARAMETER})*)|(precision|recall)at")
_PARAMETERS = {
    **dict.fromkeys(("type=base", "type=classic", "denominator=logposition"), ""),
    "type=exp": "gain=exponential",
    "denominator=position": "discount=reciprocal",
}
_WITH_NUMBER = re.compile(r"(.*[^\d_. -])[_. -]*(\d+)")

# shorter names, such as "mae", are one letter away from too many others
SHORTEST_TYPO, LEAST_SIMILAR = 4, 0.75


def respelled(name: str) -> str:
    """A name in the words of another library in those of this one; other names unchanged."""
    name = name.strip()
    match = _IR_MEASURES.fullmatch(name)
    if match and (match[3] or _REL.search(match[2])):
        # without rel, the gain of RBP may be the label
        more = ",gain=binary" if canonical_name(match[1]) == "rbp" else ""
        given = _REL.sub(lambda rel: f"threshold={int(rel[1]) - 1}{more}", match[2])
        return f"{match[1]}{match[3] or ''}({given})"
    written, bracket, given = name.partition("(")
    if bracket and not given.endswith(")"):
        return name
    options, written = [given.removesuffix(")")], written.lower().replace(" ", "")
    for pattern, spelling, option in _OTHERS:
        if match := pattern.fullmatch(written):
            return _with_options(match.expand(spelling), [*options, match.expand(option)])
    match = _CATBOOST.fullmatch(written)
    if match and (metric := canonical_name(match[1] or match[3])):
        return _from_catboost(metric, match[2].split(";") if match[2] else [], options)
    return name


def _with_options(metric: str, options: list[str]) -> str:
    listed = ", ".join(filter(None, options))
    return f"{metric}({listed})" if listed else metric


def _from_catboost(metric: str, parameters: list[str], options: list[str]) -> str:
    cutoff = ""
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name == "top":
            cutoff = "" if value.startswith("-") else f"@{value.lstrip('+')}"
        elif parameter == "type=ranking":
            metric = "pair_accuracy"
        elif name not in ("hints", "use_weights"):  # what is shown, and whether weights count
            options.append(_PARAMETERS.get(parameter, parameter.replace("border=", "threshold=")))
    return _with_options(f"{metric}{cutoff}", [*options, "like=catboost"])


def canonical_name(name: str) -> str | None:
    """The name of the metric that a name or an alias stands for; None if there is none."""
    return SPELLINGS.get(key(name))


def suggestions(name: str) -> list[str]:
    """Up to three metrics, by those of their names that are most similar to a misspelled one."""
    if metric := _with_number(name):
        return [metric]
    spelled = {key(s): s for known in METRICS.values() for s in (known.name, *known.aliases)}
    nearest: dict[str, str] = {}
    for spelling in get_close_matches(key(name), spelled, 6):
        metric = SPELLINGS[spelling]
        is_near = get_close_matches(key(name), [key(metric)])
        nearest.setdefault(metric, metric if is_near else spelled[spelling])
    return list(nearest.values())[:3]


def _with_number(name: str) -> str:
    """``"ndcg10"`` as ``"ndcg@10"``, or as ``"bpref"`` without a cut-off; empty for other names."""
    match = _WITH_NUMBER.fullmatch(name)
    metric = canonical_name(match[1]) if match else None
    if not match or metric is None:
        return ""
    return f"{metric}@{match[2]}" if _takes_cutoff(metric) else metric


class MetricName(NamedTuple):
    """What is known about the name of a metric.

    Attributes
    ----------
    aliases : tuple of str
        Other names of the metric; case, "_" and "-" do not matter.
    meaning : str
        The metric in one line.
    """

    aliases: tuple[str, ...]
    meaning: str

    def _repr_html_(self) -> str:
        return html_of_fields(self)


class MetricNames(Printed, dict[str, MetricName]):
    """Metrics by name, which print as a table."""

    def _table(self) -> Table:
        rows = [(name, ", ".join(of.aliases), of.meaning) for name, of in self.items()]
        return Table("", ["name", "aliases", "meaning"], rows)


def metric_names() -> MetricNames:
    """The names of all metrics, with their aliases and their meaning.

    A name or an alias may be followed by a cut-off and options, ``name@k(option=value, ...)``,
    wherever a metric is named: in `evaluate`, in `scoring` and in all other functions. Case, "_"
    and "-" do not matter in a name, so that ``"nDCG@10"`` is ``"ndcg@10"``. The spellings
    ``"P_10"``, ``"recall_10"``, ``"success_10"``, ``"ndcg_cut_10"`` and ``"map_cut_10"`` of
    trec_eval are accepted, and so are ``"ndcg_at_10"`` and ``"P(rel=2)@5"`` of ir_measures.

    Returns
    -------
    MetricNames
        A dict of each name to its aliases and its meaning. It prints as a table.

    See Also
    --------
    evaluate : Computes metrics by name; the name as it is given is the key of the result.

    Notes
    -----
    In scikit-learn's `scoring`, ``"precision"``, ``"recall"``, ``"f1"``, ``"average_precision"``
    and ``"accuracy"`` without a cut-off are the scorers of scikit-learn. Names that libraries use
    for different metrics, such as ``"auc"``, are refused with the choices. ``"GAUC"`` weights all
    queries equally unless `sample_weight` is given.

    Examples
    --------
    >>> from sklearn_rankscore import evaluate, metric_names
    >>> metric_names()["hit_rate"].aliases
    ('hit', 'HR', 'hit_ratio', 'success')
    >>> evaluate([0, 1, 1], [0.3, 0.2, 0.1], ["P@2", "recip_rank"])
    {'P@2': 0.5, 'recip_rank': 0.5}
    """
    return MetricNames(
        (name, MetricName(known.aliases, known.meaning)) for name, known in METRICS.items()
    )
