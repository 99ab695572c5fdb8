"""Prediction-powered means against ppi-python, the formula, and in simulation."""

import numpy as np
import pytest
from query_values import error_and_freedom, scores_of
from scipy import stats

from sklearn_rankscore import compare, rectify

# Values by human labels, by machine labels, and by machine labels of other queries; then what
# ppi-python 0.2.3 printed for them: ppi_mean_ci(..., alpha=0.05) and ppi_mean_pointestimate, with
# power tuning and with lam=1.
PPI = [
    (
        [0.85, 0.64, 0.51, 0.27, 0.31, 0.04, 0.07, 0.01],
        [0.83, 0.67, 0.56, 0.34, 0.45, 0.24, 0.16, 0.25],
        [0.2, 0.96, 0.84, 1, 0.53, 0.62, 1, 0.85, 0.63, 0.62, 0.64, 1, 0.4, 0.96, 0.7, 0.09, 0.57,
         1, 0.52, 0.28],
        (0.32775713093429626, 0.5988761350381095, 0.4633166329862029),
        (0.43737403614982884, 0.7036259638501712, 0.5705),
    ),
    (
        [0.72, 0.6, 0.5, 0.34, 0.76, 0.39],
        [1, 0, 0.82, 0.68, 1, 0],
        [0, 0.54, 0, 1, 0.32, 0.88, 0, 1, 1, 1, 0, 0.83, 0.86, 1, 0.3],
        (0.4366115195000861, 0.6663950719776213, 0.5515032957388537),
        (0.1811851410725553, 0.9194815255941113, 0.5503333333333333),
    ),
]  # fmt: skip


def split(truth, machine, n, weights=None, metrics=("ndcg",)):
    """The arguments of `rectify`: n queries with human labels, by both kinds, and all others."""
    first, others = (weights, weights) if weights is None else (weights[:n], weights[n:])
    return (
        scores_of(truth[:n], metrics, first),
        scores_of(machine[:n], metrics, first),
        scores_of(machine[n:], metrics, others, range(n, len(machine))),
    )


@pytest.mark.parametrize(("human", "machine", "other", "tuned", "plain"), PPI)
def test_ppi_python(human, machine, other, tuned, plain):
    for power_tuning, expected in ((True, tuned), (False, plain)):
        given = split(human, machine + other, len(human))
        mean = rectify(*given, power_tuning=power_tuning)["ndcg"]
        assert (*mean.interval, mean.estimate) == pytest.approx(expected, rel=1e-12)
        assert power_tuning or mean.power == 1
        assert (mean.human_queries, mean.machine_queries) == (len(human), len(other))
        assert mean.human_mean == pytest.approx(np.mean(human))
        assert mean.machine_mean == pytest.approx(np.mean([*machine, *other]))


def draw(shape, seed, noise=0.1, bias=0.1):
    random = np.random.default_rng(seed)
    truth = random.beta(3, 2, shape)
    machine = np.clip(truth + bias + noise * random.normal(size=shape), 0, 1)
    return truth, machine


def test_the_effective_number_of_human_queries():
    """The standard error is that of this number of human queries alone."""
    truth, machine = draw(5000, 0)
    mean = rectify(*split(truth, machine, 200))["ndcg"]
    assert mean.standard_error == pytest.approx(truth[:200].std() / np.sqrt(mean.effective_queries))
    assert 600 < mean.effective_queries < 1000
    assert 0.8 < mean.power < 1
    useless = rectify(*split(truth, np.random.default_rng(1).random(5000), 200))["ndcg"]
    assert useless.power < 0.1
    assert useless.effective_queries == pytest.approx(200, rel=0.05)
    for of_machine in (-machine, np.ones(500)):
        without = rectify(*split(truth, of_machine, 200))["ndcg"]
        assert (without.power, without.effective_queries) == (0, pytest.approx(200))
        assert without.estimate == pytest.approx(truth[:200].mean())


def test_differences_of_systems():
    """Those of the values by query, and the estimates of a single system."""
    values = {"old": draw(200, 4), "new": draw(200, 5)}
    parts = zip(*(split(*of, 30) for of in values.values()), strict=True)
    given = [dict(zip(values, part, strict=True)) for part in parts]
    ours = rectify(*given)
    assert [(m.system, m.versus) for m in ours] == [("old", ""), ("new", ""), ("new", "old")]
    for name, of in values.items():
        assert ours["ndcg", name].interval == rectify(*split(*of, 30))["ndcg"].interval
    expected = rectify(*split(*np.subtract(values["new"], values["old"]), 30))["ndcg"]
    difference = ours["ndcg", "new", "old"]
    assert difference.interval == pytest.approx(expected.interval)
    human = compare(given[0], test="t")["ndcg", "new"]
    assert difference.human_mean == pytest.approx(human.difference)
    with pytest.raises(KeyError, match=r"no mean .*; the means are \('ndcg', 'old'\)"):
        ours["mrr"]


@pytest.mark.slow
@pytest.mark.parametrize(("n", "method"), [(100, "normal"), (100, "t"), (15, "t")])
@pytest.mark.parametrize(("noise", "bias"), [(0.1, 0.2), (0.5, 0.0), (5.0, 0.0)])
def test_coverage(n, method, noise, bias):
    """Of a mean, also where the interval by machine labels alone excludes it."""
    repeats = 1000
    given = split(*draw((n + 400, repeats), 2, noise, bias), n, metrics=[*map(str, range(repeats))])
    low, high = np.transpose([mean.interval for mean in rectify(*given, method=method)])
    error = np.sqrt(0.95 * 0.05 / repeats)
    least = 0.93 if n < 50 else 0.95 if method == "t" else 0.94
    assert np.mean((low < 3 / 5) & (high > 3 / 5)) > least - 3 * error


def test_which_queries_count():
    """Those of human labels once, in any order; those of weight 0 not; weights share one unit."""
    truth, machine = draw(90, 3)
    weights = np.where(np.arange(90) % 7 == 3, 0.0, 1.0 + np.arange(90) // 20 * 9)
    for w in (np.ones(90), weights):
        human, labeled, rest = split(truth, machine, 20, w)
        on_all = scores_of(machine, ["ndcg"], w)
        expected = rectify(human, labeled, rest)["ndcg"]
        assert rectify(human, labeled, on_all)["ndcg"] == expected
        order = np.random.default_rng(0).permutation(90)
        backwards = human.select(slice(None, None, -1))
        shuffled = rectify(backwards, labeled, on_all.select(order))["ndcg"]
        assert shuffled.interval == pytest.approx(expected.interval)
        counted = np.flatnonzero(w)
        n_human = np.count_nonzero(w[:20])
        absent = rectify(*split(truth[counted], machine[counted], n_human, w[counted]))
        assert absent["ndcg"] == expected
        assert expected.machine_mean == pytest.approx(on_all.mean()["ndcg"])
        numbers = expected.human_queries, expected.machine_queries
        assert numbers == (n_human, len(counted) - n_human)


@pytest.mark.parametrize("method", ["normal", "t"])
@pytest.mark.parametrize("weights", [None, np.random.default_rng(9).lognormal(0, 1, 92)])
@pytest.mark.parametrize("tuned", [False, True])
def test_the_estimate_and_its_interval_are_the_formula(method, weights, tuned):
    """With the errors of the references, or those of t intervals and Welch's interval of both."""
    truth, machine = draw(92, 9)
    ours = rectify(*split(truth, machine, 12, weights), power_tuning=tuned, method=method)["ndcg"]
    assert (0 < ours.power < 1) == tuned
    machine, weights = ours.power * machine, np.ones(92) if weights is None else weights
    parts = [(truth[:12] - machine[:12], weights[:12]), (machine[12:], weights[12:])]
    estimate = sum(np.average(values, weights=w) for values, w in parts)
    if method == "normal":
        deviations = [w / w.sum() * (v - np.average(v, weights=w)) for v, w in parts]
        errors, quantile = list(map(np.linalg.norm, deviations)), stats.norm.ppf(0.975)
    else:
        errors, freedoms = zip(*(error_and_freedom(*part) for part in parts), strict=True)
        of_parts = [e**4 / df for e, df in zip(errors, freedoms, strict=True)]
        quantile = stats.t.ppf(0.975, np.hypot(*errors) ** 4 / sum(of_parts))
    assert ours.estimate == pytest.approx(estimate)
    assert ours.standard_error == pytest.approx(np.hypot(*errors))
    half = quantile * ours.standard_error
    assert ours.interval == pytest.approx((estimate - half, estimate + half))


@pytest.mark.parametrize("method", ["normal", "t"])
@pytest.mark.parametrize("tuned", [False, True])
@pytest.mark.parametrize(
    ("n", "n_zeros", "is_known"), [(5, 0, False), (5, 1, False), (30, 5, False), (30, 6, True)]
)
def test_few_distinct_human_labels_give_no_interval(method, tuned, n, n_zeros, is_known):
    truth, machine = (np.arange(n) >= n_zeros).astype(float), draw(90, 9)[1]
    means = rectify(*split(truth, machine, n), method=method, power_tuning=tuned)
    mean = means["ndcg"]
    known = np.isfinite([*mean.interval, mean.standard_error, mean.effective_queries])
    assert known.tolist() == [is_known] * 4
    assert np.isfinite(mean.estimate)
    assert ("nan" in repr(means)) != is_known


def test_the_table():
    ours = rectify(*split(*draw(200, 8), 30), confidence=0.9)
    assert ours.to_frame()["low"].tolist() == [ours["ndcg"].interval.low]
    assert "30 human and 170 machine queries" in repr(ours)
    assert "90 % interval" in repr(ours)


def scores(*values, ids=None, metric="ndcg"):
    return scores_of(values, [metric], ids=ids)


HUMAN, MACHINE, OTHER = split([0.5, 0.7, 0.6], [0.4, 0.8, 0.6, 0.1, 0.2, 0.9], 3)
TEXT, OF_MRR = scores(1, 1, 1, 1, 1, ids=list("01234")), scores(0.1, 0.2, 0.3, metric="mrr")


REFUSED = [
    (HUMAN, scores(0.1, 0.2), OTHER, {}, "must be measured on the same queries"),
    (HUMAN, MACHINE, scores(0.4, 0.8, 0.6), {}, "with human labels and two others"),
    (scores(0.5), scores(0.4), OTHER, {}, "two queries with human labels and two others"),
    (HUMAN, MACHINE, scores(0.4, 0.9, 0.6, 1, 1), {}, "values for 1 query of the same"),
    (HUMAN, MACHINE, scores(0.1, np.nan, ids=[9, 10]), {}, "'ndcg' is undefined for some queries"),
    (HUMAN, MACHINE, OF_MRR, {}, "must have the same metrics"),
    (HUMAN, OF_MRR, OTHER, {}, "must have the same metrics"),
    ({"a": HUMAN}, {"b": MACHINE}, {"a": OTHER}, {}, "must hold the same systems"),
    ([0.5], MACHINE, OTHER, {}, "^human must be a QueryScores"),
    (HUMAN, MACHINE, TEXT, {}, "human and machine_on_all have query ids of different types"),
    (HUMAN, MACHINE, OTHER, {"method": "bootstrap"}, "method must be"),
    (HUMAN, MACHINE, OTHER, {"power_tuning": 0.5}, "power_tuning must be True or False"),
]


@pytest.mark.parametrize(("human", "machine", "other", "options", "message"), REFUSED)
def test_refusals(human, machine, other, options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        rectify(human, machine, other, **options)
