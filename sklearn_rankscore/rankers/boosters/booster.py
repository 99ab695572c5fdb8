"""The interface between QueryRanker and a booster."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, TypeAlias

import numpy as np

from ..._typing import Array
from ...metrics.evaluate import MetricLike
from ..training_data import TrainingData

FitArguments: TypeAlias = dict[str, Any]

# the classes of callbacks of LightGBM and XGBoost that stop early
STOPPING_CALLBACKS = ("_EarlyStoppingCallback", "EarlyStopping")


@dataclass(frozen=True)
class Stopping:
    """When to stop: after `n_rounds` without improvement on the last of the evaluation sets.

    Parameters
    ----------
    n_rounds : int
        Number of rounds without improvement.
    metric : str, callable or None
        A metric of this package; None means the first metric of the booster.
    train : TrainingData
        Training data.
    sets : sequence of TrainingData
        Evaluation sets.
    """

    n_rounds: int
    metric: MetricLike | None
    train: TrainingData
    sets: Sequence[TrainingData]


class Booster(ABC):
    """How the estimators of a package are fitted.

    `group_param` is the parameter of a ranker's `fit` that takes the query ids or sizes,
    `start_param` the one that takes the scores to start from, `own_stopping` are the parameters of
    the constructor that stop early, `stops_without_sets` tells whether they have no effect
    without an evaluation set, instead of being an error, and `clone_advice` says how to make a
    model that scikit-learn can clone.
    """

    package: ClassVar[str]
    group_param: ClassVar[str]
    start_param: ClassVar[str]
    own_stopping: ClassVar[tuple[str, ...]] = ()
    stops_without_sets: ClassVar[bool] = False
    clone_advice: ClassVar[str] = ""

    @abstractmethod
    def fit_arguments(self, data: TrainingData) -> FitArguments:
        """Query ids or sizes, and weights (or None), in the form that a ranker's `fit` takes."""

    @abstractmethod
    def evaluation_arguments(
        self, estimator: Any, train: TrainingData, sets: Sequence[TrainingData], *, ranks: bool
    ) -> FitArguments:
        """The arguments of `fit` for evaluation sets, given the training data.

        `ranks` tells whether `fit` takes the queries; that of a pointwise model does not.
        """

    @abstractmethod
    def stop_early(
        self, estimator: Any, stopping: Stopping, arguments: FitArguments, *, ranks: bool
    ) -> FitArguments:
        """Prepare the unfitted `estimator`, and return the arguments of `fit` that change."""

    @abstractmethod
    def n_iterations(self, estimator: Any) -> int:
        """Number of boosting rounds that predictions use, those of a continued model included."""

    @abstractmethod
    def fixed_rounds(self, estimator: Any, arguments: FitArguments) -> dict[str, Any]:
        """Parameters with which a new fit takes as many rounds as early stopping has found.

        `arguments` are those of the `fit` of `estimator`, with the model that it continues, if any.
        """

    def predicts_by_all_rounds(self, estimator: Any) -> bool:
        """Whether predictions of a fitted estimator use rounds after the best one too."""
        return False

    def use_all_rounds(self, estimator: Any) -> None:
        """Let predictions of an estimator that was fitted without early stopping use all rounds."""
        return

    def without_stopping(self, params: FitArguments) -> FitArguments:
        """Those parameters that stop early, of the constructor or of `fit`, without this effect."""
        changed: FitArguments = {
            name: None for name in self.own_stopping if _is_on(params.get(name))
        }
        callbacks = list(params.get("callbacks") or ())
        others = [c for c in callbacks if type(c).__name__ not in STOPPING_CALLBACKS]
        return changed if others == callbacks else changed | {"callbacks": others}

    def read_features(self, X: Any) -> Any:
        """`X` in a form that the booster takes; an error for one at which its library fails."""
        is_row = isinstance(X, list | tuple) and not (len(X) and np.ndim(X[0]))
        if is_row or getattr(X, "ndim", 2) == 1:
            raise ValueError(
                "Expected 2D array, got 1D array instead: X must have one row per document. "
                "Reshape your data: of one document, pass X[[i]] or df.iloc[[i]] instead of X[i] "
                "or df.iloc[i]."
            )
        return np.asarray(X) if isinstance(X, list | tuple) else X

    def starts(self, sets: Sequence[TrainingData]) -> list[Any] | None:
        """The scores that each evaluation set starts from; None if none has any."""
        starts = [data.params.get(self.start_param) for data in sets]
        return None if all(start is None for start in starts) else starts

    def restore(self, estimator: Any, params: dict[str, Any]) -> None:
        """Give the estimator its parameters before `stop_early`, where it is possible."""
        estimator.set_params(**{name: params[name] for name in self.without_stopping(params)})

    def feature_importances(self, estimator: Any) -> Any:
        """Feature importances of a fitted estimator."""
        return estimator.feature_importances_

    def renumber_rows(self, params: FitArguments, rows: Array, n_rows: int) -> FitArguments:
        """Those `fit` parameters that contain row numbers, for `rows` chosen out of `n_rows`."""
        return {}


def _is_on(n_rounds: Any) -> bool:
    """Whether a number of rounds stops early, as one of 0 or less does not."""
    return bool(n_rounds) and not (isinstance(n_rounds, Real) and n_rounds < 0)


def rounds_param(estimator: Any, aliases: Sequence[str]) -> str:
    """The name under which `estimator` was given its number of rounds; the first by default."""
    params = estimator.get_params()
    given = [name for name in aliases if params.get(name) is not None]
    # a constructor without defaults lists only what was given; elsewhere, an alias takes precedence
    return given[-1] if given else aliases[0]


def arrow_types(X: Any) -> dict[str, str]:
    """The types of the columns of a frame of polars or pyarrow, by name; else empty."""
    library, schema = type(X).__module__.partition(".")[0], getattr(X, "schema", None)
    if library not in ("polars", "pyarrow") or schema is None:
        return {}
    types = zip(schema.names, schema.types, strict=True) if library == "pyarrow" else schema.items()
    return {name: str(of) for name, of in types}
