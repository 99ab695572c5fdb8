"""Fast blocks are those of the plain sort, to the last bit where sums allow it."""

from contextlib import contextmanager

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_rankscore import evaluate, ndcg_score
from sklearn_rankscore.metrics.names import METRICS
from sklearn_rankscore.ranking import block as blocks_of
from sklearn_rankscore.ranking import queries, ranking
from sklearn_rankscore.ranking.fast import (
    candidates,
    collisions,
    documents,
    engine,
    grades,
    keys,
    row_sorts,
    score_order,
    width_buckets,
)

NAMES = ["ndcg@3", "ndcg", "map@5", "mrr", "precision@2", "err@4", "hit_rate@1", "spearman"]
CUT_OFF = ["ndcg@3", "map@5", "mrr@4", "precision@2", "err@4", "hit_rate@1"]
SCORES = [-np.inf, np.inf, 0.0, -0.0, 1.0, 1.0 + 2**-52, 1.0 - 2**-53, -1.5, 5e-324, 1e300, 2.0]


@st.composite
def ragged(draw, longest=60):
    """Labels, scores that collide once cut off, and ids in any order."""
    n = draw(st.integers(1, longest))
    y = draw(st.lists(st.integers(0, 4), min_size=n, max_size=n))
    s = draw(st.lists(st.sampled_from(SCORES), min_size=n, max_size=n))
    g = draw(st.lists(st.integers(0, 6), min_size=n, max_size=n))
    return np.array(y), np.array(s), np.array(g)


@contextmanager
def settings(**values):
    """Other constants, which always or never take one of the shortcuts."""
    modules = {"grades": grades, "keys": keys, "row_sorts": row_sorts, "buckets": width_buckets}
    modules |= {"candidates": candidates, "documents": documents, "collisions": collisions}
    modules |= {"engine": engine, "block": blocks_of}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in values.items():
            if name == "SHORT":
                for module in (
                    *(candidates, engine, grades, keys, row_sorts, score_order, width_buckets),
                ):
                    patch.setattr(module, name, value)
            else:
                module, _, constant = name.partition("__")
                patch.setattr(modules[module], constant, value)
        yield


def plain(y, s, g, names=NAMES, **options):
    """The same by the plain sort."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranking, "PLAIN_UP_TO", np.inf)
        return evaluate(y, s, names, groups=g, average=None, **options)


def assert_equal_bits(actual, expected):
    assert actual.keys() == expected.keys()
    for name, values in expected.items():
        np.testing.assert_array_equal(actual[name], values, err_msg=name)


@pytest.mark.parametrize("scale", [1, 0.3])  # labels that are small integers, and others
@given(ragged(), st.sampled_from(oracle.TIES))
def test_fast_blocks_give_the_values_of_plain_ones(scale, data, ties):
    y, s, g = data[0] * scale, *data[1:]
    fast = evaluate(y, s, NAMES, groups=g, average=None, ties=ties)
    expected = plain(y, s, g, ties=ties)
    for name in NAMES:
        np.testing.assert_allclose(fast[name], expected[name], rtol=1e-13, atol=0, err_msg=name)


@pytest.mark.filterwarnings("ignore:(in )?nearly all queries:UserWarning")
@pytest.mark.parametrize("ties", oracle.TIES)
@pytest.mark.parametrize("decimals", [9, 1, 0])
@pytest.mark.parametrize("size", [12, 150, 900])
def test_labels_that_are_no_grades(size, decimals, ties):
    random = np.random.default_rng(size)
    sizes = random.integers(size * 2 // 3, size + 1, 40_000 // size)  # enough for a sample of ties
    g = np.repeat(np.arange(len(sizes)), sizes)
    y, s = random.random(len(g)), random.normal(size=len(g)).round(decimals)
    s[random.random(len(g)) < 0.1] = -np.inf
    for names in (NAMES, CUT_OFF):
        fast = evaluate(y, s, names, groups=g, average=None, ties=ties)
        for name, expected in plain(y, s, g, names, ties=ties).items():
            np.testing.assert_allclose(fast[name], expected, rtol=1e-13, atol=0, err_msg=name)


@given(ragged(), st.sampled_from([None, 1, 3, 40]))
def test_fast_blocks_are_plain_blocks(data, depth):
    read = queries.read_queries(*data[:2], groups=data[2])
    fast, slow = ({}, {})
    for tasks, rows in (
        (engine.plan_blocks(read, depth, 1), fast),
        (blocks_of.plan_blocks(read, depth), slow),
    ):
        for block in (task() for task in tasks):
            for i, query in enumerate(block.queries.tolist()):
                rows[query] = _row(block, i)
    assert fast == slow


def _row(block, i):
    """All that a formula may ask of one query, in numbers that no rounding changes."""
    size = min(block.sizes[i], len(block.ranks))
    gain = lambda labels: 2.0**labels  # noqa: E731
    row = {"size": int(block.sizes[i]), "retrieved": int(block.retrieved[i])}
    for ties in ("stable", "reversed", "optimistic", "pessimistic"):
        row[ties] = block.by_rank(gain, ties)[i, :size].tolist()
    offset, group_size = (
        np.broadcast_to(a, (len(block.sizes), len(block.ranks))) for a in block.tie_groups()
    )
    row["ties"] = offset[i, :size].tolist(), group_size[i, :size].tolist()
    row["average"] = np.round(block.by_rank(gain)[i, :size], 9).tolist()
    row["ideal"] = block.ideal(gain)[i, :size].tolist()
    row["total"] = float(block.total(gain)[i])
    return row


MANY_TIES = {
    "documents__SAMPLED_CALL": 0,
    "documents__MANY": -1,
    "documents__MANY_IN_SHORT": -1,
}
SHORTCUTS = {
    "sorting networks": (
        {"row_sorts__ROWS_PER_COMPARISON": 0},
        {"row_sorts__ROWS_PER_COMPARISON": 10**9},
    ),
    "tournaments": (
        {"SHORT": 1, "row_sorts__MEDIUM": 1, "row_sorts__TOURNAMENT_RATIO": 1},
        {"SHORT": 1, "row_sorts__MEDIUM": 10**9},
    ),
    "counted grades": (
        {"SHORT": 1, "grades__SORTED_GRADES": 1},
        {"SHORT": 1, "grades__SORTED_GRADES": 10**9},
    ),
    "sums of bytes": (
        {"SHORT": 1, "grades__SORTED_GRADES": 1, "grades__BYTE_SUM": 2},
        {"SHORT": 1, "grades__SORTED_GRADES": 1},
    ),
    "joined buckets": (
        {"buckets__SMALL_BUCKET": 10**9, "buckets__SMALL_SHORT_BUCKET": 10**9},
        {"buckets__SMALL_BUCKET": 0, "buckets__SMALL_SHORT_BUCKET": 0},
    ),
    "buckets joined for a cut-off": ({"buckets__LARGE_BLOCK": 10**9}, {"buckets__LARGE_BLOCK": 1}),
    "chunks": ({"keys__CHUNK": 1}, {"keys__CHUNK": 10**9}),
    "padding of long queries": ({"block__LONG": 10**9}, {"block__LONG": 1}),
    "a table of sizes": ({"buckets__TABLED_SIZES": 10**9}, {"buckets__TABLED_SIZES": 3}),
    "keys for many ties": (
        {**MANY_TIES, "keys__CROWDED": 0},
        {"documents__MANY": 10**9, "documents__MANY_IN_SHORT": 10**9},
    ),
    "longer keys for close scores": (
        {"documents__SAMPLED_CALL": 0, "keys__COLLIDING": 0},
        {"documents__SAMPLED_CALL": 0, "keys__COLLIDING": 10**9},
    ),
    "steps": ({"candidates__STEP": 3}, {"candidates__STEP": 10**9}),
    "short keys that are exact": (
        {**MANY_TIES, "keys__SHALLOW": 10**9},
        {**MANY_TIES, "keys__SHALLOW": -1},
    ),
    "rows without ties beside others": (
        {**MANY_TIES, "engine__MANY_ROWS": 0},
        {**MANY_TIES, "engine__MANY_ROWS": 1},
    ),
    "candidates": (
        {"SHORT": 1, "candidates__FEW": 1},
        {"SHORT": 1, "candidates__FEW": 0},
    ),
    "parts of a look-up": ({"grades__LOOK_UP": 3}, {"grades__LOOK_UP": 10**9}),
}


@pytest.mark.slow
@pytest.mark.parametrize("shortcut", SHORTCUTS)
@given(data=ragged(), ties=st.sampled_from(oracle.TIES))
def test_a_shortcut_changes_no_bit(shortcut, data, ties):
    on, off = SHORTCUTS[shortcut]
    for names in (NAMES, CUT_OFF):  # with keys of 64 bits, and of 32
        with settings(**on):
            with_shortcut = evaluate(*data[:2], names, groups=data[2], average=None, ties=ties)
        with settings(**off):
            expected = evaluate(*data[:2], names, groups=data[2], average=None, ties=ties)
        if shortcut == "padding of long queries":  # sums over more columns
            for name in names:
                np.testing.assert_allclose(with_shortcut[name], expected[name], rtol=1e-14, atol=0)
        else:
            assert_equal_bits(with_shortcut, expected)


def test_padding_beyond_what_32_bits_can_tell_apart():
    """Two long queries in one block; the shorter one has fewer documents than the cut-off."""
    random = np.random.default_rng(0)
    sizes = np.array([262_000, 123_000])
    g, y = np.repeat([0, 1], sizes), random.integers(0, 63, sizes.sum())
    s = random.permutation(len(y)) * 1.0
    s[sizes[0] + 5 :] = -np.inf
    actual = evaluate(y, s, ["ndcg@32(gain=linear)", "hits@32"], groups=g, average=None)
    for q in (0, 1):
        names = ["ndcg@32(gain=linear)", "hits@32"]
        alone = evaluate(y[g == q], s[g == q], names, groups="none")
        assert alone == {name: values[q] for name, values in actual.items()}
    assert actual["hits@32"][1] == np.count_nonzero(y[g == 1][:5])


@given(ragged())
def test_grouped_rows_agree_with_shuffled_ones(data):
    y, s, g = data
    order = np.argsort(g, kind="stable")
    together = evaluate(y[order], s[order], NAMES, groups=g[order], average=None)
    apart = evaluate(y, s, NAMES, groups=g, average=None)
    for name in NAMES:
        np.testing.assert_array_equal(together[name], apart[name])


@pytest.mark.filterwarnings("ignore:(in )?nearly all queries:UserWarning")
def test_a_query_alone_has_the_same_bits_as_among_others(monkeypatch):
    monkeypatch.setattr(ranking, "PLAIN_UP_TO", 256)
    random = np.random.default_rng(1)
    g = np.sort(random.integers(0, 40, 2000))
    y, s = random.random(2000), random.normal(size=2000).round(1)
    among = evaluate(y, s, ["ndcg", "map"], groups=g, average=None)
    for i, q in enumerate(np.unique(g)):
        alone = evaluate(y[g == q], s[g == q], ["ndcg", "map"])
        assert alone == {name: values[i] for name, values in among.items()}


@pytest.mark.slow
@pytest.mark.parametrize("plain_up_to", [0, 256, np.inf])
@pytest.mark.parametrize("longest", [16, 70])
@pytest.mark.parametrize("scale", [1, 0.24])  # labels that are grades, and others
def test_queries_alone_have_the_same_bits_as_among_others(longest, scale, plain_up_to, monkeypatch):
    """Of every metric, by the plain sort, by the fast one, and by both."""
    monkeypatch.setattr(ranking, "PLAIN_UP_TO", plain_up_to)
    random = np.random.default_rng(longest)
    g = np.repeat(np.arange(200), random.integers(2, longest + 1, 200))
    y, s = scale * random.integers(0, 5, len(g)), random.normal(size=len(g)).round(1)
    names = [name for name in METRICS if scale < 1 or name != "pfound"]
    with_cutoff = [name for name in names if "k" in METRICS[name].options]
    for asked in (names, *([f"{name}@{k}" for name in with_cutoff] for k in (3, 9, 30))):
        among = evaluate(y, s, asked, groups=g, average=None)
        for i in range(0, 200, 4):
            alone = evaluate(y[g == i], s[g == i], asked, average=None)
            assert_equal_bits(alone, {name: values[[i]] for name, values in among.items()})


@pytest.mark.slow
@pytest.mark.parametrize("documents", [1, 64, 2**10])
@pytest.mark.parametrize("n_jobs", [1, 2, 4])
@pytest.mark.parametrize("scale", [1, 0.7])  # the rounding of sums of the second depends on order
def test_blocks_of_any_size_and_threads_give_the_same_bits(documents, n_jobs, scale, monkeypatch):
    random = np.random.default_rng(0)
    g = random.integers(0, 60, 3000)
    y, s = random.integers(0, 5, 3000) * scale, random.normal(size=3000).round(1)
    for names in (NAMES[:5], CUT_OFF):
        before = evaluate(y, s, names, groups=g, average=None)
        with monkeypatch.context() as blocks:
            blocks.setattr(ranking, "PARALLEL_SHALLOW", 0)
            blocks.setattr(width_buckets, "LARGE_BLOCK", documents)
            for module in (blocks_of, width_buckets):
                blocks.setattr(module, "BLOCK_DOCUMENTS", documents)
            after = evaluate(y, s, names, groups=g, average=None, n_jobs=n_jobs)
        assert_equal_bits(after, before)


@pytest.mark.parametrize("scale", [1, 0.3])
@pytest.mark.parametrize("width", [32, 300])
def test_documents_that_were_not_retrieved_precede_padding(width, scale):
    """They tie with it, and a sort of the scores alone mixes them."""
    random = np.random.default_rng(0)
    sizes = random.integers(width - width // 10, width + 1, 200)
    g = np.repeat(np.arange(200), sizes)
    y, s = random.integers(0, 5, len(g)) * scale, random.permutation(len(g)) * 1.0
    s[np.cumsum(sizes) - random.integers(1, sizes + 1)] = -np.inf  # one of each query
    names = ["kendall_tau", "spearman", "query_auc"]  # these rank them last
    fast = evaluate(y, s, names, groups=g, average=None)
    for name, expected in plain(y, s, g, names).items():
        np.testing.assert_allclose(fast[name], expected, rtol=1e-13, err_msg=name)


def test_padding_collides_with_nothing(monkeypatch):
    """Rows shorter than the cut-off are not sorted twice."""
    monkeypatch.setattr(engine, "resolve_collisions", None)
    g = np.repeat(np.arange(9), np.arange(17, 26))
    s = np.random.default_rng(0).permutation(len(g)) * 1.0
    assert evaluate(np.ones(len(g)), s, "ndcg@30", groups=g) == {"ndcg@30": 1.0}


def distinct(n, documents, random):
    """Scores with that many distinct values."""
    return random.integers(0, n, documents) / 7


SCORES_WITH_TIES = {
    "a few large groups": lambda n, random: distinct(6, n, random),
    "small groups": lambda n, random: distinct(200, n, random),
    "one group": lambda n, random: np.zeros(n),
    "single precision": lambda n, random: distinct(200, n, random).astype(np.float32),
    "half precision": lambda n, random: distinct(200, n, random).astype(np.float16),
    "integers": lambda n, random: random.integers(-100, 100, n),
    "not all retrieved": lambda n, random: np.where(
        random.random(n) < 0.9, -np.inf, distinct(200, n, random)
    ),
    "too close for 32 bits": lambda n, random: 1 + 1e-12 * distinct(200, n, random),
    "too large for 32 bits": lambda n, random: 1e200 * (distinct(200, n, random) - 10),
}


@pytest.mark.parametrize("ties", oracle.TIES)
@pytest.mark.parametrize("scores", SCORES_WITH_TIES)
@pytest.mark.parametrize("longest", [40, 700])
def test_ties_in_long_queries(longest, scores, ties):
    """Documents that cannot be among the first ranks are left out of the second sort."""
    random = np.random.default_rng(0)
    sizes = random.integers(longest * 4 // 5, longest, 20_000 // longest)
    g = np.repeat(np.arange(len(sizes)), sizes)
    y, s = random.integers(0, 7, len(g)), SCORES_WITH_TIES[scores](len(g), random)
    names = ["ndcg@10", "err@3(max_grade=6)", "map@5"]
    fast = evaluate(y, s, names, groups=g, ties=ties, average=None)
    for name, expected in plain(y, s, g, names, ties=ties).items():
        np.testing.assert_allclose(fast[name], expected, rtol=1e-12, atol=1e-15, err_msg=name)


@pytest.mark.parametrize("ties", oracle.TIES)
@pytest.mark.parametrize("unit", [1.0, 1e200])
def test_ties_in_queries_just_shorter_than_the_cut_off(unit, ties):
    """A block that is twice as wide as the cut-off holds them, too."""
    random = np.random.default_rng(0)
    sizes = np.repeat([33, 70], 20)
    g = np.repeat(np.arange(40), sizes)
    y, s = random.integers(0, 5, len(g)), unit * random.integers(0, 9, len(g))
    fast = evaluate(y, s, "ndcg@34", groups=g, ties=ties, average=None)
    expected = plain(y, s, g, ["ndcg@34"], ties=ties)
    np.testing.assert_allclose(fast["ndcg@34"], expected["ndcg@34"], rtol=1e-12)


def test_long_keys_in_short_rows():
    """A sorting network that stops early leaves no keys to sort again."""
    random = np.random.default_rng(0)
    y, s = random.integers(0, 5, (8000, 16)), random.normal(size=(8000, 16)).round(1)
    with settings(keys__SHALLOW=-1, documents__MANY=10**9):
        fast = evaluate(y, s, "ndcg@10", average=None)
    expected = plain(y, s, None, ["ndcg@10"])
    np.testing.assert_allclose(fast["ndcg@10"], expected["ndcg@10"], rtol=1e-12)


@pytest.mark.parametrize("n_queries", [50, 64])
def test_ties_across_a_deep_cut_off(n_queries):
    """Beyond 32 ranks keys have 64 bits, and not all rows are sorted to their end."""
    random = np.random.default_rng(0)
    y, s = random.integers(0, 3, (n_queries, 64)), random.integers(0, 20, (n_queries, 64))
    expected = plain(y, s, None, ["ndcg@40"])
    np.testing.assert_allclose(
        ndcg_score(y, s, k=40, average=None), expected["ndcg@40"], rtol=1e-12
    )


def test_scores_that_single_precision_cannot_distinguish_are_not_tied():
    s = [[2.0, 1.0, 1.0], [2.0, 1.0 + 1e-12, 1.0]]
    (rank,) = engine.plan_blocks(queries.read_queries([[0, 1, 0]] * 2, s), 2, jobs=1)
    assert rank()._tied.rows.tolist() == [0]
