"""How boosters are fitted: evaluation sets, early stopping, and metrics computed in training."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone, is_classifier

from .._typing import Array, RandomState
from .._validation import check_count, check_flag
from ..metrics.evaluate import MetricLike
from ..metrics.metric import measure
from ..metrics.resolve import resolve
from ..query_ids import vary_within_queries
from ..ranking import read_queries
from ..scoring.predictions import is_pipeline, last_step, mean_grades
from .training_data import TrainingData

# the classes of callbacks of LightGBM and XGBoost that stop early
STOPPING_CALLBACKS = ("_EarlyStoppingCallback", "EarlyStopping")

SUFFIX = "_rankscore"


@dataclass(frozen=True)
class EarlyStopping:
    """The parameters of QueryRanker for early stopping.

    Without a metric of this package, the first one of the booster counts.
    """

    metric: MetricLike | None
    fraction: float
    n_rounds: int
    refit_all: bool
    random_state: RandomState

    @classmethod
    def read(cls, ranker: Any) -> EarlyStopping | None:
        """The checked parameters, or None without early stopping."""
        value = ranker.early_stopping
        if isinstance(value, str) or callable(value):
            TrainingMetric(value, {})  # an unknown name is an error before anything is fitted
        elif not isinstance(value, bool | np.bool_):
            raise ValueError(
                "early_stopping must be False, True (stop on the ranker's own first metric), the "
                f"name of a metric such as 'ndcg@10', or a metric function; got {value!r}."
            )
        elif not value:
            return None
        metric = None if isinstance(value, bool | np.bool_) else value
        n_rounds = check_count("n_iter_no_change", ranker.n_iter_no_change, 1)
        refit_all = check_flag("refit_all", ranker.refit_all)
        fraction = ranker.validation_fraction
        return cls(metric, fraction, n_rounds, refit_all, ranker.random_state)


@dataclass(frozen=True)
class Fit:
    """What a fit is given: training data, evaluation sets, and the parameter for the queries.

    Early stopping watches the last of the sets. Without `group_param` the model is pointwise.
    """

    train: TrainingData
    sets: Sequence[TrainingData]
    group_param: str | None

    @property
    def ranks(self) -> bool:
        """Whether `fit` takes the queries."""
        return self.group_param is not None

    def classes_of(self, estimator: Any) -> Array | None:
        """The classes of a classifier, in its order; None for models whose labels are numbers."""
        # the labels of CatBoost's cross entropy are probabilities
        params = estimator.get_params()
        if not is_classifier(estimator) or params.get("loss_function") == "CrossEntropy":
            return None
        named = params.get("class_names")  # of CatBoost
        return np.unique(np.asarray(self.train.y)) if named is None else np.asarray(named)


class Booster:
    """How the estimators of a package are fitted.

    `start_param` is the parameter of `fit` that takes the scores to start from, `rounds` are the
    names of the number of rounds in the constructor, `own_stopping` those of its parameters that
    stop early and need an evaluation set, and `clone_advice` says how to make a model that
    scikit-learn can clone.
    """

    package: ClassVar[str]
    start_param: ClassVar[str]
    rounds: ClassVar[tuple[str, ...]] = ()
    own_stopping: ClassVar[tuple[str, ...]] = ()
    clone_advice: ClassVar[str] = ""

    def evaluation_arguments(self, estimator: Any, data: Fit) -> dict[str, Any]:
        """The arguments of `fit` for evaluation sets."""
        raise NotImplementedError

    def stop_early(
        self, estimator: Any, data: Fit, stopping: EarlyStopping, arguments: dict[str, Any]
    ) -> dict[str, Any]:
        """Prepare the unfitted `estimator`, and return the arguments of `fit` that change."""
        raise NotImplementedError

    def n_iterations(self, estimator: Any) -> int:
        """Number of boosting rounds that predictions use, those of a continued model included."""
        raise NotImplementedError

    def fixed_rounds(self, estimator: Any, arguments: dict[str, Any]) -> dict[str, Any]:
        """Parameters with which a new fit takes as many rounds as early stopping has found.

        `arguments` are those of the `fit` of `estimator`, with the model that it continues, if any.
        """
        raise NotImplementedError

    def predicts_by_all_rounds(self, estimator: Any) -> bool:
        """Whether predictions of a fitted estimator use rounds after the best one too."""
        return False

    def use_all_rounds(self, estimator: Any) -> None:
        """Let predictions of an estimator that was fitted without early stopping use all rounds."""
        return

    def is_schedule(self, callback: Any) -> bool:
        """Whether a callback changes a parameter by the round, and watches no evaluation set."""
        return False

    def restore(self, estimator: Any, params: dict[str, Any]) -> None:
        """Give a fitted estimator the parameters that `stop_early` has changed."""
        return

    def feature_importances(self, estimator: Any) -> Any:
        """Feature importances of a fitted estimator."""
        return estimator.feature_importances_

    def rounds_param(self, estimator: Any) -> str:
        """The name under which `estimator` was given its number of rounds; the first by default."""
        params = estimator.get_params()
        given = [name for name in self.rounds if params.get(name) is not None]
        # a constructor without defaults lists what was given; elsewhere, an alias takes precedence
        return given[-1] if given else self.rounds[0]

    @staticmethod
    def of_sets(**values: list[Any]) -> dict[str, Any]:
        """Arguments with one value for each evaluation set, without those that no set has."""
        return {k: v for k, v in values.items() if any(value is not None for value in v)}

    def check_one_stopping(
        self, ranker: Any, prefix: str, data: Fit, stopping: EarlyStopping | None
    ) -> None:
        """Refuse early stopping by a booster itself without an evaluation set, or beside ours."""
        params = ranker.get_params() | data.train.for_step(prefix).params
        # a number of rounds of 0 or less means none
        given = [name for name in self.own_stopping if (params.get(name) or 0) > 0]
        callbacks = [type(callback).__name__ for callback in params.get("callbacks") or ()]
        if any(name in STOPPING_CALLBACKS for name in callbacks):
            given.insert(0, "callbacks")
        if not given or (data.sets and stopping is None):
            return
        kind, name = type(ranker).__name__, given[0]
        if stopping is not None:
            raise ValueError(f"both QueryRanker and {kind}, by {name}, are to stop: keep one.")
        raise ValueError(
            f"{kind} stops early by {name}, without an evaluation set: pass eval_set= to fit, or "
            "use QueryRanker(..., early_stopping=True), which holds out queries."
        )

    def fit(self, estimator: Any, data: Fit, stopping: EarlyStopping | None = None) -> None:
        """Fit a model or a pipeline; evaluation sets pass through the steps of the pipeline."""
        ranker, _ = last_step(estimator)
        params = ranker.get_params()
        _check_classes(ranker, data)
        data = _fit_transformers(estimator, data)
        arguments = data.train.fit_arguments(data.group_param)
        arguments |= self.evaluation_arguments(ranker, data)
        if stopping is not None:
            metric = MetricOfSets.of(stopping, ranker, data, data.sets[-1:])
            if metric is not None:
                metric.check_defined()
            arguments |= self.stop_early(ranker, data, stopping, arguments)
        ranker.fit(data.train.X, data.train.y, **arguments)
        if stopping is not None:
            self.restore(ranker, params)

    def fit_early(self, estimator: Any, data: Fit, stopping: EarlyStopping) -> tuple[Any, int]:
        """The estimator fitted with early stopping, and its number of boosting rounds.

        Given evaluation sets take the place of held-out queries.
        """
        unfitted, (train, sets) = clone(estimator), (data.train, data.sets)
        if not sets:
            train, held_out = train.hold_out(stopping.fraction, stopping.random_state)
            sets = [held_out]
        # LightGBM does not stop on the object that it knows as the labels of the training data
        sets = [*sets[:-1], replace(sets[-1], y=copy(sets[-1].y))]
        self.fit(estimator, Fit(train, sets, data.group_param), stopping)
        stopped, prefix = last_step(estimator)
        rows = data.train if stopping.refit_all else train
        if rows is not train or self.predicts_by_all_rounds(stopped):
            fixed = self.fixed_rounds(stopped, rows.for_step(prefix).params)
            again, _ = last_step(unfitted)
            again.set_params(**fixed)
            arguments = rows.fit_arguments(data.group_param, prefix)
            # XGBoost has callbacks in the constructor; those that watch have seen the first fit
            own, of_fit = stopped.get_params().get("callbacks"), f"{prefix}callbacks"
            if own:
                again.set_params(callbacks=list(filter(self.is_schedule, own)))
            if arguments.get(of_fit):
                arguments[of_fit] = list(filter(self.is_schedule, arguments[of_fit]))
            estimator = unfitted.fit(rows.X, rows.y, **arguments)
            again, _ = last_step(estimator)
            if own:
                again.set_params(callbacks=own)
            self.use_all_rounds(again)
        return estimator, self.n_iterations(last_step(estimator)[0])


def _check_classes(ranker: Any, data: Fit) -> None:
    """Refuse labels of evaluation sets for which a classifier has no class."""
    if (classes := data.classes_of(ranker)) is None:
        return
    for i, watched in enumerate(data.sets):
        unseen = np.setdiff1d(np.asarray(watched.y), classes)
        if len(unseen):
            raise ValueError(
                f"evaluation set {i}, or what is held out, has the labels {unseen.tolist()}, but "
                f"{type(ranker).__name__} knows only {classes.tolist()}. Join rare grades."
            )


def _fit_transformers(estimator: Any, data: Fit) -> Fit:
    """Fit the steps before the last one on the training data, and transform all data."""
    train, sets = data.train, data.sets
    while is_pipeline(estimator):
        transformers, (name, last) = estimator[:-1], estimator.steps[-1]
        prefix = f"{name}__"
        if transformers.steps:
            others = {k: v for k, v in train.params.items() if not k.startswith(prefix)}
            X = transformers.fit_transform(train.X, train.y, **others)
            # with `memory`, a pipeline fits clones of its steps
            estimator.steps[:-1] = transformers.steps
            sets = [replace(one, X=transformers.transform(one.X)) for one in sets]
            train = replace(train, X=X)
        train, *sets = (one.for_step(prefix) for one in (train, *sets))
        estimator = last
    return Fit(train, sets, data.group_param)


class TrainingMetric:
    """A metric for the training loop of a booster; higher is better.

    Its name in a log ends in ``_rankscore``, because LightGBM and XGBoost compute metrics of the
    same names under conventions of their own.
    """

    def __init__(self, metric: MetricLike, options: dict[str, Any]) -> None:
        self.metric = resolve(metric, **options)
        if self.metric.average is None:
            raise ValueError("average=None gives no single number: use average='macro'.")
        if self.metric.propensity is not None:
            raise ValueError(
                f"{self.metric.name!r}: training metrics and early stopping take no propensity."
            )
        self.log_name = self.metric.name.replace(" ", "") + SUFFIX  # logs end a name at a blank

    def check_library(self, data: Any, library: str) -> None:
        """Refuse the data set of another library than that of the metric."""
        other = type(data).__module__.partition(".")[0]
        if other != library and other in ("lightgbm", "xgboost"):
            raise TypeError(f"{library}_metric got data of {other}: use {other}_metric.")

    def value(self, y_true: Any, y_score: Any, groups: Any, weight: Any = None) -> float:
        """The metric after a boosting round."""
        queries = read_queries(y_true, y_score, groups=groups, sample_weight=weight)
        (values,) = measure(queries, [self.metric])
        return float(self.metric.aggregate(values, queries))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.metric.name!r}>"

    def __deepcopy__(self, memo: Any) -> TrainingMetric:
        # CatBoost copies its parameters, and clone refuses a parameter that is not the same object
        return self


@dataclass(frozen=True)
class EvaluatedSet:
    """What a metric needs to know about a set whose scores a booster passes.

    Parameters
    ----------
    passed : float32 array of shape (n_rows,)
        The labels as the booster passes them.
    y_true : array of shape (n_rows,)
        The labels as the metric reads them.
    codes : int array of shape (n_rows,)
        The number of the query of each row.
    weights : array of shape (n_rows,) or None
        The weight of each row; None means the weights that the booster passes.
    has_value : bool
        Whether the metric has a value, as it has none if weights vary within a query.
    """

    passed: Array
    y_true: Array
    codes: Array
    weights: Array | None = None
    has_value: bool = True

    @classmethod
    def read(cls, data: TrainingData, classes: Array | None) -> EvaluatedSet:
        """A set for an estimator with these classes, which boosters number."""
        labels, weights = np.asarray(data.y), data.weights
        passed = labels if classes is None else (labels[:, None] == classes).argmax(axis=1)
        # boosters multiply the weights that they pass by those of classes
        weights = np.ones(len(labels)) if weights is None else weights
        has_value = not vary_within_queries(weights, data.codes)
        return cls(passed.astype(np.float32), labels, np.asarray(data.codes), weights, has_value)


class MetricOfSets(TrainingMetric):
    """A metric of sets whose query ids a booster does not pass: it knows them by their labels.

    Parameters
    ----------
    metric : str or callable
        The metric.
    options : dict
        Its options.
    sets : iterable of EvaluatedSet
        The sets that the booster may evaluate.
    classes : array or None
        The classes of a classifier; several of them are ranked by the expected class.
    """

    def __init__(
        self,
        metric: MetricLike,
        options: dict[str, Any],
        sets: Iterable[EvaluatedSet],
        classes: Array | None = None,
    ) -> None:
        super().__init__(metric, options)
        self.sets, self.classes = list(sets), classes
        for one, other in combinations(self.sets, 2):
            same = np.array_equal(one.passed, other.passed)
            if same and not np.array_equal(one.codes, other.codes):
                raise ValueError(
                    "two of the eval_sets have equal labels but other queries, and the booster "
                    "passes only the labels to a metric. Reorder the rows of one of them."
                )

    @classmethod
    def of(
        cls, stopping: EarlyStopping, estimator: Any, data: Fit, sets: Sequence[TrainingData]
    ) -> Self | None:
        """The metric to stop on, of some sets; None for the first metric of the booster."""
        if stopping.metric is None:
            return None
        classes = data.classes_of(estimator)
        known = [EvaluatedSet.read(one, classes) for one in sets]
        return cls(stopping.metric, {}, known, classes)

    def find_set(self, passed: Any) -> EvaluatedSet | None:
        """The last set with these labels."""
        labels = np.asarray(passed, dtype=np.float32)
        same = (known for known in reversed(self.sets) if np.array_equal(known.passed, labels))
        return next(same, None)

    def value_of_set(self, known: EvaluatedSet, scores: Any, weight: Any = None) -> float:
        """The metric of scores, or of probabilities of several classes; nan without a value."""
        if not known.has_value:
            return np.nan
        if np.ndim(scores) == 2:
            scores = mean_grades(scores, np.asarray(self.classes, dtype=np.float64))
        weight = weight if known.weights is None else known.weights
        return self.value(known.y_true, scores, known.codes, weight)

    def check_defined(self) -> None:
        """Refuse weights and labels of the last set that leave the metric undefined."""
        known = self.sets[-1]
        if not known.has_value:
            raise ValueError(
                "sample_weight varies within a query, but early_stopping stops on a mean over "
                "queries: use early_stopping=True, or pass eval_set= without weights to fit."
            )
        weights = known.weights
        if np.any(weights):  # given scores without ties
            scores = np.arange(len(known.y_true))
            queries = read_queries(known.y_true, scores, groups=known.codes, sample_weight=weights)
            (values,) = measure(queries, [self.metric])
            if (values.defined & (np.asarray(queries.weights) > 0)).any():
                return
        raise ValueError(
            f"early_stopping stops on {self.metric.name!r}, which is undefined for each of the "
            f"{len(np.unique(known.codes))} queries to watch: no label is above the threshold, or "
            "all weights are 0. Choose another metric or validation_fraction, or pass eval_set=."
        )
