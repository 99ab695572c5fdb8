"""Positions in keys, and rows that are sorted by such keys."""

from itertools import pairwise

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_rankscore import evaluate, ndcg_score
from sklearn_rankscore.ranking import read_queries
from sklearn_rankscore.ranking.fast import engine
from sklearn_rankscore.ranking.fast.keys import write_keys
from sklearn_rankscore.ranking.fast.position_sort import first_in_input_order, sort_by_label
from sklearn_rankscore.ranking.fast.positions import Positions
from sklearn_rankscore.ranking.ties import BY_INPUT_ORDER

# the last two differ in bits that keys with positions do not hold
SCORES = [-np.inf, np.inf, 0.0, -0.0, 5e-324, 2.5, 1.0, 1.0 + 2**-52]


@pytest.mark.parametrize("ties", oracle.TIES)
@pytest.mark.parametrize("width", [1, 2, 9, 300])
def test_a_key_returns_the_column_and_the_label(ties, width):
    labels = np.random.default_rng(0).integers(0, 32, (5, width)).astype(np.uint8)
    positions, keys = Positions.up_to(width, 31, ties), np.zeros((5, width), dtype=np.int64)
    write_keys(keys, positions.shifted(labels), np.full((5, width), -1.5), positions.below)
    positions.write(keys)
    np.testing.assert_array_equal(positions.read(keys), [range(width)] * 5)
    assert len(set((keys | positions.below).ravel())) == 1


@pytest.mark.parametrize("ties", oracle.TIES)
@given(
    st.sampled_from([1, 3, 50]),
    st.lists(
        st.lists(st.tuples(st.integers(1, 4), st.sampled_from(SCORES)), min_size=1, max_size=20),
        min_size=1,
        max_size=4,
    ),
)
def test_rows_are_sorted_by_score_and_then_as_ties_are_ranked(ties, depth, rows):
    sizes = np.array([len(row) for row in rows])
    labels = np.zeros((len(rows), sizes.max()), dtype=np.uint8)
    scores = np.full(labels.shape, -np.inf)
    for i, row in enumerate(rows):
        labels[i, : len(row)], scores[i, : len(row)] = zip(*row, strict=True)
    given, width = (labels, scores, sizes), labels.shape[1]
    if ties in BY_INPUT_ORDER:
        by_rank = first_in_input_order(*given, min(depth, width), Positions.up_to(width, 7, ties))
    else:
        by_rank, equals_next = sort_by_label(*given, 7)
    for i, row in enumerate(rows):
        row = {"stable": row, "reversed": row[::-1]}.get(ties, sorted(row))
        ordered = sorted(row, key=lambda document: -document[1])
        n_ranks = min(len(row), by_rank.shape[1])
        assert by_rank[i, :n_ranks].tolist() == [label for label, _ in ordered[:n_ranks]]
        if ties not in BY_INPUT_ORDER:
            equal = [one[1] == next_one[1] for one, next_one in pairwise(ordered)]
            assert equals_next[i].tolist() == equal + [False] * (width - len(row))


@pytest.mark.parametrize("ties", ["stable", "reversed"])
@pytest.mark.parametrize("size", [10, 120, 600])
@pytest.mark.parametrize("scores", ["decimals", "leaves", "last bits"])
def test_many_ties_in_input_order(scores, size, ties):
    """In blocks of keys with positions, against a sort of each query."""
    random = np.random.default_rng(size)
    n = 20_000 // size * size
    y = random.integers(0, 5, n)
    s = {
        "decimals": random.normal(size=n).round(1),
        "leaves": random.choice(random.normal(size=40), n),
        "last bits": 1 + random.integers(0, 60, n) * 2.0**-52,
    }[scores]
    actual = ndcg_score(
        y.reshape(-1, size), s.reshape(-1, size), k=10, ties=ties, average=None, gain="linear"
    )
    step = 1 if ties == "stable" else -1
    discounts = 1 / np.log2(np.arange(2, 12))
    for labels, row, value in zip(y.reshape(-1, size), s.reshape(-1, size), actual, strict=True):
        ranked = labels[::step][np.argsort(-row[::step], kind="stable")][:10]
        ideal = np.sort(labels)[::-1][:10] @ discounts
        assert value == pytest.approx(ranked @ discounts / ideal, rel=1e-12)


@pytest.mark.parametrize("n_decimals", [1, 2])
def test_decimals_and_few_distinct_scores_need_no_second_sort(n_decimals, monkeypatch):
    random = np.random.default_rng(0)
    y, s = random.integers(0, 3, (2_000, 10)), random.normal(size=(2_000, 10)).round(n_decimals)
    integers = np.rint(s * 10**n_decimals)
    expected = evaluate(y, integers, "ndcg@10", ties="stable")
    monkeypatch.delattr(engine, "sort_misranked")
    scaled = [s, s.astype(np.float32), integers.astype(int), *([s / 3] if n_decimals == 1 else [])]
    for scores in scaled:
        assert evaluate(y, scores, "ndcg@10", ties="stable") == expected
    scales = [engine.Documents(read_queries(y, scores)).scale for scores in (*scaled[:3], s / 3)]
    assert scales == [10**n_decimals, 10**n_decimals, 1, 1]


def test_a_higher_score_behind_equal_ones_that_fill_the_ranks():
    """It differs from them in a bit that keys with positions do not hold."""
    y, s = np.zeros((200, 120)), np.tile(np.arange(-120.0, 0) / 7, (200, 1))
    s[:, :60], s[:, 80], y[:, 80] = 1.0, 1.0 + 2**-52, 1
    for ties in BY_INPUT_ORDER:
        assert evaluate(y, s, "mrr@12", ties=ties) == {"mrr@12": 1.0}


def test_metrics_with_different_rules_of_ties_in_one_call(monkeypatch):
    random = np.random.default_rng(0)
    y, s = random.integers(0, 3, (3_000, 9)), random.integers(0, 4, (3_000, 9)) * 1.0
    names = [f"ndcg@5(ties={ties})" for ties in oracle.TIES] + ["map", "map(ties=reversed)"]
    together = evaluate(y, s, names, average=None)
    monkeypatch.setattr("sklearn_rankscore.ranking.ranking.PLAIN_UP_TO", np.inf)
    for name, values in evaluate(y, s, names, average=None).items():
        np.testing.assert_allclose(together[name], values, rtol=1e-13)
