"""From names, metric functions and functions of a block to metrics."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

import numpy as np

from .._validation import did_you_mean
from .conventions import convention
from .definition import METRICS, OF_ALL, Definition, definition_of, name_of_function
from .metric import Metric, select
from .names import parse_name
from .propensity import no_propensity_error

# arguments of boosters and other libraries, and what takes their place
_ELSEWHERE = {
    **dict.fromkeys(
        ("group", "group_id", "qid", "query_id"), " Pass the query ids of the rows as groups=."
    ),
    **dict.fromkeys(
        ("weight", "weights", "sample_weight"),
        " Query weights are sample_weight=, or weight=, the name of a column.",
    ),
    "segments": " Segments are segments= of query_scores, or by=, the names of columns.",
    **dict.fromkeys(
        ("ks", "k_list", "top_k", "topk"), " Cut-offs are part of names, as in 'ndcg@10'."
    ),
}


def resolve(metric: Any, like: str | None = None, **options: Any) -> Metric:
    """A metric from a name, one of the metric functions, or a function of a block."""
    return resolve_each([metric], like=like, **options)[0]


def read_metric(metric: Any) -> tuple[Definition, dict[str, Any]]:
    """What is declared of a metric, and the options that its name or a `partial` sets."""
    if isinstance(metric, str):
        name, in_name = parse_name(metric)
        return METRICS[name], dict(in_name)
    function, bound = unbound(metric)
    if not callable(function):
        raise TypeError(
            "a metric is a name such as 'ndcg@10', a metric function or a function of a block; got "
            f"{metric!r:.200}."
        )
    definition = definition_of(function)
    if not definition.is_known:
        _check_takes_a_block(function, definition.name)
    return definition, bound


def unbound(metric: Any) -> tuple[Any, dict[str, Any]]:
    """A metric function and the options that `functools.partial` has bound to it."""
    if isinstance(metric, partial) and not metric.args and name_of_function(metric.func):
        return metric.func, metric.keywords
    return metric, {}


def _check_takes_a_block(metric: Any, name: str) -> None:
    """Refuse functions of labels and scores, such as those of other libraries."""
    try:
        inspect.signature(metric).bind(None)
    except ValueError:  # it has no signature to inspect
        return
    except TypeError as error:
        raise TypeError(
            f"a user-defined metric is a function of one argument, a block; {name} is not "
            f"({error}). The metrics of this package go by name, such as 'ndcg@10'."
        ) from error


def list_metrics(metrics: Any) -> list[Any]:
    """The metrics of an argument that takes one or several."""
    if isinstance(metrics, Mapping):
        raise TypeError(
            "metrics must be a name, a function of a block, or a list of them here; got a dict. "
            f"Pass metrics={[*metrics.values()]!r:.200}."
        )
    several = isinstance(metrics, Iterable) and not isinstance(metrics, str)
    return list(metrics) if several and not callable(metrics) else [metrics]


def resolve_all(metrics: Any, *, like: str | None = None, **options: Any) -> dict[str, Metric]:
    """Metrics by their names, or by those of a dict, as in scikit-learn's `scoring`."""
    names, listed = None, metrics
    if isinstance(metrics, Mapping):
        names, listed = list(metrics), [*metrics.values()]
    ready = resolve_each(list_metrics(listed), like=like, **options)
    resolved: dict[str, Metric] = {}
    for name, metric in zip(names or [metric.name for metric in ready], ready, strict=True):
        if name in resolved:
            raise ValueError(f"metrics names {name!r} twice.")
        resolved[name] = metric
    return resolved


def resolve_each(listed: list[Any], *, like: str | None = None, **options: Any) -> list[Metric]:
    """Metrics in the order given, which may have equal names.

    An option applies to every metric that has it. Options take precedence in this order: those in
    the name, those given here, those of the convention `like`, the function's defaults.
    """
    if not listed:
        raise ValueError("metrics is empty; name at least one, such as 'ndcg@10'.")
    if options.get("propensity", ...) is None:  # as if it were not given
        del options["propensity"]
    read = [read_metric(metric) for metric in listed]
    for option, value in options.items():
        _check_is_used(option, value, read)
    return [
        _bind(metric, definition, options, fixed, like)
        for metric, (definition, fixed) in zip(listed, read, strict=True)
    ]


def _check_is_used(option: str, value: Any, read: list[tuple[Definition, dict[str, Any]]]) -> None:
    """Refuse an option that none of the metrics has, or that all of them set to another value."""
    able = [(known, fixed) for known, fixed in read if option in {*known.options, *fixed}]
    if not able or (option == "propensity" and len(able) < len(read)):  # never silently left out
        raise _no_option_error([known for known, fixed in read if option not in fixed], option)
    # every metric has the options of OF_ALL, so that they may be given for any of them
    if option not in OF_ALL and all(
        option in fixed and not np.array_equal(fixed[option], value) for _, fixed in able
    ):
        known, fixed = able[0]
        raise ValueError(
            f"{option}={value!r:.80} contradicts the metric {known.name!r}, which sets it to "
            f"{fixed[option]!r:.80}. Leave one of them out."
        )


def _bind(
    metric: Any, definition: Definition, options: dict[str, Any], fixed: dict[str, Any], like: Any
) -> Metric:
    """A metric with the options that its name sets, those of all metrics and of a convention."""
    name = definition.name
    given = {o: v for o, v in options.items() if o in definition.options} | fixed
    like = given.pop("like", like)
    for option in given:
        if option not in definition.options:
            raise _no_option_error([definition], option)
    named = name if given.get("k") is None else f"{name}@{given['k']}"
    shown = metric if isinstance(metric, str) else named
    return select(definition, shown, {**convention(like, name), **given})


def _no_option_error(definitions: list[Definition], option: str) -> ValueError:
    if option in ("propensity", "clip"):
        return no_propensity_error(next(known for known in definitions if not known.clicks))
    known = dict.fromkeys(name for definition in definitions for name in definition.options)
    names = ", ".join(repr(definition.name) for definition in definitions)
    subject = f"{names} has no" if len(definitions) == 1 else "none of the metrics has an"
    hint = _ELSEWHERE.get(option) or did_you_mean(option, known)
    return ValueError(
        f"{subject} option {option!r:.100}; there are {', '.join(known)} and like.{hint}"
    )


def has_option(metric: Any, option: str) -> bool:
    """Whether an option can be given to a metric: it has it, and does not set it itself."""
    definition, fixed = read_metric(metric)
    return option in definition.options and option not in fixed
