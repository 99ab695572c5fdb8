"""Ranking metrics: formulas, public functions, names, and the conventions of other libraries."""

from .auc import kendall_tau_score, pair_accuracy_score, query_auc_score, spearman_score
from .cascade import err_score, pfound_score
from .cumulative_gain import dcg_score, ndcg_score, rbp_score
from .evaluate import evaluate
from .hits import hit_rate_at_k, hits_at_k, mrr_score
from .incomplete_judgments import bpref_score, infap_score, judged_at_k
from .metric_names import metric_names
from .precision_recall import f1_at_k, map_score, precision_at_k, r_precision_score, recall_at_k

__all__ = [
    "bpref_score",
    "dcg_score",
    "err_score",
    "evaluate",
    "f1_at_k",
    "hit_rate_at_k",
    "hits_at_k",
    "infap_score",
    "judged_at_k",
    "kendall_tau_score",
    "map_score",
    "metric_names",
    "mrr_score",
    "ndcg_score",
    "pair_accuracy_score",
    "pfound_score",
    "precision_at_k",
    "query_auc_score",
    "r_precision_score",
    "rbp_score",
    "recall_at_k",
    "spearman_score",
]
