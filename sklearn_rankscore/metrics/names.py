"""Metrics by name: the table, the grammar of names, and many metrics after one sort."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import Any

from ..ranking import Block, Queries, Ranking, Values, aggregate, read_queries
from . import average_precision, cascade, correlation, gain, hits, relevance
from .conventions import convention
from .kernel import Kernel
from .options import check_average, did_you_mean, number


@dataclass(frozen=True)
class Metric:
    """A named metric: its public function and its formula."""

    page: Callable[..., Any]
    kernel: Kernel

    @cached_property
    def options(self) -> dict[str, Any]:
        """Options a name may set, with their defaults, read off the function's signature."""
        parameters = inspect.signature(self.page).parameters
        inputs = ("y_true", "y_score", "groups", "sample_weight", "labels", "n_jobs")
        return {name: p.default for name, p in parameters.items() if name not in inputs}


METRICS = {
    "dcg": Metric(gain.dcg_score, gain.dcg),
    "ndcg": Metric(gain.ndcg_score, gain.ndcg),
    "map": Metric(average_precision.map_score, average_precision.average_precision),
    "mrr": Metric(hits.mrr_score, hits.reciprocal_rank),
    "precision": Metric(relevance.precision_at_k, relevance.precision),
    "recall": Metric(relevance.recall_at_k, relevance.recall),
    "f1": Metric(relevance.f1_at_k, relevance.f1),
    "hits": Metric(hits.hits_at_k, hits.hits),
    "hit_rate": Metric(hits.hit_rate_at_k, hits.hit_rate),
    "r_precision": Metric(average_precision.r_precision_score, average_precision.r_precision),
    "err": Metric(cascade.err_score, cascade.err),
    "rbp": Metric(cascade.rbp_score, cascade.rbp),
    "pfound": Metric(cascade.pfound_score, cascade.pfound),
    "query_auc": Metric(correlation.query_auc_score, correlation.query_auc),
    "kendall_tau": Metric(correlation.kendall_tau_score, correlation.kendall_tau),
    "spearman": Metric(correlation.spearman_score, correlation.spearman),
}

_NAME = re.compile(r"(?P<name>[a-z][a-z0-9_]*)(?:@(?P<k>[^()]*))?(?:\((?P<options>[^()]*)\))?")
_WORDS = {"none": None, "nan": math.nan}


@lru_cache(maxsize=4096)
def parse_name(name: str) -> tuple[str, tuple[tuple[str, Any], ...]]:
    """``"ndcg@10(gain=exponential)"`` as ``("ndcg", (("k", 10), ("gain", "exponential")))``."""
    match = _NAME.fullmatch(name.replace(" ", ""))
    if match is None:
        raise ValueError(
            f"{name!r} is not the name of a metric. Names are written 'metric', 'metric@k' or "
            "'metric@k(option=value, ...)', such as 'ndcg@10' or 'map@5(threshold=1)'."
        )
    if match["name"] not in METRICS:
        hint = did_you_mean(match["name"], METRICS)
        raise ValueError(f"{name!r} is not a known metric.{hint} Known are {', '.join(METRICS)}.")
    options: dict[str, Any] = {}
    if match["k"] is not None:
        if not re.fullmatch(r"[0-9]+", match["k"]) or int(match["k"]) < 1:
            raise ValueError(
                f"{name!r}: the cut-off after @ must be a positive integer, got {match['k']!r}."
            )
        options["k"] = int(match["k"])
    for part in filter(None, (match["options"] or "").split(",")):
        option, equals, value = part.partition("=")
        if not equals or not option or not value:
            raise ValueError(f"{name!r}: options are written option=value, got {part!r}.")
        if option in options:
            raise ValueError(f"{name!r} gives {option!r} twice.")
        options[option] = _parse_value(value)
    return match["name"], tuple(options.items())


def _parse_value(text: str) -> Any:
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


@dataclass(frozen=True)
class NamedMetric:
    """A metric ready to be computed: what its name and options came to."""

    name: str
    formula: Callable[[Block], Any]
    depth: int | None
    check: Callable[[Queries], None]
    average: str | None
    replace_undefined_by: float

    def aggregate(self, values: Values, queries: Queries) -> Any:
        """The answer, from the value of every query."""
        return aggregate(values, self.average, self.replace_undefined_by, queries.weights)


def page_name(metric: Any) -> str | None:
    """Name of one of the metric functions; what else there is need not be hashable."""
    return next((name for name, known in METRICS.items() if known.page is metric), None)


def resolve(metric: Any, *, like: str | None = None, **options: Any) -> NamedMetric:
    """A metric from a name, one of the metric functions, or a function of a block.

    Options come, each over the one before, from the function's defaults, the convention, the
    options given here, and the name.
    """
    metric, fixed = _unbound(metric)
    options |= fixed
    page = page_name(metric)
    if callable(metric) and page is None:
        return _resolve_callable(metric, like, options)
    if not isinstance(metric, str) and page is None:
        raise TypeError(
            "a metric is a name such as 'ndcg@10', a metric function or a function of a block; got "
            f"{metric!r}."
        )
    name, named = parse_name(page or metric)
    given = {**options, **dict(named)}
    like = given.pop("like", like)
    known = METRICS[name].options
    for option in given:
        if option not in known:
            hint = did_you_mean(option, known)
            raise ValueError(
                f"{name!r} has no option {option!r}; it has {', '.join(known)} and like.{hint}"
            )
    if page is not None:
        metric = name if given.get("k") is None else f"{name}@{given['k']}"
    final = {**known, **convention(like, name), **given}
    average = final.pop("average")
    kernel = METRICS[name].kernel
    check_average(average, ratio=kernel.ratio)
    replacement = number("replace_undefined_by", final.pop("replace_undefined_by"), nan=True)
    bound = kernel.bind(**final)
    return NamedMetric(metric, bound.formula, bound.depth, bound.check, average, replacement)


def _unbound(metric: Any) -> tuple[Any, dict[str, Any]]:
    """A metric function and the options that `functools.partial` has bound to it."""
    if isinstance(metric, partial) and not metric.args and page_name(metric.func):
        return metric.func, metric.keywords
    return metric, {}


def _resolve_callable(
    metric: Callable[[Block], Any], like: str | None, options: dict[str, Any]
) -> NamedMetric:
    name = name_of(metric)
    _check_takes_a_block(metric, name)
    average = options.pop("average", "macro")
    replacement = number(
        "replace_undefined_by", options.pop("replace_undefined_by", math.nan), nan=True
    )
    if options or like is not None:
        raise ValueError(
            f"options go with the metrics of this package; bind those of {name!r} with "
            f"functools.partial. Got {', '.join(options) or 'like'}."
        )
    check_average(average, ratio=False)
    return NamedMetric(name, metric, None, lambda queries: None, average, replacement)


def name_of(metric: Callable[..., Any]) -> str:
    """Name of a function, with what `functools.partial` has bound."""
    if not isinstance(metric, partial):
        return str(getattr(metric, "__name__", type(metric).__name__))
    bound = [*map(repr, metric.args), *(f"{name}={v!r}" for name, v in metric.keywords.items())]
    return f"{name_of(metric.func)}({', '.join(bound)})"


def _check_takes_a_block(metric: Callable[..., Any], name: str) -> None:
    """Refuse functions of labels and scores, such as those of other libraries."""
    try:
        inspect.signature(metric).bind(None)
    except ValueError:  # it has no signature to look at
        return
    except TypeError as error:
        raise TypeError(
            f"a metric of one's own is a function of one argument, a block; {name} is not "
            f"({error}). The metrics of this package go by name, such as 'ndcg@10'."
        ) from error


def measure(
    queries: Queries,
    metrics: Iterable[NamedMetric],
    *,
    n_jobs: int | None = None,
    ranking: Ranking | None = None,
) -> list[Values]:
    """Every query's value of each metric, after one sort (none if a ranking is at hand)."""
    metrics = list(metrics)
    for metric in metrics:
        metric.check(queries)
    if ranking is None:
        depths = [metric.depth for metric in metrics]
        ranking = Ranking(queries, None if None in depths else max(d for d in depths if d))
    return ranking.apply([metric.formula for metric in metrics], n_jobs)


def resolve_all(metrics: Any, *, like: str | None = None, **options: Any) -> dict[str, NamedMetric]:
    """Metrics by their names; an option goes to every metric that has it."""
    several = isinstance(metrics, Iterable) and not isinstance(metrics, str)
    listed = list(metrics) if several and not callable(metrics) else [metrics]
    if not listed:
        raise ValueError("metrics is empty; name at least one, such as 'ndcg@10'.")
    resolved: dict[str, NamedMetric] = {}
    used: set[str] = {"average", "replace_undefined_by"}
    for metric in listed:
        own = {name: value for name, value in options.items() if has_option(metric, name)}
        used |= own.keys()
        ready = resolve(metric, like=like, **own)
        if ready.name in resolved:
            raise ValueError(f"metrics names {ready.name!r} twice.")
        resolved[ready.name] = ready
    if unused := options.keys() - used:
        raise ValueError(f"none of the metrics has an option {sorted(unused)[0]!r}.")
    return resolved


def has_option(metric: Any, option: str) -> bool:
    """Whether an option can be given to a metric: it has it, and its name does not set it."""
    if isinstance(metric, str):
        name, named = parse_name(metric)
        return option in METRICS[name].options and option not in dict(named)
    metric, fixed = _unbound(metric)
    page = page_name(metric)
    if page is not None:
        return option in METRICS[page].options and option not in fixed
    return option in ("average", "replace_undefined_by")


def evaluate(
    y_true: Any,
    y_score: Any,
    metrics: Any,
    *,
    groups: Any = None,
    like: str | None = None,
    sample_weight: Any = None,
    labels: Any = None,
    n_jobs: int | None = None,
    **options: Any,
) -> dict[str, Any]:
    """Compute many ranking metrics after one sort.

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Relevance of each document, finite numbers.
    y_score : array-like of shape (n_documents,) or (n_queries, n_documents)
        Score of each document, higher is ranked first; no NaN, -inf where it was not retrieved.
    metrics : str, callable or iterable of them
        Names such as ``"ndcg@10"`` or ``"map@5(threshold=1)"``, metric functions of this
        package, or any function that takes a block of ranked queries and returns one value for
        each of them.
    groups : array-like of shape (n_documents,), default=None
        Query id of each document, in any row order; None for a single query or
        two-dimensional input.
    like : str, default=None
        Take another library's conventions: "sklearn", "lightgbm", "xgboost", "catboost",
        "trec_eval", "ranx", "torchmetrics" or "rax".
    sample_weight : array-like of shape (n_documents,) or (n_queries,), default=None
        Weight of each document's query.
    labels : array-like of shape (n_classes,), default=None
        The class of each column, for class labels in `y_true` and scores of shape
        (n_queries, n_classes).
    n_jobs : int, default=None
        Number of threads; None means 1 unless in a joblib context, -1 all cores.
    **options
        Any option of the metrics, such as ``gain="exponential"`` or ``average=None``; it goes
        to each metric that has it and does not set it in its name.

    Returns
    -------
    dict of str to float
        The value of each metric under its name; arrays with one entry per query, in the order
        of ``np.unique(groups)``, with ``average=None``.

    Raises
    ------
    ValueError
        For an unknown name or option, and for whatever the metric functions refuse.
    TypeError
        If a metric is neither a name nor a function of a block, or an input does not hold numbers.

    See Also
    --------
    query_scores : Values of every query with their ids, intervals and tests.

    Examples
    --------
    >>> from sklearn_rankscore import evaluate
    >>> y_true = [2, 0, 1, 0, 1]
    >>> y_score = [0.3, 0.2, 0.1, 0.9, 0.4]
    >>> groups = ["a", "a", "a", "b", "b"]
    >>> evaluate(y_true, y_score, ["mrr", "precision@2"], groups=groups)
    {'mrr': 0.75, 'precision@2': 0.5}
    """
    resolved = resolve_all(metrics, like=like, **options)
    queries = read_queries(
        y_true, y_score, groups=groups, sample_weight=sample_weight, labels=labels, n_jobs=n_jobs
    )
    values = measure(queries, resolved.values(), n_jobs=n_jobs)
    return {
        name: metric.aggregate(found, queries)
        for (name, metric), found in zip(resolved.items(), values, strict=True)
    }
