"""Clicks, each weighted by the inverse probability that its document was examined."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from numbers import Integral
from typing import Any

import numpy as np

from .._columns import as_numbers, column_at
from .._typing import Array
from .._validation import check_number, check_propensity_range, counted
from ..query_ids.lookup import check_same_order, column_or_level
from ..ranking import Block, Queries
from ..ranking.derived import weighted_block
from ..ranking.label_functions import relevant
from .definition import COUNT, METRICS, SELF_NORMALIZED, UNBIASED, Definition


def no_propensity_error(metric: str, reason: str | None = None) -> ValueError:
    """The error for a metric that clicks cannot estimate."""
    reason = reason or METRICS.get(metric, Definition).clicks
    sums, ratios = (
        [name for name, known in METRICS.items() if known.clicks == way]
        for way in (UNBIASED, SELF_NORMALIZED)
    )
    return ValueError(
        f"{metric!r} takes no propensity: {reason}. Metrics that are sums over documents do: "
        f"{', '.join(sums)} and, self-normalized, {' and '.join(ratios)}."
    )


def check_data_option(metric: str, option: str) -> None:
    """Refuse options that are no options of a metric with the reason."""
    if option in ("propensity", "clip"):
        raise no_propensity_error(metric)
    if option == "target":
        raise ValueError(
            f"{metric!r} has no option 'target': it names a column of X, which only scorers "
            "receive (scoring=, make_ranking_scorer). Otherwise, pass the other labels as y_true."
        )


def weighted_gains(metric: Any, queries: Queries, weights: Array) -> Callable[[Block], Any]:
    """A metric as a function of a block of numbered documents, with gains times weights."""
    if metric.definition is None:
        raise no_propensity_error("a function of a block")
    refuse_adjusted_clicks(metric.is_adjusted, weights)
    options: dict[str, Any] = metric.function.keywords
    _check_click_options(metric.definition, options)
    _check_total_gain(queries, weights, options)
    return lambda block: metric.function(weighted_block(block, queries.y_true, weights))


def refuse_adjusted_clicks(adjust: bool, propensity: Any) -> None:
    """Refuse weighted clicks, whose estimate has no known expectation over random orders."""
    if adjust and propensity is not None:
        raise ValueError(
            "adjusted=True is not defined for clicks weighted by propensity=. Use one of the two."
        )


def click_weights(propensity: Array, clip: float | None) -> Array:
    """The inverse of each propensity, those below `clip` raised to it."""
    with np.errstate(over="ignore"):
        return np.asarray(1.0 / (propensity if clip is None else np.maximum(propensity, clip)))


def check_clip(clip: Any) -> float | None:
    """The least propensity that counts, in (0, 1]; None for all."""
    if clip is None:
        return None
    if check_number("clip", clip, 0, 1) == 0:
        raise ValueError("clip must be above 0, or None for no clipping; got 0.")
    return float(clip)


def clips_nothing_error(clip: float) -> ValueError:
    """The error for a clip without propensities."""
    return ValueError(f"clip={clip:g} raises small propensities, but propensity= is not given.")


def _check_click_options(definition: Definition, options: dict[str, Any]) -> None:
    """Refuse metrics that clicks cannot estimate, and options that count what has no click."""
    name = definition.name
    if definition.clicks not in (UNBIASED, SELF_NORMALIZED):
        raise no_propensity_error(name)
    if definition.clicks_lack and options["denominator"] == definition.clicks_lack:
        raise no_propensity_error(f"{name}(denominator={definition.clicks_lack})", COUNT)
    if options.get("normalize"):
        raise no_propensity_error(
            f"{name}(normalize=true)", "it divides by the highest gain, which clicks may not show"
        )
    of_zero = float(_gain(options)(np.zeros(1))[0])
    if of_zero != 0:
        raise no_propensity_error(
            name,
            f"with these options the label 0 has the gain {of_zero:g}, but a document that was "
            "not examined has no click and must count nothing (use threshold=0, or a gain with "
            "gain(0) = 0)",
        )


def _gain(options: dict[str, Any]) -> Callable[[Array], Array]:
    gain: Callable[[Array], Array] = options.get("gain") or relevant(options["threshold"])
    return gain


def _check_total_gain(queries: Queries, weights: Array, options: dict[str, Any]) -> None:
    """Refuse weighted gains whose sum over a query is not finite."""
    with np.errstate(over="ignore", invalid="ignore"):
        gains = _gain(options)(queries.y_true.astype(np.float64)) * weights
        total = gains.max() * queries.sizes.max()
    if not np.isfinite(total):
        raise ValueError(
            "propensity has values so small that gains divided by them are not finite. Raise them "
            "with clip=, such as clip=0.01."
        )


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
