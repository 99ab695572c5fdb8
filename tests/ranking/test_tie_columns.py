"""Tie groups of short rows, column by column, equal those of positions."""

import numpy as np
import pytest

from sklearn_rankscore.ranking.ties import TIES, TieColumns, TieGroups, leading


@pytest.mark.parametrize("share", [0.0, 0.4, 0.9, 1.0])
@pytest.mark.parametrize(("width", "depth"), [(1, 1), (2, 1), (2, 2), (7, 3), (16, 10), (16, 16)])
def test_groups_of_columns_equal_those_of_positions(width, depth, share):
    random = np.random.default_rng(width + depth)
    equals_next = random.random((200, width - 1)) < share
    values = random.integers(0, 32, (200, width)) / 32.0
    by_column, by_position = TieColumns(equals_next, depth), TieGroups(equals_next, depth)
    in_window, columns = values[:, : by_position.window], np.asfortranarray(values)
    np.testing.assert_array_equal(by_column.offset(), by_position.offset())
    np.testing.assert_array_equal(by_column.size(), by_position.size())
    for ties in TIES:
        result = by_column.apply_tie_rule(columns, ties)
        np.testing.assert_array_equal(result, by_position.apply_tie_rule(in_window.copy(), ties))
        assert result.flags.f_contiguous
    first = random.integers(0, depth, 200)
    np.testing.assert_array_equal(by_column.size_at(first), by_position.size_at(first))
    survival = by_column.survival(columns)
    np.testing.assert_array_equal(survival, by_position.survival(in_window))
    np.testing.assert_array_equal(columns, values)


@pytest.mark.parametrize("width", [1, 2, 16, 300])
def test_true_entries_at_the_beginning_in_either_memory_order(width):
    flags = np.random.default_rng(0).random((50, width)) < 0.8
    flags[:2] = [[True], [False]]
    expected = [[*row, False].index(False) for row in flags.tolist()]
    for order in "CF":
        assert leading(np.asarray(flags, order=order)).tolist() == expected


def test_an_infinite_gain_stays_in_its_group():
    equals_next = np.array([[True, False, True]])
    values = np.asfortranarray([[np.inf, 1.0, 2.0, 4.0]])
    means = TieColumns(equals_next, 4).apply_tie_rule(values, "average")
    assert means.tolist() == [[np.inf, np.inf, 3.0, 3.0]]
