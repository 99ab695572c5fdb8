"""LightGBM: sizes of queries, one weight per row, early stopping by a callback."""

from __future__ import annotations

import dataclasses
import inspect
from pathlib import Path
from typing import Any

import numpy as np

from ..metrics.evaluate import MetricLike
from .booster import Booster, EarlyStopping, Fit, MetricOfSets, TrainingMetric
from .training_data import ids_from_sizes


class LightGBM(Booster):
    """Estimators of LightGBM."""

    package = "lightgbm"
    rounds = (
        *("n_estimators", "num_iterations", "num_iteration", "n_iter", "num_tree", "num_trees"),
        *("num_round", "num_rounds", "nrounds", "num_boost_round", "max_iter"),
    )
    start_param = "init_score"
    own_stopping = (
        *("early_stopping_round", "early_stopping_rounds"),
        *("early_stopping", "n_iter_no_change"),
    )

    def evaluation_arguments(self, estimator: Any, data: Fit) -> dict[str, Any]:
        """Features and labels apart from 4.7 on; sizes, weights and start scores in lists."""
        X, y = tuple(one.X for one in data.sets), tuple(one.y for one in data.sets)
        if "eval_X" in inspect.signature(estimator.fit).parameters:
            classes = data.classes_of(estimator)
            if classes is not None:  # LightGBM numbers those of training data and of eval_set only
                y = tuple(np.searchsorted(classes, np.asarray(labels)) for labels in y)
            given: dict[str, Any] = {"eval_X": X, "eval_y": y}
        else:  # before 4.7
            given = {"eval_set": list(zip(X, y, strict=True))}
        return given | self.of_sets(
            eval_group=[one.sizes for one in data.sets if data.ranks],
            eval_sample_weight=[one.weights for one in data.sets],
            eval_init_score=[one.params.get(self.start_param) for one in data.sets],
        )

    def stop_early(
        self, estimator: Any, data: Fit, stopping: EarlyStopping, arguments: dict[str, Any]
    ) -> dict[str, Any]:
        """Add a callback to those that were given, and a metric."""
        given = arguments.get("eval_metric")
        metrics = list(given) if isinstance(given, list | tuple) else [given] if given else []
        metric, name = LightGBMMetricOfSets.of(stopping, estimator, data, data.sets), None
        if metric is not None:
            metrics, name = [*metrics, metric], metric.log_name
        callbacks = [*(arguments.get("callbacks") or ()), StopOnMetric(stopping.n_rounds, name)]
        return {"callbacks": callbacks, "eval_metric": metrics or None}

    def is_schedule(self, callback: Any) -> bool:
        """As `reset_parameter`, which is called before each round."""
        return bool(getattr(callback, "before_iteration", False))

    def n_iterations(self, estimator: Any) -> int:
        """All rounds if the boosting type, such as DART, has no early stopping."""
        return int(estimator.best_iteration_ or estimator.n_iter_)

    def fixed_rounds(self, estimator: Any, arguments: dict[str, Any]) -> dict[str, Any]:
        """The number of rounds after those of `init_model`, under the alias that was given."""
        model = arguments.get("init_model")
        if isinstance(model, str | Path):
            from lightgbm import Booster as Model

            model = Model(model_file=model)
        n_rounds = self.n_iterations(estimator)
        if model is not None:
            n_rounds -= getattr(model, "booster_", model).current_iteration()
        return {self.rounds_param(estimator): n_rounds}


class StopOnMetric:
    """LightGBM's own early stopping, which is shown one metric of the last evaluation set.

    Without its name, it is the first metric that LightGBM computes.
    """

    before_iteration = False

    def __init__(self, n_rounds: int, name: str | None) -> None:
        import lightgbm

        # that of lightgbm.early_stopping, after the metrics are logged; LightGBM ignores an
        # attribute of the class
        self.order = 30
        self._stop = lightgbm.early_stopping(n_rounds, verbose=False)
        self._name = name

    def __call__(self, env: Any) -> None:
        """Called after each round."""
        if results := env.evaluation_result_list:
            on_last = [result for result in results if result[0] == results[-1][0]]
            watched = next((r for r in on_last if r[1] == self._name), on_last[0])
            env = dataclasses.replace(env, evaluation_result_list=[watched])
        self._stop(env)


def lightgbm_metric(metric: MetricLike, **options: Any) -> LightGBMMetric:
    """Make an evaluation metric for LightGBM.

    The same object is accepted by ``LGBMRanker.fit(eval_metric=...)`` and by
    ``lightgbm.train(feval=...)``, with and without early stopping. In training logs its name ends
    in ``_rankscore``, because LightGBM has metrics of the same names.

    Parameters
    ----------
    metric : str or callable
        A name such as ``"ndcg@10"`` or ``"map@5(threshold=1)"``, a metric function of this
        package, or any function of a block of ranked queries.
    **options
        Options of the metric, such as ``gain="exponential"`` or ``like="lightgbm"``.

    Returns
    -------
    callable
        ``metric(y_true, y_score, weight, group)`` or ``metric(y_score, Dataset)``, which returns
        name, value and True: higher is better.

    Raises
    ------
    ValueError
        If the metric or an option is unknown. During training, if the data has no queries, or
        weights that vary within a query.

    See Also
    --------
    xgboost_metric, catboost_metric : The same for other boosters.

    Notes
    -----
    LightGBM stops early if any of its metrics no longer improves. ``LGBMRanker(metric="None")`` or
    ``params["metric"] = "None"`` makes this metric the only stopping criterion.

    Examples
    --------
    >>> from sklearn_rankscore import lightgbm_metric
    >>> metric = lightgbm_metric("mrr@10")
    >>> metric([1, 0, 0, 1], [0.9, 0.1, 0.8, 0.2], None, [2, 2])
    ('mrr@10_rankscore', 0.75, True)
    """
    return LightGBMMetric(metric, options)


class LightGBMMetric(TrainingMetric):
    """What `lightgbm_metric` returns; LightGBM inspects the number of parameters of a call."""

    def __call__(
        self, y_true: Any, y_score: Any, weight: Any = None, group: Any = None
    ) -> tuple[str, float, bool]:
        """Name, value, and True because higher is better."""
        self.check_library(y_score, "lightgbm")
        if hasattr(y_score, "get_label"):  # lightgbm.train passes scores and a Dataset
            y_true, y_score, data = y_score.get_label(), y_true, y_score
            weight, group = data.get_weight(), data.get_group()
        problem = (
            f"LightGBM's data has no queries for its {len(y_true)} rows; give it group=sizes, or "
            "use QueryRanker(..., early_stopping='ndcg@10'), which knows them for other models."
        )
        ids = ids_from_sizes(group, len(y_true), problem)
        return self.log_name, self.value(y_true, y_score, ids, weight), True


class LightGBMMetricOfSets(MetricOfSets):
    """A metric for early stopping of any model, to most of which LightGBM passes no queries."""

    def __call__(self, y_true: Any, y_score: Any) -> tuple[str, float, bool]:
        """Name, value, and True because higher is better."""
        known = self.find_set(y_true)
        if known is None:
            raise ValueError(f"no known set has these {len(y_true)} labels.")
        return self.log_name, self.value_of_set(known, np.asarray(y_score)), True
