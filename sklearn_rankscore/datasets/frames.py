"""Data sets as DataFrames with the query ids in the index."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._typing import Array
from .._validation import installed

if TYPE_CHECKING:
    import pandas as pd


def with_index(
    X: Array, y: Array, groups: Array, feature_names: list[str]
) -> tuple[pd.DataFrame, pd.Series]:
    """Features and labels whose index, named "qid", holds the query ids."""
    pd = installed("pandas", "as_frame=True")
    index = pd.Index(groups, name="qid")
    return pd.DataFrame(X, index, feature_names), pd.Series(y, index, name="relevance")
