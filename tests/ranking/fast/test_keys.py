"""Keys, compared with the scores they stand for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_rankscore import evaluate
from sklearn_rankscore.ranking import read_queries
from sklearn_rankscore.ranking.fast import engine, keys
from sklearn_rankscore.ranking.fast.documents import Documents
from sklearn_rankscore.ranking.fast.width_buckets import width_buckets

FLOATS = st.floats(allow_nan=False, width=32) | st.sampled_from([0.0, -0.0, np.inf, -np.inf])


@pytest.mark.parametrize("integer", [np.int32, np.int64])
@given(st.lists(st.tuples(FLOATS, st.integers(0, 7)), min_size=1, max_size=50))
def test_keys_are_ordered_like_descending_scores(integer, documents):
    scores, labels = np.array([d[0] for d in documents]), np.array([d[1] for d in documents])
    written = np.empty(len(scores), dtype=integer)
    keys.write_keys(written, labels.astype(np.uint8), scores, mask=7)
    assert keys.labels_of(written, 7).tolist() == labels.tolist()
    high = written & ~7
    ascending = high[np.argsort(-scores, kind="stable")]
    assert (ascending[1:] >= ascending[:-1]).all()
    for score in scores:
        assert len(set(high[scores == score])) == 1


ANY_FLOATS = FLOATS | st.floats(allow_nan=False) | st.floats(0.25, 3, width=32)


@pytest.mark.parametrize("integer", [np.int32, np.int64])
@pytest.mark.parametrize(
    ("mask", "lowest", "highest"), [(1, 1e-6, 100), (7, 1e-6, 100), (63, 0.25, 3)]
)
@given(st.lists(st.tuples(ANY_FLOATS, st.integers(0, 1)), min_size=1, max_size=50))
def test_exact_keys_collide_for_equal_scores_alone(integer, mask, lowest, highest, documents):
    scores, labels = (np.array(column) for column in zip(*documents, strict=True))
    written = np.empty(len(scores), dtype=integer)
    magnitude = np.abs(scores[np.isfinite(scores) & (scores != 0)])
    usual = ((magnitude > lowest) & (magnitude < highest)).all()
    with np.errstate(over="ignore", under="ignore"):
        single = (magnitude.astype(np.float32) == magnitude).all()
    usual = usual and single if integer is np.int32 else usual or single
    if not keys.write_exact_keys(written, labels.astype(np.uint8), scores, mask):
        assert not usual
        return
    assert (keys.labels_of(written, mask) == labels).all()
    high = written >> mask.bit_length()
    assert ((high[:, None] < high) == (scores[:, None] > scores)).all()
    assert ((high[:, None] == high) == (scores[:, None] == scores)).all()


# with three bits for the label: from here on keys would reach those of padding
TOO_LARGE = 0xFF00000

INTEGERS = [
    [3.0, -7.0, 0.0, -0.0],
    [TOO_LARGE - 1, 5],
    [1 - TOO_LARGE],
    [True, False],
    [2.0**20, -1.0],
]


@pytest.mark.parametrize("scores", INTEGERS)
def test_integers_have_exact_short_keys(scores):
    written = np.empty(len(scores), dtype=np.int32)
    scores = np.array(scores)
    assert keys.write_exact_short_keys(written, np.full(len(scores), 5, np.uint8), scores, 7)
    assert (keys.labels_of(written, 7) == 5).all()
    assert (written >> 3 == -scores.astype(np.int64)).all()
    assert written.max() < np.float32(np.inf).view(np.int32)  # below padding


FRACTIONS = [0.1, 0.25, 1e300, 5e-324]

# the last ones have a small integer in their lowest 32 bits
LARGE = [np.inf, -np.inf, TOO_LARGE, -TOO_LARGE, 2**32 + 5, 2**40, 2.0**64]


@pytest.mark.parametrize("score", FRACTIONS + LARGE)
def test_other_numbers_have_none(score):
    written = np.empty(2, dtype=np.int32)
    assert not keys.write_exact_short_keys(written, 1, np.array([1, score]), 7)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_decimals", [1, 2, 3])
def test_decimals_have_the_short_keys_of_integers(n_decimals, dtype):
    integers = np.random.default_rng(0).integers(-(2**20), 2**20, 500)
    scores = (integers / 10**n_decimals).astype(dtype)
    labels = np.ones(len(scores), dtype=np.uint8)
    written = np.empty(len(scores), dtype=np.int32)
    assert keys.write_exact_short_keys(written, labels, scores, 7, 10.0**n_decimals)
    assert (written >> 3 == -integers).all()
    assert (keys.labels_of(written, 7) == 1).all()


@pytest.mark.parametrize("score", [0.15, 0.1 + 2**-56, 1e300, 2**29 + 0.1, 2**32 + 0.1, 5e-324])
def test_other_numbers_are_no_decimals(score):
    written = np.empty(2, dtype=np.int32)
    assert not keys.write_exact_short_keys(written, 1, np.array([0.1, score]), 7, 10.0)


@pytest.mark.parametrize("scores", [[1e30, 1e31], [1e-30, 1e-31], [0.0, 5e-324], [1e300, np.inf]])
def test_keys_that_cannot_be_exact_are_refused(scores):
    written = np.empty(2, dtype=np.int64)
    assert not keys.write_exact_keys(written, np.ones(2, np.uint8), np.array(scores), 63)


@pytest.mark.parametrize("scores", [[2.0**200, np.inf], [-(2.0**-200), 0.0], [0.1, 0.2]])
def test_doubles_are_refused_by_short_keys(scores):
    """Also those of few bits, which would be infinite or zero in single precision."""
    written = np.empty(2, dtype=np.int32)
    assert not keys.write_exact_keys(written, np.ones(2, np.uint8), np.array(scores), 7)


@pytest.mark.parametrize("n_bits", [10, 18, 28, 29, 35])
@given(st.lists(FLOATS, min_size=1, max_size=20))
def test_long_keys_hold_single_precision_whole(n_bits, given_scores):
    """With room for positions as well, and below the keys of padding."""
    scores, mask = np.array(given_scores, dtype=np.float32), (1 << n_bits) - 1
    scores = np.append(scores, np.nextafter(scores, np.float32(1))).astype(np.float64)
    written = np.zeros((len(scores), 2), dtype=np.int64)
    exact = keys.write_exact_keys(written, 1, np.column_stack([scores, scores]), mask)
    assert exact or n_bits > 28
    if not exact:
        return
    assert (written & mask == 1).all()
    keys.pad_keys(written, np.ones(len(scores), int), 1, mask)
    written, padding = written.T
    assert ((written[:, None] < written) == (scores[:, None] > scores)).all()
    assert not keys.collides(np.column_stack([written, padding]), mask).any()


@pytest.mark.parametrize("scale", [1e-310, 1e-40, 1e300])
def test_scores_beyond_single_precision_raise_nothing(scale):
    """Also where callers let NumPy raise."""
    labels, groups, scores = np.arange(24_000) % 5, np.arange(24_000) // 20, NORMAL * scale
    with np.errstate(all="raise"):
        value = evaluate(labels, scores, "ndcg@10", groups=groups)
    assert value == evaluate(labels, NORMAL, "ndcg@10", groups=groups)


NORMAL = np.random.default_rng(0).normal(size=24_000)
SECONDS = 1.7e9 + np.random.default_rng(1).random(24_000) * 3600


@pytest.mark.parametrize(
    ("kind", "scores", "size", "bits"),
    [
        ("spread", NORMAL, 10, 32),
        ("spread", NORMAL, 1200, 32),
        ("tied", np.round(NORMAL), 1200, 32),
        ("leaves", np.round(NORMAL) / 7, 10, 32),
        ("leaves", np.round(NORMAL) / 7 + 1, 120, 32),
        ("pairs", np.repeat(NORMAL[::2], 2), 10, 64),
        ("leaves in single precision", (np.round(NORMAL) / 7).astype(np.float32), 10, 32),
        ("saturated sigmoid", 1 / (1 + np.exp(-2 * NORMAL - 12)), 10, 64),
        ("saturated sigmoid", 1 / (1 + np.exp(-2 * NORMAL - 12)), 120, 64),
        ("times of an hour", SECONDS, 10, 64),
        ("times of an hour", SECONDS, 1200, 64),
        ("times of an hour", SECONDS, 24_000, 64),
        ("times of a day", SECONDS * 24 - 23 * 1.7e9, 1200, 32),
        ("minutes of an hour, tied", SECONDS // 60 * 60, 1200, 32),
    ],
)
def test_scores_that_are_equal_in_short_keys_have_longer_ones(kind, scores, size, bits):
    labels = np.arange(24_000) % 5
    groups = np.sort(np.random.default_rng(2).integers(0, 24_000 // size, 24_000))
    documents = Documents(read_queries(labels, scores, groups=groups))
    buckets = width_buckets(documents, 10)
    keys.fill_keys(documents, buckets, 10, 1)
    assert {8 * bucket.keys.itemsize for bucket in buckets} == {bits}
    # the definition, over all documents, where a sample can tell
    if size <= 120:
        short = scores.astype(np.float32).view(np.int32) >> 3  # three bits for the label
        for values, estimate in (
            (scores, documents.tie_size),
            (short, documents.short_key_size),
        ):
            distinct = len(np.unique(np.stack([groups, values]), axis=1).T)
            assert estimate == pytest.approx(len(values) / distinct, rel=0.2)


@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("width", [5, 20])
@pytest.mark.parametrize("integer", [np.int32, np.int64])
def test_padding_ranks_last_and_ties_with_nothing(integer, width, order):
    sizes = np.array([width - 1, width, width - 3])
    rows = np.zeros((3, width), dtype=integer, order=order)
    keys.write_keys(rows, np.ones(rows.shape, np.uint8), np.full(rows.shape, -np.inf), mask=7)
    keys.pad_keys(rows, sizes, width - 3, mask=7)
    rows.sort(axis=1)
    labels, equal = keys.labels_of(rows, 7), keys.collides(rows, 7)
    for row, size in enumerate(sizes):
        assert labels[row].tolist() == [1] * size + [0] * (width - size)
        assert equal[row].tolist() == [True] * (size - 1) + [False] * (width - size)


@given(st.lists(st.integers(1, 9), min_size=1, max_size=30), st.integers(1, 4), st.integers(1, 9))
def test_chunks_split_no_query(sizes, jobs, chunk):
    groups = np.repeat(np.random.default_rng(0).permutation(len(sizes)), sizes)
    documents = Documents(read_queries(np.ones(len(groups)), np.zeros(len(groups)), groups=groups))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(keys, "CHUNK", chunk)
        edges = keys._chunk_edges(documents, jobs).tolist()
    assert edges == sorted(set(edges))
    assert {0, len(groups)} <= set(edges) <= {*documents.starts.tolist(), len(groups)}


def test_uninitialised_memory_does_not_matter(monkeypatch):
    class Dirty:
        def __getattr__(self, name):
            return getattr(np, name)

        def empty(self, shape, dtype, order="C"):
            large = np.iinfo(dtype).max - 8 * np.arange(np.prod(shape))
            return np.array(large.reshape(shape), dtype=dtype, order=order)

    random = np.random.default_rng(0)
    g = np.repeat(np.arange(4), [12, 9, 8, 7])
    y, s = random.integers(0, 3, len(g)), random.permutation(len(g)) * 1.0
    monkeypatch.setattr(keys, "np", Dirty())
    (rank,) = engine.plan_blocks(read_queries(y, s, groups=g), 10, jobs=1)
    for query, labels in enumerate(rank()._ranked):
        ranked = y[g == query][np.argsort(-s[g == query])] + 1
        assert labels.tolist() == [*ranked, 0, 0, 0][:10]


def test_keys_that_cannot_be_exact_are_tried_on_the_first_documents_alone(monkeypatch):
    tried = []

    def write(keys, *_):
        tried.append(len(keys))
        return False

    for name in ("write_exact_short_keys", "write_exact_keys", "write_ranks"):
        monkeypatch.setattr(keys, name, lambda keys, *_, **__: write(keys))
    random = np.random.default_rng(0)
    scores = random.choice(random.normal(size=9), (200, 200))
    evaluate(np.zeros(scores.shape), scores, "ndcg@10")
    assert tried
    assert max(tried) == keys.TRIED
