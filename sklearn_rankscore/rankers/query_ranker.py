"""QueryRanker: any ranker as a scikit-learn estimator that takes one query id per row."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn import config_context
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from .._sklearn_compat import num_samples
from .._typing import Array, MatrixLike, QueryIds, RandomState
from .._validation import check_count
from ..query_ids import drop_id_column, find_explicit_ids, find_query_ids, no_groups_error
from ..scoring import make_ranking_scorer
from ..scoring.predictions import predict_scores
from .boosters import find_booster, find_group_param, fit_arguments, renumber_rows
from .pipelines import fit_transformers, last_step
from .training_data import TrainingData


class QueryRanker(MetaEstimatorMixin, BaseEstimator):
    """Let any ranker or pointwise model take part in scikit-learn's model selection.

    `fit` takes one query id per row, in any row order, and passes them to the ranker as ``qid``
    (XGBRanker), ``group_id`` (CatBoostRanker), ``group`` sizes (LGBMRanker) or not at all
    (regressors and classifiers). Rows are sorted by query if those of a query are not contiguous.

    Parameters
    ----------
    estimator : estimator object
        A ranker, regressor or classifier, or a Pipeline that ends in one. A classifier of two
        classes ranks by its confidence in the second class, one of more classes by the expected
        grade, which is the mean of its numeric classes weighted by their probabilities.
    groups : str, default=None
        Name of the column or index level with the query ids. None means ``"qid"``.
    group_param : str or None, default="auto"
        The parameter of the ranker's `fit` for the query ids ("qid", "group_id", "groups") or the
        query sizes ("group"). None means a pointwise model; "auto" inspects the signature of `fit`.
    max_queries : int, default=None
        Maximum number of queries to fit on, a random subsample of whole queries. None means all.
        Use it as the resource for successive halving: the default, `n_samples`, samples rows.
    early_stopping : bool, default=False
        Whether to hold out some of the queries, and stop when the ranker's own metric on them no
        longer improves. For estimators of LightGBM, XGBoost and CatBoost.
    validation_fraction : float or int, default=0.1
        Fraction or number of queries to hold out. Held-out queries whose labels are all equal are
        not used.
    n_iter_no_change : int, default=10
        Number of boosting rounds without improvement after which to stop.
    random_state : int, RandomState instance or None, default=None
        Seed of the choice of queries for `max_queries` and `early_stopping`.

    Attributes
    ----------
    estimator_ : estimator object
        The fitted ranker.
    n_iter_ : int
        Number of boosting rounds that `predict` uses; only with `early_stopping`.
    n_queries_ : int or None
        Number of queries in the training data, including held-out ones; None without query ids.
    n_features_in_ : int
        Number of features, without the column of query ids.
    classes_, feature_names_in_, feature_importances_, coef_ : ndarray
        Those of the fitted ranker, if it has them.

    See Also
    --------
    QueryKFold : Folds of whole queries.
    make_ranking_scorer : Ranking metrics as scorers.

    Notes
    -----
    Query ids are looked up in this order: the argument `qid` of `fit`, a column or index level
    ``qid`` of X, an index level ``qid`` of y, the argument `groups`. The column is not passed to
    the ranker. Parameters of `fit` that are aligned with the rows are sorted with them.

    The metric for early stopping is a parameter of the ranker: ``XGBRanker(eval_metric="ndcg@10")``
    or ``CatBoostRanker(eval_metric="NDCG:top=10;type=Exp")``; for LGBMRanker it is
    ``fit(..., eval_at=[10])`` or ``fit(..., eval_metric=lightgbm_metric("mrr@10"))``.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn_rankscore import QueryRanker, make_ranking
    >>> X, y, groups = make_ranking(random_state=0)
    >>> QueryRanker(Ridge()).fit(X, y, groups=groups).predict(X).shape == y.shape
    True
    """

    n_iter_: int

    __metadata_request__fit: ClassVar[dict[str, bool]] = {"groups": True, "qid": True}
    __metadata_request__score: ClassVar[dict[str, bool]] = {"groups": True, "qid": True}

    def __init__(
        self,
        estimator: Any,
        *,
        groups: str | None = None,
        group_param: str | None = "auto",
        max_queries: int | None = None,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        random_state: RandomState = None,
    ) -> None:
        self.estimator = estimator
        self.groups = groups
        self.group_param = group_param
        self.max_queries = max_queries
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.random_state = random_state

    def fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
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
            Hashable query ids in any row order. `qid` takes precedence over ids in X or y, which
            take precedence over `groups`.
        sample_weight : array-like of shape (n_documents,), default=None
            Row weights; constant within each query for rankers that weight queries.
        **fit_params
            Further parameters of the `fit` of `estimator`.

        Returns
        -------
        QueryRanker
            The fitted ranker.

        Raises
        ------
        NoGroupsError
            If no query ids are given but the ranker, `early_stopping` or `max_queries` needs them.
        TypeError
            If the parameter `groups` of QueryRanker is not a name.
        ValueError
            If a parameter is out of range, if the ranker takes one weight per query and
            `sample_weight` varies within a query, or if all held-out queries have equal labels.
        """
        if self.groups is not None and not isinstance(self.groups, str):
            raise TypeError(
                "groups of QueryRanker must be the name of a column or index level; got "
                f"{type(self.groups).__name__}. Pass the ids themselves to fit(X, y, groups=ids)."
            )
        ids = find_explicit_ids(X, y, groups=groups, qid=qid, id_source=self.groups)
        estimator: Any = clone(self.estimator)
        ranker, prefix = last_step(estimator)
        group_param = find_group_param(ranker) if self.group_param == "auto" else self.group_param
        if ids is None and (group_param or self.early_stopping or self.max_queries is not None):
            raise no_groups_error(f"{type(ranker).__name__}.fit")
        features = drop_id_column(X, self.groups)
        data = TrainingData.read(features, y, ids, sample_weight, fit_params, renumber_rows)
        if self.max_queries is not None:
            max_queries = check_count("max_queries", self.max_queries, 1)
            data = data.subsample_queries(max_queries, self.random_state)
        self.__dict__.pop("n_iter_", None)
        self.n_queries_ = None if ids is None else len(data.sizes)
        # the arguments below go straight to the ranker, whatever metadata it requests
        with config_context(enable_metadata_routing=False):
            if self.early_stopping:
                self.n_iter_ = self._fit_with_early_stopping(estimator, data, group_param)
            else:
                arguments = fit_arguments(data, group_param, prefix)
                estimator = estimator.fit(data.X, data.y, **arguments)
        self.estimator_ = estimator
        return self

    def _fit_with_early_stopping(
        self, estimator: Any, data: TrainingData, group_param: str | None
    ) -> int:
        """Fit on some queries, stop by the others, and return the number of boosting rounds."""
        n_rounds = check_count("n_iter_no_change", self.n_iter_no_change, 1)
        ranker, _ = last_step(estimator)
        booster = find_booster(ranker)
        train, held_out = data.hold_out(self.validation_fraction, self.random_state)
        train, held_out = fit_transformers(estimator, train, held_out)
        if group_param is None:
            held_out = replace(held_out, codes=None)
        stopping = booster.stop_early(ranker, held_out, n_rounds)
        ranker.fit(train.X, train.y, **fit_arguments(train, group_param) | stopping)
        return booster.n_iterations(ranker)

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
        check_is_fitted(self, "estimator_")
        return predict_scores(self.estimator_, drop_id_column(X, self.groups))

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
        ids = find_query_ids(X, y, groups=groups, qid=qid, id_source=self.groups)
        if ids is None and self.n_queries_ is None:
            ids = np.zeros(num_samples(X), dtype=int)
        return make_ranking_scorer("ndcg")(self, X, y, qid=ids, sample_weight=sample_weight)

    @property
    def needs_query_ids(self) -> bool:
        """Whether `fit` needs query ids, which pointwise models do not."""
        ranker, _ = last_step(self.estimator)
        group_param = find_group_param(ranker) if self.group_param == "auto" else self.group_param
        return bool(group_param or self.early_stopping or self.max_queries is not None)

    @property
    def _fitted(self) -> Any:
        if "estimator_" not in vars(self):
            raise AttributeError(f"this {type(self).__name__} is not fitted yet.")
        return self.estimator_

    @property
    def classes_(self) -> Array:
        """Classes of a classifier, in sorted order."""
        return np.asarray(self._fitted.classes_)

    @property
    def n_features_in_(self) -> int:
        """Number of features, without the column of query ids."""
        return int(self._fitted.n_features_in_)

    @property
    def feature_names_in_(self) -> Array:
        """Names of the features, without the column of query ids."""
        return np.asarray(self._fitted.feature_names_in_)

    @property
    def feature_importances_(self) -> Array:
        """Feature importances of the ranker."""
        return np.asarray(last_step(self._fitted)[0].feature_importances_)

    @property
    def coef_(self) -> Array:
        """Coefficients of the ranker."""
        return np.asarray(last_step(self._fitted)[0].coef_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.estimator).input_tags
        tags.target_tags.required = True
        return tags
