"""QueryRanker: one row-aligned array of query ids for any ranker."""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn import config_context
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier, is_regressor
from sklearn.utils import get_tags
from sklearn.utils.validation import _num_samples, check_is_fitted

from ..metrics.options import check_count
from ..ranking.arrays import Array
from .carriers import drop_ids, find_groups, missing_groups
from .early_stopping import best_iteration, library_of, stopping_arguments
from .predictions import predicted, respond
from .scorer import make_ranking_scorer
from .training_rows import TrainingRows

# what rankers call their argument for query ids; LightGBM's `group` takes sizes, in row order
GROUP_PARAMS = ("qid", "group_id", "group", "groups")


class QueryRanker(MetaEstimatorMixin, BaseEstimator):
    """Let any ranker or pointwise model take part in scikit-learn's model selection.

    It takes query ids as one array aligned with the rows, in any row order, and hands the ranker
    what it wants: ``qid`` (XGBRanker), ``group_id`` (CatBoostRanker), ``group`` sizes (LGBMRanker)
    or nothing (regressors and classifiers). Rows are sorted by query where they are not together.

    Parameters
    ----------
    estimator : estimator object
        The ranker, regressor or classifier, or a Pipeline that ends in one. A classifier of two
        classes ranks by how sure it is of the second one, of several by the expected grade, its
        class labels weighted by their probabilities.
    groups : str, default=None
        Column or index level that holds the query ids; None means ``"qid"``.
    group_param : str or None, default="auto"
        Argument of the ranker's fit that takes the ids ("qid", "group_id", "groups") or the sizes
        ("group"); None for a pointwise model; "auto" looks at the signature.
    max_queries : int, default=None
        Largest number of queries to fit on, drawn at random and kept whole; None for all. This is
        the resource for successive halving, see the notes.
    early_stopping : bool, default=False
        Whether to hold out some of the queries and stop when the ranker's own metric on them no
        longer improves. For estimators of LightGBM, XGBoost and CatBoost.
    validation_fraction : float or int, default=0.1
        Share of the queries, or how many, to hold out. Those whose labels are all equal have
        nothing to say and are left out.
    n_iter_no_change : int, default=10
        Number of rounds without improvement after which to stop.
    random_state : int, RandomState instance or None, default=None
        Seed of the queries that are drawn or held out.

    Attributes
    ----------
    estimator_ : estimator object
        The fitted ranker.
    n_iter_ : int
        Number of rounds that `estimator_` predicts with; only with `early_stopping`.
    n_queries_ : int or None
        Number of queries it was fitted on, those held out included; None without ids.
    n_features_in_ : int
        Number of features, without the column of query ids.
    classes_, feature_names_in_, feature_importances_, coef_ : ndarray
        As the ranker tells them, where it does.

    See Also
    --------
    QueryKFold : Folds of whole queries.
    make_ranking_scorer : Ranking metrics as scorers.

    Notes
    -----
    Query ids come from metadata routing or ``fit(X, y, groups=ids)``, a column or index level
    ``qid`` of X, or an index level ``qid`` of y. The column is taken out of X. Arguments of `fit`
    that are as long as the rows are sorted with them.

    Early stopping goes by the ranker's own metric: ``XGBRanker(eval_metric="ndcg@10")``,
    ``CatBoostRanker(eval_metric="NDCG:top=10;type=Exp")``, and for LGBMRanker
    ``fit(..., eval_at=[10])`` or any of ours, ``fit(..., eval_metric=lightgbm_metric("mrr@10"))``.
    A search shows the rounds of each fold beside the scores::

        scoring={"ndcg@10": "ndcg@10", "rounds": lambda ranker, X, y: ranker.n_iter_},
        refit="ndcg@10",

    Successive halving by ``n_samples`` draws rows from training and test folds, which thins out
    the queries, and what is left of them is easier to rank. By `max_queries` every round trains
    on whole queries and is tested on the same whole folds::

        HalvingGridSearchCV(
            QueryRanker(LGBMRanker(), random_state=0), grid, scoring="ndcg@10", cv=QueryKFold(5),
            resource="max_queries", max_resources=n_queries, min_resources=50,
        )

    ``validation_curve`` over `max_queries` is the learning curve.

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
        random_state: Any = None,
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
        X: Any,
        y: Any,
        groups: Any = None,
        *,
        qid: Any = None,
        sample_weight: Any = None,
        **fit_params: Any,
    ) -> QueryRanker:
        """Fit the ranker.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_documents, n_features)
            Documents.
        y : array-like of shape (n_documents,)
            Relevance.
        groups, qid : array-like of shape (n_documents,), default=None
            Query ids; `qid` comes before ids that travel with X or y, `groups` after them.
        sample_weight : array-like of shape (n_documents,), default=None
            Weight of each row; constant within a query for rankers that weight queries.
        **fit_params
            Passed on to the fit of `estimator`.

        Returns
        -------
        QueryRanker
            The fitted ranker.

        Raises
        ------
        NoGroupsError
            If no query ids arrive and the ranker, `early_stopping` or `max_queries` needs them.
        TypeError
            If `groups` of QueryRanker is no name.
        """
        if self.groups is not None and not isinstance(self.groups, str):
            raise TypeError(
                "groups of QueryRanker must be the name of a column or index level; got "
                f"{type(self.groups).__name__}. Ids themselves go with fit(X, y, groups=ids)."
            )
        ids = find_groups(X, y, groups=groups, qid=qid, bound=self.groups)
        estimator = clone(self.estimator)
        target, prefix = _last_step(estimator)
        name = _group_param(target) if self.group_param == "auto" else self.group_param
        if ids is None and (name or self.early_stopping or self.max_queries is not None):
            raise missing_groups(f"{type(target).__name__}.fit")
        rows = TrainingRows.read(drop_ids(X, self.groups), y, ids, sample_weight, fit_params)
        if self.max_queries is not None:
            most = check_count("max_queries", self.max_queries, 1)
            rows = rows.thin(most, self.random_state)
        if hasattr(self, "n_iter_"):
            del self.n_iter_
        self.n_queries_ = None if ids is None else len(rows.sizes)
        # the ranker is spoken to by name, whatever it says to metadata routing
        with config_context(enable_metadata_routing=False):
            if self.early_stopping:
                self._fit_and_stop(estimator, rows, name)
            else:
                arguments = _arguments(rows, name, prefix)
                self.estimator_ = estimator.fit(rows.X, rows.y, **arguments)
        return self

    def _fit_and_stop(self, estimator: Any, rows: TrainingRows, name: str | None) -> None:
        """Fit with some queries held out, which decide on the number of rounds."""
        rounds = check_count("n_iter_no_change", self.n_iter_no_change, 1)
        library_of(_last_step(estimator)[0])
        train, held_out = rows.hold_out(self.validation_fraction, self.random_state)
        target, train, held_out = _transform(estimator, train, held_out)
        stop = stopping_arguments(target, held_out, rounds, by_query=name is not None)
        given = _arguments(train, name, "")
        if "callbacks" in given and "callbacks" in stop:
            stop["callbacks"] = [*given["callbacks"], *stop["callbacks"]]
        target.fit(train.X, train.y, **{**given, **stop})
        self.estimator_, self.n_iter_ = estimator, best_iteration(target)

    def predict(self, X: Any) -> Array:
        """Score documents: the higher, the further up.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_documents, n_features)
            Documents, with or without the column of query ids.

        Returns
        -------
        ndarray of shape (n_documents,)
            Scores.
        """
        check_is_fitted(self, "estimator_")
        scores = predicted(respond, self.estimator_, drop_ids(X, self.groups), as_one=True)
        return np.asarray(scores)

    def score(
        self, X: Any, y: Any, groups: Any = None, *, qid: Any = None, sample_weight: Any = None
    ) -> float:
        """Mean NDCG over all ranks; higher is better, 1 is a perfect ranking.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_documents, n_features)
            Documents.
        y : array-like of shape (n_documents,)
            Relevance.
        groups, qid : array-like of shape (n_documents,), default=None
            Query ids, found like those of `fit`. All rows are one query only if `fit` had no ids
            either.
        sample_weight : array-like of shape (n_documents,), default=None
            Weights, constant within a query.

        Returns
        -------
        float
            The score.
        """
        check_is_fitted(self, "estimator_")
        ids = find_groups(X, y, groups=groups, qid=qid, bound=self.groups)
        if ids is None and self.n_queries_ is None:
            ids = np.zeros(_num_samples(X), dtype=int)
        return make_ranking_scorer("ndcg")(self, X, y, qid=ids, sample_weight=sample_weight)

    @property
    def classes_(self) -> Array:
        """Classes of a classifier, in sorted order."""
        return np.asarray(self._fitted().classes_)

    @property
    def n_features_in_(self) -> int:
        """Number of features, without the column of query ids."""
        return int(self._fitted().n_features_in_)

    @property
    def feature_names_in_(self) -> Array:
        """Names of the features, without the column of query ids."""
        return np.asarray(self._fitted().feature_names_in_)

    @property
    def feature_importances_(self) -> Array:
        """Importances as the ranker tells them."""
        return np.asarray(_last_step(self._fitted())[0].feature_importances_)

    @property
    def coef_(self) -> Array:
        """Coefficients as the ranker tells them."""
        return np.asarray(_last_step(self._fitted())[0].coef_)

    def _fitted(self) -> Any:
        if "estimator_" not in vars(self):
            raise AttributeError(f"this {type(self).__name__} is not fitted yet.")
        return self.estimator_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.estimator).input_tags
        tags.target_tags.required = True
        return tags


def _last_step(estimator: Any) -> tuple[Any, str]:
    """The model at the end of nested pipelines, and the prefix of its fit parameters."""
    prefix = ""
    while hasattr(estimator, "steps"):
        name, estimator = estimator.steps[-1]
        prefix += f"{name}__"
    return estimator, prefix


def _group_param(target: Any) -> str | None:
    """Name of the argument that takes query ids; None for a pointwise model."""
    parameters = inspect.signature(target.fit).parameters
    for name in GROUP_PARAMS:
        if name in parameters:
            return name
    if _is_scikit_learns(target):
        return None
    if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        raise ValueError(
            f"{type(target).__name__}.fit takes any keyword, so it does not show whether and how "
            "it wants query ids. Put QueryRanker inside of it, or say so: group_param='qid', "
            "'group_id', 'group' (sizes), or None for a pointwise model."
        )
    return None


def _is_scikit_learns(target: Any) -> bool:
    """Whether it is a regressor or classifier of scikit-learn, none of which ranks by query."""
    own = type(target).__module__.partition(".")[0] == "sklearn"
    return own and (is_regressor(target) or is_classifier(target))


def _arguments(rows: TrainingRows, name: str | None, prefix: str) -> dict[str, Any]:
    """Fit arguments of the ranker: ids or sizes, and weights, one a row or one a query."""
    arguments = dict(rows.params)
    if name is not None:
        arguments[prefix + name] = rows.sizes if name == "group" else rows.codes
    if rows.weights is None:
        return arguments
    by_query = rows.query_weights if name in ("qid", "group_id") else None
    argument = "group_weight" if name == "group_id" else "sample_weight"
    arguments[prefix + argument] = by_query if name == "qid" else rows.weights
    return arguments


def _transform(
    estimator: Any, train: TrainingRows, held_out: TrainingRows
) -> tuple[Any, TrainingRows, TrainingRows]:
    """Fit the steps before the ranker, and send both parts through them."""
    while hasattr(estimator, "steps"):
        before = estimator[:-1]
        name, target = estimator.steps[-1]
        own = {k: v for k, v in train.params.items() if not k.startswith(f"{name}__")}
        inner = {k.removeprefix(f"{name}__"): v for k, v in train.params.items() if k not in own}
        if before.steps:
            X = before.fit_transform(train.X, train.y, **own)
            # a pipeline with a memory fits copies of its steps
            estimator.steps[:-1] = before.steps
            held_out = replace(held_out, X=before.transform(held_out.X))
            train = replace(train, X=X)
        train, held_out = replace(train, params=inner), replace(held_out, params=inner)
        estimator = target
    return estimator, train, held_out
