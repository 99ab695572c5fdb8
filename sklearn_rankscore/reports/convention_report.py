"""Metrics of one ranking under the conventions of each library."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, TypeAlias, overload

from numpy.typing import ArrayLike

from .._table import Table
from .._typing import QueryIds, Unjudged
from .._validation import check_count, check_flag
from ..metrics.conventions import CONVENTIONS
from ..metrics.metric import Metric, measure
from ..metrics.names import parse_name
from ..metrics.resolve import list_metrics, resolve_all, resolve_each
from ..ranking import Queries, read_queries
from .table_text import TableText

ConventionReport: TypeAlias = dict[str, dict[str, float | None]]


@overload
def convention_report(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    groups: QueryIds | None = None,
    metrics: str | Iterable[str] = ...,
    unjudged: Unjudged = ...,
    digits: int = 4,
    output_dict: Literal[False] = False,
) -> str: ...
@overload
def convention_report(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    groups: QueryIds | None = None,
    metrics: str | Iterable[str] = ...,
    unjudged: Unjudged = ...,
    output_dict: Literal[True],
) -> ConventionReport: ...
def convention_report(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    groups: QueryIds | None = None,
    metrics: str | Iterable[str] = ("ndcg@5", "map@5"),
    unjudged: Unjudged = "error",
    digits: int = 4,
    output_dict: bool = False,
) -> str | ConventionReport:
    """Compute metrics of one ranking with the conventions of each library.

    The first row has the defaults of this package, each other row the conventions of one library,
    as selected by ``like=``. If a published value differs from yours, the row that contains it
    shows which definitions were used.

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Relevance labels, finite numbers; higher is more relevant.
    y_score : array-like of the same shape as `y_true`
        Scores; higher ranks first. -inf means not retrieved; NaN is an error.
    groups : array-like of shape (n_documents,), default=None
        Query ids of any hashable dtype, in any row order. None takes those of an index level
        ``qid`` of `y_true` or `y_score`; without one, all documents are a single query, or each
        row of 2-D input is one.
    metrics : str or iterable of str, default=("ndcg@5", "map@5")
        Names such as ``"ndcg@10"`` or ``"recall@20(threshold=1)"``. An option in a name applies to
        all libraries.
    unjudged : {"error", "irrelevant", "drop"}, default="error"
        Rule of the metrics for documents with label NaN, as in `evaluate`.
    digits : int, default=4
        Number of decimals in the text.
    output_dict : bool, default=False
        Whether to return a dict of unrounded numbers instead of the text.

    Returns
    -------
    str or dict of str to dict of str to float
        The table; or the value of each metric by library, ``"default"`` first. If a library does
        not have a metric, or does not accept these labels for it, the value is "-" in the table
        and None in the dict.

    Raises
    ------
    ValueError
        For a name that is unknown or contains ``like=``, and for whatever the metric functions
        refuse.
    TypeError
        If `metrics` contains anything but names.

    See Also
    --------
    evaluate : The values with one convention, selected by ``like=``.
    sklearn.metrics.classification_report : A report on a classifier.

    Notes
    -----
    The libraries are not run and need not be installed. Each row was compared with the output of
    its library. They differ in ties, queries without relevant documents, gains and denominators. If
    the value of a library is due to a defect, its row shows the value without this defect.

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
            beir  0.4335  0.3611
        implicit  0.7188  0.6042
    recommenders  0.7188  0.6042
        rectools  0.7188  0.6042
         recbole  0.7188  0.6042
    """
    digits, as_dict = check_count("digits", digits, 0), check_flag("output_dict", output_dict)
    names = _check_names(metrics)
    queries = read_queries(y_true, y_score, groups=groups)
    report = _report(queries, names, unjudged, (y_true, y_score))
    return report if as_dict else _text(report, names, digits)


def _check_names(metrics: str | Iterable[str]) -> list[str]:
    names = list_metrics(metrics)
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"metrics must hold names such as 'ndcg@5'; got {name!r}.")
        if "like" in dict(parse_name(name)[1]):
            raise ValueError(
                "metrics must not set like=, because the report has a row for each library; got "
                f"{name!r}."
            )
    return list(resolve_all(names))


def _report(
    queries: Queries, names: list[str], unjudged: Unjudged, data: Sequence[Any]
) -> ConventionReport:
    """The value of each metric under each convention, from a single sort."""
    metrics = {
        ("default", name): metric for name, metric in resolve_all(names, unjudged=unjudged).items()
    }
    for library, table in CONVENTIONS.items():
        known = (name for name in names if parse_name(name)[0] in table)
        resolved = {name: _resolve(name, library, unjudged) for name in known}
        metrics |= {
            (library, name): metric
            for name, metric in resolved.items()
            if metric is not None and _accepts_labels(metric, queries)
        }
    measured = zip(metrics.items(), measure(queries, metrics.values(), data=data), strict=True)
    results: dict[tuple[str, str], Any] = {
        cell: metric.aggregate(values, queries) for (cell, metric), values in measured
    }
    return {
        row: {name: results.get((row, name)) for name in names} for row in ("default", *CONVENTIONS)
    }


def _resolve(name: str, library: str, unjudged: Unjudged) -> Metric | None:
    """The metric of a library; None if its convention has not the options of the name."""
    try:
        return resolve_each([name], like=library, unjudged=unjudged)[0]
    except ValueError:
        return None


def _accepts_labels(metric: Metric, queries: Queries) -> bool:
    try:
        metric.check(queries)
    except ValueError:
        return False
    return True


def _text(report: ConventionReport, names: list[str], digits: int) -> TableText:
    """The report as a table of right-aligned columns."""
    rows = [
        [row, *("-" if value is None else f"{value:.{digits}f}" for value in values.values())]
        for row, values in report.items()
    ]
    table = Table("", ["", *names], rows, n_labels=0)
    header, *lines = table.text().splitlines()
    return TableText("\n".join([header, "", *lines]), table.html())
