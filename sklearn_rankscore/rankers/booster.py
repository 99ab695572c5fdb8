"""The interface between QueryRanker and a booster, and metrics that are computed in training."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar, TypeAlias

import numpy as np
from sklearn.base import is_classifier

from .._typing import Array
from ..metrics.evaluate import MetricLike
from ..metrics.metric import measure
from ..metrics.resolve import resolve
from ..query_ids import vary_within_queries
from ..ranking import read_queries
from ..scoring.predictions import mean_grades
from .training_data import TrainingData

FitArguments: TypeAlias = dict[str, Any]

# the classes of callbacks of LightGBM and XGBoost that stop early
STOPPING_CALLBACKS = ("_EarlyStoppingCallback", "EarlyStopping")

SUFFIX = "_rankscore"


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
    the constructor that stop early and need an evaluation set, and `clone_advice` says how to make
    a model that scikit-learn can clone.
    """

    package: ClassVar[str]
    group_param: ClassVar[str]
    start_param: ClassVar[str]
    own_stopping: ClassVar[tuple[str, ...]] = ()
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
        self, estimator: Any, stopping: Stopping, arguments: FitArguments
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

    def restore(self, estimator: Any, params: dict[str, Any]) -> None:
        """Give a fitted estimator the parameters that `stop_early` has changed."""
        return

    def starts(self, sets: Sequence[TrainingData]) -> list[Any] | None:
        """The scores that each evaluation set starts from; None if none has any."""
        starts = [data.params.get(self.start_param) for data in sets]
        return None if all(start is None for start in starts) else starts

    def feature_importances(self, estimator: Any) -> Any:
        """Feature importances of a fitted estimator."""
        return estimator.feature_importances_

    def stops_by(self, estimator: Any, arguments: FitArguments) -> str | None:
        """The parameter by which the estimator itself is told to stop early, if it is."""
        params = estimator.get_params() | arguments
        callbacks = [type(callback).__name__ for callback in params.get("callbacks") or ()]
        if any(name in STOPPING_CALLBACKS for name in callbacks):
            return "callbacks"
        # a number of rounds of 0 or less means none
        return next((name for name in self.own_stopping if (params.get(name) or 0) > 0), None)


def rounds_param(estimator: Any, aliases: Sequence[str]) -> str:
    """The name under which `estimator` was given its number of rounds; the first by default."""
    params = estimator.get_params()
    given = [name for name in aliases if params.get(name) is not None]
    # a constructor without defaults lists only what was given; elsewhere, an alias takes precedence
    return given[-1] if given else aliases[0]


class TrainingMetric:
    """A metric for the training loop of a booster; higher is better.

    Its name in a log ends in ``_rankscore``, because LightGBM and XGBoost compute metrics of the
    same names under conventions of their own.
    """

    def __init__(self, metric: MetricLike, options: dict[str, Any]) -> None:
        self.metric = resolve(metric, **options)
        if self.metric.average is None:
            raise ValueError(
                "average=None gives one value per query, but a booster needs a single number; use "
                "average='macro'."
            )
        if self.metric.propensity is not None:
            raise ValueError(
                f"{self.metric.name!r}: training metrics and early stopping take no propensity, "
                "because boosters pass labels and scores only. Select the model by this metric in "
                "a search (scoring=), and stop on one without propensities."
            )
        self.log_name = self.metric.name.replace(" ", "") + SUFFIX  # logs end a name at a blank

    def value(self, y_true: Any, y_score: Any, groups: Any, weight: Any = None) -> float:
        """The metric after a boosting round."""
        queries = read_queries(y_true, y_score, groups=groups, sample_weight=weight)
        (values,) = measure(queries, [self.metric])
        return float(self.metric.aggregate(values, queries))

    def is_defined(self, known: EvaluatedSet) -> bool:
        """Whether the labels of any query that counts define it, given scores without ties."""
        y_true, weights = known.y_true, known.weights
        scores = np.arange(len(y_true))
        queries = read_queries(y_true, scores, groups=known.codes, sample_weight=weights)
        (values,) = measure(queries, [self.metric])
        counts = True if queries.weights is None else queries.weights > 0
        return bool((values.defined & counts).any())

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
        passed = labels if classes is None else np.searchsorted(classes, labels)
        if labels.dtype.kind not in "biuf":
            labels = passed
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


def check_library(data: Any, library: str) -> None:
    """Refuse the data set of another library than that of the metric."""
    other = type(data).__module__.partition(".")[0]
    if other != library and other in ("lightgbm", "xgboost"):
        raise TypeError(
            f"{library}_metric is for {library}, but got a {type(data).__name__} of {other}: use "
            f"{other}_metric."
        )


def classes_of(estimator: Any, train: TrainingData) -> Array | None:
    """The classes of a classifier, in its order; None for models whose labels are numbers."""
    # the labels of CatBoost's cross entropy are probabilities
    if (
        not is_classifier(estimator)
        or estimator.get_params().get("loss_function") == "CrossEntropy"
    ):
        return None
    return np.unique(np.asarray(train.y))
