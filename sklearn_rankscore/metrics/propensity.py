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
from .definition import COUNT, METRICS, SELF_NORMALIZED, UNBIASED, Definition


def no_propensity_error(definition: Definition, reason: str = "", options: str = "") -> ValueError:
    """The error for a metric that clicks cannot estimate, with these options or at all."""
    sums, ratios = (
        [name for name, known in METRICS.items() if known.clicks == way]
        for way in (UNBIASED, SELF_NORMALIZED)
    )
    return ValueError(
        f"'{definition.name}{options}' takes no propensity: {reason or definition.clicks}. Metrics "
        f"that are sums over documents do: {', '.join(sums)} and, self-normalized, "
        f"{' and '.join(ratios)}."
    )


def check_clicks(metric: Any) -> None:
    """Refuse metrics that clicks cannot estimate, and options that count what has no click."""
    known, options = metric.definition, metric.ready
    if "propensity" not in known.options:
        raise no_propensity_error(known)
    if metric.is_adjusted:
        raise ValueError(
            "adjusted=True is not defined for clicks weighted by propensity=. Use one of the two."
        )
    if known.clicks_lack and options["denominator"] == known.clicks_lack:
        raise no_propensity_error(known, COUNT, f"(denominator={known.clicks_lack})")
    if options.get("normalize"):
        reason = "it divides by the highest gain, which clicks may not show"
        raise no_propensity_error(known, reason, "(normalize=true)")
    of_zero = float(_gain(options)(np.zeros(1))[0])
    if of_zero != 0:
        raise no_propensity_error(
            known,
            f"with these options the label 0 has the gain {of_zero:g}, but a document that was "
            "not examined has no click and must count nothing (use threshold=0, or a gain with "
            "gain(0) = 0)",
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
    n_documents, n_queries = len(queries.y_true), len(queries)
    if values.shape != (n_documents,) and not _is_aligned(values.shape, queries):
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


def _is_aligned(shape: tuple[int, ...], queries: Queries) -> bool:
    """Whether values of a two-dimensional shape are those of the documents in input order."""
    if shape == (len(queries.y_true), 1):
        return True
    grouping, width = queries.grouping, shape[-1]
    starts = np.arange(len(queries)) * width
    in_rows = grouping.rows is None and np.array_equal(grouping.starts, starts)
    return in_rows and shape == (len(queries), width) and bool((queries.sizes == width).all())


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
        "Name one of them, or pass the values themselves, one per document."
    )
