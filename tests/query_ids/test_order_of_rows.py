"""pandas objects with the same row labels in different orders, which are combined by position.

Each call of the table is given one column. It succeeds with the rows in order and with an array in
any order, and is refused where the row labels show that the column is in another order.
"""

import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMRanker
from sklearn import config_context
from sklearn import model_selection as ms
from sklearn.linear_model import Ridge
from sklearn.metrics import get_scorer, make_scorer
from sklearn.pipeline import make_pipeline
from sklearn.utils import shuffle

import sklearn_rankscore as rs

X, Y = rs.make_ranking(n_queries=12, n_features=3, as_frame=True, random_state=0)
ROWS, S, QID, FEATURES = np.arange(len(X)), X["x0"], X["qid"], X[["x0", "x1"]]
BY_ID, IDS, LABELS = {"groups": QID}, pd.Index(QID), Y.set_axis(pd.Index(QID))
INDEXED = FEATURES.set_index(IDS)
DIFFERENT = r"hold the same row labels in different orders"
RANKER, FITTED = rs.QueryRanker(Ridge()), rs.QueryRanker(Ridge()).fit(FEATURES, Y, **BY_ID)
CV, BY_MRR = rs.QueryKFold(2), {"scoring": "mrr", "cv": rs.QueryKFold(2)}
VALUES, SEGMENTS = pd.Series(np.linspace(0.1, 1, len(X)), X.index), pd.Series("a", X.index)
TENTHS = (VALUES * 10).astype(int)
GRADES = {"y_true": Y, "y_score": S, "groups": QID, "sample_weight": pd.Series(1.0, X.index)}


def routed(g, cv, **params):
    with config_context(enable_metadata_routing=True):
        scorer = rs.make_ranking_scorer("dcg").set_score_request(target=True)
        params["groups"] = g
        return ms.cross_val_score(RANKER, FEATURES, Y, scoring=scorer, cv=cv, params=params)


OF_METRICS = {
    "function": rs.ndcg_score,
    "evaluate": lambda y_true, y_score, **o: rs.evaluate(y_true, y_score, ["mrr"], **o),
    "systems": lambda y_true, y_score, **o: rs.query_scores(y_true, {"a": y_score}, "mrr", **o),
    "bounds": lambda y_true, y_score, **o: rs.score_bounds(y_true, {"a": y_score}, "mrr", **o),
    "accumulator": lambda **columns: rs.RankingAccumulator("mrr").update(**columns),
}
OF_LABELS = {  # X, labels, and the ids if they are not in the index
    "fit": lambda X, y, p: RANKER.fit(X, y, **p),
    "score": lambda X, y, p: FITTED.score(X, y, **p),
    "scorer": lambda X, y, p: get_scorer("mrr")(FITTED, X, y, **p),
    "eval_set": lambda X, y, p: rs.QueryRanker(LGBMRanker(n_estimators=2, verbose=-1)).fit(
        INDEXED, LABELS, eval_set=[(X, y)], **({"eval_qid": [QID]} if p else {})
    ),
    "cross_validate": lambda X, y, p: ms.cross_validate(RANKER, X, y, cv=CV, **p),
    "search": lambda X, y, p: ms.GridSearchCV(RANKER, {}, **BY_MRR).fit(X, y, **p),
    "hold-out": lambda X, y, p: rs.query_train_test_split(X, y, **p),
    "queries": lambda X, y, p: rs.cross_val_query_scores(RANKER, X, y, metrics="mrr", cv=CV, **p),
}
DATA = FEATURES, Y.to_numpy()
OF_IDS = {  # beside X
    "split": lambda g: next(CV.split(*DATA, groups=g)),
    "split by qid": lambda g: next(CV.split(FEATURES, qid=g)),
    "hold-out": lambda g: rs.query_train_test_split(*DATA, groups=g),
    "fit": lambda g: RANKER.fit(*DATA, groups=g),
    "fit by qid": lambda g: RANKER.fit(*DATA, qid=g),
    "queries": lambda g: rs.cross_val_query_scores(Ridge(), *DATA, metrics="mrr", cv=CV, groups=g),
    "cross-validation": lambda g: ms.cross_val_score(Ridge(), *DATA, groups=g, **BY_MRR),
    "another splitter": lambda g: ms.cross_val_score(
        Ridge(), *DATA, groups=g, scoring="mrr", cv=ms.GroupKFold(2)
    ),
    "rank": lambda g: FITTED.rank(FEATURES, groups=g),
    "score": lambda g: FITTED.score(*DATA, groups=g),
    "scorer": lambda g: get_scorer("mrr")(FITTED, *DATA, groups=g),
    "scorer by qid": lambda g: get_scorer("mrr")(FITTED, *DATA, qid=g),
    "routing": lambda g: routed(g, CV),
    "routing to another splitter": lambda g: routed(g, ms.GroupKFold(2)),
}
OF_VALUES = {  # anything else of rows
    "times": lambda v: [*rs.QueryTimeSeriesSplit(2, times=v).split(X, Y)],
    "a function of times": lambda v: [*rs.QueryTimeSeriesSplit(2, times=lambda _: v).split(X)],
    "propensity": lambda v: rs.dcg_score(Y, S, **BY_ID, propensity=v),
    "propensity of systems": lambda v: rs.query_scores(
        Y, {"a": S}, "dcg", **BY_ID, propensity=v
    ),
    "propensity of clicks": lambda v: rs.propensity_summary(Y, v),
    "sample_weight": lambda v: RANKER.fit(X, Y, sample_weight=v),
    "weights of folds": lambda v: ms.cross_validate(
        RANKER, FEATURES, Y, cv=CV, **BY_ID, params={"sample_weight": v}
    ),
    "weights of a step": lambda v: ms.cross_validate(
        make_pipeline(RANKER), FEATURES, Y, cv=CV, **BY_ID,
        params={"queryranker__sample_weight": v},
    ),
    "target": lambda v: get_scorer("dcg")(FITTED, FEATURES, Y, **BY_ID, target=v),
    "target of folds": lambda v: routed(QID, CV, target=v),
    "names": lambda v: rs.RankChangeDisplay.from_predictions(
        Y, {"a": S, "b": X["x1"]}, **BY_ID, query=1, names=v
    ),
    "importance": lambda v: rs.query_permutation_importance(
        rs.QueryRanker(Ridge()).fit(X, Y), X, v, metrics="dcg", n_repeats=1
    ),
}  # fmt: skip
OF_TENTHS = {
    "documents": lambda v: rs.estimate_propensity(
        TENTHS % 3 == 0, pd.Series(ROWS % 2 + 1, X.index), groups=np.zeros(len(X)),
        documents=v,
    ),
    "overlap": lambda v: rs.rank_overlap(S, X["x1"].to_numpy(), groups=v),
}  # fmt: skip
OF_SEGMENTS = {
    "query_scores": lambda v: rs.query_scores(**GRADES, metrics="dcg", segments=v),
    "several": lambda v: rs.query_scores(
        Y, S.to_numpy(), "dcg", groups=QID.to_numpy(),
        segments={"fixed": np.zeros(len(X)), 99: v, "y_true": v},
    ),
    "report": lambda v: rs.ranking_report(Y, S, **BY_ID, by=v),
    "overlap": lambda v: rs.rank_overlap(X["x1"], X["x2"], groups=QID.array, segments=v),
    "accumulator": lambda v: rs.RankingAccumulator("dcg", by="d").update(**GRADES, segments=v),
}  # fmt: skip
# what is given a column of the table, and that column
CALLS = {
    **{
        f"{name} of {name_of_call}": (lambda v, f=call, n=name: f(**{**GRADES, n: v}), GRADES[name])
        for name_of_call, call in OF_METRICS.items()
        for name in GRADES
    },
    **{
        f"labels of {name}": (lambda v, f=call: f(FEATURES, v, BY_ID), Y)
        for name, call in OF_LABELS.items()
    },
    **{f"ids of {name}": (call, QID) for name, call in OF_IDS.items()},
    **{f"values of {name}": (call, VALUES) for name, call in OF_VALUES.items()},
    **{f"tenths of {name}": (call, TENTHS) for name, call in OF_TENTHS.items()},
    **{f"segments of {name}": (call, SEGMENTS) for name, call in OF_SEGMENTS.items()},
}


@pytest.mark.parametrize("name", CALLS)
def test_rows_in_another_order_are_refused(name):
    call, column = CALLS[name]
    call(column)
    if name.startswith("ids"):  # row labels that have nothing in common with those of X
        call(column.set_axis(pd.RangeIndex(900, 900 + len(X))))
    call(column.iloc[::-1].to_numpy())
    names = r"(X and (groups|qid)) " if name.startswith("ids") else ""
    with pytest.raises(ValueError, match=f"{names}{DIFFERENT}|the scores of 'a' have another ind"):
        call(column.iloc[::-1])


@pytest.mark.parametrize("name", OF_LABELS)
def test_ids_in_the_index_of_labels_are_those_of_x(name):
    labels = LABELS.set_axis(IDS.astype("Int64"))  # of another type than those of X
    OF_LABELS[name](INDEXED, labels, {})
    with pytest.raises(ValueError, match="different query ids in their index levels"):
        OF_LABELS[name](INDEXED, labels.iloc[::-1], {})


INDEXES = {  # row labels of every kind
    "other row numbers": pd.RangeIndex(7, 7 + len(X)),
    "text": pd.Index([f"d{row}" for row in ROWS]),
    "two levels": pd.MultiIndex.from_arrays([QID, ROWS], names=["query", "document"]),
}


@pytest.mark.parametrize("name", INDEXES)
def test_row_labels_of_every_kind_and_the_proposed_fixes(name):
    y_true, y_score, ids, rows = (table.set_axis(INDEXES[name]) for table in (Y, S, QID, FEATURES))
    scores, groups = S.to_numpy(), QID.to_numpy()
    expected = rs.ndcg_score(Y, scores, groups=groups)
    assert rs.ndcg_score(y_true, y_score, groups=ids) == expected
    assert rs.ndcg_score(y_true, S, groups=QID) == expected  # which has none of these labels
    other_way = y_score.iloc[::-1]
    assert rs.ndcg_score(y_true, other_way.loc[y_true.index], groups=ids) == expected
    by_position = rs.ndcg_score(y_true, other_way.to_numpy(), groups=ids)
    assert by_position == rs.ndcg_score(Y, scores[::-1], groups=groups)
    with pytest.raises(ValueError, match=f"y_score and groups {DIFFERENT}"):
        rs.ndcg_score(y_true.to_numpy(), other_way, groups=ids)
    with pytest.raises(ValueError, match=r"groups\.loc\[X\.index\]"):
        rs.query_train_test_split(rows, groups=ids.iloc[::-1])


def test_predictions_of_shuffled_rows_may_be_a_new_series_without_a_name():
    rows, labels = shuffle(X, Y, random_state=0)
    predicted, ids = rows["x0"].to_numpy(), rows["qid"]
    value = rs.ndcg_score(labels, pd.Series(predicted), groups=ids)
    assert value == rs.ndcg_score(labels.to_numpy(), predicted, groups=ids.to_numpy())
    for scores in (S, pd.Series(predicted, X.index[::-1])):  # of the table before it was shuffled
        with pytest.raises(ValueError, match=DIFFERENT):
            rs.ndcg_score(labels, scores, groups=ids)


@pytest.mark.parametrize("function", [rs.evaluate, rs.query_scores, rs.score_bounds])
def test_ids_in_the_index_of_one_system_are_those_of_all(function):
    indexed = X.set_index("qid")["x0"]
    both = function(Y.to_numpy(), {"a": indexed.to_numpy(), "b": indexed}, "mrr")
    assert repr(both["a"]) == repr(both["b"]) == repr(function(Y.to_numpy(), indexed, "mrr"))
    with pytest.raises(ValueError, match="the scores of 'b' have another index than"):
        function(Y.to_numpy(), {"a": S, "b": S.iloc[::-1]}, "mrr", groups=QID.to_numpy())


def test_what_has_no_labels_in_common_is_not_compared():
    labels, scores = np.array([[0, 1], [1, 0]]), pd.DataFrame([[1, 2], [1, 2]])
    assert rs.evaluate(labels, {"a": scores}, "mrr") == {"a": rs.evaluate(labels, scores, "mrr")}
    levels = pd.MultiIndex.from_arrays([QID, ROWS, ROWS])
    values = pd.Series(VALUES.to_numpy(), levels.droplevel(2))
    rs.query_train_test_split(X.set_axis(levels), values)
    RANKER.fit(X.set_axis(levels), Y.to_numpy(), sample_weight=values)


@pytest.mark.parametrize("model", [Ridge(), RANKER], ids=type)
def test_an_index_of_ids_has_the_order_of_x(model):
    """Its rows have no labels of their own, and those of X may be sorted within the queries."""
    order = np.lexsort((S, QID))
    rows, labels, ids = FEATURES.iloc[order], Y.to_numpy()[order], IDS.rename(None)[order]
    values = ms.cross_val_score(model, rows, labels, groups=ids, **BY_MRR)
    by_array = ms.cross_val_score(model, rows, labels, groups=ids.to_numpy(), **BY_MRR)
    np.testing.assert_array_equal(values, by_array)
    search = ms.GridSearchCV(model, {}, **BY_MRR).fit(rows, labels, groups=ids)
    assert search.best_score_ == pytest.approx(values.mean())


SCORERS = ["ndcg@10", make_scorer(rs.ndcg_score), None, lambda m, X, y: get_scorer("ndcg")(m, X, y)]


PERMUTED = [  # with their index, without one, and with that of rows
    *((RANKER, scoring, LABELS) for scoring in SCORERS),
    *((make_pipeline(RANKER), scoring, LABELS.to_numpy()) for scoring in SCORERS[:2]),
    (RANKER, "ndcg@10", Y),
]


@pytest.mark.parametrize(("model", "scoring", "labels"), PERMUTED)
def test_a_permutation_test_shuffles_labels_with_their_index(model, scoring, labels):
    score, permuted, _ = ms.permutation_test_score(
        model, INDEXED, labels, scoring=scoring, cv=CV, n_permutations=2, random_state=0
    )
    assert (permuted < score).all()
