"""QueryScores: values of every query, means and intervals."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import stats

from sklearn_rankscore import QueryScores, evaluate, make_ranking, ndcg_score, query_scores
from sklearn_rankscore.comparison.intervals import _bca_levels
from sklearn_rankscore.metrics import names as metric_names

METRICS = ["ndcg@10", "map", "query_auc", "mrr"]


@pytest.fixture(scope="module")
def data():
    X, y, groups = make_ranking(n_queries=60, random_state=3, shuffle=True)
    weights = np.random.default_rng(0).integers(0, 4, size=60)[groups]
    return y, X[:, 0], groups, weights


def skewed(n_queries=50, n_metrics=2, seed=0):
    values = np.random.default_rng(seed).beta(0.8, 2.5, size=(n_queries, n_metrics))
    return QueryScores(np.arange(n_queries), values, [f"m{i}" for i in range(n_metrics)])


@pytest.mark.parametrize("weighted", [False, True])
def test_mean_equals_evaluate(data, weighted):
    y, score, groups, weights = data
    given = {"groups": groups, "sample_weight": weights if weighted else None}
    means = query_scores(y, score, METRICS, **given).mean()
    assert means == pytest.approx(evaluate(y, score, METRICS, **given), rel=1e-12)


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


def test_values_stand_in_sorted_order_of_the_ids(data):
    y, score, groups, _ = data
    scores = query_scores(y, score, METRICS, groups=groups.astype(str))
    np.testing.assert_array_equal(scores.ids, np.unique(groups.astype(str)))
    expected = ndcg_score(y, score, groups=groups.astype(str), k=10, average=None)
    np.testing.assert_array_equal(scores["ndcg@10"], expected)
    assert len(scores) == 60
    assert list(scores) == list(scores.metrics)
    assert scores.metrics[0] in scores
    assert "map@3" not in scores


def test_two_dimensional_input_and_a_single_query():
    rows = query_scores([[1, 0], [0, 1], [1, 0]], [[2, 1], [2, 1], [1, 2]], "mrr")
    assert dict(zip(rows.ids.tolist(), rows["mrr"], strict=True)) == {0: 1, 1: 0.5, 2: 0.5}
    assert len(query_scores([0, 1], [1, 2], "mrr")) == 1


def test_options_and_callables_reach_the_metrics(data):
    y, score, groups, _ = data

    def depth(block):
        return block.sizes

    scores = query_scores(y, score, ["ndcg", depth], groups=groups, gain="exponential", n_jobs=2)
    expected = ndcg_score(y, score, groups=groups, gain="exponential", average=None)
    np.testing.assert_allclose(scores["ndcg"], expected)
    np.testing.assert_array_equal(scores["depth"], np.bincount(groups))


def test_undefined_queries_are_left_out_where_asked():
    y, score, groups = [0, 0, 1, 0], [1, 2, 3, 4], [0, 0, 1, 1]
    scores = query_scores(y, score, ["mrr", "mrr(replace_undefined_by=nan)"], groups=groups)
    assert list(scores.mean().values()) == [0.25, 0.5]
    np.testing.assert_array_equal(scores.included(), [[True, False], [True, True]])


def test_t_interval_and_standard_error_are_scipys():
    scores = skewed()
    for confidence in (0.5, 0.95, 0.99):
        for metric, interval in scores.interval(confidence, method="t").items():
            test = stats.ttest_1samp(scores[metric], 0.0)
            assert interval == pytest.approx(tuple(test.confidence_interval(confidence)), rel=1e-12)
            assert scores.standard_error()[metric] == pytest.approx(stats.sem(scores[metric]))


@pytest.mark.parametrize("seed", range(5))
def test_bca_ends_are_scipys_for_the_same_resamples(seed):
    values = skewed(30, 1, seed)["m0"]
    # whole numbers make resampled means that equal the estimate, to the bit
    values = (values * 10).round() if seed % 2 else values
    scipys = stats.bootstrap((values,), np.mean, confidence_level=0.9, random_state=seed)
    deviations = (values - values.mean())[:, None]
    resampled = (scipys.bootstrap_distribution - values.mean())[:, None]
    levels = _bca_levels(resampled, deviations, np.ones(30), 0.9)
    ends = values.mean() + np.quantile(resampled, levels[:, 0])
    np.testing.assert_allclose(ends, tuple(scipys.confidence_interval), rtol=1e-9)


@pytest.mark.parametrize("method", ["auto", "bootstrap", "t"])
def test_a_query_of_weight_zero_is_as_if_absent(method):
    scores = skewed(40, 2)
    weights = np.where(np.arange(40) < 30, 2.0, 0.0)
    weighted = QueryScores(scores.ids, scores.values, scores.metrics, weights)
    absent = QueryScores(scores.ids[:30], scores.values[:30], scores.metrics)
    assert weighted.mean() == pytest.approx(absent.mean())
    with_zeros, expected = (s.interval(method=method, random_state=0) for s in (weighted, absent))
    for metric in expected:
        assert with_zeros[metric] == pytest.approx(expected[metric])


def test_metrics_with_different_undefined_queries_do_not_touch_each_other():
    scores = skewed(40, 3)
    values = scores.values.copy()
    values[::4, 1] = np.nan
    mixed = QueryScores(scores.ids, values, scores.metrics)
    keep = np.arange(40) % 4 != 0
    alone = QueryScores(scores.ids[keep], values[keep][:, [1]], ["m1"])
    assert mixed.interval(method="t")["m1"] == pytest.approx(alone.interval(method="t")["m1"])
    assert mixed.interval()["m1"] == pytest.approx(alone.interval()["m1"])
    low, high = mixed.interval(method="bootstrap", random_state=0)["m1"]
    again = alone.interval(method="bootstrap", random_state=1)["m1"]
    assert (low, high) == pytest.approx(again, abs=0.01)


@pytest.mark.parametrize("method", ["bootstrap", "t"])
def test_what_cannot_be_told(method):
    one = QueryScores([0], [[0.5]], ["m"])
    assert all(math.isnan(end) for end in one.interval(method=method)["m"])
    never = QueryScores([0, 1], [[np.nan], [np.nan]], ["m"])
    assert math.isnan(never.mean()["m"])
    assert all(math.isnan(end) for end in never.interval(method=method)["m"])
    constant = QueryScores(np.arange(20), np.full((20, 1), 0.1), ["m"])
    assert constant.interval(method=method)["m"] == pytest.approx((0.1, 0.1))
    two = QueryScores([0, 1], [[0.0], [1.0]], ["m"])
    low, high = two.interval(method=method, random_state=0)["m"]
    assert low < 0.5 < high


def test_the_same_seed_gives_the_same_interval():
    scores = skewed()

    def interval(random_state):
        return scores.interval(method="bootstrap", random_state=random_state)

    assert interval(0) == interval(0)
    assert interval(0) != interval(1)
    random = np.random.RandomState(0)
    assert interval(random) != interval(random)
    assert interval(np.random.default_rng(5)) == interval(np.random.default_rng(5))


def test_batches_do_not_change_the_result(monkeypatch):
    scores = skewed()
    whole = scores.interval(method="bootstrap", random_state=0)
    monkeypatch.setattr("sklearn_rankscore.comparison.intervals.BATCH_SIZE", 1000)
    for metric, interval in scores.interval(method="bootstrap", random_state=0).items():
        assert interval == pytest.approx(whole[metric])


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


def test_tables():
    scores = QueryScores(pa.array(["a", "b"]), [[0.5, np.nan], [1.0, 0.25]], ["ndcg", "<auc>"])
    assert repr(scores).splitlines() == [
        "QueryScores of 2 queries",
        "         mean  std. error  queries",
        "ndcg   0.7500      0.2500        2",
        "<auc>  0.2500         nan        1",
    ]
    html = scores._repr_html_()
    assert "<th>&lt;auc&gt;</th><td>0.2500</td>" in html
    assert html.count("<tr>") == 3


NO_IDS = [[np.nan, 1], np.array([1, np.nan]), [None, 1], [("a", None), 1]]
NO_IDS += [np.array(["NaT", "2020-01-01"], "M8[s]")]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 1], [[1.0]], ["m"]), r"must have shape \(2, 1\), one row per query"),
        (([0, 0], [[1.0], [1.0]], ["m"]), "query ids must be unique; got 0 more than once"),
        (([0], [[1.0, 2.0]], ["m", "m"]), "metrics must be unique; got 'm' more than once"),
        (([0], [[1.0]], ["m"], [1.0, 2.0]), "weights must have shape"),
        (([0], [[1.0]], ["m"], [-1.0]), "not negative"),
        (([0], [[1.0]], ["m"], [0.0]), "at least one must be positive"),
        *(((ids, [[1.0], [0.0]], ["m"]), "ids must not have missing values") for ids in NO_IDS),
        (([], np.empty((0, 1)), ["m"]), "at least one query; got none"),
        ((["a"], [[-np.inf]], ["m"]), "must be finite, or nan .*'m' of query a is -inf"),
    ],
)
def test_refuses_what_does_not_go_together(arguments, message):
    with pytest.raises(ValueError, match=message):
        QueryScores(*arguments)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda s: s.interval(95), "confidence must be between 0 and 1"),
        (lambda s: s.interval(method="bca"), "method must be one of 'auto', 't', 'bootstrap'"),
        (lambda s: s.interval(n_resamples=0), "n_resamples must be an integer of at least 1"),
        (lambda s: s.interval(random_state="x"), "cannot be used to seed"),
        (lambda s: s.to_frame("arrow"), "library must be one of 'pandas', 'polars'"),
    ],
)
def test_refuses_arguments_out_of_range(call, message):
    with pytest.raises(ValueError, match=message):
        call(skewed())


@pytest.mark.parametrize(
    "ids",
    [["a", "a\0"], [2**60 + 1, 2**60 + 2, 2**63], [1, "1"], [("a", 1), ("a", 2)], [b"a", "a"]],
    ids=str,
)
def test_different_ids_stay_different(ids):
    for form in (list, tuple, lambda ids: dict.fromkeys(ids).keys(), iter):
        assert QueryScores(form(ids), [[1]] * len(ids), ["m"]).ids.tolist() == ids


def test_rows_are_positions_or_a_mask_in_any_form():
    for rows in (slice(2, 5), [2, 3, 4], range(2, 5), np.isin(range(50), [2, 3, 4])):
        assert skewed().select(rows).ids.tolist() == [2, 3, 4]
    for ids in (["a", "b"], [("a", 1), ("b", 2)], [1, "1"], [0.5, 1.5]):
        scores = QueryScores(ids, [[1], [0]], ["m"])
        assert scores.select([i in ids[1:] for i in scores.ids]).ids.tolist() == ids[1:]


def test_refuses_metrics_without_a_value_per_query():
    with pytest.raises(ValueError, match=r"'ndcg\(average=micro\)' has average='micro'"):
        query_scores([0, 1], [1, 2], ["mrr", "ndcg(average=micro)"])
    with pytest.raises(ValueError, match="Did you mean 'ndcg'"):
        query_scores([0, 1], [1, 2], "ndgc")
    systems = r"passed as a dict to evaluate or query_scores, \{'a': scores_of_a"
    with pytest.raises(ValueError, match=systems):
        query_scores([1, 0], np.eye(2), "mrr", groups=[1, 1])
    with pytest.raises(KeyError, match="no metric 'map'; the metrics are m0, m1"):
        skewed()["map"]


def test_columns_that_are_no_metrics_are_not_compared_with_names(monkeypatch):
    """Similar names are for an error; a result may have thousands of columns."""
    monkeypatch.setattr(metric_names, "suggestions", None)
    values = np.random.default_rng(0).random((20, 2))
    intervals = QueryScores(np.arange(20), values, ["revenue", "clicks@3"]).interval()
    assert set(intervals) == {"revenue", "clicks@3"}
