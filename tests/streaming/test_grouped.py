"""Streams whose queries come in any order: exact results, and no query that returns unnoticed."""

import datetime
import pickle
import uuid
from decimal import Decimal
from fractions import Fraction
from itertools import groupby, pairwise

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis_profiles import examples
from many_queries import EXACT, METRICS, in_memory, make_documents

from sklearn_rankscore import RankingAccumulator, evaluate_batches, evaluate_parquet
from sklearn_rankscore.streaming.checkpoint_format import from_bytes, to_bytes
from sklearn_rankscore.streaming.key_set import KeySet, keys_of


def grouped(columns, seed=0):
    """The same rows, with the queries in random order."""
    position = np.random.default_rng(seed).permutation(columns["qid"].max() + 1)
    order = np.argsort(position[columns["qid"]], kind="stable")
    return {name: column[order] for name, column in columns.items()}


def add(accumulator, columns, rows, order="grouped"):
    given = (columns[name][rows] for name in ("label", "score", "qid"))
    weight = columns["weight"][rows] if "weight" in columns else None
    return accumulator.update_sorted(*given, sample_weight=weight, order=order)


any_rows = st.lists(st.integers(1, 120), max_size=12)


@examples(20)
@given(seed=st.integers(0, 2**16), cuts=any_rows, order=st.randoms(use_true_random=False))
def test_parts_in_any_order_equal_memory(seed, cuts, order):
    columns = grouped(make_documents(20, seed=seed), seed)
    n = len(columns["qid"])
    edges = [0, *sorted({c for c in cuts if c < n}), n]
    parts = [add(RankingAccumulator(METRICS), columns, slice(*edge)) for edge in pairwise(edges)]
    order.shuffle(parts)
    while len(parts) > 1:  # merged in a random tree
        second = parts.pop(order.randrange(len(parts)))
        parts[order.randrange(len(parts))].merge(pickle.loads(pickle.dumps(second)))
    expected = in_memory(columns, weight="weight")
    assert parts[0].scores() == pytest.approx(expected, nan_ok=True, **EXACT)
    assert parts[0].result()["mrr"].n_queries == 20
    with pytest.raises(ValueError, match=r"returns after|share a query|is split"):
        add(parts[0], columns, slice(0, n))


@pytest.mark.parametrize("order", ["ascending", "grouped"])
@pytest.mark.parametrize("types", [(np.int64, Decimal), (Decimal, np.int32), (np.float32, Decimal)])
def test_a_query_continues_with_an_equal_number_of_another_type(types, order):
    ids = [list(map(kind, numbers)) for kind, numbers in zip(types, ([1, 2], [2, 3]), strict=True)]
    given = [([0, 1], [2, 1], ids[0]), ([1, 1], [3, 2], ids[1])]
    one, *parts = (RankingAccumulator("mrr") for _ in range(3))
    for part, batch in zip(parts, given, strict=True):
        one.update_sorted(*batch, order=order)
        part.update_sorted(*batch, order=order)
    for stream in (one, parts[1].merge(parts[0])):
        # query 1 has no relevant document, and that of query 2 with the score 3 is relevant
        assert stream.result()["mrr"][:3:2] == (pytest.approx(2 / 3), 3)


@examples(40)
@given(ids=st.lists(st.integers(0, 4), min_size=1, max_size=9), cuts=st.sets(st.integers(1, 8)))
def test_exactly_the_streams_in_which_a_query_returns_are_refused(ids, cuts):
    returns = len([*groupby(ids)]) > len(set(ids))
    edges = [0, *sorted(c for c in cuts if c < len(ids)), len(ids)]
    one, parts = RankingAccumulator("mrr"), []

    def run():
        for start, end in pairwise(edges):
            batch = [1] * (end - start), [0] * (end - start), ids[start:end]
            parts.append(RankingAccumulator("mrr").update_sorted(*batch, order="grouped"))
            one.update_sorted(*batch, order="grouped")

    def merge():
        merged = RankingAccumulator("mrr")
        for part in parts:
            merged.merge(part)
        return merged

    if returns:
        with pytest.raises(ValueError, match="returns after other queries"):
            run()
    else:
        run()
        assert one.result()["mrr"].n_queries == merge().result()["mrr"].n_queries == len(set(ids))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("abc", "xay"),
        ("ab", "ac"),
        ("ba", "ca"),
        ("abc", "cba"),
        ("abcd", "xby"),
        ("ab", "ba"),
    ],
)
def test_streams_that_share_a_query_are_not_merged(first, second):
    one, two = (
        RankingAccumulator("mrr").update_sorted(
            [1] * len(ids), [0] * len(ids), list(ids), order="grouped"
        )
        for ids in (first, second)
    )
    before = one.result()
    for a, b in ((one, two), (two, one)):
        with pytest.raises(ValueError, match=r"returns after|share a query"):
            pickle.loads(pickle.dumps(a)).merge(b)
    assert one.result() == before
    one.close().merge(two.close())  # the ids stand for other queries
    assert one.result()["mrr"].n_queries == len(first) + len(second)


def test_eight_bytes_for_each_query():
    stream = RankingAccumulator("precision")
    for start in range(0, 60_000, 3_000):
        ids = np.arange(start, start + 3_000) * 2_654_435_761 % 2**32
        stream.update_sorted(np.ones(3_000), np.zeros(3_000), ids, order="grouped")
    assert 8 * 60_000 <= len(pickle.dumps(stream._state)) < 8 * 60_000 + 8_192
    assert len(pickle.dumps(stream.close()._state)) < 4_096


@examples(30)
@given(st.lists(st.sets(st.integers(0, 2**64 - 1), max_size=40), max_size=12))
def test_the_set_of_ended_queries(batches):
    known, ended = set(), KeySet()
    for batch in batches:
        keys = np.array(sorted(batch), dtype=np.uint64)
        assert ended.among(keys).tolist() == [key in known for key in sorted(batch)]
        ended = ended.plus(np.array(sorted(batch - known), dtype=np.uint64))
        known |= batch
        assert len(ended) == len(known)
        assert len(ended.levels) <= 8


DAY = datetime.date(2020, 1, 31)
IDS = [
    [0, -1, 2**63 - 1, 2**63, 1.5, -1.5, 0.1, Decimal("0.1"), Fraction(1, 3), True, 7],
    ["", "a", "a\0", "aa", "ü", b"a", b"", ("a", "b"), ("ab",), ("a", 1), ((1, 2), 3), (1, (2, 3))],
    [uuid.UUID(int=5), uuid.UUID(int=6), DAY, datetime.datetime(2020, 1, 31, 1), datetime.time(1)],
]


@pytest.mark.parametrize("ids", IDS, ids=["numbers", "texts", "others"])
def test_different_ids_have_different_keys(ids):
    column = np.fromiter(ids, dtype=object, count=len(ids))
    keys = keys_of(column)
    assert len(set(keys.tolist())) == len(ids)
    assert keys_of(column[::-1]).tolist() == keys.tolist()[::-1]


def test_equal_ids_of_several_types_have_equal_keys():
    whole = [np.array([3, -4], dtype=kind) for kind in ("i1", "i8", "f4", "f8", object)]
    whole.append(np.array([Decimal("3.00"), Fraction(-4)], dtype=object))
    whole.append(np.array([np.int8(3), np.float32(-4)], dtype=object))
    assert len({tuple(keys_of(ids).tolist()) for ids in whole}) == 1
    halves = [np.array([0.5, -0.0]), np.array([Decimal("0.5"), 0], dtype=object)]
    assert len({tuple(keys_of(ids).tolist()) for ids in halves}) == 1
    texts = [np.array(["b", "ü"], dtype=kind) for kind in ("U1", "U7", object)]
    assert len({tuple(keys_of(ids).tolist()) for ids in texts}) == 1


def test_ids_that_cannot_be_remembered_are_refused():
    ids = np.array([frozenset("a"), frozenset("b"), frozenset("c")], dtype=object)
    with pytest.raises(TypeError, match="ids of the type frozenset are not supported"):
        RankingAccumulator("mrr").update_sorted([1] * 3, [0] * 3, ids, order="grouped")


@pytest.mark.parametrize("strings", [False, True])
@pytest.mark.parametrize("batch_rows", [7, 100, 10**6])
def test_files_and_batches(tmp_path, strings, batch_rows):
    columns = grouped(make_documents(long=300))
    if strings:
        columns["qid"] = np.array([f"ü{i}" for i in columns["qid"]], dtype=object)
    table = pa.table(columns)
    for i, start in enumerate(range(0, table.num_rows, 90)):
        pq.write_table(table[start : start + 90], tmp_path / f"{i}.parquet", row_group_size=40)
    options = {"weight": "weight", "order": "grouped", "batch_rows": batch_rows}
    expected = pytest.approx(in_memory(columns, weight="weight"), **EXACT)
    assert evaluate_parquet(tmp_path, METRICS, **options) == expected
    assert evaluate_batches(table.to_reader(max_chunksize=31), METRICS, **options) == expected
    week = RankingAccumulator(METRICS)
    for path in sorted(tmp_path.iterdir(), key=lambda path: int(path.stem)):
        scores = evaluate_parquet(path, week, **options)
    assert scores == expected
    with pytest.raises(ValueError, match=r"returns after|share a query"):
        evaluate_parquet(tmp_path / "1.parquet", week, **options)
    with pytest.raises(ValueError, match=r"not sorted by query.*order='grouped'"):
        evaluate_parquet(tmp_path, "mrr")


def test_a_file_in_which_a_query_returns_is_named(tmp_path):
    for i, ids in enumerate([[3, 3, 1], [1, 7, 3, 7]]):
        part = {"qid": ids, "label": [1] * len(ids), "score": [0] * len(ids)}
        pq.write_table(pa.table(part), tmp_path / f"{i}.parquet")
    for batch_rows in (1, 2, 100):
        with pytest.raises(ValueError, match=r"1.parquet, row 2 \(.*: .*query: 3 returns after"):
            evaluate_parquet(tmp_path, "mrr", order="grouped", batch_rows=batch_rows)


def test_an_interrupted_run_resumes(tmp_path):
    columns = grouped(make_documents())
    path, state = tmp_path / "rows.parquet", tmp_path / "state"
    pq.write_table(pa.table(columns), path)
    options = {"order": "grouped", "batch_rows": 20}
    whole = RankingAccumulator(METRICS)
    evaluate_parquet(path, whole, **options)
    calls = []

    def interrupt(*call):
        calls.append(call)
        if len(calls) == 6:
            raise KeyboardInterrupt

    saved = {"checkpoint": state, "checkpoint_seconds": 0}
    with pytest.raises(KeyboardInterrupt):
        evaluate_parquet(path, METRICS, progress=interrupt, **options, **saved)
    with pytest.raises(ValueError, match="order differ"):
        evaluate_parquet(path, METRICS, batch_rows=20, **saved)
    resumed = RankingAccumulator(METRICS)
    evaluate_parquet(path, resumed, progress=lambda *call: calls.append(call), **options, **saved)
    assert (calls[5][0], calls[6][0]) == (120, 140)
    assert resumed.result() == whole.result()
    header, restored = from_bytes(to_bytes({}, whole._state))
    assert header == {}
    assert pickle.dumps(restored.open.ended) == pickle.dumps(whole._state.open.ended)


def test_orders_and_complete_batches_are_not_mixed():
    rows = [1, 1], [2, 1]
    stream = RankingAccumulator("mrr").update_sorted(*rows, [2, 1], order="grouped")
    with pytest.raises(ValueError, match="cannot be mixed"):
        stream.update_sorted(*rows, [3, 4])
    with pytest.raises(ValueError, match="cannot be mixed"):
        RankingAccumulator("mrr").update_sorted(*rows, [3, 4]).merge(stream)
    stream.update_sorted(*rows, [5, 6], order="grouped")
    with pytest.raises(ValueError, match="query: 1 returns"):
        stream.update(*rows, [1, 9])
    with pytest.raises(ValueError, match="query 6 is split"):
        stream.update(*rows, [6, 9])
    assert stream.update(*rows, [7, 9]).result()["mrr"].n_queries == 6
    with pytest.raises(ValueError, match="order must be one of"):
        stream.update_sorted(*rows, [10, 11], order="any")


def test_parts_of_one_query_must_agree():
    stream = RankingAccumulator("mrr").update_sorted(
        [1, 1], [1, 1], ["b", "a"], sample_weight=[1, 2], order="grouped"
    )
    with pytest.raises(ValueError, match="varies within query a, whose rows so far have 2"):
        stream.update_sorted([1], [1], ["a"], sample_weight=[3], order="grouped")
