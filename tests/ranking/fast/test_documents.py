"""Rows of documents."""

import numpy as np
import pytest

from sklearn_rankscore.ranking import read_queries
from sklearn_rankscore.ranking.fast import documents


def test_rows_of_documents():
    y, s = [2, 0, 1, 0, 1], [0.3, 0.2, -np.inf, 0.9, 0.4]
    many = documents.Documents(read_queries(y, s, groups=["b", "b", "b", "a", "a"]))
    assert many.by_start.tolist() == [1, 0]
    assert many.retrieved.tolist() == [2, 2]
    labels, scores = many.rows(np.array([0, 1]), 4)
    assert labels.tolist() == [[1, 2, 0, 0], [3, 1, 2, 0]]  # labels plus one, and padding
    assert scores.tolist() == [[0.9, 0.4, -np.inf, -np.inf], [0.3, 0.2, -np.inf, -np.inf]]


@pytest.mark.parametrize("starts", [[0], [3], [5], [0, 4], [1, 5, 2], [0, 1, 2, 3, 4, 5]])
@pytest.mark.parametrize("width", [1, 2, 4, 6, 7, 9])
def test_rows_begin_where_they_should(starts, width):
    values = np.arange(10.0, 16.0)
    rows = documents._gather(values, np.array(starts), width)
    assert rows.shape == (len(starts), width)
    for row, start in zip(rows, starts, strict=True):
        expected = values[start : start + width]
        assert row[: len(expected)].tolist() == expected.tolist()
