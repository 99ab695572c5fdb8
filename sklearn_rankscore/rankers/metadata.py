"""The parameters of a ranker's `fit` in scikit-learn's metadata routing."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

from sklearn.utils.metadata_routing import (
    MetadataRequest,
    MetadataRouter,
    MethodMapping,
    get_routing_for_object,
)

from ..scoring.pipelines import is_pipeline
from .boosters import booster_of
from .evaluation_sets import OF_SETS
from .pipelines import last_step


def router_of(owner: Any, estimator: Any, own_request: MetadataRequest) -> MetadataRouter:
    """A router from QueryRanker to its estimator.

    QueryRanker has one estimator to pass parameters to, so it requests those parameters of the
    `fit` of the last step about which this step itself says nothing. It does so for a step without
    metadata requests too, such as one of CatBoost. The request for weights, which scikit-learn
    requires, is that of the last step, and where this says nothing, that of QueryRanker.
    """
    last, _ = last_step(estimator)
    requests = _fit_requests(last)
    for param in _fit_parameters(last):
        if param != "sample_weight" and requests.get(param) is None:
            own_request.fit.add_request(param=param, alias=True)
    if (of_weights := requests.get("sample_weight")) is not None:
        own_request.fit.add_request(param="sample_weight", alias=of_weights)
    router = MetadataRouter(owner=_owner_name(owner))
    router.add_self_request(own_request)
    mapping = MethodMapping().add(caller="fit", callee="fit")
    return router.add(estimator=_without_unset_weights(estimator), method_mapping=mapping)


def _without_unset_weights(estimator: Any) -> MetadataRequest | MetadataRouter:
    """The routing of an estimator, in which nobody gets weights without a request.

    scikit-learn passes to a router whatever its estimators do not decline, even if the router
    declines it.
    """
    routing = routing_of(estimator)
    for request in _requests_in(routing):
        for method in (request.fit, request.score):
            if method.requests.get("sample_weight", False) is None:
                method.add_request(param="sample_weight", alias=False)
    return routing


def check_no_step_requests_weights(estimator: Any) -> None:
    """Refuse weights that a step before the last requests: QueryRanker passes them to the last."""
    while is_pipeline(estimator):
        for name, step in estimator.steps[:-1]:
            for request in _requests_in(routing_of(step)):
                if request.fit.requests.get("sample_weight"):
                    owner = _owner_name(request.owner)
                    raise ValueError(
                        f"the step {name!r} requests sample_weight ({owner}), but QueryRanker "
                        "passes weights to the last step only. Take the step out of QueryRanker, "
                        "make_pipeline(step, QueryRanker(...)), or call "
                        f"set_fit_request(sample_weight=False) of {owner}."
                    )
        estimator = estimator.steps[-1][1]


def _owner_name(owner: Any) -> str:
    """The class of an estimator, of which older versions of scikit-learn give the name."""
    return owner if isinstance(owner, str) else type(owner).__name__


def _requests_in(routing: MetadataRequest | MetadataRouter) -> Iterator[MetadataRequest]:
    if not isinstance(routing, MetadataRouter):
        yield routing
        return
    for _, pair in routing:
        yield from _requests_in(pair.router)


def routing_of(value: Any) -> MetadataRequest | MetadataRouter:
    """What an estimator or splitter requests and passes on; nothing if it does not tell."""
    try:
        return get_routing_for_object(value)
    # RidgeCV without `scoring` takes itself for a scorer, and AdaBoost does not support routing
    except (RecursionError, NotImplementedError):
        return MetadataRequest(owner=type(value).__name__)


def names_of_fit(estimator: Any, params: dict[str, Any]) -> dict[str, Any]:
    """Parameters under their names in `fit`, ``step__name`` in a pipeline, from routed ones.

    A parameter that no step requests is for the last one, which refuses it if it is unknown.
    """
    keys = _keys_by_name(estimator)
    named = {name: params[key] for name, key in keys.items() if key in params}
    _, prefix = last_step(estimator)
    others = {
        name if "__" in name else prefix + name: value
        for name, value in params.items()
        if name not in keys.values()
    }
    return others | named


def _keys_by_name(estimator: Any) -> dict[str, str]:
    """For each requested parameter, by its name in `fit`, the name under which it is passed."""
    if is_pipeline(estimator):
        return {
            f"{step}__{name}": key
            for step, inner in estimator.steps
            for name, key in _keys_by_name(inner).items()
        }
    requests = _fit_requests(estimator).items()
    return {name: name if alias is True else alias for name, alias in requests if alias}


def _fit_requests(estimator: Any) -> dict[str, Any]:
    """What an estimator that is no router requests for `fit`."""
    if not hasattr(estimator, "get_metadata_routing"):
        return {}
    routing = routing_of(estimator)
    return dict(routing.fit.requests) if isinstance(routing, MetadataRequest) else {}


def _fit_parameters(estimator: Any) -> list[str]:
    """Names of the parameters of `fit` besides X and y; QueryRanker adds some for boosters."""
    parameters = list(inspect.signature(estimator.fit).parameters.values())[2:]
    kinds = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    names = [p.name for p in parameters if p.kind not in kinds]
    return names if booster_of(estimator) is None else [*names, *OF_SETS]
