"""The names of all metrics with their aliases, to read and to look up."""

from __future__ import annotations

import inspect
from html import escape
from typing import NamedTuple

from .._table import html_of_fields, html_table
from .aliases import ALIASES
from .names import METRICS

HEADER = ("name", "aliases", "meaning")


class MetricName(NamedTuple):
    """What is known about the name of a metric.

    Attributes
    ----------
    aliases : tuple of str
        Other names of the metric; case, "_" and "-" do not matter.
    meaning : str
        The metric in one line.
    """

    aliases: tuple[str, ...]
    meaning: str

    def _repr_html_(self) -> str:
        return html_of_fields(self)


class MetricNames(dict[str, MetricName]):
    """Metrics by name, which print as a table."""

    def __repr__(self) -> str:
        rows = [HEADER, *self._rows()]
        first, second = (max(len(row[column]) for row in rows) for column in (0, 1))
        return "\n".join(f"{a:<{first}}  {b:<{second}}  {c}" for a, b, c in rows)

    def _repr_html_(self) -> str:
        return html_table(HEADER, [list(map(escape, row)) for row in self._rows()])

    def _rows(self) -> list[tuple[str, str, str]]:
        return [(name, ", ".join(known.aliases), known.meaning) for name, known in self.items()]


def metric_names() -> MetricNames:
    """The names of all metrics, with their aliases and their meaning.

    A name or an alias may be followed by a cut-off and options, ``name@k(option=value, ...)``,
    wherever a metric is named: in `evaluate`, in `scoring` and in all other functions. Case, "_"
    and "-" do not matter in a name, so that ``"nDCG@10"`` is ``"ndcg@10"``. The spellings
    ``"P_10"``, ``"recall_10"``, ``"success_10"``, ``"ndcg_cut_10"`` and ``"map_cut_10"`` of
    trec_eval are accepted, and so are ``"ndcg_at_10"`` and ``"P(rel=2)@5"`` of ir_measures.

    Returns
    -------
    MetricNames
        A dict of each name to its aliases and its meaning. It prints as a table.

    See Also
    --------
    evaluate : Computes metrics by name; the name as it is given is the key of the result.

    Notes
    -----
    In scikit-learn's `scoring`, ``"precision"``, ``"recall"``, ``"f1"``, ``"average_precision"``
    and ``"accuracy"`` without a cut-off are the scorers of scikit-learn. Names that libraries use
    for different metrics, such as ``"auc"``, are refused with the choices. ``"GAUC"`` weights all
    queries equally unless `sample_weight` is given.

    Examples
    --------
    >>> from sklearn_rankscore import evaluate, metric_names
    >>> metric_names()["hit_rate"].aliases
    ('hit', 'HR', 'hit_ratio', 'success')
    >>> evaluate([0, 1, 1], [0.3, 0.2, 0.1], ["P@2", "recip_rank"])
    {'P@2': 0.5, 'recip_rank': 0.5}
    """
    return MetricNames(
        (name, MetricName(ALIASES.get(name, ()), _meaning(known.function)))
        for name, known in METRICS.items()
    )


def _meaning(function: object) -> str:
    return (inspect.getdoc(function) or "").partition("\n")[0]
