"""Training data and evaluation sets: features, labels and all that is aligned with their rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils import column_or_1d, indexable

from .._columns import as_numbers, column_names, refuse_masked
from .._sklearn_compat import check_method_params, num_samples, safe_indexing
from .._typing import Array, IdSource, RandomState
from .._validation import check_count, is_integer
from ..model_selection import QueryShuffleSplit
from ..query_ids import group_rows, vary_within_queries
from ..query_ids.lookup import QID, level_names
from ..query_ids.read import which_missing
from ..scoring.scorer import listed

# parameters of LightGBM and XGBoost with one entry per set: query ids or sizes, weights, scores to
# start from; QueryRanker takes them for every booster
WEIGHTS = ("eval_sample_weight", "sample_weight_eval_set")
STARTS = ("eval_init_score", "base_margin_eval_set")
OF_SETS = ("eval_set", "eval_X", "eval_y", "eval_qid", "eval_group", *WEIGHTS, *STARTS)
# parameters that name features by their positions, or have one entry for each feature in order
OF_POSITIONS = {
    *("categorical_feature", "categorical_features", "cat_features", "text_features"),
    *("embedding_features", "ignored_features", "interaction_cst", "interaction_constraints"),
    *("monotone_constraints", "monotonic_cst", "feature_weights", "feature_contri", "transformers"),
}


@dataclass(frozen=True)
class DroppedColumns:
    """Columns of X that are no features: names in a frame, positions in an array.

    Parameters
    ----------
    columns : tuple
        Names or positions.
    n_columns : int or None
        The number of columns of an array of which some are dropped.
    for_booster : bool
        Whether the others are for a booster, and not for a model that reads any form.
    ids : tuple of str
        Names of query ids, which later frames may have as columns if that of the fit did not.
    """

    columns: tuple[Any, ...] = ()
    n_columns: int | None = None
    for_booster: bool = False
    ids: tuple[str, ...] = ()

    @classmethod
    def find(cls, X: Any, source: IdSource, dropped: Any = None, booster: Any = None) -> Self:
        """The columns that hold the query ids, and those of `drop_columns`."""
        names, others, for_booster = column_names(X), listed(dropped), booster is not None
        n_columns = None if names or not others else np.shape(X)[1]
        known = names if names else range(-(n_columns or 0), n_columns or 0)
        for column in others:
            is_flag = isinstance(column, bool | np.bool_ | float)
            if is_flag or (column not in known and column not in level_names(X)):
                raise ValueError(f"drop_columns={column!r} is not a column or level of X.")
        ids = (source or QID,) if source is None or isinstance(source, str) else tuple(source)
        if not names:
            return cls(tuple(column % n_columns for column in others), n_columns, for_booster, ids)
        return cls(tuple(n for n in names if n in (*ids, *others)), None, for_booster, ids)

    def features_of(self, X: Any) -> Any:
        """`X` without these columns, if it has some, in a form that the estimator takes."""
        names = column_names(X)
        present = [name for name in names if name in (*self.columns, *self.ids)]
        if present:
            X = X.drop(columns=present) if hasattr(X, "iloc") else X.drop(present)
        elif not names and self.columns and np.shape(X)[1:] == (self.n_columns,):
            X = X.tocsr() if hasattr(X, "tocsr") else np.asarray(X)
            X = X[:, [i for i in range(self.n_columns or 0) if i not in self.columns]]
        return read_features(X) if self.for_booster else X


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
    """

    X: Any
    y: Any
    codes: Array | None
    weights: Array | None
    params: dict[str, Any]
    ids: Array | None = None

    @classmethod
    def read(
        cls,
        X: Any,
        y: Any,
        ids: Any,
        weights: Any,
        params: dict[str, Any],
        dropped: DroppedColumns,
    ) -> Self:
        """Check the data, and number the queries in the order of their first rows."""
        X = dropped.features_of(X)
        if y is None:
            raise ValueError("QueryRanker requires y to be passed, but the target y is None.")
        y = np.asarray(y) if hasattr(y, "to_pylist") else y  # boosters refuse columns of pyarrow
        if weights is not None and num_samples(weights) != num_samples(X):
            raise ValueError(
                f"sample_weight must hold one weight per document: got {num_samples(weights)} for "
                f"{num_samples(X)} documents. Give each the weight of its query: "
                "np.repeat(weights, sizes) if queries are contiguous."
            )
        check_byte_order("y", y)
        refuse_masked(y, "y")
        y = column_or_1d(y, warn=True) if np.ndim(np.asarray(y)) > 1 else y
        X, y, weights = indexable(X, y, weights)
        if ids is not None and num_samples(X) == 0:
            raise ValueError("X has no rows; a fit needs the documents of at least one query.")
        unjudged = which_missing(np.asarray(y).ravel())
        if unjudged.any():
            raise ValueError(
                f"y contains NaN (first at row {int(unjudged.argmax())}), documents that nobody "
                "judged: fit on X[judged] and y[judged] with judged = "
                "~numpy.isnan(numpy.asarray(y, dtype=float)), or on numpy.nan_to_num(y)."
            )
        if weights is not None:
            # CatBoost takes no integers, and XGBoost no other byte order
            weights = column_or_1d(as_numbers(weights, "sample_weight").astype(np.float64))
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
        return self.of_rows(np.argsort(self.codes, kind="stable"))

    def of_rows(self, rows: Array) -> Self:
        """The chosen rows, in that order, with the `fit` parameters aligned with them."""
        return replace(
            self,
            X=safe_indexing(self.X, rows),
            y=safe_indexing(self.y, rows),
            codes=None if self.codes is None else self.codes[rows],
            weights=None if self.weights is None else self.weights[rows],
            params=check_method_params(self.X, self.params, indices=rows),
        )

    def for_step(self, prefix: str) -> Self:
        """With the parameters of one step of a pipeline, under their names in its `fit`."""
        given = {k.removeprefix(prefix): v for k, v in self.params.items() if k.startswith(prefix)}
        return replace(self, params=given)

    def fit_arguments(self, group_param: str | None, prefix: str = "") -> dict[str, Any]:
        """All arguments of `fit` except X and y: the given ones, query ids or sizes, weights.

        LightGBM takes sizes in `group`, XGBoost one weight per query beside `qid`, and CatBoost
        that weight for each row beside `group_id`.
        """
        weights = self.query_weights if group_param in ("qid", "group_id") else self.weights
        given: dict[str, Any] = {"sample_weight": weights}
        if group_param == "group_id":
            given = {"group_weight": self.weights}
        if group_param is not None:
            given[group_param] = self.sizes if group_param == "group" else self.codes
        return self.params | {prefix + name: v for name, v in given.items() if v is not None}

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
        if vary_within_queries(self.weights, self.codes):
            raise ValueError("this ranker takes one weight per query; sample_weight varies.")
        sizes = self.sizes
        return np.asarray(self.weights[np.cumsum(sizes) - sizes])

    def subsample_queries(self, max_queries: int | None, random_state: RandomState) -> Self:
        """A random choice of at most `max_queries` queries; None means all.

        With the same seed, a larger choice contains a smaller one.
        """
        if max_queries is None or check_count("max_queries", max_queries, 1) >= len(self.sizes):
            return self
        splits = QueryShuffleSplit(1, train_size=max_queries, random_state=random_state)
        ((chosen, _),) = splits.split(self.X, qid=self.codes)
        return self.of_rows(chosen)

    def hold_out(self, fraction: float, random_state: RandomState) -> tuple[Self, Self]:
        """Queries to train on, and held-out queries whose labels are not all equal."""
        splits = QueryShuffleSplit(
            1, test_size=fraction, random_state=random_state, skip_constant_queries=True
        )
        try:
            ((train, held_out),) = splits.split(self.X, self.y, qid=self.codes)
        except ValueError as error:
            raise ValueError(f"validation_fraction={fraction!r}: {error}") from error
        return self.of_rows(train), self.of_rows(held_out)


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


def read_features(X: Any) -> Any:
    """Features in a form that every booster reads.

    Boosters crash on columns of polars and pyarrow that are no numbers, or misread them, so that
    such a frame is passed on as one of pandas.
    """
    check_byte_order("X", X)
    if sparse.issparse(X):
        return sparse.csr_matrix(X)  # type: ignore[call-overload]
    if np.ndim(X) == 1 and not hasattr(X, "columns"):
        raise ValueError(
            "Expected 2D array, got 1D array instead: X must have one row per document. Reshape "
            "your data: of one document, pass X[[i]] or df.iloc[[i]] instead of X[i] or df.iloc[i]."
        )
    if isinstance(X, list | tuple):
        return np.asarray(X)
    if hasattr(X, "to_pylist"):  # pyarrow, whose metadata would make columns an index
        return X.to_pandas(ignore_metadata=True)
    if not hasattr(X, "columns") or hasattr(X, "iloc"):
        return X
    import narwhals

    frame = narwhals.from_native(X)
    types = frame.schema.values()
    are_numbers = all(of.is_numeric() or of == narwhals.Boolean for of in types)
    return X if are_numbers else frame.to_pandas()


def take_evaluation_sets(
    params: dict[str, Any], prefix: str, start_param: str
) -> list[tuple[Any, ...]]:
    """Remove the evaluation sets from the parameters of `fit`.

    Parameters
    ----------
    params : dict
        Parameters of `fit`; those of evaluation sets are removed.
    prefix : str
        What the names of the parameters of the last step of a pipeline start with. As a pipeline
        has no such parameter, one without the name of a step is for the last step.

    Returns
    -------
    list of tuple (X, y, ids, weights, start)
        Features, labels, query ids and weights or None, and scores to start from by `start_param`.
    """
    given = {
        name: params.pop(of_step if of_step in params else name, None)
        for name, of_step in ((name, prefix + name) for name in OF_SETS)
    }
    pairs = _pairs_to_watch(given["eval_set"], given["eval_X"], given["eval_y"])

    def per_set(*names: str) -> Sequence[Any]:
        name = next((name for name in names if given[name] is not None), None)
        if name is None:
            return [None] * len(pairs)
        values: Any = given[name]
        if not isinstance(values, list | tuple) or len(values) != len(pairs):
            raise ValueError(f"{name} must be a list of one entry per set; there are {len(pairs)}.")
        return values

    ids = per_set("eval_qid")
    if given["eval_qid"] is None and given["eval_group"] is not None:
        problem = "eval_group must hold the sizes of queries of each set, which sum up to its rows."
        sizes = zip(per_set("eval_group"), pairs, strict=True)
        ids = [ids_from_sizes(of_set, len(y), problem) for of_set, (_, y) in sizes]
    starts = [{} if one is None else {start_param: one} for one in per_set(*STARTS)]
    columns = ids, per_set(*WEIGHTS), starts
    return [(*pair, *others) for pair, *others in zip(pairs, *columns, strict=True)]


def _pairs_to_watch(given: Any, X: Any, y: Any) -> list[tuple[Any, Any]]:
    """The sets as pairs of features and labels, from either pair of parameters."""
    X, y = (_as_list(part) for part in (X, y))
    if len(X) != len(y):
        raise ValueError(f"eval_X and eval_y must have equal lengths; got {len(X)} and {len(y)}.")
    is_one_pair = isinstance(given, tuple) and len(given) == 2 and not _is_pair(given[0])
    pairs = [given] if is_one_pair else given or []
    if not isinstance(pairs, list | tuple) or not all(map(_is_pair, pairs)):
        raise ValueError(
            f"eval_set must be a list of pairs, [(X_valid, y_valid)]; got {given!r:.60}."
        )
    return [*zip(X, y, strict=True), *pairs]


def _as_list(value: Any) -> list[Any]:
    if value is None:
        return []
    return list(value) if isinstance(value, list | tuple) else [value]


def _is_pair(value: Any) -> bool:
    return isinstance(value, tuple | list) and len(value) == 2 and np.ndim(value[0]) != 0


def check_names(params: dict[str, Any], prefix: str, group_param: str | None) -> None:
    """Refuse query ids and weights under the names that rankers have for them."""
    names = {"group", "group_id", "group_weight", "sample_weight", "qid", group_param}
    for name in sorted({prefix + name for name in names if name} & params.keys()):
        raise TypeError(
            "QueryRanker.fit takes ids as groups= and weights as sample_weight=, one for each row; "
            f"got {name}=. Make ids of sizes by groups=np.repeat(np.arange(len(sizes)), sizes)."
        )


def check_no_positions(params: dict[str, Any], dropped: Sequence[Any]) -> None:
    """Refuse numbers of rows, and of features beside a column that is dropped."""
    if any(n.rpartition("__")[2] == "pairs" and v is not None for n, v in params.items()):
        raise ValueError("pairs number rows, which QueryRanker reorders: leave pairs out.")
    for name, value in params.items() if dropped else ():
        if name.rpartition("__")[2] in OF_POSITIONS and _holds_positions(value):
            raise ValueError(
                f"{name} names features by position, but QueryRanker drops {dropped[0]!r} from X: "
                "name the columns, or make the ids an index level, X.set_index('qid')."
            )


def _holds_positions(value: Any) -> bool:
    if isinstance(value, list | tuple | dict | range | np.ndarray):
        return any(map(_holds_positions, value))
    return is_integer(value) or isinstance(value, slice)
