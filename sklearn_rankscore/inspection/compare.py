"""Paired comparison of models with a baseline, query by query."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, get_args

import numpy as np

from .._typing import Array, IntervalMethod, Seed, SignificanceTest
from .._validation import check_choice, check_count
from .comparison import Comparison, Correction, Difference
from .query_results import QueryScores
from .resampling import TOLERANCE, Interval, generator, holm, paired_p_values


def compare(
    systems: Mapping[str, QueryScores],
    *,
    baseline: str | None = None,
    test: SignificanceTest = "permutation",
    correction: Correction = "holm",
    confidence: float = 0.95,
    method: IntervalMethod = "bootstrap",
    n_resamples: int = 9999,
    random_state: Seed = None,
) -> Comparison:
    """Compare models with a baseline, query by query.

    Parameters
    ----------
    systems : mapping of str to QueryScores
        Results of at least two models for the same queries, weights and metrics.
    baseline : str, default=None
        The model that all others are compared with; None means the first.
    test : {"permutation", "t", "wilcoxon"}, default="permutation"
        Significance test of zero mean difference: the paired permutation test, which randomly
        flips the signs of the differences; Student's paired t-test; or the Wilcoxon signed-rank
        test, for equal weights only. All are two-sided.
    correction : {"holm", None}, default="holm"
        Adjust the p-values for multiple testing, over all metrics and models, which controls the
        family-wise error rate.
    confidence : float, default=0.95
        Confidence level of the intervals, which are not adjusted.
    method : {"bootstrap", "t"}, default="bootstrap"
        How intervals are computed, see `QueryScores.interval`.
    n_resamples : int, default=9999
        Number of resamples of the bootstrap and the permutation test. The latter is exact if
        there are at most that many assignments of signs.
    random_state : int, RandomState instance, Generator or None, default=None
        Seed of the bootstrap and the permutation test.

    Returns
    -------
    Comparison
        A table of differences with intervals, p-values, wins, ties and losses.

    Raises
    ------
    ValueError
        If the queries, weights or metrics of two models differ, or an argument is out of range.
    TypeError
        If `systems` is not a mapping to `QueryScores`.

    See Also
    --------
    cross_val_query_scores : Scores of all queries instead of one test set.

    Notes
    -----
    Queries are paired by id, in any order. A query for which a metric is undefined for either model
    is excluded from that metric. Values that differ only by rounding (1e-12) are ties.

    The tests are compared in [1]_, the correction is defined in [2]_.

    References
    ----------
    .. [1] M. D. Smucker, J. Allan, B. Carterette. A Comparison of Statistical Significance Tests
       for Information Retrieval Evaluation. CIKM 2007. https://doi.org/10.1145/1321440.1321528
    .. [2] S. Holm. A Simple Sequentially Rejective Multiple Test Procedure. Scandinavian Journal
       of Statistics 6, 1979.

    Examples
    --------
    >>> from sklearn_rankscore import compare, make_ranking, query_scores
    >>> X, y, groups = make_ranking(random_state=0)
    >>> systems = {
    ...     name: query_scores(y, scores, "ndcg@10", groups=groups)
    ...     for name, scores in {"feature": X[:, 0], "noisy": X[:, 0] + X[:, 9]}.items()
    ... }
    >>> noisy = compare(systems, random_state=0)["ndcg@10", "noisy"]
    >>> noisy.difference < 0, noisy.adjusted_p_value < 0.05
    (True, True)
    """
    baseline, *models = baseline_first(systems, baseline)
    check_choice("test", test, get_args(SignificanceTest))
    check_choice("correction", correction, ("holm", None))
    n_resamples, random = check_count("n_resamples", n_resamples, 1), generator(random_state)
    p_values_of = partial(paired_p_values, test=test, n_resamples=n_resamples, random=random)
    differences: list[Difference] = []
    for model in models:
        paired = paired_differences(systems, baseline, model)
        p_values = paired.aggregate(p_values_of)
        intervals = paired.interval(
            confidence, method=method, n_resamples=n_resamples, random_state=random
        )
        differences += _summaries(systems[baseline], paired, model, intervals, p_values)
    metrics = systems[baseline].metrics
    differences.sort(key=lambda difference: metrics.index(difference.metric))
    if correction == "holm":
        adjusted = holm(np.array([d.p_value for d in differences])).tolist()
        differences = [
            replace(d, adjusted_p_value=p) for d, p in zip(differences, adjusted, strict=True)
        ]
    return Comparison(baseline, tuple(differences), confidence, test, correction)


def paired_differences(
    systems: Mapping[str, QueryScores], baseline: str, model: str
) -> QueryScores:
    """Difference between a model and the baseline for each query, in the baseline's order."""
    first, second, names = systems[baseline], systems[model], f"{baseline!r} and {model!r}"
    if unpaired := set(first.metrics) ^ set(second.metrics):
        raise ValueError(
            f"{names} must have the same metrics; only one of them has "
            f"{', '.join(sorted(unpaired))}."
        )
    columns = np.array([second.metrics.index(metric) for metric in first.metrics])
    rows = _matching_rows(first, second, names)
    weights = [np.ones(len(s)) if s.weights is None else s.weights for s in (first, second)]
    if not np.array_equal(weights[0], weights[1][rows]):
        raise ValueError(
            f"{names} must have the same query weights. Pass the same sample_weight for both."
        )
    differences = second.values[np.ix_(rows, columns)] - first.values
    differences[np.abs(differences) <= TOLERANCE] = 0.0
    return QueryScores(first.ids, differences, first.metrics, first.weights)


def _matching_rows(baseline: QueryScores, model: QueryScores, names: str) -> Array:
    """The row of the model for each query of the baseline."""
    row_of = {query: row for row, query in enumerate(model.ids.tolist())}
    queries = baseline.ids.tolist()
    if unpaired := set(queries) ^ row_of.keys():
        examples = ", ".join(sorted(map(repr, unpaired))[:5])
        raise ValueError(
            f"{names} must be measured on the same queries; {len(unpaired)} queries occur in only "
            f"one of them ({examples}{', …' if len(unpaired) > 5 else ''}). Compare results on the "
            "same test set."
        )
    return np.array([row_of[query] for query in queries])


def baseline_first(systems: Any, baseline: str | None) -> list[str]:
    """Names of the models, that of the baseline first."""
    if not isinstance(systems, Mapping):
        raise TypeError(
            "systems must be a dict of names to QueryScores, which query_scores and "
            f"cross_val_query_scores return; got {systems!r:.80}."
        )
    for name, scores in systems.items():
        if not isinstance(scores, QueryScores):
            raise TypeError(
                f"systems[{name!r}] must be a QueryScores; got a {type(scores).__name__}. Compute "
                "it by query_scores(y_true, y_score, metrics, groups=ids)."
            )
    if len(systems) < 2:
        raise ValueError(f"systems must hold at least two models; got {len(systems)}.")
    baseline = next(iter(systems)) if baseline is None else baseline
    if baseline not in systems:
        raise ValueError(
            f"baseline must be one of {', '.join(map(repr, systems))}; got {baseline!r}."
        )
    return [baseline, *(name for name in systems if name != baseline)]


def _summaries(
    baseline: QueryScores,
    differences: QueryScores,
    model: str,
    intervals: Mapping[str, Interval],
    p_values: Array,
) -> Iterator[Difference]:
    """The difference of each metric, with p-values that are not adjusted yet."""
    included = differences.included()
    values = np.where(included, baseline.values, np.nan)
    means = QueryScores(baseline.ids, values, baseline.metrics, baseline.weights).mean()
    for j, (metric, difference) in enumerate(differences.mean().items()):
        signs = np.sign(differences.values[included[:, j], j])
        wins, ties, losses = (int((signs == sign).sum()) for sign in (1, 0, -1))
        p_value = float(p_values[j])
        yield Difference(
            metric, model, means[metric], means[metric] + difference, difference,
            intervals[metric], p_value, p_value, wins, ties, losses,
        )  # fmt: skip
