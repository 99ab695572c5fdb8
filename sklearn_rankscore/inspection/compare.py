"""Paired comparison of models with a baseline, query by query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import chain, combinations, product
from typing import get_args

from .._typing import IntervalMethod, Seed, SignificanceTest
from .._validation import check_choice, check_count
from .compare_pairs import adjust, compare_segments, n_segments, pair_statistics, tukey_of_pairs
from .comparison import Comparison, Correction, Pairs
from .interval_methods import interval_estimate
from .intervals import difference_interval
from .margins import Margin, read_margin
from .pairing import align, baseline_first, defined_for_all
from .progress import with_progress
from .query_results import QueryScores
from .resampling import generator
from .segment_bins import bin_segments
from .segments import Segments, select_segments
from .significance import directions, paired_p_values, significance_level


def compare(
    systems: Mapping[str, QueryScores],
    *,
    baseline: str | None = None,
    pairs: Pairs = "baseline",
    test: SignificanceTest = "permutation",
    correction: Correction = "holm",
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
        Significance test of zero mean difference: the paired permutation test, which randomly
        flips the signs of the differences; Student's paired t-test, whose p-value is nan if all
        differences are equal and not 0; or the Wilcoxon signed-rank test, for equal weights only.
        All are two-sided.
    correction : {"holm", "tukey", None}, default="holm"
        Adjust the p-values for multiple testing, over all metrics, models and segments, which
        controls the family-wise error rate. "tukey" is the randomized Tukey HSD test of all pairs
        [4]_, which has more power, but adjusts only for the pairs of the same metric; it requires
        ``pairs="all"`` and no segments.
    by : str, list of str, array-like, mapping or DataFrame, default=None
        Segments that are compared separately, in addition to all queries: names of segment columns
        of the scores of the baseline, or any value that `QueryScores.by` accepts.
    margin : float or mapping of str to float, default=None
        Largest difference that is considered negligible, or one for each metric. Each comparison
        then has a verdict, which follows from the two one-sided t-tests for non-inferiority and
        equivalence, corrected for skewness, at the level ``1 - confidence``. `correction` adjusts
        each of the three kinds of tests separately, and so controls the family-wise error rate of
        each kind.
    confidence : float, default=0.95
        Confidence level of the intervals.
    method : {"auto", "t", "bootstrap"}, default="auto"
        "auto" is Student's t interval, and a bound that follows from the range of the metric if
        fewer than six queries differ from the most common difference, which is nan without a known
        range. "t" and "bootstrap" do not make this distinction, and their coverage is too low in
        such cases.
    n_resamples : int, default=9999
        Number of resamples of the bootstrap and the permutation test. The latter is exact if
        changes of signs can give at most that many sums, as they do for few queries, or for values
        such as hits that differ by few distinct amounts. Otherwise, if more than 1,000 queries
        differ, it is a saddlepoint approximation [3]_. If the randomized Tukey HSD test would
        permute more than 5,000 values of queries for which the models differ, its p-values are
        those of the studentized range of normal means; if few queries dominate, these are permuted,
        and only the sum of all others is taken as normal.
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

    The tests are compared in [1]_, the correction is defined in [2]_. The intervals are not
    adjusted for multiple testing, except that an interval without 0 is extended to 0 if the
    adjusted p-value exceeds ``1 - confidence``.

    References
    ----------
    .. [1] M. D. Smucker, J. Allan, B. Carterette. A Comparison of Statistical Significance Tests
       for Information Retrieval Evaluation. CIKM 2007. https://doi.org/10.1145/1321440.1321528
    .. [2] S. Holm. A Simple Sequentially Rejective Multiple Test Procedure. Scandinavian Journal
       of Statistics 6, 1979.
    .. [3] J. Robinson. Saddlepoint Approximations for Permutation Tests and Confidence Intervals.
       Journal of the Royal Statistical Society B 44, 1982.
       https://doi.org/10.1111/j.2517-6161.1982.tb01191.x
    .. [4] B. Carterette. Multiple Testing in Statistical Analysis of Systems-Based Information
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
    _check_choices(test, correction, pairs, by)
    n_resamples, random = check_count("n_resamples", n_resamples, 1), generator(random_state)
    aligned = align(systems, baseline)
    means = {name: aligned[name].mean() for name in systems}
    aligned = defined_for_all(aligned) if correction == "tukey" else aligned
    first = aligned[baseline]
    margins = read_margin(margin, first.metrics)
    statistics = partial(
        pair_statistics,
        estimate=interval_estimate(difference_interval, confidence, method, n_resamples, random),
        p_values_of=partial(paired_p_values, test=test, n_resamples=n_resamples, random=random),
        directions_of=partial(directions, test=test if correction != "tukey" else "permutation"),
    )
    columns = [] if by is None else bin_segments(select_segments(by, first.ids, first.segments))
    every_two = combinations([baseline, *models], 2)
    compared = list(every_two if pairs == "all" else product([baseline], models))
    measured = (compare_segments(*pair, aligned, columns, statistics, margins) for pair in compared)
    total = len(compared) * n_segments(columns) * len(first.metrics)
    differences = list(with_progress(chain.from_iterable(measured), total, "differences"))
    differences.sort(key=lambda d: first.column(d.metric))
    tukey = tukey_of_pairs(aligned, n_resamples, random) if correction == "tukey" else None
    with_verdict, level = margin is not None, significance_level(confidence)
    adjusted = adjust(differences, correction, level, tukey, with_verdict=with_verdict)
    reference = None if pairs == "all" else baseline
    return Comparison(reference, adjusted, confidence, test, correction, means, margin, method)


def _check_choices(
    test: SignificanceTest, correction: Correction, pairs: Pairs, by: object
) -> None:
    check_choice("test", test, get_args(SignificanceTest))
    check_choice("pairs", pairs, get_args(Pairs))
    check_choice("correction", correction, ("holm", "tukey", None))
    if correction == "tukey" and (pairs != "all" or by is not None):
        raise ValueError(
            "correction='tukey' adjusts for all pairs of models: use it with pairs='all' and "
            "without by=, or use correction='holm'."
        )
