"""Shapes of labels and scores that are likely to be mistakes."""

from __future__ import annotations

import warnings

from sklearn.exceptions import DataConversionWarning

from .._typing import Array
from .._validation import stacklevel_of_caller

# the value of `groups` that takes all documents as one query
SINGLE_QUERY = "none"
# a longer list without query ids is more likely to be many queries whose ids were forgotten
LONG_LIST = 1000


def ravel_column(array: Array) -> Array:
    """A column as one dimension, with scikit-learn's DataConversionWarning; others unchanged."""
    if array.ndim == 1 or array.shape[1:] != (1,):
        return array
    warnings.warn(
        "A column-vector y was passed when a 1d array was expected. Please change the shape of y "
        "to (n_samples,), for example using ravel().",
        DataConversionWarning,
        stacklevel=stacklevel_of_caller(),
    )
    return array[:, 0]


def check_not_columns(*shapes: tuple[int, ...]) -> None:
    """Refuse columns, which would be read as queries of one document each."""
    if any(len(shape) == 2 and shape[1] == 1 != shape[0] for shape in shapes):
        shown = " and ".join(map(str, shapes))
        raise ValueError(
            f"y_true and y_score have the shapes {shown}: each row would be a query of one "
            "document, whose ranking is always perfect. Pass one-dimensional arrays "
            "(y_true.ravel(), y_score.ravel()) with groups=, the query id of each row, or with "
            "groups='none' if all rows are one query."
        )


def check_single_query(scores: Array) -> None:
    """Warn about a long list without query ids."""
    if scores.ndim == 1 and len(scores) > LONG_LIST:
        warnings.warn(
            f"all {len(scores)} documents were ranked as a single query, because no query ids were "
            "given. Pass groups=, the query id of each document; if they are a single query, "
            "pass groups='none'.",
            UserWarning,
            stacklevel=stacklevel_of_caller(),
        )
