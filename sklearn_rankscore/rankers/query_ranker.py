"""QueryRanker: any ranker as a scikit-learn estimator that takes one query id per row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, MetaEstimatorMixin, is_classifier
from sklearn.utils import RegressorTags, get_tags
from sklearn.utils.metadata_routing import MetadataRouter
from sklearn.utils.validation import validate_data

from .._columns import column_names
from .._typing import IdSource, MatrixLike, QueryIds, RandomState
from .._validation import check_count
from ..metrics.evaluate import MetricLike
from ..scoring.columns import ColumnSource
from .boosters import cloned
from .early_stopping import EarlyStopping
from .fit_call import FitCall
from .fitted_ranker import FittedRanker
from .id_columns import IdColumns
from .metadata import router_of


class QueryRanker(FittedRanker, MetaEstimatorMixin, BaseEstimator):
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
        Where the query ids are, as in `QueryKFold`: the name of a column or index level, the
        position of a column of an array, a function of X, or a list of names for a composite key.
        None means ``"qid"``. The columns concerned are not passed to the ranker. After other steps
        of a pipeline, a position is one among the columns that these return.
    group_param : str or None, default="auto"
        The parameter of the ranker's `fit` for the query ids ("qid", "group_id", "groups") or the
        query sizes ("group"). None means a pointwise model; "auto" inspects the signature of `fit`.
    max_queries : int, default=None
        Maximum number of queries to fit on, a random subsample of whole queries. None means all.
        Use it as the resource for successive halving: the default, `n_samples`, samples rows.
    early_stopping : bool, str or callable, default=False
        Whether to hold out some of the queries, and stop when a metric on them no longer improves:
        the name of a metric such as ``"ndcg@10"``, a metric function, or True for the first of the
        ranker's own metrics. For estimators of LightGBM, XGBoost and CatBoost. If `fit` is given an
        `eval_set`, its last set takes the place of held-out queries.
    refit_all : bool, default=False
        Whether to fit once more on all queries, the held-out ones included, with the number of
        boosting rounds that early stopping has found. No effect with an `eval_set`, since no
        queries are then held out.
    validation_fraction : float or int, default=0.1
        Fraction or number of queries to hold out. Held-out queries whose labels are all equal are
        not used.
    n_iter_no_change : int, default=50
        Number of boosting rounds without improvement after which to stop. Metrics of few held-out
        queries are noisy, and few rounds stop too early; the user guide has a table.
    random_state : int, RandomState instance or None, default=None
        Seed of the choice of queries for `max_queries` and `early_stopping`.
    drop_columns : str, int or list of str or int, default=None
        Columns of X that are not features, by name or by position, such as propensities and targets
        that scorers read. X of `predict` may lack them. Index levels are never features.

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
    (``eval_set=[(X_valid, y_valid)]``), are sorted like the training rows. With metadata routing,
    parameters of `fit` except `sample_weight` are passed to the estimator without a request.

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
            If the parameter `groups` of the ranker holds ids instead of their place, or
            `drop_columns` anything but names and positions.
        ValueError
            If a parameter is out of range, if query ids are given twice, if the ranker takes one
            weight per query and `sample_weight` varies within a query, if X lacks one of
            `drop_columns`, or if the metric of `early_stopping` is undefined, or the labels are
            equal, in each of the held-out queries.
        """
        stopping = EarlyStopping.read(self)
        call = self._call(cloned(self.estimator))
        params = call.read_params(fit_params)
        ids = call.find_ids(X, y, groups, qid, params)
        sample_weight = call.find_weights(sample_weight, params)
        self._id_columns = IdColumns.find(X, self.groups, ids, self.drop_columns)
        self._id_columns.warn_of_features(X, ids, self.estimator)
        params = call.read_positions(params, self._id_columns)
        sets = call.take_evaluation_sets(params, self._id_columns, (X, y))
        data = call.read_rows(X, y, ids, self._id_columns, sample_weight, params)
        call.warn_of_queries(data)
        validate_data(self, data.X, skip_check_array=True)
        self._feature_names = column_names(data.X)
        for i, evaluation_set in enumerate(sets):  # LightGBM would not notice other columns
            self._check_features(evaluation_set.X, f"evaluation set {i}: ")
        if self.max_queries is not None:
            max_queries = check_count("max_queries", self.max_queries, 1)
            data = data.subsample_queries(max_queries, self.random_state)
        self.n_queries_ = None if ids is None else len(data.sizes)
        self.estimator_, n_iter = call.fit(data, sets, stopping)
        self.__dict__.pop("n_iter_", None)
        if n_iter is not None:
            self.n_iter_ = n_iter
        return self

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
        try:
            super().set_params(**params)
        except ValueError as error:
            inner = self.estimator
            known = inner.get_params() if hasattr(inner, "get_params") else {}
            for name in params.keys() - self.get_params(deep=False).keys():
                if name in known:
                    raise ValueError(
                        f"{name!r} is a parameter of {type(inner).__name__}, which is inside of "
                        f"QueryRanker: use 'estimator__{name}'."
                    ) from error
            raise
        return self

    @property
    def needs_query_ids(self) -> bool:
        """Whether `fit` needs query ids, which pointwise models do not."""
        return self._call(self.estimator).needs_ids

    def _call(self, estimator: Any) -> FitCall:
        needs_ids = bool(self.early_stopping) or self.max_queries is not None
        return FitCall(estimator, self.group_param, self.groups, needs_ids)

    def get_metadata_routing(self) -> MetadataRouter:
        """Metadata that QueryRanker requests and passes on to its estimator.

        Returns
        -------
        MetadataRouter
            Requests of QueryRanker itself and of the `fit` of its estimator.
        """
        return router_of(self, self.estimator, super().get_metadata_routing())

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
