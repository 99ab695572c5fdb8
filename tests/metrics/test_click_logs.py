"""Propensities by rank: from logs and formulas, and what weighting by them costs and gains."""

import runpy
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from sklearn_rankscore import estimate_propensity, position_propensity, propensity_summary
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


def test_propensities_are_relative_to_the_rank_that_is_examined_most_often():
    swapped = [(click, {1: 2, 2: 1}.get(rank, rank), *ids) for click, rank, *ids in EXACT]
    np.testing.assert_allclose(estimate(swapped, max_rank=3), [0.5, 1, 0.25], rtol=1e-4)


def test_ranks_are_connected_by_chains():
    """Ranks 1 and 3 never show the same document, but each shares one with rank 2."""
    chain = [row for row in EXACT if row[3] != "half"] + [
        *impressions(8, 4, 2, "p", "third"),
        *impressions(8, 2, 3, "p", "third"),
    ]
    np.testing.assert_allclose(estimate(chain), [1, 0.5, 0.25], rtol=1e-4)
    with pytest.raises(ValueError, match=r"^rank 3 cannot be estimated: .* need clicks at both"):
        estimate(chain, method="pivot")


def test_the_likelihood_is_at_its_maximum():
    """Small changes of the propensities do not increase it, for the best relevances of each."""
    rng, n_estimates = np.random.default_rng(0), 0
    while n_estimates < 5:
        ranks = rng.permuted(np.tile([1, 2, 3], (12, 1)), axis=1)[:, :2]  # of twelve documents
        clicks = rng.random(ranks.shape) < 0.9 / ranks**0.5
        if not all(clicks[ranks == k].any() for k in (1, 2, 3)):
            continue
        rows = [(int(clicks[d, i]), int(ranks[d, i]), "q", d) for d in range(12) for i in range(2)]
        estimated, n_estimates = estimate(rows), n_estimates + 1
        best = likelihood(ranks, clicks, estimated)
        for factors in np.exp(rng.normal(0, 0.05, (20, 3))):
            changed = estimated * factors
            assert likelihood(ranks, clicks, changed / changed.max()) < best + 1e-7


def likelihood(ranks, clicks, propensities):
    """Of documents shown once at each of two ranks, over a grid of relevances for each pair."""
    relevances, total = np.append(np.linspace(0.001, 1, 4000), 1 - 1e-9), 0.0
    for pair in ([1, 2], [1, 3], [2, 3]):
        both = (np.sort(ranks, axis=1) == pair).all(axis=1)
        chance = propensities[ranks[both] - 1].reshape(-1, 1) * relevances
        chance = np.where(clicks[both].reshape(-1, 1), chance, 1 - chance)
        total += np.log(np.maximum(chance, 1e-12)).sum(axis=0).max()
    return total


def columns(**change):
    given = {"clicks": [1, 1], "ranks": [1, 2], "groups": ["q", "q"], "documents": ["d", "d"]}
    return estimate_propensity(**given | change)


# two pairs of ranks, which only a document without clicks connects
UNCONNECTED = [
    *[(1, k, "q", "d") for k in (1, 2)],
    *[(0, k, "q", "e") for k in (2, 3)],
    *[(1, k, "q", "f") for k in (3, 4)],
]
REFUSED_LOGS = [
    ([(2, 1, "q", "d")], {}, "clicks must be 0 or 1; got 2"),
    ([(1, 0, "q", "d")], {}, "ranks must be integers of at least 1"),
    (EXACT, {}, "ranks 4, 5, 6 cannot be estimated: no document was shown there"),
    # memory for each pair of ranks would be 8 EB
    (
        [(1, k, "q", "d") for k in (1, 2, 4, 10**9)],
        {},
        "3, 5, 6, 7, 8, … cannot be .*: no doc",
    ),
    (EXACT, {"max_rank": 10**9}, "cannot be estimated: no document was shown there"),
    (EXACT, {"max_rank": 0}, "max_rank must be an integer of at least 1"),
    ([(1, 3, "q", "d")], {"max_rank": 2}, "no document was shown up to max_rank=2"),
    (EXACT, {"method": "swap"}, "method must be one of 'all_pairs', 'pivot'"),
    ([(0, 1, "q", "d"), (1, 2, "q", "d")], {"method": "pivot"}, "^rank 2 .* at both, by"),
    ([(1, 1, "q", "d"), (0, 2, "q", "d")], {"method": "pivot"}, "^rank 2 .* at both, by"),
    ([(0, 1, "q", "d"), (0, 2, "q", "d")], {}, "ranks 1, 2 cannot be .* at another rank con"),
    ([(1, 1, "q", "d"), (0, 2, "q", "d"), (1, 2, "q", "e")], {}, "^rank 2 cannot be estimated"),
    (UNCONNECTED, {}, "ranks 3, 4 cannot be estimated: no clicks"),
]
REFUSED = [
    *((partial(estimate, rows, **options), message) for rows, options, message in REFUSED_LOGS),
    (lambda: estimate_propensity([], [], groups=[], documents=[]), "is empty"),
    (lambda: columns(ranks=[1]), "of equal length"),
    (lambda: columns(groups=[1]), "groups must hold one id per row: got 1 for 2"),
    (lambda: columns(documents=["d"] * 3), "documents must hold one id per row: got 3 for 2"),
    (lambda: columns(documents=["d", None]), "documents must not have missing values"),
    (lambda: columns(documents=[["d"], ["e"]]), "documents must be one-dimensional, one id per"),
    (lambda: position_propensity([0, 1]), "ranks must be integers of at least 1; got 0"),
    (lambda: position_propensity([1.5]), "at least 1; got 1.5"),
    (lambda: position_propensity([1, np.inf]), "at least 1; got inf"),
    (lambda: position_propensity([1, 1000], eta=200), r"eta=200 .* rank 1000 .* eta"),
    (lambda: position_propensity([1], eta=-1), "eta must be finite and at least 0"),
    (lambda: propensity_summary([1, 0], [0.5]), r"shape of y_true, \(2,\); got \(1,\)"),
    (lambda: propensity_summary([1, 0], [0.5, 0]), r"must lie in \(0, 1\]"),
    (lambda: propensity_summary([1, 0], [0.5, 1], clip=2), "clip must be in"),
    (lambda: propensity_summary([1, 0], [0.5, 1], clip=0), "clip must be above 0, or None"),
    (lambda: propensity_summary([1, 1], [1, 1e-160]), "squares of such weights are not fin"),
]


@pytest.mark.parametrize(("call", "message"), REFUSED)
def test_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_fit_that_is_cut_short_warns(monkeypatch):
    monkeypatch.setattr(click_logs, "MAX_ITERATIONS", 1)
    with pytest.warns(ConvergenceWarning, match="did not converge"):
        estimate(EXACT, max_rank=3)


def test_propensities_by_a_formula_of_the_rank():
    ranks = np.array([[1, 2, 3], [10, 4, 1]])
    np.testing.assert_allclose(position_propensity(ranks, eta=2), 1 / ranks**2)
    np.testing.assert_array_equal(position_propensity(ranks, eta=0), np.ones((2, 3)))


def test_the_effective_number_of_clicks():
    y, p = np.array([1, 1, 0, 1, 0]), np.array([1, 0.5, 0.05, 0.25, 0.1])
    weights = [1, 2, 4]
    summary = propensity_summary(y, p)
    assert summary[:2] == (5, 3)
    assert summary.effective_clicks == pytest.approx(sum(weights) ** 2 / (1 + 4 + 16))
    assert summary.largest_share == pytest.approx(4 / 7)
    assert summary.clipped_share == 0
    clipped = propensity_summary(y, p, clip=0.5)
    assert clipped.effective_clicks == pytest.approx(25 / 9)
    assert clipped.clipped_share == pytest.approx(3 / 5)
    assert propensity_summary(y, np.full(5, 0.3)).effective_clicks == pytest.approx(3)
    none = propensity_summary(y * 0, p)
    assert (none.n_clicks, none.effective_clicks) == (0, 0)
    assert np.isnan(none.largest_share)


EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "choose_by_clicks.py"


def test_a_search_by_the_estimate_chooses_the_truly_better_model():
    example = runpy.run_path(str(EXAMPLE))
    X, clicks = example["simulate"](n_queries=300, seed=0)
    choices = {
        scoring: example["chosen"](example["search"](X, clicks, scoring))
        for scoring in ("dcg@10(target=relevant)", "dcg@10", "dcg@10(propensity=seen)")
    }
    assert list(choices.values()) == ["match", "popularity", "match"]
