"""Scores adjusted for chance, against brute force over all orders, closed forms and PyKEEN."""

import itertools
import statistics

import numpy as np
import oracle
import pytest

from sklearn_rankscore import (
    dcg_score,
    evaluate,
    mrr_score,
    ndcg_score,
    precision_at_k,
    query_auc_score,
    query_scores,
)
from sklearn_rankscore.metrics.names import METRICS

ONLY_WITHIN_CUTOFF = [n for n, m in METRICS.items() if m.adjustable == "within cut-off"]


def queries_of(y_true, y_score, groups):
    for query in np.unique(groups):
        rows = groups == query
        yield y_true[rows].tolist(), y_score[rows].tolist()


@pytest.mark.parametrize("metric", [name for name, known in METRICS.items() if known.ratio])
def test_ratio_of_sums(metric):
    """The adjusted ratio of sums is that of the ratios of sums: (m - E) / (max - E)."""
    rng = np.random.default_rng(3)
    groups = np.repeat([0, 1, 2], [4, 5, 3])
    y_true, y_score = rng.permutation([0, 0, 1, 0, 1, 0, 2, 0, 0, 1, 0, 0]), rng.normal(size=12)
    y_true = np.where(y_true == 0, np.nan, y_true) if metric == "judged" else y_true
    weights = np.array([1.0, 3.0, 0.5])
    cut = {"k": 2} if "k" in METRICS[metric].options else {}

    def ratio(scores_of_queries):
        parts = [
            oracle.query_ratio(metric, y, s, **cut)
            for (y, _), s in zip(
                queries_of(y_true, y_score, groups), scores_of_queries, strict=True
            )
        ]
        sums = weights @ np.array(parts)
        return sums[0] / sums[1]

    measured = ratio(s for _, s in queries_of(y_true, y_score, groups))
    best = ratio(np.nan_to_num(y).tolist() for y, _ in queries_of(y_true, y_score, groups))
    n_orders = 120  # all orders of the five documents, each of the others equally often
    orders = [list(itertools.permutations(range(n))) for n in (4, 5, 3)]
    chance = statistics.fmean(ratio(o[i % len(o)] for o in orders) for i in range(n_orders))
    (ours,) = evaluate(
        y_true, y_score, metric, groups=groups, adjusted=True, average="micro",
        sample_weight=weights[groups], **cut,
    ).values()  # fmt: skip
    assert ours == pytest.approx((measured - chance) / (best - chance), rel=1e-9)


# Printed by pykeen 1.11.1, AdjustedInverseHarmonicMeanRank, AdjustedHitsAtK(k=3) and
# AdjustedArithmeticMeanRankIndex, for a rank among a number of candidates
PYKEEN = [
    (1, 5, 1.0, 1.0, 1.0),
    (2, 5, 0.07975460122699385, 1.0, 0.5),
    (3, 7, -0.058887088060507686, 1.0, 0.33333333333333326),
    (7, 7, -0.3614262560777956, -0.75, -0.9999999999999998),
    (4, 30, 0.1347822009058541, -0.11111111111111112, 0.793103448275862),
    (12, 100, 0.03318076995791365, -0.030927835051546393, 0.7777777777777779),
]
NAMES = ["mrr(adjusted=true)", "hit_rate@3(adjusted=true)", "query_auc(adjusted=true)"]


@pytest.mark.parametrize(("rank", "n", "mrr", "hits", "mean_rank"), PYKEEN)
def test_pykeen(rank, n, mrr, hits, mean_rank):
    """With one relevant document, AUC is a linear function of its rank."""
    ours = evaluate(np.arange(n) == rank - 1, -np.arange(n), NAMES)
    assert [*ours.values()] == pytest.approx([mrr, hits, mean_rank], rel=1e-12)


@pytest.mark.parametrize("k", [5, None])
def test_long_queries_in_closed_form(k):
    """The mean gain at every rank; a position of one relevant document; the share of k."""
    rng = np.random.default_rng(0)
    sizes = [40, 300, 2000, 7, 1]
    groups = np.repeat(np.arange(5), sizes)
    y_true, y_score = rng.integers(0, 5, len(groups)), rng.integers(0, 50, len(groups))
    discounts = 1 / np.log2(np.arange(2, 2002))[:k]
    expected = [np.mean(y_true[groups == q]) * discounts[:n].sum() for q, n in enumerate(sizes)]
    best = [-np.sort(-y_true[groups == q])[:k] @ discounts[:n] for q, n in enumerate(sizes)]
    values = dcg_score(y_true, y_score, groups=groups, k=k, average=None)
    expected, best = np.array(expected[:4]), np.array(best[:4])
    ratio = (values[:4] - expected) / (best - expected)
    for function in (dcg_score, ndcg_score):
        ours = function(y_true, y_score, groups=groups, k=k, adjusted=True, average=None)
        np.testing.assert_allclose(ours, [*ratio, 0.0], rtol=1e-9)
    one = np.zeros(len(groups))
    one[np.unique(groups, return_index=True)[1]] = 1
    harmonic = [sum(1 / i for i in range(1, n + 1)[:k]) / n for n in sizes[:4]]
    values = mrr_score(one, y_score, groups=groups, k=k, average=None)[:4]
    ours = mrr_score(one, y_score, groups=groups, k=k, adjusted=True, average=None)
    rescaled = (values - harmonic) / (1 - np.array(harmonic))
    np.testing.assert_allclose(ours, [*rescaled, 0.0], rtol=1e-9)


def test_queries_of_which_all_orders_are_equal_are_undefined():
    """All labels equal, or no more documents than the cut-off: no order can be better."""
    y_true, y_score = [0.1, 0.1, 0.1, 0, 1, 1, 0, 0], [3, 2, 1, 2, 1, 3, 2, 1]
    groups = [0, 0, 0, 1, 1, 2, 2, 2]
    data = {"groups": groups, "average": None, "adjusted": True}
    for value in (0.0, 1.0, np.nan):
        ours = ndcg_score(y_true, y_score, replace_undefined_by=value, **data)
        np.testing.assert_array_equal(ours, [value, -1.0, 1.0])
        ours = precision_at_k(y_true, y_score, k=2, replace_undefined_by=value, **data)
        np.testing.assert_allclose(ours, [value, value, 1.0])
    means = [
        ndcg_score(y_true, y_score, groups=groups, adjusted=True, replace_undefined_by=value)
        for value in (0.0, np.nan)
    ]
    assert means == [0.0, 0.0]
    np.testing.assert_array_equal(query_auc_score(y_true, y_score, **data), [np.nan, -1.0, 1.0])


@pytest.mark.filterwarnings("ignore:in nearly all queries:UserWarning")
@pytest.mark.parametrize("metric", ["dcg", "ndcg@7", "rbp(gain=linear)", "err", "map", "mrr"])
def test_rounding_makes_no_order_better(metric):
    """Equal labels of which sums and means are rounded."""
    groups = np.repeat(np.arange(2, 80), np.arange(2, 80))
    labels = groups / 83 * (1 if metric == "err" else 3)
    options = {"adjusted": True, "average": None, "replace_undefined_by": np.nan}
    (values,) = evaluate(labels, labels, metric, groups=groups, **options).values()
    assert np.isnan(values).all()


def test_a_query_without_documents_left():
    """ERR of queries of which no document was judged, some of which are in the same block."""
    y_true, y_score, groups = [1, 0, np.nan, np.nan], [1, 2, 1, 2], [0, 0, 1, 1]
    given = {"groups": groups, "adjusted": True, "unjudged": "drop", "average": None}
    (values,) = evaluate(y_true, y_score, "err", **given).values()
    np.testing.assert_allclose(values, [-1, 0])
    (values,) = evaluate(np.full(4, np.nan), y_score, "err", **given).values()
    np.testing.assert_array_equal(values, [0, 0])


def test_a_query_of_which_nothing_was_retrieved_has_no_value_of_its_own():
    """Its random orders have one; of the other, 2 / 3 are expected, and 1 at best."""
    y_true, y_score = [1, np.nan, 0] * 2, [-np.inf] * 3 + [3, 2, 1]
    options = {"adjusted": True, "average": None, "replace_undefined_by": np.nan}
    (values,) = evaluate(y_true, y_score, "judged@2", groups=[0] * 3 + [1] * 3, **options).values()
    np.testing.assert_allclose(values, [np.nan, (1 / 2 - 2 / 3) / (1 - 2 / 3)])


@pytest.mark.parametrize("metric", ONLY_WITHIN_CUTOFF)
def test_without_a_cutoff_all_orders_are_equal(metric):
    function = METRICS[metric].function
    with pytest.raises(
        ValueError, match=r"same value for all orders. Give a cut-off, such as k=10\."
    ):
        function([1, 0], [1, 2], adjusted=True)
    message = rf"without a cut-off {metric}\(adjusted=true\) has the same value"
    with pytest.raises(ValueError, match=message):
        evaluate([1, 0], [1, 2], f"{metric}(adjusted=true)")


def test_the_interval_of_an_adjusted_metric_has_no_bound():
    """Values below 0 are possible where none is observed, also if the option is a keyword."""
    y_true, y_score = np.tile([0, 0, 1], (6, 1)), np.tile([1, 2, 3], (6, 1))
    by_name = query_scores(y_true, y_score, "ndcg@2(adjusted=true)")
    by_keyword = query_scores(y_true, y_score, "ndcg@2", adjusted=True)
    for method in ("t", "auto"):
        expected = by_name.interval(method=method)["ndcg@2(adjusted=true)"]
        np.testing.assert_equal(by_keyword.interval(method=method)["ndcg@2"], expected)
    plain = query_scores(y_true, y_score, "ndcg@2").interval()["ndcg@2"]
    assert by_keyword.interval()["ndcg@2"] != plain
