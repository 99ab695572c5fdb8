"""The evaluation sets that are given to `fit`, read like the training rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from .._sklearn_compat import num_samples
from .._typing import Array
from .._validation import counted
from ..query_ids import no_groups_error
from .training_data import TrainingData, ids_from_sizes

# parameters of LightGBM and XGBoost with one entry per set: query ids or sizes, weights, scores to
# start from; QueryRanker takes them for every booster
IDS, SIZES = "eval_qid", "eval_group"
WEIGHTS = ("eval_sample_weight", "sample_weight_eval_set")
STARTS = ("eval_init_score", "base_margin_eval_set")
OF_SETS = ("eval_set", "eval_X", "eval_y", IDS, SIZES, *WEIGHTS, *STARTS)

ReadSet: TypeAlias = Callable[[Any, Any, Any, Any, dict[str, Any]], TrainingData]


def take_evaluation_sets(
    params: dict[str, Any],
    prefix: str,
    read: ReadSet,
    *,
    start_param: str,
    needs_ids: bool,
    caller: str,
) -> list[TrainingData]:
    """Remove the evaluation sets from the parameters of `fit`, and read them.

    Parameters
    ----------
    params : dict
        Parameters of `fit`; those of evaluation sets are removed. A Pool of CatBoost stays.
    prefix : str
        What the names of the parameters start with.
    read : callable
        ``read(X, y, ids, weights, params)`` finds the ids if none are given, drops their column
        and makes the rows of each query contiguous.
    start_param : str
        The parameter of `fit` for the scores to start from, under which those of a set are read.
    needs_ids : bool
        Whether query ids are required.
    caller : str
        The method that is named in errors.
    """
    # a pipeline has no such parameter, so that one without the name of a step is for the last step
    for name in OF_SETS if prefix else ():
        if name in params and prefix + name not in params:
            params[prefix + name] = params.pop(name)
    pairs = _pairs(params, prefix)
    columns = {
        name: _one_per_set(name, params.pop(prefix + name, None), len(pairs))
        for name in (IDS, SIZES, *WEIGHTS, *STARTS)
        if pairs
    }
    sets = []
    for i, (X, y) in enumerate(pairs):
        ids, sizes = columns[IDS][i], columns[SIZES][i]
        if ids is None and sizes is not None:
            ids = ids_of_argument(f"{SIZES}[{i}]", sizes, num_samples(X))
        weights, start = (_first(columns[name][i] for name in names) for names in (WEIGHTS, STARTS))
        data = read(X, y, ids, weights, {} if start is None else {prefix + start_param: start})
        if needs_ids and data.codes is None:
            raise no_groups_error(f"evaluation set {i} of {caller}", fix=f"pass {IDS}=[ids].")
        sets.append(data)
    return sets


def ids_of_argument(name: str, sizes: Any, n_rows: int) -> Array:
    """Query ids from an argument with the sizes of the queries."""
    problem = (
        f"{name} holds the sizes of the queries, which must be integers that sum up to the "
        f"{n_rows} rows. A search or cross-validation cannot select sizes with the rows: "
        "pass one query id per row instead, groups=np.repeat(np.arange(len(sizes)), sizes)."
    )
    return ids_from_sizes(sizes, n_rows, problem)


def _pairs(params: dict[str, Any], prefix: str) -> list[tuple[Any, Any]]:
    """The sets as pairs of features and labels, from either pair of parameters."""
    X, y = (_as_list(params.pop(f"{prefix}eval_{part}", None)) for part in "Xy")
    if len(X) != len(y):
        raise ValueError(f"eval_X and eval_y must have equal lengths; got {len(X)} and {len(y)}.")
    given = params.get(f"{prefix}eval_set")
    if given is None or _is_pool(given):
        return list(zip(X, y, strict=True))
    del params[f"{prefix}eval_set"]
    is_one_pair = isinstance(given, tuple) and len(given) == 2 and not _is_pair(given[0])
    pairs = [given] if is_one_pair else list(given)
    if not all(map(_is_pair, pairs)):
        raise ValueError(
            "eval_set must be a list of pairs, [(X_valid, y_valid)]; got "
            f"{[type(pair).__name__ for pair in pairs]}."
        )
    return [*zip(X, y, strict=True), *pairs]


def _is_pair(value: Any) -> bool:
    return isinstance(value, tuple | list) and len(value) == 2 and np.ndim(value[0]) != 0


def _is_pool(value: Any) -> bool:
    """Whether the sets are CatBoost's own objects, which hold query ids."""
    values = value if isinstance(value, list | tuple) else [value]
    return any(type(value).__name__ == "Pool" for value in values)


def _as_list(value: Any) -> list[Any]:
    if value is None:
        return []
    return list(value) if isinstance(value, list | tuple) else [value]


def _one_per_set(name: str, values: Any, n_sets: int) -> Sequence[Any]:
    if values is None:
        return [None] * n_sets
    if not isinstance(values, list | tuple) or len(values) != n_sets:
        given = type(values).__name__
        if isinstance(values, list | tuple):
            given = f"{given} of {counted(len(values), 'entry')}"
        raise ValueError(
            f"{name} must be a list with one entry per evaluation set; got a {given} for "
            f"{counted(n_sets, 'set')}."
        )
    return values


def _first(values: Any) -> Any:
    return next((value for value in values if value is not None), None)
