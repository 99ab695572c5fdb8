"""Read labels, scores, query ids and weights into `Queries`: the only entry point."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.exceptions import DataConversionWarning
from sklearn.utils import check_consistent_length

from .._columns import as_column, as_numbers, check_range, column_names, ragged_error
from .._typing import Array
from .._validation import stacklevel_of_caller
from ..query_ids import Grouping, group_rows
from ..query_ids.lookup import check_same_order, index_ids
from .threads import number_of_threads, submit

# from this many documents on, checking labels in a second thread pays for waking it
PARALLEL_CHECK = 2**17

# the largest label that is encoded as a grade, and the number of labels that are encoded at once
HIGHEST_GRADE, ENCODED = 62, 2**16

# the value of `groups` that takes all documents as one query
SINGLE_QUERY = "none"
# a longer list without query ids is more likely to be many queries whose ids were forgotten
LONG_LIST = 1000

# what documents that nobody judged count; their label is NaN, or -inf if they are in the pool of
# documents from which those to be judged were drawn
RULES = ("error", "irrelevant", "drop")
# the rule of metrics whose formulas distinguish these documents from irrelevant ones
AS_GIVEN = "as given"


@dataclass(frozen=True)
class Queries:
    """Documents and the queries they belong to.

    Parameters
    ----------
    y_true, y_score : array of shape (n_documents,)
        Labels and scores in input order.
    grouping : Grouping
        Which documents belong to which query.
    label_range : tuple of float
        The lowest and the highest label; the lowest is nan if some documents are unjudged and no
        rule has decided what they count.
    lowest_score : float
        -inf if some document was not retrieved.
    grades : uint8 array of shape (n_documents,) or None
        Labels plus one, if all are small integers.
    weights : array of shape (n_queries,) or None
        Query weights.
    """

    y_true: Array
    y_score: Array
    grouping: Grouping
    label_range: tuple[float, float]
    lowest_score: float
    grades: Array | None = None
    weights: Array | None = None

    def __len__(self) -> int:
        return len(self.grouping)

    def numbered(self) -> Queries:
        """The same documents with row numbers as labels, by which a block finds their weights."""
        return replace(self, y_true=np.arange(len(self.y_true)), grades=None)

    @property
    def has_unjudged(self) -> bool:
        """Whether some labels are NaN or -inf, and no rule has decided what they count."""
        return math.isnan(self.label_range[0])

    @property
    def ids(self) -> Array:
        """The distinct query ids."""
        return self.grouping.ids

    @property
    def sizes(self) -> Array:
        """Number of documents of each query."""
        return self.grouping.sizes


def read_queries(
    y_true: Any,
    y_score: Any,
    *,
    groups: Any = None,
    sample_weight: Any = None,
    labels: Any = None,
    n_jobs: int | None = None,
    allow_zero_weights: bool = False,
) -> Queries:
    """Validate and group documents; every public function goes through here.

    Without `groups`, ids are taken from an index level ``qid``; ``"none"`` stands for a single
    query, and a `Grouping` is accepted. With `allow_zero_weights` all weights may be 0, as in a
    batch of a stream.
    """
    check_same_order(y_true=y_true, y_score=y_score, groups=groups, sample_weight=sample_weight)
    score = as_column(y_score, "y_score")
    if groups is None and not _ranks_in_rows(y_true, score, labels):
        groups = index_ids(y_true=y_true, y_score=y_score)
    if isinstance(groups, str) and groups == SINGLE_QUERY:
        groups = _single_query(len(score))
    elif groups is None:
        check_single_query(score)
    if score.ndim == 2 and groups is not None:
        score = ravel_column(score)
        if score.ndim == 2:
            raise _two_dimensional(score.shape)
    true, given_labels = _read_labels(y_true, score, labels, y_score, grouped=groups is not None)
    # another thread checks labels and scores while this one reads ids
    jobs = number_of_threads(n_jobs) if groups is not None and len(score) >= PARALLEL_CHECK else 1
    check = partial(_check_values, true, given_labels, score, y_score)
    checked = check if jobs == 1 else submit(check, jobs)
    grouping = _read_grouping(score, groups)
    queries = Queries(true.ravel(), score.ravel(), grouping, *checked())
    if sample_weight is None:
        return queries
    weights = _query_weights(sample_weight, queries, rectangular=score.ndim == 2)
    if not weights.any() and not allow_zero_weights:
        raise ValueError(
            "sample_weight is zero for every query; at least one weight must be positive."
        )
    return replace(queries, weights=weights)


def _ranks_in_rows(y_true: Any, score: Array, labels: Any) -> bool:
    """Whether each row is a query by itself, whose id an index level may hold."""
    if score.size == len(score):
        return False
    return labels is not None or len(_shape(y_true)) == 2


def _shape(y_true: Any) -> tuple[int, ...]:
    try:
        return np.shape(y_true)
    except ValueError as error:
        raise ragged_error("y_true") from error


def _two_dimensional(shape: tuple[int, ...]) -> ValueError:
    classes = "Of predict_proba of two classes, pass the second column, [:, 1]. "
    return ValueError(
        "groups= or an index level 'qid' requires one-dimensional y_true and y_score; with "
        "two-dimensional scores each row is a query. Got y_score of shape "
        f"{shape}. {classes if shape[1] == 2 else ''}Scores of several systems are passed as a "
        "dict to evaluate or query_scores, {'a': scores_of_a, ...}; for rows that rank classes, "
        "name these by labels=."
    )


def _read_labels(
    y_true: Any, score: Array, classes: Any, given_scores: Any, *, grouped: bool
) -> tuple[Array, Any]:
    """Labels as an array of the shape of the scores, and what it was made of."""
    if not grouped and classes is None:
        check_not_columns(_shape(y_true), score.shape)
    if score.ndim == 2 and np.ndim(y_true) == 1:
        one_hot = _one_hot(y_true, score, classes, column_names(given_scores))
        return one_hot, one_hot
    if classes is not None:
        raise ValueError(
            "labels= names the columns of two-dimensional scores for one-dimensional y_true; "
            f"got y_score of shape {score.shape}."
        )
    true = as_column(y_true, "y_true")
    if score.ndim == 2:
        _check_same_columns(column_names(y_true), column_names(given_scores))
    true = ravel_column(true) if grouped and true.ndim == 2 else true
    if true.shape != score.shape:
        if true.ndim == score.ndim == 1:
            check_consistent_length(true, score)
        raise ValueError(
            f"y_true has shape {true.shape}, y_score has shape {score.shape}; both must be "
            "one-dimensional, or both (n_queries, n_documents), or y_true class labels of shape "
            "(n,) and y_score (n, n_classes)."
        )
    return true, y_true


def _check_values(
    labels: Array, given_labels: Any, scores: Array, given_scores: Any
) -> tuple[tuple[float, float], float, Array | None]:
    """The range of the labels, the lowest score, and labels as grades if they can be encoded."""
    lowest, _ = check_range(scores, given_scores, "y_score", need_maximum=False)
    grades, low, high = encode_grades(labels, given_labels)
    if not low > -math.inf:  # some documents are unjudged
        judged = labels[labels > -np.inf]
        high = check_range(judged, given_labels, "y_true")[1] if judged.size else 0.0
        low = math.nan
    if high == math.inf:
        raise ValueError("y_true contains infinity; labels must be finite numbers.")
    return (low, high), lowest, None if grades is None else grades.ravel()


def encode_grades(labels: Array, values: Any) -> tuple[Array | None, float, float]:
    """Labels plus one as bytes, or None if some are not small integers; their minimum and maximum.

    `labels` were made of `values`. Code 0 is reserved for padding. If a label is NaN, minimum and
    maximum are nan.
    """
    codes = np.empty(labels.size, dtype=np.uint8)
    if not _copy_small_integers(labels.ravel(), codes):
        return None, *check_range(labels, values, "y_true", allow_nan=True)
    low, high = float(codes.min()), float(codes.max())
    codes += 1
    return codes.reshape(labels.shape), low, high


def _copy_small_integers(labels: Array, codes: Array) -> bool:
    """Copy labels to bytes, unless some are not small integers."""
    is_integer = labels.dtype.kind != "f"
    if is_integer:  # viewed as unsigned, negative labels are large
        labels = labels.view(labels.dtype.str.replace("i", "u"))
    with np.errstate(invalid="ignore"):
        # in parts, which are still in cache when they are read again
        for start in range(0, len(labels), ENCODED):
            part, code = labels[start : start + ENCODED], codes[start : start + ENCODED]
            if is_integer and part.max() > HIGHEST_GRADE:
                return False
            np.copyto(code, part, casting="unsafe")
            if not is_integer and not (np.array_equal(code, part) and code.max() <= HIGHEST_GRADE):
                return False
    return True


def _read_grouping(score: Array, groups: Any) -> Grouping:
    if isinstance(groups, Grouping):
        return groups
    if score.ndim == 2:
        n, width = score.shape
        return Grouping(np.arange(n), np.arange(n) * width, np.full(n, width))
    return _single_query(len(score)) if groups is None else group_rows(groups, len(score))


def _single_query(n_documents: int) -> Grouping:
    zero = np.zeros(1, dtype=np.intp)
    return Grouping(zero, zero, np.array([n_documents]))


def _one_hot(y_true: Any, score: Array, labels: Any, columns: list[Any]) -> Array:
    """Class labels as one relevant document per row: every row ranks the classes."""
    true = np.asarray(y_true)
    check_consistent_length(true, score)
    classes = np.unique(true) if labels is None else np.asarray(labels)
    column_of = {label: column for column, label in enumerate(classes.ravel().tolist())}
    if len(column_of) < classes.size:
        raise ValueError("labels= names a class twice.")
    if len(column_of) != score.shape[1]:
        raise ValueError(
            f"y_score has {score.shape[1]} columns for {classes.size} classes. Name the class of "
            "each column with labels=, in the order of the columns (for a classifier: classes_)."
        )
    names, of_columns = list(map(str, classes.tolist())), list(map(str, columns))
    if names != of_columns and sorted(names) == sorted(of_columns):
        raise ValueError(
            f"the columns of y_score are {', '.join(of_columns)}, but those of its values were "
            f"read as {', '.join(names)}. Pass labels=list(y_score.columns)."
        )
    column = np.array([column_of.get(label, -1) for label in true.tolist()], dtype=np.intp)
    if (column < 0).any():
        raise ValueError(
            f"y_true holds the class {true[column < 0].tolist()[0]!r}, which labels= does not "
            "name; it names " + ", ".join(map(repr, classes[:10].tolist())) + "."
        )
    if labels is None and classes.dtype.kind in "biuf":
        warnings.warn(
            f"each row of y_score ranked its {score.shape[1]} classes. If these are grades of "
            "documents, pass one score for each document and groups=; if each row is to rank "
            "classes, name these by labels=.",
            UserWarning,
            stacklevel=stacklevel_of_caller(),
        )
    one_hot = np.zeros(score.shape, dtype=bool)
    one_hot[np.arange(len(true)), column] = True
    return one_hot


def _query_weights(sample_weight: Any, queries: Queries, *, rectangular: bool) -> Array:
    """One weight per query, from one per document or per row of two-dimensional input."""
    weights = as_numbers(sample_weight, "sample_weight").astype(np.float64)
    expected = len(queries) if rectangular else len(queries.y_true)
    if weights.ndim != 1 or len(weights) != expected:
        raise ValueError(
            f"sample_weight must hold one weight per {'query' if rectangular else 'document'}: "
            f"got shape {weights.shape} for {expected}. Found input variables with inconsistent "
            f"numbers of samples: [{expected}, {expected}, {len(weights)}]."
            + ("" if rectangular else " All documents of a query have its weight.")
        )
    if weights.min() < 0 or not np.isfinite(weights.max()):
        raise ValueError(
            f"sample_weight must be finite and not negative; got values from {weights.min()} "
            f"to {weights.max()}."
        )
    if rectangular:
        return weights
    if queries.grouping.varies(weights).any():
        raise ValueError(
            "sample_weight varies within a query. A ranking metric averages over queries, so "
            "all documents of a query must have the same weight."
        )
    return np.asarray(weights[queries.grouping.first_rows])


def ravel_column(array: Array) -> Array:
    """A column as one dimension, with scikit-learn's DataConversionWarning; others unchanged."""
    if array.ndim == 1 or array.shape[1:] != (1,):
        return array
    warnings.warn(
        "A column-vector y was passed when a 1d array was expected. Please change the shape of y "
        "to (n_samples,), for example using ravel().",
        DataConversionWarning,
        stacklevel=stacklevel_of_caller(),
    )
    return array[:, 0]


def _check_same_columns(names: list[Any], of_scores: list[Any]) -> None:
    """Refuse two-dimensional frames whose columns differ in their order."""
    if names != of_scores and sorted(map(str, names)) == sorted(map(str, of_scores)):
        raise ValueError(
            "y_true and y_score have the same columns in different orders; pass "
            "y_score[list(y_true.columns)]."
        )


def check_not_columns(*shapes: tuple[int, ...]) -> None:
    """Refuse columns, which would be read as queries of one document each."""
    if (1,) in [shape[1:] for shape in shapes if shape[:1] != (1,)]:
        shown = " and ".join(map(str, shapes))
        raise ValueError(
            f"y_true and y_score have the shapes {shown}: each row would be a query of one "
            "document, whose ranking is always perfect. Pass one-dimensional arrays "
            "(y_true.ravel(), y_score.ravel()) with groups=, the query id of each row, or with "
            "groups='none' if all rows are one query."
        )


def check_single_query(scores: Array) -> None:
    """Warn about a long list without query ids."""
    if scores.ndim == 1 and len(scores) > LONG_LIST:
        warnings.warn(
            f"all {len(scores)} documents were ranked as a single query, because no query ids were "
            "given. Pass groups=, the query id of each document; if they are a single query, "
            "pass groups='none'.",
            UserWarning,
            stacklevel=stacklevel_of_caller(),
        )


def apply_rule(queries: Queries, rule: str) -> Queries:
    """The queries under a rule for unjudged documents; unchanged if there are none."""
    return _RULES[rule](queries) if queries.has_unjudged else queries


def is_judged(labels: Array) -> Array:
    """Whether each label is that of a judged document."""
    return np.asarray(labels > -np.inf)  # which is False for NaN as well


def _refuse(queries: Queries) -> Queries:
    position = int((~is_judged(queries.y_true)).argmax())
    label = "NaN" if np.isnan(queries.y_true[position]) else "-inf"
    raise ValueError(
        f"y_true contains {label} (first at position {position}), which means that nobody judged "
        "the document. Choose how to treat such documents:\n"
        "- unjudged='irrelevant': they have the label 0;\n"
        "- unjudged='drop': they are removed before ranking;\n"
        "- a metric made for them: 'bpref', 'infap', or the share 'judged@k'.\n"
        f"Drop or fill them yourself if {label} means anything else."
    )


def _irrelevant(queries: Queries) -> Queries:
    return _relabeled(queries, np.where(is_judged(queries.y_true), queries.y_true, 0.0))


def _drop(queries: Queries) -> Queries:
    grouping, judged = queries.grouping, is_judged(queries.y_true)
    rows = np.flatnonzero(judged)
    if grouping.rows is not None:
        judged = judged[grouping.rows]
        rows = grouping.rows[judged]
    before = np.append(0, np.cumsum(judged))
    starts, ends = before[grouping.starts], before[grouping.starts + grouping.sizes]
    compact = replace(
        queries,
        y_score=queries.y_score[rows],
        grouping=Grouping(grouping.ids, starts, ends - starts),
    )
    return _relabeled(compact, queries.y_true[rows])


def _as_given(queries: Queries) -> Queries:
    judged = queries.y_true[is_judged(queries.y_true)]
    limits = (float(judged.min()), float(judged.max())) if len(judged) else (0.0, 0.0)
    return replace(queries, label_range=limits)


def _relabeled(queries: Queries, labels: Array) -> Queries:
    """The same queries with other labels."""
    if not len(labels):
        return replace(queries, y_true=labels, label_range=(0.0, 0.0))
    grades, low, high = encode_grades(labels, labels)
    return replace(queries, y_true=labels, label_range=(low, high), grades=grades)


_RULES: dict[str, Callable[[Queries], Queries]] = {
    "error": _refuse,
    "irrelevant": _irrelevant,
    "drop": _drop,
    AS_GIVEN: _as_given,
}
