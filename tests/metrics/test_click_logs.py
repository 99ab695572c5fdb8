"""Propensities harvested from logs: exact on logs without noise, close on simulated ones."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from sklearn_rankscore import estimate_propensity
from sklearn_rankscore.metrics import clicks as click_logs

METHODS = ["all_pairs", "pivot"]


def impressions(n, n_clicks, rank, query, document):
    return [(int(i < n_clicks), rank, query, document) for i in range(n)]


def estimate(rows, **options):
    clicks, ranks, queries, documents = zip(*rows, strict=True)
    return estimate_propensity(clicks, ranks, groups=queries, documents=documents, **options)


# clicks of exactly propensity (1, 1/2, 1/4) times relevance, whatever the number of impressions
EXACT = [
    *impressions(4, 4, 1, "q", "relevant"),
    *impressions(8, 4, 2, "q", "relevant"),
    *impressions(2, 1, 1, "q", "half"),
    *impressions(8, 1, 3, "q", "half"),
    *impressions(10, 0, 2, "q", "never"),
    *impressions(10, 0, 1, "q", "never"),
    *impressions(10, 10, 2, "other", "relevant"),  # shown at one rank only
    *impressions(3, 1, 7, "q", "half"),
]


@pytest.mark.parametrize("method", METHODS)
def test_a_log_without_noise(method):
    propensities = estimate(EXACT, max_rank=3, method=method)
    np.testing.assert_allclose(propensities, [1, 0.5, 0.25], rtol=1e-4)
    assert estimate(EXACT, max_rank=1, method=method).tolist() == [1]


def test_ranks_are_connected_by_chains():
    """Ranks 1 and 3 never show the same document, but each shares one with rank 2."""
    chain = [row for row in EXACT if row[3] != "half"] + [
        *impressions(8, 4, 2, "p", "third"),
        *impressions(8, 2, 3, "p", "third"),
    ]
    np.testing.assert_allclose(estimate(chain), [1, 0.5, 0.25], rtol=1e-4)
    with pytest.raises(ValueError, match=r"^rank 3 cannot be estimated: .* need clicks at both"):
        estimate(chain, method="pivot")


def test_another_rank_may_be_examined_most():
    rows = [*impressions(10, 2, 1, "q", "d"), *impressions(10, 4, 2, "q", "d")]
    for method in METHODS:
        np.testing.assert_allclose(estimate(rows, method=method), [0.5, 1], rtol=1e-4)


@pytest.mark.parametrize("n_clicks", [(5, 20), (10, 20), (20, 20), (1, 19), (20, 5), (1, 1)])
def test_two_ranks_alone(n_clicks):
    """The likelihood is highest at the ratio of clicks, however relevant the document is."""
    rows = [
        row
        for rank, n in enumerate(n_clicks, start=1)
        for row in impressions(20, n, rank, "q", "d")
    ]
    expected = np.divide(n_clicks, max(n_clicks))
    np.testing.assert_allclose(estimate(rows), expected, rtol=1e-4)


def test_the_likelihood_is_at_its_maximum():
    """Small changes of the propensities do not increase it, for the best relevances of each."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        rows = [
            (int(rng.random() < 0.9 / rank**0.5), rank, "q", document)
            for document in range(12)
            for rank in rng.choice([1, 2, 3], 2, replace=False).tolist()
        ]
        rates = {(document, rank): clicked for clicked, rank, _, document in rows}
        try:
            estimated = estimate(rows)
        except ValueError:  # a rank without a click
            continue
        best = likelihood(rates, estimated)
        for factors in np.exp(rng.normal(0, 0.05, (20, 3))):
            changed = estimated * factors
            assert likelihood(rates, changed / changed.max()) < best + 1e-7


def likelihood(rates, propensities):
    """Of documents shown once at each of two ranks, over a grid of relevances for each pair."""
    relevances, total = np.append(np.linspace(0.001, 1, 4000), 1 - 1e-9), 0.0
    for first, second in [(1, 2), (1, 3), (2, 3)]:
        both = [d for d in range(12) if (d, first) in rates and (d, second) in rates]
        clicks = [(propensities[k - 1], rates[d, k]) for d in both for k in (first, second)]
        chances = [p * relevances if clicked else 1 - p * relevances for p, clicked in clicks]
        total += max(sum(np.log(np.maximum(chances, 1e-12)))) if chances else 0.0
    return total


def two_ranker_log(rng, truth, n_queries=300, n_sessions=40_000):
    """Each session shows the documents of a query in the order of one of two rankers."""
    n = len(truth)
    relevance = rng.random((n_queries, n)) * 0.8
    better = np.argsort(-relevance - rng.normal(0, 0.2, (n_queries, n)), axis=1)
    worse = np.argsort(-relevance - rng.normal(0, 0.6, (n_queries, n)), axis=1)
    query, ranker = rng.integers(n_queries, size=n_sessions), rng.random(n_sessions) < 0.3
    documents = np.where(ranker[:, None], worse[query], better[query])
    clicks = rng.random((n_sessions, n)) < truth * relevance[query[:, None], documents]
    ranks = np.tile(np.arange(1, n + 1), (n_sessions, 1))
    return clicks.ravel(), ranks.ravel(), np.repeat(query, n), documents.ravel()


@pytest.mark.parametrize("method", METHODS)
def test_a_simulated_log_of_two_rankers(method):
    truth = np.array([1, 0.7, 0.45, 0.3, 0.2])
    estimates = []
    for seed in range(4):
        clicks, ranks, queries, documents = two_ranker_log(np.random.default_rng(seed), truth)
        given = {"groups": queries, "documents": documents, "method": method}
        estimates.append(estimate_propensity(clicks, ranks, **given))
    np.testing.assert_allclose(np.mean(estimates, axis=0), truth, rtol=0.05)
    # the rate of clicks by rank, which mixes relevance and examination, is far off
    naive = np.array([clicks[ranks == k].mean() for k in range(1, 6)])
    assert abs(naive / naive[0] - truth)[1:].max() > 0.05


REFUSED = [
    ([], {}, "is empty"),
    ([(2, 1, "q", "d")], {}, "clicks must be 0 or 1; got 2"),
    ([(1, 0, "q", "d")], {}, "ranks must be integers of at least 1"),
    (EXACT, {}, "ranks 4, 5, 6 cannot be estimated: no document was shown there"),
    # memory for each pair of ranks would be 8 EB
    ([(1, k, "q", "d") for k in (1, 2, 4, 10**9)], {}, "ranks 3, 5, 6, 7, 8 cannot be .*: no doc"),
    (EXACT, {"max_rank": 10**9}, "cannot be estimated: no document was shown there"),
    (EXACT, {"max_rank": 0}, "max_rank must be an integer of at least 1"),
    ([(1, 3, "q", "d")], {"max_rank": 2}, "no document was shown up to max_rank=2"),
    (EXACT, {"method": "swap"}, "method must be one of 'all_pairs', 'pivot'"),
    ([(0, 1, "q", "d"), (1, 2, "q", "d")], {"method": "pivot"}, "^rank 2 .* at both, by"),
    ([(1, 1, "q", "d"), (0, 2, "q", "d")], {"method": "pivot"}, "^rank 2 .* at both, by"),
    ([(0, 1, "q", "d"), (0, 2, "q", "d")], {}, "ranks 1, 2 cannot be .* at another rank con"),
    ([(1, 1, "q", "d"), (0, 2, "q", "d"), (1, 2, "q", "e")], {}, "^rank 2 cannot be estimated"),
    (
        # two pairs of ranks, which only a document without clicks connects
        [
            *[(1, k, "q", "d") for k in (1, 2)],
            *[(0, k, "q", "e") for k in (2, 3)],
            *[(1, k, "q", "f") for k in (3, 4)],
        ],
        {},
        "ranks 3, 4 cannot be estimated: no clicks",
    ),
]


ADVICE = [
    # a log that starts at rank 2, for which no max_rank is small enough
    ([(c, 2 + i % 2, "q", "d") for i, c in enumerate([1, 0, 1, 1])], {}, r"rank 1 .* there\. Add"),
    ([(1, 1, "q", "d"), (1, 3, "q", "d")], {}, r"rank 2 .* there\. Add a log of other"),
    ([(1, k, "q", "d") for k in (1, 2, 4)], {}, "Set a smaller max_rank, or add a log"),
]


def test_advice_that_works():
    assert len(estimate(ADVICE[2][0], max_rank=2)) == 2


@pytest.mark.parametrize(("rows", "options", "message"), REFUSED + ADVICE)
def test_refused(rows, options, message):
    columns = [list(column) for column in zip(*rows, strict=True)] or [[], [], [], []]
    clicks, ranks, queries, documents = columns
    with pytest.raises(ValueError, match=message):
        estimate_propensity(clicks, ranks, groups=queries, documents=documents, **options)


def test_lengths_must_agree():
    with pytest.raises(ValueError, match="of equal length"):
        estimate_propensity([1, 0], [1], groups=[1], documents=[1])
    with pytest.raises(ValueError, match="groups must hold one id per row: got 1 for 2"):
        estimate_propensity([1, 0], [1, 2], groups=[1], documents=[1, 1])
    with pytest.raises(ValueError, match="documents must hold one id per row: got 3 for 2"):
        estimate_propensity([1, 1], [1, 2], groups=["q", "q"], documents=["d"] * 3)


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        (["d", None], "documents must not have missing values; every row needs an id"),
        ([["d"], ["e"]], "documents must be one-dimensional, one id per row"),
        ("document", "documents must be one-dimensional, .*got str 'document'"),
        ([2.0**53, 1], "documents must not hold float64 up to 9"),
    ],
)
def test_the_column_of_wrong_ids_is_named(ids, message):
    with pytest.raises(ValueError, match=message):
        estimate_propensity([1, 1], [1, 2], groups=["q", "q"], documents=ids)


def test_a_fit_that_is_cut_short_warns(monkeypatch):
    monkeypatch.setattr(click_logs, "MAX_ITERATIONS", 1)
    with pytest.warns(ConvergenceWarning, match="did not converge"):
        estimate(EXACT, max_rank=3)
