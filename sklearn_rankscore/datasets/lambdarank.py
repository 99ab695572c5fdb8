"""A real data set: the example of LightGBM's ranking objective."""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from sklearn.utils import Bunch

from .._typing import Array
from .._validation import check_choice, check_flag
from .frames import with_index
from .letor import load_letor

if TYPE_CHECKING:
    import pandas as pd

# the parts that LightGBM trains and evaluates on
PARTS = {"train": ("train",), "test": ("test",), "all": ("train", "test")}


@overload
def load_lambdarank(
    *,
    return_X_y: Literal[False] = ...,
    as_frame: bool = ...,
    subset: Literal["all", "train", "test"] = ...,
) -> Bunch: ...
@overload
def load_lambdarank(
    *,
    return_X_y: Literal[True],
    as_frame: Literal[False] = ...,
    subset: Literal["all", "train", "test"] = ...,
) -> tuple[Array, Array, Array]: ...
@overload
def load_lambdarank(
    *,
    return_X_y: Literal[True],
    as_frame: Literal[True],
    subset: Literal["all", "train", "test"] = ...,
) -> tuple[pd.DataFrame, pd.Series]: ...
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
    X, y, groups = _read(PARTS[subset])
    names = [f"feature_{number}" for number in range(1, X.shape[1] + 1)]
    frame = None
    data: Any = X
    target: Any = y
    if as_frame:
        data, target = with_index(X, y, groups, names)
        frame = data.assign(**{target.name: target})
    if return_X_y:
        return (data, target) if as_frame else (data, target, groups)
    return Bunch(
        data=data,
        target=target,
        groups=groups,
        frame=frame,
        feature_names=names,
        DESCR=_folder().joinpath("lambdarank.md").read_text("utf-8"),
    )


def _folder() -> Any:
    return resources.files("sklearn_rankscore.datasets").joinpath("data")


def _read(parts: tuple[str, ...]) -> tuple[Array, Array, Array]:
    """Features, labels and query ids of the parts, one below the other."""
    tables = []
    for part in parts:
        with resources.as_file(_folder().joinpath(f"lambdarank_{part}.txt.bz2")) as path:
            tables.append(load_letor(path, n_features=300, zero_based=False))
    X, y, groups = (np.concatenate(columns) for columns in zip(*tables, strict=True))
    return X, y, groups
