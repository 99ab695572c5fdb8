"""Splitters that keep queries whole, and the rule for which candidate of a search to refit."""

from .k_fold import QueryKFold, RepeatedQueryKFold
from .refit import one_standard_error
from .shuffle_split import QueryShuffleSplit
from .time_series_split import QueryTimeSeriesSplit
from .train_test_split import query_train_test_split

__all__ = [
    "QueryKFold",
    "QueryShuffleSplit",
    "QueryTimeSeriesSplit",
    "RepeatedQueryKFold",
    "one_standard_error",
    "query_train_test_split",
]
