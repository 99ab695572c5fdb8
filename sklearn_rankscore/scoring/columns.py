"""Columns of X, besides those of query ids, that a scorer reads: propensities, and the target."""

from __future__ import annotations

from numbers import Integral
from typing import Any, TypeAlias

import numpy as np

from .._columns import as_column, as_numbers, column_names
from .._sklearn_compat import Search
from .._typing import IdSource
from .._validation import is_integer
from ..metrics.names import OF_DATA, parse_name
from ..metrics.propensity import check_propensities, find_column
from ..query_ids.lookup import check_place, check_same_order
from ..ranking.shapes import SINGLE_QUERY

# the name of a column or index level of X, an index level of y, or the position of a column of X
ColumnSource: TypeAlias = str | int | None

# models that use all columns of X as features
OF_MODELS = ("sklearn", "lightgbm", "xgboost", "catboost")


def read_places(
    metric: Any, given: dict[str, Any], options: dict[str, Any]
) -> tuple[Any, dict[str, Any], dict[str, Any]]:
    """Metric, places of columns and options, with the places taken out of the name."""
    name, options_of_name = parse_name(metric) if isinstance(metric, str) else (metric, ())
    named = dict(options_of_name)
    in_name = {place: named.pop(place) for place in OF_DATA if place in named}
    if in_name.get("groups", "") is None:
        in_name["groups"] = SINGLE_QUERY
    places = {
        place: read_place(source) if place == "groups" else check_source(place, source)
        for place, source in (given | in_name).items()
    }
    return (name, places, options | named) if in_name else (metric, places, dict(options))


def read_place(groups: IdSource) -> IdSource:
    """A place of query ids; several names as a tuple, which the cache of predictions can hash."""
    check_place(groups)
    return tuple(groups) if isinstance(groups, list) else groups


def check_source(option: str, source: Any, hint: str = "") -> Any:
    """A place where values are found, not the values themselves; `hint` says how to pass these."""
    if source is None or isinstance(source, str):
        return source
    if is_integer(source):
        return int(source)
    hint = hint or (
        "Values of given rows are passed to the scorer, or by metadata routing: "
        f"make_ranking_scorer(...).set_score_request({option}=True)."
    )
    raise TypeError(
        f"{option} must be the name of a column or index level of X, or the position of a column; "
        f"got {type(source).__name__}. {hint}"
    )


def find_target(scorer: Any, given: Any, X: Any, y: Any) -> Any:
    """The labels to judge by: those given, those at the scorer's target, or else `y`."""
    if given is None and scorer.target is None:
        return y
    check_same_order(X=X, target=given)
    values = find_column(scorer.target, (X, y), "target") if given is None else given
    shown = "target" if given is not None else f"target {scorer.target!r}"
    # NaN is left to the metric if it has a rule for documents that nobody judged
    read = as_numbers if scorer.resolved.unjudged == "error" else as_column
    read(values, shown)
    return values


def check_columns(scorer: Any, X: Any, y: Any) -> None:
    """Refuse a scorer whose columns are missing, or hold what it cannot read."""
    find_target(scorer, None, X, y)
    if scorer.propensity is not None:
        given = find_column(scorer.propensity, (X, y), "propensity")
        check_propensities(given, f"propensity {scorer.propensity!r}")


def check_no_feature(scorer: Any, estimator: Any, X: Any) -> None:
    """Refuse a model that has a column of the scorer among its features."""
    for option in ("target", "propensity"):
        source = getattr(scorer, option)
        position = None if source is None else _position(source, X)
        if position is not None and _is_feature(position, estimator, X):
            names = column_names(X)
            name = names[position] if names else source
            raise ValueError(
                f"the column {name!r} of X, which is the {option} of the metric {scorer.name!r}, "
                f"is a feature of {type(estimator).__name__} as well. Make it an index level, "
                f"X.set_index({name!r}, append=True), or leave it out by "
                f"QueryRanker(..., drop_columns=[{name!r}])."
            )


def _is_feature(position: int, estimator: Any, X: Any) -> bool:
    """Whether a column is a feature for certain, in a model that chooses none of its columns."""
    names = column_names(X)
    while isinstance(estimator, Search) or hasattr(estimator, "drop_columns"):
        # integers among `drop_columns` are names where columns have such names
        for column in listed(getattr(estimator, "drop_columns", None)):
            if position == (names.index(column) if column in names else _position(column, X)):
                return False
        estimator = estimator.estimator
    if type(estimator).__module__.partition(".")[0] not in OF_MODELS:
        return False
    params = estimator.get_params(deep=True).values()
    return not any(hasattr(value, "fit") for value in params)


def _position(source: Any, X: Any) -> int | None:
    """The position of a column, None for an index level; an integer is a position."""
    names = column_names(X)
    if isinstance(source, str):
        return names.index(source) if source in names else None
    width = len(names) if names else np.shape(X)[-1]
    return int(source) % width if -width <= source < width else None


def listed(columns: Any) -> list[Any]:
    """One or several names or positions as a list."""
    if columns is None:
        return []
    return [columns] if isinstance(columns, str | Integral) else list(columns)
