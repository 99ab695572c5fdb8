"""Keys that begin with the rank of a score among few distinct ones."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_rankscore.ranking.fast import distinct_scores
from sklearn_rankscore.ranking.fast.distinct_scores import TRIED, write_ranks
from sklearn_rankscore.ranking.fast.keys import collides, labels_of, pad_keys

MASK = 7


def written(scores, mask=MASK):
    keys = np.zeros(len(scores), dtype=np.int32)
    labels = (np.arange(len(scores)) % (mask + 1)).astype(np.uint8)
    return keys if write_ranks(keys, labels, scores, mask) else None


@given(
    st.lists(
        st.floats(allow_nan=False)
        | st.sampled_from([0.0, -0.0, np.inf, -np.inf, 1.0, 1 + 2**-52, 5e-324]),
        min_size=1,
        max_size=30,
    )
)
def test_keys_are_ordered_like_descending_scores_and_equal_where_these_are(distinct):
    scores = np.random.default_rng(0).choice(np.array(distinct), 300)
    keys = written(scores)
    assert (labels_of(keys, MASK) == np.arange(300) % 8).all()
    high = keys >> 3
    assert ((high[:, None] < high) == (scores[:, None] > scores)).all()
    assert ((high[:, None] == high) == (scores[:, None] == scores)).all()


@pytest.mark.parametrize("dtype", ["f4", "i2", "u8", "?"])
def test_scores_of_any_dtype(dtype):
    scores = np.array([1, 0, 1, 0], dtype=dtype)
    assert (written(scores) >> 3).tolist() == [0, 1, 0, 1]


def test_a_score_that_first_occurs_late():
    scores = np.append(np.arange(5 * TRIED) % 7, [0.5, 7.5, 0.5]) * 0.1
    keys = written(scores) >> 3
    _, expected = np.unique(-scores, return_inverse=True)
    assert keys.tolist() == expected.tolist()


@pytest.mark.parametrize("multiplier", [1, 2**48])
def test_scores_that_share_a_slot_are_never_told_to_be_one(multiplier, monkeypatch):
    """With multipliers by which the last, and the first, bits of scores do not count."""
    monkeypatch.setattr(distinct_scores, "MULTIPLIERS", (multiplier,))
    equal_high, equal_low = [1.0, 1 + 2**-52], [1.0, 2.0]
    shared, other = (equal_high, equal_low) if multiplier == 1 else (equal_low, equal_high)
    assert written(np.array(other)) is not None
    assert written(np.array(shared)) is None
    assert written(np.append(np.full(TRIED, shared[0]), shared[1])) is None
    assert written(np.append(np.full(TRIED, 3.0), shared)) is None


def test_another_multiplier_is_tried(monkeypatch):
    monkeypatch.setattr(distinct_scores, "MULTIPLIERS", (1, 2**48))
    assert written(np.array([1.0, 1 + 2**-52])) is not None


def test_many_distinct_scores_are_refused():
    assert written(np.random.default_rng(0).normal(size=5_000)) is None


def test_scores_of_which_the_first_lack_many_are_refused_without_a_table(monkeypatch):
    random = np.random.default_rng(0)
    common, rare = random.integers(0, 20, 4 * TRIED), random.normal(size=4 * TRIED)
    monkeypatch.delattr(distinct_scores, "_enter")
    for share in (0.1, 0.5):
        assert written(np.where(random.random(4 * TRIED) < share, rare, common)) is None


def test_ranks_leave_room_for_labels_positions_and_padding():
    scores = np.arange(200.0)
    mask = (1 << 23) - 1
    keys = written(scores, mask)[:, None]
    assert (keys & mask == np.arange(200)[:, None]).all()
    rows = np.hstack([keys, keys])
    pad_keys(rows, np.ones(200, int), 1, mask)
    assert not collides(rows, mask).any()
    assert (rows[:, 1] > rows[:, 0]).all()
    assert written(scores, (1 << 24) - 1) is None
