"""What each booster wants to be told to stop early on held-out queries."""

from __future__ import annotations

import inspect
from typing import Any

from .training_rows import TrainingRows


def library_of(target: Any) -> str:
    """The booster's package, also of a subclass of its estimators."""
    packages = [cls.__module__.partition(".")[0] for cls in type(target).__mro__]
    for name in ("lightgbm", "xgboost", "catboost"):
        if name in packages:
            return name
    raise ValueError(
        "early_stopping=True holds out queries for estimators of LightGBM, XGBoost and CatBoost; "
        f"got {type(target).__name__}. Use its own early stopping, or early_stopping=False."
    )


def stopping_arguments(
    target: Any, held_out: TrainingRows, rounds: int, *, by_query: bool
) -> dict[str, Any]:
    """Fit arguments that stop `target` after so many rounds without improvement."""
    arguments = {"lightgbm": _lightgbm, "xgboost": _xgboost, "catboost": _catboost}
    return arguments[library_of(target)](target, held_out, rounds, by_query)


def best_iteration(target: Any) -> int:
    """Number of rounds that the fitted booster predicts with."""
    library = library_of(target)
    if library == "lightgbm":
        return int(target.best_iteration_ or target.n_iter_)
    return 1 + int(target.best_iteration if library == "xgboost" else target.best_iteration_)


def _lightgbm(target: Any, held_out: TrainingRows, rounds: int, by_query: bool) -> dict[str, Any]:
    import lightgbm

    arguments: dict[str, Any] = {"callbacks": [lightgbm.early_stopping(rounds, verbose=False)]}
    if "eval_X" in inspect.signature(target.fit).parameters:
        arguments |= {"eval_X": (held_out.X,), "eval_y": (held_out.y,)}
    else:  # before 4.7
        arguments["eval_set"] = [(held_out.X, held_out.y)]
    if by_query:
        arguments["eval_group"] = [held_out.sizes]
    if held_out.weights is not None:
        arguments["eval_sample_weight"] = [held_out.weights]
    return arguments


def _xgboost(target: Any, held_out: TrainingRows, rounds: int, by_query: bool) -> dict[str, Any]:
    target.set_params(early_stopping_rounds=rounds)
    arguments: dict[str, Any] = {"eval_set": [(held_out.X, held_out.y)]}
    if by_query:
        arguments["eval_qid"] = [held_out.codes]
    if held_out.weights is not None:
        weights = held_out.query_weights if by_query else held_out.weights
        arguments["sample_weight_eval_set"] = [weights]
    if "verbose" in inspect.signature(target.fit).parameters:
        arguments["verbose"] = False
    return arguments


def _catboost(target: Any, held_out: TrainingRows, rounds: int, by_query: bool) -> dict[str, Any]:
    from catboost import Pool

    queries = {"group_id": held_out.codes, "group_weight": held_out.weights}
    aligned = queries if by_query else {"weight": held_out.weights}
    categorical = held_out.params.get("cat_features", target.get_param("cat_features"))
    pool = Pool(held_out.X, held_out.y, cat_features=categorical, **aligned)
    return {"eval_set": pool, "early_stopping_rounds": rounds}
