"""Rankers in scikit-learn's model selection, and ranking metrics during training."""

from .boosters.catboost import catboost_metric
from .boosters.lightgbm import lightgbm_metric
from .boosters.xgboost import xgboost_metric
from .query_ranker import QueryRanker

__all__ = ["QueryRanker", "catboost_metric", "lightgbm_metric", "xgboost_metric"]
