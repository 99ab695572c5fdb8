"""QueryScores: values of every query, means and intervals."""

import numpy as np
import pandas as pd
import pytest
from frames import pl
from query_values import error_and_freedom, scores_of
from scipy import stats

from sklearn_rankscore import QueryScores, evaluate, make_ranking, ndcg_score, query_scores
from sklearn_rankscore.metrics import names as metric_names

METRICS = ["ndcg@10", "map", "query_auc", "mrr"]
METHODS = ["auto", "bootstrap", "t"]


@pytest.fixture(scope="module")
def data():
    X, y, groups = make_ranking(n_queries=60, random_state=3, shuffle=True)
    weights = np.random.default_rng(0).integers(0, 4, size=60)[groups]
    return y, X[:, 0], groups, weights


def skewed(n_queries=50, n_metrics=2, seed=0):
    random = np.random.default_rng(seed)
    return scores_of(random.beta(0.8, 2.5, size=(n_queries, n_metrics)))


def own(*values):
    return scores_of(values, ["m"])


@pytest.mark.parametrize("weighted", [False, True])
def test_values_and_means_are_those_of_the_functions(data, weighted):
    y, score, groups, weights = data
    given = {"groups": groups.astype(str), "sample_weight": weights if weighted else None}
    scores = query_scores(y, score, METRICS, **given)
    assert scores.mean() == pytest.approx(evaluate(y, score, METRICS, **given), rel=1e-12)
    np.testing.assert_array_equal(scores.ids, np.unique(given["groups"]))
    expected = ndcg_score(y, score, groups=given["groups"], k=10, average=None)
    np.testing.assert_array_equal(scores["ndcg@10"], expected)
    assert (len(scores), [*scores]) == (60, METRICS)
    assert "map" in scores
    assert "map@3" not in scores


@pytest.mark.parametrize("n_queries", [7, 60, 500])
def test_mean_does_not_depend_on_the_other_metrics(n_queries):
    """To the last bit, on every processor."""
    scores = skewed(n_queries, 9)
    means, errors = scores.mean(), scores.standard_error()
    for i, name in enumerate(scores.metrics):
        for columns in ([i], [i, 0] if i else [i, 1], slice(i, None)):
            values, names = scores.values[:, columns], np.array(scores.metrics)[columns]
            some = QueryScores(scores.ids, values, names.tolist())
            assert (some.mean()[name], some.standard_error()[name]) == (means[name], errors[name])


def test_forms_of_input_and_options(data):
    rows = query_scores([[1, 0], [0, 1], [1, 0]], [[2, 1], [2, 1], [1, 2]], "mrr")
    assert (rows.ids.tolist(), rows["mrr"].tolist()) == ([0, 1, 2], [1, 0.5, 0.5])
    assert len(query_scores([0, 1], [1, 2], "mrr")) == 1
    y, score, groups, _ = data
    metrics, given = ["ndcg", lambda block: block.sizes], {"gain": "exponential", "groups": groups}
    scores = query_scores(y, score, metrics, n_jobs=2, **given)
    expected = [ndcg_score(y, score, average=None, **given), np.bincount(groups)]
    np.testing.assert_allclose(scores.values.T, expected)
    metrics = ["mrr", "mrr(replace_undefined_by=nan)"]
    scores = query_scores([0, 0, 1, 0], [1, 2, 3, 4], metrics, groups=[0, 0, 1, 1])
    assert list(scores.mean().values()) == [0.25, 0.5]
    np.testing.assert_array_equal(scores.included(), [[True, False], [True, True]])


@pytest.mark.parametrize("head", [None, 1.0, 30, 100])
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.99])
def test_t_intervals_and_standard_errors(confidence, head):
    """Those of SciPy, or of an unbiased quadratic form in values of unequal weights."""
    values = skewed(9, 1)["m0"]
    if head is None:
        error, weights = stats.sem(values), None
        expected = tuple(stats.ttest_1samp(values, 0.0).confidence_interval(confidence))
    else:
        weights = np.append(np.random.default_rng(0).lognormal(size=8), head)
        error, freedom = error_and_freedom(values, weights)
        half = stats.t.ppf((1 + confidence) / 2, freedom) * error
        expected = np.average(values, weights=weights) + np.array([-half, half])
    scores = scores_of(values, None, weights)
    assert scores.standard_error()["m0"] == pytest.approx(error)
    rel = 1e-12 if head is None else 1e-9
    assert scores.interval(confidence, method="t")["m0"] == pytest.approx(tuple(expected), rel=rel)


@pytest.mark.parametrize("weights", [[1e300, 1e-300, 1.0], [1, 1, 250.0], [2.0]])
def test_all_weight_on_one_query_leaves_no_error(weights):
    one = scores_of(np.linspace(0.5, 0.9, len(weights)), None, weights)
    assert np.isnan([one.standard_error()["m0"], *one.interval(method="t")["m0"]]).all()


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("confidence", [0.9, 0.99])
def test_the_bootstrap_is_scipys_up_to_the_draws(seed, confidence):
    """Values that are never tied, or whole numbers, whose means are multiples of 1 / 30."""
    values = skewed(30, 1, seed)["m0"]
    values, step = ((values * 10).round(), 1 / 30) if seed % 2 else (values, 0)
    given = {"n_resamples": 100_000, "random_state": seed}
    scipys = stats.bootstrap((values,), np.mean, confidence_level=confidence, **given)
    measured = own(*values).interval(confidence, method="bootstrap", **given)["m"]
    # four standard errors of the difference of two quantiles of as many resamples
    error = stats.sem(values) * (0.06 if confidence == 0.9 else 0.13)
    assert measured == pytest.approx(tuple(scipys.confidence_interval), abs=error + step)


@pytest.mark.parametrize("method", METHODS)
def test_queries_without_weight_or_value_are_as_if_absent(method):
    scores, absent = skewed(40, 2), skewed(40, 2).select(slice(30))
    weights = np.where(np.arange(40) < 30, 2.0, 0.0)
    weighted = QueryScores(scores.ids, scores.values, scores.metrics, weights)
    values = scores.values.copy()
    values[30:, 1] = np.nan
    undefined = QueryScores(scores.ids, values, scores.metrics)
    expected = absent.interval(method=method, random_state=0)
    for same, names in ((weighted, ["m0", "m1"]), (undefined, ["m1"])):
        measured = same.interval(method=method, random_state=0)
        for name in names:
            assert same.mean()[name] == pytest.approx(absent.mean()[name])
            assert measured[name] == pytest.approx(expected[name])


@pytest.mark.parametrize("method", ["bootstrap", "t"])
def test_what_cannot_be_told(method):
    for unknown in (own(0.5), own(np.nan, np.nan)):
        assert np.isnan(unknown.interval(method=method)["m"]).all()
    assert np.isnan(own(np.nan, np.nan).mean()["m"])
    assert repr(own(0.5)).split()[-4:] == ["m", "0.5000", "nan", "1"]
    assert own(*[0.1] * 20).interval(method=method)["m"] == pytest.approx((0.1, 0.1))
    low, high = own(0.0, 1.0).interval(method=method, random_state=0)["m"]
    assert low < 0.5 < high


def test_seeds_and_batches(monkeypatch):
    scores = skewed(n_metrics=9)  # more than are multiplied at once

    def interval(random_state, of=scores):
        return of.interval(method="bootstrap", random_state=random_state)

    whole, random = interval(0), np.random.RandomState(0)
    assert whole == interval(0) != interval(1)
    assert interval(0, scores_of(scores["m8"]))["m0"] == whole["m8"]
    assert interval(random) != interval(random)
    assert interval(np.random.default_rng(5)) == interval(np.random.default_rng(5))
    monkeypatch.setattr("sklearn_rankscore.comparison.intervals.BATCH_SIZE", 1000)
    assert interval(0) == {name: pytest.approx(ends) for name, ends in whole.items()}


@pytest.mark.parametrize(("library", "kind"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_frames(data, library, kind):
    y, score, groups, weights = data
    scores = query_scores(y, score, METRICS, groups=groups, sample_weight=weights)
    frame = scores.to_frame(library)
    assert isinstance(frame, kind)
    assert list(frame.columns) == ["query", *METRICS, "weight"]
    np.testing.assert_array_equal(frame["map"].to_numpy(), scores["map"])
    np.testing.assert_array_equal(frame["query"].to_numpy(), np.arange(60))
    tuples = QueryScores([("a", 1), ("a", 2)], [[0.0], [1.0]], ["m"])
    assert [tuple(q) for q in tuples.to_frame(library)["query"]] == [("a", 1), ("a", 2)]


NO_IDS = [[np.nan, 1], np.array([1, np.nan]), [None, 1], [("a", None), 1]]
NO_IDS += [np.array(["NaT", "2020-01-01"], "M8[s]")]
REFUSED = [
    (lambda: QueryScores([0, 1], [[1.0]], ["m"]), r"must have shape \(2, 1\), one row per query"),
    (lambda: QueryScores([0, 0], [[1.0], [1.0]], ["m"]), "ids must be unique; got 0 more than on"),
    (lambda: QueryScores([0], [[1.0, 2.0]], ["m", "m"]), "metrics must be unique; got 'm' more"),
    (lambda: QueryScores([0], [[1.0]], ["m"], [1.0, 2.0]), "weights must have shape"),
    (lambda: QueryScores([0], [[1.0]], ["m"], [-1.0]), "not negative"),
    (lambda: QueryScores([0], [[1.0]], ["m"], [0.0]), "at least one must be positive"),
    *((lambda i=i: QueryScores(i, [[1], [0]], ["m"]), "must not have missing") for i in NO_IDS),
    (lambda: QueryScores([], np.empty((0, 1)), ["m"]), "at least one query; got none"),
    (lambda: QueryScores(["a"], [[-np.inf]], ["m"]), "must be finite.*'m' of query a is -inf"),
    (lambda: own(1).interval(95), "confidence must be between 0 and 1"),
    (lambda: own(1).interval(method="bca"), "method must be one of 'auto', 't', 'bootstrap'"),
    (lambda: own(1).interval(n_resamples=0), "n_resamples must be an integer of at least 1"),
    (lambda: own(1).interval(random_state="x"), "cannot be used to seed"),
    (lambda: own(1).to_frame("arrow"), "library must be one of 'pandas', 'polars'"),
    (lambda: query_scores([0, 1], [1, 2], "ndcg(average=micro)"), r"' has average='micro'"),
    (lambda: query_scores([0, 1], [1, 2], "ndgc"), "Did you mean 'ndcg'"),
    (
        lambda: query_scores([1, 0], np.eye(2), "mrr", groups=[1, 1]),
        r"passed as a dict to evaluate or query_scores, \{'a': scores_of_a",
    ),
    (lambda: own(1)["map"], "no metric 'map'; the metrics are m"),
]


@pytest.mark.parametrize(("call", "message"), REFUSED)
def test_refusals(call, message):
    with pytest.raises((ValueError, KeyError), match=message):
        call()


@pytest.mark.parametrize(
    "ids",
    [["a", "a\0"], [2**60 + 1, 2**60 + 2, 2**63], [1, "1"], [("a", 1), ("a", 2)], [b"a", "a"]],
    ids=str,
)
def test_different_ids_stay_different(ids):
    for form in (list, tuple, lambda ids: dict.fromkeys(ids).keys(), iter):
        scores = QueryScores(form(ids), [[1]] * len(ids), ["m"])
        assert scores.ids.tolist() == ids
        assert scores.select([i in ids[1:] for i in scores.ids]).ids.tolist() == ids[1:]
    for rows in (slice(2, 5), [2, 3, 4], range(2, 5), np.isin(range(50), [2, 3, 4])):
        assert skewed().select(rows).ids.tolist() == [2, 3, 4]


def test_columns_that_are_no_metrics_are_not_compared_with_names(monkeypatch):
    """Similar names are for an error; a result may have thousands of columns."""
    monkeypatch.setattr(metric_names, "suggestions", None)
    assert [*own(1, 0, 0.5).interval(), *scores_of([1, 0], ["clicks@3"]).interval()]
