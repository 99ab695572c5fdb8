"""Running sums and products, by column and by row, compared with NumPy's."""

import numpy as np
import pytest

from sklearn_rankscore.ranking.accumulate import MANY_ROWS, accumulate


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("function", [np.add, np.multiply, np.minimum])
@pytest.mark.parametrize(
    "shape", [(MANY_ROWS, 3), (MANY_ROWS - 1, 3), (MANY_ROWS, 40), (MANY_ROWS, 1), (0, 3), (1, 500)]
)
def test_as_numpy(function, order, shape):
    values = np.array(np.random.default_rng(0).random(shape), order=order)
    expected = function.accumulate(values, axis=1)
    result = accumulate(function, values)
    np.testing.assert_array_equal(result, expected)
    assert np.shares_memory(result, values) or not values.size
    assert result.strides == values.strides
