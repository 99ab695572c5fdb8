"""Predictions of any estimator as scores of documents, and these as queries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from ..ranking import Queries, read_queries
from .carriers import missing_groups


def read_predicted(
    estimator: Any, y_true: Any, scores: Any, ids: Any, sample_weight: Any, name: str
) -> Queries:
    """Queries from predictions, with words and classes as labels; `name` is that of the metric."""
    labels, classes = np.asarray(y_true), getattr(estimator, "classes_", None)
    if ids is None and scores.ndim == 1:
        raise missing_groups(
            f"the metric {name}",
            single=", or ask for all rows as one query by '...(groups=none)' in the name",
        )
    if scores.ndim == 2 and labels.ndim == 1:
        if classes is not None:
            classes, scores = _with_unseen(labels, classes, scores)
        return read_queries(labels, scores, labels=classes, sample_weight=sample_weight)
    if labels.dtype.kind not in "biuf" and labels.ndim == 1 and labels.dtype != object:
        labels = labels == (np.unique(labels) if classes is None else classes)[-1]
    elif labels.dtype == object and classes is not None and np.asarray(classes).dtype.kind in "OUS":
        labels = labels == classes[-1]
    return read_queries(labels, scores, groups=ids, sample_weight=sample_weight)


def _with_unseen(labels: Any, classes: Any, scores: Any) -> tuple[Any, Any]:
    """Classes and their scores; a class that was not in the training data is not retrieved."""
    unseen = np.setdiff1d(labels, classes)
    if not len(unseen):
        return classes, scores
    nowhere = np.full((len(scores), len(unseen)), -np.inf)
    return np.append(classes, unseen), np.hstack([scores, nowhere])


def predicted(call: Callable[..., Any], estimator: Any, X: Any, *, as_one: bool) -> Any:
    """Predictions that order documents, one a row where `as_one`; else also one a class."""
    try:
        classifier = is_classifier(estimator)
    except AttributeError:  # a duck-typed estimator without scikit-learn's tags
        return np.asarray(estimator.predict(X))
    if not classifier:
        method = "predict" if hasattr(estimator, "predict") else "decision_function"
        return np.asarray(call(estimator, method, X))
    methods = [m for m in ("decision_function", "predict_proba") if hasattr(estimator, m)]
    if not methods:
        return np.asarray(call(estimator, "predict", X))
    scores = np.asarray(call(estimator, methods[0], X))
    if scores.ndim == 1:
        return scores
    multiclass = np.ndim(estimator.classes_[0]) == 0
    columns = len(estimator.classes_) if multiclass else scores.shape[1]
    if (as_one or scores.shape[1] != columns) and methods[-1] == "predict_proba":
        # decision values of one class against another are not one column a class
        scores = np.asarray(call(estimator, "predict_proba", X))
    if not as_one:
        return scores
    if methods[-1] != "predict_proba":
        return np.asarray(call(estimator, "predict", X))
    return scores @ np.asarray(estimator.classes_, dtype=float)  # the expected grade


def respond(estimator: Any, method: str, X: Any) -> Any:
    """What scikit-learn's own callers return: for two classes the second one's column."""
    response = getattr(estimator, method)(X)
    if method != "predict_proba":
        return response
    if isinstance(response, list):  # one array for each label of a multilabel classifier
        return np.column_stack([column[:, -1] for column in response])
    return response[:, 1] if np.shape(response)[1:] == (2,) else response
