"""Scorers of one task that hand query ids to ranking metrics, and to nothing else.

Without metadata routing, scikit-learn's own scorers refuse any parameter but `sample_weight`, so
ids cannot be given to a list of scorers that holds one of them.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from sklearn.frozen import FrozenEstimator
from sklearn.metrics import check_scoring

from .._sklearn_compat import (
    FunctionScorer,
    MultimetricScorer,
    PassthroughScorer,
    Search,
    list_scorers,
    num_samples,
)
from ..metrics.names import METRICS, display_name, name_of_function
from ..query_ids import find_query_ids
from .pipelines import is_pipeline
from .scorer import WITHOUT_IDS, RankingScorer


class ScorerWithIds:
    """One scorer that takes `groups`."""

    def __init__(self, scorer: Any) -> None:
        self.scorer = scorer

    def __repr__(self) -> str:
        return repr(self.scorer)

    def __call__(self, estimator: Any, X: Any, y_true: Any, *, groups: Any, **params: Any) -> float:
        """Score with the ids of these rows."""
        value: float = _bind(self.scorer, groups)(estimator, X, y_true, **params)
        return value


class ScorersWithIds(MultimetricScorer):
    """Several scorers that take `groups`; scikit-learn's own do not get them."""

    def __init__(self, scorers: Any) -> None:
        self.__dict__.update(vars(scorers))

    def __call__(self, estimator: Any, *args: Any, groups: Any, **params: Any) -> Any:
        """Score with the ids of these rows."""
        bound = copy.copy(self)
        bound._scorers = {name: _bind(s, groups) for name, s in self._scorers.items()}
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
    estimator = thawed(estimator)
    if is_pipeline(estimator):
        transformed = estimator[:-1].transform(X) if len(estimator.steps) > 1 else X
        return _score_with_ids(ids, estimator.steps[-1][1], transformed, *y, **params)
    if isinstance(estimator, Search) and estimator.refit:
        scorer = _bind(_scorer_of_search(estimator), ids)
        return scorer(estimator.best_estimator_, X, *y, **params)
    name = "qid" if _takes(estimator, "qid") else "groups"
    return estimator.score(X, *y, **params, **{name: ids})


def takes_groups(scorer: Any) -> Any:
    """`scorer`, one or several, as a scorer that takes `groups`."""
    several = isinstance(scorer, MultimetricScorer)
    return ScorersWithIds(scorer) if several else ScorerWithIds(scorer)


def scorers_of_queries(scorer: Any) -> list[Any]:
    """Those of one or several scorers that rank within queries."""
    return [candidate for candidate in list_scorers(scorer) if _ranks_within_queries(candidate)]


def query_ids_for(scorer: Any, X: Any, y: Any, params: dict[str, Any]) -> Any:
    """The ids that a scorer that ranks within queries finds itself; None without any."""
    groups, qid = params.get("groups"), params.get("qid")
    source = getattr(scorer, "groups", None)
    if isinstance(scorer, PassthroughScorer):
        estimator = thawed(scorer._estimator)
        if isinstance(estimator, Search):
            return query_ids_for(_scorer_of_search(estimator), X, y, params)
        if is_pipeline(estimator):
            return None  # the steps may drop ids from X
        source = getattr(estimator, "groups", None)
    if is_function_scorer(scorer):
        return groups  # it sees labels and scores, but not X
    return find_query_ids(X, y, groups=groups, qid=qid, id_source=source)


def finds_ids_after_steps(scorer: Any, estimator: Any) -> bool:
    """Whether a scorer finds the ids that the ranker of a pipeline reads after its other steps."""
    return is_pipeline(estimator) and isinstance(scorer, PassthroughScorer | RankingScorer)


def check_function(scorer: Any, test: Any) -> None:
    """Refuse a metric function in the place of a scorer, and one that holds ids of other rows."""
    if (name := name_of_function(getattr(scorer, "func", scorer))) is not None:
        example = f"{name}@10" if "k" in METRICS[name].options else name
        raise TypeError(
            f"scoring={display_name(scorer)} is a function of labels and scores, not a scorer: use "
            f"scoring={example!r}, or make_ranking_scorer({name!r}, ...) with its options."
        )
    ids = _options(scorer).get("groups") if is_function_scorer(scorer) else None
    if ids is not None and test is not None and num_samples(ids) != num_samples(test):
        raise ValueError(
            "make_scorer(..., groups=ids) passes the ids of all rows to each fold. Leave groups "
            "out there, and pass groups=ids and cv=QueryKFold(5) to this call."
        )


def is_function_scorer(scorer: Any) -> bool:
    """Whether `sklearn.metrics.make_scorer` made it of a metric function of this package."""
    if not isinstance(scorer, FunctionScorer) or isinstance(scorer, RankingScorer):
        return False
    function = scorer._score_func
    return (
        name_of_function(function.func if isinstance(function, partial) else function) is not None
    )


def _options(scorer: Any) -> dict[str, Any]:
    """What such a scorer passes to its function, besides labels and scores."""
    bound = scorer._score_func.keywords if isinstance(scorer._score_func, partial) else {}
    return {**bound, **scorer._kwargs}


def _ranks_within_queries(scorer: Any) -> bool:
    if isinstance(scorer, RankingScorer):
        return scorer.groups not in WITHOUT_IDS
    if isinstance(scorer, PassthroughScorer):
        estimator = thawed(scorer._estimator)
        if isinstance(estimator, Search):
            return _ranks_within_queries(_scorer_of_search(estimator))
        if is_pipeline(estimator):
            return _ranks_within_queries(PassthroughScorer(estimator.steps[-1][1]))
        # `groups` of the score of other models may mean anything
        return hasattr(type(estimator), "needs_query_ids")
    return is_function_scorer(scorer) and "groups" not in _options(scorer)


def _bind(scorer: Any, ids: Any) -> Any:
    """A scorer that uses `ids` where it finds none itself; others are returned unchanged."""
    if isinstance(scorer, RankingScorer):
        return scorer.with_ids(ids)
    if isinstance(scorer, PassthroughScorer) and _ranks_within_queries(scorer):
        return DefaultScorerWithIds(scorer, ids)
    if is_function_scorer(scorer) and "groups" not in _options(scorer):
        bound = copy.copy(scorer)
        # a permutation test shuffles the labels together with their index
        aligned = ids.to_numpy() if hasattr(ids, "to_numpy") else ids
        bound._kwargs = {**scorer._kwargs, "groups": aligned}
        return bound
    return scorer


def scorers_of_search(search: Any) -> Any:
    """The scorer of a search, one or several, fitted or not; None if its fit will refuse it."""
    try:
        return check_scoring(search.estimator, scoring=search.scoring)
    except (TypeError, ValueError):
        return None


def rankers_in(estimator: Any) -> Iterator[Any]:
    """Every `QueryRanker` in an estimator that cannot be fitted without query ids."""
    return _parts(estimator, lambda part: getattr(part, "needs_query_ids", False))


def query_rankers_in(estimator: Any) -> Iterator[Any]:
    """Every `QueryRanker` in an estimator, pointwise ones included."""
    return _parts(estimator, lambda part: hasattr(type(part), "needs_query_ids"))


def searches_in(estimator: Any) -> Iterator[Any]:
    """Every search in an estimator."""
    return _parts(estimator, lambda part: isinstance(part, Search))


def follows_steps(model: Any, estimator: Any) -> bool:
    """Whether a part of an estimator is fitted to what the steps of a pipeline return."""
    pipelines = _parts(estimator, lambda part: is_pipeline(part) and len(part.steps) > 1)
    last_steps = (pipeline.steps[-1][1] for pipeline in pipelines)
    return any(any(_parts(last, lambda part: part is model)) for last in last_steps)


def thawed(estimator: Any) -> Any:
    """A fitted estimator without the `FrozenEstimator` around it."""
    return estimator.estimator if isinstance(estimator, FrozenEstimator) else estimator


def _parts(estimator: Any, is_wanted: Callable[[Any], bool]) -> Iterator[Any]:
    """The parts of an estimator that its fit would fit."""
    parts = [estimator, *estimator.get_params(deep=True).values()]
    frozen = [part for part in parts if isinstance(part, FrozenEstimator)]
    seen = set(map(id, frozen))
    seen |= {id(inner) for part in frozen for inner in part.get_params(deep=True).values()}
    for part in parts:
        if is_wanted(part) and id(part) not in seen:
            seen.add(id(part))
            yield part


def _scorer_of_search(search: Any) -> Any:
    """The scorer of the method `score` of a search, fitted or not."""
    scorer = scorers_of_search(search)
    return scorer._scorers.get(search.refit) if isinstance(scorer, MultimetricScorer) else scorer


def _takes(estimator: Any, param: str) -> bool:
    return param in inspect.signature(estimator.score).parameters


def name_in_messages(scorer: Any) -> str:
    """A scorer as messages name it."""
    if isinstance(scorer, RankingScorer):
        return f"the metric {scorer.metric!r}"
    if isinstance(scorer, PassthroughScorer):  # of which older versions show the class
        return f"the scorer {type(scorer._estimator).__name__}.score"
    return f"the scorer {scorer!r}"
