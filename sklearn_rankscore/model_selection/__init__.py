"""Ranking metrics inside scikit-learn's model selection."""

from .cut_queries import PartialQueryWarning
from .hold_out import QueryShuffleSplit, QueryTimeSeriesSplit, query_train_test_split
from .ranker import QueryRanker
from .refit import one_standard_error
from .registry import register, unregister
from .scorer import make_ranking_scorer
from .split import QueryKFold, RepeatedQueryKFold
from .training import catboost_metric, lightgbm_metric, xgboost_metric

__all__ = [
    "PartialQueryWarning",
    "QueryKFold",
    "QueryRanker",
    "QueryShuffleSplit",
    "QueryTimeSeriesSplit",
    "RepeatedQueryKFold",
    "catboost_metric",
    "lightgbm_metric",
    "make_ranking_scorer",
    "one_standard_error",
    "query_train_test_split",
    "register",
    "unregister",
    "xgboost_metric",
]
