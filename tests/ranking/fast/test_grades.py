"""Labels encoded as bytes, compared with the labels themselves."""

import numpy as np
import pytest

from sklearn_rankscore import evaluate, ndcg_score
from sklearn_rankscore.ranking.fast.grades import GradedLabels, encode_grades, highest, look_up
from sklearn_rankscore.ranking.label_functions import (
    exponential,
    linear,
    relevant,
    tabulated,
)

GRADES = [
    ("i1", [0, 62, 1]),
    ("u8", [0, 62, 1]),
    (">i4", [3, 0]),
    ("?", [1, 0]),
    ("f4", [3, 0]),
    ("f8", [0, 62]),
]


NO_GRADES = [
    ("i1", [0, -1]),
    ("i8", [-(2**40), 3]),
    ("u1", [63]),
    ("u8", [2**40]),
    (">i4", [256]),
    ("f8", [63]),
    ("f8", [-1, 2]),
    ("f4", [0.5, 1]),
]


@pytest.mark.parametrize(("dtype", "labels"), GRADES)
def test_small_whole_labels_of_any_dtype_are_grades(dtype, labels):
    codes, low, high = encode_grades(np.array(labels, dtype=dtype), None)
    assert (codes.tolist(), codes.dtype) == ([int(y) + 1 for y in labels], "u1")
    assert (low, high) == (min(labels), max(labels))


@pytest.mark.parametrize(("dtype", "labels"), NO_GRADES)
def test_other_labels_are_not_grades(dtype, labels):
    assert encode_grades(np.array(labels, dtype=dtype), None) == (None, min(labels), max(labels))


@pytest.mark.parametrize(
    ("dtype", "last"),
    [("i8", -1), ("i8", 63), ("u1", 63), ("f8", 0.5), ("f4", -1), ("f8", np.inf), ("f8", np.nan)],
)
def test_the_last_of_many_labels_decides_whether_all_are_grades(dtype, last):
    labels = np.ones(2**17 + 1, dtype)
    assert encode_grades(labels, labels)[0] is not None
    labels[-1] = last
    codes, low, high = encode_grades(labels, labels)
    assert codes is None
    np.testing.assert_equal((low, high), (labels.min(), labels.max()))


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
        assert (highest(labels.copy(), sizes, n_grades, n) == expected).all()


@pytest.mark.parametrize("n", [16, 17, 33])
def test_gains_that_are_not_monotone_in_the_label(n):
    random = np.random.default_rng(0)
    y, s = random.integers(0, 3, n), random.normal(size=n)
    gains = [3.0, 1.0, 2.0]
    score = ndcg_score(y, s, gain=gains)
    ranked = np.array(gains)[y[np.argsort(-s)]]
    discounts = 1 / np.log2(np.arange(2, n + 2))
    assert score == pytest.approx(ranked @ discounts / (-np.sort(-ranked) @ discounts), rel=1e-12)


@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize(
    ("entries", "as_bytes"),
    [
        ([0, 0, 1, 3, 7, 15], True),
        ([0, 255, 0, 7, 255, 254], True),  # the steps between bytes are taken modulo 256
        ([0, 0, 0, 0, 0, 0], True),
        ([0, *range(1, 63)], False),  # many steps
        ([0, 0, 1, 256], False),
        ([0, 0.5, 1], False),
        ([0, -1, 1], False),
        ([0, np.inf, 1e300], False),
        ([0, np.nan, 1], False),
    ],
)
def test_entries_of_a_table_are_those_of_its_index(entries, as_bytes, order):
    table = np.array(entries, dtype=np.float64)
    codes = np.random.default_rng(0).integers(0, len(table), (300, 10), dtype=np.uint8)
    codes = np.asarray(codes, order=order)
    for permitted in (False, True):
        values = look_up(table, codes, as_bytes=permitted)
        np.testing.assert_array_equal(values, table[codes])
        assert values.dtype == (np.uint8 if permitted and as_bytes else np.float64)
        assert values.flags.f_contiguous == codes.flags.f_contiguous


def test_a_tabulated_function_is_evaluated_once_per_label():
    seen = []

    def function(labels):
        seen.append(labels.tolist())
        return labels / 4

    gain = tabulated(function)

    def total(block):
        for values in (block.by_rank(gain), block.ideal(gain), block.survival(gain)):
            assert values.shape == (3, 3)
        return block.total(gain)

    evaluate([[0, 1, 3]] * 3, [[3, 2, 2]] * 3, total)
    assert all(labels == [0, 1, 2, 3] for labels in seen)


@pytest.mark.parametrize("labels", [[3, 5], [0.3, 0.5]])
def test_a_user_defined_gain_is_not_evaluated_for_padding(labels):
    """Where rows are padded, the gain sees labels that occur, and no others."""
    seen = set()

    def gain(labels):
        seen.update(labels.ravel().tolist())
        return 2**labels - 1

    y = np.random.default_rng(0).choice(labels, 35)
    g, s = np.repeat([0, 1], [17, 18]), np.arange(35.0)
    assert ndcg_score(y, s, groups=g, gain=gain) == ndcg_score(y, s, groups=g, gain="exponential")
    assert seen == set(labels)


def test_a_user_defined_gain_is_given_floats_that_occur():
    seen = []

    def gain(labels):
        seen.extend([*labels.ravel(), labels.dtype])
        return 2**labels - 1

    y = np.array([3, 5, 3, 5, 5], dtype=np.uint8)
    score = ndcg_score(y, [1, 2, 3, 4, 5], groups=[0, 0, 1, 1, 1], gain=gain)
    assert set(seen) == {3.0, 5.0, np.dtype(float)}
    assert score == ndcg_score(y, [1, 2, 3, 4, 5], groups=[0, 0, 1, 1, 1], gain="exponential")


def test_the_ideal_order_up_to_several_depths():
    labels = GradedLabels(np.array([[1, 3, 2, 0]], np.uint8), np.array([3]), n_grades=3)
    assert labels.ideal(linear, 1).tolist() == [[2]]
    assert labels.ideal(linear, 4).tolist() == [[2, 1, 0, 0]]


@pytest.mark.parametrize("width", [3, 300])
@pytest.mark.parametrize("function", [relevant(0), relevant(2), linear, exponential])
def test_totals_of_grades_are_those_of_labels(function, width):
    random = np.random.default_rng(0)
    codes = random.integers(0, 6, (50, width)).astype(np.uint8)
    sizes = np.full(50, width)
    total = GradedLabels(codes, sizes, 5).total(function)
    gains = np.where(codes > 0, function(codes - 1.0), 0.0)
    np.testing.assert_array_equal(total, gains.sum(axis=1))
    assert total.dtype == np.float64
