"""Where query ids are: which of several are the queries, and what is proposed where none are."""

import re
from datetime import datetime
from functools import partial

import numpy as np
import pandas as pd
import pytest
import sklearn
from frames import pa, pl
from id_alignment import QID, X, Y
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import Ridge
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score

import sklearn_rankscore as rs

LEVEL, USERS = pd.Index(QID, name="qid"), QID // 3
FRAME, LABELS = pd.DataFrame(X, columns=list("abc")), Y % 10
DAYS = np.datetime64("2020-01-01") + QID % 3
# for which Python has no type
INSTANTS = np.datetime64("2020-01-01", "ns") + (QID % 3 + 1).astype("m8[ns]")
TWO = {"user": USERS, "session": QID % 3}  # together they tell queries apart
BY_DAY = FRAME.assign(user=USERS).set_index(pd.Index(QID % 3, name="session"))
PLACES = {  # X and the place of its ids
    "qid": (FRAME.assign(qid=QID), None),
    "level": (FRAME.set_index(LEVEL), None),
    "name": (FRAME.assign(session=QID), "session"),
    "pyarrow": (pa.Table.from_pandas(FRAME.assign(session=QID)), "session"),
    "polars": (pl.from_pandas(FRAME.assign(**TWO)), ["user", "session"]),
    "a name and a level": (BY_DAY, ["user", "session"]),
    "text": (FRAME.assign(user=USERS.astype(str), session=pd.Categorical(QID % 3)),
             ["user", "session"]),
    "scalars of NumPy": (FRAME.assign(user=np.fromiter(USERS, object), session=QID % 3),
                         ["user", "session"]),
    "times": (FRAME.assign(user=USERS, session=DAYS.astype("M8[ns]")), ["user", "session"]),
    "nanoseconds": (FRAME.assign(user=USERS, session=INSTANTS), ["user", "session"]),
}  # fmt: skip
FIRST = {"text": ("0", 0), "times": (0, datetime(2020, 1, 1)),
         "nanoseconds": (0, INSTANTS.min())}  # fmt: skip


class Column(RegressorMixin, BaseEstimator):
    """Scores documents by the column that all of these tables have."""

    def fit(self, X, y):
        self.is_fitted_ = True
        return self

    def predict(self, X):
        return np.asarray(X["a"])


OLDEST = sklearn.__version__.startswith("1.6.")
CV, OPTIONS = rs.QueryKFold(3), {"metrics": "mrr", "cv": rs.QueryKFold(3)}


@pytest.mark.parametrize("name", PLACES)
def test_every_object_knows_every_place(name):
    rows, place = PLACES[name]
    for cv in (rs.QueryKFold, partial(rs.QueryShuffleSplit, random_state=0)):
        folds = cv(3, groups=place).split(rows, LABELS)
        for of_place, of_ids in zip(folds, cv(3).split(X, LABELS, groups=QID), strict=True):
            np.testing.assert_equal(of_place, of_ids)
    value = rs.make_ranking_scorer("mrr", groups=place)(Column().fit(X, Y), rows, LABELS)
    assert value == rs.evaluate(LABELS, X[:, 0], "mrr", groups=QID)["mrr"]
    *_, train, test = rs.query_train_test_split(rows, QID, groups=place, random_state=0)
    assert set(train) ^ set(test) == set(QID)
    # scikit-learn 1.6 takes no rows of pyarrow in cross-validation
    if name != "pyarrow" or not OLDEST:
        scores = rs.cross_val_query_scores(Column(), rows, LABELS, groups=place, **OPTIONS)
        assert len(scores) == len(set(QID))
        first = (0, 0) if isinstance(place, list) else 0
        assert repr(scores.ids[:1].tolist()) == repr([FIRST.get(name, first)])
    if isinstance(rows, pd.DataFrame) and name not in FIRST:
        model = Ridge().fit(rows, LABELS)
        rs.CutoffCurveDisplay.from_estimator(model, rows, LABELS, metric="precision", groups=place)
        ranker = rs.QueryRanker(Ridge(), groups=place).fit(rows, LABELS)
        assert (ranker.n_queries_, ranker.n_features_in_) == (24, 3)


def test_faulty_places():
    for place in (["a", "user"], "user"):
        with pytest.raises(rs.NoGroupsError, match="names no column or index level"):
            next(rs.QueryKFold(3, groups=place).split(FRAME, Y))


SPLITTERS = [
    CV,
    rs.RepeatedQueryKFold(n_splits=3, n_repeats=2, random_state=0),
    rs.QueryShuffleSplit(2, random_state=0),
    rs.QueryTimeSeriesSplit(2),
]
HALVES = np.arange(len(QID)) % 2  # both divide queries
N_DIVIDED = sum(len(set(HALVES[query == QID])) > 1 for query in set(QID))
IN_DATA = {
    "column": (FRAME.assign(qid=QID), LABELS),
    "level": (FRAME.set_index(LEVEL), LABELS),
    "y level": (X, pd.Series(LABELS, LEVEL)),
}


def n_groups(ids, splits):
    """How often a group lies on both sides of a split."""
    return sum(len(set(ids[train]) & set(ids[test])) for train, test in splits)


@pytest.mark.parametrize("data", IN_DATA)
def test_given_groups_are_coarser_than_ids_in_the_data_and_must_not_divide_them(data):
    rows, labels = IN_DATA[data]
    for cv in SPLITTERS:
        assert n_groups(USERS, cv.split(rows, labels)) > 0
        assert n_groups(USERS, cv.split(rows, labels, groups=USERS)) == 0
    scores = rs.cross_val_query_scores(Ridge(), rows, labels, groups=USERS, **OPTIONS)
    assert scores.ids.tolist() == sorted(set(QID))
    *_, train, test = rs.query_train_test_split(rows, labels, USERS, groups=USERS, random_state=0)
    assert not set(train) & set(test)
    assert rs.QueryRanker(Ridge()).fit(rows, labels, groups=USERS).n_queries_ == len(set(USERS))
    for call in (
        *(lambda cv=cv: next(cv.split(rows, labels, groups=HALVES)) for cv in SPLITTERS),
        lambda: next(CV.split(X, Y, groups=HALVES, qid=QID)),
        lambda: next(rs.QueryKFold(3, groups="session_id").split(SESSIONS, groups=HALVES)),
        lambda: rs.query_train_test_split(labels, rows, groups=HALVES),
        lambda: rs.cross_val_query_scores(Ridge(), rows, labels, groups=HALVES, **OPTIONS),
        lambda: rs.QueryRanker(Ridge()).fit(rows, labels, groups=HALVES),
    ):
        with pytest.raises(ValueError, match=f"groups would divide {N_DIVIDED} of the 24 queries"):
            call()
    one = np.where(np.arange(len(QID)) == np.flatnonzero(QID == 7)[0], 100, USERS)
    with pytest.raises(ValueError, match=r"groups would divide 1 of .* such as 7"):
        next(CV.split(rows, labels, groups=one))


class Zeros(RegressorMixin, BaseEstimator):
    def predict(self, X):
        return np.zeros(24)


def in_queries(n):
    return np.arange(24) % n


ZEROS, BOTH = np.zeros(24), pd.DataFrame({"x": 0.0, "session": in_queries(2), "qid": in_queries(3)})


def test_which_of_several_ids_are_the_queries():
    """Each source gives another number of queries; the first in order is removed each time."""
    level, given = BOTH[["x"]].set_index(pd.Index(in_queries(6), name="qid")), in_queries(8)
    y = pd.Series(ZEROS, level.index)

    def queries(rows, labels, place=None, **ids):
        scorer = rs.make_ranking_scorer(lambda block: block.sizes.astype(float), groups=place)
        return 24 / scorer(Zeros(), rows, labels, **ids)

    assert queries(BOTH, y, "session", qid=in_queries(12), groups=given) == 12
    assert queries(BOTH, y, "session", groups=given) == 2
    assert queries(BOTH, y, groups=given) == 3
    assert queries(level, ZEROS, groups=given) == 6
    assert queries(BOTH[["x"]], y, groups=given) == 6
    assert queries(BOTH[["x"]], ZEROS, groups=given) == 8
    assert queries(BOTH, ZEROS, "none", groups=given) == 1
    with pytest.raises(rs.NoGroupsError):
        queries(BOTH[["x"]], ZEROS)


def test_ids_that_contradict_each_other_are_refused():
    """As pandas refuses to group by a name that is both a column and a level."""
    scorer, both = get_scorer("ndcg"), BOTH.set_axis(pd.Index(in_queries(4), name="qid"))
    for call in (
        lambda: scorer(Zeros(), both, ZEROS),
        lambda: next(rs.QueryKFold(2).split(both)),
        lambda: rs.QueryRanker(Ridge()).fit(both, ZEROS),
    ):
        with pytest.raises(ValueError, match="'qid' is both a column and an index level, and they"):
            call()
    y = pd.Series(ZEROS, pd.Index(in_queries(3), name="qid"))
    for dtype in (int, "Int64"):
        same = both.set_axis(y.index.astype(dtype))
        assert scorer(Zeros(), same, y) == scorer(Zeros(), BOTH, y)
        assert rs.QueryRanker(Ridge()).fit(same, y).n_queries_ == 3
    with pytest.raises(ValueError, match="X and y have different query ids in their index levels"):
        scorer(Zeros(), both[["x"]], y)


SESSIONS = FRAME.assign(session_id=QID)
COLUMN = "X.set_index('session_id').rename_axis('qid')"
RENAMED = "X.rename_axis(index={'session_id': 'qid'})"
RANKER = rs.QueryRanker(Ridge(), group_param="sample_weight")  # which takes ids, as a ranker does
CALLS = {
    "splitter": lambda X: list(rs.QueryKFold(2).split(X, LABELS)),
    "search": lambda X: GridSearchCV(RANKER, {}, cv=rs.QueryKFold(2), scoring="mrr").fit(X, LABELS),
    "fit": lambda X: RANKER.fit(X, LABELS),
    "cross-validation": lambda X: cross_val_score(RANKER, X, LABELS, cv=KFold(2)),
    "hold-out": lambda X: rs.query_train_test_split(LABELS, X),
    "queries": lambda X: rs.cross_val_query_scores(Ridge(), X, LABELS, metrics="mrr"),
    "plot": lambda X: rs.CutoffCurveDisplay.from_estimator(
        Ridge().fit(X, LABELS), X, LABELS, metric="ndcg"
    ),
    "importance": lambda X: rs.query_permutation_importance(
        Ridge().fit(X, LABELS), X, LABELS, "mrr"
    ),
    "rank": lambda X: rs.QueryRanker(Ridge()).fit(X, LABELS, groups=QID).rank(X),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:the column 'session_id' of X holds the query ids:UserWarning")
@pytest.mark.parametrize("name", CALLS)
def test_the_proposed_change_suits_the_names_in_x(name):
    for told, change, rows in (
        (f"if they are the column 'session_id', write {COLUMN}.", COLUMN, SESSIONS),
        (f"if they are the index level 'session_id', rename it: {RENAMED}.", RENAMED,
         SESSIONS.set_index("session_id")),
    ):  # fmt: skip
        with pytest.raises(rs.NoGroupsError, match=re.escape(told)):
            CALLS[name](rows)
        changed = eval(change, {"X": rows})
        assert len(list(rs.QueryKFold(24).split(changed, LABELS))) == 24


USUAL = """query query_id QueryID q_id session session_id sessionid search_id srch_id user user_id
UserId group group_id list_id"""


@pytest.mark.parametrize("table", [pl.DataFrame, pa.table], ids=["polars", "pyarrow"])
def test_other_tables(table):
    columns, level = {"x": [1, 2], "User_ID": [2, 1]}, LEVEL.rename("day")
    renamed = "if they are the column 'User_ID', rename it to 'qid'."
    given = "elsewhere groups=ids; where scikit-learn does not pass them on, have them in the"
    for rows, told in (
        (table(columns), renamed),
        (FRAME.set_index([LEVEL.rename(None), level]), "(index={'day': 'qid'})"),
        (X, given),
        (FRAME, given),
        (FRAME.set_axis([7, 8, 9], axis=1), given),
        *((table({name: [1]}), f"the column {name!r}, rename it") for name in USUAL.split()),
    ):
        with pytest.raises(rs.NoGroupsError, match=re.escape(told)):
            next(rs.QueryKFold(2).split(rows))
