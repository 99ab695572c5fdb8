"""A report on one ranking: what the data is like, then metrics by cut-off."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..metrics.names import METRICS, has_option, name_of, page_name, parse_name
from ..metrics.options import above, cutoff, number
from ..ranking import Block, Queries, Ranking, read_queries
from ..ranking.arrays import Array
from .query_scores import QueryScores, per_query, resolve_per_query
from .table import Table


def ranking_report(
    y_true: Any,
    y_score: Any,
    *,
    groups: Any = None,
    metrics: Any = ("ndcg", "map", "mrr", "precision", "recall"),
    k: Any = (1, 5, 10, None),
    threshold: float | None = None,
    confidence: float = 0.95,
    method: str = "bootstrap",
    n_resamples: int = 9999,
    random_state: Any = None,
    like: str | None = None,
    sample_weight: Any = None,
    labels: Any = None,
    n_jobs: int | None = None,
    digits: int = 3,
    output_dict: bool = False,
    **options: Any,
) -> Any:
    """Build a report of the main ranking metrics, as `classification_report` does for classes.

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Relevance of each document, finite numbers.
    y_score : array-like of shape (n_documents,) or (n_queries, n_documents)
        Score of each document, higher is ranked first; no NaN, -inf where it was not retrieved.
    groups : array-like of shape (n_documents,), default=None
        Query id of each document, in any row order; None for a single query or
        two-dimensional input.
    metrics : str, callable or iterable of them, default=("ndcg", "map", "mrr", "precision", \
"recall")
        One row each. A name without a cut-off is measured at each `k` if it knows cut-offs.
    k : int, None or iterable of them, default=(1, 5, 10, None)
        Cut-offs, one column each; None for all ranks.
    threshold : float, default=None
        A document is relevant if its label is greater. None means 0, or what `like` and the names
        of the metrics say; in the facts about the data it means 0.
    confidence : float, default=0.95
        Level of the intervals.
    method : {"bootstrap", "t"}, default="bootstrap"
        How intervals come about, see `QueryScores.interval`.
    n_resamples : int, default=9999
        Number of resamples of the bootstrap.
    random_state : int, RandomState instance, Generator or None, default=None
        Seed of the bootstrap.
    like : str, default=None
        Take another library's conventions, as in `evaluate`.
    sample_weight : array-like of shape (n_documents,) or (n_queries,), default=None
        Weight of each document's query, for the metrics; the data is counted as it is.
    labels : array-like of shape (n_classes,), default=None
        The class of each column, for class labels in `y_true` and two-dimensional scores.
    n_jobs : int, default=None
        Number of threads; None means 1 unless in a joblib context, -1 all cores.
    digits : int, default=3
        Number of digits after the point in the text.
    output_dict : bool, default=False
        Whether to return a dict.
    **options
        Any option of the metrics but `average`.

    Returns
    -------
    str or dict
        The text; or ``{"data": {...}, "metrics": {"ndcg@1": {"mean", "low", "high", "queries"},
        ...}}``, where "queries" is the number of queries on which the metric is defined.

    Raises
    ------
    ValueError
        For whatever `query_scores` and `QueryScores.interval` refuse.

    See Also
    --------
    sklearn.metrics.classification_report : The same for classes.

    Examples
    --------
    >>> from sklearn_rankscore import make_ranking, ranking_report
    >>> X, y, groups = make_ranking(random_state=0)
    >>> print(ranking_report(y, X[:, 0], groups=groups, k=(1, 10), metrics="ndcg", random_state=0))
    queries                             100
    documents                           1,973
    documents of a query                10 to 30, median 19
    queries without relevant documents  2.0%
    queries of one document             0.0%
    queries with all scores tied        0.0%
    documents tied with another one     0.0%
    <BLANKLINE>
    mean [95 % interval]                    @1                   @10
    ndcg                  0.830 [0.767, 0.877]  0.830 [0.783, 0.859]
    """
    cells = _cells(metrics, k)
    if threshold is not None and any(has_option(metric, "threshold") for metric in cells):
        options["threshold"] = threshold
    named = resolve_per_query(list(cells), like=like, **options)
    queries = read_queries(
        y_true, y_score, groups=groups, sample_weight=sample_weight, labels=labels, n_jobs=n_jobs
    )
    values = per_query(queries, named.values(), n_jobs)
    scores = QueryScores(queries.ids, values, tuple(named), queries.weights)
    intervals = scores.interval(
        confidence, method=method, n_resamples=n_resamples, random_state=random_state
    )
    means, counts = scores.mean(), scores.counted().sum(axis=0).tolist()
    found = {
        name: {"mean": means[name], **intervals[name]._asdict(), "queries": count}
        for name, count in zip(scores.metrics, counts, strict=True)
    }
    data = describe(queries, number("threshold", threshold or 0), n_jobs)
    if output_dict:
        return {"data": data, "metrics": found}
    by_cell = dict(zip(cells.values(), found.values(), strict=True))
    grid = _grid(by_cell, f"mean [{confidence * 100:g} % interval]", digits)
    return f"{_data_text(data)}\n\n{grid.text()}"


def describe(queries: Queries, threshold: float, n_jobs: int | None = None) -> dict[str, Any]:
    """Facts about labels, sizes and ties that decide what a metric can tell."""
    relevant, sizes = above(threshold), queries.sizes
    found = Ranking(queries).apply([lambda b: b.total(relevant), _tied, _all_tied], n_jobs)
    n_relevant, n_tied, all_tied = (values.numerator for values in found)
    return {
        "queries": len(sizes),
        "documents": int(sizes.sum()),
        "fewest_documents": int(sizes.min()),
        "median_documents": float(np.median(sizes)),
        "most_documents": int(sizes.max()),
        "queries_without_relevant": float((n_relevant == 0).mean()),
        "queries_of_one_document": float((sizes == 1).mean()),
        "queries_all_tied": float(all_tied.mean()),
        "documents_tied": float(n_tied.sum() / sizes.sum()),
    }


def _tied(block: Block) -> Array:
    """Number of retrieved documents that share their score with another one."""
    _, size = block.tie_runs()
    return np.asarray(((size > 1) & (block.ranks <= block.retrieved[:, None])).sum(axis=1) * 1.0)


def _all_tied(block: Block) -> Array:
    """Whether all documents of a query, at least two, have the same score."""
    _, size = block.tie_runs()
    first = size[:, 0] if isinstance(size, np.ndarray) else size
    return np.asarray((first == block.sizes) & (block.sizes > 1), dtype=np.float64)


Cell = tuple[str, int | None]


def _cells(metrics: Any, k: Any) -> dict[Any, Cell]:
    """Every metric to measure with its row and its cut-off."""
    listed = [metrics] if isinstance(metrics, str) or callable(metrics) else list(metrics)
    cutoffs = [cutoff(one) for one in (k if isinstance(k, Iterable) else [k])]
    return {
        name: cell for metric in listed for name, cell in _row(page_name(metric) or metric, cutoffs)
    }


def _row(metric: Any, cutoffs: list[int | None]) -> list[tuple[Any, Cell]]:
    if not isinstance(metric, str):
        return [(metric, (name_of(metric), None))]
    name, own = parse_name(metric)
    rest = ", ".join(f"{option}={value}" for option, value in own if option != "k")
    label = f"{name}({rest})" if rest else name
    if "k" in dict(own) or "k" not in METRICS[name].options:
        return [(metric, (label, dict(own).get("k")))]
    return [
        (metric if k is None else label.replace(name, f"{name}@{k}", 1), (label, k))
        for k in cutoffs
    ]


def _data_text(data: dict[str, Any]) -> str:
    sizes = f"{data['fewest_documents']:,} to {data['most_documents']:,}"
    lines = {
        "queries": f"{data['queries']:,}",
        "documents": f"{data['documents']:,}",
        "documents of a query": f"{sizes}, median {data['median_documents']:g}",
        "queries without relevant documents": f"{data['queries_without_relevant']:.1%}",
        "queries of one document": f"{data['queries_of_one_document']:.1%}",
        "queries with all scores tied": f"{data['queries_all_tied']:.1%}",
        "documents tied with another one": f"{data['documents_tied']:.1%}",
    }
    return "\n".join(f"{what:<36}{value}" for what, value in lines.items())


def _grid(found: dict[Cell, dict[str, Any]], corner: str, digits: int) -> Table:
    """One row a metric, one column a cut-off."""
    labels = list(dict.fromkeys(label for label, _ in found))
    cutoffs = sorted({k for _, k in found}, key=lambda k: (k is None, k))
    rows = [
        (label, *(_cell_text(found.get((label, k)), digits) for k in cutoffs)) for label in labels
    ]
    header = (corner, *("all" if k is None else f"@{k}" for k in cutoffs))
    return Table("", header, rows)


def _cell_text(found: dict[str, Any] | None, digits: int) -> str:
    if found is None:
        return ""
    mean, low, high = (f"{found[part]:.{digits}f}" for part in ("mean", "low", "high"))
    return f"{mean} [{low}, {high}]"
