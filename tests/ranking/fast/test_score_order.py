"""Ranks of rows whose labels keys cannot hold, compared with the plain sort."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_rankscore.ranking import plain
from sklearn_rankscore.ranking.fast import score_order

CLOSE = [1 + 2**-52, 1 + 2**-51, 1 - 2**-53]  # equal in the bits that keys have for scores
SCORES = [-np.inf, np.inf, 0.0, -0.0, 1.0, *CLOSE, -1.5, 5e-324, 1e300, 2.0]


def padded(sizes, labels, scores):
    """Rows that end in a label of their own and the score -inf."""
    beyond = np.arange(labels.shape[1]) >= sizes[:, None]
    return np.where(beyond, labels[:, :1], labels), np.where(beyond, -np.inf, scores)


def assert_as_the_plain_sort(labels, scores, sizes, depth, *, whole):
    ranked, tied = score_order.rank_rows(labels, scores, sizes, depth, whole=whole)
    _, expected, expected_ties = plain.rank_rows(labels, scores, sizes, depth)
    within = np.arange(depth) < sizes[:, None]
    np.testing.assert_array_equal(np.where(within, ranked, 0), np.where(within, expected, 0))
    # the rounding of sums depends on it
    assert ranked.flags.f_contiguous if scores.shape[1] <= 16 else ranked.flags.c_contiguous
    assert (tied is None) == (expected_ties is None)
    if tied is None:
        return
    assert tied.rows.tolist() == expected_ties.rows.tolist()
    for ask in ("offsets", "sizes"):
        given, other = getattr(tied, ask)(ranked), getattr(expected_ties, ask)(expected)
        np.testing.assert_array_equal(given, other)
    for rule in ("average", "stable", "reversed", "optimistic", "pessimistic"):
        by_rule, expected_values = (
            of.tie_groups.apply_tie_rule(np.array(of.labels(in_input_order=True)), rule)
            for of in (tied, expected_ties)
        )
        np.testing.assert_allclose(by_rule, expected_values, rtol=1e-15)


@pytest.mark.parametrize("whole", [True, False])
@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.integers(2, 60))
def test_rows_of_any_scores(whole, seed, n_rows, width):
    random = np.random.default_rng(seed)
    depth = width if whole else int(random.integers(1, width))
    sizes = random.integers(1 if whole else depth + 1, width + 1, n_rows)
    labels, scores = padded(
        sizes, random.random((n_rows, width)), random.choice(SCORES, (n_rows, width))
    )
    assert_as_the_plain_sort(labels, scores, sizes, depth, whole=whole)


KINDS = {
    "no ties": lambda random, shape: random.normal(size=shape),
    "few at the top": lambda random, shape: random.normal(size=shape).round(1),
    "all tied": lambda random, shape: np.zeros(shape),
    "one row tied": lambda random, shape: random.normal(size=shape) * (np.arange(shape[0]) > 0)[
        :, None
    ],
    "integers": lambda random, shape: random.integers(0, 50, shape).astype(np.uint8),
    "times": lambda random, shape: 1.7e9 + 3600 * random.random(shape),
    "last bits": lambda random, shape: 1 + random.integers(0, 2**12, shape) * 2.0**-52,
    "few retrieved": lambda random, shape: np.where(
        random.random(shape) < 0.99, -np.inf, random.normal(size=shape)
    ),
}  # fmt: skip


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("depth", [1, 10])
@pytest.mark.parametrize("width", [40, 700])
@pytest.mark.parametrize("kind", KINDS)
def test_long_rows(kind, width, depth, whole):
    random = np.random.default_rng(0)
    shape = (30, width)
    labels, scores, sizes = random.random(shape), KINDS[kind](random, shape), np.full(30, width)
    assert_as_the_plain_sort(labels, scores, sizes, depth, whole=whole)


@pytest.mark.parametrize("kind", ["no ties", "few at the top", "last bits"])
def test_rows_that_are_sorted_by_their_scores(kind, monkeypatch):
    monkeypatch.setattr(score_order, "WIDEST_SORTED", 100)
    random = np.random.default_rng(0)
    labels, scores = random.random((3, 150)), KINDS[kind](random, (3, 150))
    assert_as_the_plain_sort(labels, scores, np.full(3, 150), 150, whole=True)


@pytest.mark.parametrize("depth", [1, 3, 12])
@pytest.mark.parametrize("shape", [(1, 12), (900, 12), (5, 30)])
def test_ideal_order(shape, depth):
    random = np.random.default_rng(0)
    labels = random.choice([0.0, -0.0, 0.5, -2.0, 1e-320, 1e300, 7.0], shape)
    sizes = random.integers(1, shape[1] + 1, shape[0])
    given, expected = score_order.RawLabels(labels, sizes), plain.Labels(labels, sizes)
    ideal = given.ideal(lambda values: values, depth)
    np.testing.assert_array_equal(ideal, expected.ideal(lambda values: values, depth))
    assert ideal.flags.c_contiguous
