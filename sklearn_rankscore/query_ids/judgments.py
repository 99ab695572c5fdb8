"""Which labels of 0 are those of documents that nobody judged.

The functions that read judgments give such documents the label 0 unless told otherwise. Metrics
that distinguish them, and ``unjudged="drop"``, need the difference, so it is remembered as long as
the array of labels lives.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import Array
from .by_array import ByArray

_judged_labels: ByArray[Array] = ByArray()


def fill_unjudged(labels: Array, unjudged: Array, dtype: np.dtype[Any]) -> Array:
    """Labels with 0 for unjudged documents; `judged_labels` returns them as they were."""
    if not unjudged.any():
        return labels
    filled = np.where(unjudged, 0, labels).astype(dtype, copy=False)
    _judged_labels[filled] = labels
    return filled


def judged_labels(labels: Any) -> Array | None:
    """The labels before they were filled; None if they are not known to be filled."""
    return _judged_labels.get(labels)
