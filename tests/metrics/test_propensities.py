"""Propensities by rank from a formula, and how many clicks weighted ones amount to."""

import numpy as np
import pytest

from sklearn_rankscore import position_propensity, propensity_summary


def test_the_formula():
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


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: position_propensity([0, 1]), "ranks must be integers of at least 1; got 0"),
        (lambda: position_propensity([1.5]), "at least 1; got 1.5"),
        (lambda: position_propensity([1, np.inf]), "at least 1; got inf"),
        (lambda: position_propensity([1, 1000], eta=200), r"eta=200 .* rank 1000 .* eta"),
        (lambda: position_propensity([1], eta=-1), "eta must be finite and at least 0"),
        (lambda: propensity_summary([1, 0], [0.5]), r"shape of y_true, \(2,\); got \(1,\)"),
        (lambda: propensity_summary([1, 0], [0.5, 0]), r"must lie in \(0, 1\]"),
        (lambda: propensity_summary([1, 0], [0.5, 1], clip=2), "clip must be in"),
        (lambda: propensity_summary([1, 1], [1, 1e-160]), "squares of such weights are not fin"),
    ],
)
def test_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
