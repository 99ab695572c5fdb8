"""QueryRanker: any ranker as a scikit-learn estimator that takes one query id per row."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from copy import copy
from typing import Any, ClassVar, Self

import numpy as np
import sklearn
from numpy.typing import ArrayLike
from scipy.stats import rankdata
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.utils import RegressorTags, get_tags, metadata_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from .._columns import as_numbers, check_in_memory, column_at, column_names, descending
from .._sklearn_compat import num_samples, safe_indexing
from .._typing import Array, IdSource, MatrixLike, QueryIds, RandomState, Ties
from .._validation import check_choice, check_cutoff, warn
from ..metrics.evaluate import MetricLike
from ..query_ids import Grouping, find_explicit_ids, find_query_ids, group_rows, no_groups_error
from ..query_ids.lookup import check_same_order, fix_by_name
from ..query_ids.read import as_objects
from ..ranking.ties import TIES
from ..scoring import make_ranking_scorer
from ..scoring.predictions import last_step, predict_scores
from ..scoring.register import PartialQueryWarning, find_groups_param, ignores_groups
from ..scoring.scorer import ColumnSource
from .booster import Booster, EarlyStopping, Fit
from .catboost import CatBoost
from .lightgbm import LightGBM
from .training_data import (
    OF_SETS,
    DroppedColumns,
    TrainingData,
    check_names,
    check_no_positions,
    take_evaluation_sets,
)
from .xgboost import XGBoost

BOOSTERS: tuple[Booster, ...] = (XGBoost(), CatBoost(), LightGBM())
# parameters of `fit` for the queries: of QueryRanker, which takes `qid` as well but not one weight
# per query; of XGBoost, whose fit accepts LightGBM's `group` too; of CatBoost; of LightGBM
GROUP_PARAMS = ("groups", "qid", "group_id", "group")


class QueryRanker(MetaEstimatorMixin, BaseEstimator):
    """Make any ranker or pointwise model compatible with scikit-learn's model selection.

    `fit` takes one query id per row, in any row order, and passes them to the ranker as ``qid``
    (XGBRanker), ``group_id`` (CatBoostRanker), ``group`` sizes (LGBMRanker) or not at all
    (regressors and classifiers). Rankers are given the rows of each query together.

    Parameters
    ----------
    estimator : estimator object
        A ranker, regressor or classifier, or a Pipeline that ends in one. A classifier of two
        classes ranks by its confidence in the second class, one of more classes by the expected
        grade, which is the mean of its numeric classes weighted by their probabilities.
    groups : str or list of str, default=None
        Where the query ids are, as in `QueryKFold`: the name of a column or index level, or a list
        of names for a composite key. None means ``"qid"``. These columns are not passed to the
        estimator.
    group_param : str or None, default="auto"
        The parameter of the ranker's `fit` for the query ids ("qid", "group_id", "groups") or the
        query sizes ("group"). None means a pointwise model; "auto" inspects the signature of `fit`.
    max_queries : int, default=None
        Maximum number of queries to fit on, a random subsample of whole queries. None means all.
        Use it as the resource for successive halving: the default, `n_samples`, samples rows.
    early_stopping : bool, str or callable, default=False
        Whether to hold out some of the queries, and stop when a metric on them no longer improves:
        the name of a metric such as ``"ndcg@10"``, a metric function, or True for the first metric
        that the ranker logs. For estimators of LightGBM, XGBoost and CatBoost. If `fit` is given an
        `eval_set`, its last set takes the place of held-out queries.
    refit_all : bool, default=False
        Whether to fit once more on all queries, the held-out ones included, with the number of
        boosting rounds that early stopping has found. No effect with an `eval_set`, since no
        queries are then held out. Linear models and DART of XGBoost cannot predict by their
        first rounds alone, and are fitted once more in any case. Of callbacks, schedules of
        learning rates take part in the second fit; others watch evaluation sets, of the first.
    validation_fraction : float or int, default=0.1
        Fraction or number of queries to hold out. Held-out queries whose labels are all equal are
        not used.
    n_iter_no_change : int, default=50
        Number of boosting rounds without improvement after which to stop. Metrics of few held-out
        queries are noisy, and few rounds stop too early; the user guide has a table.
    random_state : int, RandomState instance or None, default=None
        Seed of the choice of queries for `max_queries` and `early_stopping`.
    drop_columns : str, int or list of str or int, default=None
        Columns of X that are not features, such as propensities and targets that scorers read: by
        name, or by position in an array. X of `predict` may lack them. Index levels are never
        features.

    Attributes
    ----------
    estimator_ : estimator object
        The fitted ranker.
    n_iter_ : int
        Number of boosting rounds that `predict` uses, including those of a model that `fit`
        continues (`init_model`, `xgb_model`); only with `early_stopping`.
    n_queries_ : int or None
        Number of queries in the training data, including held-out ones; None without query ids.
    n_features_in_ : int
        Number of features, without the columns of query ids and those of `drop_columns`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X has names that are all strings.
    classes_, feature_importances_, coef_ : ndarray
        Those of the fitted ranker, if it has them. For a ranking loss, CatBoost's importances are
        of the type "PredictionValuesChange", which needs no data.

    See Also
    --------
    QueryKFold : Folds of whole queries.
    make_ranking_scorer : Ranking metrics as scorers.

    Notes
    -----
    Query ids are looked up in this order: the arguments `groups` and `qid` of `fit`, a column or
    index level ``qid`` of X, an index level ``qid`` of y. A ranker receives the queries in the
    order of their first rows; parameters of `fit` with one entry per row, and evaluation sets
    (``eval_set=[(X_valid, y_valid)]``), are sorted like the training rows. The user guide has a
    section on models inside of a ranker, and one on metadata routing.

    With ``early_stopping=True``, the metric is a parameter of the ranker:
    ``XGBRanker(eval_metric="ndcg@10")``, ``CatBoostRanker(eval_metric="NDCG:top=10;type=Exp")`` or
    ``LGBMRanker(eval_at=[10])``.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn_rankscore import QueryRanker, make_ranking
    >>> X, y, groups = make_ranking(random_state=0)
    >>> QueryRanker(Ridge()).fit(X, y, groups=groups).predict(X).shape == y.shape
    True
    """

    n_iter_: int
    n_features_in_: int
    n_queries_: int | None
    estimator_: Any

    # the link in the HTML representation
    _doc_link_module = "sklearn_rankscore"
    _doc_link_template = (
        "https://sklearn-rankscore.readthedocs.io/en/stable/api/"
        "sklearn_rankscore.{estimator_name}.html"
    )
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"groups": True, "qid": True}
    __metadata_request__score: ClassVar[dict[str, bool]] = {"groups": True, "qid": True}

    def __init__(
        self,
        estimator: Any,
        *,
        groups: IdSource = None,
        group_param: str | None = "auto",
        max_queries: int | None = None,
        early_stopping: bool | MetricLike = False,
        refit_all: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 50,
        random_state: RandomState = None,
        drop_columns: ColumnSource | Sequence[str | int] = None,
    ) -> None:
        self.estimator = estimator
        self.groups = groups
        self.group_param = group_param
        self.max_queries = max_queries
        self.early_stopping = early_stopping
        self.refit_all = refit_all
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.random_state = random_state
        self.drop_columns = drop_columns

    def fit(
        self,
        X: MatrixLike,
        y: ArrayLike | None = None,
        groups: QueryIds | None = None,
        *,
        qid: QueryIds | None = None,
        sample_weight: ArrayLike | None = None,
        **fit_params: Any,
    ) -> Self:
        """Fit the ranker.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_documents, n_features)
            Features.
        y : array-like of shape (n_documents,)
            Relevance labels.
        groups, qid : array-like of shape (n_documents,), default=None
            Hashable query ids in any row order. `groups` takes precedence over `qid` and over ids
            in X or y; it may be coarser than these, but must not divide a query.
        sample_weight : array-like of shape (n_documents,), default=None
            Row weights; constant within each query for rankers that weight queries.
        **fit_params
            Further parameters of the `fit` of `estimator`. The query ids of evaluation sets are
            looked up as those of X, or given as ``eval_qid=[ids]``; weights are one per row.

        Returns
        -------
        QueryRanker
            The fitted ranker.

        Raises
        ------
        NoGroupsError
            If no query ids are given but the ranker, `early_stopping` or `max_queries` needs them.
        TypeError
            If the parameter `groups` of the ranker holds ids instead of their place, or if ids or
            weights are given under a name of the wrapped ranker, such as ``group=sizes``.
        ValueError
            If a parameter is out of range, if the ranker takes one weight per query and
            `sample_weight` varies within a query, if X lacks one of `drop_columns`, or if the
            metric of `early_stopping` is undefined, or the labels are equal, in each of the
            held-out queries.
        """
        stopping = EarlyStopping.read(self)
        estimator = _cloned(self.estimator)
        ranker, prefix = last_step(estimator)
        group_param, booster = self._find_group_param(ranker), _booster_of(ranker)
        params = _by_names_of_fit(fit_params, prefix)
        check_names(params, prefix, group_param)
        check_same_order(X=X, sample_weight=sample_weight)
        ids = find_explicit_ids(X, y, groups=groups, qid=qid, id_source=self.groups)
        if ids is None and self.needs_query_ids:
            raise no_groups_error(f"{type(ranker).__name__}.fit", X=X)
        outer = _booster_of(estimator)  # None for a pipeline, whose steps read any form
        self._dropped = DroppedColumns.find(X, self.groups, self.drop_columns, outer)
        check_no_positions(estimator.get_params() | params, self._dropped.columns)
        start = "" if booster is None else prefix + booster.start_param
        sets = [] if booster is None else take_evaluation_sets(params, prefix, start)

        def read(X: Any, y: Any, ids: Any, weights: Any, aligned: dict[str, Any]) -> TrainingData:
            data = TrainingData.read(X, y, ids, weights, aligned, self._dropped)
            return data if group_param is None else data.gather()

        def read_set(X_set: Any, y_set: Any, qid: Any, weights: Any, start: Any) -> TrainingData:
            qid = find_explicit_ids(X_set, y_set, groups=qid, id_source=self.groups)
            if qid is None and self.needs_query_ids:
                caller = f"an evaluation set of {type(ranker).__name__}.fit"
                raise no_groups_error(caller, fix="pass eval_qid=[ids].")
            is_plain = weights is None is sample_weight and not start
            has_same_ids = np.array_equal(np.asarray(qid), np.asarray(ids))
            if X_set is X and y_set is y and is_plain and has_same_ids:
                return data  # which LightGBM knows by the same objects
            return read(X_set, copy(y_set), qid, weights, start)

        data = read(X, y, ids, sample_weight, params)
        validate_data(self, data.X, skip_check_array=True)
        self._feature_names = column_names(data.X)
        self._trained = None if data.ids is None else (data.ids, data.sizes)
        if group_param is not None:
            _warn_of_single_documents(ranker, data)
        if ranker is estimator:  # the steps of a pipeline may leave the column out
            _warn_of_id_feature(data)
        data = data.subsample_queries(self.max_queries, self.random_state)
        self.n_queries_ = None if ids is None else len(data.sizes)
        watched = [read_set(*one) for one in sets]
        self._check_sets(watched)
        given = Fit(data, watched, group_param)
        self.estimator_, n_iter = _fit_estimator(estimator, given, stopping)
        self.__dict__.pop("n_iter_", None)
        if n_iter is not None:
            self.n_iter_ = n_iter
        return self

    def predict(self, X: MatrixLike) -> Array:
        """Predict the scores of documents; higher ranks first.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_documents, n_features)
            Features, with or without the column of query ids.

        Returns
        -------
        ndarray of shape (n_documents,)
            Scores.
        """
        features = self._features_of(X)
        scores = predict_scores(self.estimator_, features)
        # a column, as of a neural network with one output
        return scores[:, 0] if scores.shape[1:] == (1,) else scores

    def _features_of(self, X: Any) -> Any:
        check_is_fitted(self, "estimator_")
        check_in_memory(X, "X")
        features = self._dropped.features_of(X)
        self._check_features(features)
        return features

    def _check_sets(self, sets: Sequence[TrainingData]) -> None:
        for evaluation_set in sets:  # LightGBM would not notice other columns
            try:
                self._check_features(evaluation_set.X)
            except ValueError as error:
                raise ValueError(f"an evaluation set is unlike X: {error}") from error

    def _check_features(self, X: Any) -> None:
        """Check number and names of features against those of the training data."""
        if len(getattr(X, "shape", ())) == 2:  # of others, the ranker knows what is wrong
            validate_data(self, X, reset=False, skip_check_array=True)
        # scikit-learn 1.6 does not know the names of frames of polars
        names = column_names(X)
        if names and self._feature_names and names != self._feature_names:
            order = f"must be in the same order as they were in fit: {self._feature_names}."
            raise ValueError(f"The feature names of X {order}")

    def _has_thresholds(self) -> bool:
        """Whether it was fitted with query ids, without which it is a plain regressor.

        Of several classes scikit-learn expects one score each, and numbers them before a fit.
        """
        is_ranking = vars(self).get("n_queries_") is not None
        return is_ranking and np.size(getattr(self.estimator_, "classes_", ())) <= 2

    def _has_probabilities(self) -> bool:
        return hasattr(vars(self).get("estimator_", self.estimator), "predict_proba")

    @available_if(_has_probabilities)
    def predict_proba(self, X: MatrixLike) -> Array:
        """Probabilities of the classes, of a classifier that has them.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_documents, n_features)
            Features, with or without the column of query ids.

        Returns
        -------
        ndarray of shape (n_documents, n_classes)
            The probability of each of ``classes_``.
        """
        features = self._features_of(X)
        return np.asarray(self.estimator_.predict_proba(features))

    # For scikit-learn's scorers of thresholds, such as "roc_auc". It is the same function because
    # those before 1.9 take the scores of a regressor only from a method with the name `predict`.
    decision_function = available_if(_has_thresholds)(predict)
    decision_function.attribute_name = "decision_function"  # in the error without query ids

    def rank(
        self,
        X: MatrixLike,
        k: int | None = None,
        *,
        groups: QueryIds | None = None,
        qid: QueryIds | None = None,
        ties: Ties = "stable",
    ) -> Array:
        """Rank each document within its query; the highest score has rank 1.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_documents, n_features)
            Features.
        k : int, default=None
            Number of ranks; documents after rank `k` get NaN. None means all.
        groups, qid : array-like of shape (n_documents,), default=None
            Query ids, looked up as in `score`.
        ties : {"stable", "reversed", "average", "optimistic", "pessimistic"}, default="stable"
            The ranks of equal scores: those of the rows in the order of X, or in the reversed
            order; or for all of them the mean, the first or the last of their ranks.

        Returns
        -------
        ndarray of shape (n_documents,)
            Ranks in the order of the rows: integers, or floats with `k` or ``ties="average"``.

        Raises
        ------
        NoGroupsError
            If there are no query ids, and the ranker was fitted with some.
        ValueError
            If `k` or `ties` is out of range.

        Examples
        --------
        >>> from sklearn.linear_model import Ridge
        >>> from sklearn_rankscore import QueryRanker
        >>> ranker = QueryRanker(Ridge()).fit([[1], [2], [3]], [0, 1, 2], groups=[1, 1, 1])
        >>> ranker.rank([[5], [7], [6], [2], [9]], groups=["a", "a", "a", "b", "b"])
        array([3, 1, 2, 2, 1])
        """
        scores = self.predict(X)
        ids = self._find_ids(X, None, groups, qid)
        if ids is None:
            fix = "call rank(X, groups=ids), for a single query groups=[0] * len(X)."
            raise no_groups_error("QueryRanker.rank", fix=fix_by_name(X) or fix)
        return rank_within_queries(scores, ids, k, ties)

    def score(
        self,
        X: MatrixLike,
        y: ArrayLike,
        groups: QueryIds | None = None,
        *,
        qid: QueryIds | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Mean NDCG over all ranks; higher is better, 1 is a perfect ranking.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_documents, n_features)
            Features.
        y : array-like of shape (n_documents,)
            Relevance labels.
        groups, qid : array-like of shape (n_documents,), default=None
            Query ids, looked up as in `fit`. If there are none, and were none in `fit`, all rows
            are a single query.
        sample_weight : array-like of shape (n_documents,), default=None
            Query weights, constant within each query.

        Returns
        -------
        float
            The mean over queries.
        """
        check_is_fitted(self, "estimator_")
        ids = self._find_ids(X, y, groups, qid)
        if ids is not None:
            self._warn_of_trained_queries(group_rows(ids, num_samples(X)))
        return make_ranking_scorer("ndcg")(self, X, y, qid=ids, sample_weight=sample_weight)

    def _find_ids(self, X: Any, y: Any, groups: Any, qid: Any) -> Any:
        """Query ids; all rows are a single query where there were none in `fit` either."""
        ids = find_query_ids(X, y, groups=groups, qid=qid, id_source=self.groups)
        if ids is None and self.n_queries_ is None:
            return np.zeros(num_samples(X), dtype=int)
        return ids

    def _warn_of_trained_queries(self, scored: Grouping) -> None:
        """Warn if most of the scored queries are parts of queries that it was trained on."""
        if self._trained is None:
            return
        ids, sizes = self._trained
        trained = dict(zip(ids.tolist(), sizes.tolist(), strict=True))
        pairs = zip(scored.ids.tolist(), scored.sizes.tolist(), strict=True)
        n_parts = sum(trained.get(query, size) != size for query, size in pairs)
        # data sets of several sizes whose queries are each numbered from 0 or 1 share no query
        are_numbers = all(map(_count_up, (ids, scored.ids)))
        if 2 * n_parts > len(scored) and not (are_numbers and len(ids) != len(scored)):
            warn(
                f"{n_parts} of the {len(scored)} queries to score were trained on with other "
                "documents: split by query, query_train_test_split(X, y, groups=ids).",
                PartialQueryWarning,
            )

    @property
    def classes_(self) -> Array:
        """Classes of a classifier, in sorted order."""
        return np.asarray(self.estimator_.classes_)

    @property
    def feature_importances_(self) -> Array:
        """Feature importances of the ranker."""
        ranker, _ = last_step(self.estimator_)
        booster = _booster_of(ranker) or Booster()
        return np.asarray(booster.feature_importances(ranker))

    @property
    def coef_(self) -> Array:
        """Coefficients of the ranker."""
        return np.asarray(last_step(self.estimator_)[0].coef_)

    def set_params(self, **params: Any) -> Self:
        """Set parameters of QueryRanker, or as ``estimator__name`` of the wrapped estimator.

        Parameters
        ----------
        **params
            Values by name.

        Returns
        -------
        QueryRanker
            The ranker itself.

        Raises
        ------
        ValueError
            For an unknown parameter.
        """
        known: dict[str, Any] = getattr(self.estimator, "get_params", dict)()
        for name in params.keys() - self.get_params(deep=False).keys():
            if name in known:
                inner = type(self.estimator).__name__
                raise ValueError(f"{name!r} is a parameter of {inner}: use 'estimator__{name}'.")
        super().set_params(**params)
        return self

    @property
    def needs_query_ids(self) -> bool:
        """Whether `fit` needs query ids, which pointwise models do not."""
        if self.early_stopping or self.max_queries is not None:
            return True
        return self._find_group_param(last_step(self.estimator)[0]) is not None

    def _find_group_param(self, ranker: Any) -> str | None:
        return _find_group_param(ranker) if self.group_param == "auto" else self.group_param

    def get_metadata_routing(self) -> metadata_routing.MetadataRouter:
        """Metadata that QueryRanker requests and passes on to its estimator.

        Returns
        -------
        MetadataRouter
            Requests of QueryRanker itself, and those inside of an estimator that passes it on.
        """
        request = super().get_metadata_routing()
        router = metadata_routing.MetadataRouter(owner=type(self).__name__)
        ranker, _ = last_step(self.estimator)
        routing = _routing_of(ranker)
        if isinstance(routing, metadata_routing.MetadataRouter):
            mapping = metadata_routing.MethodMapping().add(caller="fit", callee="fit")
            router.add(estimator=routing, method_mapping=mapping)
        else:
            names = list(inspect.signature(ranker.fit).parameters)[2:]
            for name in [*names, *(OF_SETS if _booster_of(ranker) else ())]:
                asked = routing.fit.requests.get(name)
                if asked is not None or name != "sample_weight":
                    request.fit.add_request(param=name, alias=True if asked is None else asked)
        return router.add_self_request(request)

    def __sklearn_clone__(self) -> Any:
        try:
            return super().__sklearn_clone__()
        except RuntimeError:
            _cloned(self.estimator)  # whose error says how to make a booster that can be cloned
            raise

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.estimator).input_tags
        tags.target_tags.required = True
        tags.classifier_tags = get_tags(self.estimator).classifier_tags  # of predict_proba
        if not is_classifier(self.estimator):  # a classifier does not fit a continuous target
            tags.estimator_type = "regressor"
            # `score` is that of a ranking
            tags.regressor_tags = RegressorTags(poor_score=True)
        return tags


def _booster_of(estimator: Any) -> Booster | None:
    """The booster whose package defines the class of the estimator or one of its base classes."""
    packages = [cls.__module__.partition(".")[0] for cls in type(estimator).__mro__]
    return next((booster for booster in BOOSTERS if booster.package in packages), None)


def _cloned(estimator: Any) -> Any:
    """A clone with the same callbacks; the error for a booster says how to make one possible."""
    try:
        copied = clone(estimator)
    except RuntimeError as error:
        booster = _booster_of(last_step(estimator)[0])
        if booster is None or not booster.clone_advice:
            raise
        raise RuntimeError(f"{error}. {booster.clone_advice}") from error
    # they record training for the user, or report it to a trial of Optuna; copies would do neither
    callbacks = {
        name: value
        for name, value in estimator.get_params().items()
        if name.rpartition("__")[2] == "callbacks" and value is not None
    }
    return copied.set_params(**callbacks) if callbacks else copied


def _find_group_param(estimator: Any) -> str | None:
    """The parameter of `estimator.fit` for queries; None for a pointwise model."""
    if type(estimator).__module__.partition(".")[0] == "sklearn":
        return None
    parameters = inspect.signature(estimator.fit).parameters
    for name in GROUP_PARAMS:
        if name in parameters:
            return name
    if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        raise ValueError(
            f"{type(estimator).__name__}.fit takes any keyword, perhaps query ids: set group_param "
            "to 'qid', 'group_id', 'group' (sizes), or None for a pointwise model."
        )
    return None


def _routing_of(estimator: Any) -> Any:
    """What an estimator requests and passes on; nothing if it does not tell."""
    try:
        return metadata_routing.get_routing_for_object(estimator)
    # RidgeCV without `scoring` takes itself for a scorer, and AdaBoost does not support routing
    except (RecursionError, NotImplementedError):
        return metadata_routing.MetadataRequest(owner=type(estimator).__name__)


def _fit_estimator(
    estimator: Any, data: Fit, stopping: EarlyStopping | None
) -> tuple[Any, int | None]:
    """The fitted estimator, and the number of boosting rounds of early stopping."""
    (ranker, prefix), train = last_step(estimator), data.train
    booster, routing = _booster_of(ranker), _routing_of(estimator)
    passes_on = not data.ranks and isinstance(_routing_of(ranker), metadata_routing.MetadataRouter)
    if sklearn.get_config()["enable_metadata_routing"] and passes_on and stopping is None:
        params = {name.rpartition("__")[2]: value for name, value in train.params.items()}
        if train.weights is not None:
            params["sample_weight"] = train.weights
        if train.codes is not None and routing.consumes("fit", {"groups"}):
            params["groups"] = train.codes
        return estimator.fit(train.X, train.y, **params), None
    # the arguments below go straight to the ranker, whatever metadata it requests
    with sklearn.config_context(enable_metadata_routing=False):
        if booster is not None:
            booster.check_one_stopping(ranker, prefix, data, stopping)
            if stopping is not None:
                return booster.fit_early(estimator, data, stopping)
            if data.sets:
                booster.fit(estimator, data)
                return estimator, None
        elif stopping is not None:
            raise ValueError(
                f"early_stopping supports {', '.join(one.package for one in BOOSTERS)}; got "
                f"{type(ranker).__name__}. Use the estimator's own early stopping instead."
            )
        arguments = train.fit_arguments(data.group_param, prefix)
        if not data.ranks and train.codes is not None:
            param, model = find_groups_param(estimator)
            if param and not ignores_groups(model):
                arguments[param] = train.codes
        return estimator.fit(train.X, train.y, **arguments), None


def _warn_of_single_documents(ranker: Any, data: TrainingData) -> None:
    if 1 < num_samples(data.X) == len(data.sizes):
        warn(
            f"each query has one document, from which {type(ranker).__name__}.fit learns little; "
            "groups must hold the same id for all documents of a query."
        )


# rows in which a column is compared with the query ids
COMPARED_ROWS = 100


def _warn_of_id_feature(data: TrainingData) -> None:
    """Warn if columns of a frame hold the query ids, such as those that `groups` named."""
    if data.codes is None or data.ids is None or not (names := column_names(data.X)):
        return
    rows = np.unique(np.linspace(0, len(data.codes) - 1, COMPARED_ROWS).astype(np.intp))
    ids, features = data.ids[data.codes[rows]], safe_indexing(data.X, rows)
    is_composite = isinstance(ids[0], tuple)
    parts = map(as_objects, zip(*ids, strict=False)) if is_composite else [ids]
    columns = [np.asarray(column_at(features, position)) for position in range(len(names))]
    held = [
        next((n for n, c in zip(names, columns, strict=True) if np.array_equal(c, part)), None)
        for part in parts
    ]
    if len(data.ids) > 1 and None not in held:
        kind, place = ("key", held) if is_composite else ("column", held[0])
        warn(
            f"the {kind} {place!r} of X holds the query ids, and the model is trained on it as a "
            f"feature. Use QueryRanker(..., groups={place!r}), which leaves it out, or drop it."
        )


def _by_names_of_fit(params: dict[str, Any], prefix: str) -> dict[str, Any]:
    """Parameters under their names in `fit`; a routed one is for the last step of a pipeline."""
    is_routed = sklearn.get_config()["enable_metadata_routing"]
    named = {}
    for name, value in params.items():
        if name.rpartition("__")[2] in ("init_model", "xgb_model"):
            value = _fitted_model(value)
        named[prefix + name if is_routed and "__" not in name else name] = value
    return named


def _fitted_model(model: Any) -> Any:
    """The model inside of a QueryRanker or pipeline: LightGBM ignores objects of other classes."""
    while isinstance(model, QueryRanker):
        check_is_fitted(model, "estimator_")
        model = last_step(model.estimator_)[0]
    return last_step(model)[0]


def _count_up(ids: Array) -> bool:
    """Whether ids are 0, 1, 2, ... or 1, 2, 3, ..., as numbers of queries without a meaning."""
    first = ids.min() if len(ids) and ids.dtype.kind in "iu" else -1
    return first in (0, 1) and np.array_equal(np.sort(ids), np.arange(first, first + len(ids)))


def rank_within_queries(scores: Any, ids: QueryIds, k: int | None, ties: Ties) -> Array:
    """Ranks from 1, in the order of the rows; NaN after rank `k`.

    Without labels, the best that a tied document can hope for is the first rank of its tie group.
    """
    check_choice("ties", ties, TIES)
    k = check_cutoff(k)
    scores = as_numbers(scores, "the prediction")
    codes = group_rows(ids, len(scores)).codes
    # the place of a score among all queries, after those of the queries before
    n_scores, n_rows = rankdata(descending(scores), "dense").astype(np.intp), np.bincount(codes)
    place, n_before = codes * (len(scores) + 1) + n_scores, np.cumsum(n_rows) - n_rows

    def ranked(method: Any) -> Array:
        ranks = rankdata(place, method) - n_before[codes]
        return np.asarray(ranks if method == "average" else ranks.astype(np.intp))

    methods = {"stable": "ordinal", "average": "average", "optimistic": "min", "pessimistic": "max"}
    if ties == "reversed":
        ranks = ranked("min") + ranked("max") - ranked("ordinal")
    else:
        ranks = ranked(methods[ties])
    return ranks if k is None else np.where(ranks <= k, ranks, np.nan)
