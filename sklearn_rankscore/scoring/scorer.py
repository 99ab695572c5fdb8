"""A ranking metric as a scikit-learn scorer."""

from __future__ import annotations

import copy
from collections.abc import Hashable
from typing import Any

import numpy as np
import sklearn
from numpy.typing import ArrayLike
from sklearn.utils.metadata_routing import MetadataRequest, get_routing_for_object

from .._sklearn_compat import ScorerBase, metadata_request, num_samples, prediction_cache
from .._typing import IdSource, MatrixLike, QueryIds
from ..metrics.evaluate import MetricLike
from ..metrics.metric import measure
from ..metrics.names import parse_name
from ..metrics.resolve import resolve
from ..query_ids import find_query_ids, no_groups_error
from ..ranking import Queries, Ranking
from ..ranking.shapes import SINGLE_QUERY
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
REQUESTS: dict[str, bool | None] = {"groups": True, "qid": True, "sample_weight": None}


def make_ranking_scorer(
    metric: MetricLike, *, groups: IdSource = None, **options: Any
) -> RankingScorer:
    """Make a scorer from a ranking metric.

    Parameters
    ----------
    metric : str or callable
        A name such as ``"ndcg@10"`` or ``"map@5(threshold=1)"``, a metric function of this
        package, or any function of a block of ranked queries.
    groups : str, list of str, int or callable, default=None
        Where the query ids are: the name of a column or index level of X (or an index level of
        y), several names for ids that combine them, the position of a column of X, or a function
        of X; ``"none"`` takes all rows as one query, and ``"rows"`` each row of class scores, which
        ranks the classes. None looks for ``"qid"`` in X, then in the index of y, then for routed
        `groups`.
    **options
        Options of the metric, such as ``k=10`` or ``gain="exponential"``.

    Returns
    -------
    RankingScorer
        A callable ``scorer(estimator, X, y, *, groups=None, qid=None, sample_weight=None)``,
        accepted wherever scikit-learn has a `scoring` parameter. Higher is better. With metadata
        routing enabled it requests `groups` and `qid`.

    Raises
    ------
    ValueError
        For an unknown metric or option, and for ``average=None``.
    TypeError
        If `groups` holds query ids instead of the place where they are found, or `metric` is
        neither a name nor a function of a block.

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
    return RankingScorer(metric, groups, options)


class RankingScorer(ScorerBase):
    """Scorer that `make_ranking_scorer` returns and a name such as ``"ndcg@10"`` stands for.

    Attributes
    ----------
    metric, options
        The metric and its options, as given.
    groups : str, callable or None
        Where the query ids are.
    """

    _ids: QueryIds | None

    def __init__(
        self, metric: MetricLike, groups: IdSource = None, options: dict[str, Any] | None = None
    ) -> None:
        self.metric, self.options, self._ids = metric, dict(options or {}), None
        metric, self.groups, options = _read_groups(metric, groups, self.options)
        if isinstance(self.groups, list):
            self.groups = tuple(self.groups)  # several names; the cache of predictions hashes it
        if not isinstance(self.groups, Hashable):
            raise TypeError(
                "groups must be the name of a column or index level, or a function of X; got "
                f"{type(groups).__name__}. Pass the query ids of given rows to fit, split or score."
            )
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

    def __repr__(self) -> str:
        shown = [repr(self.metric)]
        if self.groups is not None and "groups" not in str(self.metric):
            shown.append(f"groups={self.groups!r}")
        shown += [f"{name}={value!r}" for name, value in self.options.items()]
        return f"make_ranking_scorer({', '.join(shown)})"

    def __call__(
        self,
        estimator: Any,
        X: MatrixLike,
        y_true: ArrayLike,
        *,
        groups: QueryIds | None = None,
        qid: QueryIds | None = None,
        sample_weight: ArrayLike | None = None,
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

        Returns
        -------
        float
            The score; higher is better.
        """
        return self._score(call_method, estimator, X, y_true, groups, qid, sample_weight)

    def _score(
        self,
        method_caller: CallMethod,
        estimator: Any,
        X: MatrixLike,
        y_true: ArrayLike,
        groups: QueryIds | None = None,
        qid: QueryIds | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        name = repr(self.metric)

        def read() -> Queries:
            ids = self._find_ids(X, y_true, groups, qid)
            scores = predict_scores(estimator, X, method_caller, per_class=ids is None)
            if ids is None:
                check_row_queries(estimator, X, y_true, scores, name, self.groups == EACH_ROW)
            return read_predictions(estimator, y_true, scores, ids, sample_weight, name)

        cache = prediction_cache(method_caller)
        if cache is None:
            return self._value(read())
        # Ranked queries are stored beside the predictions, so that all metrics need a single sort.
        inputs = (estimator, X, y_true, groups, qid, sample_weight)
        key = ("sklearn_rankscore", self.groups, *map(id, inputs))
        if key not in cache:
            # an object that the cache refers to keeps its id
            cache[key] = Ranking(read()).precompute(), inputs
        ranking, _ = cache[key]
        return self._value(ranking.queries, ranking)

    def score_labels(
        self,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        groups: QueryIds | None = None,
        qid: QueryIds | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Score predictions without their X, as threshold tuning does.

        Query ids can only be an index level of `y_true` or routed.

        Parameters
        ----------
        y_true : array-like of shape (n_documents,)
            Relevance.
        y_score : array-like of shape (n_documents,)
            Predictions.
        groups, qid, sample_weight : array-like of shape (n_documents,), default=None
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
        return self._value(read_predictions(None, y_true, scores, ids, sample_weight, name))

    def _find_ids(self, X: Any, y: Any, groups: QueryIds | None, qid: QueryIds | None) -> Any:
        if self.groups == SINGLE_QUERY:
            return np.zeros(num_samples(y), dtype=int)
        if self.groups == EACH_ROW:
            return None
        groups = self._ids if groups is None else groups
        return find_query_ids(X, y, groups=groups, qid=qid, id_source=self.groups)

    def _value(self, queries: Queries, ranking: Ranking | None = None) -> float:
        (values,) = measure(queries, [self._resolved], ranking=ranking)
        return float(self._resolved.aggregate(values, queries))

    # Each instance has its own requests: scikit-learn 1.8 ignores a class attribute
    # __metadata_request__score, and 1.9 does not inherit it.
    def get_metadata_routing(self) -> MetadataRequest:
        """Metadata that this scorer requests: `groups` and `qid`."""
        if "_metadata_request" in vars(self):
            return get_routing_for_object(self._metadata_request)
        return metadata_request(self, REQUESTS)

    def set_score_request(self, **requests: bool | str | None) -> RankingScorer:
        """Change what metadata routing passes, such as ``groups="session_id"``.

        Parameters
        ----------
        **requests
            `groups`, `qid` or `sample_weight`: True, False, None or the name it is passed under.

        Returns
        -------
        RankingScorer
            The scorer itself.

        Raises
        ------
        RuntimeError
            If metadata routing is not enabled.
        TypeError
            For a parameter that is none of the three.
        """
        if not sklearn.get_config()["enable_metadata_routing"]:
            raise RuntimeError(
                "This method is only available when metadata routing is enabled. You can enable "
                "it using sklearn.set_config(enable_metadata_routing=True)."
            )
        request = self.get_metadata_routing()
        for param, alias in requests.items():
            if param not in REQUESTS:
                raise TypeError(
                    f"a ranking scorer requests groups, qid and sample_weight; got {param!r}."
                )
            request.score.add_request(param=param, alias=alias)
        self._metadata_request = request
        return self


def _read_groups(
    metric: Any, groups: Any, options: dict[str, Any]
) -> tuple[Any, Any, dict[str, Any]]:
    """Metric, groups and options, with `groups` taken out of the name: no metric has it."""
    name, in_name = parse_name(metric) if isinstance(metric, str) else (metric, ())
    named = dict(in_name)
    if "groups" not in named:
        return metric, groups, options
    source = named.pop("groups")
    return name, SINGLE_QUERY if source is None else source, options | named


__all__ = ["RankingScorer", "make_ranking_scorer"]
