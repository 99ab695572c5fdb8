"""Query ids for splitters, scorers and rankers inside of the wrapped estimator."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from inspect import signature
from typing import Any, Self

import numpy as np
import sklearn
from sklearn import config_context
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.feature_selection import RFE, RFECV
from sklearn.linear_model import LogisticRegression, RidgeClassifierCV, RidgeCV
from sklearn.metrics import get_scorer
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from .._sklearn_compat import SEARCHES_WEIGH_SCORES
from ..model_selection.splitter import QuerySplitter
from ..query_ids import NoGroupsError, group_rows, no_groups_error
from ..query_ids.lookup import QID, column_or_level, level_names, wrap_fix
from ..scoring.pipelines import is_pipeline
from .boosters import booster_of
from .inner_splits import fitted_steps, splitters_replaced
from .metadata import routing_of
from .pipelines import last_step
from .training_data import TrainingData


def takes_query_ids(estimator: Any) -> bool:
    """Whether something inside of `estimator` may take query ids in its `fit`."""
    if not hasattr(estimator, "get_params"):
        return False
    params = estimator.get_params(deep=True)
    is_scored = any(name.rpartition("__")[2] == "scoring" and params[name] for name in params)
    return is_scored or any(map(_requests_groups, (*fitted_steps(estimator), *params.values())))


def _requests_groups(value: Any) -> bool:
    """Whether `value` is a splitter, scorer or meta-estimator that requests groups."""
    if isinstance(value, type) or not hasattr(value, "get_metadata_routing"):
        return False
    routing = routing_of(value)
    return any(routing.consumes(method, {"groups"}) for method in ("fit", "split"))


def check_rankers_wrapped(estimator: Any, fit_params: dict[str, Any]) -> None:
    """Refuse a ranker inside of a tool of scikit-learn, to which no query ids are passed."""
    of_rankers = {"qid", "group", "group_id"}
    is_given = any(name.rpartition("__")[2] in of_rankers for name in fit_params)
    if is_given or not hasattr(estimator, "get_params"):
        return
    parts = {"": estimator, **estimator.get_params(deep=True)}
    last, _ = last_step(estimator)
    for place, part in parts.items():
        name, names = type(part).__name__, place.split("__")
        if part is last or not (name.endswith("Ranker") and booster_of(part)):
            continue
        around = [parts.get("__".join(names[:depth])) for depth in range(len(names))]
        if all(of is None or type(of).__module__.startswith("sklearn.") for of in around):
            raise no_groups_error(f"{name}.fit", fix=wrap_fix(name, "the ranker"))


def with_index_of_ids(X: Any, y: Any, original: Any, source: Any, ids: Any) -> tuple[Any, Any]:
    """X, if it is a frame, and y with the ids in their index, which selected rows keep.

    Parameters
    ----------
    X, y : array-like
        Features without the columns of ids, and labels.
    original : array-like
        X with the columns of ids.
    source : str, sequence or None
        Names under which the ids were found; they become levels too.
    ids : array-like
        Query ids.
    """
    try:
        import pandas as pd
    except ImportError:
        return X, y
    index: Any = getattr(X, "index", None)
    levels = {name: index.get_level_values(name) for name in level_names(X) if name}
    levels[QID] = group_rows(ids, len(np.asarray(y))).codes
    names = [source] if isinstance(source, str) else source
    for name in names if isinstance(names, list | tuple) else ():
        if (values := column_or_level(original, name)) is not None:
            levels[name] = np.asarray(values)
    index = pd.DataFrame(levels).set_index(list(levels)).index
    if isinstance(X, pd.DataFrame | pd.Series):
        X = X.set_axis(index, axis=0)
    return X, pd.Series(np.asarray(y), index=index)


def fit_with_ids(estimator: Any, data: TrainingData, params: dict[str, Any], source: Any) -> Any:
    """Fit an estimator that takes query ids within.

    A frame keeps them in its index, wherever rows are selected. Metadata routing passes those of
    an array.
    """
    is_routed = sklearn.get_config()["enable_metadata_routing"] and bool(params)
    with (
        splitters_replaced(estimator, data, source),
        final_estimator_wrapped(estimator, data, source),
    ):
        takes_groups = _passes_groups_on(estimator)
        if not is_routed:
            of_steps = groups_of_selections(estimator, data.codes)
            with config_context(enable_metadata_routing=False):
                if not takes_groups:
                    return estimator.fit(data.X, data.y, **params, **of_steps)
                if (params or of_steps or hasattr(data.X, "iloc")) and not _splits_given(estimator):
                    with suppress(NoGroupsError):  # from a tool that converts X and y to arrays
                        return estimator.fit(data.X, data.y, **params, **of_steps)
        with config_context(enable_metadata_routing=True):
            params = params if is_routed else _requested(estimator, params)
            groups = {"groups": np.asarray(data.codes)} if takes_groups else {}
            return estimator.fit(data.X, data.y, **params, **groups)


def _passes_groups_on(estimator: Any) -> bool:
    """Whether metadata routing passes groups within `estimator`."""
    return bool(routing_of(estimator).consumes("fit", {"groups"}))


def _splits_given(estimator: Any) -> bool:
    """Whether a splitter inside of `estimator` takes groups that are passed, and only those."""
    params = estimator.get_params().values()
    splitters = (value for value in params if hasattr(value, "split"))
    return any(_requests_groups(cv) and not isinstance(cv, QuerySplitter) for cv in splitters)


def _requested(estimator: Any, params: dict[str, Any]) -> dict[str, Any]:
    """Parameters of `fit` as metadata, which those request for whom they are, and no others."""
    takers = {"": estimator, **estimator.get_params()}
    takers = {place: taker for place, taker in takers.items() if hasattr(taker, "set_fit_request")}
    metadata = {}
    for key, value in params.items():
        place, _, name = key.rpartition("__")
        metadata[name] = value
        for other, taker in takers.items():
            if has_fit_parameter(taker, name):
                taker.set_fit_request(**{name: other.startswith(place)})
    if "sample_weight" in metadata:
        _request_weights(estimator)
    elif any(isinstance(model, RidgeClassifierCV) for model in takers.values()):
        _request_weights(estimator, weigh=False)  # which makes weights of its classes
    _check_members(last_step(estimator)[0], metadata)
    return metadata


def _request_weights(estimator: Any, *, weigh: bool = SEARCHES_WEIGH_SCORES) -> None:
    """Let scores inside of `estimator` be weighted as searches do it without metadata routing."""
    params: dict[str, Any] = estimator.get_params()
    given = {place: value for place, value in params.items() if value is not None}
    for place, value in given.items():
        if place.endswith("scoring") and f"{place.removesuffix('scoring')}cv" in params:
            estimator.set_params(**{place: _scorers(value, weigh)})
        elif _may_weigh(value):
            value.set_score_request(sample_weight=weigh)


def _may_weigh(value: Any) -> bool:
    """Whether it is a model whose score takes weights, on request."""
    asks = hasattr(value, "set_score_request")
    return asks and "sample_weight" in signature(value.score).parameters


def _scorers(scoring: Any, weigh: bool) -> Any:
    """One scorer, or several by name, that request weights or decline them."""
    if isinstance(scoring, list | tuple | set):
        scoring = {name: name for name in scoring}
    if isinstance(scoring, dict):
        return {name: _scorers(scorer, weigh) for name, scorer in scoring.items()}
    scorer = get_scorer(scoring)
    if hasattr(scorer, "set_score_request"):
        scorer.set_score_request(sample_weight=weigh)
    return scorer


def _check_members(ensemble: Any, metadata: dict[str, Any]) -> None:
    """Refuse weights that a member of an ensemble would not be given, as scikit-learn does."""
    for name, member in getattr(ensemble, "estimators", ()) if "sample_weight" in metadata else ():
        if member != "drop" and not routing_of(member).consumes("fit", {"sample_weight"}):
            raise TypeError(
                f"{name!r} of {type(ensemble).__name__} is a {type(member).__name__}, which takes "
                "no sample_weight. Leave out the weights, or this member."
            )


def groups_of_selections(estimator: Any, ids: Any) -> dict[str, Any]:
    """Query ids for steps of a pipeline that eliminate features by a ranker.

    scikit-learn's metadata routing passes nothing to RFE before the last step.
    """
    if not is_pipeline(estimator):
        return {}
    *steps, (last, ranker) = estimator.steps
    groups = {f"{name}__groups": ids for name, step in steps if _eliminates_by_ids(step)}
    inner = groups_of_selections(ranker, ids).items()
    return groups | {f"{last}__{name}": value for name, value in inner}


def _eliminates_by_ids(step: Any) -> bool:
    is_rfe = isinstance(step, RFE) and not isinstance(step, RFECV)
    return is_rfe and has_fit_parameter(step.estimator, "groups")


class _FinalEstimator(MetaEstimatorMixin, BaseEstimator):
    """The final estimator of a stack, which scikit-learn passes what its members request.

    Parameters
    ----------
    estimator : estimator object
        The final estimator, fitted with the query ids if it takes them.
    data : TrainingData
        The rows of the stack, which are those of its final estimator too.
    source : str, sequence or None
        Names under which the ids were found.
    """

    def __init__(self, estimator: Any, data: Any = None, source: Any = None) -> None:
        self.estimator = estimator
        self.data = data
        self.source = source

    def __sklearn_clone__(self) -> Self:
        return type(self)(clone(self.estimator), self.data, self.source)

    def fit(self, X: Any, y: Any, groups: Any = None, **params: Any) -> Self:
        model = clone(self.estimator)
        _, prefix = last_step(model)
        params = {prefix + name: value for name, value in params.items()}
        with config_context(enable_metadata_routing=False):
            self.estimator_ = fit_with_ids(model, replace(self.data, X=X, y=y), params, self.source)
        return self

    def __sklearn_tags__(self) -> Any:
        return get_tags(self.estimator)


@contextmanager
def own_stopping_explained(model: Any) -> Iterator[None]:
    """Tell how to stop a model that holds out rows itself and does not know their queries."""
    try:
        yield
    except NoGroupsError as error:
        own = model.get_params() if hasattr(model, "get_params") else {}
        if not own.get("early_stopping") or "scoring" not in own:
            raise
        raise NoGroupsError(
            f"{type(model).__name__} holds out rows for early_stopping by itself and does not pass "
            f"their query ids to scoring={own['scoring']!r}. Choose:\n"
            "- scoring='loss', or early_stopping=False;\n"
            "- a model of LightGBM, XGBoost or CatBoost, which QueryRanker stops on whole "
            "held-out queries: QueryRanker(LGBMRegressor(), early_stopping='ndcg@10')."
        ) from error


@contextmanager
def final_estimator_wrapped(estimator: Any, data: TrainingData, source: Any) -> Iterator[None]:
    """Fit the final estimator of a stack with query ids if and only if it takes them.

    A stack hands what its members request to the final one too, but not what only this one takes.
    """
    stack, _ = last_step(estimator)
    final = getattr(stack, "final_estimator", _FinalEstimator)
    if final is _FinalEstimator or not (takes_query_ids(final) or _passes_groups_on(stack)):
        yield
        return
    default = LogisticRegression() if is_classifier(stack) else RidgeCV()
    wrapped = _FinalEstimator(default if final is None else final, data, source)
    stack.set_params(final_estimator=wrapped)
    try:
        yield
        stack.final_estimator_ = stack.final_estimator_.estimator_
    finally:
        stack.set_params(final_estimator=final)
