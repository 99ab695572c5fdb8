"""Features that are named by their positions, which change when a column of ids leaves."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.compose import ColumnTransformer
from sklearn.feature_selection import SelectorMixin
from sklearn.pipeline import FeatureUnion
from sklearn.preprocessing import PolynomialFeatures

from .._typing import Array
from .._validation import is_integer
from ..scoring.pipelines import is_pipeline
from .id_columns import IdColumns

OF_FIT = ("categorical_feature", "cat_features", "text_features", "embedding_features")
OF_CONSTRUCTOR = (
    *OF_FIT,
    "categorical_features",
    "cat_feature",
    "categorical_column",
    "cat_column",
    "ignored_features",
    "interaction_constraints",
    "interaction_cst",
)
# those with one value per column, in order, or by position or name
OF_EACH_COLUMN = (
    "monotone_constraints",
    "monotone_constraint",
    "mc",
    "feature_contri",
    "feature_contrib",
    "feature_penalty",
    "fc",
    "fp",
    "feature_weights",
    "first_feature_use_penalties",
    "per_object_feature_penalties",
)

# after these steps, positions are those of new columns
MAKERS_OF_COLUMNS = (
    ColumnTransformer,
    FeatureUnion,
    SelectorMixin,
    ClassNamePrefixFeaturesOutMixin,  # such as PCA
    PolynomialFeatures,
)

Chosen: TypeAlias = "int | slice"


def renumber_columns(params: dict[str, Any], ids: IdColumns) -> dict[str, Any]:
    """Parameters of `fit` whose positions mean columns of X, as positions among the features."""
    renumbered = {
        name: [_place(name, entry, ids) for entry in _as_list(params[name])]
        for name in OF_FIT
        if name in params and any(map(_is_position, _as_list(params[name])))
    }
    return params | renumbered


def check_column_positions(estimator: Any, ids: IdColumns) -> None:
    """Refuse parameters whose positions mean other columns with and without the ids."""
    if not ids.positions:
        return
    for name, value in _params_of_features(estimator).items():
        used = _chosen_by(name.rpartition("__")[2], value, ids)
        if any(_is_ambiguous(chosen, ids) for chosen in used):
            raise ValueError(
                f"{name}={value!r} names columns by position, but QueryRanker removes the column "
                f"at position {ids.positions[0]}, which is no feature, so that later positions are "
                "ambiguous. Use the names of the columns, where the parameter takes them; or make "
                "query ids an index level, X.set_index('qid'); or move the column to the end."
            )


def _params_of_features(estimator: Any) -> dict[str, Any]:
    """Parameters of a model, or of those steps of a pipeline that get the features themselves."""
    if not is_pipeline(estimator):
        return estimator.get_params() if hasattr(estimator, "get_params") else {}
    params: dict[str, Any] = {}
    for name, step in estimator.steps:
        params |= {f"{name}__{key}": v for key, v in _params_of_features(step).items()}
        if _makes_columns(step):
            break
    return params


def _makes_columns(step: Any) -> bool:
    """Whether the columns of the output of a step have positions of their own."""
    if is_pipeline(step):
        return any(_makes_columns(inner) for _, inner in step.steps)
    return isinstance(step, MAKERS_OF_COLUMNS)


def _chosen_by(parameter: str, value: Any, ids: IdColumns) -> Iterator[Chosen]:
    """The positions in the value of a parameter of a constructor."""
    if parameter in OF_CONSTRUCTOR:
        yield from _positions(value)
        if isinstance(value, str):
            yield from map(int, re.findall(r"\b\d+\b", value))
    elif parameter in OF_EACH_COLUMN:
        yield from _columns_with_values(value, (ids.n_columns or 0) - len(ids.positions))
    elif parameter == "transformers":  # of a ColumnTransformer
        for *_, columns in value or ():
            yield from [columns] if isinstance(columns, slice) else _positions(columns)


def _is_ambiguous(chosen: Chosen, ids: IdColumns) -> bool:
    """Whether a position means another feature among the columns of X than among the features."""
    columns = np.arange(ids.n_columns or 0)
    features = np.delete(columns, ids.positions)
    in_X = np.setdiff1d(_at(columns, chosen), ids.positions)
    return not np.array_equal(in_X, _at(features, chosen))


def _at(columns: Array, chosen: Chosen) -> Array:
    if isinstance(chosen, slice):
        is_by_name = isinstance(chosen.start, str) or isinstance(chosen.stop, str)
        return columns[:0] if is_by_name else np.sort(columns[chosen])
    return columns[[chosen]] if -len(columns) <= chosen < len(columns) else columns[:0]


def _columns_with_values(value: Any, n_features: int) -> Iterator[int]:
    """Positions with a value other than 0, in "(0,-1)", "1:-1", a dict or a sequence."""
    if isinstance(value, str):
        entries = value.strip("()[] ").split(",")
        if ":" in value:
            value = {key: number for key, _, number in (e.rpartition(":") for e in entries)}
        else:
            value = [entry.strip() not in ("", "0", "0.0") for entry in entries]
    if isinstance(value, dict):
        yield from (int(key) for key in value if str(key).strip().isdecimal())
    elif isinstance(value, list | tuple | np.ndarray) and len(value) != n_features:
        yield from np.flatnonzero(value).tolist()  # as many as features are in their order


def _place(name: str, entry: Any, ids: IdColumns) -> Any:
    if not _is_position(entry):
        return entry
    if entry in ids.positions:
        raise ValueError(
            f"{name} names the column at position {entry}, which QueryRanker removes: it holds "
            "query ids, or is one of drop_columns."
        )
    return int(entry) - sum(position < int(entry) for position in ids.positions)


def _is_position(entry: Any) -> bool:
    return is_integer(entry) and entry >= 0


def _as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple | np.ndarray | range) else [value]


def _positions(value: Any) -> Iterator[int]:
    """Positions in a list, or in a list of lists."""
    if is_integer(value):
        yield value
    elif isinstance(value, Iterable) and not isinstance(value, str | dict):
        for entry in value:
            yield from _positions(entry)
