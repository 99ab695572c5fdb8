"""The smallest values of each row, compared with a sort."""

import numpy as np
import pytest

from sklearn_rankscore.ranking.fast import row_sorts


@pytest.mark.parametrize("n", [1, 2, 11, 30])
@pytest.mark.parametrize("width", [2, 16, 17, 512, 513, 1000, 20_000])
@pytest.mark.parametrize("n_rows", [1, 40, 4000])
def test_the_smallest_of_each_row(n_rows, width, n):
    if n > width or n_rows * width > 10**6:
        return
    rows = np.random.default_rng(n).permutation(n_rows * width).reshape(n_rows, width)
    expected = np.sort(rows, axis=1)[:, :n]
    for dtype, scale in ((np.int32, 1), (np.int64, 2**40)):  # keys of either size fill all bits
        smallest = row_sorts.smallest((rows.astype(dtype) - rows.size // 2) * scale, n)
        np.testing.assert_array_equal(smallest[:, :n], (expected - rows.size // 2) * scale)


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint8])
@pytest.mark.parametrize("width", range(1, 17))
def test_a_sorting_network_sorts(width, dtype):
    """Every row of zeros and ones: a network that sorts these sorts everything."""
    rows = (np.arange(2**width)[:, None] >> np.arange(width) & 1).astype(dtype)
    assert (row_sorts._sort_columns(rows.copy(), width) == np.sort(rows, axis=1)).all()


@pytest.mark.parametrize("width", [600, 1200, 1201, 5000])
def test_a_tournament_gives_the_smallest_values(width):
    random = np.random.default_rng(width)
    rows = random.integers(0, [50, 10**9], (40, width, 2)).reshape(80, width).astype(np.int32)
    expected = np.sort(rows, axis=1)[:, :11]
    assert (row_sorts.smallest(rows, 11)[:, :11] == expected).all()
