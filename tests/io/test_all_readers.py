"""The same judgments and results through every reader, against a join of dicts by hand."""

import bz2
import gzip
import lzma
import os
import tempfile
from collections import namedtuple
from functools import partial
from io import BytesIO, StringIO
from itertools import count, product
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from frames import pa, pl
from scipy.sparse import csr_array

from sklearn_rankscore import from_frames, from_ranked_lists, from_recommendations, from_trec

N_ITEMS = 12
counter = count()


def random_data(seed):
    """Relevance and scores by query and item number; some queries lack judgments or results."""
    rng = np.random.default_rng(seed)

    def some(values, least):
        items = rng.choice(N_ITEMS, rng.integers(least, 8), replace=False).tolist()
        return dict(zip(items, rng.choice(values, len(items)).tolist(), strict=True))

    queries = range(8)
    judged = {query: some([0, 1, 2, 3], 1) for query in queries}
    runs = {name: {query: some([-3.5, 0.0, 0.25, 7.0], 1) for query in queries} for name in "ab"}
    del runs["b"][3]
    runs["a"][99] = {0: 1.0}  # nobody judged it
    return judged, runs


def by_hand(judged, runs):
    """For each query the label, the scores and their order, of each document of any system."""
    rows = []
    for query, labels in judged.items():
        of_runs = [run.get(query, {}) for run in runs.values()]
        for item in {*labels, *(item for run in of_runs for item in run)}:
            scores = [run.get(item, -np.inf) for run in of_runs]
            rows.append((query, labels.get(item), *scores))
    return sorted(rows, key=str)


def rows_of(arguments):
    labels = [None if np.isnan(label) else int(label) for label in arguments["y_true"]]
    scores = arguments["y_score"]
    scores = list(scores.values()) if isinstance(scores, dict) else [scores]
    columns = (map(int, arguments["groups"]), labels, *(map(float, of) for of in scores))
    return sorted(zip(*columns, strict=True), key=str)


def long(data, value, library, kind=int):
    rows = zip(*tuples(data, kind=kind), strict=True)
    columns = zip(("query_id", "doc_id", value), map(list, rows), strict=True)
    return library(dict(columns))


# as of ir_datasets and ir_measures, of which qrels have one more field
Scored = namedtuple("Scored", "query_id doc_id score")
Judged = namedtuple("Judged", "query_id doc_id relevance iteration")


def tuples(data, make=lambda *row: row, kind=str):
    return [make(kind(q), kind(d), x) for q, of in data.items() for d, x in of.items()]


def to_path(value, suffix, folder=tempfile.mkdtemp()):  # noqa: B008
    """A function that writes data to a file with named columns, or to one of TREC."""

    def write(data):
        path = os.path.join(folder, f"{value}{next(counter)}{suffix}")
        frame = long(data, value, pd.DataFrame)
        if suffix == ".parquet":
            frame.to_parquet(path)
        elif suffix.startswith((".csv", ".tsv")):
            frame.to_csv(path, index=False, sep="," if ".csv" in suffix else "\t")
        else:
            line = "{} 0 {} {}\n" if value == "rel" else "{} Q0 {} 1 {} tag\n"
            opened = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}.get(suffix[-4:], open)
            with opened(path, "wt", encoding="utf-8-sig") as file:
                file.write(text(data, line))
        return path

    return write


def positions(data, value):
    """As pd.read_csv(path, sep=" ", header=None) reads a TREC file."""
    frame = long(data, value, pd.DataFrame)
    extra = frame.assign(_=0)
    order = ["query_id", "_", "doc_id", value]
    if value == "score":
        order = ["query_id", "_", "doc_id", "_", value, "_"]
    return extra[order].set_axis(range(len(order)), axis=1)


def text(data, line):
    return "".join(line.format(*row) for row in tuples(data))


def matrix(judged, runs):
    rows, columns, values = zip(*tuples(judged, kind=int), strict=True)
    interactions = csr_array((values, (rows, columns)), shape=(len(judged), N_ITEMS))
    items, scores = {}, {}
    for name, run in runs.items():
        items[name] = np.full((len(judged), N_ITEMS), -1)
        scores[name] = np.full((len(judged), N_ITEMS), np.nan)
        for query, of_query in run.items():
            items[name][query, : len(of_query)] = list(of_query)
            scores[name][query, : len(of_query)] = list(of_query.values())
    if len(runs) == 1:
        (items,), (scores,) = items.values(), scores.values()
    return from_recommendations(interactions, items, scores, unjudged="nan")


def by_reader(read, qrels, run):
    """A reader of judgments and of one or several runs, given in these forms."""

    def call(judged, runs):
        given = {name: run(data) for name, data in runs.items()}
        return read(qrels(judged), given if len(runs) > 1 else next(iter(given.values())))

    return call


def of_judged_queries(read):
    """Lists and matrices have no results of other queries."""

    def call(judged, runs):
        kept = {n: {q: of for q, of in run.items() if q in judged} for n, run in runs.items()}
        return read(judged, kept)

    return call


def of_frames(library, kind):
    names = {"groups": "query_id", "document": "doc_id", "relevance": "rel", "score": "score"}
    return by_reader(
        lambda truth, top: from_frames(truth, top, **names, unjudged="nan"),
        lambda data: long(data, "rel", library, kind),
        lambda data: long(data, "score", library, kind),
    )


LIBRARIES = (pd.DataFrame, *((pl.DataFrame, pa.table) if pl else ()))
PARQUET = [".parquet"] if pa else []
QRELS = [
    lambda data: StringIO(text(data, "{} 0 {} {}\n")),
    dict,
    records := lambda data: iter(tuples(data, kind=int)),
    *(lambda data, of=of: long(data, "rel", of) for of in LIBRARIES),
]
QRELS += [
    lambda data: [Judged(*row, "0") for row in tuples(data)],
    lambda data: SimpleNamespace(to_dict=lambda: data),  # as ranx has them
    lambda data: positions(data, "rel"),
    *(to_path("rel", suffix) for suffix in (".csv", ".tsv.gz", *PARQUET, ".txt", ".gz", ".bz2")),
]
RUNS = [
    lambda data: tuple(tuples(data, Scored)),
    lambda data: [(q, "Q0", d, 1, x, "t") for q, d, x in tuples(data)],
    lambda data: SimpleNamespace(to_dict=lambda: data),
    lambda data: positions(data, "score"),
    *(to_path("score", suffix) for suffix in (".csv.xz", ".tsv", *PARQUET, ".run", ".gz", ".xz")),
    lambda data: BytesIO(text(data, "{}\tQ0 {} 1 {} tag\r\n").encode()),
    *(dict, records, lambda data: {q: list(of.items()) for q, of in data.items()}),
    *(lambda data, of=of: long(data, "score", of) for of in LIBRARIES),
]
# each form of judgments and each of runs, and not every pair
FORMS = [
    *((of, dict) for of in QRELS),
    *((dict, of) for of in RUNS),
    *product(QRELS[:4], RUNS[5:8]),
]
READERS = [
    *(by_reader(partial(from_trec, complete=False), *forms) for forms in FORMS),
    *(of_frames(*forms) for forms in product(LIBRARIES, (int, str))),
    of_judged_queries(by_reader(from_ranked_lists, dict, dict)),
    of_judged_queries(matrix),
]


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("systems", ["a", "ba"])
def test_equals_the_join_by_hand(read, systems):
    judged, runs = random_data(seed=0)
    runs = {name: runs[name] for name in systems}
    assert rows_of(read(judged, runs)) == by_hand(judged, runs)
