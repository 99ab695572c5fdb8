"""One data set's metrics as other libraries would report them, side by side."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..metrics.conventions import CONVENTIONS
from ..metrics.names import NamedMetric, measure, parse_name, resolve_all
from ..ranking import Queries, read_queries
from .table import Table

Report = dict[str, dict[str, float | None]]


def convention_report(
    y_true: Any,
    y_score: Any,
    *,
    groups: Any = None,
    metrics: str | Iterable[str] = ("ndcg@5", "map@5"),
    digits: int = 4,
    output_dict: bool = False,
) -> str | Report:
    """Show what each library would report for the same ranking.

    One row per library whose conventions `like=` takes, after a row of this package's defaults;
    one column per metric. If a number of yours and one of somebody else's differ, the row that
    has theirs tells whose definitions they used.

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Relevance of each document, finite numbers.
    y_score : array-like of shape (n_documents,) or (n_queries, n_documents)
        Score of each document, higher is ranked first; no NaN, -inf where it was not retrieved.
    groups : array-like of shape (n_documents,), default=None
        Query id of each document, in any row order; None for a single query or
        two-dimensional input.
    metrics : str or iterable of str, default=("ndcg@5", "map@5")
        Names such as ``"ndcg@10"`` or ``"recall@20(threshold=1)"``. An option in a name
        goes to every library.
    digits : int, default=4
        Decimals of the text.
    output_dict : bool, default=False
        Return the unrounded numbers instead of the text.

    Returns
    -------
    str or dict of str to dict of str to float
        The table; with `output_dict` the value of each metric by library, ``"default"`` first.
        A library that has no such metric, or refuses these labels in it, has a dash there, None
        in the dict.

    Raises
    ------
    ValueError
        For a name that is unknown or has ``like=`` of its own, and for whatever the metric
        functions refuse.
    TypeError
        If `metrics` holds anything but names.

    See Also
    --------
    evaluate : The numbers of one library, with ``like=``.
    sklearn.metrics.classification_report : The same kind of table for a classifier.

    Notes
    -----
    The libraries are not run, and need not be installed. Each row was compared with the
    library itself; what differs is ties, queries without relevant documents, the gain and the
    denominators. Where a library's number is a defect, its row has the number without it.

    Examples
    --------
    >>> from sklearn_rankscore import convention_report
    >>> y_true = [2, 0, 1, 0, 1, 0, 0]
    >>> y_score = [0.3, 0.3, 0.1, 0.9, 0.4, 0.2, 0.1]
    >>> groups = ["a", "a", "a", "b", "b", "c", "c"]
    >>> print(convention_report(y_true, y_score, groups=groups))
                  ndcg@5   map@5
    <BLANKLINE>
         default  0.4803  0.4028
         sklearn  0.4803       -
        lightgbm  0.8650  0.7778
         xgboost  0.8650  0.7778
        catboost  0.7669  0.3611
       trec_eval  0.4335  0.3611
            ranx  0.5271  0.4444
    torchmetrics  0.4803  0.4028
             rax  0.5316  0.4444
    """
    names = _names(metrics)
    queries = read_queries(y_true, y_score, groups=groups)
    report = _report(queries, names)
    return report if output_dict else _text(report, names, digits)


def _names(metrics: Any) -> list[str]:
    """The names, checked, without a convention of their own."""
    names = [metrics] if isinstance(metrics, str) else list(metrics)
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"metrics must hold names such as 'ndcg@5'; got {name!r}.")
        if "like" in dict(parse_name(name)[1]):
            raise ValueError(f"{name!r} names a library; the report has a row for every one.")
    return list(resolve_all(names))


def _report(queries: Queries, names: list[str]) -> Report:
    """The value of each metric under each convention, after one sort."""
    ready = {("default", name): metric for name, metric in resolve_all(names).items()}
    for library, known in CONVENTIONS.items():
        shared = [name for name in names if parse_name(name)[0] in known]
        found = resolve_all(shared, like=library) if shared else {}
        ready |= {(library, n): m for n, m in found.items() if _accepts(m, queries)}
    values = zip(ready.items(), measure(queries, ready.values()), strict=True)
    numbers = {cell: metric.aggregate(value, queries) for (cell, metric), value in values}
    return {
        row: {name: numbers.get((row, name)) for name in names} for row in ("default", *CONVENTIONS)
    }


def _accepts(metric: NamedMetric, queries: Queries) -> bool:
    """Whether a library's convention has a value for these labels."""
    try:
        metric.check(queries)
    except ValueError:
        return False
    return True


def _text(report: Report, names: list[str], digits: int) -> str:
    """The report as a table, names and numbers to the right."""
    rows = [
        [row, *("-" if value is None else f"{value:.{digits}f}" for value in found.values())]
        for row, found in report.items()
    ]
    header, *lines = Table("", ["", *names], rows, n_labels=0).text().splitlines()
    return "\n".join([header, "", *lines])
