"""Queries of similar size in one bucket, whatever their sizes, order and number."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_rankscore.ranking import block, read_queries
from sklearn_rankscore.ranking.fast import engine, width_buckets
from sklearn_rankscore.ranking.fast.documents import Documents


def documents(sizes, shuffled=False):
    """Documents of queries with these sizes, the queries in ascending or in random order."""
    ids = np.random.default_rng(0).permutation(len(sizes)) if shuffled else np.arange(len(sizes))
    groups = np.repeat(ids, sizes)
    return Documents(read_queries(np.ones(len(groups)), np.zeros(len(groups)), groups=groups))


SIZES = st.lists(
    st.sampled_from([1, 2, 3, 15, 16, 17, 18, 33, 64, 65, 113, 400]), min_size=1, max_size=60
)


@given(SIZES, st.booleans(), st.sampled_from([None, 1, 10, 99]), st.integers(1, 4))
def test_each_query_is_in_one_bucket_that_it_fits(sizes, shuffled, depth, jobs):
    many = documents(sizes, shuffled)
    buckets = width_buckets.width_buckets(many, depth)
    parts = width_buckets.divide_for_threads(buckets, depth, jobs)
    assert sorted(np.concatenate([part.queries for part in parts])) == [*range(len(sizes))]
    areas = [part.width * len(part.queries) for part in parts]
    assert areas == sorted(areas, reverse=True)
    for part in parts:
        own = many.sizes[part.queries]
        assert part.shortest <= own.min()
        assert own.max() <= part.width
        starts = many.starts[part.queries]
        assert (starts[1:] > starts[:-1]).all()  # in the order of their documents


@pytest.mark.parametrize("limit", [1, 100, 10**4])
@given(sizes=SIZES, jobs=st.integers(1, 4))
def test_buckets_are_divided_evenly(limit, sizes, jobs):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(width_buckets, "BLOCK_DOCUMENTS", limit)
        patch.setattr(width_buckets, "LARGE_BLOCK", limit)
        buckets = width_buckets.width_buckets(documents(sizes), None)
        for part in width_buckets.divide_for_threads(buckets, None, jobs):
            n = len(part.queries)
            assert n == 1 or (n - 1) * part.width < limit


@pytest.mark.parametrize(("jobs", "n_blocks"), [(1, 4), (2, 2)])
def test_blocks_of_tied_rows_are_small_in_one_thread_alone(jobs, n_blocks):
    tied = np.random.default_rng(0).integers(9, size=(2**14, 2**7))
    queries = read_queries(np.zeros(tied.shape), tied)
    assert len(engine.plan_blocks(queries, 10, jobs)) == n_blocks


def test_padding_is_less_than_an_eighth():
    sizes = np.arange(1, 5000)
    widths = block.padded_width(sizes)
    assert (widths >= sizes).all()
    assert (widths - sizes < np.maximum(sizes / 8, 1)).all()
    assert (widths[:16] == sizes[:16]).all()


@pytest.mark.parametrize("sizes", [[2**16 + 9, 2**16 - 1, 5, 2**16, 2**16 - 2], range(1, 601)])
def test_sizes_beyond_a_table_or_a_byte(sizes, monkeypatch):
    monkeypatch.setattr(block, "LONG", 17)  # every longer query has a width of its own
    many = documents(sizes)
    buckets = width_buckets.width_buckets(many, None)
    assert {int(n) for n in sizes} == {b.width for b in buckets} == {b.shortest for b in buckets}
