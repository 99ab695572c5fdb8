"""LightGBM: sizes of queries, one weight per row, early stopping by a callback."""

from __future__ import annotations

import inspect
from typing import Any

from ...metrics.evaluate import MetricLike
from ..training_data import TrainingData
from .booster import Booster, FitArguments
from .training_metric import TrainingMetric, ids_from_sizes


class LightGBM(Booster):
    """Estimators of LightGBM."""

    package = "lightgbm"
    group_param = "group"

    def fit_arguments(self, data: TrainingData) -> FitArguments:
        """Query sizes in the order of the rows, and one weight per row."""
        return {"group": data.sizes, "sample_weight": data.weights}

    def stop_early(self, estimator: Any, held_out: TrainingData, n_rounds: int) -> FitArguments:
        """Add a callback to those that were given."""
        import lightgbm

        callbacks = held_out.params.get("callbacks") or ()
        stopping = lightgbm.early_stopping(n_rounds, verbose=False)
        arguments: FitArguments = {"callbacks": [*callbacks, stopping]}
        if "eval_X" in inspect.signature(estimator.fit).parameters:
            arguments |= {"eval_X": (held_out.X,), "eval_y": (held_out.y,)}
        else:  # before 4.7
            arguments["eval_set"] = [(held_out.X, held_out.y)]
        if held_out.codes is not None:
            arguments["eval_group"] = [held_out.sizes]
        if held_out.weights is not None:
            arguments["eval_sample_weight"] = [held_out.weights]
        return arguments

    def n_iterations(self, estimator: Any) -> int:
        """All rounds if the boosting type, such as DART, has no early stopping."""
        return int(estimator.best_iteration_ or estimator.n_iter_)


def lightgbm_metric(metric: MetricLike, **options: Any) -> LightGBMMetric:
    """Make an evaluation metric for LightGBM.

    The same object is accepted by ``LGBMRanker.fit(eval_metric=...)`` and by
    ``lightgbm.train(feval=...)``, with and without early stopping.

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
    ('mrr@10', 0.75, True)
    """
    return LightGBMMetric(metric, options)


class LightGBMMetric(TrainingMetric):
    """What `lightgbm_metric` returns; LightGBM inspects the number of parameters of a call."""

    def __call__(
        self, y_true: Any, y_score: Any, weight: Any = None, group: Any = None
    ) -> tuple[str, float, bool]:
        """Name, value, and True because higher is better."""
        if hasattr(y_score, "get_label"):  # lightgbm.train passes scores and a Dataset
            y_true, y_score, data = y_score.get_label(), y_true, y_score
            weight, group = data.get_weight(), data.get_group()
        ids = ids_from_sizes(group, len(y_true), data="LightGBM's data", remedy="group=sizes")
        return self.log_name, self.value(y_true, y_score, ids, weight), True
