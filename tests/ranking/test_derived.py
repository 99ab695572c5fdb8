"""The block in random order: one tie group per query, in closed form."""

import numpy as np

from sklearn_rankscore import Block
from sklearn_rankscore.ranking.derived import in_random_order
from sklearn_rankscore.ranking.label_functions import linear, relevant

LABELS = [[2, 0, 1, 0], [1], [0, 0, 3], [1, 0, 2, 0], [0]]


def test_equals_a_block_of_tied_scores():
    scores = [np.arange(len(labels)) * 1.0 for labels in LABELS]
    scores[2][1] = -np.inf
    ours = in_random_order(Block.from_lists(LABELS, scores))
    tied = Block.from_lists(LABELS, [np.zeros(len(labels)) for labels in LABELS])
    assert ours.complete() is ours
    for ties in ("average", "optimistic"):
        np.testing.assert_allclose(ours.by_rank(linear, ties), tied.by_rank(linear, ties))
    within = tied.ranks <= tied.sizes[:, None]
    for own, theirs in zip(ours.tie_groups(), tied.tie_groups(), strict=True):
        np.testing.assert_array_equal(own[within], np.asarray(theirs)[within])
    survival = [block.survival(lambda labels: 1 - labels / 4) for block in (ours, tied)]
    np.testing.assert_allclose(survival[0], survival[1])
    first = [block.first_group(relevant(0), "average") for block in (ours, tied)]
    for field in ("before", "size", "count"):
        np.testing.assert_array_equal(getattr(first[0], field), getattr(first[1], field))
