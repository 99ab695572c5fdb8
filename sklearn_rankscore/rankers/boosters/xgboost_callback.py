"""Early stopping of XGBoost on one metric; this file is imported where XGBoost is used."""

from __future__ import annotations

from typing import Any

from scipy.special import softmax
from xgboost import DMatrix
from xgboost.callback import EarlyStopping, TrainingCallback

from ...metrics.evaluate import MetricLike
from .booster import Stopping
from .training_metric import EvaluatedSet, TrainingMetric, classes_of, expected_classes


class HeldOutMetric(TrainingMetric):
    """A metric of the last evaluation set.

    XGBoost keeps the predictions for a DMatrix, so that each round costs the prediction of the
    newest trees only.
    """

    def __init__(self, metric: MetricLike, estimator: Any, stopping: Stopping) -> None:
        super().__init__(metric, {})
        self._params, self._data = estimator.get_params(), stopping.sets[-1]
        self._classes = classes_of(estimator, stopping.train)
        labels = EvaluatedSet.read(self._data, self._classes)
        self._y_true, self._codes = labels.y_true, labels.codes
        self._matrix: Any = None

    def of_model(self, model: Any) -> float:
        """The metric after a boosting round."""
        if self._matrix is None:
            self._matrix = self._read_matrix()
        # a softmax is predicted as the most probable class
        is_softmax = self._params.get("objective") == "multi:softmax"
        scores = model.predict(self._matrix, output_margin=is_softmax)
        scores = expected_classes(softmax(scores, axis=1) if is_softmax else scores, self._classes)
        return self.value(self._y_true, scores, self._codes, self._data.weights)

    def _read_matrix(self) -> Any:
        given = {name: self._params.get(name) for name in ("missing", "feature_types")}
        return DMatrix(
            self._data.X,
            base_margin=self._data.params.get("base_margin"),
            nthread=self._params.get("n_jobs"),
            enable_categorical=bool(self._params.get("enable_categorical")),
            **{name: value for name, value in given.items() if value is not None},
        )


class LogMetric(TrainingCallback):
    """Log a metric of the last evaluation set, for the callbacks that follow.

    Parameters
    ----------
    metric : HeldOutMetric
        The metric.
    n_sets : int
        Number of evaluation sets.
    """

    def __init__(self, metric: HeldOutMetric, n_sets: int) -> None:
        super().__init__()
        self._metric, self._data_name = metric, f"validation_{n_sets - 1}"

    def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        """Add the value of a round, after those that XGBoost computes."""
        log = evals_log.setdefault(self._data_name, {})
        log.setdefault(self._metric.log_name, []).append(self._metric.of_model(model))
        return False


class StopOnMetric(TrainingCallback):
    """XGBoost's own early stopping on the last evaluation set.

    Parameters
    ----------
    n_rounds : int
        Number of rounds without improvement.
    n_sets : int
        Number of evaluation sets.
    last : bool
        Whether to stop on the last metric instead of the first one.
    maximize : bool or None
        Whether higher is better; None lets XGBoost infer it from the name of the metric.
    """

    def __init__(self, n_rounds: int, n_sets: int, *, last: bool, maximize: bool | None) -> None:
        super().__init__()
        self._place = -1 if last else 0
        self._n_rounds, self._data_name = n_rounds, f"validation_{n_sets - 1}"
        self._maximize = maximize
        self._stop: EarlyStopping | None = None
        self._first_round = 0

    def before_training(self, model: Any) -> Any:
        """Remember the rounds of a model that is trained further."""
        self._first_round = model.num_boosted_rounds()
        return model

    def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        """Whether to stop."""
        log = evals_log[self._data_name]
        if self._stop is None:
            self._stop = EarlyStopping(
                rounds=self._n_rounds,
                metric_name=list(log)[self._place],
                data_name=self._data_name,
                maximize=self._maximize,
            )
            self._stop.starting_round = self._first_round
        return bool(self._stop.after_iteration(model, epoch, evals_log))
