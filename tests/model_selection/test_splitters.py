"""Splitters: whole queries in input order, ids of any type from any source, balanced folds."""

import re
import time

import numpy as np
import pandas as pd
import pytest
from frames import pa, pl
from hypothesis import given
from hypothesis import strategies as st
from sklearn import model_selection as ms

from sklearn_rankscore import (
    NoGroupsError,
    QueryKFold,
    QueryShuffleSplit,
    QueryTimeSeriesSplit,
    RepeatedQueryKFold,
    make_ranking,
    query_train_test_split,
)

SPLITTERS = {
    "kfold": QueryKFold(3),
    "kfold shuffled": QueryKFold(3, shuffle=True, random_state=0),
    "repeated": RepeatedQueryKFold(n_splits=2, n_repeats=2, random_state=0),
    "shuffle split": QueryShuffleSplit(3, test_size=0.3, random_state=0),
    "time series": QueryTimeSeriesSplit(3),
}
N_FOLDS = {"kfold": 3, "kfold shuffled": 3, "repeated": 2}  # which test each row once


@st.composite
def problems(draw):
    sizes = draw(st.lists(st.integers(1, 6), min_size=6, max_size=12))
    query = np.repeat(np.arange(len(sizes)), sizes)
    y = np.array(draw(st.lists(st.integers(0, 2), min_size=len(query), max_size=len(query))))
    if draw(st.booleans()):
        query = query[draw(st.permutations(range(len(query))))]
    return np.arange(len(query), dtype=float)[:, None], y, query


def folds(cv, *args, **kwargs):
    return [(train.tolist(), test.tolist()) for train, test in cv.split(*args, **kwargs)]


@pytest.mark.parametrize("name", SPLITTERS)
@given(problem=problems())
def test_queries_stay_whole_and_rows_in_order(name, problem):
    X, y, query = problem
    splits = list(SPLITTERS[name].split(X, y, query))
    assert len(splits) == SPLITTERS[name].get_n_splits()
    for train, test in splits:
        assert len(test)
        assert len(train)
        for rows in (train, test):
            assert (np.diff(rows) > 0).all()
            # all rows of each of these queries are included
            assert np.isin(query, query[rows]).sum() == len(rows)
        assert not set(query[train]) & set(query[test])
        if name in N_FOLDS:
            assert len(train) + len(test) == len(y)
    tests = [test for _, test in splits]
    for i in range(0, len(tests), N_FOLDS[name]) if name in N_FOLDS else ():
        of_repetition = np.concatenate(tests[i : i + N_FOLDS[name]])
        assert sorted(of_repetition) == list(range(len(y)))


@pytest.mark.parametrize("name", SPLITTERS)
@given(problem=problems(), param=st.sampled_from(["groups", "qid"]))
def test_folds_depend_on_which_rows_share_an_id(name, problem, param):
    X, y, query = problem
    expected = folds(SPLITTERS[name], X, y, query)
    for ids in (query, -query, np.array([f"query {110 - number}" for number in query])):
        assert expected == folds(SPLITTERS[name], X, y, **{param: ids})


def zipf_problem(n_rows, n_queries, seed):
    """Zipf lengths, and 75 % of the queries without a relevant row."""
    random = np.random.default_rng(seed)
    share = 1 / np.arange(1, n_queries + 1) ** 0.9
    sizes = np.maximum(1, np.round(share / share.sum() * n_rows)).astype(int)
    random.shuffle(sizes)
    query = np.repeat(np.arange(n_queries), sizes)
    place = np.arange(len(query)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    relevant = np.where(random.random(n_queries) < 0.25, random.geometric(0.4, n_queries), 0)
    order = random.permutation(len(query))
    return (place < relevant[query]).astype(int)[order], query[order]


def check_balance(splits, y, query):
    loads = [(len(test), len(np.unique(query[test])), y[test].sum()) for _, test in splits]
    assert (np.ptp(loads, axis=0) <= 0.01 * np.mean(loads, axis=0)).all()


BALANCED = [  # the type of labels of which some are unjudged, or int, and seeds of a shuffle
    *((int, seed, shuffle) for seed in range(2) for shuffle in (None, seed)),
    *((kind, 0, None) for kind in (float, object)),
]


@pytest.mark.parametrize(("kind", "seed", "shuffle"), BALANCED)
def test_folds_are_balanced_in_rows_queries_and_relevant_rows(kind, seed, shuffle):
    y, query = zipf_problem(34_000, 2_000, seed)
    labels = y.astype(kind)
    if kind is not int:
        labels[np.flatnonzero(y == 0)[::60]] = np.nan
    cv = QueryKFold(5, shuffle=shuffle is not None, random_state=shuffle)
    check_balance(cv.split(y, labels, query), y, query)


def test_skip_constant_queries_balances_the_tested_queries():
    y, query = zipf_problem(34_000, 2_000, 0)
    mixed = {q for q in np.unique(query) if len(set(y[query == q])) == 2}
    cv = QueryKFold(5, skip_constant_queries=True)
    counts = []
    for train, test in cv.split(y, y, query):
        assert set(query[test]) <= mixed
        assert not set(query[train]) & set(query[test])
        counts.append(len(set(query[test])))
    assert sum(counts) == len(mixed)
    assert max(counts) - min(counts) <= 1


def test_skip_constant_queries_balances_rows_of_tested_and_of_other_queries():
    sizes = [300, 150] + [10] * 10
    query = np.repeat(np.arange(12), sizes)
    y = (np.arange(len(query)) % 10 < 3) & (query > 1)
    splits = list(QueryKFold(2, skip_constant_queries=True).split(query, y, query))
    assert [len(test) for _, test in splits] == [50, 50]
    y = (query == 0) | ((query > 1) & (np.arange(len(query)) % 2 == 0))
    splits = list(QueryKFold(3, skip_constant_queries=True).split(query, y, query))
    assert sorted(len(test) for _, test in splits) == [30, 30, 40]
    # the two large queries, which are never tested, are omitted from different training sets
    assert sorted(len(query) - len(train) - len(test) for train, test in splits) == [0, 150, 300]


def test_fifty_thousand_queries_are_split_evenly_in_a_third_of_a_second():
    y, query = zipf_problem(850_000, 50_000, 0)
    X = np.empty((len(y), 0))
    check_balance(QueryKFold(5).split(X, y, query), y, query)

    def seconds():
        start = time.process_time()  # processor time, because the machine may be busy
        list(QueryKFold(5).split(X, y, query))
        return time.process_time() - start

    assert any(seconds() <= 0.3 for _ in range(3))


UNJUDGED = [
    np.array([1, 0, np.nan, 1, 1, np.nan, np.nan, np.nan, 0, 1]),
    np.array([1, 0, None, 1, 1, np.nan, None, None, 0, 1], dtype=object),
    pd.array([1, 0, None, 1, 1, None, None, None, 0, 1], dtype="Int64"),
    np.array(["b", "a", None, "b", "b", None, None, np.nan, "a", "b"], dtype=object),
]


@pytest.mark.parametrize("labels", UNJUDGED, ids=["float", "object", "nullable", "text"])
def test_unjudged_rows_make_no_query_constant_or_varying(labels):
    query = np.repeat([0, 1, 2, 3], [3, 3, 2, 2])
    splits = list(QueryKFold(2, skip_constant_queries=True).split(query, labels, query))
    assert {q for _, test in splits for q in query[test].tolist()} == {0, 3}


def test_shuffles_differ_by_seed_and_repetition():
    X, y, query = make_ranking(40, random_state=0)

    def shuffled(seed):
        return folds(QueryKFold(2, shuffle=True, random_state=seed), X, y, query)

    assert shuffled(0) == shuffled(0)
    assert shuffled(0) != shuffled(1)
    tests = [t for _, t in folds(RepeatedQueryKFold(n_splits=2, n_repeats=3), X, y, query)]
    assert tests[0] not in tests[2:]
    assert tests[2] not in tests[4:]
    # also if no two queries have the same size
    X = query = np.repeat(np.arange(100, 120), np.arange(100, 120))
    y = (np.arange(len(X)) % 2).astype(int)
    long_ones = {
        frozenset(
            frozenset(query[test][query[test] >= 115])
            for _, test in QueryKFold(2, shuffle=True, random_state=seed).split(X, y, query)
        )
        for seed in range(4)
    }
    assert len(long_ones) > 1


DEFAULTS = [
    (QueryKFold, ms.KFold),
    (RepeatedQueryKFold, ms.RepeatedKFold),
    (QueryShuffleSplit, ms.ShuffleSplit),
    (QueryTimeSeriesSplit, ms.TimeSeriesSplit),
]


@pytest.mark.parametrize(("ours", "theirs"), DEFAULTS)
def test_the_number_of_splits_is_that_of_scikit_learn(ours, theirs):
    assert ours().get_n_splits() == theirs().get_n_splits()


def test_labels_may_be_strings_or_missing():
    groups = [0, 0, 1, 1, 2, 2, 3, 3]
    labels = ["no", "yes", "no", "no", "no", "yes", "no", "no"]
    for _, test in QueryKFold(2).split(groups, labels, groups):
        assert sorted(np.array(labels)[test]) == ["no", "no", "no", "yes"]
    assert len(list(QueryKFold(2).split(groups, None, groups))) == 2


def test_sizes_of_a_shuffle_split_are_numbers_of_queries():
    X, y, query = make_ranking(40, random_state=0)
    for sizes, expected in [
        ({}, (32, 8)),
        ({"test_size": 0.25}, (30, 10)),
        ({"test_size": 7}, (33, 7)),
        ({"train_size": 5}, (5, 35)),
        ({"train_size": 0.5, "test_size": 0.1}, (20, 4)),
    ]:
        for train, test in QueryShuffleSplit(2, random_state=0, **sizes).split(X, y, query):
            assert (len(set(query[train])), len(set(query[test]))) == expected


TIMES = np.array([5, 8, 1, 1, 1, 9, 7, 7, 3, 2])
QUERY = np.array([0, 0, 1, 1, 1, 2, 3, 3, 4, 4])  # earliest times 5, 1, 9, 7, 2


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, [((0, 1, 2), (3,)), ((0, 1, 2, 3), (4,))]),
        ({"times": TIMES}, [((1, 4, 0), (3,)), ((1, 4, 0, 3), (2,))]),
        ({"times": TIMES, "gap": 1}, [((1, 4), (3,)), ((1, 4, 0), (2,))]),
        ({"times": TIMES, "max_train_size": 2}, [((4, 0), (3,)), ((0, 3), (2,))]),
        ({"times": TIMES, "test_size": 2}, [((1,), (4, 0)), ((1, 4, 0), (3, 2))]),
    ],
)
def test_time_series_split_follows_the_times(options, expected):
    splits = QueryTimeSeriesSplit(2, **options).split(QUERY, groups=QUERY)
    for (train, test), (train_queries, test_queries) in zip(splits, expected, strict=True):
        assert set(QUERY[train]) == set(train_queries)
        assert set(QUERY[test]) == set(test_queries)


def test_times_come_as_a_column_a_function_or_dates():
    expected = folds(QueryTimeSeriesSplit(2, times=TIMES), QUERY, groups=QUERY)
    dates = np.datetime64("2026-01-01T00", "h") + TIMES
    X = pd.DataFrame({"qid": QUERY, "when": dates})
    for rows in (X, *([pa.Table.from_pandas(X)] if pa else [])):
        assert folds(QueryTimeSeriesSplit(2, times="when"), rows) == expected
    assert folds(QueryTimeSeriesSplit(2, times=lambda X: X["when"]), X) == expected
    assert folds(QueryTimeSeriesSplit(2, times=dates), X) == expected
    assert folds(QueryTimeSeriesSplit(2, times=np.datetime_as_string(dates)), X) == expected


BY_CHARACTERS = [  # text that does not sort by time, and one of it that is shown
    (["28.2.2024", "1.3.2024", "5.1.2024"], "28.2.2024"),
    (["999", "1000", "1001"], "999"),
    (["2024-01-31", "2024-02-01T10:00", "2024-03-01"], "2024-01-31"),
    (["2024-01-31T10:00+02:00", "2024-02-01T10:00+01:00", "2024-02-02T10:00+01:00"], "+02:00"),
    (["2024-01-01 09:00:00.5", "2024-01-01 09:00:00Z.", "2024-01-02"], "00Z."),
    (np.array([20240131, "2024-02-01", "2024-02-02"], dtype=object), "2024-02-01"),
]
MISSING = "times contains missing values"
WITHOUT_ORDER = [
    *((of, rf"text such as '.*{re.escape(shown)}'.*to_datetime.* ISO dates of one form")
      for times, shown in BY_CHARACTERS for of in (times, np.array(times, dtype=object))),
    (np.ma.masked_array([4, 3, 5], mask=[False, True, False]), "times has masked values"),
    (pd.array(["2024-01-01", None, "2024-01-02"], dtype="string"), MISSING),
    (np.array(["2024-01-01", pd.NA, "2024-01-02"], dtype=object), MISSING),
    (np.array([None, None, None]), MISSING),
    ([np.nan] * 3, MISSING),
    ([1, 2], "times must hold one time per document: got 2 for 3"),
    ([[1], [2], [3]], r"times must be one-dimensional, .* got shape \(3, 1\)"),
    (3, r"times must be one-dimensional, .* got shape \(\)"),
    ("t", "times='t' names no column or index level of X"),
]  # fmt: skip


@pytest.mark.parametrize(("times", "message"), WITHOUT_ORDER)
def test_times_without_an_order_are_refused(times, message):
    with pytest.raises(ValueError, match=message):
        folds(QueryTimeSeriesSplit(2, times=times), np.zeros((3, 1)), groups=np.arange(3))


@given(problem=problems())
def test_train_test_split_is_one_split_of_a_shuffle(problem):
    X, y, query = problem
    frame = pd.DataFrame({"x": X[:, 0], "qid": query})
    options = {"test_size": 0.3, "random_state": 0}
    parts = query_train_test_split(X, y, query, groups=query, **options)
    ((train, test),) = QueryShuffleSplit(1, **options).split(X, y, query)
    expected = [array[rows] for array in (X, y, query) for rows in (train, test)]
    for part, of_split in zip(parts, expected, strict=True):
        np.testing.assert_array_equal(part, of_split)
    for table in (frame, *([pl.DataFrame({"x": X[:, 0], "qid": query})] if pl else [])):
        table_train, table_test, _, _ = query_train_test_split(table, y.tolist(), **options)
        assert type(table_train) is type(table)
        assert [*table_train["x"], *table_test["x"]] == [*X[train, 0], *X[test, 0]]
    indexed = pd.Series(y, index=pd.Index(query, name="session"))
    _, other, _, _ = query_train_test_split(X, indexed, groups="session", **options)
    np.testing.assert_array_equal(other, X[test])


def split(cv, X=QUERY, y=None, groups=QUERY):
    return lambda: folds(cv, X, y, groups)


SKIPPING, IN_TIME = QueryKFold(2, skip_constant_queries=True), QueryTimeSeriesSplit
HALVE, SHUFFLES = query_train_test_split, (QueryKFold, RepeatedQueryKFold, QueryShuffleSplit)
TOO_MANY = "smaller than the number of queries 5"
REFUSED = [
    *((ValueError, message, call) for call, message in (
        (lambda: RepeatedQueryKFold(n_repeats=0), "n_repeats must be an integer of at least 1"),
        (lambda: QueryShuffleSplit(0), "n_splits must be an integer of at least 1"),
        (lambda: IN_TIME(gap=-1), "gap must be an integer of at least 0"),
        (lambda: IN_TIME(test_size=0), "test_size must be an integer of at least 1"),
        (lambda: IN_TIME(test_size=0.2), "test_size must be an integer"),
        (lambda: IN_TIME(max_train_size=0), "max_train_size must be an integer"),
        (split(IN_TIME(5)), "n_splits=5 needs at least 6"),
        (split(IN_TIME(2, test_size=3)), "number of queries=5 with test_size=3"),
        (split(QueryShuffleSplit(test_size=9)), f"test_size=9 .* {TOO_MANY}"),
        (split(QueryShuffleSplit(test_size=0.9)), "n_queries=5, test_size=0.9 .* will be empty"),
        (lambda: HALVE(QUERY, groups=QUERY, test_size=3, train_size=4), f"= 7, .* {TOO_MANY}"),
        (lambda: HALVE(groups=QUERY), "at least one array"),
        (lambda: HALVE(QUERY, TIMES[:3], groups=QUERY), "inconsistent numbers"),
        (split(SKIPPING, y=QUERY * 0), "different labels"),
        (split(SKIPPING, y=np.eye(10)), "y must be one-dimensional, one label per document"),
        (lambda: HALVE([], groups=[]), "X has no rows"),
    )),
    *((ValueError, "X has no rows; a split needs at least two queries", split(cv, X, groups=[]))
      for cv in SPLITTERS.values() for X in ([], np.zeros((0, 3)), pd.DataFrame({"qid": []}))),
    *((NoGroupsError, f"No query ids reached {type(cv).__name__}", split(cv, groups=None))
      for cv in SPLITTERS.values()),
    (NoGroupsError, "No query ids reached query_train_test_split", lambda: HALVE(QUERY)),
    (NoGroupsError, "no array has a column or index level 'qd'",
     lambda: HALVE(pd.DataFrame({"qid": QUERY}), groups="qd")),
    # as in scikit-learn
    *((ValueError, "random_state.*has no effect.*shuffle", lambda of=of: of(3, random_state=0))
      for of in (ms.KFold, QueryKFold)),
    *((TypeError, "shuffle must be True or False; got", lambda of=of: of(3, shuffle="yes"))
      for of in (ms.KFold, QueryKFold)),
    *((TypeError, "skip_constant_queries must be True or False; got 'no'",
       lambda of=of: of(skip_constant_queries="no")) for of in SHUFFLES),
]  # fmt: skip


@pytest.mark.parametrize(("error", "message", "call"), REFUSED)
def test_one_error(error, message, call):
    with pytest.raises(error, match=message):
        call()
