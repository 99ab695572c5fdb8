"""Clicks, each weighted by the inverse probability that its document was examined."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np

from .._columns import as_numbers, column_at
from .._typing import Array
from .._validation import check_propensity_range, counted
from ..query_ids.lookup import check_same_order, column_or_level
from ..ranking import Block, Queries
from ..ranking.derived import weighted_block
from ..ranking.label_functions import relevant
from ..ranking.queries import apply_rule
from .definition import METRICS, UNBIASED, Definition


def no_propensity_error(definition: Definition) -> ValueError:
    """The error for a metric that clicks cannot estimate."""
    able = [name for name, known in METRICS.items() if known.clicks]
    return ValueError(
        f"{definition.name!r} takes no propensity: it is not known to be a sum over documents. "
        f"Metrics that are one, or a ratio of two, do: {', '.join(able)}."
    )


def check_clicks(metric: Any) -> None:
    """Refuse metrics that clicks cannot estimate, and options that count what has no click."""
    definition, options = metric.definition, metric.ready
    if not definition.clicks:
        raise no_propensity_error(definition)
    lacks, undefined = definition.clicks_lack, metric.replace_undefined_by
    refused = {
        "adjusted=True": metric.is_adjusted,
        f"denominator={lacks!r}": lacks and options["denominator"] == lacks,
        "normalize=True": options.get("normalize"),
        "a gain of the label 0 (use threshold=0, or a gain with gain(0) = 0)": (
            _gain(options)(np.zeros(1))[0] != 0
        ),
        # a query without a click is one of the estimate's summands
        f"replace_undefined_by={undefined:g}": definition.clicks == UNBIASED and undefined != 0,
    }
    for option, is_given in refused.items():
        if is_given:
            raise ValueError(
                f"{definition.name!r} takes no propensity with {option}: clicks show only some of "
                "the relevant documents, and the others must count nothing."
            )


def of_clicks(
    metric: Any, given: Queries, queries: Queries, data: Sequence[Any]
) -> Callable[[Block], Any]:
    """A metric as a function of a block of numbered documents, with gains times weights.

    `given` are the documents as they were given, `queries` those under the rule for unjudged ones.
    """
    propensity = read_propensity(metric.propensity, given, data)
    # in the place of scores, so that the rule leaves out the same documents
    propensity = apply_rule(replace(given, y_score=propensity), metric.unjudged).y_score
    if not len(propensity):
        return metric.function  # type: ignore[no-any-return]
    with np.errstate(over="ignore", invalid="ignore"):
        weights = 1.0 / (propensity if metric.clip is None else np.maximum(propensity, metric.clip))
        gains = _gain(metric.ready)(queries.y_true.astype(np.float64)) * weights
        total = gains.max() * queries.sizes.max()
    if not np.isfinite(total):
        raise ValueError(
            "propensity has values so small that gains divided by them are not finite. Raise them "
            "with clip=, such as clip=0.01."
        )
    return lambda block: metric.function(weighted_block(block, queries.y_true, weights))


def _gain(options: dict[str, Any]) -> Callable[[Array], Array]:
    gain: Callable[[Array], Array] = options.get("gain") or relevant(options["threshold"])
    return gain


def read_propensity(given: Any, queries: Queries, data: Sequence[Any]) -> Array:
    """One propensity per document from an array, or from a column or index level of `data`."""
    if data:
        check_same_order(**dict(zip(("y_true", "y_score"), data, strict=False)), propensity=given)
    is_place = isinstance(given, str | Integral)
    shown = f"propensity {given!r}" if is_place else "propensity"
    values = find_column(given, data, "propensity") if is_place else given
    values = check_propensities(values, shown)
    n_documents, n_queries, grouping = len(queries.y_true), len(queries), queries.grouping
    shapes: list[Any] = [(n_documents,), (n_documents, 1)]
    # two-dimensional values of queries that stand in the order of their ids
    starts = np.arange(n_queries) * (width := n_documents // n_queries)
    if grouping.rows is None and np.array_equal(grouping.starts, starts):
        shapes.append((n_queries, width))
    if values.shape not in shapes or values.size != n_documents:
        raise ValueError(
            f"{shown} must hold one probability per document: got shape {values.shape} for "
            f"{n_documents} documents in {counted(n_queries, 'query')}."
        )
    return values.ravel()


def check_propensities(given: Any, shown: str) -> Array:
    """Numbers in (0, 1]."""
    values = as_numbers(given, shown).astype(np.float64)
    check_propensity_range(shown, values)
    return values


def find_column(source: Any, data: Iterable[Any], option: str) -> Any:
    """The column or index level of that name, or the column at that position.

    It is that of the first of `data` that has it.
    """
    for table in data:
        if isinstance(source, str):
            values = column_or_level(table, source)
        else:
            values = column_at(table, source)
        if values is not None:
            return values
    raise ValueError(
        f"{option}={source!r} is neither a column of X nor an index level of X or of the labels. "
        "Name one of them; functions of predictions also take the values, one per document."
    )
