"""Ranking metrics over Dask DataFrames.

Queries are brought together by Dask's own shuffle; every partition becomes one small
`RankingAccumulator`, and these merge. A partition has to fit into a worker's memory, as everywhere
in Dask.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

from .streaming import RankingAccumulator
from .streaming.columns import Columns

__all__ = ["accumulate", "evaluate", "query_scores"]


def evaluate(
    df: Any,
    metrics: Any,
    *,
    label: str = "label",
    score: str = "score",
    group: str = "qid",
    weight: str | None = None,
    like: str | None = None,
    n_partitions: int | None = None,
    **options: Any,
) -> dict[str, float]:
    """Compute ranking metrics over the queries of a Dask DataFrame.

    Parameters
    ----------
    df : dask.dataframe.DataFrame
        One row a document, in any order and partitioning.
    metrics : str, callable or iterable of them
        What `sklearn_rankscore.evaluate` takes; functions must be importable by the workers.
    label, score, group : str
        Names of the columns of relevance, score and query id.
    weight : str, default=None
        Name of the column of weights, constant within a query.
    like : str, default=None
        Take another library's conventions, as in `sklearn_rankscore.evaluate`.
    n_partitions : int, default=None
        Number of partitions to shuffle into; None keeps their number.
    **options
        Options of the metrics; `average` is ``"macro"`` or ``"micro"``.

    Returns
    -------
    dict of str to float
        The value of each metric under its name, as `sklearn_rankscore.evaluate` gives it in memory.

    Raises
    ------
    ValueError
        For a missing column or missing values, and for what `sklearn_rankscore.evaluate` refuses.

    See Also
    --------
    accumulate : Standard errors and numbers of queries too.
    query_scores : The value of every query.

    Notes
    -----
    A shuffle does not keep rows in order, so ``ties="stable"`` and ``"reversed"`` rank equal
    scores in the order in which it brings them.

    Examples
    --------
    >>> import dask.dataframe as dd
    >>> import pandas as pd
    >>> from sklearn_rankscore import dask
    >>> columns = {"qid": [1, 2, 1, 2, 1], "label": [2, 0, 0, 1, 1], "score": [3, 9, 2, 2, 1]}
    >>> df = dd.from_pandas(pd.DataFrame(columns), npartitions=2)
    >>> dask.evaluate(df, ["mrr", "precision@2"])
    {'mrr': 0.75, 'precision@2': 0.5}
    """
    return accumulate(
        df,
        metrics,
        label=label,
        score=score,
        group=group,
        weight=weight,
        like=like,
        n_partitions=n_partitions,
        **options,
    ).scores()


def accumulate(
    df: Any,
    metrics: Any,
    *,
    label: str = "label",
    score: str = "score",
    group: str = "qid",
    weight: str | None = None,
    like: str | None = None,
    n_partitions: int | None = None,
    **options: Any,
) -> RankingAccumulator:
    """Take all queries of a Dask DataFrame into one accumulator.

    Parameters
    ----------
    df, metrics, label, score, group, weight, like, n_partitions, **options
        As in `evaluate`.

    Returns
    -------
    RankingAccumulator
        Its ``result()`` has means, standard errors and numbers of queries; it can be merged with
        that of another day.

    Raises
    ------
    ValueError
        As `evaluate`.
    """
    from dask.base import compute
    from dask.delayed import delayed

    empty = RankingAccumulator(metrics, like=like, **options)
    columns = Columns(label, score, group, weight)
    partitions = _together(df, columns, n_partitions).to_delayed()
    parts = compute(*(delayed(_collect)(part, empty, columns) for part in partitions))  # type: ignore[no-untyped-call]
    return reduce(RankingAccumulator.merge, parts, empty)


def query_scores(
    df: Any,
    metrics: Any,
    *,
    label: str = "label",
    score: str = "score",
    group: str = "qid",
    weight: str | None = None,
    like: str | None = None,
    n_partitions: int | None = None,
    **options: Any,
) -> Any:
    """Compute the value of every query of a Dask DataFrame, as a Dask DataFrame.

    Parameters
    ----------
    df, metrics, label, score, group, weight, like, n_partitions, **options
        As in `evaluate`.

    Returns
    -------
    dask.dataframe.DataFrame
        One row a query: its id, then a column of floats for each metric, under its name. It is
        lazy. A query on which a metric is undefined has the value `replace_undefined_by`, which
        may be NaN.

    Raises
    ------
    ValueError
        For a missing column; what is wrong with rows comes up when they are computed.
    """
    empty = RankingAccumulator(metrics, like=like, per_query=True, **options)
    columns = Columns(label, score, group, weight)
    together = _together(df, columns, n_partitions)
    meta = together._meta[[group]].assign(**dict.fromkeys(empty.names, 0.0))
    return together.map_partitions(_values, empty, columns, meta=meta)


def _together(df: Any, columns: Columns, n_partitions: int | None) -> Any:
    """Partitions that hold whole queries."""
    if not hasattr(df, "map_partitions"):
        raise TypeError(
            f"df must be a Dask DataFrame; got {type(df).__name__}. Make one by "
            "dask.dataframe.from_pandas or read_parquet, or use sklearn_rankscore.evaluate."
        )
    columns.check(df.columns, "the DataFrame")
    return df[columns.names].shuffle(on=columns.group, npartitions=n_partitions)


def _collect(part: Any, empty: RankingAccumulator, columns: Columns) -> RankingAccumulator:
    """One partition, a pandas DataFrame, in an accumulator of its own."""
    accumulator = RankingAccumulator(
        empty.metrics, like=empty.like, per_query=empty.per_query, **empty.options
    )
    if not len(part):
        return accumulator
    missing = part[columns.names].isna().sum()
    columns.check_nulls({name: int(missing[name]) for name in columns.names})
    given = (part[name] for name in (columns.label, columns.score, columns.group))
    weight = None if columns.weight is None else part[columns.weight]
    return accumulator.update(*given, sample_weight=weight)


def _values(part: Any, empty: RankingAccumulator, columns: Columns) -> Any:
    import pandas as pd

    taken = _collect(part, empty, columns).take_values()
    if taken is None:
        return part[[columns.group]].assign(**dict.fromkeys(empty.names, 0.0))
    ids, values = taken
    group = pd.Series(ids, name=columns.group).astype(part[columns.group].dtype)
    return pd.DataFrame({columns.group: group, **values})
