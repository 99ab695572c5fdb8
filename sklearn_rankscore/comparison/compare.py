"""Paired comparison of models with a baseline, query by query."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, combinations, permutations, product
from typing import Any, get_args

import numpy as np

from .._typing import Array, IntervalMethod, Seed, SignificanceTest
from .._validation import check_choice, check_count, check_number, counted, examples
from ..query_ids.read import comparable_ids
from ..ranking import scaled_weights
from .intervals import (
    TOLERANCE,
    Interval,
    difference_interval,
    draw_seed,
    interval_estimate,
    mean,
    shows_too_little,
    standard_error,
    with_progress,
)
from .query_scores import QueryScores, value_ranges, with_fields
from .results import (
    Comparison,
    Correction,
    Difference,
    Family,
    Margin,
    Pairs,
    Verdict,
    agreed_sign,
)
from .segments import (
    ALL_QUERIES,
    SegmentColumn,
    Segments,
    bin_segments,
    segment_parts,
    select_segments,
    whole_part,
)
from .significance import (
    directions,
    holm_by_family,
    one_sided_p_values,
    paired_p_values,
    significance_level,
    tukey_p_values,
)


def compare(
    systems: Mapping[str, QueryScores],
    *,
    baseline: str | None = None,
    pairs: Pairs = "baseline",
    test: SignificanceTest = "permutation",
    correction: Correction = "holm",
    family: Family = "metric",
    by: Segments | str | Sequence[str] | None = None,
    margin: Margin = None,
    confidence: float = 0.95,
    method: IntervalMethod = "auto",
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
    pairs : {"baseline", "all"}, default="baseline"
        Whether to compare all others with the baseline, or all pairs of models.
    test : {"permutation", "t", "wilcoxon"}, default="permutation"
        Significance test: the paired permutation test, which randomly flips the signs of the
        differences, and so tests whether they are symmetric about 0; Student's paired t-test of
        their mean, whose p-value is nan if all differences are equal and not 0; or the Wilcoxon
        signed-rank test, for equal weights only. All are two-sided.
    correction : {"holm", "tukey", None}, default="holm"
        Adjust the p-values for multiple testing, which controls the error rate of each `family`.
        "tukey" is the randomized Tukey HSD test of all pairs of the same metric [3]_, which may
        show more among many similar systems; it requires ``pairs="all"`` and no segments.
    family : {"metric", "metrics", "all"}, default="metric"
        The tests that Holm's method adjusts for together. "metric": the pairs of models by one
        metric over all queries, and apart from these the pairs and segments of each column of `by`.
        Then no p-value depends on which other metrics or columns are compared. "metrics": the same
        for all metrics together. "all": all tests of the result.
    by : str, list of str, array-like, mapping or DataFrame, default=None
        Segments that are compared separately, in addition to all queries: names of segment columns
        of the scores of the baseline, or any value that `QueryScores.by` accepts.
    margin : float or mapping of str to float, default=None
        Largest difference that is considered negligible, or one for each metric. Each comparison
        then has a verdict, which follows from the two one-sided t-tests for non-inferiority and
        equivalence, corrected for skewness, at the level ``1 - confidence``. `correction` adjusts
        each of the three kinds of tests separately. "better" and "worse" require, beside a
        significant difference, an interval without 0.
    confidence : float, default=0.95
        Confidence level of the intervals.
    method : {"auto", "t", "bootstrap"}, default="auto"
        "auto" is Student's t interval, of which skewness moves each end away from the mean (the
        transformation of Hall), and a bound that follows from the range of the metric if fewer than
        six queries differ from the most common difference, which is nan without a known range, or
        all by next to nothing; of queries of unequal weights the effective number counts. "t" and
        "bootstrap" do neither, and their coverage is too low in such cases.
    n_resamples : int, default=9999
        Number of resamples of the bootstrap and the permutation tests. The paired permutation test
        is exact if changes of signs give at most 131,072 sums, as they do for 17 queries, or for
        values such as hits that differ by few distinct amounts. Otherwise the signs are flipped at
        random, and no p-value is below ``1 / (n_resamples + 1)``, unless effectively 200 queries
        and more differ, whose sum is taken as normal: the largest error seen is 0.019, and
        0.003 for p-values below 0.05, both for precision at 10, whose differences are few multiples
        of a step. The randomized Tukey HSD test of more than 5,000 values, where the models differ,
        is that of the studentized range of normal means, unless few queries dominate.
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
    is excluded from that metric; with ``correction="tukey"``, a query for which it is undefined for
    any model, because this test permutes the values of all models. Values that differ only by
    rounding (1e-12, relative to values above 1) are ties.

    The tests are compared in [1]_, the correction is defined in [2]_. Each interval has the given
    confidence by itself, and is not adjusted for multiple testing: an interval without 0 may stand
    beside an adjusted p-value that is not significant, and the converse.

    References
    ----------
    .. [1] M. D. Smucker, J. Allan, B. Carterette. A Comparison of Statistical Significance Tests
       for Information Retrieval Evaluation. CIKM 2007. https://doi.org/10.1145/1321440.1321528
    .. [2] S. Holm. A Simple Sequentially Rejective Multiple Test Procedure. Scandinavian Journal
       of Statistics 6, 1979.
    .. [3] B. Carterette. Multiple Testing in Statistical Analysis of Systems-Based Information
       Retrieval Experiments. ACM TOIS 30, 2012. https://doi.org/10.1145/2094072.2094076

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
    check_choice("pairs", pairs, get_args(Pairs))
    check_choice("family", family, get_args(Family))
    check_choice("correction", correction, ("holm", "tukey", None))
    if correction == "tukey" and (pairs != "all" or by is not None):
        raise ValueError(
            "correction='tukey' adjusts for all pairs of models: use it with pairs='all' and "
            "without by=, or use correction='holm'."
        )
    n_resamples, seed = check_count("n_resamples", n_resamples, 1), draw_seed(random_state)
    aligned = align(systems, baseline)
    means = {name: aligned[name].mean() for name in systems}
    if correction == "tukey":
        aligned = defined_for_all(aligned)
    first = aligned[baseline]
    margins = _read_margin(margin, first.metrics)
    columns = [] if by is None else bin_segments(select_segments(by, first.ids, first.segments))
    statistics = partial(
        _statistics,
        interval_estimate(difference_interval, confidence, method, n_resamples, seed),
        partial(paired_p_values, test=test, n_resamples=n_resamples, seed=seed),
        partial(directions, test="permutation" if correction == "tukey" else test),
        method == "auto",
    )
    every_two = combinations([baseline, *models], 2)
    compared = list(every_two if pairs == "all" else product([baseline], models))
    by_pair = (_compare_pair(*pair, aligned, columns, statistics, margins) for pair in compared)
    n_segments = 1 + sum(len(column.values) for column in columns)
    total = len(compared) * n_segments * len(first.metrics)
    rows = list(with_progress(chain.from_iterable(by_pair), total, "differences"))
    rows.sort(key=lambda row: first.column(row["metric"]))
    _adjust(rows, correction, family)
    if correction == "tukey":
        tukey = _tukey_of_pairs(aligned, n_resamples, seed)
        for row in rows:
            row["adjusted_p_value"] = tukey[row["metric"], row["baseline"], row["model"]]
    differences = tuple(Difference(**row) for row in rows)
    if margin is not None:
        level = significance_level(confidence)
        differences = tuple(replace(one, verdict=_verdict(one, level)) for one in differences)
    return Comparison(
        None if pairs == "all" else baseline, differences, confidence, test, correction,
        means, margin, method, family,
    )  # fmt: skip


def _compare_pair(
    baseline: str,
    model: str,
    systems: Mapping[str, QueryScores],
    columns: Sequence[SegmentColumn],
    statistics: Callable[..., Array],
    margin: Array | None,
) -> Iterator[dict[str, Any]]:
    """The fields of the differences of one pair by segment, with p-values that are not adjusted."""
    first, second = systems[baseline], systems[model]
    paired = paired_differences(first, second)
    included = paired.included()
    by_metric = [*difference_ranges(first, second), *([] if margin is None else [margin])]
    for part in chain([whole_part(paired)], *(segment_parts(paired, c) for c in columns)):
        selected, of_both = paired._rows(part.rows), included[part.rows]
        numbers = selected.aggregate(statistics, (len(STATISTICS),), *by_metric)
        base, of_model = (
            with_fields(selected, values=np.where(of_both, of.values[part.rows], np.nan)).mean()
            for of in (first, second)
        )
        for j, metric in enumerate(paired.metrics):
            of = dict(zip(STATISTICS, numbers[:, j].tolist(), strict=True))
            for name in COUNTS:
                of[name] = int(np.nan_to_num(of[name]))
            if margin is None:
                of |= dict.fromkeys(OF_MARGIN)
            rest = None if part.segment == ALL_QUERIES else float(part.rest_p_values[j])
            yield {
                "metric": metric, "model": model, "baseline": baseline, "segment": part.segment,
                "queries": of["wins"] + of["ties"] + of["losses"], "share": float(part.shares[j]),
                "baseline_mean": base[metric], "model_mean": of_model[metric],
                "rest_p_value": rest, "interval": Interval(of.pop("low"), of.pop("high")),
                **of, "few_distinct": of["few_distinct"] == 1,
            }  # fmt: skip


# the rows of `_statistics`, by the fields of `Difference`
COUNTS = ("direction", "wins", "ties", "losses")
OF_MARGIN = ("noninferiority_p_value", "equivalence_p_value")
MEASURES = ("difference", "standard_error", "low", "high", "few_distinct", "p_value")
STATISTICS = (*MEASURES, *COUNTS, *OF_MARGIN)


def _statistics(
    estimate: Callable[..., Array],
    p_values_of: Callable[..., Array],
    signs_of: Callable[..., Array],
    needs_range: bool,
    differences: Array,
    weights: Array,
    low: Array,
    high: Array,
    margin: Array | None = None,
) -> Array:
    """What is stated of the differences of each metric, which lie in [low, high]."""
    margins = np.full((2, differences.shape[1]), np.nan)
    if margin is not None:
        margins = one_sided_p_values(differences, weights, margin, low, high)
    ends = estimate(differences, weights, low, high)
    few = shows_too_little(differences, weights, low, high)
    # few queries show a direction if the bound for those that were not seen does
    is_known = ~few | (needs_range & ((ends[0] > 0) | (ends[1] < 0)))
    signs = np.sign(differences)
    return np.vstack(
        [
            mean(differences, weights),
            standard_error(differences, weights),
            ends,
            few,
            p_values_of(differences, weights),
            np.where(is_known, signs_of(differences, weights), 0),
            *((signs == sign).sum(axis=0) for sign in (1, 0, -1)),
            margins[0],
            margins.max(axis=0),  # equivalence is shown by both one-sided tests
        ]
    )


def _read_margin(margin: Any, metrics: Sequence[str]) -> Array | None:
    """The margin of each metric."""
    if margin is None:
        return None
    by_metric = margin if isinstance(margin, Mapping) else dict.fromkeys(metrics, margin)
    if set(by_metric) != set(metrics):
        raise ValueError(
            f"margin must be a number, or a mapping with one for each of {', '.join(metrics)}; got "
            f"{', '.join(map(str, by_metric))}."
        )
    numbers = [check_number("margin", by_metric[metric]) for metric in metrics]
    if not all(0 < number <= 1e300 for number in numbers):
        raise ValueError(f"margin must be positive; got {margin!r}.")
    return np.array(numbers)


def _tukey_of_pairs(
    systems: Mapping[str, QueryScores], n_resamples: int, seed: int
) -> dict[tuple[str, str, str], float]:
    """p-value of the Tukey HSD test by metric and pair; over queries defined for all systems."""
    first, p_values = next(iter(systems.values())), {}
    weights = np.ones(len(first)) if first.weights is None else scaled_weights(first.weights)
    for j, (metric, rows) in enumerate(zip(first.metrics, first.included().T, strict=True)):
        values = np.column_stack([scores.values[rows, j] for scores in systems.values()])
        of_pairs = np.full((len(systems),) * 2, np.nan)
        if rows.any():
            of_pairs = tukey_p_values(values, weights[rows], n_resamples, seed)
        for (a, one), (b, other) in permutations(enumerate(systems), 2):
            p_values[metric, one, other] = float(of_pairs[a, b])
    return p_values


def _adjust(rows: Sequence[dict[str, Any]], correction: Correction, family: Family) -> None:
    """Adjust the p-values of each kind within each family of tests."""
    families = [
        (
            row["metric"] if family == "metric" else "",
            "" if family == "all" else row["segment"].column,
        )
        for row in rows
    ]
    for kind in ("p_value", "rest_p_value", *OF_MARGIN):
        adjusted = "adjusted_p_value" if kind == "p_value" else kind
        tested = [i for i, row in enumerate(rows) if row[kind] is not None]
        p_values = np.array([rows[i][kind] for i in tested])
        if correction is not None:
            p_values = holm_by_family(p_values, [families[i] for i in tested])
        for i, p_value in zip(tested, p_values.tolist(), strict=True):
            rows[i][adjusted] = p_value


def _verdict(one: Difference, level: float) -> Verdict:
    """What p-values at a level allow to say of a model; equivalence is stated first.

    A model is better if the test speaks for it, and the interval of the mean as well.
    """
    (low, high), sign = one.interval, agreed_sign(one)
    if one.equivalence_p_value is not None and one.equivalence_p_value <= level:
        return "equivalent"
    if one.adjusted_p_value <= level and sign * (low if sign > 0 else high) > 0:
        return "better" if sign > 0 else "worse"
    is_above = one.noninferiority_p_value is not None and one.noninferiority_p_value <= level
    return "no worse" if is_above else "undecided"


def check_query_scores(systems: Any, argument: str = "systems") -> None:
    """Refuse anything but results of models by name."""
    if not isinstance(systems, Mapping):
        raise TypeError(
            "systems must be a dict of names to QueryScores, which query_scores and "
            "cross_val_query_scores return, such as {'a': a, 'b': b}; got a "
            f"{type(systems).__name__}."
        )
    for name, scores in systems.items():
        if not isinstance(scores, QueryScores):
            place = f"{argument}[{name!r}]" if name else argument
            raise TypeError(
                f"{place} must be a QueryScores; got a {type(scores).__name__}. Compute it by "
                "query_scores(y_true, y_score, metrics, groups=ids)."
            )


def baseline_first(systems: Any, baseline: str | None) -> list[str]:
    """Names of the models, that of the baseline first."""
    check_query_scores(systems)
    if len(systems) < 2:
        raise ValueError(f"systems must hold at least two models; got {len(systems)}.")
    baseline = next(iter(systems)) if baseline is None else baseline
    if baseline not in systems:
        raise ValueError(
            f"baseline must be one of {', '.join(map(repr, systems))}; got {baseline!r}."
        )
    return [baseline, *(name for name in systems if name != baseline)]


def align(systems: Mapping[str, QueryScores], baseline: str) -> dict[str, QueryScores]:
    """All systems with the queries and metrics in the order of the baseline."""
    first = systems[baseline]
    return {
        name: first if name == baseline else _aligned(first, scores, f"{baseline!r} and {name!r}")
        for name, scores in systems.items()
    }


def _aligned(first: QueryScores, second: QueryScores, names: str) -> QueryScores:
    if unpaired := set(first.metrics) ^ set(second.metrics):
        raise ValueError(
            f"{names} must have the same metrics; only one of them has "
            f"{', '.join(sorted(unpaired))}."
        )
    if not np.array_equal(first.ids, second.ids):
        queries, others = comparable_ids(first.ids), comparable_ids(second.ids)
        if unpaired := set(queries) ^ set(others):
            check_same_kind(queries, others, names)
            raise ValueError(
                f"{names} must be measured on the same queries; found "
                f"{counted(len(unpaired), 'query')} in only one of them "
                f"({examples(sorted(unpaired, key=repr))}). Compare results on the same test set."
            )
        row_of = {query: row for row, query in enumerate(others)}
        second = second.select(np.array([row_of[query] for query in queries]))
    weights = [np.ones(len(s)) if s.weights is None else s.weights for s in (first, second)]
    if not np.array_equal(weights[0], weights[1]):
        raise ValueError(
            f"{names} must have the same query weights. Pass the same sample_weight for both."
        )
    values = second.values
    if second.metrics != first.metrics:
        values = values[:, [second.column(metric) for metric in first.metrics]]
    return with_fields(
        second, ids=first.ids, values=values, metrics=first.metrics, weights=first.weights,
        segments=None,
    )  # fmt: skip


def check_same_kind(first: Sequence[Any], second: Sequence[Any], names: str) -> None:
    """Refuse query ids that are text in one result and not in the other."""
    are_text = [{isinstance(query, str) for query in ids} for ids in (first, second)]
    if are_text[0].isdisjoint(are_text[1]):
        raise TypeError(
            f"{names} have query ids of different types, such as {first[0]!r} and {second[0]!r}. "
            "Convert those of one, by astype(str), before both are computed."
        )


def defined_for_all(systems: Mapping[str, QueryScores]) -> dict[str, QueryScores]:
    """Aligned systems, with nan where a metric is undefined for any of them."""
    undefined = np.any([np.isnan(scores.values) for scores in systems.values()], axis=0)
    return {
        name: with_fields(scores, values=np.where(undefined, np.nan, scores.values))
        for name, scores in systems.items()
    }


def paired_differences(first: QueryScores, second: QueryScores) -> QueryScores:
    """The difference of two aligned systems for each query."""
    differences = value_differences(first.values, second.values)
    return with_fields(first, values=differences, segments=None, clicks=None)


def value_differences(first: Array, second: Array) -> Array:
    """The second values minus the first; 0 where they differ only by rounding."""
    differences = second - first
    scale = np.maximum(np.maximum(np.abs(first), np.abs(second)), 1.0)
    differences[np.abs(differences) <= TOLERANCE * scale] = 0.0
    return differences


def difference_ranges(first: QueryScores, second: QueryScores) -> tuple[Array, Array]:
    """The lowest and the highest difference that each metric can have."""
    extremes = [f.reduce(s.values) for s in (first, second) for f in (np.fmin, np.fmax)]
    low, high = value_ranges(first, np.array(extremes))
    return low - high, high - low
