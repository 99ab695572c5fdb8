"""Private names of scikit-learn, each with a public fallback; no other module imports one.

Where a future scikit-learn has no such name, the fallback takes its place. Scoring by strings has
none: `patch_sklearn` warns.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import joblib
import numpy as np
from sklearn import utils
from sklearn.linear_model import LinearRegression
from sklearn.metrics import check_scoring, make_scorer
from sklearn.model_selection import GridSearchCV
from sklearn.utils import indexable, parallel, validation
from sklearn.utils.metadata_routing import MetadataRequest


def _count_rows(X: Any) -> int:
    return int(X.shape[0]) if getattr(X, "shape", None) else len(X)


def _take_rows(X: Any, indices: Any) -> Any:
    if indices is None:
        return X
    rows = np.arange(num_samples(X))[indices]  # of a mask or a slice as well
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if hasattr(X, "to_pylist"):  # pyarrow
        return X.take(rows)
    return X[rows] if hasattr(X, "shape") else [X[row] for row in rows]


def _take_rows_of_params(X: Any, params: dict[str, Any], indices: Any = None) -> dict[str, Any]:
    n_rows = num_samples(X)

    def take(value: Any) -> Any:
        is_column = hasattr(value, "__len__") and not isinstance(value, str | dict)
        if not is_column or num_samples(value) != n_rows:
            return value
        return safe_indexing(indexable(value)[0], indices)

    return {name: take(value) for name, value in params.items()}


Parallel: Any = getattr(parallel, "Parallel", joblib.Parallel)
delayed: Any = getattr(parallel, "delayed", joblib.delayed)
"""scikit-learn's `Parallel`, which hands its configuration to workers, or joblib's."""

SEARCHES_WEIGH_SCORES = hasattr(GridSearchCV, "_check_scorers_accept_sample_weight")
"""Whether a search passes its weights to its scorer; older versions pass them to `fit` only."""

num_samples: Callable[[Any], int] = getattr(validation, "_num_samples", _count_rows)
"""Number of rows of an array, sparse matrix, DataFrame or list."""

_safe_indexing: Callable[[Any, Any], Any] = getattr(utils, "_safe_indexing", _take_rows)


def safe_indexing(X: Any, indices: Any) -> Any:
    """Rows of an array, sparse matrix, DataFrame, list, pyarrow table or pandas Index."""
    of_pandas = hasattr(X, "isna") and not hasattr(X, "iloc")  # an index or array, in Arrow perhaps
    return (_take_rows if of_pandas or hasattr(X, "to_pylist") else _safe_indexing)(X, indices)


check_method_params: Callable[..., dict[str, Any]] = getattr(
    validation, "_check_method_params", _take_rows_of_params
)
"""``check_method_params(X, params, indices)``: those rows of each parameter aligned with `X`."""


# The base class of scikit-learn's scorers is found through a public function. Only its instances
# share predictions within one multi-metric call and are accepted by threshold tuning.
_Base: Any = type(make_scorer(len)).__mro__[1]


FunctionScorer: Any = type(make_scorer(len))
"""What `sklearn.metrics.make_scorer` returns."""

MultimetricScorer: Any = type(check_scoring(LinearRegression(), scoring=["r2"]))
"""Several scorers that share predictions."""

PassthroughScorer: Any = type(check_scoring(LinearRegression()))
"""The scorer of ``scoring=None``, which calls the method `score` of the estimator."""


Search: Any = GridSearchCV.__mro__[1]
"""The base class of scikit-learn's searches."""


class ScorerBase(_Base):
    """Base class of a scorer that has the methods `score_labels` and `get_metadata_routing`.

    It also has ``_score(method_caller, estimator, X, y_true, **metadata)``, which multi-metric
    scoring calls. These attributes are the others that scikit-learn reads; they are set without
    the private constructor of its base class.
    """

    _sign = 1
    _response_method = ("decision_function", "predict_proba", "predict")

    @property
    def _kwargs(self) -> dict[str, Any]:
        return {}

    @property
    def _score_func(self) -> Any:
        return self.score_labels

    def _get_metadata_request(self) -> MetadataRequest:
        return self.get_metadata_routing()

    def _accept_sample_weight(self) -> bool:
        return True


def metadata_request(scorer: object, params: dict[str, bool | None]) -> MetadataRequest:
    """What `scorer` requests of metadata routing; from 1.8 on its owner is an object."""
    owner = scorer if hasattr(_Base, "_routing_repr") else type(scorer).__name__
    request = MetadataRequest(owner=owner)
    for param, alias in params.items():
        request.score.add_request(param=param, alias=alias)
    return request


def prediction_cache(method_caller: Any) -> dict[Any, Any] | None:
    """The dict in which the scorers of one multi-metric call share predictions, if there is one."""
    arguments = method_caller.args if isinstance(method_caller, partial) else ()
    return next((argument for argument in arguments if isinstance(argument, dict)), None)


def list_scorers(scorer: Any) -> list[Any]:
    """The scorers of a multi-metric scorer or dict, or the one scorer."""
    scorers = getattr(scorer, "_scorers", scorer)
    return list(scorers.values()) if isinstance(scorers, dict) else [scorers]


def scorer_module() -> Any:
    """The module whose `_SCORERS` are the scorers by name."""
    from sklearn.metrics import _scorer

    return _scorer


def string_options() -> Any:
    """The check of parameters that accept one of a set of strings."""
    from sklearn.utils._param_validation import StrOptions

    return StrOptions


def hooked_modules() -> list[Any]:
    """The modules that make tasks of cross-validation and of searches by their `delayed`."""
    from sklearn.model_selection import _search, _validation

    return [_validation, _search]


__all__ = [
    "FunctionScorer",
    "MultimetricScorer",
    "Parallel",
    "PassthroughScorer",
    "ScorerBase",
    "Search",
    "check_method_params",
    "delayed",
    "hooked_modules",
    "list_scorers",
    "metadata_request",
    "num_samples",
    "prediction_cache",
    "safe_indexing",
    "scorer_module",
    "string_options",
]
