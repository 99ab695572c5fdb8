"""Confidence intervals of means: exact cases, the range of a metric, and few distinct values."""

import pickle
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from query_values import pair_of, scores_of
from scipy import stats

from sklearn_rankscore import compare, ndcg_score, query_scores


@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.999])
@pytest.mark.parametrize("n", [1, 2, 5, 10, 30, 200])
def test_hits_have_the_interval_of_clopper_and_pearson(n, confidence):
    hits = sorted({0, 1, n // 3, n // 2, n - 1, n})
    columns = np.array([np.arange(n) < k for k in hits], dtype=float).T
    for k, interval in zip(hits, scores_of(columns).interval(confidence).values(), strict=True):
        exact = stats.binomtest(k, n).proportion_ci(confidence)
        assert interval == pytest.approx(tuple(exact), abs=0.003)


def drawn_means(values, weights, end):
    """Means with uniform weights, of the values and a further one at an end of their range."""
    drawn = np.random.default_rng(0).exponential(size=(200_000, len(values) + 1))
    drawn *= np.append(weights, (weights**2).sum() / weights.sum())
    return drawn @ np.append(values, end) / drawn.sum(axis=1)


@pytest.mark.parametrize("weights", [np.ones(12), np.random.default_rng(0).lognormal(size=12)])
def test_ends_and_margins_of_few_queries_are_quantiles_of_drawn_means(weights):
    values = np.random.default_rng(1).beta(2, 1, size=12)
    low, high = scores_of(values, ["ndcg@10"], weights).interval(0.9)["ndcg@10"]
    assert low == pytest.approx(np.quantile(drawn_means(values, weights, 0), 0.05), abs=0.002)
    assert high == pytest.approx(np.quantile(drawn_means(values, weights, 1), 0.95), abs=0.002)
    lost = np.where(np.arange(12) % 4, 0, -0.1)
    (one,) = compare(pair_of(lost, ["ndcg"], weights, start=1), margin=0.25)
    expected = np.mean(drawn_means(lost, weights, -1) <= -0.25)
    assert one.noninferiority_p_value == pytest.approx(expected, rel=0.05)


SHARE, SIGNED, UNKNOWN = (0, 1), (-1, 1), (-np.inf, np.inf)
RANGES = [
    *((name, 0.5, SHARE) for name in ("ndcg", "mrr@5(threshold=1)", "of my own", "rbp@3")),
    ("rbp(normalize=true,gain=linear)", 0.5, SHARE),
    *((name, 0.5, SIGNED) for name in ("kendall_tau", "spearman(adjusted=true)")),
    *((name, 0.5, UNKNOWN) for name in ("dcg@10", "hits", "rbp(gain=linear)", "rbp(like=ranx)")),
    *((name, 0.5, UNKNOWN) for name in ("ndcg@5(adjusted=true)", "P@5(adjusted=true)")),
    ("dcg@10", 0.5, (0, np.inf)),
    ("query_auc(adjusted=true)", 0.5, SIGNED),
    ("ndcg@5(adjusted=false)", 0.5, SHARE),
    ("ndcg(replace_undefined_by=5)", 0.5, (0, 5)),
    ("hits@3", 1.5, (0, 3)),
    # values tell what a metric of one's own is, and are not bounded by the range of another
    ("of my own", -0.5, SIGNED),
    ("of my own", 1.5, UNKNOWN),
    ("rbp", 1.5, UNKNOWN),
]


@pytest.mark.parametrize(("metric", "scale", "limits"), RANGES)
def test_the_range_of_a_metric_comes_from_its_name_or_its_values(metric, scale, limits):
    values = np.random.default_rng(1).random((30, 1)) * scale
    stated = scores_of(values, ["own"], limits={"own": limits}).interval()["own"]
    assert scores_of(values, [metric]).interval()[metric] == pytest.approx(stated)


def copies(scores):
    return scores, pickle.loads(pickle.dumps(scores)), scores.select(slice(None)), replace(scores)


def test_limits_state_the_range_of_a_metric():
    values, names = np.random.default_rng(1).random((30, 1)), ["own"]
    expected = 4 * np.array(scores_of(values, ["ndcg"]).interval()["ndcg"]) - 1
    for same in copies(scores_of(4 * values - 1, names, limits={"own": (-1, 3)})):
        assert same.interval()["own"] == pytest.approx(tuple(expected))
    # values beyond them are not bounded by them
    wrong = scores_of(values, names, limits={"own": (0, 0.5)})
    assert wrong.interval()["own"] == scores_of(values, ["dcg"]).interval()["dcg"]
    # unless rounding moved them
    constant = scores_of(np.full(20, 1.0), ["ndcg"]), scores_of(np.full(20, 1 + 1e-12), ["ndcg"])
    exact, rounded = (of.interval()["ndcg"] for of in constant)
    assert rounded == pytest.approx(exact)
    assert rounded.high == 1
    with pytest.raises(ValueError, match="limits are those of metrics; 'mrr' is none of them"):
        scores_of(values, names, limits={"mrr": (0, 1)})


CLICKED = {"propensity": [1, 0.5] * 10}


MEASURED = [  # a metric, its options, and whether it has a known range
    *((name, {}, True) for name in ("kendall_tau", "hits@1", "err@2(replace_undefined_by=2)")),
    *((name, {}, False) for name in ("dcg@2", "ndcg@1(adjusted=true)")),
    (partial(ndcg_score, k=1, adjusted=True), {}, False),
    *((name, CLICKED, False) for name in ("dcg@2", "hits@2", "precision@2", "rbp@2")),
    *((name, CLICKED, True) for name in ("ndcg@2", "recall@2")),
    ("rbp", {"like": "ranx"}, False),
    # a relevant document at the second of two ranks would give 2
    ("ndcg", {"discount": lambda ranks: 1.0 * ranks}, False),
    (lambda block: block.total(lambda labels: labels), {}, True),
]


@pytest.mark.filterwarnings("ignore:nearly all queries:UserWarning")
@pytest.mark.parametrize(("metric", "options", "is_known"), MEASURED)
def test_another_name_does_not_change_the_interval(metric, options, is_known):
    y, groups = np.tile([1.0, 0.0], 10), np.repeat(np.arange(10), 2)
    data = (y, np.tile([2.0, 1.0], 10))
    (own,) = query_scores(*data, metric, groups=groups, **options).interval().values()
    assert np.isfinite(own).all() == is_known  # without a range, equal values have none
    for name in ("another", "mrr", "dcg"):
        scores = query_scores(*data, {name: metric}, groups=groups, **options)
        for same in copies(scores):
            assert same.interval() == {name: pytest.approx(own, nan_ok=True)}


HALVES = np.tile([1.0, 20.0], 150)  # of these weights, ten queries are as many as 5.5 equal ones


WINS = [
    *((40, n_won, None, n_won in (1, 5, 35)) for n_won in (1, 5, 6, 34, 35)),
    *((300, n_won, HALVES, n_won == 9) for n_won in (9, 12)),
]


@pytest.mark.parametrize(("n", "n_won", "weights", "is_few"), WINS)
@pytest.mark.parametrize("metric", ["hit_rate@10", "dcg"])
@pytest.mark.parametrize("method", ["auto", "t", "bootstrap"])
def test_fewer_than_six_queries_that_differ_are_marked(n, n_won, weights, is_few, metric, method):
    won = (np.arange(n) < n_won) * 1.0
    compared = compare(pair_of(won, [metric], weights), method=method, n_resamples=99)
    (one,) = compared
    assert one.few_distinct == is_few
    text, unknown = repr(compared), method == "auto" and is_few and metric == "dcg"
    assert (f"{one.interval:+.4f}*" in text) == is_few
    assert ("* effectively fewer than six queries" in compared._repr_html_()) == is_few
    assert np.isnan(one.interval).all() == unknown
    if is_few:
        end = "and nan if this range is not known" if unknown else "from the range of the metric"
        end = end if method == "auto" else f"by method='{method}' is then too low"
        assert text.endswith(end)
    if method == "auto" and n_won < 6 and not unknown:
        assert one.interval.low < 0 < one.interval.high
    if method == "auto" and not is_few:
        low, high = scores_of(won, [metric], weights).interval(method="t")[metric]
        assert one.interval.low <= low + 1e-12
        assert one.interval.high >= high - 1e-12


@pytest.mark.parametrize("weighted", [False, True])
def test_interval_and_one_sided_tests_agree(weighted):
    """The ends are the differences whose non-inferiority is just significant."""
    random = np.random.default_rng(2)
    differences = random.gamma(0.7, 0.05, size=40) - 0.03
    weights = random.uniform(0.5, 2, 40) if weighted else None
    given = pair_of(differences, ["ndcg"], weights)
    (low, high) = compare(given)["ndcg", "b"].interval
    t = compare(given, method="t")["ndcg", "b"].interval
    assert low == pytest.approx(t.low)  # moved away from the mean only
    assert high > t.high + 1e-4
    turned = {"a": given["b"], "b": given["a"]}
    assert compare(given, margin=-low)["ndcg", "b"].noninferiority_p_value == pytest.approx(0.025)
    p_value = compare(turned, margin=high)["ndcg", "b"].noninferiority_p_value
    assert p_value == pytest.approx(0.025)
