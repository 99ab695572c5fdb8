"""A ranking metric as a scikit-learn scorer."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn import get_config
from sklearn.utils.metadata_routing import MetadataRequest, get_routing_for_object

from .._sklearn_compat import ScorerBase, metadata_request, num_samples, prediction_cache
from .._typing import IdSource, MatrixLike, QueryIds
from ..metrics.evaluate import MetricLike
from ..metrics.fixed_values import warn_of_fixed_values
from ..metrics.metric import Metric, measure
from ..metrics.names import parse_name, with_options
from ..metrics.resolve import resolve, unbound
from ..query_ids import find_query_ids, no_groups_error
from ..ranking import Queries, Ranking
from ..ranking.shapes import SINGLE_QUERY
from .columns import ColumnSource, check_no_feature, find_target, read_places
from .pipelines import ids_after_steps
from .predictions import (
    EACH_ROW,
    CallMethod,
    call_method,
    check_row_queries,
    predict_scores,
    read_predictions,
)  # fmt: skip

# values of `groups` that name no ids
WITHOUT_IDS = (SINGLE_QUERY, EACH_ROW)

# the metadata that a scorer requests, row-aligned arrays that metadata routing passes
REQUESTS: dict[str, bool | None] = {
    "groups": True,
    "qid": True,
    "sample_weight": None,
    "propensity": None,
    "target": None,
}


def make_ranking_scorer(
    metric: MetricLike,
    *,
    groups: IdSource = None,
    propensity: ColumnSource = None,
    target: ColumnSource = None,
    **options: Any,
) -> RankingScorer:
    """Make a scorer from a ranking metric.

    Parameters
    ----------
    metric : str or callable
        A name such as ``"ndcg@10"`` or ``"map@5(threshold=1)"``, a metric function of this
        package, or any function of a block of ranked queries.
    groups : str or list of str, default=None
        Where the query ids are: the name of a column or index level of X (or an index level of y),
        or several names for ids that combine them; ``"none"`` takes all rows as one query, and
        ``"rows"`` each row of class scores, which ranks the classes. None looks for ``"qid"`` in X,
        then in the index of y, then for routed `groups`.
    propensity : str or int, default=None
        Where the probability is found that each document was examined, for labels that are clicks:
        the name of a column or index level of X (or an index level of y), or the position of a
        column of X. For DCG, NDCG, hits, precision, recall and RBP.
    target : str or int, default=None
        Where the labels for the evaluation are found, which replace y.
    **options
        Options of the metric, such as ``k=10`` or ``gain="exponential"``.

    Returns
    -------
    RankingScorer
        A callable ``scorer(estimator, X, y, *, groups=None, qid=None, sample_weight=None,
        propensity=None, target=None)``, accepted wherever scikit-learn has a `scoring` parameter.
        Higher is better. With metadata routing enabled it requests `groups` and `qid`.

    Raises
    ------
    ValueError
        For an unknown metric or option, and for ``average=None``.
    TypeError
        If `groups`, `propensity` or `target` holds values instead of the place where they are
        found, or `metric` is neither a name nor a function of a block.

    See Also
    --------
    QueryRanker : Its `drop_columns` keeps columns of propensities and targets from the features.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn_rankscore import QueryKFold, make_ranking, make_ranking_scorer
    >>> X, y = make_ranking(as_frame=True, random_state=0)
    >>> scorer = make_ranking_scorer("ndcg@10", gain="exponential")
    >>> cross_val_score(Ridge(), X, y, scoring=scorer, cv=QueryKFold(3)).shape
    (3,)
    """
    return RankingScorer(metric, groups, options, propensity, target)


class RankingScorer(ScorerBase):
    """Scorer that `make_ranking_scorer` returns and a name such as ``"ndcg@10"`` stands for.

    Attributes
    ----------
    metric, options
        The metric and its options, as given.
    groups : str, list of str or None
        Where the query ids are.
    propensity, target : str, int or None
        Where the propensities are, and the labels in place of y.
    """

    _ids: QueryIds | None

    def __init__(
        self,
        metric: MetricLike,
        groups: IdSource = None,
        options: dict[str, Any] | None = None,
        propensity: ColumnSource = None,
        target: ColumnSource = None,
    ) -> None:
        self.metric, self.options, self._ids = metric, dict(options or {}), None
        given = {"groups": groups, "propensity": propensity, "target": target}
        metric, places, options = read_places(metric, given, self.options)
        self.groups, self.target = places["groups"], places["target"]
        self.propensity = places["propensity"]
        if self.propensity is not None:
            options["propensity"] = self.propensity
        self._resolved = resolve(metric, **options)
        if self._resolved.average is None:
            raise ValueError(
                "a scorer returns one number, but average=None gives one per query. Use "
                "average='macro', or query_scores for the values of all queries."
            )

    def with_ids(self, ids: QueryIds) -> RankingScorer:
        """A copy that uses `ids` where it finds none itself, for the rows of one call."""
        scorer = copy.copy(self)
        scorer._ids = ids
        return scorer

    # Each instance has its own requests: scikit-learn 1.8 ignores a class attribute
    # __metadata_request__score, and 1.9 does not inherit it.
    def get_metadata_routing(self) -> MetadataRequest:
        """Metadata that this scorer requests: by default `groups` and `qid`."""
        if "_metadata_request" in vars(self):
            return get_routing_for_object(self._metadata_request)
        return metadata_request(self, REQUESTS)

    def set_score_request(self, **requests: bool | str | None) -> Self:
        """Change what metadata routing passes, such as ``groups="session_id"``.

        Parameters
        ----------
        **requests
            `groups`, `qid`, `sample_weight`, `propensity` or `target`: True, False, None or the
            name it is passed under.

        Returns
        -------
        RankingScorer
            The scorer itself.

        Raises
        ------
        RuntimeError
            If metadata routing is not enabled.
        TypeError
            For a parameter that is none of these.
        """
        if not get_config()["enable_metadata_routing"]:
            raise RuntimeError(
                "This method is only available when metadata routing is enabled. You can enable "
                "it using sklearn.set_config(enable_metadata_routing=True)."
            )
        request = self.get_metadata_routing()
        for param, alias in requests.items():
            if param not in REQUESTS:
                raise TypeError(f"a ranking scorer requests {', '.join(REQUESTS)}; got {param!r}.")
            request.score.add_request(param=param, alias=alias)
        self._metadata_request = request
        return self

    @property
    def resolved(self) -> Metric:
        """The metric with its options, which takes queries instead of an estimator."""
        return self._resolved

    @property
    def name(self) -> str:
        """The metric with its places and options, such as ``"recall@20(target=orders)"``."""
        places = {"propensity": self.propensity, "target": self.target}
        metric, bound = unbound(self.metric)
        name = metric if isinstance(metric, str) else self._resolved.name
        return with_options(name, places | bound | self.options)

    def __repr__(self) -> str:
        places = {"groups": self.groups, "propensity": self.propensity, "target": self.target}
        named = dict(parse_name(self.metric)[1]) if isinstance(self.metric, str) else {}
        given = {n: place for n, place in places.items() if place is not None and n not in named}
        shown = [f"{name}={value!r}" for name, value in (given | self.options).items()]
        return f"make_ranking_scorer({', '.join([repr(self.metric), *shown])})"

    def __call__(
        self,
        estimator: Any,
        X: MatrixLike,
        y_true: ArrayLike,
        *,
        groups: QueryIds | None = None,
        qid: QueryIds | None = None,
        sample_weight: ArrayLike | None = None,
        propensity: ArrayLike | None = None,
        target: ArrayLike | None = None,
    ) -> float:
        """Score the predictions of `estimator` for `X`.

        Parameters
        ----------
        estimator : estimator object
            Fitted. Documents are ranked by the decision values of a classifier of two classes, by
            the expected grade of one of several, and by what other estimators predict.
        X : array-like or DataFrame of shape (n_documents, n_features)
            Documents.
        y_true : array-like of shape (n_documents,)
            Relevance.
        groups, qid : array-like of shape (n_documents,), default=None
            Query ids. `qid` takes precedence over ids in `X` or `y_true`, these over `groups`.
        sample_weight : array-like of shape (n_documents,), default=None
            Weights, constant within each query.
        propensity, target : array-like of shape (n_documents,), default=None
            Propensities, and labels in place of `y_true`; they take precedence over those in `X`.

        Returns
        -------
        float
            The score; higher is better.
        """
        given = (groups, qid, sample_weight, propensity, target)
        return self._score(call_method, estimator, X, y_true, *given)

    def _score(
        self,
        method_caller: CallMethod,
        estimator: Any,
        X: MatrixLike,
        y_true: ArrayLike,
        groups: QueryIds | None = None,
        qid: QueryIds | None = None,
        sample_weight: ArrayLike | None = None,
        propensity: ArrayLike | None = None,
        target: ArrayLike | None = None,
    ) -> float:
        name, metric = repr(self.metric), self._with_propensity(propensity)
        check_no_feature(self, estimator, X)

        def read() -> Queries:
            ids = self._find_ids(X, y_true, groups, qid)
            if ids is None and self.groups is None:
                ids = ids_after_steps(estimator, X)
            labels = find_target(self, target, X, y_true)
            scores = predict_scores(estimator, X, method_caller, per_class=ids is None)
            if ids is None:
                check_row_queries(estimator, X, labels, scores, name, self.groups == EACH_ROW)
            return read_predictions(estimator, labels, scores, ids, sample_weight, name)

        cache = prediction_cache(method_caller)
        if cache is None:
            return _value(metric, read(), (X, y_true))
        # Ranked queries are stored beside the predictions, so that all metrics need a single sort.
        inputs = (estimator, X, y_true, groups, qid, sample_weight, target)
        key = ("sklearn_rankscore", self.groups, self.target, *map(id, inputs))
        if key not in cache:
            # an object that the cache refers to keeps its id
            cache[key] = Ranking(read()).cached(), inputs
        ranking, _ = cache[key]
        return _value(metric, ranking.queries, (X, y_true), ranking)

    def score_labels(
        self,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        groups: QueryIds | None = None,
        qid: QueryIds | None = None,
        sample_weight: ArrayLike | None = None,
        propensity: ArrayLike | None = None,
        target: ArrayLike | None = None,
    ) -> float:
        """Score predictions without their X, as threshold tuning does.

        Query ids, propensities and targets can only be index levels of `y_true` or routed.

        Parameters
        ----------
        y_true : array-like of shape (n_documents,)
            Relevance.
        y_score : array-like of shape (n_documents,)
            Predictions.
        groups, qid, sample_weight, propensity, target : array-like of shape (n_documents,), \
                default=None
            As for `__call__`.

        Returns
        -------
        float
            The score; higher is better.
        """
        name, scores = repr(self.metric), np.asarray(y_score)
        if callable(self.groups) and qid is None:
            raise no_groups_error(
                f"the metric {name}",
                fix=f"groups={self.groups!r} needs X, which is not given here.",
            )
        ids = self._find_ids(None, y_true, groups, qid)
        labels = find_target(self, target, None, y_true)
        queries = read_predictions(None, labels, scores, ids, sample_weight, name)
        return _value(self._with_propensity(propensity), queries, (y_true,))

    def _find_ids(self, X: Any, y: Any, groups: QueryIds | None, qid: QueryIds | None) -> Any:
        if self.groups == SINGLE_QUERY:
            return np.zeros(num_samples(y), dtype=int)
        if self.groups == EACH_ROW:
            return None
        groups = self._ids if groups is None else groups
        return find_query_ids(X, y, groups=groups, qid=qid, id_source=self.groups)

    def _with_propensity(self, given: Any) -> Metric:
        """The metric with the propensities of one call."""
        return self._resolved if given is None else replace(self._resolved, propensity=given)


def _value(
    metric: Metric, queries: Queries, data: tuple[Any, ...], ranking: Ranking | None = None
) -> float:
    warn_of_fixed_values(queries, [metric])
    (values,) = measure(queries, [metric], ranking=ranking, data=data)
    return float(metric.aggregate(values, queries))


__all__ = ["RankingScorer", "make_ranking_scorer"]
