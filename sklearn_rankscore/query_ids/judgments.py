"""Which labels are those of documents that nobody judged.

The functions that read judgments give such documents the label 0, or that of the pool. Metrics
that distinguish them, and ``unjudged="drop"``, need the difference, so it is remembered as long as
the array of labels lives.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import Array
from .by_array import ByArray

_judged_labels: ByArray[Array] = ByArray()
_labels_of_pools: ByArray[bool] = ByArray()


def fill_unjudged(labels: Array, unjudged: Array, dtype: np.dtype[Any]) -> Array:
    """Labels with 0 for unjudged documents; `judged_labels` returns theirs as they were."""
    if not unjudged.any():
        return labels
    filled = np.where(unjudged, 0, labels).astype(dtype, copy=False)
    # a negative label of a judged document must not be taken for that of a pool
    _judged_labels[filled] = np.where(unjudged, labels, 0)
    return filled


def record_pool(labels: Array) -> Array:
    """The labels themselves; `judged_labels` knows that negative ones mean not judged."""
    _labels_of_pools[labels] = True
    return labels


def judged_labels(labels: Any) -> Array | None:
    """NaN or negative labels where documents are unjudged, else no negative ones.

    None if nothing is known.
    """
    return labels if _labels_of_pools.get(labels) else _judged_labels.get(labels)
