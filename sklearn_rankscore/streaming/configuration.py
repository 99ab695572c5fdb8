"""The metrics and options of accumulators, which must be equal to merge them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..metrics.metric import Metric
from ..metrics.resolve import resolve_all


@dataclass(frozen=True)
class Configuration:
    """Metrics and options of an accumulator, to be compared with those of another.

    Parameters
    ----------
    names : list of str
        Names of the metrics.
    options : dict
        Options of the accumulator and of the metrics.
    codes : list
        The compiled code of each function, which tells functions of the same name apart.
    """

    names: list[str]
    options: dict[str, Any]
    codes: list[Any]

    @classmethod
    def of(cls, names: list[str], metrics: list[Any], options: dict[str, Any]) -> Configuration:
        """The configuration of metrics that were given as `metrics` and are shown as `names`."""
        functions = (metric.func if isinstance(metric, partial) else metric for metric in metrics)
        return cls(names, options, [getattr(function, "__code__", None) for function in functions])

    def __str__(self) -> str:
        options = ", ".join(f"{name}={value!r}" for name, value in self.options.items())
        return f"{', '.join(self.names)} ({options})"


def listed(metrics: Any) -> list[Any]:
    """The metrics as a list, which for a single metric has one entry."""
    if isinstance(metrics, str) or callable(metrics) or not isinstance(metrics, Iterable):
        return [metrics]
    return list(metrics)


def comparable(option: Any) -> Any:
    """An option that can be compared: a table of gains becomes a tuple."""
    return tuple(np.asarray(option).tolist()) if isinstance(option, list | np.ndarray) else option


def resolve_averaged(
    metrics: list[Any], like: str | None, options: dict[str, Any]
) -> dict[str, Metric]:
    """Metrics by their names, each averaged over queries."""
    resolved = resolve_all(metrics, like=like, **options)
    if any(metric.average is None for metric in resolved.values()):
        raise ValueError(
            "average=None gives one value per query, which an accumulator does not store; use "
            "per_query=True and query_values()."
        )
    return resolved
