"""Ids given to an object itself, and every way to say where ids are."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from id_alignment import QID, X, Y, whole_queries
from sklearn.linear_model import Ridge
from sklearn.model_selection import cross_val_score

from sklearn_rankscore import (
    CutoffCurveDisplay,
    NoGroupsError,
    QueryKFold,
    QueryRanker,
    QueryShuffleSplit,
    QueryTimeSeriesSplit,
    RepeatedQueryKFold,
    cross_val_query_scores,
    make_ranking_scorer,
    query_train_test_split,
)

USERS = QID // 3  # three queries each
HALVES = np.arange(len(QID)) % 2  # both divide queries
N_DIVIDED = sum(len(set(HALVES[query == QID])) > 1 for query in set(QID))
FRAME = pd.DataFrame(X, columns=list("abc"))
IN_DATA = {
    "column": (FRAME.assign(qid=QID), Y),
    "level": (FRAME.set_index(pd.Index(QID, name="qid")), Y),
    "y level": (X, pd.Series(Y, pd.Index(QID, name="qid"))),
}
SPLITTERS = [
    QueryKFold(3),
    RepeatedQueryKFold(n_splits=3, n_repeats=2, random_state=0),
    QueryShuffleSplit(2, random_state=0),
    QueryTimeSeriesSplit(2),
]


def keeps_whole(ids, splits):
    return all(not set(ids[train]) & set(ids[test]) for train, test in splits)


@pytest.mark.parametrize("data", IN_DATA)
@pytest.mark.parametrize("cv", SPLITTERS, ids=lambda cv: type(cv).__name__)
def test_splits_are_by_the_given_groups(cv, data):
    rows, labels = IN_DATA[data]
    assert not keeps_whole(USERS, cv.split(rows, labels))
    assert keeps_whole(USERS, cv.split(rows, labels, groups=USERS))


@pytest.mark.parametrize("cv", SPLITTERS, ids=lambda cv: type(cv).__name__)
def test_groups_that_divide_a_query_are_refused(cv):
    rows, labels = IN_DATA["column"]
    with pytest.raises(ValueError, match=f"groups would divide {N_DIVIDED} of the 24 queries"):
        next(cv.split(rows, labels, groups=HALVES))
    with pytest.raises(ValueError, match=f"groups would divide {N_DIVIDED} of the 24 queries"):
        next(cv.split(X, Y, groups=HALVES, qid=QID))


def test_one_divided_query_is_named():
    rows, labels = IN_DATA["level"]
    users = USERS.copy()
    users[np.flatnonzero(QID == 7)[0]] = 100
    with pytest.raises(
        ValueError, match="groups would divide 1 of the 24 queries: rows of query 7"
    ):
        next(QueryKFold(3).split(rows, labels, groups=users))


@pytest.mark.parametrize("data", ["column", "level"])
def test_a_hold_out_is_by_the_given_groups(data):
    rows, labels = IN_DATA[data]
    parts = query_train_test_split(rows, USERS, groups=USERS, random_state=0)
    assert not set(parts[2]) & set(parts[3])
    with pytest.raises(ValueError, match="groups would divide"):
        query_train_test_split(labels, rows, groups=HALVES)


def test_cross_validated_scores_are_by_the_given_groups():
    rows, labels = IN_DATA["column"]
    scores = cross_val_query_scores(Ridge(), rows, labels % 10, metrics="mrr", groups=USERS, cv=3)
    assert scores.ids.tolist() == sorted(set(USERS))
    with pytest.raises(ValueError, match="groups would divide"):
        cross_val_query_scores(Ridge(), rows, labels, metrics="mrr", groups=HALVES)


def test_a_ranker_is_trained_by_the_given_groups():
    rows, labels = IN_DATA["column"]
    fitted = QueryRanker(Ridge()).fit(rows, labels, groups=USERS)
    assert fitted.n_queries_ == len(set(USERS))
    assert fitted.n_features_in_ == 3
    with pytest.raises(ValueError, match="groups would divide"):
        QueryRanker(Ridge()).fit(rows, labels, groups=HALVES)


TWO = {"user": USERS, "session": QID % 3}  # together they tell queries apart
PLACES = {
    "name": (FRAME.assign(session=QID), "session"),
    "two names": (FRAME.assign(**TWO), ["user", "session"]),
    "two names, polars": (pl.from_pandas(FRAME.assign(**TWO)), ["user", "session"]),
    "a name and a level": (
        FRAME.assign(user=USERS).set_index(pd.Index(QID % 3, name="session")),
        ["user", "session"],
    ),
    "two names of text": (
        FRAME.assign(user=USERS.astype(str), session=pd.Categorical((QID % 3).astype(str))),
        ["user", "session"],
    ),
}


@pytest.mark.parametrize("place", PLACES)
def test_every_place_is_known_to_scorers(place):
    rows, groups = PLACES[place]

    class Model(Ridge):
        def predict(self, X):
            return np.zeros(len(QID))

    assert make_ranking_scorer(whole_queries, groups=groups)(Model(), rows, Y) == 1


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("make", [QueryKFold, QueryShuffleSplit])
def test_every_place_is_known_to_splitters(make, place):
    rows, groups = PLACES[place]
    options = {"random_state": 0} if make is QueryShuffleSplit else {}
    splits = list(make(3, groups=groups, **options).split(rows, Y))
    assert keeps_whole(QID, splits)
    by_ids = list(make(3, **options).split(rows, Y, groups=QID))
    for (train, test), (train_by_ids, test_by_ids) in zip(splits, by_ids, strict=True):
        np.testing.assert_array_equal(train, train_by_ids)
        np.testing.assert_array_equal(test, test_by_ids)


@pytest.mark.parametrize("place", PLACES)
def test_every_place_is_known_to_hold_outs_and_scores(place):
    rows, groups = PLACES[place]
    parts = query_train_test_split(rows, QID, groups=groups, random_state=0)
    assert not set(parts[2]) & set(parts[3])
    if "polars" not in place and "text" not in place:
        scores = cross_val_query_scores(
            Ridge(), rows, Y % 10, metrics="mrr", groups=groups, cv=QueryKFold(3)
        )
        assert len(scores) == len(set(QID))


def test_composite_ids_are_tuples():
    rows = FRAME.assign(**TWO)
    scores = cross_val_query_scores(
        Ridge(), rows, Y % 10, metrics="mrr", groups=["user", "session"], cv=3
    )
    assert scores.ids[0] == (0, 0)


def test_missing_values_in_a_part_are_refused():
    rows = FRAME.assign(user=np.where(USERS == 2, np.nan, USERS), session=QID)
    with pytest.raises(ValueError, match="groups must not have missing values"):
        next(QueryKFold(3, groups=["user", "session"]).split(rows, Y))


def test_a_display_reads_the_given_groups():
    rows, labels = IN_DATA["column"]
    display = CutoffCurveDisplay.from_estimator(
        Ridge().fit(rows, labels), rows, labels % 10, metric="precision", groups=USERS
    )
    assert display.ax_ is not None


NO_PLACES = {
    "ids": QID,
    "list of ids": QID.tolist(),
    "Series of ids": pd.Series(QID),
    "flag": True,
    "position": 0,
    "function": lambda rows: rows[:, -1],
    "NumPy flag": np.True_,
    "number": 1.0,
    "no names": [],
    "names and positions": ["a", 1],
    "array of names": np.array(["a"]),
}


@pytest.mark.parametrize("source", NO_PLACES)
@pytest.mark.parametrize("rows", [X, pd.DataFrame(X)], ids=["array", "frame of numbered columns"])
@pytest.mark.parametrize("given", [{}, {"groups": QID}], ids=["alone", "beside ids"])
def test_what_is_no_place_is_refused(source, rows, given):
    groups = NO_PLACES[source]
    message = "groups must be the name of a column .* got .* Pass query ids to fit"
    for cv in (QueryKFold(3, groups=groups), QueryTimeSeriesSplit(2, groups=groups)):
        with pytest.raises(TypeError, match=message):
            next(cv.split(rows, Y, **given))
    with pytest.raises(TypeError, match=message):
        QueryRanker(Ridge(), groups=groups).fit(rows, Y, **given)


@pytest.mark.parametrize("groups", [0, len, True, 1.0, (0, 1), b"q", [], np.arange(len(Y))])
def test_a_scorer_refuses_what_is_no_place(groups):
    with pytest.raises(TypeError, match="groups must be the name of a column"):
        make_ranking_scorer("mrr", groups=groups)


def test_groups_of_another_kind_of_model_are_no_place():
    """Models with a parameter of that name, such as a group lasso, mean groups of features."""

    class GroupLasso(Ridge):
        groups = ((0, 1), (2,))

    rows, labels = IN_DATA["level"]
    scores = cross_val_score(
        GroupLasso(), rows, labels % 10, cv=QueryKFold(3), scoring="mrr", error_score="raise"
    )
    assert len(scores) == 3


def test_a_place_that_does_not_exist_is_refused():
    with pytest.raises(NoGroupsError, match="names no column or index level"):
        next(QueryKFold(3, groups=["a", "user"]).split(FRAME, Y))
