"""Accumulators that hold the same batches are not merged; copies that were empty are."""

import multiprocessing
import os
import pickle
import time
from copy import copy, deepcopy
from functools import reduce

import pandas as pd
import pytest

from sklearn_rankscore import RankingAccumulator, evaluate_batches
from sklearn_rankscore.streaming.checkpoint_format import from_bytes, to_bytes
from sklearn_rankscore.streaming.state import State


def by_pickle(accumulator):
    return pickle.loads(pickle.dumps(accumulator))


def by_checkpoint(accumulator):
    resumed = RankingAccumulator("mrr")
    _, resumed._state = from_bytes(to_bytes({}, accumulator._state))
    return resumed


def add(accumulator, query="a", method="update"):
    """Add a query whose reciprocal rank is one half."""
    return getattr(accumulator, method)([0, 1], [2, 1], [query, query])


def n_queries(accumulator):
    return accumulator.result()["mrr"].n_queries


COPIES = [copy, deepcopy, by_pickle, by_checkpoint]


@pytest.mark.parametrize("copied", COPIES)
@pytest.mark.parametrize("method", ["update", "update_sorted"])
def test_a_copy_is_refused_whatever_follows(copied, method):
    first = add(RankingAccumulator("mrr"), method=method).close()
    second = copied(first)
    others = [second, add(copied(first), "b"), copied(second).merge(add(RankingAccumulator("mrr")))]
    for other in others:
        for one, two in ((first, other), (other, first)):
            with pytest.raises(ValueError, match="hold the same batches, which would count twice"):
                one.merge(two)
    assert n_queries(first) == 1


@pytest.mark.parametrize("copied", COPIES)
def test_copies_of_an_empty_one_are_merged(copied):
    empty = RankingAccumulator("mrr").close()
    parts = [add(copied(empty), query) for query in "abc"]
    total = reduce(RankingAccumulator.merge, parts, empty)
    assert n_queries(total) == 3
    assert n_queries(total.merge(copied(RankingAccumulator("mrr")))) == 3


def test_what_was_merged_before_is_refused():
    total, day = RankingAccumulator("mrr"), add(RankingAccumulator("mrr"))
    total.merge(day)
    add(day, "b")
    for one, two in ((total, day), (day, total)):
        with pytest.raises(ValueError, match="was merged before"):
            one.merge(two)
    assert n_queries(total) == 1


def test_a_batch_that_is_refused_is_no_batch():
    first = RankingAccumulator("mrr")
    with pytest.raises(ValueError, match="y_true"):
        first.update([float("inf")], [1.0], ["a"])
    second = copy(first)
    assert n_queries(add(first).merge(add(second, "b"))) == 2


def test_tables_of_two_calls():
    day = pd.DataFrame({"qid": [1, 1], "label": [0, 1], "score": [2, 1]})
    total = RankingAccumulator("mrr")
    evaluate_batches(day, total)
    with pytest.raises(ValueError, match="the same batches"):
        copy(total).merge(total)
    evaluate_batches(day.assign(qid=2), total)
    assert n_queries(total) == 2


def _worker(accumulator, query, connection):
    connection.send(add(accumulator, query))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_forked_workers_are_merged():
    context = multiprocessing.get_context("fork")
    empty, parts = RankingAccumulator("mrr"), []
    for query in "abcd":
        receiving, sending = context.Pipe()
        worker = context.Process(target=_worker, args=(empty, query, sending))
        worker.start()
        parts.append(receiving.recv())
        worker.join()
    assert n_queries(reduce(RankingAccumulator.merge, parts, empty)) == 4


def test_thousands_of_merges_take_linear_time():
    def merge(n):
        states = [add(RankingAccumulator("mrr"))._state for _ in range(n)]
        start = time.process_time()
        reduce(State.merged, states)
        return time.process_time() - start

    merge(10)
    assert merge(1000) < 25 * merge(100)
