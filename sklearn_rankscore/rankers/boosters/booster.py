"""The interface between QueryRanker and a booster."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, TypeAlias

from ..._typing import Array
from ..training_data import TrainingData

FitArguments: TypeAlias = dict[str, Any]


class Booster(ABC):
    """How the estimators of a package are fitted.

    `group_param` is the parameter of a ranker's `fit` that takes the query ids or sizes.
    """

    package: ClassVar[str]
    group_param: ClassVar[str]

    @abstractmethod
    def fit_arguments(self, data: TrainingData) -> FitArguments:
        """Query ids or sizes, and weights (or None), in the form that a ranker's `fit` takes."""

    @abstractmethod
    def stop_early(self, estimator: Any, held_out: TrainingData, n_rounds: int) -> FitArguments:
        """Prepare `estimator` to stop after `n_rounds` without improvement on `held_out`.

        Returns the arguments that `fit` needs for it. For a pointwise model, ``held_out.codes`` is
        None.
        """

    @abstractmethod
    def n_iterations(self, estimator: Any) -> int:
        """Number of boosting rounds that predictions use after early stopping."""

    def renumber_rows(self, params: FitArguments, rows: Array, n_rows: int) -> FitArguments:
        """Those `fit` parameters that contain row numbers, for `rows` chosen out of `n_rows`."""
        return {}
