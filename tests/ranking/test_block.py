"""What a block tells a formula, and values of small and of huge queries."""

import numpy as np
import pandas as pd
import pytest

from sklearn_rankscore import Block, evaluate, map_score, mrr_score
from sklearn_rankscore.ranking import Ranking, read_queries
from sklearn_rankscore.ranking.derived import in_random_order
from sklearn_rankscore.ranking.label_functions import linear, relevant

SCORES = [-np.inf, np.inf, 0.0, -0.0, 1.0, 1.0 + 2**-52, 1.0 - 2**-53, -1.5, 5e-324, 1e300, 2.0]


@pytest.mark.parametrize("name", ["err(max_grade=10)", "err@5", "rbp", "ndcg", "map", "query_auc"])
def test_another_scale_gives_the_same_bits(name):
    """Also where scores differ in their last bits, among ties and documents not retrieved."""
    for seed in range(30):
        random = np.random.default_rng(seed)
        y, g = random.integers(0, 5, 150), random.integers(0, 3, 150)
        s = random.choice(SCORES, 150)
        ranks = np.where(s == -np.inf, s, np.unique(s, return_inverse=True)[1])
        actual, expected = (
            evaluate(y, scores, name, groups=g, average=None) for scores in (s, ranks)
        )
        np.testing.assert_array_equal(actual[name], expected[name])


def test_huge_tied_query_is_exact():
    """Half a million tied documents, two of them relevant: the hypergeometric distribution."""
    n = 500_000
    y = np.zeros(n)
    y[:2] = 1
    ranks = np.arange(1, n + 1)
    first_at = 2 * (n - ranks) / (n * (n - 1.0))  # 1 / C(n, 2) ways for each later partner
    expected = (first_at / ranks).sum()
    assert mrr_score(y, np.zeros(n), groups="none") == pytest.approx(expected, rel=1e-9)
    assert map_score(y, np.zeros(n), groups="none", k=1) == pytest.approx(2 / n, rel=1e-12)


def test_tie_groups_beyond_the_cut_off_do_not_hide_others():
    """One of two groups starts beyond the cut-off, in a row that another group widens."""
    s = [[5, 4, 4, 4, 1], [5, 5, 3, 3, 1]]
    y = [[0, 1, 0, 0, 0], [0, 1, 0, 1, 0]]
    expected = [(1 / 3) / 2, (1 + 1 / 2) / 2]
    np.testing.assert_allclose(mrr_score(y, s, k=2, average=None), expected, rtol=1e-15)


@pytest.mark.parametrize("ties", ["average", "stable", "reversed", "optimistic", "pessimistic"])
@pytest.mark.parametrize("depth", [1, 3, None])
@pytest.mark.parametrize("plain", [False, True])
def test_the_first_relevant_document_may_stand_beyond_the_cut_off(ties, depth, plain, monkeypatch):
    monkeypatch.setattr("sklearn_rankscore.ranking.ranking.PLAIN_UP_TO", np.inf if plain else 0)
    random = np.random.default_rng(0)
    y, s = random.random((300, 12)) < 0.1, random.integers(0, 5, (300, 12)) * 1.0
    s[random.random(s.shape) < 0.2] = -np.inf
    seen = {}

    def record(block):
        first = block.first_group(lambda labels: labels * 1.0, ties)
        groups = np.stack([first.before, first.size, first.count], axis=1).tolist()
        seen.update(zip(block.queries.tolist(), map(tuple, groups), strict=True))
        return block.sizes

    Ranking(read_queries(y, s), depth).apply([record])
    assert [seen[query] for query in range(300)] == [
        _first_group(*row, ties) for row in zip(y, s, strict=True)
    ]


def _first_group(y, s, ties):
    """Documents before, in the group, and relevant ones among them, by going down the ranks."""
    if not (y & (s > -np.inf)).any():
        return 0, 0, 0
    best = s[y].max()
    before, group = int((s > best).sum()), y[s == best]
    if ties == "average":
        return before, len(group), int(group.sum())
    order = {"stable": group, "reversed": group[::-1], "optimistic": -np.sort(-group.astype(int))}
    return before + int(np.argmax(order.get(ties, np.sort(group)))), 1, 1


REFUSED_LISTS = {
    "one non-empty list per query": [([[1], []], [[1], []]), ([[1]], [[1, 2]]), ([], [])],
    r"one list per query; got single values.* as \[labels\]": [
        ([1, 2], [1, 2]), ([[1], 2], [1, 2]), (np.array([1, 2]), [1, 2]),
    ],
    "contains NaN": [([[np.nan]], [[1]]), ([[1]], [[np.nan]])],
}  # fmt: skip


@pytest.mark.parametrize("message", REFUSED_LISTS)
def test_lists_that_are_no_block(message):
    for lists in REFUSED_LISTS[message]:
        with pytest.raises(ValueError, match=message):
            Block.from_lists(*lists)


def test_the_random_order_is_a_block_of_tied_scores():
    labels = [[2, 0, 1, 0], [1], [0, 0, 3], [1, 0, 2, 0], [0]]
    scores = [np.arange(len(row)) * 1.0 for row in labels]
    scores[2][1] = -np.inf
    ours = in_random_order(Block.from_lists(labels, scores))
    tied = Block.from_lists(labels, [np.zeros(len(row)) for row in labels])

    def told(block):
        first = block.first_group(relevant(0))
        return (
            *(block.by_rank(linear, ties) for ties in ("average", "optimistic", "pessimistic")),
            *block.tie_groups(), block.survival(lambda y: 1 - y / 4), block.ideal(linear),
            block.total(linear), first.before, first.size, first.count,
        )  # fmt: skip

    for own, theirs in zip(told(ours), told(tied), strict=True):
        np.testing.assert_allclose(own, theirs)


@pytest.mark.parametrize("dtype", [int, float])
@pytest.mark.parametrize("sign", [1, -1])
def test_the_best_of_negative_gains_is_that_of_each_query_alone(dtype, sign):
    """Of negative labels, and of grades with a negative gain."""
    random = np.random.default_rng(0)
    sizes = random.integers(40, 51, 60)
    g = np.repeat(np.arange(60), sizes)
    y = -sign * random.integers(1, 6, len(g)).astype(dtype)

    def best(block):
        return block.ideal(lambda labels: sign * labels)[:, 0]

    actual = evaluate(y, random.random(len(g)), {"best": best}, groups=g, average=None)["best"]
    assert actual.tolist() == [(sign * y[g == query]).max() for query in range(60)]


def test_what_a_block_tells():
    labels, scores = [[1, 0, 1, 0, 1], [2]], [[5, 4, 4, 4, -np.inf], [1]]
    block, halves = Block.from_lists(labels, scores), [1 / 2, 5 / 12, 1 / 3, 1 / 4, 1 / 4]
    assert block.retrieved.tolist() == [4, 1]
    assert [a[0].tolist() for a in block.tie_groups()] == [[0, 0, 1, 2, 0], [1, 3, 3, 3, 1]]
    # one of three tied documents is relevant
    np.testing.assert_allclose(block.survival(lambda y: 1 - y / 2), [halves, [0] * 5])
    np.testing.assert_allclose(block.by_rank(linear)[0], [1, 1 / 3, 1 / 3, 1 / 3, 0])
    np.testing.assert_array_equal(block.ideal(linear), [[1, 1, 1, 0, 0], [2, 0, 0, 0, 0]])
    assert block.first_group(lambda y: y > 1, k=1).size.tolist() == [0, 1]
    assert [block.first_group(lambda y: y == 0, k=k).size[0] for k in (1, 2)] == [0, 3]
    assert block.total(linear).tolist() == [3, 2]
    columns = Block.from_lists([pd.Series(y) for y in labels], [pd.Series(s) for s in scores])
    np.testing.assert_array_equal(columns.by_rank(linear), block.by_rank(linear))


def test_a_ranking_serves_one_metric_after_another():
    random = np.random.default_rng(0)
    queries = read_queries(
        random.integers(0, 3, 60), random.normal(size=60), groups=random.integers(0, 7, 60)
    )
    formula = lambda block: ((block.by_rank(linear) * block.ranks).sum(axis=1), block.sizes, True)  # noqa: E731
    (expected,) = Ranking(queries).apply([formula])
    cached = Ranking(queries).cached()
    for jobs in (1, 2, 1, 2):
        (actual,) = cached.apply([formula], jobs)
        np.testing.assert_array_equal(actual.numerator, expected.numerator)
        np.testing.assert_array_equal(actual.denominator, expected.denominator)
