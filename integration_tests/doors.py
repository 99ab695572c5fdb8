"""The ways to give documents of many queries to an accumulator, each from columns in memory."""

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from sklearn_rankscore import RankingAccumulator, evaluate_batches, evaluate_parquet


def table_of(columns):
    return pa.table({name: pa.array(c, from_pandas=True) for name, c in columns.items()})


def shuffled(columns, seed=0):
    order = np.random.default_rng(seed).permutation(len(columns["label"]))
    return {name: column[order] for name, column in columns.items()}


def arrays(columns, metrics, folder, *, weight=None, by=None, score="score", **options):
    """Batches of whole queries in any order of rows, which are merged."""
    names = [by] if isinstance(by, str) else by
    total = RankingAccumulator(metrics, by=by, **options)
    _, query = np.unique(columns["qid"], return_inverse=True)
    given = shuffled(columns | {"query": query})
    for part in range(3):
        rows = {name: column[given["query"] % 3 == part] for name, column in given.items()}
        systems = score if isinstance(score, dict) else {"": score}
        scores = {name: rows[column] for name, column in systems.items()}
        one = RankingAccumulator(metrics, by=by, **options).update(
            rows["label"],
            scores if isinstance(score, dict) else scores[""],
            rows["qid"],
            sample_weight=None if weight is None else rows[weight],
            segments=None if names is None else {name: rows[name] for name in names},
        )
        total.merge(one)
    return total


def streamed(batches):
    def door(columns, metrics, folder, **options):
        return evaluate_batches(batches(table_of(columns)), metrics, **options).accumulator

    return door


def written(order, **writing):
    """Several files with their rows in some order."""

    def door(columns, metrics, folder, **options):
        table = table_of(order(columns))
        for i, start in enumerate(range(0, table.num_rows, 150)):
            pq.write_table(table[start : start + 150], folder / f"part-{i}.parquet", **writing)
        return evaluate_parquet(folder, metrics, **options).accumulator

    return door


DOORS = {
    "arrays": arrays,
    "table": streamed(lambda table: table),
    "reader": streamed(lambda table: table.to_reader(max_chunksize=17)),
    "frames": streamed(lambda table: [table[:50].to_pandas(), table[50:].to_pandas()]),
    "polars": streamed(lambda table: pl.DataFrame(table).iter_slices(33)),
    "sorted files": written(lambda columns: columns),
    "shuffled files": written(shuffled, row_group_size=40),
}
