"""One call of `QueryRanker.fit`: what it was given, and the fit of the wrapped estimator."""

from __future__ import annotations

import inspect
import warnings
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
import sklearn
from sklearn.utils import column_or_1d

from .._sklearn_compat import num_samples
from .._typing import IdSource
from .._validation import stacklevel_of_caller
from ..query_ids import find_explicit_ids, find_query_ids, no_groups_error
from ..query_ids.lookup import check_place
from ..query_ids.row_order import check_same_order
from .boosters import booster_of, find_group_param, fit_arguments, renumber_rows
from .byte_order import in_native_order
from .column_positions import check_column_positions, renumber_columns
from .early_stopping import EarlyStopping, check_watched_rows, fit_with_evaluation_sets
from .evaluation_sets import ids_of_argument, take_evaluation_sets
from .fitted_ranker import fitted_model
from .id_columns import IdColumns
from .inner_ids import (
    check_rankers_wrapped,
    fit_with_ids,
    groups_of_selections,
    own_stopping_explained,
    takes_query_ids,
    with_index_of_ids,
)
from .inner_splits import splitters_replaced
from .metadata import check_no_step_requests_weights, names_of_fit
from .pipelines import last_step
from .training_data import TrainingData

# data sets of CatBoost, LightGBM and XGBoost
OF_BOOSTERS = ("Pool", "Dataset", "DMatrix", "QuantileDMatrix")


@dataclass
class FitCall:
    """The wrapped estimator, unfitted, and how it takes query ids.

    Parameters
    ----------
    estimator : estimator object
        The estimator to fit.
    group_param : str or None
        The parameter of its `fit` for query ids or sizes, "auto" to find it; None for a pointwise
        model.
    source : str, callable or None
        Where the query ids are.
    needs_ids : bool
        Whether query ids are required; a ranker always requires them.
    """

    estimator: Any
    group_param: str | None
    source: IdSource
    needs_ids: bool

    def __post_init__(self) -> None:
        self.ranker, self.prefix = last_step(self.estimator)
        if self.group_param == "auto":
            self.group_param = find_group_param(self.ranker)
        self.needs_ids = self.needs_ids or self.group_param is not None
        self.name = f"{type(self.ranker).__name__}.fit"
        self.is_booster = booster_of(self.ranker) is not None

    @property
    def takes_ids_within(self) -> bool:
        """Whether a splitter, scorer or ranker inside of the estimator takes query ids."""
        return takes_query_ids(self.estimator)

    @property
    def passes_ids_on(self) -> bool:
        """Whether the estimator passes ids on by itself, as a search over rankers does."""
        return self.takes_ids_within and not (self.is_booster or self.group_param)

    @property
    def is_routed(self) -> bool:
        """Whether parameters are those that steps request, and `fit` distributes them to these."""
        return sklearn.get_config()["enable_metadata_routing"] and not self.passes_ids_on

    def read_params(self, params: dict[str, Any]) -> dict[str, Any]:
        """Parameters by their names in `fit`; routed ones may have other names."""
        if self.is_routed:
            params = names_of_fit(self.estimator, params)
        continued = {
            name: fitted_model(value)
            for name, value in params.items()
            if name.rpartition("__")[2] in ("init_model", "xgb_model")
        }
        return params | continued

    def find_ids(self, X: Any, y: Any, groups: Any, qid: Any, params: dict[str, Any]) -> Any:
        """The query ids; those under the ranker's own name are removed from the parameters."""
        if type(X).__name__ in OF_BOOSTERS:
            raise TypeError(
                f"QueryRanker cannot select rows of a {type(X).__name__}: pass X and y, and the "
                "query ids as groups=ids."
            )
        check_place(self.source)
        check_rankers_wrapped(self.estimator, params)
        ids = find_explicit_ids(X, y, groups=groups, qid=qid, id_source=self.source)
        for name in self._names_of_ids():
            given = params.pop(self.prefix + name, None)
            if given is None:
                continue
            if ids is not None:
                raise ValueError(
                    f"query ids are given twice: as {self.prefix + name}= of {self.name}, and by "
                    "a column, an index level, groups or qid. Leave out the first: QueryRanker "
                    "passes the ids to the ranker in the form that it takes."
                )
            ids = ids_of_argument(name, given, num_samples(X)) if name == "group" else given
        if ids is None and self.needs_ids:
            raise no_groups_error(self.name, X=X)
        return ids

    def find_weights(self, weights: Any, params: dict[str, Any]) -> Any:
        """The weights of the rows; those under a name of a booster are removed from the parameters.

        Otherwise the metric of held-out queries would have none.
        """
        if weights is not None and self.is_routed:
            check_no_step_requests_weights(self.estimator)
        taken = inspect.signature(self.ranker.fit).parameters if self.is_booster else {}
        for name in ("sample_weight", "group_weight"):
            given = params.pop(self.prefix + name, None) if name in taken else None
            if given is None:
                continue
            if weights is not None and not np.array_equal(weights, given):
                raise ValueError(
                    f"weights are given twice, as {self.prefix + name}= of {self.name} and by "
                    "another name. Pass sample_weight only, which QueryRanker passes to the ranker "
                    "in the form that it takes."
                )
            weights = given
        return weights

    def _names_of_ids(self) -> list[str]:
        if self.group_param is None:
            return []
        taken = inspect.signature(self.ranker.fit).parameters
        names = {"group", "group_id", "qid", self.group_param}
        # groups and qid are parameters of QueryRanker.fit, unless they are those of a step
        own = set() if self.prefix else {"groups", "qid"}
        return sorted((names & taken.keys()) - own)

    def read_rows(
        self, X: Any, y: Any, ids: Any, columns: IdColumns, weights: Any, params: dict[str, Any]
    ) -> TrainingData:
        """Rows without the columns of ids, those of each query together for a ranker."""
        check_same_order(X=X, sample_weight=weights)
        features, y = in_native_order(columns.drop(X)), in_native_order(y)
        params = {name: in_native_order(value) for name, value in params.items()}
        booster = None if self.prefix else booster_of(self.ranker)
        if booster is not None:
            features = booster.read_features(features)
        if np.ndim(np.asarray(y)) > 1:
            y = column_or_1d(y, warn=True)
        if ids is not None and self.takes_ids_within:
            features, y = with_index_of_ids(features, y, X, self.source, ids)
        data = TrainingData.read(features, y, ids, weights, params, renumber_rows)
        return data if self.group_param is None else data.gather()

    def warn_of_queries(self, data: TrainingData) -> None:
        """Warn if a ranker would learn nothing, because the ids are probably something else."""
        if self.group_param is None or num_samples(data.X) < 2:
            return
        n_queries, is_position = len(data.sizes), isinstance(self.source, Integral)
        is_constant = n_queries == 1 and is_position
        if n_queries < num_samples(data.X) and not is_constant:
            return
        warnings.warn(
            ("all documents are of one query" if is_constant else "each query has one document")
            + f", from which {self.name} learns little. groups must hold the same id for all "
            "documents of a query, and another one for each query."
            + (
                f" groups={self.source} is a position among the columns that fit is given: in a "
                "pipeline, those that the steps before return."
                if is_position
                else ""
            ),
            UserWarning,
            stacklevel=stacklevel_of_caller(),
        )

    def take_evaluation_sets(
        self, params: dict[str, Any], columns: IdColumns, training: tuple[Any, Any]
    ) -> list[TrainingData]:
        """The evaluation sets of a booster, removed from the parameters.

        One of them may be `training`, the X and y of `fit`.
        """

        def read(X: Any, y: Any, ids: Any, weights: Any, aligned: dict[str, Any]) -> TrainingData:
            ids = find_query_ids(X, y, qid=ids, id_source=self.source)
            data = self.read_rows(X, y, ids, columns, weights, aligned)
            return replace(data, is_training=X is training[0] and y is training[1])

        booster = booster_of(self.ranker)
        if booster is None:
            return []
        return take_evaluation_sets(
            params,
            self.prefix,
            read,
            start_param=booster.start_param,
            needs_ids=self.needs_ids,
            caller=self.name,
        )

    def read_positions(self, params: dict[str, Any], columns: IdColumns) -> dict[str, Any]:
        """Parameters with the positions of features, given those of columns of X."""
        check_column_positions(self.estimator, columns)
        return params if self.prefix else renumber_columns(params, columns)

    def fit(
        self, data: TrainingData, sets: list[TrainingData], stopping: EarlyStopping | None
    ) -> tuple[Any, int | None]:
        """The fitted estimator, and the number of boosting rounds of early stopping."""
        if self.passes_ids_on and data.codes is not None and stopping is None:
            weights = {} if data.weights is None else {self._weight_param: data.weights}
            with own_stopping_explained(self.ranker):
                return fit_with_ids(self.estimator, data, data.params | weights, self.source), None
        if data.codes is not None:
            of_steps = groups_of_selections(self.estimator, data.codes)
            data = replace(data, params=data.params | of_steps)
        # the arguments below go straight to the ranker, whatever metadata it requests
        with sklearn.config_context(enable_metadata_routing=False):
            if stopping is not None:
                return stopping.fit(self.estimator, data, sets, self.group_param, self.source)
            if sets:
                fit_with_evaluation_sets(self.estimator, data, sets, self.group_param, self.source)
                return self.estimator, None
            if self.is_booster:
                check_watched_rows(
                    self.ranker, {k.removeprefix(self.prefix): v for k, v in data.params.items()}
                )
            arguments = fit_arguments(data, self.group_param, self.prefix)
            with splitters_replaced(self.estimator, data, self.source):
                return self.estimator.fit(data.X, data.y, **arguments), None

    @property
    def _weight_param(self) -> str:
        is_routed = sklearn.get_config()["enable_metadata_routing"]
        return "sample_weight" if is_routed else f"{self.prefix}sample_weight"
