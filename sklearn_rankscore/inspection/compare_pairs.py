"""Differences between two systems, for all queries and by segment."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, permutations

import numpy as np

from .._typing import Array
from ..metrics.segment import ALL_QUERIES
from ..ranking.aggregate import scaled_weights
from .comparison import Correction
from .difference import Difference, agreed_sign
from .intervals import Interval, has_few_distinct, mean, standard_error
from .margins import margin_p_values, verdict
from .pairing import difference_ranges, paired_differences
from .query_results import QueryScores
from .query_values import with_fields
from .segment_bins import SegmentColumn
from .segment_scores import segment_parts, whole_part
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
    statistics: Callable[..., Array],
    margin: Array | None,
) -> Iterator[Difference]:
    """The differences of one pair, with p-values that are not adjusted yet.

    `statistics` are `pair_statistics`.
    """
    first, second = systems[baseline], systems[model]
    paired = paired_differences(first, second)
    by_metric = [*difference_ranges(first, second), *([] if margin is None else [margin])]
    for part in chain([whole_part(paired)], *(segment_parts(paired, c) for c in columns)):
        selected = paired.select(part.rows)
        numbers = selected.aggregate(statistics, (N_STATISTICS,), *by_metric)
        values = np.where(selected.included(), first.values[part.rows], np.nan)
        base = with_fields(selected, values=values).mean()
        values = np.where(selected.included(), second.values[part.rows], np.nan)
        of_model = with_fields(selected, values=values).mean()
        for metric, share, rest, of in zip(
            paired.metrics, part.shares, part.rest_p_values, numbers.T.tolist(), strict=True
        ):
            difference, error, low, high, is_few, p_value, sign, *margins, wins, ties, losses = of
            counts = np.nan_to_num([wins + ties + losses, wins, ties, losses]).astype(int).tolist()
            yield Difference(
                metric, model, baseline, part.segment, counts[0], float(share), base[metric],
                of_model[metric], difference, error, Interval(low, high), is_few == 1,
                p_value, p_value, int(np.nan_to_num(sign)), float(rest), *margins, *counts[1:],
            )  # fmt: skip


# the rows of `pair_statistics`
N_STATISTICS = 12


def pair_statistics(
    differences: Array,
    weights: Array,
    low: Array,
    high: Array,
    margin: Array | None = None,
    *,
    estimate: Callable[..., Array],
    p_values_of: Callable[..., Array],
    directions_of: Callable[..., Array],
) -> Array:
    """What is stated of the differences of each metric, which lie in [low, high]."""
    margins = np.full((2, differences.shape[1]), np.nan)
    if margin is not None:
        margins = margin_p_values(differences, weights, margin, low, high)
    signs = np.sign(differences)
    return np.vstack(
        [
            mean(differences, weights),
            standard_error(differences, weights),
            estimate(differences, weights, low, high),
            has_few_distinct(differences),
            p_values_of(differences, weights),
            directions_of(differences, weights),
            margins[0],
            margins.max(axis=0),  # equivalence is shown by both one-sided tests
            *((signs == sign).sum(axis=0) for sign in (1, 0, -1)),
        ]
    )


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
    stated = verdict(agreed_sign(difference), p_value, noninferiority, equivalence, level)
    return replace(
        difference,
        interval=Interval(low, high),
        adjusted_p_value=p_value,
        rest_p_value=None if difference.segment == ALL_QUERIES else rest,
        noninferiority_p_value=noninferiority if with_verdict else None,
        equivalence_p_value=equivalence if with_verdict else None,
        verdict=stated if with_verdict else None,
    )
