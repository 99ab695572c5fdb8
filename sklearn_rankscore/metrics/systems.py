"""Several systems that rank the same documents."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np

from ..query_ids import group_rows
from ..query_ids.lookup import check_same_index, check_same_order, index_ids

T = TypeVar("T")


def by_system(
    compute: Callable[[Any, Any], T],
    y_true: Any,
    y_score: Mapping[str, Any],
    groups: Any,
    sample_weight: Any = None,
) -> dict[str, T]:
    """Compute something for the scores of each system, ``compute(scores, groups)``.

    All systems must have scored the documents of `y_true` in the same rows; arrays that are known
    to have other rows are refused. The rows are grouped by query only once, and by the same ids for
    all systems.
    """
    check_systems(y_true, y_score)
    others = {"groups": groups, "sample_weight": sample_weight}
    for scores in y_score.values():
        check_same_order(y_true=y_true, y_score=scores, **others)
    if groups is None:
        ids = index_ids(y_true=y_true, **{f"y_score[{n!r}]": s for n, s in y_score.items()})
        # each row of two-dimensional scores is a query
        if ids is not None and all(np.ndim(scores) == 1 for scores in y_score.values()):
            groups = ids
    if groups is not None and not isinstance(groups, str) and hasattr(y_true, "__len__"):
        groups = group_rows(groups, len(y_true))
    return {name: compute(scores, groups) for name, scores in y_score.items()}


def check_systems(y_true: Any, y_score: Mapping[str, Any], name: str = "y_true") -> None:
    """Refuse no systems, one without a name, and documents in other rows than `y_true`.

    `name` is that of `y_true` for the user.
    """
    if not y_score:
        raise ValueError("y_score must hold the scores of at least one model; got an empty dict.")
    if "" in y_score:
        raise ValueError(
            f"y_score has a model with the name ''; the names are {list(y_score)!r:.80}. Give it "
            "another name."
        )
    check_same_index(y_true, y_score, name)
