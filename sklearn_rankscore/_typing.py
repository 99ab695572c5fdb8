"""Types of arrays, and the values that options take."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Literal, TypeAlias, TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import sparray, spmatrix

Array: TypeAlias = NDArray[Any]
ArrayFunction: TypeAlias = Callable[[Array], Array]

# features: an array, a frame of any library, or a sparse matrix
MatrixLike: TypeAlias = ArrayLike | sparray | spmatrix
QueryIds: TypeAlias = ArrayLike | Sequence[Hashable]
# where query ids are found: the name of a column or index level, or several names
IdSource: TypeAlias = str | Sequence[str] | None
RandomState: TypeAlias = int | np.random.RandomState | None
Seed: TypeAlias = RandomState | np.random.Generator

Gain: TypeAlias = (
    Literal["linear", "exponential", "binary"]
    | Sequence[float]
    | Mapping[int, float]
    | Array
    | ArrayFunction
)
Discount: TypeAlias = Literal["log2", "log2_after_first", "reciprocal"] | ArrayFunction | None
Ties: TypeAlias = Literal["average", "stable", "reversed", "optimistic", "pessimistic"]
OrderTies: TypeAlias = Literal["average", "stable", "reversed"]
UnjudgedDocuments: TypeAlias = Literal["irrelevant", "drop", "nan"]
Unjudged: TypeAlias = Literal["error", "irrelevant", "drop"]
Average: TypeAlias = Literal["macro", "micro"]
Library: TypeAlias = Literal[
    "sklearn",
    "lightgbm",
    "xgboost",
    "catboost",
    "trec_eval",
    "ranx",
    "torchmetrics",
    "rax",
    "beir",
    "implicit",
    "recommenders",
    "rectools",
    "recbole",
]


class SharedArgs(TypedDict, total=False):
    """Arguments of every metric function except labels and scores."""

    groups: QueryIds | None
    unjudged: Unjudged
    adjusted: bool
    replace_undefined_by: float
    average: Average | None
    sample_weight: ArrayLike | None
    labels: ArrayLike | None
    n_jobs: int | None


class TieArgs(SharedArgs, total=False):
    """Arguments of a metric with tie rules."""

    ties: Ties


class CutoffArgs(TieArgs, total=False):
    """Arguments of a metric with a cut-off."""

    k: int | None


class ClickArgs(TypedDict, total=False):
    """Arguments of a metric that clicks can estimate."""

    propensity: ArrayLike | str | None
    clip: float | None


class GainArgs(CutoffArgs, ClickArgs, total=False):
    """Arguments of DCG and NDCG."""

    gain: Gain
    discount: Discount


class BinaryArgs(TieArgs, total=False):
    """Arguments of a metric of relevant documents without a cut-off."""

    threshold: float


class HitArgs(CutoffArgs, BinaryArgs, total=False):
    """Arguments of a metric of relevant documents within a cut-off."""


class HitsArgs(HitArgs, ClickArgs, total=False):
    """Arguments of hits."""


IntervalMethod: TypeAlias = Literal["auto", "t", "bootstrap"]
SignificanceTest: TypeAlias = Literal["permutation", "t", "wilcoxon"]
DataFrameLibrary: TypeAlias = Literal["pandas", "polars"]
