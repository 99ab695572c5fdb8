"""Rows grouped by query ids of any type, in any order."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_rankscore.query_ids import as_ids, factorize, group_rows, grouping


def rows_of(groups):
    """Rows of each query by the grouping under test."""
    grouping = group_rows(groups, len(groups))
    rows = np.arange(len(groups)) if grouping.rows is None else grouping.rows
    codes = np.empty(len(groups), dtype=int)
    by_query = []
    for q, (start, size) in enumerate(zip(grouping.starts, grouping.sizes, strict=True)):
        by_query.append((grouping.ids[q : q + 1].tolist()[0], rows[start : start + size].tolist()))
        codes[by_query[-1][1]] = q
    assert grouping.codes.tolist() == codes.tolist()
    return by_query


@pytest.mark.parametrize(("dtype", "limit"), [("f8", 2**53), ("f4", 2**24), ("f2", 2**11)])
def test_floats_are_ids_as_long_as_they_hold_integers_exactly(dtype, limit):
    ids = np.array([limit - 1, 0.5, limit - 2, -limit + 1, np.inf], dtype)
    assert len(rows_of(ids)) == 5
    with pytest.raises(ValueError, match="rounds different integers to the same number"):
        rows_of(np.array([limit, 0.5, np.inf], dtype))


def test_categories_are_no_rounded_integers():
    with pytest.raises(ValueError, match=r"float64 up to .*from 2\*\*53 on"):
        rows_of(pd.Categorical([1e16, 2.0, 1e16]))


ids_of_a_kind = st.one_of(
    st.lists(st.integers(-3, 3), min_size=1, max_size=40),
    st.lists(st.sampled_from([0, 2**62, -(2**62), 7]), min_size=1, max_size=20),
    st.lists(st.sampled_from(["b", "a", "ab", "", "ä"]), min_size=1, max_size=40),
    st.lists(st.sampled_from([0.5, -1.25, 3.0]), min_size=1, max_size=20),
    st.lists(st.booleans(), min_size=1, max_size=20),
    st.lists(st.sampled_from([b"x", b"yy"]), min_size=1, max_size=20),
    st.lists(st.sampled_from([(1, "a"), (1, "b"), (0, "a")]), min_size=1, max_size=20),
)


def by_definition(groups):
    return [(i, [r for r, g in enumerate(groups) if g == i]) for i in sorted(set(groups))]


@given(ids_of_a_kind)
def test_rows_are_grouped_by_sorted_id_and_keep_their_order(groups):
    assert rows_of(groups) == by_definition(groups)


@pytest.mark.parametrize("dtype", ["i1", "u1", "i4", "u8", "f4", "U3", "S3", "O", "M8[D]"])
@pytest.mark.parametrize("order", ["sorted", "together", "apart"])
def test_ids_of_any_dtype(dtype, order):
    ids = {"sorted": [1, 1, 3, 3, 3], "together": [3, 3, 3, 1, 1], "apart": [3, 1, 3, 1, 3]}[order]
    groups = np.array(ids).astype("i8").astype(dtype)
    expected = [[r for r, i in enumerate(ids) if i == q] for q in (1, 3)]
    assert [rows for _, rows in rows_of(groups)] == expected


def test_ids_that_cannot_be_compared_are_in_order_of_appearance():
    groups = np.array(["b", 1, "b", ("c",)], dtype=object)
    assert rows_of(groups) == [("b", [0, 2]), (1, [1]), (("c",), [3])]


@given(ids_of_a_kind)
def test_queries_are_numbered_as_they_appear(groups):
    first_seen = list(dict.fromkeys(groups))
    grouping = group_rows(groups, len(groups)).by_appearance()
    assert grouping.codes.tolist() == [first_seen.index(g) for g in groups]
    assert grouping.sizes.tolist() == [groups.count(g) for g in first_seen]


@pytest.mark.parametrize("words", ["aab", "bba", "aba"])
def test_categorical_ids_are_returned_as_values(words):
    expected = [(word, [r for r, w in enumerate(words) if w == word]) for word in "ab"]
    assert rows_of(pd.Categorical(list(words))) == expected


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [0, 2, 1, 3], [2, 0, 3, 1]])
def test_categorical_ids_that_cannot_be_compared_are_those_of_objects(order):
    values = pd.Series(["a", "a", 1, 1], dtype=object).iloc[order]
    categorical = pd.Series(pd.Categorical(values, categories=["unused", 1, "a"]))
    assert rows_of(categorical) == rows_of(values.to_numpy())
    assert rows_of(categorical)[0][0] == values.iloc[0]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("ids", [["a", "b", "b"], [1, 2, 2]])
def test_a_frame_of_ids_is_refused_with_the_way_to_pass_them(make, ids):
    two = make({"user": ids, "day": [1, 1, 2]})
    for frame, shape in ((make({"qid": ids}), r"\(3, 1\)"), (two, r"\(3, 2\)")):
        with pytest.raises(ValueError, match=rf"got shape {shape}\. Pass the column.* list\(zip"):
            group_rows(frame, 3)
    assert len(group_rows(list(zip(two["user"], two["day"], strict=True)), 3)) == 3


def test_queries_of_adjacent_rows_are_sorted():
    assert [i for i, _ in rows_of([0, 0, 2, 2, 1, 1])] == [0, 1, 2]


def test_a_number_and_its_string_are_different_queries():
    assert len(rows_of([1, "1", 1, "1"])) == 2


def test_tuples_among_other_ids_are_ids():
    assert rows_of([("c",), 1, ("c",)]) == [(("c",), [0, 2]), (1, [1])]


@pytest.mark.parametrize(
    "groups",
    [
        [2**64, 2**64 + 1, -1, -1],
        [2**53 + 1, 2**53, 0.5, 0.5],
        [np.int64(2**53 + 1), np.int64(2**53), 0.5, 0.5],
    ],
)
def test_integers_that_numpy_would_round_stay_distinct(groups):
    assert rows_of(groups) == by_definition(groups)


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
    assert group_rows(groups, 3).ids.dtype == groups.dtype


SCATTERED = [
    ([1, 2, 1, 2], True),
    ([1, 2, 2, 1], False),  # only half of the rows have a neighbour of another query
    ([1, 2, 3, 1], True),
    ([1, 2, 3, 4], False),  # the rows of each query are adjacent
    ([1, 2, 3, 4, 4, 1], True),
    ([1, 1, 1, 2, 2, 2], False),
    ([[1], [2], [1], [2]], False),
    ([1, 2] * 512 + [2] * 9, True),
    ([1] * 1024 + [1, 2] * 512, False),
    ([1, 1] * 256 + [1, 2] * 256 + [3], False),
    ([1, 1] * 255 + [1] + [2, 1] * 256 + [2, 1], True),
]


@pytest.mark.parametrize(("ids", "expected"), SCATTERED)
def test_scattered_rows_are_recognised_by_a_sample(ids, expected):
    array = np.empty(len(ids), dtype=object)
    array[:] = ids
    assert grouping._is_scattered(array) is expected


@pytest.mark.parametrize(("distance", "hashed"), [(4 * 5 + 1023, False), (4 * 5 + 1024, True)])
def test_integers_in_a_small_range_are_looked_up_in_a_table(distance, hashed, monkeypatch):
    calls = []
    way = factorize._factorize_hashes
    monkeypatch.setattr(factorize, "_factorize_hashes", lambda h: calls.append(h) or way(h))
    unique, codes = factorize.factorize(np.array([7 + distance, 7, 9, 7, 9]))
    assert (unique.tolist(), codes.tolist()) == ([7, 9, 7 + distance], [2, 0, 1, 0, 1])
    assert bool(calls) == hashed


def test_strings_with_equal_hashes_are_distinct(monkeypatch):
    monkeypatch.setattr(factorize, "HASH_FACTOR", np.uint64(0))  # only the last letter counts
    groups = np.array([f"query {i % 1000:03}" for i in np.random.default_rng(0).permutation(3000)])
    assert factorize._factorize_text(groups) is None
    expected = [(w, np.flatnonzero(groups == w).tolist()) for w in np.unique(groups).tolist()]
    assert rows_of(groups) == expected


def test_scattered_strings_are_grouped_like_integers():
    numbers = np.random.default_rng(1).integers(0, 300, 5000)
    words = np.array([f"q{i:03}" for i in range(300)])[numbers]
    assert [rows for _, rows in rows_of(words)] == [rows for _, rows in rows_of(numbers)]
    assert [rows for _, rows in rows_of(words.astype(object))] == [r for _, r in rows_of(numbers)]


@pytest.mark.parametrize("dtype", [np.int64, np.uint64, np.int32])
def test_integers_in_a_large_range_are_grouped_by_hashes(dtype):
    random = np.random.default_rng(2)
    info = np.iinfo(dtype)
    names = np.unique(random.integers(info.min, info.max, 400, dtype=dtype, endpoint=True))
    names = np.append(names, np.array([info.min, info.max, 0], dtype=dtype))
    groups = random.choice(np.unique(names), 3000)
    expected = [(w, np.flatnonzero(groups == w).tolist()) for w in np.unique(groups).tolist()]
    assert rows_of(groups) == expected


def test_integers_in_one_slot_are_distinct(monkeypatch):
    """With a single slot, each round of the hash table assigns the rows of one integer."""
    monkeypatch.setattr(factorize, "HASH_FACTOR", np.uint64(0))
    hashes = np.array([7, 3, 7, 9, 3, 3], dtype=np.uint64)
    examples, codes = factorize._factorize_hashes(hashes)
    assert sorted(hashes[examples].tolist()) == [3, 7, 9]
    assert hashes[examples][codes].tolist() == hashes.tolist()


def test_strings_are_grouped_by_their_hashes(monkeypatch):
    words = np.array(["ab", "cb", "ab", "a"])
    unique, codes = factorize._factorize_text(words)
    assert (unique.tolist(), codes.tolist()) == (["a", "ab", "cb"], [1, 2, 1, 0])
    # if only the last letter counts, two of the strings have the same hash
    monkeypatch.setattr(factorize, "HASH_FACTOR", np.uint64(0))
    assert factorize._factorize_text(words) is None
    assert [name for name, _ in rows_of(words)] == ["a", "ab", "cb"]


def test_a_list_of_strings_is_not_read_as_objects():
    assert as_ids(["b", "a"])[0].dtype.kind == "U"
    assert as_ids(["b", None])[0].dtype.kind == "O"


@given(ids_of_a_kind, st.data())
def test_whether_values_vary_within_a_query(groups, data):
    values = data.draw(st.lists(st.integers(0, 2), min_size=len(groups), max_size=len(groups)))
    expected = [
        len({v for v, g in zip(values, groups, strict=True) if g == i}) > 1
        for i in sorted(set(groups))
    ]
    assert group_rows(groups, len(groups)).varies(np.array(values)).tolist() == expected


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("order", [[0, 1, 2, 3, 4, 5], [5, 0, 3, 1, 4, 2]])
def test_missing_values_do_not_decide_whether_values_vary(dtype, order):
    values = np.array([1, 0, np.nan, 2, np.nan, np.nan]).astype(dtype)[order]
    groups = np.array([0, 0, 0, 1, 1, 2])[order]
    assert group_rows(groups, 6).varies(values).tolist() == [True, False, False]


@pytest.mark.parametrize("n_letters", [63, 64, 65, 300])
def test_long_text(n_letters):
    codes = np.random.default_rng(0).integers(0, 40, 500)
    names = np.array([f"{q:0>{n_letters}}" for q in range(40)])
    queries = group_rows(names[codes], len(codes))
    assert queries.ids.tolist() == names.tolist()
    np.testing.assert_array_equal(queries.codes, codes)


MISSING = [np.nan, None, pd.NA, pd.NaT, ("x", np.nan)]


@pytest.mark.parametrize("missing", MISSING, ids=["NaN", "None", "NA", "NaT", "nested"])
@pytest.mark.parametrize("order", [[0, 1, 2, 3], [0, 2, 1, 3], [1, 3, 2, 0]])
def test_missing_values_in_tuples_are_refused(missing, order):
    groups = [("a", 1.0), ("a", missing), ("a", missing), ("b", 2.0)]
    with pytest.raises(ValueError, match="groups must not have missing values"):
        group_rows([groups[i] for i in order], 4)


def test_missing_values_in_a_multi_index_are_refused():
    groups = pd.MultiIndex.from_arrays([["a", "a", "b"], [1.0, np.nan, 2.0]])
    for ids in (groups, pd.Categorical([0, 1, 2]).rename_categories(list(groups))):
        with pytest.raises(ValueError, match="groups must not have missing values"):
            group_rows(ids, 3)


def test_unhashable_ids_are_no_missing_values():
    groups = [("a", np.ones(2)), ("b", np.zeros(2))]
    with pytest.raises(TypeError, match="groups must hold hashable ids"):
        group_rows(groups, 2)
