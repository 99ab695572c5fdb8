"""What a fitted QueryRanker predicts, and the attributes of the ranker inside of it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from .._columns import check_in_memory, column_names
from .._sklearn_compat import num_samples
from .._typing import Array, IdSource, MatrixLike, QueryIds, Ties
from ..query_ids import find_query_ids, no_groups_error
from ..query_ids.lookup import fix_by_name
from ..scoring import make_ranking_scorer
from ..scoring.predictions import predict_scores
from .boosters import booster_of
from .byte_order import in_native_order
from .id_columns import IdColumns
from .pipelines import last_step
from .ranks import rank_within_queries


class FittedRanker:
    """The methods of a fitted QueryRanker, and the attributes that the fitted ranker has."""

    groups: IdSource
    n_features_in_: int
    n_queries_: int | None
    estimator_: Any
    _id_columns: IdColumns
    _feature_names: list[Any]

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
        features = in_native_order(self._id_columns.drop(X))
        if (booster := booster_of(self.estimator_)) is not None:
            features = booster.read_features(features)
        self._check_features(features)
        return features

    def _check_features(self, X: Any, name: str = "") -> None:
        """Check number and names of features against those of the training data."""
        if len(getattr(X, "shape", (0, 0))) != 2:  # of others, the ranker knows what is wrong
            return
        names = column_names(X)
        # of arrays beside frames, scikit-learn would warn as if they were X
        if name and not (names and self._feature_names):
            if X.shape[1] != self.n_features_in_:
                raise ValueError(
                    f"{name}X has {X.shape[1]} features, but {type(self).__name__} is expecting "
                    f"{self.n_features_in_} features as input."
                )
            return
        try:
            validate_data(self, X, reset=False, skip_check_array=True)
        except ValueError as error:
            raise ValueError(f"{name}{error}") from error
        # the installed scikit-learn may not know the names of such a frame
        if names and self._feature_names and names != self._feature_names:
            raise ValueError(
                f"{name}The feature names should match those that were passed during fit. Feature "
                f"names must be in the same order as they were in fit: {self._feature_names}."
            )

    def _has_thresholds(self) -> bool:
        """Whether it was fitted with query ids, without which it is a plain regressor.

        Of several classes scikit-learn expects one score each, and numbers them before a fit.
        """
        is_ranking = vars(self).get("n_queries_") is not None
        return is_ranking and np.size(getattr(self.estimator_, "classes_", ())) <= 2

    def _has_probabilities(self) -> bool:
        return hasattr(vars(self).get("estimator_"), "predict_proba")

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
        return np.asarray(self.estimator_.predict_proba(self._features_of(X)))

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
            raise no_groups_error(
                "QueryRanker.rank", fix=fix_by_name(X) or "call rank(X, groups=ids)."
            )
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
        return make_ranking_scorer("ndcg")(self, X, y, qid=ids, sample_weight=sample_weight)

    def _find_ids(self, X: Any, y: Any, groups: Any, qid: Any) -> Any:
        """Query ids; all rows are a single query where there were none in `fit` either."""
        ids = find_query_ids(X, y, groups=groups, qid=qid, id_source=self.groups)
        if ids is None and self.n_queries_ is None:
            return np.zeros(num_samples(X), dtype=int)
        return ids

    @property
    def _fitted(self) -> Any:
        if "estimator_" not in vars(self):
            raise AttributeError(f"this {type(self).__name__} is not fitted yet.")
        return vars(self)["estimator_"]

    @property
    def classes_(self) -> Array:
        """Classes of a classifier, in sorted order."""
        return np.asarray(self._fitted.classes_)

    @property
    def feature_importances_(self) -> Array:
        """Feature importances of the ranker."""
        ranker, _ = last_step(self._fitted)
        booster = booster_of(ranker)
        if booster is None:
            return np.asarray(ranker.feature_importances_)
        return np.asarray(booster.feature_importances(ranker))

    @property
    def coef_(self) -> Array:
        """Coefficients of the ranker."""
        return np.asarray(last_step(self._fitted)[0].coef_)


def fitted_model(model: Any) -> Any:
    """The model inside of a QueryRanker or pipeline, for `init_model`.

    LightGBM ignores objects of other classes.
    """
    while isinstance(model, FittedRanker):
        check_is_fitted(model, "estimator_")
        model = last_step(model.estimator_)[0]
    return last_step(model)[0]
