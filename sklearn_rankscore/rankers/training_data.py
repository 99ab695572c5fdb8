"""Training data and evaluation sets: features, labels and all that is aligned with their rows."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, Self, TypeAlias

import numpy as np
from sklearn.utils import column_or_1d, indexable

from .._columns import as_numbers, column_names, refuse_masked
from .._sklearn_compat import check_method_params, num_samples, safe_indexing
from .._typing import Array, IdSource, RandomState
from .._validation import counted, is_integer
from ..model_selection import QueryShuffleSplit
from ..query_ids import group_rows, no_groups_error
from ..query_ids.lookup import QID, level_names
from ..query_ids.read import which_missing
from ..scoring.scorer import listed

# parameters of LightGBM and XGBoost with one entry per set: query ids or sizes, weights, scores to
# start from; QueryRanker takes them for every booster
IDS, SIZES = "eval_qid", "eval_group"
WEIGHTS = ("eval_sample_weight", "sample_weight_eval_set")
STARTS = ("eval_init_score", "base_margin_eval_set")
OF_SETS = ("eval_set", "eval_X", "eval_y", IDS, SIZES, *WEIGHTS, *STARTS)
# parameters that name features by their positions, or have one entry for each feature in order
OF_POSITIONS = {
    *("categorical_feature", "categorical_features", "cat_features", "text_features"),
    *("embedding_features", "ignored_features", "interaction_cst", "interaction_constraints"),
    *("monotone_constraints", "monotonic_cst", "feature_weights", "feature_contri", "transformers"),
}

ReadSet: TypeAlias = Callable[[Any, Any, Any, Any, dict[str, Any]], "TrainingData"]


@dataclass(frozen=True)
class DroppedColumns:
    """Columns of X that are no features: names in a frame, positions in an array.

    Parameters
    ----------
    columns : tuple
        Names or positions.
    n_columns : int or None
        The number of columns of an array of which some are dropped.
    """

    columns: tuple[Any, ...] = ()
    n_columns: int | None = None

    @classmethod
    def find(cls, X: Any, source: IdSource, dropped: Any = None) -> Self:
        """The columns that hold the query ids, and those of `drop_columns`."""
        names, others = column_names(X), listed(dropped)
        n_columns = None if names or not others else np.shape(X)[1]
        known = names if names else range(-(n_columns or 0), n_columns or 0)
        for column in others:
            is_flag = isinstance(column, bool | np.bool_ | float)
            if is_flag or (column not in known and column not in level_names(X)):
                raise ValueError(
                    f"drop_columns={column!r} is not a column of X: it takes names of columns and "
                    "index levels, or of an array the positions of columns."
                )
        if not names:
            return cls(tuple(column % n_columns for column in others), n_columns)
        ids = [source or QID] if source is None or isinstance(source, str) else list(source)
        return cls(tuple(name for name in names if name in [*ids, *others]))

    def drop_from(self, X: Any) -> Any:
        """`X` without these columns; an `X` that has none of them is returned as it is."""
        if names := column_names(X):
            present = [name for name in self.columns if name in names]
            if not present:
                return X
            return X.drop(columns=present) if hasattr(X, "iloc") else X.drop(present)
        if not self.columns or np.shape(X)[1:] != (self.n_columns,):
            return X
        X = X.tocsr() if hasattr(X, "tocsr") else np.asarray(X)
        return X[:, [i for i in range(self.n_columns or 0) if i not in self.columns]]


@dataclass(frozen=True)
class TrainingData:
    """Rows, in the order in which the estimator is fitted to them.

    Parameters
    ----------
    X, y : array-like
        Features and labels.
    codes : array of int or None
        The number of the query of each row; ascending if the rows of each query are contiguous.
        None without query ids.
    weights : array or None
        The weight of each row.
    params : dict
        Further parameters of `fit`; some may be aligned with the rows.
    ids : array or None
        The id of each query, by its number.
    rows : array of int or None
        The number of each row in the given data; None if they are all given rows in their order.
    is_training : bool
        Whether this evaluation set is the training data themselves.
    """

    X: Any
    y: Any
    codes: Array | None
    weights: Array | None
    params: dict[str, Any]
    ids: Array | None = None
    rows: Array | None = None
    is_training: bool = False

    @classmethod
    def read(cls, X: Any, y: Any, ids: Any, weights: Any, params: dict[str, Any]) -> Self:
        """Check the data, and number the queries in the order of their first rows."""
        if y is None:
            raise ValueError(
                "QueryRanker requires y to be passed, but the target y is None: it holds the "
                "relevance of each document."
            )
        y = np.asarray(y) if hasattr(y, "to_pylist") else y  # boosters refuse columns of pyarrow
        if weights is not None and num_samples(weights) != num_samples(X):
            raise ValueError(
                f"sample_weight must hold one weight per document: got {num_samples(weights)} for "
                f"{num_samples(X)} documents. Repeat weights of queries for their rows: "
                "np.repeat(weights, sizes) if the rows of each query are together, or "
                "weights.loc[ids].to_numpy() of a Series by query id."
            )
        check_byte_order("y", y)
        refuse_masked(y, "y")
        y = column_or_1d(y, warn=True) if np.ndim(np.asarray(y)) > 1 else y
        X, y, weights = indexable(X, y, weights)
        if ids is not None and num_samples(X) == 0:
            raise ValueError("X has no rows; a fit needs the documents of at least one query.")
        _check_judged(np.asarray(y))
        weights = None if weights is None else _read_weights(weights)
        data = cls(X, y, None, weights, params)
        if ids is None:
            return data
        queries = group_rows(ids, len(np.asarray(y))).by_appearance()
        return replace(data, codes=queries.codes, ids=queries.ids)

    def gather(self) -> Self:
        """The rows of each query together, as rankers need them.

        Queries keep the order of their first rows, because some boosters depend on it.
        """
        if self.codes is None or (np.diff(self.codes) >= 0).all():
            return self
        return self.take(np.argsort(self.codes, kind="stable"))

    def take(self, rows: Array) -> Self:
        """The chosen rows, in that order, with the `fit` parameters aligned with them."""
        renumbered = _renumber_pairs(self.params, rows, num_samples(self.X))
        others = {name: v for name, v in self.params.items() if name not in renumbered}
        return replace(
            self,
            X=safe_indexing(self.X, rows),
            y=safe_indexing(self.y, rows),
            codes=None if self.codes is None else self.codes[rows],
            weights=None if self.weights is None else self.weights[rows],
            params=check_method_params(self.X, others, indices=rows) | renumbered,
            rows=rows if self.rows is None else self.rows[rows],
        )

    @property
    def sizes(self) -> Array:
        """Number of rows of each query."""
        sizes = np.bincount(np.asarray(self.codes))
        return sizes[sizes > 0]

    @property
    def query_weights(self) -> Array | None:
        """One weight per query."""
        if self.weights is None:
            return None
        sizes = self.sizes
        weights = self.weights[np.cumsum(sizes) - sizes]
        if not np.array_equal(np.repeat(weights, sizes), self.weights):
            raise ValueError(
                "this ranker takes one weight per query, so sample_weight must be constant within "
                "each query."
            )
        return np.asarray(weights)

    def subsample_queries(self, max_queries: int, random_state: RandomState) -> Self:
        """A random choice of at most `max_queries` queries.

        With the same seed, a larger choice contains a smaller one.
        """
        if max_queries >= len(self.sizes):
            return self
        splits = QueryShuffleSplit(1, train_size=max_queries, random_state=random_state)
        ((chosen, _),) = splits.split(self.X, qid=self.codes)
        return self.take(chosen)

    def hold_out(self, fraction: float, random_state: RandomState) -> tuple[Self, Self]:
        """Queries to train on, and held-out queries whose labels are not all equal."""
        n_queries, n_held_out = len(self.sizes), _count_held_out(fraction, len(self.sizes))
        if n_held_out >= n_queries:
            raise ValueError(
                f"early_stopping holds out {n_held_out} of the {n_queries} queries "
                f"(validation_fraction={fraction!r}), which leaves none to train on. Set a smaller "
                "validation_fraction, or give more queries."
            )
        splits = QueryShuffleSplit(1, test_size=n_held_out, random_state=random_state)
        ((train, held_out),) = splits.split(self.X, qid=self.codes)
        labels = np.unique(np.asarray(self.y)[held_out], return_inverse=True)[1]
        codes = np.asarray(self.codes)[held_out]
        queries = group_rows(codes, len(codes))
        held_out = held_out[queries.varies(labels)[queries.codes]]
        if not len(held_out):
            raise ValueError(
                f"early_stopping holds out {n_held_out} of the {n_queries} queries, and in each of "
                "these all labels are equal, so that no metric tells rankings apart. Set a larger "
                "validation_fraction, or another random_state."
            )
        return self.take(train), self.take(held_out)


def ids_from_sizes(sizes: Any, n_rows: int, problem: str) -> Array:
    """Query ids of contiguous rows from the sizes of the queries; an error if they are others."""
    given = np.asarray(sizes)
    if given.ndim != 1 or given.dtype.kind not in "iu" or given.sum() != n_rows:
        raise ValueError(problem)
    return np.repeat(np.arange(len(given)), given.astype(np.intp))


def check_byte_order(name: str, values: Any) -> None:
    """Refuse numbers in the byte order of another machine, which XGBoost takes for others."""
    of_columns = getattr(values, "dtypes", None)
    dtypes = list(of_columns) if np.iterable(of_columns) else [getattr(values, "dtype", None)]
    for dtype in dtypes:
        if isinstance(dtype, np.dtype) and not dtype.isnative:
            raise ValueError(
                f"{name} has the byte order of another machine, {dtype.str!r}, which boosters "
                f"misread: pass {name}.astype({dtype.newbyteorder('=').name!r})."
            )


def _read_weights(weights: Any) -> Array:
    """One float per row: CatBoost takes no integers, and XGBoost no other byte order."""
    numbers = as_numbers(weights, "sample_weight").astype(np.float64)
    if numbers.ndim != 1:
        raise ValueError(
            "sample_weight must be one-dimensional, with one weight per document; got an array of "
            f"shape {numbers.shape}. Of a column, pass numpy.ravel(sample_weight)."
        )
    return numbers


def _check_judged(labels: Array) -> None:
    """Refuse documents without a label, from which nothing can be learned."""
    unjudged = which_missing(labels.ravel())
    if unjudged.any():
        raise ValueError(
            f"y contains NaN (first at row {int(unjudged.argmax())}), which means that nobody "
            "judged the document. A ranker needs the labels of all documents that it is trained "
            "on; choose:\n"
            "- fit only on judged documents: X[judged], y[judged], with judged = "
            "~numpy.isnan(numpy.asarray(y, dtype=float));\n"
            "- fill y, such as numpy.nan_to_num(y), which takes unjudged documents as irrelevant.\n"
            "Metrics take NaN with the option unjudged, such as 'ndcg@10(unjudged=drop)'."
        )


def _count_held_out(fraction: float, n_queries: int) -> int:
    is_number = isinstance(fraction, Real) and not isinstance(fraction, bool | np.bool_)
    if is_number and isinstance(fraction, Integral) and fraction > 0:
        return int(fraction)
    if not is_number or isinstance(fraction, Integral) or not 0 < fraction < 1:
        raise ValueError(
            "validation_fraction must be a fraction of the queries between 0 and 1, both "
            f"excluded, or a positive number of queries; got {fraction!r}."
        )
    return math.ceil(fraction * n_queries)


def _renumber_pairs(params: dict[str, Any], rows: Array, n_rows: int) -> dict[str, Any]:
    """CatBoost's `pairs` of rows of which both are chosen, and their `pairs_weight`."""
    names = [name for name in params if name.rpartition("__")[2] == "pairs"]
    position = np.full(n_rows if names else 0, -1)
    renumbered: dict[str, Any] = {}
    for name in names:
        position[rows] = np.arange(len(rows))
        pairs, weight = position[np.asarray(params[name])], f"{name}_weight"
        is_chosen = (pairs >= 0).all(axis=1)
        renumbered[name] = pairs[is_chosen]
        if weight in params:
            renumbered[weight] = np.asarray(params[weight])[is_chosen]
    return renumbered


def take_evaluation_sets(
    params: dict[str, Any],
    prefix: str,
    read: ReadSet,
    *,
    start_param: str,
    needs_ids: bool,
    caller: str,
) -> list[TrainingData]:
    """Remove the evaluation sets from the parameters of `fit`, and read them.

    Parameters
    ----------
    params : dict
        Parameters of `fit`; those of evaluation sets are removed. A Pool of CatBoost stays.
    prefix : str
        What the names of the parameters start with.
    read : callable
        ``read(X, y, ids, weights, params)`` finds the ids if none are given, drops their column
        and makes the rows of each query contiguous.
    start_param : str
        The parameter of `fit` for the scores to start from, under which those of a set are read.
    needs_ids : bool
        Whether query ids are required.
    caller : str
        The method that is named in errors.
    """
    # a pipeline has no such parameter, so that one without the name of a step is for the last step
    for name in OF_SETS if prefix else ():
        if name in params and prefix + name not in params:
            params[prefix + name] = params.pop(name)
    pairs = _pairs(params, prefix)
    columns = {
        name: _one_per_set(name, params.pop(prefix + name, None), len(pairs))
        for name in (IDS, SIZES, *WEIGHTS, *STARTS)
        if pairs
    }
    sets = []
    for i, (X, y) in enumerate(pairs):
        ids, sizes = columns[IDS][i], columns[SIZES][i]
        if ids is None and sizes is not None:
            ids = ids_of_argument(f"{SIZES}[{i}]", sizes, num_samples(X))
        weights, start = (_first(columns[name][i] for name in names) for names in (WEIGHTS, STARTS))
        data = read(X, y, ids, weights, {} if start is None else {prefix + start_param: start})
        if needs_ids and data.codes is None:
            raise no_groups_error(f"evaluation set {i} of {caller}", fix=f"pass {IDS}=[ids].")
        sets.append(data)
    return sets


def ids_of_argument(name: str, sizes: Any, n_rows: int) -> Array:
    """Query ids from an argument with the sizes of the queries."""
    problem = (
        f"{name} holds the sizes of the queries, which must be integers that sum up to the "
        f"{n_rows} rows. A search or cross-validation cannot select sizes with the rows: "
        "pass one query id per row instead, groups=np.repeat(np.arange(len(sizes)), sizes)."
    )
    return ids_from_sizes(sizes, n_rows, problem)


def _pairs(params: dict[str, Any], prefix: str) -> list[tuple[Any, Any]]:
    """The sets as pairs of features and labels, from either pair of parameters."""
    X, y = (_as_list(params.pop(f"{prefix}eval_{part}", None)) for part in "Xy")
    if len(X) != len(y):
        raise ValueError(f"eval_X and eval_y must have equal lengths; got {len(X)} and {len(y)}.")
    given = params.get(f"{prefix}eval_set")
    if given is None or _is_pool(given):
        return list(zip(X, y, strict=True))
    del params[f"{prefix}eval_set"]
    is_one_pair = isinstance(given, tuple) and len(given) == 2 and not _is_pair(given[0])
    pairs = [given] if is_one_pair else list(given)
    if not all(map(_is_pair, pairs)):
        raise ValueError(
            "eval_set must be a list of pairs, [(X_valid, y_valid)]; got "
            f"{[type(pair).__name__ for pair in pairs]}."
        )
    return [*zip(X, y, strict=True), *pairs]


def _is_pair(value: Any) -> bool:
    return isinstance(value, tuple | list) and len(value) == 2 and np.ndim(value[0]) != 0


def _is_pool(value: Any) -> bool:
    """Whether the sets are CatBoost's own objects, which hold query ids."""
    values = value if isinstance(value, list | tuple) else [value]
    return any(type(value).__name__ == "Pool" for value in values)


def _as_list(value: Any) -> list[Any]:
    if value is None:
        return []
    return list(value) if isinstance(value, list | tuple) else [value]


def _one_per_set(name: str, values: Any, n_sets: int) -> Sequence[Any]:
    if values is None:
        return [None] * n_sets
    if not isinstance(values, list | tuple) or len(values) != n_sets:
        given = type(values).__name__
        if isinstance(values, list | tuple):
            given = f"{given} of {counted(len(values), 'entry')}"
        raise ValueError(
            f"{name} must be a list with one entry per evaluation set; got a {given} for "
            f"{counted(n_sets, 'set')}."
        )
    return values


def _first(values: Any) -> Any:
    return next((value for value in values if value is not None), None)


def take_ids(
    params: dict[str, Any], ranker: Any, prefix: str, group_param: str | None, X: Any, ids: Any
) -> Any:
    """The ids, also those that are given under the ranker's own name, which is removed."""
    names = inspect.signature(ranker.fit).parameters.keys() & {
        "group",
        "group_id",
        "qid",
        group_param,
    }
    # groups and qid are parameters of QueryRanker.fit, unless they are those of a step
    for name in sorted(names - (set() if prefix else {"groups", "qid"})):
        given = params.pop(prefix + name, None)
        if given is not None and ids is not None:
            raise ValueError(
                f"query ids are given twice, as {prefix + name}= and as groups, qid, a column or "
                "an index level. Leave out the first."
            )
        if given is not None:
            ids = ids_of_argument(name, given, num_samples(X)) if name == "group" else given
    return ids


def take_weights(params: dict[str, Any], prefix: str, weights: Any) -> Any:
    """The weights, also those under a name of a booster, for the metric of held-out queries."""
    for name in ("sample_weight", "group_weight"):
        given = params.pop(prefix + name, None)
        if given is not None and weights is not None:
            raise ValueError(
                f"weights are given twice, as {prefix + name}= and by another name. Pass "
                "sample_weight only."
            )
        weights = weights if given is None else given
    return weights


def check_no_positions(params: dict[str, Any], dropped: Sequence[Any]) -> None:
    """Refuse positions of features, which are others before and after columns are dropped."""
    for name, value in params.items() if dropped else ():
        if name.rpartition("__")[2] in OF_POSITIONS and _holds_integers(value):
            raise ValueError(
                f"{name} names features by position, but QueryRanker drops {dropped[0]!r} from X: "
                "name the columns, or make the ids an index level, X.set_index('qid')."
            )


def _holds_integers(value: Any) -> bool:
    if isinstance(value, list | tuple | dict | range | np.ndarray):
        return any(map(_holds_integers, value))
    return is_integer(value) or isinstance(value, slice)
