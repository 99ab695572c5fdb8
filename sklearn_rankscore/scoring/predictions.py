"""Predictions of any estimator as scores of documents, and labels and scores as queries."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import is_classifier, is_outlier_detector

from .._columns import NotNumbersError, refuse_masked
from .._sklearn_compat import num_samples
from .._typing import Array, MatrixLike, QueryIds
from .._validation import warn
from ..query_ids import no_groups_error
from ..query_ids.lookup import FIX_OF_SCORER, fix_by_name
from ..ranking import Queries, read_queries
from ..ranking.queries import ravel_column

CallMethod = Callable[[Any, str, MatrixLike], Any]

# the value of `groups` for which each row of class scores ranks the classes
EACH_ROW = "rows"

CLASSIFIER_METHODS = ("decision_function", "predict_proba", "predict")
# a sum of some products has more correct bits than these, of 53
BITS = 40


def call_method(estimator: Any, method: str, X: MatrixLike) -> Any:
    """The response as scikit-learn's scorers get it: of two classes, the column of the second."""
    response = getattr(estimator, method)(X)
    if method != "predict_proba":
        return response
    if isinstance(response, list):  # one array for each label of a multilabel classifier
        # a label that is always or never set in the training data has a single column
        labels = zip(response, estimator.classes_, strict=True)
        return np.column_stack([columns[:, -1] * (known[-1] != 0) for columns, known in labels])
    return response[:, 1] if np.shape(response)[1:] == (2,) else response


def predict_scores(
    estimator: Any, X: MatrixLike, call: CallMethod = call_method, *, per_class: bool = False
) -> Array:
    """Predictions that rank documents.

    Parameters
    ----------
    estimator : estimator object
        Fitted. A classifier of several classes scores a document by its expected grade, or by its
        class if there are no probabilities.
    X : array-like or DataFrame of shape (n_documents, n_features)
        Documents.
    call : callable
        ``call(estimator, method, X)``, which may cache responses.
    per_class : bool
        Whether a classifier of several classes scores each class, so that a document ranks them.

    Returns
    -------
    array of shape (n_documents,) or (n_documents, n_classes)
    """
    try:
        classifier = is_classifier(estimator)
    except AttributeError:  # a duck-typed estimator without scikit-learn's tags
        return np.asarray(estimator.predict(X))
    methods = CLASSIFIER_METHODS if classifier else ("predict", "decision_function")
    if is_outlier_detector(estimator):  # it predicts 1 and -1 only
        methods = methods[::-1]
    method = next((m for m in methods if hasattr(estimator, m)), methods[-1])
    classes: Any = getattr(estimator, "classes_", ()) if classifier else ()
    if not per_class and len(classes) and isinstance(classes[0], str):
        raise NotNumbersError(
            f"the classes of {type(estimator).__name__} are text, such as {str(classes[0])!r}: "
            "encode the labels as grades 0, 1, 2, ..., where higher is more relevant."
        )
    # a single class, of a fold without the others, but not those of a single target
    if len(classes) == 1 and np.ndim(classes[0]) == 0 and not per_class:
        return np.zeros(num_samples(X))
    scores = np.asarray(call(estimator, method, X))
    if not classifier or method == "predict":
        return scores
    if scores.ndim == 1:
        # the second of two classes may be the lower one in CatBoost's `class_names`
        return -scores if len(classes) == 2 and classes[0] > classes[1] else scores
    if not per_class:
        return _expected_grades(estimator, X, call, scores)
    if method == "decision_function":
        _check_one_for_each_class(estimator)
    return scores


def _expected_grades(estimator: Any, X: MatrixLike, call: CallMethod, scores: Array) -> Array:
    """The expected grade, or without probabilities the predicted one."""
    if not hasattr(estimator, "predict_proba"):
        return np.asarray(call(estimator, "predict", X))
    if hasattr(estimator, "decision_function"):  # then these are the scores
        scores = np.asarray(call(estimator, "predict_proba", X))
    return mean_grades(scores, np.asarray(estimator.classes_, dtype=np.float64))


def mean_grades(probabilities: Array, grades: Array) -> Array:
    """The mean grade of each document, in which equal means are ties.

    Their last bits are errors of rounding, in a product of matrices even for equal rows, and would
    break the ties of a vote of neighbors or trees.

    Parameters
    ----------
    probabilities : array of shape (n_documents, n_grades)
        Probabilities.
    grades : array of shape (n_grades,)
        The grade of each column.
    """
    columns = zip(probabilities.T, grades, strict=True)
    fractions, exponents = np.frexp(sum(column * grade for column, grade in columns))
    return np.asarray(np.ldexp(np.round(np.ldexp(fractions, BITS)), exponents - BITS))


def _check_one_for_each_class(estimator: Any) -> None:
    """Refuse decision values that compare one class with another, as those of an SVC may."""
    model, _ = last_step(estimator)
    model, _ = last_step(getattr(model, "best_estimator_", model))
    if getattr(model, "decision_function_shape", "ovr") == "ovo":
        raise ValueError(
            "decision_function_shape='ovo' gives one per pair of classes; to rank them use 'ovr'."
        )


def read_predictions(
    estimator: Any,
    y_true: ArrayLike,
    scores: Array,
    ids: QueryIds | None,
    sample_weight: ArrayLike | None,
    metric_name: str,
    *,
    X: Any = None,
    in_rows: bool = False,
) -> Queries:
    """Queries from labels, which may be classes of `estimator`, and its predictions.

    Parameters
    ----------
    estimator : estimator object or None
        Only its ``classes_`` are read.
    y_true : array-like of shape (n_documents,) or (n_documents, n_labels)
        Relevance, or classes.
    scores : array of shape (n_documents,) or (n_documents, n_classes)
        What `predict_scores` returned.
    ids : array-like of shape (n_documents,) or None
        Query ids. Two-dimensional scores need none: each row is a query.
    sample_weight : array-like of shape (n_documents,) or None
        Weights, constant within each query.
    metric_name : str
        Name of the metric in messages.
    X : array-like or DataFrame, default=None
        Documents, whose names tell where ids may be.
    in_rows : bool, default=False
        Whether a ranking of each row was asked for.
    """
    refuse_masked(y_true, "y_true")
    labels, classes = np.asarray(y_true), getattr(estimator, "classes_", None)
    if ids is not None:
        labels = ravel_column(labels)
    elif scores.ndim == 2 and labels.ndim == 1 and not in_rows:
        _check_row_queries(scores, () if classes is None else classes, metric_name)
    if scores.ndim == 2 and scores.shape[1] == 1 and (ids is not None or classes is None):
        scores = scores[:, 0]  # as a regressor that was fitted to a column predicts
    if ids is None and scores.ndim == 1:
        if in_rows:
            raise ValueError(
                f"the metric {metric_name} with groups=rows ranks the classes of each row, but "
                f"{type(estimator).__name__} returns one score per row. Give the query ids instead."
            )
        raise no_groups_error(f"the metric {metric_name}", fix=fix_by_name(X) or FIX_OF_SCORER)
    if ids is not None and scores.ndim == 2 and classes is None:
        raise ValueError(f"a ranking metric takes one score for each document, not {scores.shape}")
    if scores.ndim == 2 and labels.ndim == 1:
        if classes is not None:  # one that is absent from the training data is not retrieved
            unseen = np.setdiff1d(labels, classes)
            classes = np.append(classes, unseen) if len(unseen) else classes
            scores = np.hstack([scores, np.full((len(scores), len(unseen)), -np.inf)])
        return read_queries(labels, scores, labels=classes, sample_weight=sample_weight)
    return read_queries(labels, scores, groups=ids, sample_weight=sample_weight)


def _check_row_queries(scores: Array, classes: Any, metric_name: str) -> None:
    """Refuse rows of one class; warn if each ranks numbers, perhaps grades of documents."""
    if scores.shape[1] == 1:
        raise ValueError(
            f"the metric {metric_name} received no query ids, so each row would rank one class. "
            "Give the query ids, and to RidgeClassifierCV also cv=QueryKFold(5)."
        )
    classes = np.asarray(classes)
    if classes.size and classes.dtype.kind in "biuf":
        warn(
            f"the metric {metric_name} received no query ids, so each row ranked its "
            f"{classes.size} classes. If the classes are grades of documents, give the query ids, "
            "such as an index level or a column 'qid' of X. If each row is to rank its classes, "
            "write 'ndcg(groups=rows)' or make_ranking_scorer(..., groups='rows')."
        )


def is_pipeline(estimator: Any) -> bool:
    """Whether an estimator is a Pipeline, whose module is loaded then."""
    module: Any = sys.modules.get("sklearn.pipeline")
    return module is not None and isinstance(estimator, module.Pipeline)


def last_step(estimator: Any) -> tuple[Any, str]:
    """The estimator at the end of nested pipelines, and the prefix of its `fit` parameters."""
    prefix = ""
    while is_pipeline(estimator):
        name, estimator = estimator.steps[-1]
        prefix += f"{name}__"
    return estimator, prefix
