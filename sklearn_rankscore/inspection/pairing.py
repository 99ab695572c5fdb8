"""Results of several systems for the same queries, in the same order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .._typing import Array
from .._validation import counted, examples
from ..query_ids.read import as_keys
from .intervals import TOLERANCE
from .query_results import QueryScores
from .query_values import with_fields
from .ranges import value_ranges


def check_query_scores(systems: Any) -> None:
    """Refuse anything but results of models by name."""
    if not isinstance(systems, Mapping):
        raise TypeError(
            "systems must be a dict of names to QueryScores, which query_scores and "
            f"cross_val_query_scores return, such as {{'a': a, 'b': b}}; got {_shown(systems)}."
        )
    for name, scores in systems.items():
        if not isinstance(scores, QueryScores):
            raise TypeError(
                f"systems[{name!r}] must be a QueryScores; got a {type(scores).__name__}. Compute "
                "it by query_scores(y_true, y_score, metrics, groups=ids)."
            )


def baseline_first(systems: Any, baseline: str | None) -> list[str]:
    """Names of the models, that of the baseline first."""
    check_query_scores(systems)
    if len(systems) < 2:
        raise ValueError(f"systems must hold at least two models; got {len(systems)}.")
    baseline = next(iter(systems)) if baseline is None else baseline
    if baseline not in systems:
        raise ValueError(
            f"baseline must be one of {', '.join(map(repr, systems))}; got {baseline!r}."
        )
    return [baseline, *(name for name in systems if name != baseline)]


def _shown(systems: Any) -> str:
    name = type(systems).__name__
    if not isinstance(systems, list | tuple):
        return name
    kinds = " or ".join(dict.fromkeys(type(one).__name__ for one in systems))
    return f"a {name} of {len(systems)} {kinds}"


def align(systems: Mapping[str, QueryScores], baseline: str) -> dict[str, QueryScores]:
    """All systems with the queries and metrics in the order of the baseline."""
    first = systems[baseline]
    return {
        name: first if name == baseline else _aligned(first, scores, f"{baseline!r} and {name!r}")
        for name, scores in systems.items()
    }


def _aligned(first: QueryScores, second: QueryScores, names: str) -> QueryScores:
    if unpaired := set(first.metrics) ^ set(second.metrics):
        raise ValueError(
            f"{names} must have the same metrics; only one of them has "
            f"{', '.join(sorted(unpaired))}."
        )
    is_same = second.metrics == first.metrics
    columns = slice(None) if is_same else [second.metrics.index(m) for m in first.metrics]
    rows = _matching_rows(first, second, names)
    weights = [np.ones(len(s)) if s.weights is None else s.weights for s in (first, second)]
    if not np.array_equal(weights[0], weights[1][rows]):
        raise ValueError(
            f"{names} must have the same query weights. Pass the same sample_weight for both."
        )
    values = second.values[rows][:, columns]
    clicks = second.select(rows).clicks
    return QueryScores(first.ids, values, first.metrics, first.weights, None, clicks)


def _matching_rows(baseline: QueryScores, model: QueryScores, names: str) -> Array | slice:
    """The row of the model for each query of the baseline."""
    if np.array_equal(baseline.ids, model.ids):
        return slice(None)
    row_of = {query: row for row, query in enumerate(as_keys(model.ids))}
    queries = as_keys(baseline.ids)
    if unpaired := set(queries) ^ row_of.keys():
        check_same_kind(queries, list(row_of), names)
        raise ValueError(
            f"{names} must be measured on the same queries; found "
            f"{counted(len(unpaired), 'query')} in only one of them "
            f"({examples(sorted(unpaired, key=repr))}). Compare results on the same test set."
        )
    return np.array([row_of[query] for query in queries])


def check_same_kind(first: Sequence[Any], second: Sequence[Any], names: str) -> None:
    """Refuse query ids that are text in one result and not in the other."""
    are_text = [{isinstance(query, str) for query in ids} for ids in (first, second)]
    if are_text[0].isdisjoint(are_text[1]):
        raise TypeError(
            f"{names} have query ids of different types, such as {first[0]!r} and {second[0]!r}. "
            "Convert those of one, by astype(str), before both are computed."
        )


def defined_for_all(systems: Mapping[str, QueryScores]) -> dict[str, QueryScores]:
    """Aligned systems, with nan where a metric is undefined for any of them."""
    undefined = np.any([np.isnan(scores.values) for scores in systems.values()], axis=0)
    return {
        name: with_fields(scores, values=np.where(undefined, np.nan, scores.values))
        for name, scores in systems.items()
    }


def paired_differences(first: QueryScores, second: QueryScores) -> QueryScores:
    """The difference of two aligned systems for each query."""
    differences = value_differences(first.values, second.values)
    return QueryScores(first.ids, differences, first.metrics, first.weights)


def value_differences(first: Array, second: Array) -> Array:
    """The second values minus the first; 0 where they differ only by rounding."""
    differences = second - first
    scale = np.maximum(np.maximum(np.abs(first), np.abs(second)), 1.0)
    differences[np.abs(differences) <= TOLERANCE * scale] = 0.0
    return differences


def difference_ranges(first: QueryScores, second: QueryScores) -> tuple[Array, Array]:
    """The lowest and the highest difference that each metric can have."""
    extremes = [f.reduce(s.values) for s in (first, second) for f in (np.fmin, np.fmax)]
    low, high = value_ranges(first.metrics, np.array(extremes))
    return low - high, high - low
