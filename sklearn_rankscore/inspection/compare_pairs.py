"""Differences between two systems, for all queries and by segment."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import permutations

import numpy as np

from .._typing import Array
from ..metrics.segment import ALL_QUERIES, Segment
from ..ranking.aggregate import scaled_weights
from .comparison import Correction
from .difference import Difference
from .intervals import Interval, has_few_distinct, standard_error
from .margins import margin_p_values, verdict
from .pairing import difference_ranges, paired_differences
from .query_results import QueryScores
from .segment_scores import rest_p_values, weight_shares
from .segments import SegmentColumn
from .significance import holm
from .tukey import tukey_p_values


def n_segments(columns: Sequence[SegmentColumn]) -> int:
    """How many segments are compared, where all queries are one."""
    return 1 + sum(len(column.values) for column in columns)


def compare_segments(
    baseline: str,
    model: str,
    systems: Mapping[str, QueryScores],
    columns: Sequence[SegmentColumn],
    measure: Callable[..., list[Difference]],
) -> Iterator[Difference]:
    """The differences of one pair, with p-values that are not adjusted yet."""
    first, second = systems[baseline], systems[model]
    paired = paired_differences(first, second)
    ranges = difference_ranges(first, second)
    weights = np.ones(len(paired)) if paired.weights is None else scaled_weights(paired.weights)

    def of(segment: Segment, rows: Array | slice, rest: Array) -> list[Difference]:
        part, values = paired.select(rows), first.values[rows]
        shares = weight_shares(part, paired)
        return measure(baseline, model, segment, part, values, ranges, shares, rest)

    yield from of(ALL_QUERIES, slice(None), np.full(len(paired.metrics), np.nan))
    for column in columns:
        rest = rest_p_values(paired.values, weights, column)
        for (segment, rows), p_values in zip(column.segments(), rest, strict=True):
            yield from of(segment, rows, p_values)


def compare_pair(
    baseline: str,
    model: str,
    segment: Segment,
    paired: QueryScores,
    values: Array,
    ranges: tuple[Array, Array],
    shares: Array,
    rest: Array,
    *,
    estimate: Callable[..., Array],
    p_values_of: Callable[..., Array],
    margin: Array | None,
) -> list[Difference]:
    """The difference of each metric; `values` are those of the baseline."""
    included = paired.included()
    base = replace(paired, values=np.where(included, values, np.nan), segments=None).mean()
    ends = paired.aggregate(estimate, (2,), *ranges).T
    few = paired.aggregate(lambda values, _: has_few_distinct(values)) == 1
    errors, p_values = paired.aggregate(standard_error), paired.aggregate(p_values_of)
    margins = np.full((2, len(paired.metrics)), np.nan)
    if margin is not None:
        margins = paired.aggregate(margin_p_values, (2,), margin, *ranges)
    counts = [((np.sign(paired.values) == sign) & included).sum(axis=0) for sign in (1, 0, -1)]
    means = paired.mean()
    # equivalence is shown by both one-sided tests
    numbers = [p_values, p_values, rest, margins[0], margins.max(axis=0), *counts]
    return [
        Difference(
            metric, model, baseline, segment, int(n), float(share), base[metric],
            base[metric] + means[metric], means[metric], float(error), Interval(*pair),
            bool(is_few), *others,
        )
        for metric, n, share, error, pair, is_few, *others in zip(
            paired.metrics, included.sum(axis=0), shares, errors, ends.tolist(), few,
            *(column.tolist() for column in numbers), strict=True,
        )
    ]  # fmt: skip


def tukey_of_pairs(
    systems: Mapping[str, QueryScores], n_resamples: int, random: np.random.Generator
) -> dict[tuple[str, str, str], float]:
    """p-value of the Tukey HSD test by metric and pair; over queries defined for all systems."""
    first, p_values = next(iter(systems.values())), {}
    weights = np.ones(len(first)) if first.weights is None else scaled_weights(first.weights)
    for j, metric in enumerate(first.metrics):
        values = np.column_stack([scores.values[:, j] for scores in systems.values()])
        rows = (weights > 0) & ~np.isnan(values).any(axis=1)
        of_pairs = np.full((len(systems),) * 2, np.nan)
        if rows.any():
            of_pairs = tukey_p_values(values[rows], weights[rows], n_resamples, random)
        for (a, one), (b, other) in permutations(enumerate(systems), 2):
            p_values[metric, one, other] = float(of_pairs[a, b])
    return p_values


def adjust(
    differences: Sequence[Difference],
    correction: Correction,
    level: float,
    tukey: Mapping[tuple[str, str, str], float] | None,
    *,
    with_verdict: bool,
) -> tuple[Difference, ...]:
    """With p-values adjusted for the number of tests, and all that depends on them."""
    kinds = ("p_value", "rest_p_value", "noninferiority_p_value", "equivalence_p_value")
    raw = [np.array([getattr(d, kind) for d in differences]) for kind in kinds]
    adjusted = raw if correction is None else [holm(p_values) for p_values in raw]
    if tukey is not None:
        adjusted[0] = np.array([tukey[d.metric, d.baseline, d.model] for d in differences])
    return tuple(
        _adjust(difference, p_values, level, with_verdict)
        for difference, *p_values in zip(differences, *(p.tolist() for p in adjusted), strict=True)
    )


def _adjust(
    difference: Difference, p_values: Sequence[float], level: float, with_verdict: bool
) -> Difference:
    """With the adjusted p-values, and 0 within the interval if they are not significant."""
    p_value, rest, noninferiority, equivalence = p_values
    low, high = difference.interval
    if p_value > level:
        low, high = min(low, 0.0), max(high, 0.0)
    stated = verdict(difference.difference, p_value, noninferiority, equivalence, level)
    return replace(
        difference,
        interval=Interval(low, high),
        adjusted_p_value=p_value,
        rest_p_value=None if difference.segment == ALL_QUERIES else rest,
        noninferiority_p_value=noninferiority if with_verdict else None,
        equivalence_p_value=equivalence if with_verdict else None,
        verdict=stated if with_verdict else None,
    )
