"""Results of permuting features."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._table import Table, html_of_fields
from .._typing import IntervalMethod
from .._validation import counted
from .comparison import few_distinct_note
from .intervals import Interval, number_text
from .permuted_features import Within
from .query_results import QueryScores
from .tabular import Tabular


@dataclass(frozen=True)
class FeatureImportance:
    """Decrease of a metric if one feature is permuted.

    Parameters
    ----------
    feature, metric : str
        Name of the feature, "x0", "x1", ... for an array, and of the metric.
    importance : float
        Mean over queries and repeats of the value minus the value with the feature permuted.
    interval : Interval
        Confidence interval of the mean over queries.
    few_distinct : bool
        Whether fewer than six queries differ from the most common loss. The interval of
        ``method="auto"`` is then a bound that follows from the range of the metric, and nan without
        a known range. False for a feature that no permutation changes, such as one that is constant
        within queries: its loss and both ends of its interval are exactly 0.
    standard_error : float
        Its standard error, over queries.
    repeats : tuple of float
        The mean over queries of each repeat; scikit-learn's `importances`.
    """

    feature: str
    metric: str
    importance: float
    interval: Interval
    few_distinct: bool
    standard_error: float
    repeats: tuple[float, ...]

    def _repr_html_(self) -> str:
        return html_of_fields(self)


@dataclass(frozen=True, repr=False)
class QueryImportances(Tabular):
    """What `query_permutation_importance` returns: one `FeatureImportance` per feature and metric.

    Iteration yields them; ``importances["price", "ndcg@10"]`` selects one.

    Parameters
    ----------
    baseline : QueryScores
        The scores with no feature permuted.
    deltas : dict of str to QueryScores
        For each feature, the decrease for each query, averaged over repeats.
    importances : tuple of FeatureImportance
        By metric, the most important feature first.
    within : {"query", "all"}
        Rows among which features were permuted.
    confidence : float
        Confidence level of the intervals.
    method : {"auto", "t", "bootstrap"}
        How the intervals were computed.

    Notes
    -----
    `to_frame` has one row per feature and metric, with the columns "feature", "metric",
    "importance", "low", "high", "standard_error" and "repeat_std", the standard deviation over
    repeats.
    """

    baseline: QueryScores
    deltas: dict[str, QueryScores]
    importances: tuple[FeatureImportance, ...]
    within: Within
    confidence: float
    method: IntervalMethod = "auto"

    def __iter__(self) -> Iterator[FeatureImportance]:
        return iter(self.importances)

    def __len__(self) -> int:
        return len(self.importances)

    def __getitem__(self, key: tuple[str, str]) -> FeatureImportance:
        for entry in self:
            if (entry.feature, entry.metric) == tuple(key):
                return entry
        metrics = ", ".join(self.baseline.metrics)
        raise KeyError(f"no importance {key!r}; features are {', '.join(self.deltas)} and metrics "
                       f"are {metrics}.")  # fmt: skip

    def _columns(self) -> dict[str, Any]:
        return {
            "feature": [e.feature for e in self],
            "metric": [e.metric for e in self],
            "importance": [e.importance for e in self],
            "low": [e.interval.low for e in self],
            "high": [e.interval.high for e in self],
            "standard_error": [e.standard_error for e in self],
            "repeat_std": [float(np.std(e.repeats)) for e in self],
        }

    def _table(self) -> Table:
        place = "within queries" if self.within == "query" else "over all rows"
        header = ("", "", "importance", f"{self.confidence * 100:g} % interval", "std of repeats")
        rows = [
            (e.metric, e.feature, number_text(e.importance, "+.4f"),
             f"{e.interval:+.4f}{'*' if e.few_distinct else ''}", f"{np.std(e.repeats):.4f}")
            for e in self
        ]  # fmt: skip
        queries = counted(len(self.baseline), "query")
        title = f"Loss if a feature is permuted {place}, {queries}"
        note = few_distinct_note(self, self.method)
        return Table(title, header, rows, n_labels=2, note=note)
