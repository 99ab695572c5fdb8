"""The metrics and options of accumulators, which must be equal to merge them."""

from __future__ import annotations

import operator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..metrics.metric import Metric
from ..metrics.resolve import resolve_all
from .fingerprint import fingerprint, is_portable

BY_NAME = (
    "evaluate_parquet, evaluate_batches and the functions of sklearn_rankscore.spark and "
    "sklearn_rankscore.dask take the column"
)


@dataclass(frozen=True)
class Configuration:
    """Metrics and options of an accumulator, to be compared with those of another.

    Parameters
    ----------
    metrics : dict of str to str
        The fingerprint of each metric under its name.
    options : dict of str to str
        The fingerprint of each option of the accumulator and of the metrics.
    shown : str
        Both as they appear in messages.
    given : list
        The metrics and the values of the options; the same objects are equal, even if they have
        changed since.
    """

    metrics: dict[str, str]
    options: dict[str, str]
    shown: str
    given: list[Any] = field(repr=False)

    @classmethod
    def of(cls, names: list[str], metrics: list[Any], options: dict[str, Any]) -> Configuration:
        """The configuration of metrics that were given as `metrics` and are shown as `names`."""
        # the name of a metric may be written in several ways
        texts = [
            fingerprint(name if isinstance(metric, str) else metric)
            for name, metric in zip(names, metrics, strict=True)
        ]
        values = {name: fingerprint(_plain_number(value)) for name, value in options.items()}
        options_shown = ", ".join(f"{name}={value!r}" for name, value in options.items())
        shown = f"{', '.join(names)} ({options_shown})"
        given = [*metrics, *(options[name] for name in sorted(options))]
        return cls(dict(zip(names, texts, strict=True)), values, shown, given)

    def __str__(self) -> str:
        return self.shown

    def difference(self, other: Configuration) -> str | None:
        """What differs, to follow "must be the same: "; None if nothing does."""
        if list(self.metrics) != list(other.metrics) or self.options.keys() != other.options.keys():
            return f"got {self} and {other}"
        if all(map(operator.is_, self.given, other.given)):
            return None
        both = [(self.metrics, other.metrics), (self.options, other.options)]
        names = [name for mine, theirs in both for name in mine if mine[name] != theirs[name]]
        if not names:
            return None
        functions = [name for name in names if name in self.metrics]
        reason = f" (two different functions are called {functions[0]!r})" if functions else ""
        return f"got {self} and {other}{reason}"

    def check_same(self, other: Configuration) -> None:
        """Refuse to merge accumulators of other metrics or options."""
        difference = self.difference(other)
        if difference is not None:
            raise ValueError(
                "accumulators can be merged if their metrics and options are the same; "
                f"{difference}."
            )

    @property
    def known_to_one_process(self) -> list[str]:
        """Names of metrics and options that cannot be compared with those of another process."""
        return [n for n, text in (self.metrics | self.options).items() if not is_portable(text)]


def comparable(option: Any) -> Any:
    """An option that can be compared: a table of gains becomes a tuple."""
    return tuple(np.asarray(option).tolist()) if isinstance(option, list | np.ndarray) else option


def _plain_number(option: Any) -> Any:
    """1 for 1.0, and for NumPy's, in tables too."""
    if isinstance(option, tuple):
        return tuple(map(_plain_number, option))
    option = option.item() if isinstance(option, np.generic) else option
    return int(option) if isinstance(option, float) and option.is_integer() else option


def resolve_averaged(
    metrics: list[Any], like: str | None, options: dict[str, Any]
) -> dict[str, Metric]:
    """Metrics by their names, each averaged over queries."""
    for argument, name in (("y_true", "label"), ("y_score", "score")):
        if argument in options:
            raise TypeError(
                f"{argument}= names no column. {BY_NAME} as {name}={str(options[argument])!r:.60}; "
                f"the method update of an accumulator takes {argument}=."
            )
    for option in ("groups", "qid", "query_id", "query", "group_id"):
        if option in options:
            raise TypeError(
                f"{option}= names no column. {BY_NAME} of query ids as group='qid'; the method "
                "update of an accumulator takes groups=ids."
            )
    for option in ("sample_weight", "weights"):
        if option in options:
            raise TypeError(
                f"{option}= names no column. {BY_NAME} of query weights as weight='w'; the method "
                "update of an accumulator takes sample_weight=weights."
            )
    resolved = resolve_all(metrics, like=like, **options)
    if any(metric.average is None for metric in resolved.values()):
        raise ValueError(
            "average=None gives one value per query, which an accumulator does not store; use "
            "per_query=True and query_values()."
        )
    for name, metric in resolved.items():
        if metric.propensity is not None or metric.clip is not None:
            option = "clip" if metric.propensity is None else "propensity"
            raise ValueError(
                f"{name!r}: accumulators, evaluate_parquet, Spark and Dask take no {option}. Use "
                "evaluate or query_scores, or compute each part by query_scores and join them."
            )
    return resolved
