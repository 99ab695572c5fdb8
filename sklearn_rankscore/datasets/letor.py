"""Reader of learning-to-rank files: LETOR, MSLR, Yahoo, Istella, LightGBM, XGBoost."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload

import numpy as np
from numpy.typing import DTypeLike
from sklearn.datasets import load_svmlight_files

from .._columns import LARGEST_EXACT_INTEGER
from .._typing import Array
from .._validation import check_choice, check_count, check_flag
from .frames import with_index
from .svmlight import (
    RepeatedFeatures,
    as_path,
    check_lines,
    has_byte_order_mark,
    ids_of_files,
    sorted_features,
)

if TYPE_CHECKING:
    import pandas as pd

PathLike: TypeAlias = str | os.PathLike[str]
Arrays: TypeAlias = tuple[Array, Array, Array]


@overload
def load_letor(
    path: PathLike,
    *,
    as_frame: Literal[False] = ...,
    n_features: int | None = ...,
    zero_based: bool | Literal["auto"] = ...,
    repeated_features: RepeatedFeatures = ...,
    dtype: DTypeLike = ...,
) -> Arrays: ...
@overload
def load_letor(
    path: PathLike,
    *,
    as_frame: Literal[True],
    n_features: int | None = ...,
    zero_based: bool | Literal["auto"] = ...,
    repeated_features: RepeatedFeatures = ...,
    dtype: DTypeLike = ...,
) -> tuple[pd.DataFrame, pd.Series]: ...
@overload
def load_letor(
    path: list[Any] | tuple[PathLike, ...],
    *,
    as_frame: bool = ...,
    n_features: int | None = ...,
    zero_based: bool | Literal["auto"] = ...,
    repeated_features: RepeatedFeatures = ...,
    dtype: DTypeLike = ...,
) -> list[Any]: ...
def load_letor(
    path: PathLike | list[Any] | tuple[PathLike, ...],
    *,
    as_frame: bool = False,
    n_features: int | None = None,
    zero_based: bool | Literal["auto"] = "auto",
    repeated_features: RepeatedFeatures = "error",
    dtype: DTypeLike = np.float64,
) -> Any:
    """Load learning-to-rank files in the SVMlight format, with their query ids.

    This is the format of LETOR, MSLR-WEB, Yahoo, Istella and of the examples of LightGBM and
    XGBoost: one document per line, ``label qid:ID feature:value feature:value ... # comment``. If
    the lines have no ``qid:``, the query sizes are read from the file beside it that LightGBM
    (``path.query``) or XGBoost (``path.group``) would read. Queries are then numbered consecutively
    over all files, from 0 or, if some files have integer IDs, from the largest of these plus 1.

    Parameters
    ----------
    path : path-like, or list or tuple of them
        File, or several files whose features are numbered in the same way, such as the parts for
        training and testing. Names may end in ``.gz`` or ``.bz2``.
    as_frame : bool, default=False
        Whether to return a DataFrame and a Series with an index level "qid", where the scorers,
        splitters and rankers of this package find the query ids (needs pandas).
    n_features : int, default=None
        Number of features. By default, the largest number of a feature in any of the files
        determines it.
    zero_based : bool or "auto", default="auto"
        Whether the first feature has the number 0. By default, this is so if a feature 0 occurs in
        one of the files.
    repeated_features : {"error", "first", "last"}, default="error"
        How to treat a line with several values of one feature: raise an error, or use the first or
        the last one.
    dtype : dtype, default=float64
        Type of the features: floats, integers or booleans.

    Returns
    -------
    X : ndarray of shape (n_rows, n_features), or DataFrame
        Features. A feature that a line leaves out is 0. The columns of a DataFrame are named after
        the number in the file: "feature_1", "feature_2", ...
    y : ndarray of shape (n_rows,), or Series
        Labels; integers if all of them are.
    groups : ndarray of shape (n_rows,)
        Query ids; integers, or strings if not all are integers. Not returned with `as_frame`, which
        has them in the index.

        For several files, a list with one such tuple per file is returned.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If a file is empty, has no query ids or a malformed line, if they contradict the file of
        query sizes, if it has more than `n_features` features, if a line repeats a feature, or if
        a feature is not a value of an integer `dtype`.

    See Also
    --------
    load_lambdarank : A small data set of this kind.
    sklearn.datasets.load_svmlight_file : Sparse matrices, without the conversions.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from sklearn_rankscore import load_letor
    >>> lines = ["2 qid:7 1:0.5 2:1", "0 qid:7 2:3 # docid = 12", "1 qid:9 1:0.25"]
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "train.txt")
    ...     size = path.write_text(chr(10).join(lines))
    ...     X, y, groups = load_letor(path)
    >>> X.tolist(), y.tolist(), groups.tolist()
    ([[0.5, 1.0], [0.0, 3.0], [0.25, 0.0]], [2, 0, 1], [7, 7, 9])
    """
    check_flag("as_frame", as_frame)
    check_choice("repeated_features", repeated_features, ("error", "first", "last"))
    if zero_based != "auto":
        check_flag("zero_based", zero_based)
    given: Any = path
    is_one = isinstance(path, str | os.PathLike) or hasattr(path, "read")
    paths = [as_path(p) for p in ([given] if is_one else given)]
    if not paths:
        raise ValueError("path must be a file, or a list of at least one; got none.")
    if np.dtype(dtype).kind not in "fiub":
        raise ValueError(f"dtype must be of floats, integers or booleans; got {dtype!r}.")
    ids = ids_of_files(paths)
    # sparse matrices have few types
    exact = dtype if np.dtype(dtype) in (np.float32, np.float64) else np.float64
    parts = _load(paths, exact, repeated_features)
    if any(np.isinf(values).any() for values in (*(X.data for X in parts[::2]), *parts[1::2])):
        for one in paths:
            check_lines(one)
        raise ValueError(f"a value is beyond the range of {np.dtype(exact).name}.")
    first = _first_feature(parts[::2], zero_based)
    for X in parts[::2]:
        _check_type(X.data, dtype)
    matrices = [_dense(X[:, first:], n_features).astype(dtype, copy=False) for X in parts[::2]]
    results = [
        _result(X, _whole(y), groups, first, as_frame)
        for X, y, groups in zip(matrices, parts[1::2], ids, strict=True)
    ]
    return results[0] if isinstance(path, str | os.PathLike) else results


def _load(paths: list[Path], dtype: DTypeLike, repeated: RepeatedFeatures) -> list[Any]:
    """The matrix and the labels of each file, one after the other."""
    load: Callable[[Any], list[Any]] = partial(load_svmlight_files, dtype=dtype, zero_based=True)
    has_mark = any(has_byte_order_mark(path) for path in paths)
    try:
        try:
            return load(paths)
        except ValueError as error:
            if not has_mark and "sorted and unique" not in str(error):
                raise
            return load([sorted_features(path, repeated) for path in paths])
    except (ValueError, OverflowError):
        for path in paths:
            check_lines(path)
        raise


def _first_feature(matrices: list[Any], zero_based: bool | Literal["auto"]) -> int:
    """Number of the feature in the first column: 0 or 1."""
    has_zero = any(X.indices.size and X.indices.min() == 0 for X in matrices)
    if has_zero and not zero_based:
        raise ValueError("A feature has the number 0, but zero_based=False.")
    return int(not (has_zero or zero_based is True))


def _check_type(values: Array, dtype: DTypeLike) -> None:
    """Refuse integers or booleans as type of other values."""
    if np.dtype(dtype).kind == "f":
        return
    rounded = np.abs(values) >= LARGEST_EXACT_INTEGER
    if rounded.any() and np.dtype(dtype).kind != "b":
        raise ValueError(
            f"the feature value {values[rounded][0]:.16g} may be rounded, because the file is read "
            "as floats, which hold integers up to 2**53. Leave dtype out."
        )
    with np.errstate(invalid="ignore"):
        changed = values.astype(dtype) != values
    if changed.any():
        raise ValueError(
            f"the feature value {values[changed][0]:g} is not of dtype={np.dtype(dtype).name!r}. "
            "Leave dtype out, or pass 'float32'."
        )


def _dense(X: Any, n_features: int | None) -> Array:
    if n_features is not None and X.shape[1] != check_count("n_features", n_features, 1):
        if X.indices.size and X.indices.max() >= n_features:
            raise ValueError(
                f"n_features={n_features}, but there are {X.indices.max() + 1} features."
            )
        X.resize(X.shape[0], n_features)
    return np.asarray(X.toarray())


def _whole(y: Array) -> Array:
    """Labels as integers, if all of them are."""
    whole = bool((np.abs(y) < LARGEST_EXACT_INTEGER).all()) and bool((y == np.rint(y)).all())
    return y.astype(np.int64) if whole else y


def _result(X: Array, y: Array, groups: Array, first: int, as_frame: bool) -> Any:
    if not as_frame:
        return X, y, groups
    names = [f"feature_{first + column}" for column in range(X.shape[1])]
    return with_index(X, y, groups, names)
