"""Documents that nobody judged: the one place that decides what they count.

Their label is NaN, or -inf if they are in the pool of documents from which those to be judged were
drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from .._typing import Array
from ..query_ids import Grouping
from .block import Block
from .fast.grades import encode_grades
from .plain import Labels
from .queries import Queries

RULES = ("error", "irrelevant", "drop")
# the rule of metrics whose formulas distinguish these documents from irrelevant ones
AS_GIVEN = "as given"


def apply_rule(queries: Queries, rule: str) -> Queries:
    """The queries under a rule for unjudged documents; unchanged if there are none."""
    return _RULES[rule](queries) if queries.has_unjudged else queries


def is_judged(labels: Array) -> Array:
    """Whether each label is that of a judged document."""
    return np.asarray(labels > -np.inf)  # which is False for NaN as well


def without_empty(queries: Queries) -> tuple[Queries, Array, Array]:
    """The queries that have documents, their positions, and those of the others."""
    positions, empty = np.flatnonzero(queries.sizes), np.flatnonzero(queries.sizes == 0)
    kept = queries.grouping
    grouping = Grouping(
        kept.ids[positions], kept.starts[positions], kept.sizes[positions], kept.rows
    )
    return replace(queries, grouping=grouping), positions, empty


def empty_block(queries: Queries, positions: Array) -> Block:
    """Queries without documents, as rows of padding."""
    n_queries, nothing = len(positions), np.zeros(len(positions), dtype=np.intp)
    # padding takes a label that occurs, because a gain need not be defined for others
    label = queries.y_true[:1] if len(queries.y_true) else np.zeros(1)
    padding = np.repeat(label[:, None], n_queries, axis=0)
    labels = Labels(padding, nothing)
    no_scores = np.full(padding.shape, -np.inf)
    return Block(positions, nothing, nothing, labels, padding, None, lambda rows: no_scores[rows])


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
