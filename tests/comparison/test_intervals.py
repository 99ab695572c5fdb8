"""Confidence intervals of means: exact cases, other implementations, and what they cost."""

import pickle
import time
from dataclasses import replace
from functools import partial
from importlib import import_module

import numpy as np
import pytest
from scipy import stats

from sklearn_rankscore import QueryScores, compare, ndcg_score, query_scores
from sklearn_rankscore.comparison.intervals import (
    Interval,
    degrees_of_freedom,
    has_few_distinct,
)


def scores(values, metrics=None, weights=None):
    values = np.asarray(values, dtype=float)
    values = values[:, None] if values.ndim == 1 else values
    metrics = metrics or [f"m{i}" for i in range(values.shape[1])]
    return QueryScores(np.arange(len(values)), values, metrics, weights)


@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.999])
@pytest.mark.parametrize("n", [1, 2, 5, 10, 30, 200])
def test_hits_have_the_interval_of_clopper_and_pearson(n, confidence):
    hits = sorted({0, 1, n // 3, n // 2, n - 1, n})
    columns = np.array([np.arange(n) < k for k in hits], dtype=float).T
    for k, interval in zip(hits, scores(columns).interval(confidence).values(), strict=True):
        exact = stats.binomtest(k, n).proportion_ci(confidence)
        assert interval == pytest.approx(tuple(exact), abs=0.003)


@pytest.mark.parametrize("weighted", [False, True])
def test_ends_are_quantiles_over_uniform_weights_with_one_further_value(weighted):
    random = np.random.default_rng(0)
    values = random.beta(2, 1, size=12)
    weights = random.lognormal(size=12) if weighted else np.ones(12)
    drawn = random.exponential(size=(200_000, 13))
    drawn *= np.append(weights, (weights**2).sum() / weights.sum())
    low, high = (drawn @ np.append(values, end) / drawn.sum(axis=1) for end in (0, 1))
    expected = np.quantile(low, 0.05), np.quantile(high, 0.95)
    interval = scores(values, ["ndcg@10"], weights if weighted else None).interval(0.9)["ndcg@10"]
    assert interval == pytest.approx(expected, abs=0.002)


def test_the_range_of_a_metric_comes_from_its_name_or_its_values():
    values = np.random.default_rng(1).random((30, 1)) * 0.5

    def upper_end(metric, values=values):
        return scores(values, [metric]).interval()[metric].high

    unknown = upper_end("dcg@10")
    assert unknown >= scores(values).interval(method="t")["m0"].high
    assert upper_end("hits") == pytest.approx(unknown)
    assert unknown != pytest.approx(upper_end("ndcg"))
    assert upper_end("ndcg") == upper_end("mrr@5(threshold=1)") == upper_end("of my own")
    assert upper_end("kendall_tau") == upper_end("ndcg")  # both end at 1
    assert upper_end("ndcg@5(adjusted=true)") == upper_end("P@5(adjusted=true)") == upper_end("dcg")
    assert upper_end("query_auc(adjusted=true)") == upper_end("ndcg@5(adjusted=false)")
    assert upper_end("spearman(adjusted=true)") == upper_end("spearman")
    assert upper_end("hits@3", values * 3) == pytest.approx(3 * upper_end("ndcg"))
    assert upper_end("rbp@3") == upper_end("rbp(normalize=true,gain=linear)") == upper_end("ndcg")
    assert upper_end("rbp(gain=linear)") == upper_end("rbp(like=ranx)") == upper_end("dcg")
    unseen = scores(values, ["ndcg(replace_undefined_by=5)"]).interval()
    assert unseen["ndcg(replace_undefined_by=5)"].high > upper_end("ndcg")
    # values beyond the range of the metric are not bounded by it
    assert upper_end("rbp", values * 3) == pytest.approx(3 * unknown)
    low, high = scores(values - 0.2, ["of my own"]).interval()["of my own"]
    assert scores(0.2 - values, ["a"]).interval()["a"] == pytest.approx((-high, -low))


def test_limits_state_the_range_of_a_metric():
    values, names = np.random.default_rng(1).random((30, 1)), ["own"]
    expected = scores(values, ["ndcg"]).interval()["ndcg"]
    own = QueryScores(range(30), 4 * values - 1, names, limits={"own": (-1, 3)})
    for same in (own, pickle.loads(pickle.dumps(own)), own.select(slice(None)), replace(own)):
        assert same.interval()["own"] == pytest.approx(
            (4 * expected.low - 1, 4 * expected.high - 1)
        )
    wider = QueryScores(range(30), values, names, limits={"own": (0, 2)})
    assert wider.interval()["own"].high > expected.high
    # values beyond them are not bounded by them
    wrong = QueryScores(range(30), values, names, limits={"own": (0, 0.5)})
    assert wrong.interval()["own"] == scores(values, ["dcg"]).interval()["dcg"]
    with pytest.raises(ValueError, match="limits are those of metrics; 'mrr' is none of them"):
        QueryScores(range(30), values, names, limits={"mrr": (0, 1)})


@pytest.mark.parametrize(
    ("metric", "options"),
    [
        ("kendall_tau", {}),
        ("hits@1", {}),
        ("dcg@2", {}),
        ("ndcg@1(adjusted=true)", {}),
        (partial(ndcg_score, k=1, adjusted=True), {}),
        ("dcg@2", {"propensity": [1, 0.5] * 10}),
        ("ndcg@2", {"propensity": [1, 0.5] * 10}),
        ("rbp", {"like": "ranx"}),
        ("ndcg", {"discount": lambda ranks: 1.0 * ranks}),
        ("err@2(replace_undefined_by=2)", {}),
        (lambda block: block.total(lambda labels: labels), {}),
    ],
)
def test_another_name_does_not_change_the_interval(metric, options):
    y, groups = np.tile([1.0, 0.0, 0.0, 1.0], 5), np.repeat(np.arange(10), 2)
    data = (y, np.tile([2.0, 1.0], 10))
    (own,) = query_scores(*data, metric, groups=groups, **options).interval().values()
    for name in ("another", "mrr", "dcg"):
        scores = query_scores(*data, {name: metric}, groups=groups, **options)
        assert scores.metrics == (name,)
        for same in (scores, pickle.loads(pickle.dumps(scores)), scores.select(slice(None))):
            assert same.interval()[name] == pytest.approx(own, nan_ok=True)


def test_a_range_is_that_of_values_that_rounding_moves_beyond_it():
    exact, rounded = (scores(np.full(20, v), ["ndcg"]).interval()["ndcg"] for v in (1, 1 + 1e-12))
    assert rounded.high == exact.high == 1
    assert rounded.low == pytest.approx(exact.low)


@pytest.mark.filterwarnings("ignore:nearly all queries:UserWarning")
def test_a_discount_of_the_users_may_exceed_the_ideal_order():
    data = {"groups": np.repeat(np.arange(20), 3), "discount": lambda ranks: 1.0 * (ranks > 1) + 1}
    y, s = np.tile([1, 0, 0], 20), np.tile([3, 2, 1], 20)
    assert query_scores(y[::3], s[::3], "ndcg", groups=np.arange(20)).interval()["ndcg"].high == 1
    # a relevant document at rank 2 would give 2
    assert np.isnan(query_scores(y, s, "ndcg", **data).interval()["ndcg"]).all()


def test_equal_values_are_no_certainty():
    constant = scores(np.full((20, 3), 0.5), ["ndcg", "kendall_tau", "dcg"])
    exact = stats.binomtest(20, 20).proportion_ci().low
    intervals = constant.interval()
    assert intervals["ndcg"] == pytest.approx((exact / 2, 1 - exact / 2), abs=2e-3)
    assert intervals["kendall_tau"].low == pytest.approx(1.5 * exact - 1, abs=2e-3)
    assert np.isnan(intervals["dcg"]).all()


@pytest.mark.parametrize("n_ones", [5, 6])
def test_differences_of_fewer_than_six_queries_are_marked(n_ones):
    second = (np.arange(40) < n_ones) * 1.0
    comparison = compare({"a": scores(np.zeros(40), ["mrr"]), "b": scores(second, ["mrr"])})
    (one,) = comparison
    assert one.few_distinct == (n_ones == 5)
    t = scores(second).interval(method="t")["m0"]
    if n_ones == 5:
        assert one.interval.low < 0 < one.interval.high
        assert one.interval.high - one.interval.low > t.high - t.low
        assert f"{one.interval:+.4f}*" in repr(comparison)
        assert (
            repr(comparison)
            .splitlines()[-1]
            .startswith("* effectively fewer than six queries differ")
        )
        assert "* effectively fewer than six" in comparison._repr_html_()
    else:
        assert one.interval.high > t.high
        assert one.interval.low == pytest.approx(t.low)
        assert "*" not in repr(comparison)


@pytest.mark.parametrize("n_other", [1, 5])
def test_few_differences_of_unbounded_values_have_no_interval(n_other):
    second = np.where(np.arange(40) < n_other, 2.0 + np.arange(40), 0.0)
    comparison = compare({"a": scores(np.zeros(40), ["dcg"]), "b": scores(second, ["dcg"])})
    assert comparison["dcg", "b"].few_distinct
    assert np.isnan(comparison["dcg", "b"].interval).all()
    assert repr(comparison).splitlines()[-1] == (
        "* effectively fewer than six queries differ from the most common value, or all by next to "
        "nothing beside the range of the metric; the interval is a bound that follows from the "
        "range of the metric, and nan if this range is not known"
    )


@pytest.mark.parametrize("method", ["t", "bootstrap"])
def test_the_mark_of_other_methods_does_not_promise_a_bound(method):
    first, second = scores(np.zeros(8), ["mrr"]), scores(np.full(8, 0.1), ["mrr"])
    comparison = compare({"a": first, "b": second}, method=method, n_resamples=99)
    assert comparison["mrr", "b"].interval == pytest.approx((0.1, 0.1))
    note = repr(comparison).splitlines()[-1]
    assert note.startswith("* effectively fewer than six queries differ")
    assert note.endswith(f"the coverage of intervals by method='{method}' is then too low")


@pytest.mark.parametrize("weighted", [False, True])
def test_interval_and_one_sided_tests_agree(weighted):
    """The ends are the differences whose non-inferiority is just significant."""
    random = np.random.default_rng(2)
    differences = random.gamma(0.7, 0.05, size=40) - 0.03
    weights = random.uniform(0.5, 2, 40) if weighted else None
    given = {
        "a": scores(np.zeros(40), ["ndcg"], weights),
        "b": scores(differences, ["ndcg"], weights),
    }
    (low, high) = compare(given)["ndcg", "b"].interval
    t = compare(given, method="t")["ndcg", "b"].interval
    assert low == pytest.approx(t.low)  # moved away from the mean only
    assert high > t.high + 1e-4
    turned = {"a": given["b"], "b": given["a"]}
    assert compare(given, margin=-low)["ndcg", "b"].noninferiority_p_value == pytest.approx(0.025)
    assert compare(turned, margin=high)["ndcg", "b"].noninferiority_p_value == (
        pytest.approx(0.025)
    )


@pytest.mark.parametrize(("n_won", "few"), [(9, True), (12, False)])
def test_queries_of_unequal_weights_count_by_their_effective_number(n_won, few):
    """Of weights 1 and 20 in equal parts, ten queries are as many as 5.5 of equal weights."""
    weights = np.tile([1.0, 20.0], 150)
    effective = weights.sum() ** 2 / (weights**2).sum() / 300
    assert (n_won * effective < 6) == few
    won = (np.arange(300) < n_won) * 1.0
    for metric in ("hit_rate@10", "dcg"):
        given = {"a": scores(np.zeros(300), [metric], weights), "b": scores(won, [metric], weights)}
        (one,) = compare(given)
        assert one.few_distinct == few
        if few:
            assert np.isnan(one.interval.low) == (metric == "dcg")


def test_rounding_errors_have_no_sign():
    assert f"{Interval(-1e-17, 0.1):+.4f}" == "[0.0000, +0.1000]"
    assert f"{Interval(-0.0, -1e-9):.3f}" == "[0.000, 0.000]"


def test_undefined_differences_have_no_sign():
    comparison = compare({"a": scores([np.nan] * 3), "b": scores([0.1, 0.2, 0.3])})
    assert repr(comparison).split().count("nan") == 4
    assert "+nan" not in repr(comparison)


@pytest.mark.parametrize("n", [3, 7, 11, 12, 13, 40])
def test_few_distinct_by_counting(n):
    random = np.random.default_rng(n)
    values = random.integers(0, 3, size=(n, 50)) * (random.random((n, 50)) < random.random(50))
    most = np.array([np.unique(column, return_counts=True)[1].max() for column in values.T])
    np.testing.assert_array_equal(has_few_distinct(values * 0.1, 1.0), n - most < 6)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.integration
def test_standard_error_is_that_of_statsmodels(weighted):
    """Whose residuals are divided by their expected squares for variances of 1 / w (HC2)."""
    sm = import_module("statsmodels.api")
    random = np.random.default_rng(2)
    values, weights = random.random(25), random.lognormal(size=25) if weighted else np.ones(25)
    share = weights / weights.sum()
    fitted = sm.WLS(values, np.ones(25), weights=weights).fit(cov_type="HC2")
    for_equal_variances = np.sqrt((1 - share) / (1 - 2 * share + (share**2).sum()))
    residuals = (values - fitted.params[0]) * for_equal_variances
    expected = np.sqrt((share**2 * residuals**2 / (1 - share)).sum())
    of_queries = scores(values, None, weights)
    assert of_queries.mean()["m0"] == pytest.approx(fitted.params[0])
    assert of_queries.standard_error()["m0"] == pytest.approx(expected)
    if not weighted:
        assert expected == pytest.approx(fitted.bse[0])


@pytest.mark.parametrize("head", [1.0, 30, 1e3, 1e4])
def test_squared_errors_are_unbiased(head):
    """The sum over unit vectors is the expectation for independent values of variance 1."""
    weights = np.append(head, np.arange(1.0, 30))
    one_at_a_time = scores(np.eye(30), None, weights).standard_error()
    share = weights / weights.sum()
    assert sum(error**2 for error in one_at_a_time.values()) == pytest.approx((share**2).sum())


@pytest.mark.parametrize("head", [1.0, 30, 500])
def test_degrees_of_freedom_are_those_of_the_quadratic_form(head):
    weights = np.append(np.random.default_rng(3).lognormal(size=8), head)
    share = weights / weights.sum()
    residuals = np.eye(9) - share  # of the weighted mean
    factor = share**2 / (1 - 2 * share + (share**2).sum())
    form = residuals.T @ np.diag(factor) @ residuals
    expected = np.trace(form) ** 2 / np.trace(form @ form)
    assert degrees_of_freedom(weights) == pytest.approx(expected)
    assert degrees_of_freedom(np.full(9, 3.0)) == pytest.approx(8)


@pytest.mark.parametrize("weights", [[1e300, 1e-300, 1.0], [1, 1, 250.0], [2.0]])
def test_all_weight_on_one_query_leaves_no_error(weights):
    one = scores(np.linspace(0.5, 0.9, len(weights)), None, weights)
    assert np.isnan([one.standard_error()["m0"], *one.interval(method="t")["m0"]]).all()


def test_two_hundred_thousand_queries_cost_a_few_sorts():
    values = np.random.default_rng(0).beta(2, 1, size=(200_000, 3))
    many = scores(values, ["ndcg", "map", "mrr"])
    start = time.process_time()
    for _ in range(5):
        np.sort(values, axis=0)
    five_sorts = time.process_time() - start
    start = time.process_time()
    many.interval()
    assert time.process_time() - start < 20 * five_sorts
