"""Expected grades of documents, from the probabilities of classes."""

from __future__ import annotations

import numpy as np

from .._typing import Array

# a sum of some products has more correct bits than these, of 53
BITS = 40


def mean_grades(probabilities: Array, grades: Array) -> Array:
    """The mean grade of each document, in which equal means are ties.

    Their last bits are errors of rounding, in a product of matrices even for equal rows, and would
    break the ties of a vote of neighbors or trees.

    Parameters
    ----------
    probabilities : array of shape (n_documents, n_grades)
        Probabilities.
    grades : array of shape (n_grades,)
        The grade of each column.
    """
    columns = zip(probabilities.T, grades, strict=True)
    fractions, exponents = np.frexp(sum(column * grade for column, grade in columns))
    return np.asarray(np.ldexp(np.round(np.ldexp(fractions, BITS)), exponents - BITS))
