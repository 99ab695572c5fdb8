"""Early stopping of XGBoost on one metric; this file is imported where XGBoost is used."""

from __future__ import annotations

from typing import Any

from xgboost.callback import EarlyStopping, TrainingCallback

from .xgboost import HeldOutMetric


class StopOnMetric(TrainingCallback):
    """XGBoost's own early stopping on the last evaluation set.

    Parameters
    ----------
    n_rounds : int
        Number of rounds without improvement.
    n_sets : int
        Number of evaluation sets.
    metric : HeldOutMetric or None
        The metric to compute and to stop on; None means the first of those that XGBoost computes.
    """

    def __init__(self, n_rounds: int, n_sets: int, metric: HeldOutMetric | None) -> None:
        super().__init__()
        self._n_rounds, self._data_name = n_rounds, f"validation_{n_sets - 1}"
        self._metric = metric
        self._stop: EarlyStopping | None = None
        self._first_round = 0

    def before_training(self, model: Any) -> Any:
        """Remember the rounds of a model that is trained further."""
        self._first_round = model.num_boosted_rounds()
        return model

    def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        """Whether to stop."""
        log = evals_log[self._data_name]
        if self._metric is not None:
            log.setdefault(self._metric.log_name, []).append(self._metric.of_model(model))
        if self._stop is None:
            watched = next(iter(log)) if self._metric is None else self._metric.log_name
            self._stop = EarlyStopping(
                rounds=self._n_rounds,
                metric_name=watched,
                data_name=self._data_name,
                maximize=None if self._metric is None else True,
            )
            self._stop.starting_round = self._first_round
        return bool(self._stop.after_iteration(model, epoch, evals_log))
