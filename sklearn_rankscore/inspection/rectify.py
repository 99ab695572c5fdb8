"""Means of many machine judgments, corrected by a few human ones: prediction-powered inference.

A. N. Angelopoulos, J. C. Duchi, T. Zrnic. PPI++: Efficient Prediction-Powered Inference. 2023.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from scipy import stats

from .._table import Number, Table, html_of_fields
from .._typing import Array
from .._validation import check_choice, check_flag, check_fraction
from ..query_ids.read import as_keys
from ..ranking.aggregate import scaled_weights
from .compare import align, check_same_kind
from .intervals import (
    TOLERANCE,
    Interval,
    degrees_of_freedom,
    effective_share,
    has_few_distinct,
    standard_error,
)
from .query_scores import QueryScores
from .tabular import Tabular

RectifyMethod: TypeAlias = Literal["normal", "t"]
Scores: TypeAlias = QueryScores | Mapping[str, QueryScores]


@dataclass(frozen=True)
class RectifiedMean:
    """Mean of one metric, or difference of two systems, estimated from human and machine labels.

    Parameters
    ----------
    metric, system, versus : str
        Names of the metric, of the system, and of the system that it is compared with; `versus` is
        "" for a mean, and `system` is "" for a single system.
    estimate : float
        Estimate of the mean that human labels for all queries would give; unbiased if the power is
        not tuned, and otherwise with many human-labeled queries.
    interval : Interval
        Its confidence interval; nan like the standard error.
    standard_error : float
        Its standard error; nan if fewer than six values by human labels differ from the most common
        one, unless all values are different.
    human_mean, machine_mean : float
        Mean by the human labels alone, and by the machine labels of all queries alone.
    power : float
        Weight of the machine labels, from 0 to 1; 0 if they carry no information about the human
        labels.
    human_queries, machine_queries : int
        Number of queries with human labels, and of those with machine labels only; queries of
        weight 0 do not count.
    effective_queries : float
        Number of human-labeled queries that would give the same standard error without machine
        labels; nan like the standard error.
    """

    metric: str
    system: str
    versus: str
    estimate: float
    interval: Interval
    standard_error: float
    human_mean: float
    machine_mean: float
    power: float
    human_queries: int
    machine_queries: int
    effective_queries: float

    def _repr_html_(self) -> str:
        return html_of_fields(self)


@dataclass(frozen=True, repr=False)
class RectifiedScores(Tabular):
    """What `rectify` returns: one `RectifiedMean` per metric and system, and their differences.

    Iteration yields them. ``rectified["ndcg@10"]`` selects one of a single system,
    ``rectified["ndcg@10", "new"]`` that of one of several, and ``rectified["ndcg@10", "new",
    "old"]`` the difference of two.

    Parameters
    ----------
    means : tuple of RectifiedMean
        By metric: the systems, then the differences to the first of them.
    confidence : float
        Confidence level of the intervals.

    Notes
    -----
    `to_frame` has one row per mean or difference, with the attributes of `RectifiedMean` as
    columns and the interval as "low" and "high".
    """

    means: tuple[RectifiedMean, ...]
    confidence: float

    def __iter__(self) -> Iterator[RectifiedMean]:
        return iter(self.means)

    def __len__(self) -> int:
        return len(self.means)

    def __getitem__(self, key: str | tuple[str, ...]) -> RectifiedMean:
        wanted = (key,) if isinstance(key, str) else tuple(key)
        wanted += ("",) * (3 - len(wanted))
        keys: list[tuple[str, ...]] = [(m.metric, m.system, m.versus) for m in self]
        if wanted in keys:
            return self.means[keys.index(wanted)]
        known = ", ".join(repr(tuple(filter(None, k))) for k in keys)
        raise KeyError(f"no mean {key!r}; there are {known}.")

    def _columns(self) -> dict[str, Any]:
        rows = [{**vars(m), "low": m.interval.low, "high": m.interval.high} for m in self]
        names = list(RectifiedMean.__dataclass_fields__)
        place = names.index("interval")
        names[place : place + 1] = ["low", "high"]
        return {name: [row[name] for row in rows] for name in names}

    def _table(self) -> Table:
        header = ("", "", "human", "machine", "rectified", f"{self.confidence * 100:g} % interval",
                  "power", "queries", "effective")  # fmt: skip
        rows = [
            (m.metric, f"{m.system} - {m.versus}" if m.versus else m.system,
             m.human_mean, m.machine_mean, m.estimate, Number(m.interval), f"{m.power:.2f}",
             int(m.human_queries), f"{m.effective_queries:,.0f}")
            for m in self
        ]  # fmt: skip
        n = f"{self.means[0].human_queries:,} human and {self.means[0].machine_queries:,} machine"
        return Table(f"Means rectified by {n} queries", header, rows, n_labels=2)


def rectify(
    human: Scores,
    machine: Scores,
    machine_on_all: Scores,
    *,
    power_tuning: bool = True,
    method: RectifyMethod = "normal",
    confidence: float = 0.95,
) -> RectifiedScores:
    """Correct the mean of many machine-labeled queries by a few human-labeled queries.

    The mean computed from machine labels has a small standard error, but is biased by the errors of
    the machine. This bias is estimated from the queries that have both kinds of labels. The result
    estimates the mean that human labels for all queries would give, for any errors of the machine,
    and with `power_tuning` its interval is never much longer than that of the human labels alone
    [2]_. With uninformative machine labels, ``power_tuning=False`` [1]_ lengthens it::

        power * mean(machine, all other queries) + mean(human - power * machine, same queries)

    Parameters
    ----------
    human : QueryScores, or dict of str to QueryScores
        Scores computed from human labels, of queries drawn at random from all queries. For several
        systems, a dict from their names to their scores; each is then also compared with the first.
    machine : QueryScores or dict
        Scores of the same systems, metrics and queries by machine labels.
    machine_on_all : QueryScores or dict
        Scores computed from machine labels, of all queries or of all other queries: queries of
        `human` are not counted twice.
    power_tuning : bool, default=True
        Whether to choose the value of `power` that minimizes the standard error; it is 0 if the
        machine labels carry no information. False means 1, the estimator of [1]_, which is unbiased
        for any number of queries; a tuned one can have a bias with fewer than about 50
        human-labeled queries.
    method : {"normal", "t"}, default="normal"
        "normal" is the interval of the references, whose coverage is too low with fewer than about
        50 human-labeled queries, or more if their weights are unequal; "t" uses Student's t
        distribution. Neither has an interval if fewer than six human-labeled queries differ from
        the most common value, such as ``recall@k`` of 1, unless all values are different: label
        more queries.
    confidence : float, default=0.95
        Confidence level of the intervals.

    Returns
    -------
    RectifiedScores
        A table of means and differences with their intervals, and the number of human-labeled
        queries that would give the same standard error.

    Raises
    ------
    ValueError
        If queries, metrics, systems or weights do not correspond, a value is undefined, there are
        fewer than two human-labeled queries or fewer than two others.
    TypeError
        If the scores are not `QueryScores`.

    See Also
    --------
    query_scores : Scores by one kind of labels.
    sklearn.metrics.cohen_kappa_score : Agreement of human and machine labels.

    Notes
    -----
    Without weights, the results equal those of ``ppi_mean_ci(human, machine, others)`` of the
    package ppi-python.

    References
    ----------
    .. [1] A. N. Angelopoulos, S. Bates, C. Fannjiang, M. I. Jordan, T. Zrnic. Prediction-Powered
       Inference. Science 382, 2023. https://doi.org/10.1126/science.adi6000
    .. [2] A. N. Angelopoulos, J. C. Duchi, T. Zrnic. PPI++: Efficient Prediction-Powered Inference.
       2023. https://doi.org/10.48550/arXiv.2311.01453

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_rankscore import QueryScores, rectify
    >>> random = np.random.default_rng(0)
    >>> truth = random.beta(4, 2, size=2000)
    >>> judged_by_machine = np.clip(truth + 0.1 + 0.1 * random.normal(size=2000), 0, 1)
    >>> machine = QueryScores(range(2000), judged_by_machine[:, None], ["ndcg"])
    >>> human = QueryScores(range(100), truth[:100, None], ["ndcg"])
    >>> mean = rectify(human, machine.select(slice(100)), machine)["ndcg"]
    >>> mean.interval.low < truth.mean() < mean.interval.high < mean.machine_mean
    True
    >>> mean.effective_queries > 2 * mean.human_queries
    True
    """
    check_flag("power_tuning", power_tuning)
    check_choice("method", method, get_args(RectifyMethod))
    confidence = check_fraction("confidence", confidence)
    given = [_by_system(scores) for scores in (human, machine, machine_on_all)]
    systems = list(given[0])
    if not systems or any(scores.keys() != given[0].keys() for scores in given):
        raise ValueError(
            "human, machine and machine_on_all must hold the same systems; got "
            + " and ".join(str([*scores]) for scores in given)
        )
    samples = _samples(*given)
    means = []
    for metric in given[0][systems[0]].metrics:
        of_metric = {name: samples[name].column(metric) for name in systems}
        entries = [(name, "", of_metric[name]) for name in systems]
        entries += [(n, systems[0], of_metric[n] - of_metric[systems[0]]) for n in systems[1:]]
        means += [
            sample.rectified(metric, name, versus, power_tuning, method, confidence)
            for name, versus, sample in entries
        ]
    return RectifiedScores(tuple(means), confidence)


def _by_system(scores: Scores) -> dict[str, QueryScores]:
    systems = dict(scores) if isinstance(scores, Mapping) else {"": scores}
    for of_system in systems.values():
        if not isinstance(of_system, QueryScores):
            raise TypeError(
                "human, machine and machine_on_all must be QueryScores, which query_scores "
                f"returns, or dicts of them; got {of_system!r:.80}."
            )
    return systems


@dataclass(frozen=True)
class _Scores:
    """Scores of one system: by human and machine labels, and by machine labels elsewhere."""

    human: QueryScores
    machine: QueryScores
    other: QueryScores

    def column(self, metric: str) -> Sample:
        given = [
            np.ones(len(s)) if s.weights is None else s.weights for s in (self.human, self.other)
        ]
        in_all = scaled_weights(np.concatenate(given))
        weights = [w / w.mean() for w in (in_all[: len(self.human)], in_all[len(self.human) :])]
        human_share = float(in_all[: len(self.human)].sum() / in_all.sum())
        values = [s[metric] for s in (self.human, self.machine, self.other)]
        if any(np.isnan(column).any() for column in values):
            raise ValueError(
                f"{metric!r} is undefined for some queries, and which these are may depend on the "
                "labels. Compute all scores with replace_undefined_by=0, or another number."
            )
        (human, machine, other), (own, others) = values, weights
        return Sample(human, machine, other, own, others, human_share)


def _samples(
    human: dict[str, QueryScores], machine: dict[str, QueryScores], on_all: dict[str, QueryScores]
) -> dict[str, _Scores]:
    """The scores of each system, with queries in the same order."""
    first = next(iter(human))
    # the names are those of the error messages
    judged = {f"human {name}".strip(): scores for name, scores in human.items()}
    judged |= {f"machine {name}".strip(): scores for name, scores in machine.items()}
    judged = align(judged, next(iter(judged)))
    elsewhere = align(on_all, first)
    queries, all_queries = as_keys(human[first].ids), as_keys(on_all[first].ids)
    check_same_kind(queries, all_queries, "human and machine_on_all")
    is_human = set(queries)
    repeated = np.array([query in is_human for query in all_queries])
    samples = {}
    for name in human:
        of_machine = judged[f"machine {name}".strip()]
        _check_repeated(of_machine, elsewhere[name].select(repeated) if repeated.any() else None)
        is_weighted, is_other = _counts(of_machine), _counts(elsewhere[name]) & ~repeated
        if is_weighted.sum() < 2 or is_other.sum() < 2:
            raise ValueError(
                "at least two queries with human labels and two others are needed, of a positive "
                f"weight; got {is_weighted.sum()} and {is_other.sum()}. Queries that human and "
                "machine_on_all share are taken from machine alone."
            )
        of_machine, other = of_machine.select(is_weighted), elsewhere[name].select(is_other)
        if set(other.metrics) != set(of_machine.metrics):
            raise ValueError(
                "human and machine_on_all must have the same metrics; got "
                f"{', '.join(of_machine.metrics)} and {', '.join(other.metrics)}."
            )
        of_human = judged[f"human {name}".strip()].select(is_weighted)
        samples[name] = _Scores(of_human, of_machine, other)
    return samples


def _counts(scores: QueryScores) -> Array:
    """Whether each query has a positive weight."""
    return np.ones(len(scores), dtype=bool) if scores.weights is None else scores.weights > 0


def _check_repeated(machine: QueryScores, repeated: QueryScores | None) -> None:
    """Refuse queries of the same id with other values."""
    if repeated is None:
        return
    row_of = {query: row for row, query in enumerate(as_keys(machine.ids))}
    rows = [row_of[query] for query in as_keys(repeated.ids)]
    for metric in set(machine.metrics) & set(repeated.metrics):
        differs = np.abs(machine[metric][rows] - repeated[metric]) > TOLERANCE
        if differs.any():
            raise ValueError(
                f"machine and machine_on_all have different values of {metric!r} for query "
                f"{repeated.ids[differs].tolist()[0]!r}. If they are different queries, give them "
                "different ids."
            )


@dataclass(frozen=True)
class Sample:
    """Values of queries by human and by machine labels, and of others by machine labels alone.

    Parameters
    ----------
    human, machine : array of shape (n_human,)
        Values of the same queries.
    other : array of shape (n_other,)
        Values of other queries, by machine labels.
    weights, other_weights : array
        Weights of the queries, with the mean 1.
    human_share : float
        Share of the queries with human labels in the weight of all queries.
    """

    human: Array
    machine: Array
    other: Array
    weights: Array
    other_weights: Array
    human_share: float

    def __sub__(self, baseline: Sample) -> Sample:
        """The differences to another system."""
        return Sample(
            self.human - baseline.human,
            self.machine - baseline.machine,
            self.other - baseline.other,
            self.weights,
            self.other_weights,
            self.human_share,
        )

    def power(self) -> float:
        """The weight of the machine labels for which the estimate has the least variance."""
        weights = np.concatenate([self.weights, self.other_weights])
        pooled = np.concatenate([self.machine, self.other])
        variance = np.var(weights * (pooled - np.average(pooled, weights=weights)), ddof=1)
        covariance = np.mean(
            _influence(self.human, self.weights) * _influence(self.machine, self.weights)
        )
        if variance == 0:
            return 0.0
        ratio = covariance / ((1 + len(self.human) / len(self.other)) * variance)
        return float(np.clip(ratio, 0, 1))

    def _has_few_distinct(self) -> bool:
        """Whether human labels give too few distinct values to estimate an error from.

        A few values that are all different do not suggest a common one.
        """
        all_differ = np.diff(np.sort(self.human)).min() > TOLERANCE
        return (
            bool(has_few_distinct(self.human[:, None], effective_share(self.weights))[0])
            and not all_differ
        )

    def rectified(
        self, metric: str, system: str, versus: str, tuned: bool, method: str, confidence: float
    ) -> RectifiedMean:
        """The estimate with its interval."""
        power = self.power() if tuned else 1.0
        corrections, others = self.human - power * self.machine, power * self.other
        parts = [
            _squared_error(corrections, self.weights, method),
            _squared_error(others, self.other_weights, method),
        ]
        human, machine = (np.average(x, weights=self.weights) for x in (self.human, self.machine))
        other = np.average(self.other, weights=self.other_weights)
        estimate = human + power * (other - machine)
        error = np.nan if self._has_few_distinct() else np.sqrt(sum(parts))
        margin = error * _quantile(parts, [self.weights, self.other_weights], method, confidence)
        n, n_other = len(self.human), len(self.other)
        of_human = _squared_error(self.human, self.weights, method)
        effective = n * of_human / error**2 if error else np.nan
        by_machine = self.human_share * machine + (1 - self.human_share) * other
        interval = Interval(float(estimate - margin), float(estimate + margin))
        return RectifiedMean(
            metric, system, versus, float(estimate), interval, float(error), float(human),
            float(by_machine), power, n, n_other, float(effective),
        )  # fmt: skip


def _influence(values: Array, weights: Array) -> Array:
    """What each query contributes to the error of the weighted mean."""
    return np.asarray(weights * (values - np.average(values, weights=weights)))


def _squared_error(values: Array, weights: Array, method: str) -> float:
    """Squared standard error of the weighted mean: that of the references, or of a t interval."""
    if method == "normal":
        return float(np.var(_influence(values, weights))) / len(values)
    return float(standard_error(values[:, None], weights)[0]) ** 2


def _quantile(parts: list[float], weights: list[Array], method: str, confidence: float) -> float:
    """Of the normal distribution, or of Student's with the degrees of freedom of Welch."""
    level = (1 + confidence) / 2
    total = sum(parts)
    if method == "normal" or total == 0:
        return float(stats.norm.ppf(level))
    dfs = map(degrees_of_freedom, weights)
    freedom = total**2 / sum(part**2 / df for part, df in zip(parts, dfs, strict=True))
    return float(stats.t.ppf(level, freedom))
