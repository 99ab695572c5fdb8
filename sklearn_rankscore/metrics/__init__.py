"""Ranking metrics: pages over kernels, their names, and other libraries' conventions."""

from .average_precision import map_score, r_precision_score
from .cascade import err_score, pfound_score, rbp_score
from .correlation import kendall_tau_score, query_auc_score, spearman_score
from .gain import dcg_score, ndcg_score
from .hits import hit_rate_at_k, hits_at_k, mrr_score
from .names import evaluate
from .relevance import f1_at_k, precision_at_k, recall_at_k

__all__ = [
    "dcg_score",
    "err_score",
    "evaluate",
    "f1_at_k",
    "hit_rate_at_k",
    "hits_at_k",
    "kendall_tau_score",
    "map_score",
    "mrr_score",
    "ndcg_score",
    "pfound_score",
    "precision_at_k",
    "query_auc_score",
    "r_precision_score",
    "rbp_score",
    "recall_at_k",
    "spearman_score",
]
