"""Batches whose ids have different types, as hashes that are read in chunks."""

import io
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from sklearn_rankscore import RankingAccumulator, evaluate, query_scores

H = 2**63
IDS = [H - 3, H - 2, H - 2, H - 1, H, H, H + 1, H + 2]
DATA = {"y": [1, 1, 0, 1, 0, 1, 1, 1], "s": [1, 1, 2, 1, 2, 1, 1, 1]}
EXPECTED = query_scores(DATA["y"], DATA["s"], "mrr", groups=IDS)


def rows(start, end):
    return DATA["y"][start:end], DATA["s"][start:end], IDS[start:end]


def check(accumulator, *, per_query=False):
    result = accumulator.result()["mrr"]
    assert result.n_queries == 6
    assert result.mean == EXPECTED.mean()["mrr"] == pytest.approx(5 / 6)
    if per_query:
        ids, values = accumulator.query_values()
        assert ids.tolist() == EXPECTED.ids.tolist()
        assert values["mrr"].tolist() == EXPECTED["mrr"].tolist()


@pytest.mark.parametrize("order", ["ascending", "grouped"])
@pytest.mark.parametrize("cuts", [(0, 4, 8), (0, 3, 5, 8), (0, 1, 4, 5, 6, 8), range(9)], ids=str)
@pytest.mark.parametrize("merged", [False, True])
def test_integers_below_and_above_2_63(order, cuts, merged):
    """NumPy reads the lower ones as int64 and the others as uint64; together, as floats."""
    whole = RankingAccumulator("mrr", per_query=True)
    for start, end in pairwise(cuts):
        part = RankingAccumulator("mrr", per_query=True) if merged else whole
        part.update_sorted(*rows(start, end), order=order)
        if merged:
            whole.merge(part)
    check(whole, per_query=True)


def test_complete_batches():
    accumulator = RankingAccumulator("mrr", per_query=True)
    accumulator.update(*rows(0, 4))
    accumulator.update(*rows(4, 8))
    check(accumulator, per_query=True)


@pytest.mark.parametrize("size", [1, 3, 4])
def test_chunks_of_a_csv_file(size):
    text = pd.DataFrame({**DATA, "q": IDS}).to_csv(index=False)
    accumulator = RankingAccumulator("mrr")
    for chunk in pd.read_csv(io.StringIO(text), chunksize=size):
        accumulator.update_sorted(chunk["y"], chunk["s"], chunk["q"])
    check(accumulator)


def test_numbers_and_text_are_different_queries():
    y, s, ids = [1, 0, 1, 1], [1, 2, 1, 2], np.array([1, 1, "1", "1"], dtype=object)
    accumulator = RankingAccumulator("mrr")
    for batch in (slice(0, 2), slice(2, 4)):
        accumulator.update_sorted(y[batch], s[batch], list(ids[batch]), order="grouped")
    assert accumulator.result()["mrr"].n_queries == 2
    assert accumulator.scores() == evaluate(y, s, "mrr", groups=ids)
