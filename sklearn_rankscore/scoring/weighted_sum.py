"""A weighted sum of ranking metrics as one scorer."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from numpy.typing import ArrayLike

from .._sklearn_compat import prediction_cache
from .._typing import IdSource, MatrixLike, QueryIds
from .._validation import check_number
from ..metrics.evaluate import MetricLike
from .predictions import CallMethod, call_method
from .scorer import RankingScorer, read_place

# the name of the sum beside its parts
WHOLE = "weighted_sum"


def make_weighted_scorer(
    weights: Mapping[MetricLike | RankingScorer, float], *, groups: IdSource = None
) -> WeightedScorer:
    """Make a scorer that is the weighted sum of several ranking metrics.

    Parameters
    ----------
    weights : mapping of str, callable or RankingScorer to float
        The weight of each metric, above 0: names such as ``"recall@20(target=orders)"``, metric
        functions, or what `make_ranking_scorer` returns.
    groups : str or list of str, default=None
        Where the query ids are, as for `make_ranking_scorer`; the same for all parts. Those that
        name a place themselves must name the same one.

    Returns
    -------
    WeightedScorer
        A scorer that returns the sum, which is not divided by the sum of the weights. Higher is
        better. Its method `with_parts` returns a dict of the sum and each part, for the results of
        a search to show both.

    Raises
    ------
    ValueError
        If a weight is not positive, a name occurs twice, or parts read query ids from
        different places.
    TypeError
        If `weights` is not a mapping, a key is not a metric, or a weight is not a number.

    See Also
    --------
    make_ranking_scorer : A scorer of a single metric, which may have another target than y.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.model_selection import cross_validate
    >>> from sklearn_rankscore import QueryKFold, QueryRanker, make_ranking, make_weighted_scorer
    >>> X, y = make_ranking(as_frame=True, random_state=0)
    >>> scorer = make_weighted_scorer({"ndcg@10": 0.75, "mrr": 0.25})
    >>> scores = cross_validate(
    ...     QueryRanker(Ridge()), X, y, scoring=scorer.with_parts(), cv=QueryKFold(3)
    ... )
    >>> sorted(name for name in scores if name.startswith("test_"))
    ['test_mrr', 'test_ndcg@10', 'test_weighted_sum']
    """
    return WeightedScorer(weights, groups)


class WeightedScorer(RankingScorer):
    """Scorer that `make_weighted_scorer` returns.

    Attributes
    ----------
    parts : dict of str to RankingScorer
        The scorer of each metric by its name.
    weights : dict of str to float
        The weight of each metric.
    """

    def __init__(
        self, weights: Mapping[MetricLike | RankingScorer, float], groups: IdSource = None
    ) -> None:
        if not isinstance(weights, Mapping):
            kind = type(weights).__name__
            raise TypeError(f"weights must be a dict that maps metrics to weights; got {kind}.")
        if not weights:
            raise ValueError("weights is empty; name at least one metric, such as 'ndcg@10'.")
        self.parts: dict[str, RankingScorer] = {}
        self.weights: dict[str, float] = {}
        for metric, weight in weights.items():
            part = _part(metric, read_place(groups))
            if part.name in (WHOLE, *self.parts):
                raise ValueError(f"weights names {part.name!r} twice, or as the sum itself.")
            self.parts[part.name] = part
            self.weights[part.name] = check_number(f"the weight of {part.name!r}", weight)
            if weight <= 0:
                raise ValueError(f"the weight of {part.name!r} must be above 0; got {weight!r}.")
        given = [] if groups is None else [read_place(groups)]
        places = list(dict.fromkeys(given + [part.groups for part in self.parts.values()]))
        if len(places) > 1:
            raise ValueError(
                f"parts must read query ids from one place; got {places}. Give groups= to the sum."
            )
        (self.groups,) = places
        self.metric = " + ".join(f"{weight:g} * {name}" for name, weight in self.weights.items())
        self.options, self._ids, self.propensity, self.target = {}, None, None, None

    def with_ids(self, ids: QueryIds) -> WeightedScorer:
        """A copy whose parts use `ids` where they find none themselves."""
        scorer = copy.copy(self)
        scorer.parts = {name: part.with_ids(ids) for name, part in self.parts.items()}
        return scorer

    def with_parts(self) -> dict[str, RankingScorer]:
        """The sum and its parts, for `scoring` of searches and of `cross_validate`.

        Returns
        -------
        dict of str to RankingScorer
            The sum as ``"weighted_sum"``, which is the value for `refit`, and each metric by its
            name.
        """
        return {WHOLE: self, **self.parts}

    def __repr__(self) -> str:
        shown = ", ".join(f"{self.parts[name]!r}: {w!r}" for name, w in self.weights.items())
        return f"make_weighted_scorer({{{shown}}})"

    def _score(
        self, method_caller: CallMethod, estimator: Any, X: MatrixLike, y_true: Any, **given: Any
    ) -> float:
        if prediction_cache(method_caller) is None:
            method_caller = partial(_call_once, {})  # one prediction for all parts
        call = (method_caller, estimator, X, y_true)
        return self._sum(given, lambda part: part._score(*call, **given))

    def score_labels(self, y_true: ArrayLike, y_score: ArrayLike, **given: Any) -> float:
        """Score predictions without their X, as `RankingScorer.score_labels` does.

        Parameters
        ----------
        y_true, y_score : array-like of shape (n_documents,)
            Relevance and predictions.
        **given
            `groups`, `qid`, `sample_weight` or `propensity`, for all parts.

        Returns
        -------
        float
            The weighted sum.
        """
        return self._sum(given, lambda part: part.score_labels(y_true, y_score, **given))

    def _sum(self, given: dict[str, Any], value: Callable[[RankingScorer], float]) -> float:
        if given.get("target") is not None:
            name = "name one in each part, as in 'recall@20(target=orders)'."
            raise ValueError(f"a weighted sum takes no target for all of its parts; {name}")
        return float(sum(self.weights[name] * value(part) for name, part in self.parts.items()))


def _call_once(cache: dict[Any, Any], estimator: Any, method: str, X: MatrixLike) -> Any:
    if method not in cache:
        cache[method] = call_method(estimator, method, X)
    return cache[method]


def _part(metric: MetricLike | RankingScorer, groups: IdSource) -> RankingScorer:
    """The scorer of one metric; one without a place of the ids reads them from `groups`."""
    if isinstance(metric, WeightedScorer):
        raise TypeError("a part of a weighted sum must be a single metric; add the weights up.")
    if not isinstance(metric, RankingScorer):
        return RankingScorer(metric, groups)
    if metric.groups is not None:
        return metric
    part = copy.copy(metric)
    part.groups = groups
    return part
