"""LightGBM: sizes of queries, one weight per row, early stopping by a callback."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable, Sequence
from copy import copy
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, sparray

from .._sklearn_compat import num_samples
from ..metrics.evaluate import MetricLike
from .booster import (
    Booster,
    EvaluatedSet,
    FitArguments,
    MetricOfSets,
    Stopping,
    TrainingMetric,
    arrow_types,
    check_library,
    classes_of,
    rounds_param,
)
from .training_data import TrainingData, ids_from_sizes

# parameters of LightGBM's estimators with their aliases: early stopping, and the number of rounds
STOPPING = ("early_stopping_round", "early_stopping_rounds", "early_stopping", "n_iter_no_change")
ROUNDS = (
    "n_estimators",
    "num_iterations",
    "num_iteration",
    "n_iter",
    "num_tree",
    "num_trees",
    "num_round",
    "num_rounds",
    "nrounds",
    "num_boost_round",
    "max_iter",
)

# the Arrow types that LightGBM reads, as pyarrow and polars name them; it crashes on others
ARROW_TYPES = {
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
    *("float", "double", "float32", "float64", "bool", "boolean"),
}

# the ranks of its metrics: a parameter of `fit`, over which those of the constructor prevail
EVAL_AT = ("eval_at", "ndcg_eval_at", "ndcg_at", "map_eval_at", "map_at")


class LightGBM(Booster):
    """Estimators of LightGBM."""

    package = "lightgbm"
    group_param = "group"
    start_param = "init_score"
    own_stopping = STOPPING

    def fit_arguments(self, data: TrainingData) -> FitArguments:
        """Query sizes in the order of the rows, and one weight per row."""
        return {"group": data.sizes, "sample_weight": data.weights}

    def read_features(self, X: Any) -> Any:
        """Sparse arrays as matrices; an error for columns of Arrow on which it crashes."""
        refused = {name: of for name, of in arrow_types(X).items() if of.lower() not in ARROW_TYPES}
        if refused:
            shown = ", ".join(f"{name!r}: {of}" for name, of in list(refused.items())[:5])
            raise TypeError(
                "LightGBM reads only integers, floats and booleans from frames of polars and "
                f"pyarrow, and crashes on columns of other types; got {shown}. Choose:\n"
                "- X.to_pandas(), with text columns as type 'category';\n"
                "- numeric codes of the columns, with their names in categorical_feature of fit."
            )
        X = super().read_features(X)
        is_sparse_array = issubclass(type(X), sparray)
        return csr_matrix(X) if is_sparse_array else X

    def evaluation_arguments(
        self, estimator: Any, train: TrainingData, sets: Sequence[TrainingData], *, ranks: bool
    ) -> FitArguments:
        """Features and labels apart from 4.7 on; sizes, weights and start scores in lists.

        LightGBM knows training data by identity, and does not let them stop the training.
        """
        pairs = [_rows_of_set(data, train) for data in sets]
        X, y = tuple(X for X, _ in pairs), tuple(y for _, y in pairs)
        if "eval_X" in inspect.signature(estimator.fit).parameters:
            classes = classes_of(estimator, train)
            if classes is not None:  # LightGBM numbers those of training data and of eval_set only
                y = tuple(np.searchsorted(classes, np.asarray(labels)) for labels in y)
            given: FitArguments = {"eval_X": X, "eval_y": y}
        else:  # before 4.7
            given = {"eval_set": list(zip(X, y, strict=True))}
        if ranks:
            given["eval_group"] = [data.sizes for data in sets]
        if any(data.weights is not None for data in sets):
            given["eval_sample_weight"] = [data.weights for data in sets]
        if (starts := self.starts(sets)) is not None:
            given["eval_init_score"] = starts
        return given

    def stop_early(
        self, estimator: Any, stopping: Stopping, arguments: FitArguments, *, ranks: bool
    ) -> FitArguments:
        """Add a callback to those that were given, and a metric."""
        given = arguments.get("eval_metric")
        metrics = list(given) if isinstance(given, list | tuple) else [given] if given else []
        if stopping.metric is not None:
            metric = _stopping_metric(stopping.metric, estimator, stopping, ranks=ranks)
            metric = metric.of_query_weights()  # of other sets than the one that is watched
            watched, metrics = WatchedMetric(metric.log_name), [*metrics, metric]
        else:
            own = estimator.get_params()
            cutoffs = [own[name] for name in EVAL_AT if own.get(name) is not None]
            cutoffs = [*cutoffs, arguments.get("eval_at")][0]
            watched = WatchedMetric(metrics[0] if metrics else None, cutoffs)
            metrics[:1] = [watched.first] if metrics else []
        stop = StopOnMetric(stopping.n_rounds, watched)
        callbacks = [*(arguments.get("callbacks") or ()), stop]
        return {"callbacks": callbacks, "eval_metric": metrics or None}

    def n_iterations(self, estimator: Any) -> int:
        """All rounds if the boosting type, such as DART, has no early stopping."""
        return int(estimator.best_iteration_ or estimator.n_iter_)

    def fixed_rounds(self, estimator: Any, arguments: FitArguments) -> dict[str, Any]:
        """The number of rounds after those of `init_model`, under the alias that was given."""
        n_rounds = self.n_iterations(estimator) - _n_rounds(arguments.get("init_model"))
        return {rounds_param(estimator, ROUNDS): n_rounds}


def _rows_of_set(data: TrainingData, train: TrainingData) -> tuple[Any, Any]:
    """Features and labels of an evaluation set: those of the training data, if they are all."""
    if data.is_training and _are_all(data, train):
        return train.X, train.y
    # rows that were already together are the same objects, by which LightGBM knows training data
    return data.X, copy(data.y) if data.y is train.y else data.y


def _are_all(data: TrainingData, train: TrainingData) -> bool:
    """Whether they are all training data, with the same queries and no weights of their own."""
    pairs: list[tuple[Any, Any]] = [(data.codes, train.codes), (data.rows, train.rows)]
    if data.weights is not None:
        pairs.append((data.weights, train.weights))
    is_complete = num_samples(data.X) == num_samples(train.X)
    return is_complete and all(np.array_equal(own, other) for own, other in pairs)


def _n_rounds(model: Any) -> int:
    """Number of rounds of a model in any form that LightGBM continues to train."""
    if model is None:
        return 0
    if isinstance(model, str | Path):
        from lightgbm import Booster as Model

        model = Model(model_file=model)
    return int(getattr(model, "booster_", model).current_iteration())


class WatchedMetric:
    """Which of the metrics that LightGBM computes to stop on.

    Parameters
    ----------
    first : str, callable or None
        The first `eval_metric`; None means the first one that LightGBM computes. The name of a
        function is known once it was called.
    cutoffs : sequence of int, int or None
        The ranks `eval_at`, which LightGBM sorts.
    """

    def __init__(self, first: Any, cutoffs: Any = None) -> None:
        self.name: str | None = None if callable(first) else first
        self.first = self._recording(first) if callable(first) else first
        self._cutoff = None if cutoffs is None else str(np.ravel(cutoffs)[0])

    def _recording(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)  # LightGBM counts the parameters
        def wrapper(*args: Any) -> Any:
            results = function(*args)
            self.name = (results[0] if isinstance(results, list) else results)[0]
            return results

        return wrapper

    def of(self, results: list[Any]) -> Any:
        """The result of the metric on the last evaluation set."""
        on_last = [result for result in results if result[0] == results[-1][0]]
        named = [r for r in on_last if self.name in (r[1], r[1].partition("@")[0])] or on_last
        at_first = (r for r in named if r[1].partition("@")[2] == self._cutoff)
        return next(at_first, named[0])


class StopOnMetric:
    """LightGBM's own early stopping, which is shown a single metric of a single set."""

    before_iteration = False

    def __init__(self, n_rounds: int, watched: WatchedMetric) -> None:
        import lightgbm

        # that of lightgbm.early_stopping, after the metrics are logged; LightGBM ignores an
        # attribute of the class
        self.order = 30
        self._stop = lightgbm.early_stopping(n_rounds, verbose=False)
        self._watched = watched

    def __call__(self, env: Any) -> None:
        """Called after each round."""
        results = env.evaluation_result_list
        if results:
            env = dataclasses.replace(env, evaluation_result_list=[self._watched.of(results)])
        self._stop(env)


def _stopping_metric(
    metric: MetricLike, estimator: Any, stopping: Stopping, *, ranks: bool
) -> TrainingMetric:
    if ranks:
        return LightGBMMetric(metric, {})
    classes = classes_of(estimator, stopping.train)
    sets = [EvaluatedSet.read(data, classes) for data in stopping.sets]
    return LightGBMMetricOfSets(metric, {}, sets, classes)


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
        check_library(y_score, "lightgbm")
        if hasattr(y_score, "get_label"):  # lightgbm.train passes scores and a Dataset
            y_true, y_score, data = y_score.get_label(), y_true, y_score
            weight, group = data.get_weight(), data.get_group()
        problem = (
            f"LightGBM's data has no queries for its {len(y_true)} rows; give it group=sizes, as "
            "LGBMRanker and lightgbm.Dataset take; QueryRanker(LGBMRegressor(), "
            "early_stopping='ndcg@10') knows the queries of other models."
        )
        ids = ids_from_sizes(group, len(y_true), problem)
        return self.log_name, self.value(y_true, y_score, ids, weight), True


class LightGBMMetricOfSets(MetricOfSets):
    """A metric for LightGBM's pointwise models, to which it passes no queries."""

    def __call__(self, y_true: Any, y_score: Any, weight: Any) -> tuple[str, float, bool]:
        """Name, value, and True because higher is better."""
        return self.log_name, self.value_of_set(y_true, y_score, weight), True
