"""Means of many machine judgments, corrected by a few human ones: prediction-powered inference.

A. N. Angelopoulos, J. C. Duchi, T. Zrnic. PPI++: Efficient Prediction-Powered Inference. 2023.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from scipy import stats

from .._table import Number, Table
from .._typing import Array
from .._validation import check_choice, check_flag, check_fraction, counted
from ..query_ids.read import comparable_ids
from ..ranking import scaled_weights
from .compare import align, check_query_scores, check_same_kind
from .intervals import (
    TOLERANCE,
    Interval,
    degrees_of_freedom,
    effective_share,
    has_few_distinct,
    standard_error,
)
from .query_scores import QueryScores
from .tabular import Record, Records

RectifyMethod: TypeAlias = Literal["normal", "t"]
Systems: TypeAlias = Mapping[str, QueryScores]
Scores: TypeAlias = QueryScores | Systems


@dataclass(frozen=True)
class RectifiedMean(Record):
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


@dataclass(frozen=True, repr=False)
class RectifiedScores(Records[RectifiedMean]):
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

    _kind, _attribute = "mean", "means"

    def _key(self, record: RectifiedMean) -> tuple[Any, ...]:
        return tuple(filter(None, (record.metric, record.system, record.versus)))

    def _table(self) -> Table:
        header = (
            "metric", "system", "human", "machine", "rectified",
            f"{self.confidence * 100:g} % interval", "power", "queries", "effective",
        )  # fmt: skip
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
        distribution, and covers the mean in 93 % of samples of 15 such queries with tuned power,
        in 95 % without. Neither has an interval if fewer than six human-labeled queries differ from
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
    named = {"human": human, "machine": machine, "machine_on_all": machine_on_all}
    given: list[dict[str, QueryScores]] = []
    for argument, scores in named.items():
        given.append(dict(scores) if isinstance(scores, Mapping) else {"": scores})
        check_query_scores(given[-1], argument)
    systems = list(given[0])
    if not systems or any(scores.keys() != given[0].keys() for scores in given):
        raise ValueError(
            "human, machine and machine_on_all must hold the same systems; got "
            + " and ".join(str([*scores]) for scores in given)
        )
    metrics = given[0][systems[0]].metrics
    values, weights = _values(given[0], given[1], given[2], metrics)
    first, *others = systems
    compared = [(name, "", values[name]) for name in systems]
    compared += [(name, first, values[name] - values[first]) for name in others]
    means = (
        _rectified(metric, name, versus, of[:, j], weights, power_tuning, method, confidence)
        for j, metric in enumerate(metrics)
        for name, versus, of in compared
    )
    return RectifiedScores(tuple(means), confidence)


def _values(
    human: Systems, machine: Systems, on_all: Systems, metrics: Sequence[str]
) -> tuple[dict[str, Array], tuple[Array, Array]]:
    """Of each system, a row for each human, machine and other value; and the weights of queries.

    The weights are those of queries with human labels, and of the others.
    """
    first = next(iter(human))
    # the names are those of the error messages
    of_human, of_machine = (
        {f"{kind} {name}".strip(): scores for name, scores in systems.items()}
        for kind, systems in (("human", human), ("machine", machine))
    )
    judged = [*align(of_human | of_machine, next(iter(of_human))).values()]
    elsewhere = align(on_all, first)
    if set(elsewhere[first].metrics) != set(metrics):
        raise ValueError(
            "human and machine_on_all must have the same metrics; got "
            f"{', '.join(metrics)} and {', '.join(elsewhere[first].metrics)}."
        )
    queries, all_queries = comparable_ids(judged[0].ids), comparable_ids(elsewhere[first].ids)
    check_same_kind(queries, all_queries, "human and machine_on_all")
    row_of = {query: row for row, query in enumerate(queries)}
    rows = np.array([row_of.get(query, -1) for query in all_queries])
    own, all_weights = (
        np.ones(len(s)) if s.weights is None else s.weights for s in (judged[0], elsewhere[first])
    )
    is_human, is_other = own > 0, (rows < 0) & (all_weights > 0)
    if is_human.sum() < 2 or is_other.sum() < 2:
        raise ValueError(
            "at least two queries with human labels and two others are needed, of a positive "
            f"weight; got {is_human.sum()} and {is_other.sum()}. Queries that human and "
            "machine_on_all share are taken from machine alone."
        )
    values = {}
    for name, by_human, by_machine in zip(
        human, judged[: len(human)], judged[len(human) :], strict=True
    ):
        everywhere = np.column_stack([elsewhere[name][metric] for metric in metrics])
        changed = (rows >= 0) & ~np.isclose(
            by_machine.values[rows], everywhere, rtol=0, atol=TOLERANCE, equal_nan=True
        ).all(axis=1)
        if changed.any():
            raise ValueError(
                "machine and machine_on_all have different values for "
                f"{counted(int(changed.sum()), 'query')} of the same ids, such as "
                f"{all_queries[int(changed.argmax())]!r}. If they are different queries, give them "
                "different ids; otherwise, see that human and machine are not swapped."
            )
        parts = (by_human.values[is_human], by_machine.values[is_human], everywhere[is_other])
        values[name] = np.concatenate(parts)
        for column in np.flatnonzero(np.isnan(values[name]).any(axis=0)).tolist():
            raise ValueError(
                f"{metrics[column]!r} is undefined for some queries, and which these are may "
                "depend on the labels. Compute all scores with replace_undefined_by=0, or another "
                "number."
            )
    weights = scaled_weights(np.concatenate([own[is_human], all_weights[is_other]]))
    return values, (weights[: is_human.sum()], weights[is_human.sum() :])


def _rectified(
    metric: str,
    system: str,
    versus: str,
    values: Array,
    weights: tuple[Array, Array],
    tuned: bool,
    method: str,
    confidence: float,
) -> RectifiedMean:
    """The estimate with its interval, from human, machine and other values."""
    own, others = (w / w.mean() for w in weights)
    n = len(own)
    human, machine, other = np.split(values, [n, 2 * n])
    power = _power(human, machine, other, own, others) if tuned else 1.0
    parts = [
        _squared_error(human - power * machine, own, method),
        _squared_error(power * other, others, method),
    ]
    of_human, of_machine, of_other = (
        float(np.average(v, weights=w)) for v, w in ((human, own), (machine, own), (other, others))
    )
    estimate = of_human + power * (of_other - of_machine)
    # a few values that are all different do not suggest a common one
    all_differ = np.diff(np.sort(human)).min() > TOLERANCE
    few = has_few_distinct(human[:, None], effective_share(own))[0] and not all_differ
    error = np.nan if few else float(np.sqrt(sum(parts)))
    margin = error * _quantile(parts, [own, others], method, confidence)
    effective = n * _squared_error(human, own, method) / error**2 if error else np.nan
    share = weights[0].sum() / (weights[0].sum() + weights[1].sum())
    by_machine = float(share * of_machine + (1 - share) * of_other)
    interval = Interval(float(estimate - margin), float(estimate + margin))
    return RectifiedMean(
        metric, system, versus, estimate, interval, error, of_human, by_machine, power,
        n, len(other), float(effective),
    )  # fmt: skip


def _power(human: Array, machine: Array, other: Array, own: Array, others: Array) -> float:
    """The weight of the machine labels for which the estimate has the least variance."""
    pooled, weights = np.concatenate([machine, other]), np.concatenate([own, others])
    variance = np.var(_influence(pooled, weights), ddof=1)
    if variance == 0:
        return 0.0
    covariance = np.mean(_influence(human, own) * _influence(machine, own))
    return float(np.clip(covariance / ((1 + len(human) / len(other)) * variance), 0, 1))


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
