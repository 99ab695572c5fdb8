"""The tasks of scikit-learn's model selection: a fit, with predictions or scores, on one fold."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import Any

from sklearn import get_config
from sklearn.base import clone

from .._columns import to_numpy
from .._sklearn_compat import num_samples
from ..query_ids import carried_query_ids, find_query_ids, group_rows
from .call_groups import CallGroups
from .scorers_with_ids import (
    query_rankers_in,
    rankers_in,
    scorers_of_queries,
    scorers_of_search,
    searches_in,
)

# parameters of the tasks of searches and RFECV, which fit again on all rows after the folds
REFITS = {"candidate_progress", "routed_params"}


class FoldTask:
    """One task, ``(function, args, kwargs)``, with its arguments by name.

    Attributes
    ----------
    arguments : dict
        The arguments of the task.
    is_routed : bool
        Whether metadata routing, which passes ids itself under any name, is enabled.
    call_groups : CallGroups
        The argument `groups` of the call, and what its tasks were given.
    """

    def __init__(self, function: Any, args: Any, kwargs: Any, call_groups: CallGroups) -> None:
        self.function = function
        self.arguments = _signature(_undelayed(function)).bind_partial(*args, **kwargs).arguments
        get = self.arguments.get
        self.X: Any = get("X")
        self.y: Any = get("y")
        self.estimator: Any = get("estimator")
        self.scorer: Any = get("scorer")
        self.test: Any = get("test")
        self.is_routed = get_config()["enable_metadata_routing"]
        self.call_groups = call_groups

    @cached_property
    def candidate(self) -> Any:
        """The estimator, with the estimators that a search puts into it for this task."""
        parameters = self.arguments.get("parameters") or {}
        replaced = {name: value for name, value in parameters.items() if hasattr(value, "fit")}
        return clone(self.estimator).set_params(**replaced) if replaced else self.estimator

    @cached_property
    def carried_ids(self) -> Any:
        """The id of each row of X that the call or its splitter was given.

        None with metadata routing, and if the folds divide the queries of the call.
        """
        if self.is_routed:
            return None
        carried = self._ids_of_split()
        # to a call without rankings, `groups` may mean anything
        if self.test is None or self.call_groups.are(carried) or not self.takes_ids:
            return carried
        ids = self.call_groups.ids(self.X, carried)
        is_divided = ids is not carried and self.call_groups.are_divided(self.X, self.test)
        return None if is_divided else ids

    def _ids_of_split(self) -> Any:
        """What the rows carry that the splitter returned, or what it will be given."""
        carried = carried_query_ids(self.test, self.arguments.get("train"))
        # a permutation test splits within its task
        of_split = (self.arguments.get("split_params") or {}).get("groups")
        return of_split if carried is None else carried

    @property
    def divides_groups(self) -> bool:
        """Whether `carried_ids` is None because the folds divide the queries of the call."""
        return self.carried_ids is None and self.has_groups and not self.is_routed

    @property
    def has_groups(self) -> bool:
        """Whether the call was given `groups`."""
        return not self.call_groups.are(None)

    @cached_property
    def ranks_queries(self) -> bool:
        """Whether a scorer or a ranker needs query ids."""
        if scorers_of_queries(self.scorer) or any(rankers_in(self.candidate)):
            return True
        return any(scorers_of_queries(scorers_of_search(s)) for s in searches_in(self.candidate))

    @cached_property
    def takes_ids(self) -> bool:
        """Whether query ids mean anything to it; elsewhere `groups` may mean other things.

        A `QueryRanker` takes them even if a metric of all rows scores a pointwise model, because it
        has a `decision_function` only if it was fitted with ids.
        """
        return self.ranks_queries or any(query_rankers_in(self.candidate))

    @property
    def fit_params(self) -> dict[str, Any]:
        """Parameters for the fit of the estimator."""
        return self._params("fit_params", "estimator", "fit")

    @property
    def score_params(self) -> dict[str, Any]:
        """Parameters for the scorer."""
        return self._params("score_params", "scorer", "score")

    def _params(self, name: str, owner: str, method: str) -> dict[str, Any]:
        routed = self.arguments.get("routed_params")
        params = self.arguments.get(name) if routed is None else routed[owner][method]
        return {} if params is None else params

    @property
    def permutes_labels(self) -> bool:
        """Whether this is a permutation test, which splits within its task."""
        return "cv" in self.arguments

    @property
    def fits(self) -> bool:
        """Whether the task fits; that of a permutation importance scores a fitted estimator."""
        return "max_samples" not in self.arguments

    def pass_to_fit(self, name: str, ids: Any) -> None:
        """Add a parameter of fit, for the refit after the folds as well."""
        params = self.fit_params
        if REFITS & self.arguments.keys():
            params[name] = ids  # the dict of this one search, from which it refits
        else:
            self.arguments["fit_params"] = {**params, name: ids}

    def pass_to_scorer(self, scorer: Any, ids: Any) -> None:
        """Score with `scorer`, which takes `groups`."""
        self.scorer = self.arguments["scorer"] = scorer
        if "routed_params" in self.arguments:
            self.score_params["groups"] = ids
        else:
            self.arguments["score_params"] = {**self.score_params, "groups": ids}

    def query_codes(self) -> Any:
        """The number of the query of each row of X, whatever it means to the task.

        None if there are no ids. Those that cannot be read are no ids, as `groups` may mean
        anything, or are refused by what needs them.
        """
        carried = self._ids_of_split()
        try:
            ids = self.call_groups.ids(self.X, carried) if self.has_groups else carried
            ids = find_query_ids(self.X, self.y) if ids is None else ids
            return None if ids is None else group_rows(ids, num_samples(self.X)).codes
        except (TypeError, ValueError):
            return None

    def make_selectable(self) -> None:
        """Replace each index and array of pandas and PyArrow among the parameters.

        scikit-learn cannot select rows of those that Arrow holds, as pandas' strings. The rows keep
        their labels in X, so that none seem to be in another order.
        """
        labels = self.X.index if hasattr(self.X, "iloc") else None  # a list has a method `index`
        for name in ("fit_params", "score_params"):
            params = getattr(self, name)
            read = {key: _selectable(value, labels) for key, value in params.items()}
            columns = {key: value for key, value in read.items() if value is not params[key]}
            if not columns:
                continue
            if "routed_params" in self.arguments:
                params.update(columns)  # what scikit-learn has routed for this call
            else:
                self.arguments[name] = {**params, **columns}

    def as_tuple(self) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
        """The task as scikit-learn's `Parallel` takes it."""
        return self.function, (), dict(self.arguments)


def _selectable(column: Any, labels: Any) -> Any:
    """A Series or an array in place of an index or array of pandas or PyArrow."""
    if hasattr(column, "get_level_values"):
        return column.to_series(index=range(len(column)) if labels is None else labels)
    if hasattr(column, "isna") and not hasattr(column, "iloc"):
        return sys.modules["pandas"].Series(column, index=labels)
    is_arrow = hasattr(column, "to_pylist") and not hasattr(column, "schema")
    return to_numpy(column) if is_arrow else column


def is_fold_task(task: Any) -> bool:
    """Whether a task of `Parallel` fits or scores an estimator."""
    if not isinstance(task, tuple) or len(task) != 3:
        return False
    return _takes_estimator_and_rows(_undelayed(task[0]))


@lru_cache(maxsize=256)
def _takes_estimator_and_rows(function: Callable[..., Any]) -> bool:
    """Whether `function` is one of scikit-learn's that fit or score an estimator on a fold."""
    if not str(getattr(function, "__module__", "")).startswith("sklearn."):
        return False
    names = _signature(function).parameters.keys()
    return {"estimator", "X", "y", "scorer"} <= names or {"estimator", "X", "y", "test"} <= names


@lru_cache(maxsize=256)
def _signature(function: Callable[..., Any]) -> inspect.Signature:
    return inspect.signature(function)


def _undelayed(function: Any) -> Any:
    """The function that `sklearn.utils.parallel.delayed` wraps."""
    return getattr(function, "function", function)
