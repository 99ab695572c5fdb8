"""Whether one model is better than another, query by query."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..metrics.options import check_count, choice
from ..ranking.arrays import Array
from .query_scores import Interval, QueryScores
from .resampling import (
    ROUNDING,
    generator,
    holm,
    sign_flip_p_values,
    t_p_values,
    wilcoxon_p_values,
)
from .table import Table, frame

TESTS = ("permutation", "t", "wilcoxon")


@dataclass(frozen=True)
class Difference:
    """What a model's mean is above the baseline's, for one metric.

    Parameters
    ----------
    metric, model : str
        What is compared.
    baseline_mean, model_mean : float
        Means over the queries on which the metric is defined for both.
    difference : float
        Their difference; positive where the model's values are higher.
    interval : Interval
        Confidence interval of the difference.
    p_value, corrected : float
        p-value, two-sided, and the same corrected for the number of tests.
    wins, ties, losses : int
        Number of queries on which the model's value is higher, equal and lower.
    """

    metric: str
    model: str
    baseline_mean: float
    model_mean: float
    difference: float
    interval: Interval
    p_value: float
    corrected: float
    wins: int
    ties: int
    losses: int


@dataclass(frozen=True, repr=False)
class Comparison:
    """What `compare` returns: one `Difference` for each metric and model.

    Parameters
    ----------
    baseline : str
        The model that the others are compared with.
    differences : tuple of Difference
        By metric, then by model; ``comparison["ndcg@10", "tuned"]`` picks one.
    confidence : float
        Level of the intervals.
    test, correction : str
        Where the p-values come from.
    """

    baseline: str
    differences: tuple[Difference, ...]
    confidence: float
    test: str
    correction: str | None

    def __getitem__(self, metric_and_model: tuple[str, str]) -> Difference:
        for one in self.differences:
            if (one.metric, one.model) == metric_and_model:
                return one
        known = ", ".join(repr((d.metric, d.model)) for d in self.differences)
        raise KeyError(f"no comparison {metric_and_model!r}; there are {known}.")

    def to_frame(self, library: str = "pandas") -> Any:
        """One row for each metric and model.

        Parameters
        ----------
        library : {"pandas", "polars"}, default="pandas"
            Whose DataFrame.

        Returns
        -------
        DataFrame
            With the attributes of `Difference` as columns, the interval as "low" and "high".
        """
        rows = []
        for one in self.differences:
            row = {**vars(one), "low": one.interval.low, "high": one.interval.high}
            del row["interval"]
            rows.append(row)
        return frame({name: [row[name] for row in rows] for name in rows[0]}, library)

    def __repr__(self) -> str:
        return self._table().text()

    def _repr_html_(self) -> str:
        return self._table().html()

    def _table(self) -> Table:
        p = "p" if self.correction is None else f"p ({self.correction})"
        interval = f"{self.confidence * 100:g} % interval"
        header = ("", "", "baseline", "mean", "difference", interval, p, "wins/ties/losses")
        rows = [
            (
                one.metric,
                one.model,
                f"{one.baseline_mean:.4f}",
                f"{one.model_mean:.4f}",
                f"{one.difference:+.4f}",
                f"[{one.interval.low:+.4f}, {one.interval.high:+.4f}]",
                f"{one.corrected:.4f}",
                f"{one.wins}/{one.ties}/{one.losses}",
            )
            for one in self.differences
        ]
        title = f"Compared with {self.baseline!r} by the {self.test} test"
        return Table(title, header, rows, n_labels=2)


def compare(
    systems: Mapping[str, QueryScores],
    *,
    baseline: str | None = None,
    test: str = "permutation",
    correction: str | None = "holm",
    confidence: float = 0.95,
    method: str = "bootstrap",
    n_resamples: int = 9999,
    random_state: Any = None,
) -> Comparison:
    """Compare models query by query with a baseline.

    Parameters
    ----------
    systems : mapping of str to QueryScores
        Results of at least two models for the same queries, weights and metrics.
    baseline : str, default=None
        The model that all others are compared with; None takes the first.
    test : {"permutation", "t", "wilcoxon"}, default="permutation"
        How p-values come about: flip the sign of each query's difference at random, Student's
        paired t test, or Wilcoxon's signed-rank test (equal weights only). All are two-sided.
    correction : {"holm", None}, default="holm"
        Correct the p-values for the number of tests, here all metrics times models, so that the
        chance of any false difference in the table stays below the level.
    confidence : float, default=0.95
        Level of the intervals, which are not corrected.
    method : {"bootstrap", "t"}, default="bootstrap"
        How intervals come about, see `QueryScores.interval`.
    n_resamples : int, default=9999
        Number of resamples of bootstrap and permutation test. With so few queries that all
        assignments of signs are no more, the permutation test is exact.
    random_state : int, RandomState instance, Generator or None, default=None
        Seed of bootstrap and permutation test.

    Returns
    -------
    Comparison
        A table of differences with intervals, p-values, wins, ties and losses.

    Raises
    ------
    ValueError
        If the queries, weights or metrics of two models differ, or an argument is out of range.
    TypeError
        If `systems` does not hold results of `query_scores`.

    See Also
    --------
    cross_val_query_scores : Results on all queries instead of one test set.

    Notes
    -----
    Queries are paired by id, in whatever order they come. A query on which a metric is undefined
    for either model is left out of that metric. Differences within rounding (1e-12) are ties.

    References
    ----------
    .. [1] M. D. Smucker, J. Allan, B. Carterette. A Comparison of Statistical Significance Tests
       for Information Retrieval Evaluation. CIKM 2007. https://doi.org/10.1145/1321440.1321528

    Examples
    --------
    >>> from sklearn_rankscore import compare, make_ranking, query_scores
    >>> X, y, groups = make_ranking(random_state=0)
    >>> systems = {
    ...     name: query_scores(y, scores, "ndcg@10", groups=groups)
    ...     for name, scores in {"feature": X[:, 0], "noisy": X[:, 0] + X[:, 9]}.items()
    ... }
    >>> found = compare(systems, random_state=0)["ndcg@10", "noisy"]
    >>> found.difference < 0, found.corrected < 0.05
    (True, True)
    """
    baseline, challengers = _models(systems, baseline)
    choice("test", test, TESTS)
    choice("correction", correction, ("holm", None))
    n_resamples, random = check_count("n_resamples", n_resamples, 1), generator(random_state)
    found: list[Difference] = []
    for name in challengers:
        differences = paired(systems[baseline], systems[name], (baseline, name))
        p_values = _p_values(differences, test, n_resamples, random)
        intervals = differences.interval(
            confidence, method=method, n_resamples=n_resamples, random_state=random
        )
        found += _rows(systems[baseline], differences, name, intervals, p_values)
    metrics = systems[baseline].metrics
    found.sort(key=lambda one: metrics.index(one.metric))
    if correction == "holm":
        corrected = holm(np.array([one.p_value for one in found])).tolist()
        found = [
            dataclasses.replace(one, corrected=p) for one, p in zip(found, corrected, strict=True)
        ]
    return Comparison(baseline, tuple(found), confidence, test, correction)


def paired(
    baseline: QueryScores, model: QueryScores, names: tuple[str, str] = ("baseline", "model")
) -> QueryScores:
    """Difference of two models for each query, in the order of the baseline."""
    order = _positions(baseline, model, names)
    if baseline.metrics != model.metrics and set(baseline.metrics) != set(model.metrics):
        odd = sorted(set(baseline.metrics) ^ set(model.metrics))
        raise ValueError(
            f"{names[0]!r} and {names[1]!r} have different metrics: {', '.join(odd)} came for one "
            "of them only."
        )
    columns = np.array([model.metrics.index(metric) for metric in baseline.metrics])
    weights = None if model.weights is None else model.weights[order]
    if not np.array_equal(_or_ones(baseline.weights, order), _or_ones(weights, order)):
        raise ValueError(f"{names[0]!r} and {names[1]!r} have different query weights.")
    differences = model.values[np.ix_(order, columns)] - baseline.values
    differences[np.abs(differences) <= ROUNDING] = 0.0
    return QueryScores(baseline.ids, differences, baseline.metrics, baseline.weights)


def _or_ones(weights: Array | None, like: Array) -> Array:
    return np.ones(len(like)) if weights is None else weights


def _positions(baseline: QueryScores, model: QueryScores, names: tuple[str, str]) -> Array:
    """Where the model has each query of the baseline."""
    place = {query: i for i, query in enumerate(model.ids.tolist())}
    queries = baseline.ids.tolist()
    if odd := set(queries) ^ place.keys():
        some = ", ".join(sorted(map(repr, odd))[:5]) + (", …" if len(odd) > 5 else "")
        raise ValueError(
            f"{names[0]!r} and {names[1]!r} were not measured on the same queries: {len(odd)} "
            f"came for one of them only ({some}). Compare results on the same queries."
        )
    return np.array([place[query] for query in queries])


def _models(systems: Any, baseline: str | None) -> tuple[str, list[str]]:
    """The baseline, and the others."""
    if not isinstance(systems, Mapping) or not all(
        isinstance(scores, QueryScores) for scores in systems.values()
    ):
        raise TypeError(
            "compare takes a dict of names to the results of query_scores or "
            f"cross_val_query_scores; got {type(systems).__name__}."
        )
    if len(systems) < 2:
        raise ValueError(f"compare needs at least two models; got {len(systems)}.")
    if baseline is None:
        baseline = next(iter(systems))
    elif baseline not in systems:
        raise ValueError(f"baseline={baseline!r} is not one of {', '.join(map(repr, systems))}.")
    return baseline, [name for name in systems if name != baseline]


def _p_values(
    differences: QueryScores, test: str, n_resamples: int, random: np.random.Generator
) -> Array:
    p_values = np.full(len(differences.metrics), np.nan)
    for columns, values, weights in differences.parts():
        if not len(values):
            continue
        if test == "permutation":
            p_values[columns] = sign_flip_p_values(values, weights, n_resamples, random)
        elif test == "t":
            p_values[columns] = t_p_values(values, weights)
        elif np.ptp(weights) > 0:
            raise ValueError(
                "test='wilcoxon' knows no query weights; use 'permutation' or 't', or leave "
                "sample_weight out."
            )
        else:
            p_values[columns] = wilcoxon_p_values(values, weights)
    return p_values


def _rows(
    baseline: QueryScores,
    differences: QueryScores,
    name: str,
    intervals: dict[str, Interval],
    p_values: Array,
) -> list[Difference]:
    counted = differences.counted()
    both = np.where(counted, baseline.values, np.nan)
    means = QueryScores(baseline.ids, both, baseline.metrics, baseline.weights).mean()
    rows = []
    for j, (metric, difference) in enumerate(differences.mean().items()):
        signs = np.sign(differences.values[counted[:, j], j])
        p = float(p_values[j])
        wins, ties, losses = (int((signs == sign).sum()) for sign in (1, 0, -1))
        rows.append(
            Difference(
                metric, name, means[metric], means[metric] + difference, difference,
                intervals[metric], p, p, wins, ties, losses,
            )
        )  # fmt: skip
    return rows
