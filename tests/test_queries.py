"""The door in: what is accepted, how it is grouped, and what is refused with which words."""

import datetime

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_rankscore import NoGroupsError, evaluate, ndcg_score
from sklearn_rankscore.ranking import grouping, read_queries
from sklearn_rankscore.ranking.arrays import as_ids, graded
from sklearn_rankscore.ranking.grouping import group_rows

Y = np.array([2, 0, 1, 0, 1])
S = np.array([0.3, 0.2, 0.1, 0.9, 0.4])


def rows_of(groups):
    """Rows of each query by the grouping under test."""
    ids, starts, sizes, rows = group_rows(groups, len(groups))
    places = np.arange(len(groups)) if rows is None else rows
    return [
        (i, places[start : start + size].tolist())
        for i, start, size in zip(ids.tolist(), starts, sizes, strict=True)
    ]


ids_of_a_kind = st.one_of(
    st.lists(st.integers(-3, 3), min_size=1, max_size=40),
    st.lists(st.sampled_from([0, 2**62, -(2**62), 7]), min_size=1, max_size=20),
    st.lists(st.sampled_from(["b", "a", "ab", "", "ä"]), min_size=1, max_size=40),
    st.lists(st.sampled_from([0.5, -1.25, 3.0]), min_size=1, max_size=20),
    st.lists(st.booleans(), min_size=1, max_size=20),
    st.lists(st.sampled_from([b"x", b"yy"]), min_size=1, max_size=20),
    st.lists(st.sampled_from([(1, "a"), (1, "b"), (0, "a")]), min_size=1, max_size=20),
)


@given(ids_of_a_kind)
def test_rows_are_grouped_by_sorted_id_and_keep_their_order(groups):
    expected = [(i, [r for r, g in enumerate(groups) if g == i]) for i in sorted(set(groups))]
    assert rows_of(groups) == expected


@pytest.mark.parametrize("dtype", ["i1", "u1", "i4", "u8", "f4", "U3", "S3", "O", "M8[D]"])
@pytest.mark.parametrize("order", ["sorted", "together", "apart"])
def test_ids_of_any_dtype(dtype, order):
    ids = {"sorted": [1, 1, 3, 3, 3], "together": [3, 3, 3, 1, 1], "apart": [3, 1, 3, 1, 3]}[order]
    groups = np.array(ids).astype("i8").astype(dtype)
    expected = [[r for r, i in enumerate(ids) if i == q] for q in (1, 3)]
    assert [rows for _, rows in rows_of(groups)] == expected


def test_ids_that_cannot_be_compared_stand_in_order_of_appearance():
    groups = np.array(["b", 1, "b", ("c",)], dtype=object)
    assert rows_of(groups) == [("b", [0, 2]), (1, [1]), (("c",), [3])]


@given(ids_of_a_kind)
def test_queries_are_numbered_as_they_appear(groups):
    first_seen = list(dict.fromkeys(groups))
    codes, sizes = grouping.number_queries(groups, len(groups))
    assert codes.tolist() == [first_seen.index(g) for g in groups]
    assert sizes.tolist() == [groups.count(g) for g in first_seen]


@pytest.mark.parametrize("words", ["aab", "bba", "aba"])
def test_categorical_ids_come_back_as_their_values(words):
    expected = [(word, [r for r, w in enumerate(words) if w == word]) for word in "ab"]
    assert rows_of(pd.Categorical(list(words))) == expected


def test_queries_that_stand_together_are_sorted():
    assert [i for i, _ in rows_of([0, 0, 2, 2, 1, 1])] == [0, 1, 2]


def test_a_number_and_its_text_are_different_queries():
    assert len(rows_of([1, "1", 1, "1"])) == 2


def test_tuples_among_other_ids_are_ids():
    assert rows_of([("c",), 1, ("c",)]) == [(("c",), [0, 2]), (1, [1])]


@pytest.mark.parametrize("groups", [[2**64, 2**64 + 1, -1, -1], [2**53 + 1, 2**53, 0.5, 0.5]])
def test_integers_that_become_floats_in_numpy_stay_apart(groups):
    expected = [(i, [r for r, g in enumerate(groups) if g == i]) for i in sorted(set(groups))]
    assert rows_of(groups) == expected


def test_tuples_of_a_multi_index_are_ids():
    groups = pd.MultiIndex.from_tuples([("u", 2), ("u", 1), ("u", 2)])
    assert rows_of(groups) == [(("u", 1), [1]), (("u", 2), [0, 2])]


def test_ids_spanning_their_whole_dtype():
    groups = np.array([127, -128, 127, -128, 0], dtype=np.int8)
    assert rows_of(groups) == [(-128, [1, 3]), (0, [4]), (127, [0, 2])]
    groups = np.array([100, -100, 0, 100], dtype=np.int8)
    assert rows_of(groups) == [(-100, [1]), (0, [2]), (100, [0, 3])]


@pytest.mark.parametrize("ids", [["b", "a", "b"], [b"b", b"a", b"b"], [2, 1, 2], [2.5, 1, 2.5]])
def test_ids_keep_their_dtype(ids):
    groups = np.array(ids)
    assert group_rows(groups, 3)[0].dtype == groups.dtype


SCATTERED = [
    ([1, 2, 1, 2], True),
    ([1, 2, 2, 1], False),  # half of the rows have a neighbour of another query
    ([1, 2, 3, 1], True),
    ([1, 2, 3, 4], False),  # each query together
    ([1, 2, 3, 4, 4, 1], True),
    ([1, 1, 1, 2, 2, 2], False),
    ([[1], [2], [1], [2]], False),
    ([1, 2] * 512 + [2] * 9, True),
    ([1] * 1024 + [1, 2] * 512, False),
    ([1, 1] * 256 + [1, 2] * 256 + [3], False),
    ([1, 1] * 255 + [1] + [2, 1] * 256 + [2, 1], True),
]


@pytest.mark.parametrize(("ids", "expected"), SCATTERED)
def test_a_sample_tells_whether_rows_are_scattered(ids, expected):
    array = np.empty(len(ids), dtype=object)
    array[:] = ids
    assert grouping._scattered(array) is expected


@pytest.mark.parametrize(("span", "hashed"), [(4 * 5 + 1023, False), (4 * 5 + 1024, True)])
def test_a_table_serves_ids_that_are_not_far_apart(span, hashed, monkeypatch):
    calls = []
    way = grouping._factorize_hashes
    monkeypatch.setattr(grouping, "_factorize_hashes", lambda h: calls.append(h) or way(h))
    unique, codes = grouping._factorize(np.array([7 + span, 7, 9, 7, 9]))
    assert (unique.tolist(), codes.tolist()) == ([7, 9, 7 + span], [2, 0, 1, 0, 1])
    assert bool(calls) == hashed


def test_without_groups_all_documents_are_one_query():
    assert ndcg_score(Y, S) == ndcg_score(Y, S, groups=["x"] * 5)
    alone = read_queries(Y, S)
    assert (alone.ids.tolist(), alone.starts.tolist(), alone.sizes.tolist()) == ([0], [0], [5])
    assert read_queries([Y, Y], [S, S]).ids.tolist() == [0, 1]


def test_two_dimensional_rows_are_queries():
    assert ndcg_score(np.array([Y, Y]), np.array([S, S])) == ndcg_score(Y, S)


def test_class_labels_against_scores_for_each_class():
    scores = np.array([[0.1, 0.7, 0.2], [0.5, 0.3, 0.2], [0.2, 0.2, 0.6]])
    one_hot = np.array([[0, 1, 0], [0, 1, 0], [1, 0, 0]])
    found = ndcg_score(["b", "b", "a"], scores, labels=["a", "b", "c"], average=None)
    assert found.tolist() == ndcg_score(one_hot, scores, average=None).tolist()
    assert read_queries(["b", "b", "a"], scores, labels=["a", "b", "c"]).label_range == (0, 1)


def test_weights_go_with_queries_in_any_row_order():
    order = [4, 0, 3, 1, 2]
    groups, weights = np.array([7, 7, 7, 2, 2]), np.array([3.0, 3.0, 3.0, 1.0, 1.0])
    per_query = ndcg_score(Y, S, groups=groups, average=None)  # ids 2, 7
    expected = (1 * per_query[0] + 3 * per_query[1]) / 4
    found = ndcg_score(Y[order], S[order], groups=groups[order], sample_weight=weights[order])
    assert found == pytest.approx(expected, abs=1e-15)


REFUSED = [
    ({"y_score": [0.1, np.nan, 0, 0, 0]}, ValueError, "y_score contains NaN .*position 1"),
    ({"y_true": [0, np.nan, 0, 0, 0]}, ValueError, "y_true contains NaN"),
    ({"y_true": [0, np.inf, 0, 0, 0]}, ValueError, "y_true contains infinity"),
    ({"y_true": [0, 1]}, ValueError, "inconsistent numbers of samples: y_true has 2"),
    ({"y_true": [], "y_score": [], "groups": None}, ValueError, "empty"),
    ({"y_true": 3, "y_score": 4, "groups": None}, TypeError, "must be an array"),
    ({"y_true": list("abcde")}, TypeError, "must hold numbers; got strings"),
    ({"y_true": np.array([2, "1", 0, 0, 0], dtype=object)}, TypeError, "got strings"),
    ({"y_true": np.array([1j] * 5)}, TypeError, "complex"),
    ({"y_true": np.array([1, 2, None, 0, 0], dtype=object)}, ValueError, "y_true contains NaN"),
    ({"y_true": np.array([2**60] * 5)}, ValueError, r"beyond 2\*\*53"),
    ({"y_true": np.ma.masked_equal(Y, 2)}, ValueError, "masked"),
    ({"y_true": [[1, 0], [1]], "y_score": [[1, 0], [1]], "groups": None}, ValueError, "ragged"),
    ({"y_true": np.zeros((2, 2, 2)), "y_score": np.zeros((2, 2, 2))}, ValueError, "shape"),
    ({"groups": [3, 2]}, ValueError, r"look like group sizes: pass np.repeat"),
    ({"groups": [1, 1, 1]}, ValueError, "one query id per document: got 3 for 5"),
    ({"groups": [1.0, np.nan, 1, 1, 1]}, ValueError, "missing"),
    ({"groups": ["a", None, "a", "a", "a"]}, ValueError, "missing"),
    ({"groups": np.array(["2020", "NaT"] * 2 + ["2020"], dtype="M8[Y]")}, ValueError, "missing"),
    ({"groups": 5}, ValueError, "one-dimensional"),
    ({"groups": np.zeros((5, 1))}, ValueError, "one-dimensional"),
    ({"y_true": [Y], "y_score": [S]}, ValueError, "goes with one-dimensional"),
    ({"sample_weight": [1, 2, 1, 1, 1]}, ValueError, "varies within a query"),
    ({"sample_weight": [-1] * 5}, ValueError, "not negative"),
    ({"sample_weight": [0] * 5}, ValueError, "zero for every query"),
    ({"sample_weight": [1, 1]}, ValueError, "one weight per document"),
    ({"labels": [0, 1]}, ValueError, "labels= names the columns"),
    (
        {"y_true": list("abc"), "y_score": np.eye(3)[:, :2], "groups": None},
        ValueError,
        "2 columns for",
    ),
    (
        {"y_true": ["b", "z"], "y_score": np.eye(2), "labels": ["a", "b"], "groups": None},
        ValueError,
        "holds the class .*'z'.*'a', 'b'",
    ),
]


@pytest.mark.parametrize(("change", "error", "message"), REFUSED)
def test_what_is_refused_and_how(change, error, message):
    call = {"y_true": Y, "y_score": S, "groups": [0, 0, 0, 1, 1]} | change
    with pytest.raises(error, match=message):
        ndcg_score(**call)


def test_datetime_ids_are_ids():
    groups = [datetime.date(2020, 1, 1)] * 3 + [datetime.date(2021, 1, 1)] * 2
    assert evaluate(Y, S, "mrr", groups=groups) == {"mrr": 0.75}


def test_read_only_and_strided_input_is_left_alone():
    y, s = np.repeat(Y, 2)[::2], np.repeat(S, 2)[::2]
    y.flags.writeable = s.flags.writeable = False
    groups = np.array([1, 0, 1, 0, 1])
    assert ndcg_score(y, s, groups=groups) == ndcg_score(Y.copy(), S.copy(), groups=groups)
    assert y.tolist() == Y.tolist()


def test_no_copy_of_flat_numeric_columns():
    read = read_queries(Y, S, groups=[0, 0, 0, 1, 1])
    assert np.shares_memory(read.y_true, Y)
    assert np.shares_memory(read.y_score, S)


def test_no_groups_error_is_a_value_error():
    assert issubclass(NoGroupsError, ValueError)


def test_text_whose_hashes_collide_is_told_apart(monkeypatch):
    monkeypatch.setattr(grouping, "HASH_FACTOR", np.uint64(0))  # only the last letter counts
    groups = np.array([f"query {i % 1000:03}" for i in np.random.default_rng(0).permutation(3000)])
    assert grouping._factorize_text(groups) is None
    expected = [(w, np.flatnonzero(groups == w).tolist()) for w in np.unique(groups).tolist()]
    assert rows_of(groups) == expected


def test_scattered_text_is_grouped_like_its_numbers():
    numbers = np.random.default_rng(1).integers(0, 300, 5000)
    words = np.array([f"q{i:03}" for i in range(300)])[numbers]
    assert [rows for _, rows in rows_of(words)] == [rows for _, rows in rows_of(numbers)]
    assert [rows for _, rows in rows_of(words.astype(object))] == [r for _, r in rows_of(numbers)]


@pytest.mark.parametrize("dtype", [np.int64, np.uint64, np.int32])
def test_integers_far_apart_are_grouped_like_any_ids(dtype):
    random = np.random.default_rng(2)
    info = np.iinfo(dtype)
    names = np.unique(random.integers(info.min, info.max, 400, dtype=dtype, endpoint=True))
    names = np.append(names, np.array([info.min, info.max, 0], dtype=dtype))
    groups = random.choice(np.unique(names), 3000)
    expected = [(w, np.flatnonzero(groups == w).tolist()) for w in np.unique(groups).tolist()]
    assert rows_of(groups) == expected


def test_numbers_that_share_a_slot_are_told_apart(monkeypatch):
    """With one slot for all, each round of the table finds the rows of one number."""
    monkeypatch.setattr(grouping, "HASH_FACTOR", np.uint64(0))
    hashes = np.array([7, 3, 7, 9, 3, 3], dtype=np.uint64)
    examples, codes = grouping._factorize_hashes(hashes)
    assert sorted(hashes[examples].tolist()) == [3, 7, 9]
    assert hashes[examples][codes].tolist() == hashes.tolist()


def test_text_is_grouped_by_its_hashes(monkeypatch):
    words = np.array(["ab", "cb", "ab", "a"])
    unique, codes = grouping._factorize_text(words)
    assert (unique.tolist(), codes.tolist()) == (["a", "ab", "cb"], [1, 2, 1, 0])
    # where the last letter is all that counts, two words have one hash
    monkeypatch.setattr(grouping, "HASH_FACTOR", np.uint64(0))
    assert grouping._factorize_text(words) is None
    assert [name for name, _ in rows_of(words)] == ["a", "ab", "cb"]


def test_a_list_of_text_is_no_list_of_objects():
    assert as_ids(["b", "a"])[0].dtype.kind == "U"
    assert as_ids(["b", None])[0].dtype.kind == "O"


@pytest.mark.parametrize("groups", [[1, 1, 1], ["a", "b"], [2, 4]])
def test_ids_of_another_number_are_no_sizes(groups):
    with pytest.raises(ValueError, match="one query id per document") as error:
        ndcg_score(Y, S, groups=groups)
    assert "sizes" not in str(error.value)


def test_integers_up_to_2_to_53_are_scores():
    s = [2**53, 2**53 - 1, 2**53 - 2, 0, 1]
    assert ndcg_score(Y, np.array(s)) == ndcg_score(Y, [5, 4, 3, 1, 2])
    assert ndcg_score(Y, s) == ndcg_score(Y, [5, 4, 3, 1, 2])


@pytest.mark.parametrize("sign", [1, -1])
def test_larger_integers_are_refused_in_any_column(sign):
    large = [0, sign * 2**60, 1, 2, 3]
    for column in (large, np.array(large), pd.Series(large), pd.Series(large, dtype=object)):
        with pytest.raises(ValueError, match=r"beyond 2\*\*53"):
            ndcg_score(Y, column)
    assert ndcg_score(Y, np.array(large) * 1.0) == ndcg_score(Y, [0, sign * 9, 1, 2, 3])


def test_single_precision_is_not_copied():
    s = S.astype(np.float32)
    assert np.shares_memory(read_queries(Y, s).y_score, s)
    assert read_queries(Y, S.astype(np.float16)).y_score.dtype == np.float64


@pytest.mark.parametrize("share", [0.0, 0.01, 0.09, 0.5, 1.0])
@pytest.mark.parametrize("n", [0, 1, 7, 8, 9, 1000, 4099])
def test_places_of_hits(n, share):
    hits = np.random.default_rng(n).random(n) < share
    assert grouping._places(hits).tolist() == np.flatnonzero(hits).tolist()
    assert grouping._places(np.append(hits, True)).tolist() == [*np.flatnonzero(hits), n]


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
    codes, low, high = graded(np.array(labels, dtype=dtype), None)
    assert (codes.tolist(), codes.dtype) == ([int(y) + 1 for y in labels], "u1")
    assert (low, high) == (min(labels), max(labels))


@pytest.mark.parametrize(("dtype", "labels"), NO_GRADES)
def test_other_labels_are_no_grades(dtype, labels):
    assert graded(np.array(labels, dtype=dtype), None) == (None, min(labels), max(labels))
