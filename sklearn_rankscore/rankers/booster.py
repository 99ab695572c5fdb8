"""The interface between QueryRanker and a booster, and metrics that are computed in training."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import combinations
from numbers import Real
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


class TrainingMetric:
    """A metric for the training loop of a booster; higher is better.

    Its name in a log ends in ``_rankscore``, because LightGBM and XGBoost compute metrics of the
    same names under conventions of their own.
    """

    _refuses_row_weights = True

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
        is_lenient = weight is not None and not self._refuses_row_weights
        if is_lenient and vary_within_queries(weight, np.asarray(groups)):
            return np.nan
        queries = read_queries(y_true, y_score, groups=groups, sample_weight=weight)
        (values,) = measure(queries, [self.metric])
        return float(self.metric.aggregate(values, queries))

    def of_query_weights(self) -> TrainingMetric:
        """The same metric, which is nan for a set whose weights vary within a query."""
        lenient = copy(self)
        lenient._refuses_row_weights = False
        return lenient

    def is_defined(self, y_true: Any, groups: Any, weight: Any = None) -> bool:
        """Whether the labels of any query that counts define it, given scores without ties."""
        queries = read_queries(y_true, np.arange(len(y_true)), groups=groups, sample_weight=weight)
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
        The weight of each row, if it is another one than the booster passes.
    """

    passed: Array
    y_true: Array
    codes: Array
    weights: Array | None = None

    @classmethod
    def read(cls, data: TrainingData, classes: Array | None) -> EvaluatedSet:
        """A set for an estimator with these classes; boosters number the classes."""
        labels = np.asarray(data.y)
        passed = labels if classes is None else _numbers_of(labels, classes)
        if labels.dtype.kind not in "biuf" and classes is not None:
            labels = labels == max(classes)
        return cls(passed.astype(np.float32), labels, np.asarray(data.codes))


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

    def value_of_set(self, passed: Any, y_score: Any, weight: Any) -> float:
        """The metric of the set with these labels."""
        labels = np.asarray(passed, dtype=np.float32)
        for known in self.sets:
            if np.array_equal(known.passed, labels):
                scores = expected_classes(np.asarray(y_score), self.classes)
                return self.value(known.y_true, scores, known.codes, weight)
        raise ValueError(f"no known set has these {len(labels)} labels.")


def classes_of(estimator: Any, train: TrainingData) -> Array | None:
    """The classes of a classifier, in its order; None for models whose labels are numbers."""
    if not is_classifier(estimator):
        return None
    params = estimator.get_params()
    if params.get("loss_function") == "CrossEntropy":  # CatBoost's labels are probabilities
        return None
    named = params.get("class_names")  # of CatBoost
    return np.unique(np.asarray(train.y)) if named is None else np.asarray(named)


def _numbers_of(labels: Array, classes: Array) -> Array:
    """The position of the class of each label."""
    order = np.argsort(classes)
    return np.asarray(order[np.searchsorted(classes, labels, sorter=order)])


def expected_classes(scores: Array, classes: Array | None) -> Array:
    """Scores of documents, from scores or from probabilities of several classes."""
    if scores.ndim == 1:
        return scores
    return mean_grades(scores, np.asarray(classes, dtype=np.float64))


def check_library(data: Any, library: str) -> None:
    """Refuse the data set of another library than that of the metric."""
    other = type(data).__module__.partition(".")[0]
    if other != library and other in ("lightgbm", "xgboost"):
        raise TypeError(
            f"{library}_metric is for {library}, but got a {type(data).__name__} of {other}: use "
            f"{other}_metric."
        )
