"""The hot path: every shortcut gives what the plain path gives, to the last bit where it can."""

from contextlib import contextmanager

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_rankscore import evaluate, map_score, mrr_score, ndcg_score
from sklearn_rankscore.ranking import Ranking, block, blocks, queries, read_queries, row_sorts
from sklearn_rankscore.ranking.arrays import span

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
    """Other constants of the hot path, which turn one of its shortcuts on or off."""
    modules = {"block": block, "blocks": blocks, "queries": queries, "row_sorts": row_sorts}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in values.items():
            of = ["blocks", "row_sorts"] if name == "SHORT" else [name.partition("__")[0]]
            for module in of:
                patch.setattr(modules[module], name.partition("__")[2] or name, value)
        yield


def plain(y, s, g, **options):
    """The same through the path without grades in bytes, keys or row copies."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(queries, "graded", lambda y, given: (None, *span(y, given, "y_true")))
        return evaluate(y, s, NAMES, groups=g, average=None, **options)


def assert_equal_bits(found, expected):
    assert found.keys() == expected.keys()
    for name, values in expected.items():
        np.testing.assert_array_equal(found[name], values, err_msg=name)


@given(ragged(), st.sampled_from(oracle.TIES))
def test_keys_agree_with_the_sort_of_whole_scores(data, ties):
    by_key = evaluate(*data[:2], NAMES, groups=data[2], average=None, ties=ties)
    by_score = plain(*data, ties=ties)
    for name in NAMES:
        np.testing.assert_allclose(by_key[name], by_score[name], rtol=1e-13, atol=0, err_msg=name)


# each shortcut always on, and never
SHORTCUTS = {
    "sorting by columns": ({"row_sorts__FEW": 0}, {"row_sorts__FEW": 10**9}),
    "tournaments": (
        {"SHORT": 1, "row_sorts__MEDIUM": 1, "row_sorts__MANY_TIMES": 1},
        {"SHORT": 1, "row_sorts__MEDIUM": 10**9},
    ),
    "counted grades": (
        {"SHORT": 1, "row_sorts__SORTED_GRADES": 1},
        {"SHORT": 1, "row_sorts__SORTED_GRADES": 10**9},
    ),
    "bytes added up": (
        {"SHORT": 1, "row_sorts__SORTED_GRADES": 1, "row_sorts__ADDED_AT_ONCE": 2},
        {"SHORT": 1, "row_sorts__SORTED_GRADES": 1},
    ),
    "joined blocks": (
        {"blocks__SMALL_BLOCK": 10**9, "blocks__SMALL_SHORT": 10**9},
        {"blocks__SMALL_BLOCK": 0, "blocks__SMALL_SHORT": 0},
    ),
    "stretches": ({"blocks__STRETCH": 1}, {"blocks__STRETCH": 10**9}),
    "padding of long queries": ({"blocks__LONG": 10**9}, {"blocks__LONG": 1}),
    "a table of sizes": ({"blocks__TABLED": 10**9}, {"blocks__TABLED": 3}),
    "looking up in pairs": ({"block__MANY": 0}, {"block__MANY": 10**9}),
}


@pytest.mark.parametrize("shortcut", SHORTCUTS)
@given(data=ragged(), ties=st.sampled_from(oracle.TIES))
def test_a_shortcut_agrees_with_the_plain_path(shortcut, data, ties):
    on, off = SHORTCUTS[shortcut]
    for names in (NAMES, CUT_OFF):  # with keys of 64 bits, and of 32
        with settings(**on):
            found = evaluate(*data[:2], names, groups=data[2], average=None, ties=ties)
        with settings(**off):
            expected = evaluate(*data[:2], names, groups=data[2], average=None, ties=ties)
        if shortcut == "padding of long queries":  # sums over more columns
            for name in names:
                np.testing.assert_allclose(found[name], expected[name], rtol=1e-14, atol=0)
        else:
            assert_equal_bits(found, expected)


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint8])
@pytest.mark.parametrize("width", range(1, 17))
def test_sorting_by_columns_sorts(width, dtype):
    """Every row of zeros and ones: a network that sorts these sorts everything."""
    rows = (np.arange(2**width)[:, None] >> np.arange(width) & 1).astype(dtype)
    for n in {1, (width + 1) // 2, width}:
        found = row_sorts._sorted_by_columns(rows.copy(), n)
        assert (found == np.sort(rows, axis=1)[:, :n]).all()


@pytest.mark.parametrize("width", [600, 1200, 1201, 5000])
def test_a_tournament_finds_the_first(width):
    random = np.random.default_rng(width)
    rows = random.integers(0, [50, 10**9], (40, width, 2)).reshape(80, width).astype(np.int32)
    expected = np.sort(rows, axis=1)[:, :11]
    assert (row_sorts.smallest(rows, 11) == expected).all()


@pytest.mark.parametrize("n_grades", [1, 5, 8, 60])
@pytest.mark.parametrize("width", [1, 3, 16, 17, 40, 128, 129, 255, 256, 300, 1280])
@pytest.mark.parametrize("n_rows", [1, 2, 50, 1000])
def test_the_highest_grades_are_those_of_a_sort(n_rows, width, n_grades):
    random = np.random.default_rng(n_grades)
    labels = random.integers(0, n_grades + 1, (n_rows, width), dtype=np.uint8)
    labels *= random.random((n_rows, 1)) < 0.9
    sizes = np.count_nonzero(labels, axis=1)
    for n in {1, (width + 1) // 2, width}:
        expected = -np.sort(-labels.astype(int), axis=1)[:, :n]
        assert (row_sorts.highest(labels.copy(), sizes, n_grades, n) == expected).all()


def test_padding_beyond_what_32_bits_can_tell_apart():
    """Two long queries in one block; the shorter one has fewer documents than the cut-off."""
    random = np.random.default_rng(0)
    sizes = np.array([262_000, 123_000])
    g, y = np.repeat([0, 1], sizes), random.integers(0, 63, sizes.sum())
    s = random.permutation(len(y)) * 1.0
    s[sizes[0] + 5 :] = -np.inf
    found = evaluate(y, s, ["ndcg@32(gain=linear)", "hits@32"], groups=g, average=None)
    for q in (0, 1):
        alone = evaluate(y[g == q], s[g == q], ["ndcg@32(gain=linear)", "hits@32"])
        assert alone == {name: values[q] for name, values in found.items()}
    assert found["hits@32"][1] == np.count_nonzero(y[g == 1][:5])


@given(ragged())
def test_grouped_rows_agree_with_shuffled_ones(data):
    y, s, g = data
    order = np.argsort(g, kind="stable")
    together = evaluate(y[order], s[order], NAMES, groups=g[order], average=None)
    apart = evaluate(y, s, NAMES, groups=g, average=None)
    for name in NAMES:
        np.testing.assert_array_equal(together[name], apart[name])


@pytest.mark.parametrize("documents", [1, 64, 2**10])
@pytest.mark.parametrize("n_jobs", [1, 2, 4])
def test_blocks_of_any_size_and_threads_give_the_same_bits(documents, n_jobs, monkeypatch):
    random = np.random.default_rng(0)
    g = random.integers(0, 60, 3000)
    y, s = random.integers(0, 5, 3000) + random.integers(0, 2), random.normal(size=3000).round(1)
    y = y * 0.7  # sums of these depend on the order in which they are added
    before = evaluate(y, s, NAMES[:5], groups=g, average=None)
    monkeypatch.setattr(blocks, "BLOCK_DOCUMENTS", documents)
    after = evaluate(y, s, NAMES[:5], groups=g, average=None, n_jobs=n_jobs)
    for name in NAMES[:5]:
        np.testing.assert_array_equal(before[name], after[name])


def test_a_query_alone_has_the_same_bits_as_among_others():
    random = np.random.default_rng(1)
    g = np.sort(random.integers(0, 40, 2000))
    y, s = random.random(2000), random.normal(size=2000).round(1)
    among = evaluate(y, s, ["ndcg", "map"], groups=g, average=None)
    for i, q in enumerate(np.unique(g)):
        alone = evaluate(y[g == q], s[g == q], ["ndcg", "map"])
        assert alone == {name: values[i] for name, values in among.items()}


@pytest.mark.parametrize("longest", [16, 70])
def test_graded_queries_alone_have_the_same_bits_as_among_others(longest):
    random = np.random.default_rng(longest)
    g = np.repeat(np.arange(200), random.integers(2, longest + 1, 200))
    y, s = random.integers(0, 5, len(g)), random.normal(size=len(g)).round(1)
    names = ["ndcg", "dcg", "map", "err", "rbp", "mrr", "query_auc", "spearman"]
    for at in ("", "@3", "@9", "@30"):
        asked = [name + at for name in names[: 6 if at else None]]
        among = evaluate(y, s, asked, groups=g, average=None)
        for i in range(200):
            alone = evaluate(y[g == i], s[g == i], asked)
            assert_equal_bits(
                {name: np.array([v]) for name, v in alone.items()},
                {name: values[[i]] for name, values in among.items()},
            )


def test_padding_ties_with_nothing(monkeypatch):
    """Rows shorter than the cut-off are not looked at twice."""
    monkeypatch.setattr(blocks, "_settle", None)
    g = np.repeat(np.arange(9), np.arange(17, 26))
    s = np.random.default_rng(0).permutation(len(g)) * 1.0
    assert evaluate(np.ones(len(g)), s, "ndcg@30", groups=g) == {"ndcg@30": 1.0}


def test_a_score_that_differs_in_its_last_bit_is_no_tie():
    scores = np.array([1.0, 1.0 + 2**-52])
    assert ndcg_score([0, 4], scores) == 1.0
    assert ndcg_score([4, 0], scores) == pytest.approx(1 / np.log2(3), abs=1e-15)


@pytest.mark.parametrize("name", ["err(max_grade=10)", "err@5", "rbp", "ndcg", "map", "query_auc"])
def test_another_scale_gives_the_same_bits(name):
    """Also where scores differ in their last bits, among ties and documents not retrieved."""
    for seed in range(30):
        random = np.random.default_rng(seed)
        y, g = random.integers(0, 5, 150), random.integers(0, 3, 150)
        s = random.choice(SCORES, 150)
        ranks = np.where(s == -np.inf, s, np.unique(s, return_inverse=True)[1])
        found, expected = (
            evaluate(y, scores, name, groups=g, average=None) for scores in (s, ranks)
        )
        np.testing.assert_array_equal(found[name], expected[name])


def test_negative_zero_ties_with_zero():
    assert mrr_score([0, 1], [0.0, -0.0]) == 0.75


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i1", "u1", "i8", "?"])
def test_scores_of_any_dtype(dtype):
    s = np.array([0, 1, 1, 0, 1, 0, 0], dtype=dtype)
    y = [0, 1, 0, 2, 3, 0, 1]
    assert ndcg_score(y, s) == ndcg_score(y, s.astype(float))


def test_many_metrics_cost_one_sort(monkeypatch):
    sorted_blocks = []
    rank = blocks.rank
    monkeypatch.setattr(blocks, "rank", lambda *a: sorted_blocks.append(1) or rank(*a))
    random = np.random.default_rng(0)
    y, s, g = random.integers(0, 5, 500), random.normal(size=500), random.integers(0, 20, 500)
    ndcg_score(y, s, groups=g, k=10)
    once = len(sorted_blocks)
    names = ["ndcg@5", "ndcg@10", "map@10", "mrr@10", "precision@5", "recall@10", "f1@5"]
    evaluate(y, s, [*names, "hit_rate@1", "err@10", "rbp@10"], groups=g)
    assert len(sorted_blocks) == 2 * once


def test_kept_ranking_is_sorted_once():
    y, s = np.array([[1, 0, 2]]), np.array([[0.1, 0.2, 0.3]])
    ranking = Ranking(read_queries(y, s)).keep()
    kernels = [lambda block: block.sizes, lambda block: block.retrieved]
    assert [values.numerator.tolist() for values in ranking.apply(kernels)] == [[3.0], [3.0]]


def test_one_query_of_a_million_among_short_ones():
    random = np.random.default_rng(0)
    sizes = np.array([1, 2, 1_000_000, 3, 1])
    g = np.repeat(np.arange(5), sizes)
    y = random.integers(0, 5, len(g))
    s = random.permutation(len(g)) * 1.0
    found = ndcg_score(y, s, groups=g, k=10, average=None)
    long_y, long_s = y[3:1_000_003], s[3:1_000_003]
    best = long_y[np.argsort(-long_s)[:10]]
    discount = 1 / np.log2(np.arange(2, 12))
    assert found[2] == pytest.approx((best * discount).sum() / (4 * discount).sum(), rel=1e-13)
    short = [ndcg_score(y[g == q], s[g == q], k=10) for q in (0, 1, 3, 4)]
    assert found[[0, 1, 3, 4]].tolist() == short


DOCUMENTED = [
    ("one document, relevant", [3], [0.5], {"ndcg": 1.0, "map": 1.0, "mrr": 1.0}),
    ("one document, not relevant", [0], [0.5], {"ndcg": 0.0, "map": 0.0, "mrr": 0.0}),
    ("nothing relevant", [0, 0, 0], [3, 2, 1], {"ndcg": 0.0, "map": 0.0, "precision@2": 0.0}),
    ("all tied", [1, 0], [7, 7], {"mrr": 0.75, "precision@1": 0.5, "hit_rate@1": 0.5}),
    ("k beyond the query", [0, 1], [1, 2], {"ndcg@99": 1.0, "precision@4": 0.25, "recall@9": 1.0}),
]


@pytest.mark.parametrize(
    ("y", "s", "expected"), [d[1:] for d in DOCUMENTED], ids=[d[0] for d in DOCUMENTED]
)
def test_documented_values_of_small_queries(y, s, expected):
    assert evaluate(y, s, list(expected)) == expected


def test_a_kernel_of_ones_own():
    def first_label(block):
        return block.by_rank(lambda labels: labels * 10.0)[:, 0]

    found = evaluate([1, 2, 0, 4], [1, 2, 3, 4], [first_label, "mrr"], groups=[0, 0, 1, 1])
    assert found["first_label"] == 30.0


def test_a_kernel_that_returns_the_wrong_number_of_values():
    with pytest.raises(ValueError, match="one value per query"):
        evaluate([1, 0], [1, 2], [lambda block: np.zeros(7)])


def test_huge_tied_query_is_exact():
    """Half a million tied documents, two of them relevant: the hypergeometric distribution."""
    n = 500_000
    y = np.zeros(n)
    y[:2] = 1
    ranks = np.arange(1, n + 1)
    first_at = 2 * (n - ranks) / (n * (n - 1.0))  # 1 / C(n, 2) ways for each later partner
    assert mrr_score(y, np.zeros(n)) == pytest.approx((first_at / ranks).sum(), rel=1e-9)
    assert map_score(y, np.zeros(n), k=1) == pytest.approx(2 / n, rel=1e-12)


def test_a_gain_of_ones_own_sees_floats_that_occur():
    seen = []

    def gain(labels):
        seen.extend([*labels.ravel(), labels.dtype])
        return 2**labels - 1

    y = np.array([3, 5, 3, 5, 5], dtype=np.uint8)
    found = ndcg_score(y, [1, 2, 3, 4, 5], groups=[0, 0, 1, 1, 1], gain=gain)
    assert set(seen) == {3.0, 5.0, np.dtype(float)}
    assert found == ndcg_score(y, [1, 2, 3, 4, 5], groups=[0, 0, 1, 1, 1], gain="exponential")
