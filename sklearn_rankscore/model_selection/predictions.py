"""Predictions of any estimator as scores of documents, and these as queries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from ..ranking import Queries, read_queries
from ..ranking.arrays import Array
from .carriers import missing_groups


def read_predicted(
    estimator: Any, y_true: Any, scores: Any, ids: Any, sample_weight: Any, name: str
) -> Queries:
    """Queries from predictions, with words and classes as labels; `name` is that of the metric."""
    labels, classes = np.asarray(y_true), getattr(estimator, "classes_", None)
    if ids is None and scores.ndim == 1:
        raise missing_groups(
            f"the metric {name}",
            also=", or ask for all rows as one query by '...(groups=none)' in the name",
        )
    if scores.ndim == 2 and labels.ndim == 1:
        if classes is not None:
            classes, scores = _with_unseen(labels, classes, scores)
        return read_queries(labels, scores, labels=classes, sample_weight=sample_weight)
    if labels.ndim == 1 and _are_words(labels):
        if classes is None:
            raise ValueError(
                f"the labels are words, such as {labels[0]!r}, and without a classifier's classes_ "
                "nothing says which of them is relevant. Code them as numbers, such as 0 and 1."
            )
        labels = labels == classes[-1]
    return read_queries(labels, scores, groups=ids, sample_weight=sample_weight)


def _are_words(labels: Any) -> bool:
    return labels.dtype.kind in "US" or (labels.dtype == object and isinstance(labels[0], str))


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
    in_pairs = methods[0] == "decision_function" and _decides_between_pairs(estimator)
    if methods[-1] == "predict_proba":
        if as_one or in_pairs:
            scores = np.asarray(call(estimator, "predict_proba", X))
        return scores @ _grades(estimator.classes_) if as_one else scores  # the expected grade
    if as_one:
        _grades(estimator.classes_)
        return np.asarray(call(estimator, "predict", X))
    if in_pairs:
        raise ValueError(
            "decision_function_shape='ovo' gives a value for each pair of classes, and a ranking "
            "of the classes needs one for each class: use 'ovr'."
        )
    return scores


def _decides_between_pairs(estimator: Any) -> bool:
    """Whether decision values are those of one class against another, as an SVC's may be."""
    while True:
        for name in ("best_estimator_", "estimator_"):
            estimator = getattr(estimator, name, estimator)
        if not hasattr(estimator, "steps"):
            return getattr(estimator, "decision_function_shape", "ovr") == "ovo"
        estimator = estimator.steps[-1][1]


def _grades(classes: Any) -> Array:
    """Classes as the numbers that documents are ranked by."""
    try:
        return np.asarray(classes, dtype=np.float64)
    except ValueError as error:
        raise ValueError(
            f"several classes rank documents by their number, and these are words ({error}). Code "
            "them as grades: 0, 1, 2, ..., the more relevant the higher."
        ) from error


def respond(estimator: Any, method: str, X: Any) -> Any:
    """What scikit-learn's own callers return: for two classes the second one's column."""
    response = getattr(estimator, method)(X)
    if method != "predict_proba":
        return response
    if isinstance(response, list):  # one array for each label of a multilabel classifier
        # a label that is never or always there in the training data has one column alone
        positive = zip(response, estimator.classes_, strict=True)
        return np.column_stack([column[:, -1] * (known[-1] != 0) for column, known in positive])
    return response[:, 1] if np.shape(response)[1:] == (2,) else response
