"""Fast blocks are those of the plain sort: one table of labels, scores, shapes and constants."""

from contextlib import contextmanager

import numpy as np
import oracle
import pytest
from draws import SEEDS, Draw
from hypothesis import given
from hypothesis_profiles import examples

from sklearn_rankscore import evaluate, ndcg_score
from sklearn_rankscore.metrics.names import METRICS
from sklearn_rankscore.ranking import block, queries, ranking, ties
from sklearn_rankscore.ranking import plain as plain_sort
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


def reversed_gain(block):
    """A gain that falls with the label, of which nothing is known."""
    return (block.ideal(lambda labels: 99 - labels) / block.ranks).sum(axis=1)


SHALLOW = ["ndcg@10", "err@4(max_grade=62)", "map@5", "mrr@4", "precision@2", "hit_rate@1"]
DEEP = ["ndcg", "err(max_grade=62)", "mrr", "precision@40", "ndcg@34", "spearman", "kendall_tau"]
SCORES = [-np.inf, np.inf, 0.0, -0.0, 1.0, 1.0 + 2**-52, 1.0 - 2**-53, -1.5, 5e-324, 1e300, 2.0]


def ragged(seed, longest=60):
    """Labels, scores that collide once cut off, and ids in any order; a rule of ties."""
    draw = Draw(seed)
    n_queries = draw.one_of([1, 2, 7])
    return draw.rows(range(5), SCORES, n_queries, most=longest), draw.one_of(oracle.TIES)


@contextmanager
def settings(**values):
    """Other constants, which always or never take one of the shortcuts."""
    modules = [block, documents, engine, fill, grades, keys, plain_sort, queries, row_sorts]
    modules += [score_order, ties, width_buckets]
    with pytest.MonkeyPatch.context() as patch:
        for name, value in values.items():
            for module in modules:
                if hasattr(module, name) and not (name == "SHORT" and module in (block, ties)):
                    patch.setattr(module, name, value)
        yield


def assert_fast_is_plain(y, s, g, names, rtol=1e-12, **options):
    fast = evaluate(y, s, names, groups=g, average=None, **options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranking, "PLAIN_UP_TO", np.inf)
        plain = evaluate(y, s, names, groups=g, average=None, **options)
    for name, expected in plain.items():
        np.testing.assert_allclose(fast[name], expected, rtol=rtol, atol=1e-15, err_msg=name)


@pytest.mark.parametrize("scale", [1, 0.3])  # labels that are small integers, and others
@given(seed=SEEDS)
def test_a_few_documents(scale, seed):
    data, ties = ragged(seed)
    names = ["ndcg@3", "ndcg", "map@5", "mrr", "precision@2", "err@4", "hit_rate@1", "spearman"]
    assert_fast_is_plain(data[0] * scale, *data[1:], names, rtol=1e-13, ties=ties)


def distinct(n, documents, random):
    """Scores with that many distinct values."""
    return random.integers(0, n, documents) / 7


SCORES_OF = {
    "no ties": lambda n, random: random.permutation(n) * 1.0,
    "a few large groups": lambda n, random: distinct(6, n, random),
    "small groups": lambda n, random: distinct(200, n, random),
    "one group": lambda n, random: np.zeros(n),
    "single precision": lambda n, random: distinct(200, n, random).astype(np.float32),
    "half precision": lambda n, random: distinct(200, n, random).astype(np.float16),
    "integers": lambda n, random: random.integers(-100, 100, n),
    "few retrieved": lambda n, random: np.where(
        random.random(n) < 0.9, -np.inf, distinct(200, n, random)
    ),
    "nearly all retrieved": lambda n, random: np.where(
        random.random(n) < 0.05, -np.inf, random.permutation(n)
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
    "times of an hour": lambda n, random: 1.7e9 + random.random(n) * 3600,
    "one that occurs late": lambda n, random: np.arange(n) % 7 + (np.arange(n) > n - 3) * 0.1,
}
LABELS_OF = {
    "grades": lambda n, random: random.integers(0, 7, n),
    "many grades": lambda n, random: random.integers(0, 60, n),
    "one grade": lambda n, random: np.ones(n),
    "reals": lambda n, random: 4 * random.random(n),
}


def some_queries(longest, labels, scores, random):
    sizes = random.integers(longest * 4 // 5, longest, 20_000 // longest)
    n, g = sizes.sum(), np.repeat(np.arange(len(sizes)), sizes)
    return LABELS_OF[labels](n, random), SCORES_OF[scores](n, random), g


@pytest.mark.parametrize("ties", oracle.TIES)
@pytest.mark.parametrize("scores", SCORES_OF)
@pytest.mark.parametrize("longest", [12, 40, 700])
def test_kinds_of_scores(longest, scores, ties):
    y, s, g = some_queries(longest, "grades", scores, np.random.default_rng(0))
    for names in (SHALLOW, DEEP[:5]):
        assert_fast_is_plain(y, s, g, names, ties=ties)


@pytest.mark.filterwarnings("ignore:(in )?nearly all queries:UserWarning")
@pytest.mark.parametrize("scores", ["no ties", "decimals", "a few large groups", "few retrieved"])
@pytest.mark.parametrize("labels", LABELS_OF)
@pytest.mark.parametrize("longest", [3, 17, 32, 300, 1280])
def test_kinds_of_labels(longest, labels, scores):
    """In queries just shorter than a cut-off or a width, too; with gains in any order."""
    y, s, g = some_queries(longest, labels, scores, np.random.default_rng(0))
    rules = [f"ndcg@5(ties={rule})" for rule in oracle.TIES]
    for names in (SHALLOW, [*DEEP, reversed_gain], rules):
        assert_fast_is_plain(y, s, g, names)
    if labels == "grades":
        assert_fast_is_plain(y, s, g, ["ndcg", "ndcg@3"], gain=[3, 1, 2, 0, 9, 0.5, 4])


@pytest.mark.parametrize("ties", oracle.TIES)
@pytest.mark.parametrize("unit", [1.0, 1e200])
def test_queries_just_shorter_than_the_cut_off(unit, ties):
    """A block that is twice as wide as the cut-off holds them, too."""
    random = np.random.default_rng(0)
    g = np.repeat(np.arange(40), np.repeat([33, 70], 20))
    y, s = random.integers(0, 5, len(g)), unit * random.integers(0, 9, len(g))
    assert_fast_is_plain(y, s, g, ["ndcg@34"], ties=ties)


MANY_TIES = {"SAMPLED_CALL": 0, "MANY": -1, "MANY_IN_SHORT": -1}
CONSTANTS = {
    "sorting networks": {"ROWS_PER_COMPARISON": 0},
    "no sorting networks": {"ROWS_PER_COMPARISON": 10**9},
    "tournaments": {"SHORT": 1, "MEDIUM": 1, "TOURNAMENT_RATIO": 1},
    "counted grades": {"SHORT": 1, "COUNTED_RANKS": 10**9, "COUNTED_GRADES": 10**9},
    "sorted grades": {"SHORT": 1, "COUNTED_RANKS": 0},
    "joined buckets": {"SMALL_BUCKET": 10**9, "SMALL_SHORT_BUCKET": 10**9, "LARGE_BLOCK": 10**9},
    "buckets of one width": {"SMALL_BUCKET": 0, "SMALL_SHORT_BUCKET": 0, "LARGE_BLOCK": 1},
    "chunks": {"CHUNK": 1},
    "no padding of long queries": {"LONG": 1},
    "keys for many ties": {**MANY_TIES, "CROWDED": 0},
    "no keys for many ties": {"MANY": 10**9, "MANY_IN_SHORT": 10**9},
    "longer keys": {"SAMPLED_CALL": 0, "COLLIDING": 0, "SHALLOW": -1},
    "short keys": {"SAMPLED_CALL": 0, "COLLIDING": 10**9, "SHALLOW": 10**9},
    "steps": {"STEP": 3},
    "ranks of few scores": {**MANY_TIES, "SLOTS": 2**16},
    "no ranks of few scores": {**MANY_TIES, "SLOTS": 2},
    "all rows by column": {**MANY_TIES, "MANY_TIED_ROWS": 0},
    "tied rows by column": {**MANY_TIES, "MANY_TIED_ROWS": 1},
    "candidates": {"SHORT": 1, "FEW": 1},
    "no candidates": {"SHORT": 1, "FEW": 0},
    "columns in keys": MANY_TIES,
    "no columns in short keys": {**MANY_TIES, "MEDIUM_IN_ORDER": 0},
    "parts of labels": {"LOOK_UP": 3, "ENCODED": 3},
}


@pytest.mark.slow
@pytest.mark.parametrize("constants", CONSTANTS)
@examples(40)
@given(seed=SEEDS)
def test_any_constants(constants, seed):
    data, ties = ragged(seed)
    with settings(**CONSTANTS[constants]):
        for names in (SHALLOW, DEEP):  # with keys of 32 bits, and of 64
            assert_fast_is_plain(*data, names, rtol=1e-13, ties=ties)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:(in )?nearly all queries:UserWarning")
@pytest.mark.parametrize("plain_up_to", [0, 256, np.inf])
@pytest.mark.parametrize("longest", [16, 70])
@pytest.mark.parametrize("scale", [1, 0.24])  # labels that are grades, and others
def test_queries_alone_have_the_same_bits_as_among_others(longest, scale, plain_up_to, monkeypatch):
    """Of every metric, by the plain sort, by the fast one, and by both; in any order of rows."""
    monkeypatch.setattr(ranking, "PLAIN_UP_TO", plain_up_to)
    random = np.random.default_rng(longest)
    g = random.permutation(np.repeat(np.arange(200), random.integers(2, longest + 1, 200)))
    y, s = scale * random.integers(0, 5, len(g)), random.normal(size=len(g)).round(1)
    some = np.unique(np.bincount(g), return_index=True)[1][:: 4 if longest > 16 else 1]
    names = [name for name in METRICS if scale < 1 or name != "pfound"]
    with_cutoff = [name for name in names if "k" in METRICS[name].options]
    for asked in (names, *([f"{name}@{k}" for name in with_cutoff] for k in (3, 9, 30))):
        among = evaluate(y, s, asked, groups=g, average=None)
        for i in some:
            alone = evaluate(y[g == i], s[g == i], asked, average=None)
            for name, values in among.items():
                np.testing.assert_array_equal(alone[name], values[[i]], err_msg=name)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:(in )?nearly all queries:UserWarning")
@pytest.mark.parametrize("documents", [1, 64, 2**10])
@pytest.mark.parametrize("n_jobs", [1, 2, 4])
@pytest.mark.parametrize("scale", [1, 0.24])  # the rounding of sums of the second depends on order
def test_blocks_of_any_size_and_threads_give_the_same_bits(documents, n_jobs, scale, monkeypatch):
    random = np.random.default_rng(0)
    g = random.integers(0, 50, 2000)
    y, s = random.integers(0, 5, 2000) * scale, random.normal(size=2000).round(1)
    monkeypatch.setattr(ranking, "PARALLEL_SHALLOW", 0)
    for names in ([name for name in METRICS if scale < 1 or name != "pfound"], SHALLOW):
        before = evaluate(y, s, names, groups=g, average=None)
        with settings(BLOCK_DOCUMENTS=documents, LARGE_BLOCK=documents):
            after = evaluate(y, s, names, groups=g, average=None, n_jobs=n_jobs)
        for name, values in before.items():
            np.testing.assert_array_equal(after[name], values, err_msg=name)


def test_padding_beyond_what_32_bits_can_tell_apart():
    """Two long queries in one block; the shorter one has fewer documents than the cut-off."""
    random = np.random.default_rng(0)
    sizes = np.array([262_000, 123_000])
    g, y = np.repeat([0, 1], sizes), random.integers(0, 63, sizes.sum())
    s = random.permutation(len(y)) * 1.0
    s[sizes[0] + 5 :] = -np.inf
    assert_fast_is_plain(y, s, g, ["ndcg@32", "hits@32"])


def test_one_query_of_many_documents_among_short_ones():
    random = np.random.default_rng(0)
    g = np.repeat(np.arange(5), [1, 2, 300_000, 3, 1])
    y, s = random.integers(0, 5, len(g)), random.permutation(len(g)) * 1.0
    assert_fast_is_plain(y, s, g, SHALLOW)


@pytest.mark.filterwarnings("ignore:(in )?nearly all queries:UserWarning")
@pytest.mark.parametrize("scores", ["a few large groups", "small groups", "decimals"])
def test_ties_of_a_query_of_many_documents_in_input_order(scores):
    """Keys have few bits for scores beside those of its columns."""
    random = np.random.default_rng(0)
    g = np.repeat(np.arange(400), [300_000] + [1] * 399)
    y, s = random.integers(0, 63, len(g)), SCORES_OF[scores](len(g), random)
    for names in (["ndcg@10", "hits@30"], ["ndcg"]):
        assert_fast_is_plain(y, s, g, names, ties="stable")


@pytest.mark.parametrize("width", range(2, 17))
def test_a_network_sorts_all_zeros_and_ones(width):
    """A network that sorts these sorts everything."""
    scores = np.arange(2**width)[:, None] >> np.arange(width) & 1
    with settings(ROWS_PER_COMPARISON=0):
        assert_fast_is_plain(scores, scores, None, ["dcg@9"])


def test_the_best_documents_stand_anywhere_in_a_row():
    """Also in its last columns, which are in no lane of a tournament."""
    scores = np.arange(832) + np.arange(0, 832, 4)[:, None]
    labels = np.random.default_rng(0).integers(0, 5, scores.shape)
    assert_fast_is_plain(labels, scores % 832, None, ["ndcg@10"])


def test_uninitialised_memory_does_not_matter(monkeypatch):
    class Dirty:
        def __getattr__(self, name):
            return getattr(np, name)

        def empty(self, shape, dtype, order="C"):
            large = np.iinfo(dtype).max - 8 * np.arange(np.prod(shape))
            return np.array(large.reshape(shape), dtype=dtype, order=order)

    random = np.random.default_rng(0)
    g = np.repeat(np.arange(4), [12, 9, 8, 7])
    monkeypatch.setattr(fill, "np", Dirty())
    assert_fast_is_plain(random.integers(0, 3, 36), random.permutation(36) * 1.0, g, ["ndcg@10"])


@pytest.mark.parametrize("scale", [1e-310, 1e-40, 1e300])
def test_scores_beyond_single_precision_raise_nothing(scale):
    """Also where callers let NumPy raise."""
    labels, groups = np.arange(24_000) % 5, np.arange(24_000) // 20
    normal = np.random.default_rng(0).normal(size=24_000)
    scaled = normal * scale
    with np.errstate(all="raise"):
        value = evaluate(labels, scaled, "ndcg@10", groups=groups)
    assert value == evaluate(labels, normal, "ndcg@10", groups=groups)


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


GRADES = [("i1", (0, 62, 1)), ("u8", (0, 62, 1)), (">i4", (3, 0)), ("?", (1, 0)), ("f8", (0, 62))]
NO_GRADES = [("i1", (0, -1)), ("i8", (-(2**40), 3)), ("u1", (63, 0)), ("u8", (2**40, 0))]
NO_GRADES += [(">i4", (256, 0)), ("f8", (63, 0)), ("f4", (0.5, 1))]


@pytest.mark.parametrize(("dtype", "labels"), GRADES + NO_GRADES)
def test_small_integers_of_any_dtype_are_grades(dtype, labels):
    """Wherever the last one stands among many."""
    y = np.resize(np.array(labels[1:], dtype), 2**17)
    y[-1] = labels[0]
    read = queries.read_queries(y, np.zeros(len(y)), groups="none")
    assert (read.grades is not None) is ((dtype, labels) in GRADES)
    assert read.label_range == (min(labels), max(labels))
    if read.grades is not None:
        np.testing.assert_array_equal(read.grades, y.astype(int) + 1)
