"""Ranking metrics, scorers and query-aware model selection for scikit-learn.

``import sklearn_rankscore`` makes names such as ``"ndcg@10"`` known wherever scikit-learn takes a
string for `scoring`:

>>> from sklearn.linear_model import Ridge
>>> from sklearn.model_selection import GridSearchCV
>>> from sklearn_rankscore import QueryKFold, QueryRanker, make_ranking
>>> X, y = make_ranking(as_frame=True, random_state=0)  # the query ids are X["qid"]
>>> search = GridSearchCV(
...     QueryRanker(Ridge()), {"estimator__alpha": [1, 100]}, scoring="ndcg@10", cv=QueryKFold(5)
... )
>>> bool(search.fit(X, y).best_score_ > 0.6)
True
"""

from importlib import import_module
from typing import TYPE_CHECKING

from . import metrics
from .metrics import *
from .model_selection import (
    QueryKFold,
    QueryShuffleSplit,
    QueryTimeSeriesSplit,
    RepeatedQueryKFold,
    one_standard_error,
    query_train_test_split,
)
from .query_ids import NoGroupsError
from .ranking import Block
from .scoring import (
    PartialQueryWarning,
    make_ranking_scorer,
    make_weighted_scorer,
    patch_sklearn,
    unpatch_sklearn,
)

if TYPE_CHECKING:
    from .comparison import (
        QueryScores,
        compare,
        cross_val_query_scores,
        query_permutation_importance,
        query_scores,
        rank_overlap,
        rectify,
        score_bounds,
    )
    from .datasets import load_lambdarank, load_letor, make_ranking
    from .io import (
        from_frames,
        from_ranked_lists,
        from_recommendations,
        from_relevance_lists,
        from_trec,
    )
    from .large import RankingAccumulator, evaluate_batches, evaluate_parquet
    from .metrics.clicks import estimate_propensity, position_propensity, propensity_summary
    from .plots import (
        CutoffCurveDisplay,
        DifferenceCurveDisplay,
        FeatureImportanceDisplay,
        ForestDisplay,
        LabelScoresDisplay,
        MeansDisplay,
        QueryDeltaDisplay,
        QueryLearningCurveDisplay,
        QueryPropertyDisplay,
        QueryScatterDisplay,
        RankChangeDisplay,
    )
    from .rankers import QueryRanker, catboost_metric, lightgbm_metric, xgboost_metric
    from .reports import convention_report, ranking_report

__version__ = "0.1.0"

__all__ = [
    "Block",
    "CutoffCurveDisplay",
    "DifferenceCurveDisplay",
    "FeatureImportanceDisplay",
    "ForestDisplay",
    "LabelScoresDisplay",
    "MeansDisplay",
    "NoGroupsError",
    "PartialQueryWarning",
    "QueryDeltaDisplay",
    "QueryKFold",
    "QueryLearningCurveDisplay",
    "QueryPropertyDisplay",
    "QueryRanker",
    "QueryScatterDisplay",
    "QueryScores",
    "QueryShuffleSplit",
    "QueryTimeSeriesSplit",
    "RankChangeDisplay",
    "RankingAccumulator",
    "RepeatedQueryKFold",
    "catboost_metric",
    "compare",
    "convention_report",
    "cross_val_query_scores",
    "estimate_propensity",
    "evaluate_batches",
    "evaluate_parquet",
    "from_frames",
    "from_ranked_lists",
    "from_recommendations",
    "from_relevance_lists",
    "from_trec",
    "lightgbm_metric",
    "load_lambdarank",
    "load_letor",
    "make_ranking",
    "make_ranking_scorer",
    "make_weighted_scorer",
    "one_standard_error",
    "patch_sklearn",
    "position_propensity",
    "propensity_summary",
    "query_permutation_importance",
    "query_scores",
    "query_train_test_split",
    "rank_overlap",
    "ranking_report",
    "rectify",
    "score_bounds",
    "unpatch_sklearn",
    "xgboost_metric",
]
__all__ += metrics.__all__
__all__.sort()  # pyright: ignore[reportUnsupportedDunderAll]

# parts of the package that metrics and scoring strings do not need: imported at the first use of a
# name, because a process that only computes metrics would wait for them
_LATER = {
    "metrics.clicks": ["estimate_propensity", "position_propensity", "propensity_summary"],
    "datasets": ["load_lambdarank", "load_letor", "make_ranking"],
    "comparison": [
        "QueryScores",
        "compare",
        "cross_val_query_scores",
        "query_permutation_importance",
        "query_scores",
        "rank_overlap",
        "rectify",
        "score_bounds",
    ],
    "io": [
        "from_frames",
        "from_ranked_lists",
        "from_recommendations",
        "from_relevance_lists",
        "from_trec",
    ],
    "plots": [
        "CutoffCurveDisplay",
        "DifferenceCurveDisplay",
        "FeatureImportanceDisplay",
        "ForestDisplay",
        "LabelScoresDisplay",
        "MeansDisplay",
        "QueryDeltaDisplay",
        "QueryLearningCurveDisplay",
        "QueryPropertyDisplay",
        "QueryScatterDisplay",
        "RankChangeDisplay",
    ],
    "rankers": ["QueryRanker", "catboost_metric", "lightgbm_metric", "xgboost_metric"],
    "reports": ["convention_report", "ranking_report"],
    "large": ["RankingAccumulator", "evaluate_batches", "evaluate_parquet"],
}
_PART_OF = {name: part for part, names in _LATER.items() for name in names}

if not TYPE_CHECKING:

    def __getattr__(name):
        if name in _LATER:
            return import_module(f".{name}", __name__)
        if name in _PART_OF:
            globals()[name] = getattr(import_module(f".{_PART_OF[name]}", __name__), name)
            return globals()[name]
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


patch_sklearn()
