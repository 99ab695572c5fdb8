"""Private names of scikit-learn, which all supported versions have; no other module imports one."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.dummy import DummyRegressor
from sklearn.metrics import check_scoring, make_scorer
from sklearn.model_selection import GridSearchCV
from sklearn.utils import _safe_indexing, validation
from sklearn.utils.metadata_routing import MetadataRequest

num_samples: Callable[[Any], int] = validation._num_samples
"""Number of rows of an array, sparse matrix, DataFrame or list."""

check_method_params: Callable[..., dict[str, Any]] = validation._check_method_params
"""``check_method_params(X, params, indices)``: those rows of each parameter aligned with `X`."""

# The base class of scikit-learn's scorers is found through a public function. Only its instances
# share predictions within one multi-metric call and are accepted by threshold tuning.
FunctionScorer: Any = type(make_scorer(len))
"""What `sklearn.metrics.make_scorer` returns."""

_Base: Any = FunctionScorer.__mro__[1]

MultimetricScorer: Any = type(check_scoring(DummyRegressor(), scoring=["r2"]))
"""Several scorers that share predictions."""

PassthroughScorer: Any = type(check_scoring(DummyRegressor()))
"""The scorer of ``scoring=None``, which calls the method `score` of the estimator."""

Search: Any = GridSearchCV.__mro__[1]
"""The base class of scikit-learn's searches."""


def safe_indexing(X: Any, indices: Any) -> Any:
    """Rows of an array, sparse matrix, DataFrame, list, pyarrow table or pandas Index."""
    of_pandas = hasattr(X, "isna") and not hasattr(X, "iloc")  # an index or array, in Arrow perhaps
    if of_pandas or hasattr(X, "to_pylist"):  # scikit-learn 1.6 takes no rows of pyarrow
        return X.take(np.arange(num_samples(X))[indices])
    return _safe_indexing(X, indices)


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


def patched_places() -> tuple[Any, Any, list[Any]]:
    """What `patch_sklearn` changes, which warns where a future version lacks one of them.

    The module whose `_SCORERS` are the scorers by name, the check of parameters that accept one of
    a set of strings, and the modules that make tasks of cross-validation and searches by `delayed`.
    """
    from sklearn.metrics import _scorer
    from sklearn.model_selection import _search, _validation
    from sklearn.utils._param_validation import StrOptions

    return _scorer, StrOptions, [_validation, _search]
