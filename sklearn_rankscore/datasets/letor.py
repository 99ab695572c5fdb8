"""Readers of learning-to-rank files: LETOR, MSLR, Yahoo, Istella, LightGBM, XGBoost.

scikit-learn's `load_svmlight_files` reads the features. Its `query_id=True` takes integer ids only,
and its time grows with the square of the number of lines.
"""

from __future__ import annotations

import os
from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence
from importlib import resources
from io import BytesIO
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import DTypeLike
from sklearn.datasets import load_svmlight_files
from sklearn.utils import Bunch

from .._columns import LARGEST_EXACT_INTEGER
from .._typing import Array
from .._validation import check_choice, check_count, check_flag, installed
from ..io.text import opened

PathLike: TypeAlias = str | os.PathLike[str]
RepeatedFeatures: TypeAlias = Literal["error", "first", "last"]

# the largest number of a feature that scikit-learn reads
LARGEST_FEATURE = 2**31 - 1
# the files of query sizes that LightGBM and XGBoost expect beside the data
SIZE_FILES = (".query", ".group")
# the parts that LightGBM trains and evaluates on
PARTS = {"train": ("train",), "test": ("test",), "all": ("train", "test")}


def load_letor(
    path: PathLike | Sequence[PathLike],
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
    over all files, from 0.

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
        Type of the features, float32 or float64.

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
        If a file is empty, has no query ids or a malformed line, if it has more than `n_features`
        features, if a line repeats a feature, or if `dtype` is another type.

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
    if np.dtype(dtype) not in (np.float32, np.float64):
        raise ValueError(f"dtype must be float32 or float64; got {dtype!r}. Convert the result.")
    is_one = isinstance(path, str | os.PathLike)
    given: Any = [path] if is_one else path
    paths = [Path(one) for one in given]
    if not paths:
        raise ValueError("path must be a file, or a list of at least one; got none.")
    ids = _ids_of_files(paths)
    exact = np.float32 if np.dtype(dtype) == np.float32 else np.float64
    parts = _load(paths, exact, repeated_features)
    has_zero = any(X.indices.size and X.indices.min() == 0 for X in parts[::2])
    if has_zero and not zero_based:
        raise ValueError("A feature has the number 0, but zero_based=False.")
    first = int(not (has_zero or zero_based is True))
    n_columns = parts[0].shape[1] - first
    width = n_columns if n_features is None else check_count("n_features", n_features, 1)
    if width < n_columns:
        raise ValueError(f"n_features={n_features}, but there are {n_columns} features.")
    names = [f"feature_{first + column}" for column in range(width)]
    results: list[Any] = []
    for sparse, y, groups in zip(parts[::2], parts[1::2], ids, strict=True):
        features = sparse[:, first:]
        features.resize(len(y), width)
        X = features.toarray()
        are_whole = (np.abs(y) < LARGEST_EXACT_INTEGER) & (y == np.rint(y))
        y = y.astype(np.int64) if are_whole.all() else y
        results.append(_with_index(X, y, groups, names) if as_frame else (X, y, groups))
    return results[0] if is_one else results


def load_lambdarank(
    *,
    return_X_y: bool = False,
    as_frame: bool = False,
    subset: Literal["all", "train", "test"] = "all",
) -> Any:
    """Load the lambdarank data set: judged documents of web search queries.

    This is LightGBM's example data set for learning to rank, real data under the MIT license. It is
    included in the package and requires no download. Because results on so few queries vary, hold
    out queries and report confidence intervals.

    ============  =====================
    queries       251 (201 and 50)
    documents     3773 (3005 and 768)
    features      300, from 0 to 1
    labels        0 (irrelevant) to 4
    ============  =====================

    Parameters
    ----------
    return_X_y : bool, default=False
        Whether to return the features and labels instead of a Bunch.
    as_frame : bool, default=False
        Whether the features are a DataFrame and the labels a Series (needs pandas). Their index
        level "qid" holds the query ids; scorers, splitters and rankers of this package find them
        there.
    subset : {"all", "train", "test"}, default="all"
        The part that LightGBM trains on, the part it evaluates on, or both, in this order.

    Returns
    -------
    data : Bunch
        With the attributes

        data : ndarray of shape (n_documents, 300), or DataFrame
            Features.
        target : ndarray of int of shape (n_documents,), or Series
            Labels, from 0 to 4.
        groups : ndarray of int of shape (n_documents,)
            Query ids; the documents of a query are adjacent.
        frame : DataFrame or None
            With `as_frame`, features and labels in one DataFrame.
        feature_names : list of str
            Names of the features.
        DESCR : str
            Description and license.
    (X, y, groups) : tuple, with `return_X_y`
        Features, labels and query ids.
    (X, y) : tuple, with `return_X_y` and `as_frame`
        Features and labels, with the query ids in the index.

    Raises
    ------
    ValueError
        If `subset` is none of the three.
    TypeError
        If `return_X_y` or `as_frame` is neither True nor False.

    See Also
    --------
    load_letor : Files of the same format.
    make_ranking : Synthetic data of any size.

    Examples
    --------
    >>> from sklearn_rankscore import load_lambdarank
    >>> X, y, groups = load_lambdarank(return_X_y=True)
    >>> X.shape, len(set(groups.tolist()))
    ((3773, 300), 251)
    """
    check_flag("return_X_y", return_X_y)
    check_flag("as_frame", as_frame)
    check_choice("subset", subset, tuple(PARTS))
    folder: Any = resources.files("sklearn_rankscore.datasets").joinpath("data")
    tables = []
    for part in PARTS[subset]:
        with resources.as_file(folder.joinpath(f"lambdarank_{part}.txt.bz2")) as path:
            tables.append(load_letor(path, n_features=300, zero_based=False))
    X, y, groups = (np.concatenate(columns) for columns in zip(*tables, strict=True))
    names = [f"feature_{number}" for number in range(1, X.shape[1] + 1)]
    data, target, frame = X, y, None
    if as_frame:
        data, target = _with_index(X, y, groups, names)
        frame = data.assign(**{target.name: target})
    if return_X_y:
        return (data, target) if as_frame else (data, target, groups)
    return Bunch(
        data=data,
        target=target,
        groups=groups,
        frame=frame,
        feature_names=names,
        DESCR=folder.joinpath("lambdarank.md").read_text("utf-8"),
    )


def _with_index(X: Array, y: Array, groups: Array, feature_names: list[str]) -> tuple[Any, Any]:
    """Features and labels whose index, named "qid", holds the query ids."""
    pd = installed("pandas", "as_frame=True")
    index = pd.Index(groups, name="qid")
    return pd.DataFrame(X, index, feature_names), pd.Series(y, index, name="relevance")


def _ids_of_files(paths: list[Path]) -> list[Array]:
    """The query id of each line of each file: integers, or text if not all are."""
    parts, n_numbered = [], 0
    for path in paths:
        lines = [(number, of[1] if len(of) > 1 else b"") for number, of in _lines(path, 2)]
        if not lines:
            raise ValueError(f"{path} is empty: it has no line of a document.")
        if any(field.startswith(b"qid:") for _, field in lines):
            parts.append(np.array([_written_id(path, *line) for line in lines]))
        else:
            sizes = _sizes_beside(path, len(lines))
            parts.append(np.repeat(np.arange(len(sizes)) + n_numbered, sizes))
            n_numbered += len(sizes)
    if len({part.dtype.kind for part in parts}) > 1:
        raise ValueError("All files must have query ids in their lines, or none of them.")
    ids = np.concatenate(parts)  # so that a query of two files has one id
    try:
        integers = ids.astype(np.int64)
        ids = integers if (integers.astype(str) == ids.astype(str)).all() else ids
    except (ValueError, OverflowError):
        pass
    return np.split(ids, np.cumsum(list(map(len, parts)))[:-1])


def _written_id(path: Path, number: int, field: bytes) -> str:
    qid, _, text = field.decode(errors="replace").partition(":")
    if qid != "qid" or not text or "\ufffd" in text:
        raise ValueError(f"{path}, line {number}: wrong qid:ID {field!r} after the label.")
    return text


def _sizes_beside(path: Path, n_lines: int) -> Array:
    file = next((f for end in SIZE_FILES if (f := Path(f"{path}{end}")).exists()), None)
    if file is None:
        raise ValueError(
            f"{path} has no query ids: its lines have no qid:ID after the label, and there is no "
            f"file of query sizes {path.name}.query or {path.name}.group beside it."
        )
    try:
        sizes = np.loadtxt(file, dtype=np.int64, ndmin=1)
        is_right = sizes.ndim == 1 and sizes.min(initial=0) >= 0 and sizes.sum() == n_lines
    except ValueError:
        is_right = False
    if not is_right:
        raise ValueError(
            f"{file} must hold the size of one query per line, integers that add up to the "
            f"{n_lines} lines of {path}."
        )
    return np.asarray(sizes)


def _lines(path: Path, fields: int = -1) -> Iterator[tuple[int, list[bytes]]]:
    """Number and fields of each line that is not blank or a comment."""
    with opened(path, str(path)) as file:
        for number, line in enumerate(file, start=1):
            line = line.removeprefix(BOM_UTF8) if number == 1 else line
            parts = line.partition(b"#")[0].split(None, fields)
            if parts:
                yield number, parts


def _load(paths: list[Path], dtype: type[np.floating], repeated: RepeatedFeatures) -> list[Any]:
    """The matrix and the labels of each file, one after the other."""
    try:
        parts = list(load_svmlight_files(paths, dtype=dtype, zero_based=True))
        if not any(np.isinf(getattr(values, "data", values)).any() for values in parts):
            return parts
    except (ValueError, OverflowError):
        pass
    # it reads no features in another order and no byte order mark, and names no wrong line
    rewritten = [_rewritten(path, dtype, repeated) for path in paths]
    return list(load_svmlight_files(rewritten, dtype=dtype, zero_based=True))


def _rewritten(path: Path, dtype: type[np.floating], repeated: RepeatedFeatures) -> BytesIO:
    """The file without query ids, and with each line's features unique and in ascending order."""
    result = BytesIO()
    for number, (label, *pairs) in _lines(path):
        features: dict[int, bytes] = {}
        for field in (label, *pairs[pairs[:1] != [] and pairs[0].startswith(b"qid:") :]):
            name, _, value = (b"0", b"", label) if field is label else field.partition(b":")
            try:
                with np.errstate(over="ignore"):
                    is_right = 0 <= int(name) <= LARGEST_FEATURE and not np.isinf(dtype(value))
            except ValueError:
                is_right = False
            if not is_right:
                raise ValueError(
                    f"{path}, line {number}: got {field.decode(errors='replace')!r}, but a line "
                    "must be 'label qid:ID feature:value ...' with finite numbers of the type "
                    f"{dtype.__name__}, the feature from 0 to {LARGEST_FEATURE}."
                )
            if field is label:
                continue
            if int(name) in features and repeated == "error":
                raise ValueError(
                    f"{path}, line {number}: feature {int(name)} occurs more than once. Choose one "
                    "of the values with repeated_features='first' or 'last'."
                )
            if int(name) not in features or repeated == "last":
                features[int(name)] = value
        result.write(label)
        result.writelines(b" %d:%b" % item for item in sorted(features.items()))
        result.write(b"\n")
    result.seek(0)
    return result
