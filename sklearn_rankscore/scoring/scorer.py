"""A ranking metric as a scikit-learn scorer."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import replace
from numbers import Integral
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from sklearn import get_config
from sklearn.utils.metadata_routing import MetadataRequest, get_routing_for_object

from .._columns import as_column, as_numbers, column_names
from .._sklearn_compat import ScorerBase, Search, metadata_request, num_samples, prediction_cache
from .._typing import IdSource, MatrixLike, QueryIds
from .._validation import is_integer
from ..metrics.evaluate import MetricLike
from ..metrics.labels import warn_of_fixed_values
from ..metrics.metric import Metric, measure
from ..metrics.names import OF_DATA, parse_name, with_options
from ..metrics.propensity import check_propensities, find_column
from ..metrics.resolve import resolve, unbound
from ..query_ids import find_query_ids
from ..query_ids.lookup import check_place, check_same_order
from ..ranking import Queries, Ranking
from ..ranking.queries import SINGLE_QUERY
from .predictions import EACH_ROW, CallMethod, call_method, predict_scores, read_predictions

# the name of a column or index level of X, an index level of y, or the position of a column of X
ColumnSource: TypeAlias = str | int | None

# models that use all columns of X as features
OF_MODELS = ("sklearn", "lightgbm", "xgboost", "catboost")

# values of `groups` that name no ids
WITHOUT_IDS = (SINGLE_QUERY, EACH_ROW)

# the metadata that a scorer requests, row-aligned arrays that metadata routing passes
REQUESTS: dict[str, bool | None] = {"groups": True, "qid": True}
REQUESTS |= dict.fromkeys(["sample_weight", "propensity", "target"])


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
    resolved : Metric
        The metric with its options, which takes queries instead of an estimator.
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
        self.resolved = resolve(metric, **options)
        if self.resolved.average is None:
            raise ValueError("a scorer returns one number; average=None gives one per query.")

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
            raise RuntimeError("This method is only available when metadata routing is enabled.")
        _check_requests(requests)
        request = self.get_metadata_routing()
        for param, alias in requests.items():
            request.score.add_request(param=param, alias=alias)
        self._metadata_request = request
        return self

    @property
    def name(self) -> str:
        """The metric with its places and options, such as ``"recall@20(target=orders)"``."""
        places = {"propensity": self.propensity, "target": self.target}
        metric, bound = unbound(self.metric)
        name = metric if isinstance(metric, str) else self.resolved.name
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
        given = {"sample_weight": sample_weight, "propensity": propensity, "target": target}
        return self._score(call_method, estimator, X, y_true, groups=groups, qid=qid, **given)

    def _score(
        self, method_caller: CallMethod, estimator: Any, X: MatrixLike, y_true: Any, **given: Any
    ) -> float:
        name, metric = repr(self.metric), self._with_propensity(given)
        check_no_feature(self, estimator, X)

        def read() -> Queries:
            ids = self._find_ids(X, y_true, given)
            labels = find_target(self, given.get("target"), X, y_true)
            scores = predict_scores(estimator, X, method_caller, per_class=ids is None)
            data = estimator, labels, scores, ids, given.get("sample_weight"), name
            return read_predictions(*data, X=X, in_rows=self.groups == EACH_ROW)

        cache = prediction_cache(method_caller)
        if cache is None:
            return _value(metric, read(), (X, y_true))
        # Ranked queries are stored beside the predictions, so that all metrics need a single sort.
        inputs = (estimator, X, y_true, *(given.get(n) for n in REQUESTS if n != "propensity"))
        key = ("sklearn_rankscore", self.groups, self.target, *map(id, inputs))
        if key not in cache:
            # an object that the cache refers to keeps its id
            cache[key] = Ranking(read()).cached(), inputs
        ranking, _ = cache[key]
        return _value(metric, ranking.queries, (X, y_true), ranking)

    def score_labels(self, y_true: ArrayLike, y_score: ArrayLike, **given: Any) -> float:
        """Score predictions without their X, as threshold tuning does.

        Query ids, propensities and targets can only be index levels of `y_true` or routed.

        Parameters
        ----------
        y_true : array-like of shape (n_documents,)
            Relevance.
        y_score : array-like of shape (n_documents,)
            Predictions.
        **given
            `groups`, `qid`, `sample_weight`, `propensity` and `target`, as for `__call__`.

        Returns
        -------
        float
            The score; higher is better.
        """
        metric, ids = self._with_propensity(given), self._find_ids(None, y_true, given)
        labels = find_target(self, given.get("target"), None, y_true)
        weight, name = given.get("sample_weight"), repr(self.metric)
        queries = read_predictions(None, labels, np.asarray(y_score), ids, weight, name)
        return _value(metric, queries, (y_true,))

    def _find_ids(self, X: Any, y: Any, given: dict[str, Any]) -> Any:
        if self.groups == SINGLE_QUERY:
            return np.zeros(num_samples(y), dtype=int)
        if self.groups == EACH_ROW:
            return None
        groups = self._ids if given.get("groups") is None else given["groups"]
        return find_query_ids(X, y, groups=groups, qid=given.get("qid"), id_source=self.groups)

    def _with_propensity(self, given: dict[str, Any]) -> Metric:
        """The metric with the propensities of one call, of which it takes no other arguments."""
        _check_requests(given)
        propensity, metric = given.get("propensity"), self.resolved
        return metric if propensity is None else replace(metric, propensity=propensity)


def _check_requests(names: Iterable[str]) -> None:
    for name in names:
        if name not in REQUESTS:
            raise TypeError(f"a ranking scorer requests {', '.join(REQUESTS)}; got {name!r}.")


def _value(
    metric: Metric, queries: Queries, data: tuple[Any, ...], ranking: Ranking | None = None
) -> float:
    warn_of_fixed_values(queries, [metric])
    (values,) = measure(queries, [metric], ranking=ranking, data=data)
    return float(metric.aggregate(values, queries))


def read_places(
    metric: Any, given: dict[str, Any], options: dict[str, Any]
) -> tuple[Any, dict[str, Any], dict[str, Any]]:
    """Metric, places of columns and options, with the places taken out of the name."""
    name, options_of_name = parse_name(metric) if isinstance(metric, str) else (metric, ())
    named = dict(options_of_name)
    in_name = {place: named.pop(place) for place in OF_DATA if place in named}
    if in_name.get("groups", "") is None:
        in_name["groups"] = SINGLE_QUERY
    places = {
        place: read_place(source) if place == "groups" else check_source(place, source)
        for place, source in (given | in_name).items()
    }
    return (name, places, options | named) if in_name else (metric, places, dict(options))


def read_place(groups: IdSource) -> IdSource:
    """A place of query ids; several names as a tuple, which the cache of predictions can hash."""
    check_place(groups)
    return tuple(groups) if isinstance(groups, list) else groups


def check_source(option: str, source: Any, hint: str = "") -> Any:
    """A place where values are found, not the values themselves; `hint` says how to pass these."""
    if source is None or isinstance(source, str):
        return source
    if is_integer(source):
        return int(source)
    hint = hint or f"Values are passed by set_score_request({option}=True) and metadata routing."
    raise TypeError(
        f"{option} must be the name of a column or index level of X, or the position of a column; "
        f"got {type(source).__name__}. {hint}"
    )


def find_target(scorer: Any, given: Any, X: Any, y: Any) -> Any:
    """The labels to judge by: those given, those at the scorer's target, or else `y`."""
    if given is None and scorer.target is None:
        return y
    check_same_order(X=X, target=given)
    values = find_column(scorer.target, (X, y), "target") if given is None else given
    shown = "target" if given is not None else f"target {scorer.target!r}"
    # NaN is left to the metric if it has a rule for documents that nobody judged
    read = as_numbers if scorer.resolved.unjudged == "error" else as_column
    read(values, shown)
    return values


def check_columns(scorer: Any, X: Any, y: Any) -> None:
    """Refuse a scorer whose columns are missing, or hold what it cannot read."""
    find_target(scorer, None, X, y)
    if scorer.propensity is not None:
        given = find_column(scorer.propensity, (X, y), "propensity")
        check_propensities(given, f"propensity {scorer.propensity!r}")


def check_no_feature(scorer: Any, estimator: Any, X: Any) -> None:
    """Refuse a model that has a column of the scorer among its features."""
    for option in ("target", "propensity"):
        source = getattr(scorer, option)
        position = None if source is None else _position(source, X)
        if position is not None and _is_feature(position, estimator, X):
            names = column_names(X)
            name = names[position] if names else source
            raise ValueError(
                f"the column {name!r} of X, which is the {option} of the metric {scorer.name!r}, "
                f"is a feature of {type(estimator).__name__} as well: make it an index level, or "
                f"leave it out by QueryRanker(..., drop_columns=[{name!r}])."
            )


def _is_feature(position: int, estimator: Any, X: Any) -> bool:
    """Whether a column is a feature for certain, in a model that chooses none of its columns."""
    names = column_names(X)
    while isinstance(estimator, Search) or hasattr(estimator, "drop_columns"):
        # integers among `drop_columns` are names where columns have such names
        for column in listed(getattr(estimator, "drop_columns", None)):
            if position == (names.index(column) if column in names else _position(column, X)):
                return False
        estimator = estimator.estimator
    if type(estimator).__module__.partition(".")[0] not in OF_MODELS:
        return False
    params = estimator.get_params(deep=True).values()
    return not any(hasattr(value, "fit") for value in params)


def _position(source: Any, X: Any) -> int | None:
    """The position of a column, None for an index level; an integer is a position."""
    names = column_names(X)
    if isinstance(source, str):
        return names.index(source) if source in names else None
    width = len(names) if names else np.shape(X)[-1]
    return int(source) % width if -width <= source < width else None


def listed(columns: Any) -> list[Any]:
    """One or several names or positions as a list."""
    if columns is None:
        return []
    return [columns] if isinstance(columns, str | Integral) else list(columns)
