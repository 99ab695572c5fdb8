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
from sklearn_rankscore.ranking import plain as plain_sort
from sklearn_rankscore.ranking import queries, ranking
from sklearn_rankscore.ranking.fast import (
    documents,
    engine,
    fill,
    grades,
    keys,
    row_sorts,
    score_order,
    width_buckets,
)
from sklearn_rankscore.ranking.label_functions import linear

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
    modules = [blocks_of, documents, engine, fill, grades, keys, row_sorts, score_order]
    modules += [plain_sort, width_buckets]
    with pytest.MonkeyPatch.context() as patch:
        for name, value in values.items():
            for module in modules:
                if hasattr(module, name) and not (name == "SHORT" and module is blocks_of):
                    patch.setattr(module, name, value)
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


MANY_TIES = {"SAMPLED_CALL": 0, "MANY": -1, "MANY_IN_SHORT": -1}
SHORTCUTS = {
    "sorting networks": ({"ROWS_PER_COMPARISON": 0}, {"ROWS_PER_COMPARISON": 10**9}),
    "tournaments": (
        {"SHORT": 1, "MEDIUM": 1, "TOURNAMENT_RATIO": 1},
        {"SHORT": 1, "MEDIUM": 10**9},
    ),
    "counted grades": (
        {"SHORT": 1, "COUNTED_RANKS": 10**9, "COUNTED_GRADES": 10**9},
        {"SHORT": 1, "COUNTED_RANKS": 0},
    ),
    "joined buckets": (
        {"SMALL_BUCKET": 10**9, "SMALL_SHORT_BUCKET": 10**9},
        {"SMALL_BUCKET": 0, "SMALL_SHORT_BUCKET": 0},
    ),
    "buckets joined for a cut-off": ({"LARGE_BLOCK": 10**9}, {"LARGE_BLOCK": 1}),
    "chunks": ({"CHUNK": 1}, {"CHUNK": 10**9}),
    "padding of long queries": ({"LONG": 10**9}, {"LONG": 1}),
    "keys for many ties": ({**MANY_TIES, "CROWDED": 0}, {"MANY": 10**9, "MANY_IN_SHORT": 10**9}),
    "longer keys for close scores": (
        {"SAMPLED_CALL": 0, "COLLIDING": 0},
        {"SAMPLED_CALL": 0, "COLLIDING": 10**9},
    ),
    "steps": ({"STEP": 3}, {"STEP": 10**9}),
    "short keys": ({**MANY_TIES, "SHALLOW": 10**9}, {**MANY_TIES, "SHALLOW": -1}),
    "few distinct scores": ({**MANY_TIES, "SLOTS": 2**16}, {**MANY_TIES, "SLOTS": 2}),
    "rows without ties beside others": (
        {**MANY_TIES, "MANY_TIED_ROWS": 0},
        {**MANY_TIES, "MANY_TIED_ROWS": 1},
    ),
    "candidates": ({"SHORT": 1, "FEW": 1}, {"SHORT": 1, "FEW": 0}),
    "columns of wide rows": ({"WIDEST_SORTED": 10**9}, {"WIDEST_SORTED": 5}),
    "parts of a look-up": ({"LOOK_UP": 3}, {"LOOK_UP": 10**9}),
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
    "last bits": lambda n, random: 1 + random.integers(0, 60, n) * 2.0**-52,
    "tiny and large": lambda n, random: random.choice([0.0, 5e-324, -1e-320, 1e-30, 1e300], n),
    "infinite": lambda n, random: random.choice(
        [-np.inf, np.inf, 1e308, -0.0, 0.0, 2.0**32 + 5], n
    ),
    "decimals": lambda n, random: random.normal(size=n).round(2),
    "large integers": lambda n, random: random.integers(2**40, 2**40 + 90, n),
    "many distinct": lambda n, random: random.choice(random.normal(size=2000), n),
    "times of an hour": lambda n, random: 1.7e9 + random.random(n) * 3600,
    "one that occurs late": lambda n, random: np.arange(n) % 7 + (np.arange(n) > n - 3) * 0.1,
}


@pytest.mark.parametrize("ties", oracle.TIES)
@pytest.mark.parametrize("scores", SCORES_WITH_TIES)
@pytest.mark.parametrize("longest", [12, 40, 700])
def test_kinds_of_scores(longest, scores, ties):
    random = np.random.default_rng(0)
    sizes = random.integers(longest * 4 // 5, longest, 20_000 // longest)
    g = np.repeat(np.arange(len(sizes)), sizes)
    y, s = random.integers(0, 7, len(g)), SCORES_WITH_TIES[scores](len(g), random)
    for names in (["ndcg@10", "err@3(max_grade=6)", "map@5"], ["ndcg", "mrr", "precision@40"]):
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
    with settings(SHALLOW=-1, MANY=10**9):
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


@pytest.mark.parametrize("width", range(2, 17))
def test_a_network_sorts_all_zeros_and_ones(width):
    """A network that sorts these sorts everything."""
    scores = np.arange(2**width)[:, None] >> np.arange(width) & 1
    for block in (
        task() for task in engine.plan_blocks(queries.read_queries(scores, scores), 9, 1)
    ):
        expected = -np.sort(-scores[block.queries], axis=1)[:, :9]
        np.testing.assert_array_equal(block.by_rank(lambda labels: labels), expected)


@pytest.mark.parametrize("scale", [1, 1 / 3])
@pytest.mark.parametrize("n_grades", [1, 5, 8, 60])
@pytest.mark.parametrize("width", [3, 16, 17, 129, 256, 1280])
def test_the_ideal_order_is_a_sort(width, n_grades, scale):
    random = np.random.default_rng(width)
    sizes = random.integers(1, width + 1, 30)
    g, gain = np.repeat(np.arange(30), sizes), lambda labels: 9 - labels
    y = random.integers(0, n_grades, len(g)) * scale
    for depth in (1, (width + 1) // 2, None):
        for task in engine.plan_blocks(queries.read_queries(y, y * 0.0, groups=g), depth, 1):
            block = task()
            for query, actual, negative, total in zip(
                block.queries,
                block.ideal(linear),
                block.ideal(gain),
                block.total(gain),
                strict=True,
            ):
                labels = np.sort(y[g == query])
                n = min(len(labels), len(block.ranks))
                np.testing.assert_array_equal(actual[:n], labels[::-1][:n])
                np.testing.assert_array_equal(negative[:n], np.sort(gain(labels))[::-1][:n])
                assert total == pytest.approx(gain(labels).sum(), rel=1e-13)


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
    monkeypatch.setattr(fill, "np", Dirty())
    (rank,) = engine.plan_blocks(queries.read_queries(y, s, groups=g), 10, jobs=1)
    for query, labels in enumerate(rank()._ranked):
        ranked = y[g == query][np.argsort(-s[g == query])] + 1
        assert labels.tolist() == [*ranked, 0, 0, 0][:10]


@pytest.mark.parametrize("scale", [1e-310, 1e-40, 1e300])
def test_scores_beyond_single_precision_raise_nothing(scale):
    """Also where callers let NumPy raise."""
    labels, groups = np.arange(24_000) % 5, np.arange(24_000) // 20
    normal = np.random.default_rng(0).normal(size=24_000)
    scaled = normal * scale
    with np.errstate(all="raise"):
        value = evaluate(labels, scaled, "ndcg@10", groups=groups)
    assert value == evaluate(labels, normal, "ndcg@10", groups=groups)


def test_metrics_with_different_rules_of_ties_in_one_call():
    random = np.random.default_rng(0)
    y, s = random.integers(0, 3, (3_000, 9)), random.integers(0, 4, (3_000, 9)) * 1.0
    names = [f"ndcg@5(ties={ties})" for ties in oracle.TIES] + ["map", "map(ties=reversed)"]
    together = evaluate(y, s, names, average=None)
    for name, values in plain(y, s, None, names).items():
        np.testing.assert_allclose(together[name], values, rtol=1e-13)


@pytest.mark.parametrize("labels", [[3, 5], [0.3, 0.5]])
def test_a_user_defined_gain_is_given_floats_that_occur(labels):
    """Where rows are padded, the gain sees labels that occur, and no others."""
    seen = set()

    def gain(labels):
        seen.update([*labels.ravel().tolist(), labels.dtype])
        return 2**labels - 1

    y = np.random.default_rng(0).choice(labels, 35)
    g, s = np.repeat([0, 1], [17, 18]), np.arange(35.0)
    assert ndcg_score(y, s, groups=g, gain=gain) == ndcg_score(y, s, groups=g, gain="exponential")
    assert seen == {*labels, np.dtype(float)}


def test_gains_that_are_not_monotone_in_the_label():
    random, gains = np.random.default_rng(0), np.array([3.0, 1.0, 2.0])
    y, s = random.integers(0, 3, 33), random.normal(size=33)
    ranked, discounts = gains[y[np.argsort(-s)]], 1 / np.log2(np.arange(2, 35))
    expected = ranked @ discounts / (-np.sort(-ranked) @ discounts)
    assert ndcg_score(y, s, gain=gains.tolist()) == pytest.approx(expected, rel=1e-12)


LABELS = {  # and whether they are small integers
    ("i1", (0, 62, 1)): True,
    ("u8", (0, 62, 1)): True,
    (">i4", (3, 0)): True,
    ("?", (1, 0)): True,
    ("f4", (3, 0)): True,
    ("f8", (0, 62)): True,
    ("i1", (0, -1)): False,
    ("i8", (-(2**40), 3)): False,
    ("u1", (63, 0)): False,
    ("u8", (2**40, 0)): False,
    (">i4", (256, 0)): False,
    ("f8", (63, 0)): False,
    ("f4", (0.5, 1)): False,
}


@pytest.mark.parametrize(("dtype", "labels"), LABELS)
def test_small_integers_of_any_dtype_are_grades(dtype, labels):
    """Wherever the last one stands among many."""
    y = np.resize(np.array(labels[1:], dtype), 2**17)
    y[-1] = labels[0]
    read = queries.read_queries(y, np.zeros(len(y)), groups="none")
    assert (read.grades is not None) is LABELS[dtype, labels]
    assert read.label_range == (min(labels), max(labels))
    if read.grades is not None:
        np.testing.assert_array_equal(read.grades, y.astype(int) + 1)
