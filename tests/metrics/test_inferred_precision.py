"""Inferred average precision of tied documents, compared with exact probabilities."""

from math import comb

import numpy as np
import pytest

from sklearn_rankscore import infap_score

KINDS = [1, 0, -1, np.nan]  # relevant, irrelevant, in the pool but not judged, outside of the pool
EPSILON = 1e-5

WITHIN = [
    (3, 2, 0, 0),  # all were judged
    (1, 0, 4, 2),  # no other was judged
    (2, 0, 1, 0),
    (30, 40, 10, 20),
    (1, 1, 300, 90),
    (200, 250, 3, 0),
    (70, 30, 150, 50),
    (4, 6, 400, 300),  # in stretches of 256 positions and less, which are joined
    (200, 300, 100, 200),
    (1, 1, 2000, 700),
    (900, 600, 1, 0),
]


def exact(above, within):
    """Sum over all positions and all numbers of judged documents above, which are integers."""
    m, (r, n, u, _) = sum(within), within
    judged, others = r - 1 + n, m - r - n
    of_judged = [comb(judged, c) for c in range(judged + 1)]
    of_others = [comb(others, c) for c in range(others + 1)]
    total, of_all = 0.0, 1
    for j in range(m):
        for c in range(max(0, j - others), min(j, judged) + 1):
            relevant = above[0] + c * (r - 1) / max(judged, 1)
            irrelevant = above[1] + c * n / max(judged, 1)
            pool = relevant + irrelevant + above[2] + (j - c) * u / max(others, 1)
            share = (relevant + EPSILON) / (relevant + irrelevant + 2 * EPSILON)
            precision = (1 + pool * share) / (sum(above) + j + 1)
            total += of_judged[c] * of_others[j - c] / of_all * precision
        of_all = of_all * (m - 1 - j) // (j + 1)
    return total / m


def labels(above, within):
    """Tied documents below others, none of which is relevant."""
    y_true = np.concatenate([np.repeat(KINDS, above), np.repeat(KINDS, within)])
    y_score = np.append(np.arange(sum(above), 0, -1), np.zeros(sum(within)))
    order = np.random.default_rng(0).permutation(len(y_true))
    return y_true[order], y_score[order]


@pytest.mark.slow
@pytest.mark.parametrize("within", WITHIN)
@pytest.mark.parametrize("above", [(0, 0, 0, 0), (0, 1, 0, 2), (0, 7, 20, 3), (0, 500, 9, 1)])
def test_one_group_of_ties(above, within):
    expected = exact(above, within)
    value = infap_score(*labels(above, within), groups="none")
    assert value == pytest.approx(expected, rel=1e-13)


def test_relevant_documents_above_the_ties():
    """Their own values, and those of the group, which depend on them."""
    y_true = np.repeat(KINDS * 2, [1, 2, 1, 0, 40, 30, 20, 10])
    y_score = np.append([4, 3, 2, 1], np.zeros(100))
    of_first = 1.0  # the relevant one is first
    expected = (of_first + 40 * exact((1, 2, 1, 0), (40, 30, 20, 10))) / 41
    assert infap_score(y_true, y_score) == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("at_once", [1, 100, 2**14])
def test_a_query_does_not_depend_on_the_others(at_once, monkeypatch):
    """Bit by bit: groups of equal size and of different ones, joined or not."""
    queries = [
        labels((0, 1, 2, 0), within) for within in [*WITHIN, (80, 20, 150, 50), (1, 0, 0, 0)]
    ]
    alone = [infap_score(*query, groups="none") for query in queries]
    y_true, y_score = map(np.concatenate, zip(*queries, strict=True))
    ids = np.repeat(np.arange(len(queries)), [len(query[0]) for query in queries])
    together = infap_score(y_true, y_score, groups=ids, average=None)
    np.testing.assert_array_equal(together, alone)


def test_no_document_of_a_group_is_judged():
    """No share of relevant ones is wanted within it, which is 0/0 at the second of 50,001 ties."""
    y_true, y_score = np.append(np.full(50_001, -1), 1), np.append(np.ones(50_001), 0)
    expected = (1 + 50_001 / 2) / 50_002
    assert infap_score(y_true, y_score, groups="none") == pytest.approx(expected, rel=1e-13)
