"""From names, metric functions and functions of a block to metrics."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import numpy as np

from .._validation import did_you_mean, is_integer
from .conventions import convention
from .definition import METRICS, Definition, definition_of, name_of_function
from .metric import Metric, select
from .names import parse_name
from .propensity import no_propensity_error

# the options of all metrics
OF_ALL = {"average", "replace_undefined_by", "unjudged"}

# arguments of boosters and other libraries, and what takes their place
_ELSEWHERE = {
    **dict.fromkeys(
        ("group", "group_id", "qid", "query_id"), " Pass the query ids of the rows as groups=."
    ),
    **dict.fromkeys(
        ("ks", "k_list", "top_k", "topk"), " Cut-offs are part of names, as in 'ndcg@10'."
    ),
}


def resolve(metric: Any, like: str | None = None, **options: Any) -> Metric:
    """A metric from a name, one of the metric functions, or a function of a block.

    Options take precedence in this order: those in the name or given here, which must not
    contradict each other, those of the convention `like`, the function's defaults.
    """
    definition, fixed = read_metric(metric)
    for option in options.keys() & fixed.keys():
        given = options[option]
        # the comparison of arrays has no truth value
        if fixed[option] is not given and not np.array_equal(fixed[option], given):
            raise ValueError(
                f"{option}={given!r} contradicts the name {metric!r}, which sets {option} to "
                f"{fixed[option]!r}. Leave one of them out."
            )
    return _bind(metric, definition, options | fixed, like)


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


def _check_takes_a_block(metric: Callable[..., Any], name: str) -> None:
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


def _bind(metric: Any, definition: Definition, given: dict[str, Any], like: str | None) -> Metric:
    """A metric with the options that are given and those of a convention."""
    name, like = definition.name, given.pop("like", like)
    for option in given:
        if option not in definition.options:
            raise _no_option_error(definition, option)
    named = name if given.get("k") is None else f"{name}@{given['k']}"
    shown = metric if isinstance(metric, str) else named
    return select(definition, shown, {**convention(like, name), **given})


def _no_option_error(definition: Definition, option: str) -> ValueError:
    name, options = definition.name, definition.options
    if option in ("propensity", "clip"):
        return no_propensity_error(definition)
    if option == "target":
        return ValueError(
            f"{name!r} has no option 'target': it names a column of X, which only scorers receive "
            "(scoring=, make_ranking_scorer). Otherwise, pass the other labels as y_true."
        )
    return ValueError(
        f"{name!r} has no option {option!r}; it has {', '.join(options)} and like."
        f"{did_you_mean(option, options)}"
    )


def list_metrics(metrics: Any) -> list[Any]:
    """The metrics of an argument that takes one or several."""
    if _is_renamed(metrics):
        raise TypeError(
            "metrics must be a name, a function of a block, or a list of them here; got a dict. "
            f"Pass metrics={[*metrics.values()]!r}."
        )
    several = isinstance(metrics, Iterable) and not isinstance(metrics, str)
    return list(metrics) if several and not callable(metrics) else [metrics]


def _is_renamed(metrics: Any) -> bool:
    """Whether metrics are a dict as in scikit-learn's `scoring`, by names of the caller's own.

    Other dicts are earlier results, whose keys name the metrics; cut-offs are no results.
    """
    if not isinstance(metrics, Mapping):
        return False
    for name, value in metrics.items():
        first = value[0] if isinstance(value, list | tuple | range) and len(value) else value
        if is_integer(first) and "@" not in str(name):
            raise TypeError(
                "a dict of metrics has names or functions as values, such as {'ndcg_5': 'ndcg@5'}; "
                f"got {value!r:.80} for {name!r}. Cut-offs are part of the names: '{name}@{first}'."
            )
    return len(metrics) > 0 and all(isinstance(m, str) or callable(m) for m in metrics.values())


def resolve_all(metrics: Any, *, like: str | None = None, **options: Any) -> dict[str, Metric]:
    """Metrics by their names, or by those of a dict; an option applies to every one that has it."""
    names = list(metrics) if _is_renamed(metrics) else None
    listed = list_metrics([*metrics.values()] if names else metrics)
    ready = resolve_each(listed, like=like, **options)
    resolved: dict[str, Metric] = {}
    for name, metric in zip(names or [metric.name for metric in ready], ready, strict=True):
        if name in resolved:
            raise ValueError(f"metrics names {name!r} twice.")
        resolved[name] = metric
    return resolved


def resolve_each(listed: list[Any], *, like: str | None = None, **options: Any) -> list[Metric]:
    """Metrics in the order given, which may have equal names."""
    if not listed:
        raise ValueError("metrics is empty; name at least one, such as 'ndcg@10'.")
    if options.get("propensity", ...) is None:  # as if it were not given
        del options["propensity"]
    resolved, unused = [], options.keys() - OF_ALL
    fixed_by: dict[str, str] = {}  # the metric that sets an option itself
    for metric in listed:
        definition, fixed = read_metric(metric)
        # a propensity is never left out silently
        if "propensity" in options and "propensity" not in {*definition.options, *fixed}:
            raise no_propensity_error(definition)
        own = {o: v for o, v in options.items() if o in definition.options and o not in fixed}
        resolved.append(_bind(metric, definition, own | fixed, like))
        unused -= own.keys()
        fixed_by |= dict.fromkeys(fixed, definition.name)
    for option in sorted(unused):
        if option in fixed_by:
            raise ValueError(
                f"{option}= is given, which the metric {fixed_by[option]!r} sets already. Leave "
                "one of them out."
            )
        known = {o: None for metric in resolved for o in metric.definition.options}
        hint = _ELSEWHERE.get(option) or did_you_mean(option, known)
        raise ValueError(f"none of the metrics has an option {option!r:.100}.{hint}")
    return resolved


def has_option(metric: Any, option: str) -> bool:
    """Whether an option can be given to a metric: it has it, and does not set it itself."""
    definition, fixed = read_metric(metric)
    return option in definition.options and option not in fixed
