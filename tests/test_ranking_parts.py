"""The parts of the hot path, each on examples worked by hand."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest

from sklearn_rankscore import evaluate, mrr_score, ndcg_score
from sklearn_rankscore.ranking import Ranking, blocks, exact, read_queries, row_sorts, threads
from sklearn_rankscore.ranking import documents as documents_module
from sklearn_rankscore.ranking.arrays import GradeFunction
from sklearn_rankscore.ranking.documents import Documents
from sklearn_rankscore.ranking.threads import share


def documents(sizes, starts=None):
    sizes = np.array(sizes)
    starts = np.cumsum(sizes) - sizes if starts is None else np.array(starts)
    by_start = None if (np.diff(starts) > 0).all() else np.argsort(starts)
    n = sizes.sum()
    return SimpleNamespace(
        sizes=sizes,
        starts=starts,
        scores=np.zeros(n),
        labels=np.ones(n, dtype=np.uint8),
        by_start=by_start,
        n_grades=5,
    )


def test_padded_widths():
    sizes = np.array([1, 2, 8, 15, 16, 17, 18, 31, 33, 64, 65, 113, 2**19 - 1, 2**19, 2**19 + 1])
    widths = [1, 2, 8, 15, 16, 18, 18, 32, 36, 64, 72, 120, 2**19, 2**19, 2**19 + 1]
    assert blocks.padded_width(sizes).tolist() == widths


JOINED = [
    # rising widths, how many queries of each, depth -> where another block begins
    ([2, 5, 16, 18, 20], [3, 1, 2, 3, 1], 10, [0, 1, 2, 3]),
    ([3, 5, 6, 7], [1, 1, 1, 1], 3, [0, 3]),
    ([3, 5, 6, 7], [1, 1, 1, 1], 99, [0, 3]),
    ([8, 12, 15, 16], [3, 4, 1, 1], 10, [0, 2]),
    ([18, 20, 36, 40], [1, 1, 1, 1], 10, [0, 3]),
    ([18, 20, 36, 40], [1, 1, 1, 1], 18, [0, 1]),
    ([18, 20, 36, 40], [1, 1, 1, 1], 17, [0, 3]),
    ([20, 22, 24], [10, 10, 1], 10, [0, 2]),
    ([20, 22, 24], [9, 1, 1], 10, [0]),
]


@pytest.mark.parametrize(("widths", "counts", "depth", "expected"), JOINED)
def test_small_blocks_are_joined(widths, counts, depth, expected, monkeypatch):
    monkeypatch.setattr(blocks, "SMALL_BLOCK", 240)
    monkeypatch.setattr(blocks, "SMALL_SHORT", 40)
    assert blocks._joined(np.array(widths), np.array(counts), depth) == expected


PIECES = [
    # sizes, threads -> (width, number of queries) of each piece; 100 documents fill a block
    ([5], 2, [(5, 1)]),
    ([10] * 10, 2, [(10, 10)]),
    ([10] * 11, 1, [(10, 5), (10, 6)]),
    ([10] * 11, 4, [(10, 2), (10, 3), (10, 3), (10, 3)]),
    ([10] * 31, 3, [(10, 5)] * 5 + [(10, 6)]),
    ([60] * 3, 4, [(60, 1)] * 3),
    ([200] * 3, 1, [(208, 1)] * 3),
    ([1] * 40 + [9] * 6 + [50], 1, [(9, 6), (52, 1), (1, 40)]),
]


@pytest.mark.parametrize(("sizes", "jobs", "expected"), PIECES)
def test_pieces_are_even_and_the_largest_come_first(sizes, jobs, expected, monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK_DOCUMENTS", 100)
    many = documents(sizes)
    many.n_grades = 0
    found = [(p.width, len(p.queries)) for p in blocks.pieces(many, None, jobs)]
    area = [-width * n for width, n in found]
    assert area == sorted(area)
    assert sorted(found) == sorted(expected)


@pytest.mark.parametrize(
    ("n_grades", "depth", "expected"),
    [
        (0, 3, [(3, 3), (4, 4), (18, 18), (20, 20), (22, 21)]),
        (5, None, [(3, 3), (4, 4), (18, 18), (20, 20), (22, 21)]),
        (5, 3, [(4, 3), (22, 18)]),
    ],
)
def test_queries_are_joined_up_to_a_cut_off_of_grades(n_grades, depth, expected):
    """Ties of other labels are looked for in the whole row."""
    many = documents([18, 20, 4, 22, 21, 3])
    many.n_grades = n_grades
    found = [(piece.width, piece.shortest) for piece in blocks.pieces(many, depth, 1)]
    assert sorted(found) == expected


def test_a_lone_query_is_ranked_once():
    (piece,) = blocks._by_width(documents([33]), None)
    assert (piece.width, piece.shortest, piece.queries.tolist()) == (36, 33, [0])


def test_type_and_bits_of_keys():
    assert [blocks._integer(k) for k in (1, 32, 33, None)] == ["i4", "i4", "i8", "i8"]
    assert [blocks._grade_bits(n) for n in (1, 2, 3, 4, 7, 8, 63)] == [1, 3, 3, 7, 7, 15, 63]


@pytest.mark.parametrize("n", [1, 2, 11, 30])
@pytest.mark.parametrize("width", [2, 16, 17, 512, 513, 1000, 20_000])
@pytest.mark.parametrize("n_rows", [1, 40, 4000])
def test_the_smallest_of_each_row(n_rows, width, n):
    if n > width or n_rows * width > 10**6:
        return
    rows = np.random.default_rng(n).permutation(n_rows * width).reshape(n_rows, width)
    expected = np.sort(rows, axis=1)[:, :n]
    for dtype, scale in ((np.int32, 1), (np.int64, 2**40)):  # keys of either size fill all bits
        found = row_sorts.smallest((rows.astype(dtype) - rows.size // 2) * scale, n)
        np.testing.assert_array_equal(found, (expected - rows.size // 2) * scale)


@pytest.mark.parametrize("n_queries", [50, 64])
def test_ties_across_a_deep_cut_off(n_queries):
    """Beyond 32 ranks keys have 64 bits, and rows are not all sorted to their end."""
    random = np.random.default_rng(0)
    y = random.integers(0, 3, (n_queries, 64))
    s = random.integers(0, 20, y.shape)
    found = ndcg_score(y, s, k=40, average=None)
    # labels that are no whole numbers go the plain way
    np.testing.assert_allclose(found, ndcg_score(y / 3, s, k=40, average=None), rtol=1e-12)


def by_width(sizes, starts=None):
    found = blocks._by_width(documents(sizes, starts), None)
    return {(piece.width, piece.shortest): piece.queries.tolist() for piece in found}


def test_queries_by_width():
    found = by_width([3, 20, 1, 3, 17, 16, 19])
    assert found == {(1, 1): [2], (3, 3): [0, 3], (16, 16): [5], (18, 17): [4], (20, 19): [1, 6]}


def test_queries_by_width_in_the_order_of_their_documents():
    assert by_width([3, 20, 3, 19], [39, 0, 42, 20]) == {(3, 3): [0, 2], (20, 19): [1, 3]}
    assert by_width([3, 20, 3, 19], [42, 19, 39, 0]) == {(3, 3): [2, 0], (20, 19): [3, 1]}


def test_queries_by_width_beyond_16_bits():
    sizes = [2**16 + 9, 2**16 - 1, 5, 2**20, 2**16, 2**16 - 2, 2**17 + 1, 2**20]
    assert by_width(sizes) == {
        (5, 5): [2],
        (2**16, 2**16 - 2): [1, 4, 5],
        (2**16 + 2**13, 2**16 + 9): [0],
        (2**17 + 2**14, 2**17 + 1): [6],
        (2**20, 2**20): [3, 7],
    }


def test_more_widths_than_a_byte_can_number(monkeypatch):
    """Long queries have no padding, and so each its own width."""
    monkeypatch.setattr(blocks, "LONG", 17)
    sizes = np.random.default_rng(0).permutation(600) + 1
    found = by_width(sizes)
    assert [*found] == [(n, n) for n in range(1, 601)]
    assert all(sizes[queries].tolist() == [width] for (width, _), queries in found.items())


def test_stretches_cut_no_query(monkeypatch):
    monkeypatch.setattr(blocks, "STRETCH", 4)
    assert blocks._cuts(documents([3, 1, 4, 1]), 1).tolist() == [0, 3, 8, 9]
    assert blocks._cuts(documents([3, 1, 4, 1]), 4).tolist() == [0, 3, 4, 8, 9]
    assert blocks._cuts(documents([3, 4, 2], [0, 5, 3]), 1).tolist() == [0, 3, 9]
    assert blocks._cuts(documents([9]), 2).tolist() == [0, 9]
    assert blocks._cuts(documents([2, 2]), 2).tolist() == [0, 4]
    # as many for each thread as for the next
    assert blocks._cuts(documents([1] * 12), 2).tolist() == [0, 3, 6, 9, 12]


def test_keys_beyond_the_last_query_are_less_than_padding(monkeypatch):
    """What was in the memory before must not matter."""

    class Dirty:
        def __getattr__(self, name):
            return getattr(np, name)

        def empty(self, shape, dtype, order="C"):
            large = np.iinfo(dtype).max - 8 * np.arange(np.prod(shape))
            return np.array(large.reshape(shape), dtype=dtype, order=order)

    random = np.random.default_rng(0)
    g = np.repeat(np.arange(4), [12, 9, 8, 7])
    y, s = random.integers(0, 3, len(g)), random.permutation(len(g)) * 1.0
    monkeypatch.setattr(blocks, "np", Dirty())
    many = Documents(read_queries(y, s, groups=g))
    (piece,) = blocks.pieces(many, 10, 1)
    for query, labels in enumerate(blocks.rank(many, 10, piece)._ranked):
        ranked = y[g == query][np.argsort(-s[g == query])] + 1
        assert labels.tolist() == [*ranked, 0, 0, 0][:10]


@pytest.mark.parametrize("integer", [np.int32, np.int64])
def test_padding_stands_above_infinity(integer):
    real = np.float32 if integer == np.int32 else np.float64
    above = int(real(np.inf).view(integer)) + 8
    sizes = np.array([4, 5, 2])
    expected = [[0, 0, 0, 0, above], [0] * 5, [0, 0, above, above + 8, above + 16]]
    for order in "FC":
        keys = np.zeros((3, 5), dtype=integer, order=order)
        blocks._pad(keys, sizes, 2, low=7)
        assert keys.tolist() == expected
    # wider than is sorted by columns
    keys = np.zeros((3, 20), dtype=integer)
    blocks._pad(keys, sizes + 15, 17, low=7)
    assert keys[:, 15:].tolist() == expected
    assert not keys[:, :15].any()


@pytest.mark.parametrize("integer", [np.int32, np.int64])
def test_keys_are_ordered_like_descending_scores(integer):
    real = np.float32 if integer == np.int32 else np.float64
    scores = np.array([np.inf, 3.5, 1.0, 0.0, -0.0, -1.0, -1e30, -np.inf])
    labels = np.array([7, 6, 5, 4, 3, 2, 1, 0], dtype=np.uint8)
    keys = np.empty(8, dtype=integer)
    blocks._put_keys(keys, labels, scores, low=7)
    assert (keys & 7).tolist() == labels.tolist()
    high = (keys & ~7).tolist()
    assert high == sorted(high)
    assert (np.diff(high) == 0).tolist() == [False] * 3 + [True] + [False] * 3
    # a negative score's key is what its opposite looks like as an integer
    opposite = np.array([0, 0, 1, 1e30, np.inf], dtype=real).view(integer)
    assert high[3:] == (opposite & ~7).tolist()


@pytest.mark.parametrize(
    ("same", "depth", "expected"),
    [
        ([[0, 0, 0, 0]], 2, 2),
        ([[1, 0, 0, 0]], 2, 2),
        ([[0, 1, 0, 0]], 2, 3),
        ([[0, 1, 1, 0]], 2, 4),
        ([[0, 1, 1, 1]], 2, 5),
        ([[0, 0, 1, 1], [0, 1, 0, 1]], 2, 3),
        ([[0, 0, 1, 1]], 5, 5),
    ],
)
def test_reach_of_runs(same, depth, expected):
    assert exact.reach_of_runs(np.array(same, dtype=bool), depth) == expected


@pytest.mark.parametrize("width", [18, 40, 300])
def test_documents_that_were_not_retrieved_come_before_padding(width):
    random = np.random.default_rng(0)
    scores = random.normal(size=(200, width))
    scores[np.arange(200), random.integers(0, width - 5, 200)] = -np.inf
    labels = random.random(scores.shape)
    sizes = random.integers(width - 5, width + 1, len(scores))
    beyond = np.arange(width) >= sizes[:, None]
    scores[beyond], labels[beyond] = -np.inf, -99.0
    ranked, _ = exact.rank_by_score(labels, scores, sizes, width)
    assert ((ranked == -99.0) == beyond).all()


def ways_taken(monkeypatch, y, s, names, **options):
    """Which of the ways to sort rows were taken."""
    taken = set()
    ways = {"_sorted_by_columns": row_sorts, "_lanes_of_the_smallest": row_sorts, "_settle": blocks}
    for name, module in ways.items():
        way = getattr(module, name)
        spy = lambda *a, name=name, way=way: taken.add(name) or way(*a)  # noqa: E731
        monkeypatch.setattr(module, name, spy)
    evaluate(y, s, names, **options)
    return taken


@pytest.mark.parametrize(
    ("rows", "width", "k", "expected"),
    [
        (3150, 16, 3, {"_sorted_by_columns"}),  # 63 comparisons
        (3149, 16, 3, set()),
        (150, 3, 2, {"_sorted_by_columns"}),  # 3 comparisons
        (149, 3, 2, set()),
        (4000, 17, 3, set()),
        (3, 512, 3, set()),
        (3, 513, 3, {"_lanes_of_the_smallest"}),
        (3, 640, 40, set()),
        (3, 640, 39, {"_lanes_of_the_smallest"}),
        (3, 640, 639, set()),
    ],
)
def test_each_width_is_sorted_in_its_way(rows, width, k, expected, monkeypatch):
    random = np.random.default_rng(0)
    s = random.permutation(rows * width).reshape(rows, width) * 1.0
    y = random.integers(0, 3, s.shape)
    assert ways_taken(monkeypatch, y, s, f"ndcg@{k}") == expected


def test_only_rows_with_ties_are_settled(monkeypatch):
    assert "_settle" not in ways_taken(monkeypatch, [1, 0, 2], [3.0, 2.0, 1.0], "ndcg")
    assert "_settle" in ways_taken(monkeypatch, [1, 0, 2], [3.0, 1.0, 1.0], "ndcg")


def test_a_gain_of_ones_own_is_not_asked_about_padding():
    """Where rows are padded, the gain sees labels that occur, and no others."""
    seen = set()

    def gain(labels):
        seen.update(labels.ravel().tolist())
        return 2**labels - 1

    y = np.random.default_rng(0).choice([3, 5], 35)
    g, s = np.repeat([0, 1], [17, 18]), np.arange(35.0)
    assert ndcg_score(y, s, groups=g, gain=gain) == ndcg_score(y, s, groups=g, gain="exponential")
    assert seen == {3.0, 5.0}


GRADED = [
    # labels -> how many grades there may be
    ([0, 3, 1], 4),
    ([0.0, 3.0], 4),
    ([62, 0], 63),
    ([63, 0], 0),
    ([-1, 0], 0),
    ([0.5, 1.0], 0),
    ([True, False], 2),
]


@pytest.mark.parametrize(("labels", "n_grades"), GRADED)
def test_small_whole_labels_are_grades(labels, n_grades):
    queries = read_queries(labels, np.arange(len(labels)))
    found = documents_module.Documents(queries)
    assert found.n_grades == n_grades
    assert found.labels.tolist() == [y + 1 if n_grades else y for y in labels]


@pytest.mark.parametrize("labels", [[2, 0, 1, 0, 1], [0.5, 0, 1, 0, 1]])
def test_rows_of_documents(labels):
    s = [0.3, 0.2, -np.inf, 0.9, 0.4]
    found = documents_module.Documents(read_queries(labels, s, groups=["b", "b", "b", "a", "a"]))
    assert found.by_start.tolist() == [1, 0]
    assert found.retrieved.tolist() == [2, 2]
    rows, scores = found.rows(np.array([0, 1]), 4)
    grades = found.n_grades > 0
    beyond = [0, 0] if grades else [labels[3]] * 2
    assert rows[0].tolist() == [*(np.array(labels[3:]) + grades), *beyond]
    assert rows[1].tolist() == [*(np.array(labels[:3]) + grades), 0 if grades else labels[0]]
    assert scores.tolist() == [[0.9, 0.4, -np.inf, -np.inf], [0.3, 0.2, -np.inf, -np.inf]]


@pytest.mark.parametrize("starts", [[0], [3], [5], [0, 4], [1, 5, 2], [0, 1, 2, 3, 4, 5]])
@pytest.mark.parametrize("width", [1, 2, 4, 6, 7, 9])
def test_rows_begin_where_they_should(starts, width):
    values = np.arange(10.0, 16.0)
    found = documents_module._gather(values, np.array(starts), width)
    assert found.shape == (len(starts), width)
    for row, start in zip(found, starts, strict=True):
        expected = values[start : start + width]
        assert row[: len(expected)].tolist() == expected.tolist()


@pytest.mark.parametrize("jobs", [1, 2, 3])
@pytest.mark.parametrize("n_items", [0, 1, 2, 50])
def test_threads_share_every_item_once(n_items, jobs):
    done, threads = [], set()

    def work(item):
        time.sleep(0.001)
        threads.add(threading.get_ident())
        done.append(item)

    share(work, range(n_items), jobs)
    assert sorted(done) == list(range(n_items))
    most = min(jobs, n_items)
    assert len(threads) <= most
    if n_items == 50:
        assert len(threads) == jobs
        assert threading.get_ident() in threads
    if most == 1:
        assert threads == {threading.get_ident()}


@pytest.mark.parametrize("jobs", [1, 2])
def test_work_that_is_begun_elsewhere(jobs):
    begun = threading.Event()
    running = threads.begin(lambda: begun.set() or threading.get_ident(), jobs)
    assert begun.wait(10 if jobs > 1 else 0) == (jobs > 1)
    assert (running() == threading.get_ident()) == (jobs == 1)


def test_work_that_no_thread_has_begun_is_done_here(monkeypatch):
    enough = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        pool.submit(enough.wait, 5)
        monkeypatch.setattr(threads, "_helpers", lambda: pool)
        try:
            assert threads.begin(threading.get_ident, 2)() == threading.get_ident()
            done = []
            share(done.append, range(5), 2)
            assert sorted(done) == [0, 1, 2, 3, 4]
        finally:
            enough.set()


@pytest.mark.parametrize("here", [True, False])
def test_an_error_in_any_thread_is_raised(here):
    this = threading.get_ident()

    def work(item):
        time.sleep(0.001)
        if (threading.get_ident() == this) == here:
            raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        share(work, range(50), 2)


def test_a_kept_ranking_serves_one_metric_after_another():
    random = np.random.default_rng(0)
    queries = read_queries(
        random.integers(0, 3, 60), random.normal(size=60), groups=random.integers(0, 7, 60)
    )

    def place(block):
        return (block.by_rank(lambda y: y * 1.0) * block.ranks).sum(axis=1), block.sizes, True

    (expected,) = Ranking(queries).apply([place])
    kept = Ranking(queries).keep()
    for jobs in (1, 2):
        for (found,) in (kept.apply([place], jobs), kept.apply([place], jobs)):
            np.testing.assert_array_equal(found.numerator, expected.numerator)
            np.testing.assert_array_equal(found.denominator, expected.denominator)
            assert found.defined.all()


def test_runs_beyond_the_cut_off_do_not_hide_others():
    """One of two runs of two begins behind the cut-off, in a row that another one's run widens."""
    s = [[5, 4, 4, 4, 1], [5, 5, 3, 3, 1]]
    y = [[0, 1, 0, 0, 0], [0, 1, 0, 1, 0]]
    expected = [(1 / 3) / 2, (1 + 1 / 2) / 2]
    np.testing.assert_allclose(mrr_score(y, s, k=2, average=None), expected, rtol=1e-15)


def test_some_queries_may_weigh_nothing():
    given = {"groups": [0, 0, 1, 1], "sample_weight": [0, 0, 3, 3]}
    assert mrr_score([0, 1, 1, 0], [2, 1, 2, 1], **given) == 1.0


def test_all_retrieved_is_told_by_identity():
    given = [1, 0, 2], [3.0, 1.0, 2.0]
    found = documents_module.Documents(read_queries(*given))
    assert found.retrieved is found.sizes
    found = documents_module.Documents(read_queries(given[0], [3.0, -np.inf, 2.0]))
    assert found.retrieved.tolist() == [2]


def test_what_a_block_tells_of_ties():
    y, s = [[1, 0, 1, 0, 1]] * 2, [[5, 4, 4, 4, -np.inf]] * 2
    seen = {}

    def look(block):
        keep = lambda labels: 1 - labels / 2  # noqa: E731
        seen["crossed"] = [list(block.runs_across(k)) for k in range(1, 6)]
        seen["default"] = block.survival(keep).tolist()
        seen["average"] = block.survival(keep, "average").tolist()
        return block.sizes * 1.0

    evaluate(y, s, look)
    both = [(0, 1, 3), (1, 1, 3)]
    assert seen["crossed"] == [[], both, both, [], []]
    # one of three tied documents is relevant
    halves = [1 / 2, 1 / 2 * 5 / 6, 1 / 2 * 2 / 3, 1 / 4, 1 / 4]
    np.testing.assert_allclose(seen["average"], [halves] * 2)
    assert seen["default"] == seen["average"]


@pytest.mark.parametrize(
    ("n_rows", "width", "n_grades", "dtype"),
    [
        (3, 16, 4, "u1"),
        (5000, 16, 4, "u1"),
        (3, 17, 4, "i4"),
        (3, 128, 4, "i4"),
        (255, 128, 4, "i4"),  # 2**15 documents are many
        (256, 128, 8, "i4"),
        (256, 128, 7, None),
        (3, 129, 4, None),
    ],
)
def test_grades_are_sorted_as_the_integers_that_sort_fastest(
    n_rows, width, n_grades, dtype, monkeypatch
):
    seen = []
    way = row_sorts.smallest
    monkeypatch.setattr(
        row_sorts, "smallest", lambda rows, n: seen.append(rows.dtype) or way(rows, n)
    )
    labels = np.random.default_rng(0).integers(1, n_grades + 1, (n_rows, width)).astype(np.uint8)
    sizes = np.full(n_rows, width)
    found = row_sorts.highest(labels, sizes, n_grades, 5)
    assert seen == ([] if dtype is None else [dtype])
    np.testing.assert_array_equal(found, -np.sort(-labels.astype(int), axis=1)[:, :5])


def test_only_equal_scores_are_ties():
    """Two scores that single precision cannot tell apart are looked at again, and are no tie."""
    s = [[2.0, 1.0, 1.0], [2.0, 1.0 + 1e-12, 1.0]]
    ranked = Documents(read_queries([[0, 1, 0]] * 2, s))
    (piece,) = blocks.pieces(ranked, 2, 1)
    assert blocks.rank(ranked, 2, piece)._tied.rows.tolist() == [0]


def test_a_function_of_grades_is_asked_once_for_each():
    seen = []

    def function(labels):
        seen.append(labels.tolist())
        return labels / 4

    worth = GradeFunction(function)

    def look(block):
        for values in (block.by_rank(worth), block.ideal(worth), block.survival(worth)):
            assert values.shape == (3, 3)
        return block.total(worth)

    evaluate([[0, 1, 3]] * 3, [[3, 2, 2]] * 3, look)
    assert all(labels == [0, 1, 2, 3] for labels in seen)


@pytest.mark.parametrize("n", [16, 17, 33])
def test_gains_that_do_not_rise_with_the_grade(n):
    random = np.random.default_rng(0)
    y, s = random.integers(0, 3, n), random.normal(size=n)
    gains = [3.0, 1.0, 2.0]
    found = ndcg_score(y, s, gain=gains)
    ranked = np.array(gains)[y[np.argsort(-s)]]
    discounts = 1 / np.log2(np.arange(2, n + 2))
    assert found == pytest.approx(ranked @ discounts / (-np.sort(-ranked) @ discounts), rel=1e-12)
