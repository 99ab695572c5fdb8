"""The rows of a forest plot."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ..inspection.comparison import Comparison
from ..inspection.intervals import Interval
from ..inspection.query_scores import QueryScores
from ..metrics.segment import ALL_QUERIES, Segment
from .display import align_by


class ForestRow(NamedTuple):
    """A value with its interval; the parts of its label are metric, system and segment."""

    parts: tuple[str, str, str]
    value: float
    interval: Interval
    system: int = 0


def rows_of_differences(comparison: Comparison, metric: Any) -> list[ForestRow]:
    """One row for each metric, model and segment."""
    if not isinstance(comparison, Comparison):
        raise TypeError(
            "comparison must be the result of compare; got a "
            f"{type(comparison).__name__}. Results of query_scores are passed as "
            "compare(scores), or to from_query_scores for their means."
        )
    chosen = select_metrics([d.metric for d in comparison], metric)
    return [
        ForestRow(
            (d.metric, f"{d.model} − {d.baseline}", segment_name(d.segment)),
            d.difference, d.interval,
        )
        for d in comparison
        if d.metric in chosen
    ]  # fmt: skip


def rows_of_means(
    systems: Mapping[str, QueryScores], metric: Any, by: Any, inference: Mapping[str, Any]
) -> list[ForestRow]:
    """One row for each metric, system and segment, where all queries come first."""
    rows = []
    if by is not None:
        systems, by = align_by(systems, by)
    for position, (name, scores) in enumerate(systems.items()):
        means, intervals = scores.mean(), scores.interval(**inference)
        segments = () if by is None and not scores.segments else scores.by(by, **inference)
        for chosen in select_metrics(scores.metrics, metric):
            parts = (chosen, str(name), segment_name(ALL_QUERIES))
            rows.append(ForestRow(parts, means[chosen], intervals[chosen], position))
            rows += [
                ForestRow((*parts[:2], segment_name(s.segment)), s.mean, s.interval, position)
                for s in segments
                if s.metric == chosen
            ]
    # the systems side by side
    metrics, labels = [row.parts[0] for row in rows], [row.parts[2] for row in rows]
    return sorted(
        rows, key=lambda row: (metrics.index(row.parts[0]), labels.index(row.parts[2]), row.system)
    )


def select_metrics(metrics: Iterable[str], chosen: str | Iterable[str] | None) -> list[str]:
    """Distinct metrics, or those of them that are chosen."""
    known = list(dict.fromkeys(metrics))
    names = known if chosen is None else [chosen] if isinstance(chosen, str) else list(chosen)
    if unknown := [name for name in names if name not in known]:
        raise KeyError(f"no metric {unknown[0]!r}; the metrics are {', '.join(known)}.")
    return names


def segment_name(segment: Segment) -> str:
    """``"device = phone"``, or ``"all queries"``."""
    return f"{segment.column} = {segment.value}" if segment.column else str(segment.value)


def common_and_own(parts: Sequence[tuple[str, ...]]) -> tuple[str, list[str]]:
    """The parts that all labels share, and labels of the others."""
    columns = list(zip(*parts, strict=True))
    varies = [len(set(column)) > 1 for column in columns]
    if not any(varies):
        varies[0] = True
    common = ", ".join(
        column[0]
        for column, v in zip(columns, varies, strict=True)
        if not v and column[0] != segment_name(ALL_QUERIES)
    )
    own = [", ".join(p for p, v in zip(row, varies, strict=True) if v) for row in parts]
    return common, own
