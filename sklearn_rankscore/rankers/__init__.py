"""Rankers in scikit-learn's model selection, and ranking metrics during training."""

from .catboost import catboost_metric
from .lightgbm import lightgbm_metric
from .query_ranker import QueryRanker
from .xgboost import xgboost_metric

__all__ = ["QueryRanker", "catboost_metric", "lightgbm_metric", "xgboost_metric"]
