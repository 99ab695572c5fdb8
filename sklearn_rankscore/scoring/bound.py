"""Scorers of one task that hand its query ids to ranking metrics, and to nothing else.

Without metadata routing, scikit-learn's own scorers refuse any parameter but `sample_weight`, so
ids cannot be given to a list of scorers that holds one of them.
"""

from __future__ import annotations

import copy
import inspect
from functools import partial
from typing import Any

from sklearn.frozen import FrozenEstimator
from sklearn.metrics import check_scoring

from .._sklearn_compat import FunctionScorer, MultimetricScorer, PassthroughScorer, Search
from ..metrics.names import name_of_function
from .pipelines import is_pipeline
from .scorer import WITHOUT_IDS, RankingScorer


class ScorerWithIds:
    """One scorer that takes `groups`."""

    def __init__(self, scorer: Any) -> None:
        self.scorer = scorer

    def __repr__(self) -> str:
        return repr(self.scorer)

    def __call__(self, estimator: Any, X: Any, y: Any, *, groups: Any, **params: Any) -> float:
        """Score with the ids of these rows."""
        value: float = bind(self.scorer, groups)(estimator, X, y, **params)
        return value


class ScorersWithIds(MultimetricScorer):
    """Several scorers that take `groups`; scikit-learn's own do not get them."""

    def __init__(self, scorers: Any) -> None:
        self.__dict__.update(vars(scorers))

    def __call__(self, estimator: Any, *args: Any, groups: Any, **params: Any) -> Any:
        """Score with the ids of these rows."""
        bound = copy.copy(self)
        bound._scorers = {name: bind(s, groups) for name, s in self._scorers.items()}
        return MultimetricScorer.__call__(bound, estimator, *args, **params)


class DefaultScorerWithIds(PassthroughScorer):
    """The scorer of ``scoring=None``, with the ids of the rows of one call."""

    def __init__(self, scorer: Any, ids: Any) -> None:
        super().__init__(scorer._estimator)
        self._ids = ids

    def __call__(self, estimator: Any, *args: Any, **params: Any) -> Any:
        """Score by the method `score` of the estimator."""
        return _score_with_ids(self._ids, estimator, *args, **params)


def _score_with_ids(ids: Any, estimator: Any, X: Any, *y: Any, **params: Any) -> Any:
    """What the method `score` of an estimator would return if pipelines and searches took ids."""
    estimator = _thawed(estimator)
    if is_pipeline(estimator):
        transformed = estimator[:-1].transform(X) if len(estimator.steps) > 1 else X
        return _score_with_ids(ids, estimator.steps[-1][1], transformed, *y, **params)
    if isinstance(estimator, Search) and estimator.refit:
        scorer = bind(scorer_of_search(estimator), ids)
        return scorer(estimator.best_estimator_, X, *y, **params)
    takes_qid = "qid" in inspect.signature(estimator.score).parameters
    return estimator.score(X, *y, **params, **{"qid" if takes_qid else "groups": ids})


def with_groups(scorer: Any) -> Any:
    """`scorer`, one or several, as a scorer that takes `groups`."""
    several = isinstance(scorer, MultimetricScorer)
    return ScorersWithIds(scorer) if several else ScorerWithIds(scorer)


def bind(scorer: Any, ids: Any) -> Any:
    """A scorer that uses `ids` where it finds none itself; others are returned unchanged."""
    if not ranks_queries(scorer):
        return scorer
    if isinstance(scorer, RankingScorer):
        return scorer.with_ids(ids)
    if isinstance(scorer, PassthroughScorer):
        return DefaultScorerWithIds(scorer, ids)
    bound = copy.copy(scorer)
    # a permutation test shuffles the labels together with their index
    aligned = ids.to_numpy() if hasattr(ids, "to_numpy") else ids
    bound._kwargs = {**scorer._kwargs, "groups": aligned}
    return bound


def ranks_queries(scorer: Any) -> bool:
    """Whether a scorer ranks the documents of each query, and so needs query ids."""
    if isinstance(scorer, RankingScorer):
        return scorer.groups not in WITHOUT_IDS
    if isinstance(scorer, PassthroughScorer):
        estimator = _thawed(scorer._estimator)
        if isinstance(estimator, Search):
            return ranks_queries(scorer_of_search(estimator))
        if is_pipeline(estimator):
            return ranks_queries(PassthroughScorer(estimator.steps[-1][1]))
        # `groups` of the score of other models may mean anything
        return hasattr(type(estimator), "needs_query_ids")
    return is_of_metric_function(scorer) and "groups" not in scorer._kwargs


def is_of_metric_function(scorer: Any) -> bool:
    """Whether `sklearn.metrics.make_scorer` made it of a metric function of this package."""
    if not isinstance(scorer, FunctionScorer) or isinstance(scorer, RankingScorer):
        return False
    function = scorer._score_func
    while isinstance(function, partial):
        if "groups" in function.keywords:
            return False
        function = function.func
    return name_of_function(function) is not None


def scorer_of_search(search: Any) -> Any:
    """The scorer of the method `score` of a search; None if its fit will refuse `scoring`."""
    try:
        scorer = check_scoring(search.estimator, scoring=search.scoring)
    except (TypeError, ValueError):
        return None
    return scorer._scorers.get(search.refit) if isinstance(scorer, MultimetricScorer) else scorer


def name_in_messages(scorer: Any) -> str:
    """A scorer as messages name it."""
    if isinstance(scorer, RankingScorer):
        return f"the metric {scorer.metric!r}"
    if isinstance(scorer, PassthroughScorer):  # of which older versions show the class
        return f"the scorer {type(scorer._estimator).__name__}.score"
    return f"the scorer {scorer!r}"


def _thawed(estimator: Any) -> Any:
    """A fitted estimator without the `FrozenEstimator` around it."""
    return estimator.estimator if isinstance(estimator, FrozenEstimator) else estimator
