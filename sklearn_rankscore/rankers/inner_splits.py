"""Splitters inside of the wrapped estimator, as splits of the rows that it is fitted to."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import VotingClassifier, VotingRegressor
from sklearn.feature_selection import RFE, RFECV, SelectFromModel
from sklearn.model_selection import PredefinedSplit

from .._sklearn_compat import safe_indexing
from .._typing import Array, IdSource
from ..model_selection import QueryTimeSeriesSplit
from ..model_selection.splitter import QuerySplitter
from ..query_ids.fold_rows import with_query_ids
from ..scoring.pipelines import is_pipeline
from .metadata import routing_of
from .training_data import TrainingData


@contextmanager
def splitters_replaced(estimator: Any, data: TrainingData, source: IdSource) -> Iterator[None]:
    """Replace splitters of exactly these rows by their splits.

    Some tools drop indices with query ids, and splits of the given rows have other numbers if rows
    were reordered or selected.
    """
    replaced: list[tuple[Any, Any]] = []
    for step in fitted_steps(estimator):
        cv: Any = getattr(step, "cv", None)
        if isinstance(step, BaseEstimator) and (splits := _splits(cv, data, source)) is not cv:
            replaced.append((step, cv))
            step.set_params(cv=splits)
    try:
        yield
    finally:
        for step, cv in replaced:
            step.set_params(cv=cv)


def fitted_steps(estimator: Any) -> Iterator[Any]:
    """The estimator, or the steps of a pipeline, and those inside that are fitted to all rows."""
    if not is_pipeline(estimator):
        yield estimator
    for step in _steps(estimator):
        yield from fitted_steps(step)


def _steps(estimator: Any) -> Iterable[Any]:
    """What an estimator, or a clone of it, fits to the rows that it is fitted to."""
    if is_pipeline(estimator):
        return [step for _, step in estimator.steps]
    if isinstance(estimator, VotingClassifier | VotingRegressor):
        return [member for _, member in estimator.estimators]
    if isinstance(estimator, TransformedTargetRegressor):
        return [estimator.regressor]
    selects = isinstance(estimator, SelectFromModel | RFE) and not isinstance(estimator, RFECV)
    return [estimator.estimator] if selects else []


def _splits(cv: Any, data: TrainingData, source: IdSource) -> Any:
    """The splits of a splitter by query, or of the given rows; `cv` itself if it is another one."""
    if data.rows is not None and _has_times(cv):
        cv = copy.copy(cv)
        cv.times = safe_indexing(cv.times, data.rows)
    if _splits_by(cv, source):
        keyword = "qid" if isinstance(cv, QuerySplitter) else "groups"
        splits = cv.split(data.X, data.y, **{keyword: data.codes})
        return [tuple(with_query_ids(rows, data.codes) for rows in split) for split in splits]
    if not isinstance(cv, list | tuple | PredefinedSplit):
        return cv
    splits = cv.split() if isinstance(cv, PredefinedSplit) else cv
    return [(_of_rows(train, data), _of_rows(test, data)) for train, test in splits]


def _has_times(cv: Any) -> bool:
    """Whether a splitter has one time per given row."""
    times = cv.times if isinstance(cv, QueryTimeSeriesSplit) else None
    return not (times is None or isinstance(times, str) or callable(times))


def _of_rows(given: Any, data: TrainingData) -> Array:
    """The numbers of given rows, by index or by mask, among those of `data`, with their ids."""
    given = np.asarray(given)
    given = np.flatnonzero(given) if given.dtype == bool else given
    numbers = given if data.rows is None else _among(data.rows, given)
    return numbers if data.codes is None else with_query_ids(numbers, data.codes)


def _among(rows: Array, given: Array) -> Array:
    """The numbers of given rows among the chosen `rows`."""
    numbers = np.full(1 + max(rows.max(initial=-1), given.max(initial=-1)), -1)
    numbers[rows] = np.arange(len(rows))
    numbers = numbers[given]
    return np.asarray(numbers[numbers >= 0])


def _splits_by(cv: Any, source: IdSource) -> bool:
    """Whether a splitter takes groups, and no others than the query ids."""
    if not hasattr(cv, "split") or not hasattr(cv, "get_metadata_routing"):
        return False
    own_source = getattr(cv, "groups", None) if isinstance(cv, QuerySplitter) else None
    if own_source is not None and own_source != source:
        return False
    return bool(routing_of(cv).consumes("split", {"groups"}))
