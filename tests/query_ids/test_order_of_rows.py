"""pandas objects with the same row labels in different orders, which are combined by position.

Every table holds calls that succeed with rows in one order, and are refused where the row labels
show that one object is in another; arrays are taken by position.
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
ROWS = np.arange(len(X))
INDEXES = {  # row labels of every kind
    "row numbers": pd.RangeIndex(len(X)),
    "other row numbers": pd.RangeIndex(7, 7 + len(X)),
    "text": pd.Index([f"d{row}" for row in ROWS]),
    "two levels": pd.MultiIndex.from_arrays([X["qid"], ROWS], names=["query", "document"]),
    "overlapping intervals": pd.IntervalIndex.from_arrays(ROWS, ROWS + 3),
}
DIFFERENT = r"hold the same row labels in different orders"
RANKER, FEATURES = rs.QueryRanker(Ridge()), X[["x0", "x1"]]
FITTED = rs.QueryRanker(Ridge()).fit(FEATURES, Y, groups=X["qid"])
CV, BY_MRR = rs.QueryKFold(3), {"scoring": "mrr", "cv": rs.QueryKFold(3)}


def columns(name):
    """Labels, scores, ids, weights and features with one index."""
    index = INDEXES[name]
    named = {"y": Y, "s": X["x0"], "g": X["qid"], "w": pd.Series(1.0, ROWS), "X": FEATURES}
    return {key: values.set_axis(index) for key, values in named.items()}


def routed(X, g, cv):
    with config_context(enable_metadata_routing=True):
        return ms.cross_val_score(RANKER, X, Y, scoring="mrr", cv=cv, params={"groups": g})


OF_METRICS = {
    "function": lambda y, s, **options: rs.ndcg_score(y, s, **options),
    "evaluate": lambda y, s, **options: rs.evaluate(y, s, ["mrr"], **options),
    "systems": lambda y, s, **options: rs.query_scores(y, {"a": s}, "mrr", **options),
    "bounds": lambda y, s, **options: rs.score_bounds(y, {"a": s}, "mrr", **options),
    "accumulator": lambda y, s, **options: rs.RankingAccumulator("mrr").update(y, s, **options),
}
GIVEN = {  # ids beside X
    "split": lambda X, g: next(CV.split(X, Y.to_numpy(), groups=g)),
    "split by qid": lambda X, g: next(CV.split(X, qid=g)),
    "hold-out": lambda X, g: rs.query_train_test_split(X, Y.to_numpy(), groups=g),
    "fit": lambda X, g: RANKER.fit(X, Y.to_numpy(), groups=g),
    "fit by qid": lambda X, g: RANKER.fit(X, Y.to_numpy(), qid=g),
    "queries": lambda X, g: rs.cross_val_query_scores(
        Ridge(), X, Y.to_numpy(), metrics="mrr", cv=CV, groups=g
    ),
    "cross-validation": lambda X, g: ms.cross_val_score(
        Ridge(), X, Y.to_numpy(), groups=g, **BY_MRR
    ),
    "search, another splitter": lambda X, g: ms.GridSearchCV(
        RANKER, {}, scoring="mrr", cv=ms.GroupKFold(3)
    ).fit(X, Y.to_numpy(), groups=g),
    "rank": lambda X, g: FITTED.rank(X, groups=g),
    "score": lambda X, g: FITTED.score(X, Y.to_numpy(), groups=g),
    "score by qid": lambda X, g: FITTED.score(X, Y.to_numpy(), qid=g),
    "scorer": lambda X, g: get_scorer("mrr")(FITTED, X, Y.to_numpy(), groups=g),
    "scorer by qid": lambda X, g: get_scorer("mrr")(FITTED, X, Y.to_numpy(), qid=g),
    "routing": lambda X, g: routed(X, g, CV),
    "routing to another splitter": lambda X, g: routed(X, g, ms.GroupKFold(3)),
}  # fmt: skip


@pytest.mark.parametrize("reversed_one", ["s", "g", "w"])
@pytest.mark.parametrize("call", OF_METRICS)
@pytest.mark.parametrize("name", INDEXES)
def test_labels_scores_ids_and_weights(name, call, reversed_one):
    given = columns(name)
    given[reversed_one] = given[reversed_one].iloc[::-1]
    with pytest.raises(ValueError, match=f"{DIFFERENT}|another index"):
        OF_METRICS[call](given["y"], given["s"], groups=given["g"], sample_weight=given["w"])
    given["y"] = Y.to_numpy()  # labels without an index change nothing
    with pytest.raises(ValueError, match=f"(y_score|groups) and .* {DIFFERENT}"):
        OF_METRICS[call](given["y"], given["s"], groups=given["g"], sample_weight=given["w"])


@pytest.mark.parametrize("call", GIVEN)
@pytest.mark.parametrize("name", INDEXES)
def test_ids_beside_x(name, call):
    rows, ids = columns(name)["X"], columns(name)["g"]
    GIVEN[call](rows, ids)
    GIVEN[call](rows, X["qid"].set_axis(pd.RangeIndex(900, 900 + len(X))))
    with pytest.raises(ValueError, match=rf"indexes of X and (groups|qid) {DIFFERENT}"):
        GIVEN[call](rows, ids.iloc[::-1])


@pytest.mark.parametrize("name", INDEXES)
def test_the_proposed_fixes(name):
    given = columns(name)
    y_true, y_score, ids = given["y"], given["s"].sort_values(), given["g"]
    expected = rs.ndcg_score(Y, X["x0"].to_numpy(), groups=X["qid"].to_numpy())
    if name != "overlapping intervals":
        assert rs.ndcg_score(y_true, y_score.loc[y_true.index], groups=ids) == expected
    by_position = rs.ndcg_score(y_true, given["s"].iloc[::-1].to_numpy(), groups=ids)
    assert by_position == rs.ndcg_score(Y, X["x0"].to_numpy()[::-1], groups=X["qid"].to_numpy())
    with pytest.raises(ValueError, match=r"groups\.loc\[X\.index\]"):
        rs.query_train_test_split(given["X"], groups=ids.iloc[::-1])


def test_predictions_of_shuffled_rows_may_be_a_new_series_without_a_name():
    rows, labels = shuffle(X, Y, random_state=0)
    predicted, ids = rows["x0"].to_numpy(), rows["qid"]
    value = rs.ndcg_score(labels, pd.Series(predicted), groups=ids)
    assert value == rs.ndcg_score(labels.to_numpy(), predicted, groups=ids.to_numpy())
    with pytest.raises(ValueError, match=DIFFERENT):  # of the table before it was shuffled
        rs.ndcg_score(labels, X["x0"], groups=ids)


INDEXED, LABELS = FEATURES.set_index(pd.Index(X["qid"])), Y.set_axis(pd.Index(X["qid"]))
OF_LABELS = {  # X, labels, and what else the call is given
    "fit": lambda X, y, p: RANKER.fit(X, y, **p),
    "score": lambda X, y, p: FITTED.score(X, y, **p),
    "scorer": lambda X, y, p: get_scorer("mrr")(FITTED, X, y, **p),
    "eval_set": lambda X, y, p: rs.QueryRanker(LGBMRanker(n_estimators=2, verbose=-1)).fit(
        INDEXED, LABELS, eval_set=[(X, y)], **{f"eval_{name}": [v] for name, v in p.items()}
    ),
    "cross_val_score": lambda X, y, p: ms.cross_val_score(Ridge(), X, y, **BY_MRR, **p),
    "cross_validate": lambda X, y, p: ms.cross_validate(RANKER, X, y, cv=CV, **p),
    "search": lambda X, y, p: ms.GridSearchCV(RANKER, {}, n_jobs=2, **BY_MRR).fit(X, y, **p),
    "validation_curve": lambda X, y, p: ms.validation_curve(
        Ridge(), X, y, param_name="alpha", param_range=[1.0], **BY_MRR, **p
    ),
    "hold-out": lambda X, y, p: rs.query_train_test_split(X, y, **p),
    "queries": lambda X, y, p: rs.cross_val_query_scores(RANKER, X, y, metrics="mrr", cv=CV, **p),
}


@pytest.mark.parametrize("name", OF_LABELS)
def test_labels_beside_x(name):
    call, shuffled = OF_LABELS[name], Y.sample(frac=1, random_state=1)
    ids = {"qid" if name in ("scorer", "eval_set") else "groups": X["qid"]}
    with pytest.raises(ValueError, match=rf"X and y.* {DIFFERENT}|{DIFFERENT}"):
        call(FEATURES, shuffled, ids)
    call(FEATURES, shuffled.loc[X.index], ids)
    call(FEATURES, shuffled.to_numpy(), ids)  # the positions are right, says the user
    for labels in (LABELS, LABELS.set_axis(LABELS.index.astype("Int64"))):
        call(INDEXED, labels, {})
        with pytest.raises(ValueError, match="different query ids in their index levels"):
            call(INDEXED, labels.iloc[::-1], {})


VALUES = pd.Series(np.linspace(0.1, 1, len(X)), X.index)
GRADES, BY_ID = {"y_true": Y, "y_score": X["x0"], "groups": X["qid"]}, {"groups": X["qid"]}
NUMBERED = pd.Series(np.arange(len(X)), X.index)
COMBINED = {  # anything else of rows
    "times": lambda v: [*rs.QueryTimeSeriesSplit(2, times=v).split(X, Y)],
    "a function of times": lambda v: [*rs.QueryTimeSeriesSplit(2, times=lambda _: v).split(X)],
    "propensity": lambda v: rs.dcg_score(Y, X["x0"], **BY_ID, propensity=v),
    "propensity of systems": lambda v: rs.query_scores(
        Y, {"a": X["x0"]}, "dcg", **BY_ID, propensity=v
    ),
    "propensity of clicks": lambda v: rs.propensity_summary(Y, v),
    "sample_weight": lambda v: RANKER.fit(X, Y, sample_weight=v),
    "documents": lambda v: rs.estimate_propensity(
        NUMBERED % 3 == 0, NUMBERED % 2 + 1, queries=np.zeros(len(X)),
        documents=(v * 10).astype(int),
    ),
    "target": lambda v: get_scorer("dcg")(FITTED, FEATURES, Y, **BY_ID, target=v),
    "overlap": lambda v: rs.rank_overlap(X["x0"], X["x1"].to_numpy(), groups=(v * 10).astype(int)),
    "names": lambda v: rs.RankChangeDisplay.from_predictions(
        Y, {"a": X["x0"], "b": X["x1"]}, **BY_ID, query=1, names=v
    ),
    "importance": lambda v: rs.query_permutation_importance(
        rs.QueryRanker(Ridge()).fit(X, Y), X, v, metrics="dcg", n_repeats=1
    ),
}  # fmt: skip
SEGMENTED = {
    "query_scores": lambda v: rs.query_scores(**GRADES, metrics="dcg", segments=v),
    "several": lambda v: rs.query_scores(
        Y, X["x0"].to_numpy(), "dcg", groups=X["qid"].to_numpy(),
        segments={"fixed": np.zeros(len(X)), "device": v},
    ),
    "no text": lambda v: rs.query_scores(**GRADES, metrics="dcg", segments={99: v}),
    "y_true": lambda v: rs.query_scores(**GRADES, metrics="dcg", segments={"y_true": v}),
    "report": lambda v: rs.ranking_report(**GRADES, by=v),
    "overlap": lambda v: rs.rank_overlap(X["x1"], X["x2"], groups=X["qid"].array, segments=v),
    "accumulator": lambda v: rs.RankingAccumulator("dcg", by="device").update(**GRADES, segments=v),
}  # fmt: skip


@pytest.mark.parametrize("call", COMBINED.values(), ids=COMBINED)
def test_other_values_of_rows(call):
    call(VALUES)
    call(VALUES.iloc[::-1].to_numpy())
    with pytest.raises(ValueError, match=DIFFERENT):
        call(VALUES.iloc[::-1])


@pytest.mark.parametrize("call", SEGMENTED.values(), ids=SEGMENTED)
def test_segments(call):
    column = (X["qid"] % 2).rename("device")
    call(column)
    with pytest.raises(ValueError, match=r"(y_true|score_a|groups) and segments\["):
        call(column.iloc[::-1])


@pytest.mark.parametrize("function", [rs.evaluate, rs.query_scores, rs.score_bounds])
def test_ids_in_the_index_of_one_system_are_those_of_all(function):
    indexed = X.set_index("qid")["x0"]
    both = function(Y.to_numpy(), {"a": indexed.to_numpy(), "b": indexed}, "mrr")
    assert repr(both["a"]) == repr(both["b"]) == repr(function(Y.to_numpy(), indexed, "mrr"))


def test_what_has_no_labels_in_common_is_not_compared():
    labels, scores = np.array([[0, 1], [1, 0]]), pd.DataFrame([[1, 2], [1, 2]])
    assert rs.evaluate(labels, {"a": scores}, "mrr") == {"a": rs.evaluate(labels, scores, "mrr")}
    levels = pd.MultiIndex.from_arrays([X["qid"], ROWS, ROWS])
    values = pd.Series(VALUES.to_numpy(), levels.droplevel(2))
    rs.query_train_test_split(X.set_axis(levels), values)
    RANKER.fit(X.set_axis(levels), Y.to_numpy(), sample_weight=values)


@pytest.mark.parametrize("model", [Ridge(), RANKER], ids=type)
def test_an_index_of_ids_has_the_order_of_x(model):
    """Its rows have no labels of their own, and those of X may be sorted within the queries."""
    order = np.lexsort((X["x0"], X["qid"]))
    rows, labels = X.drop(columns="qid").iloc[order], Y.to_numpy()[order]
    ids = pd.Index(X["qid"].to_numpy()[order])
    values = ms.cross_val_score(model, rows, labels, groups=ids, **BY_MRR)
    by_array = ms.cross_val_score(model, rows, labels, groups=ids.to_numpy(), **BY_MRR)
    np.testing.assert_array_equal(values, by_array)
    search = ms.GridSearchCV(model, {}, **BY_MRR).fit(rows, labels, groups=ids)
    assert search.best_score_ == pytest.approx(values.mean())


SCORERS = ["ndcg@10", make_scorer(rs.ndcg_score), None, lambda m, X, y: get_scorer("ndcg")(m, X, y)]


@pytest.mark.parametrize("model", [RANKER, make_pipeline(RANKER)], ids=type)
@pytest.mark.parametrize("scoring", SCORERS, ids=["name", "make", "none", "function"])
@pytest.mark.parametrize("labels", [LABELS, LABELS.to_numpy(), Y], ids=["ids", "array", "rows"])
def test_a_permutation_test_shuffles_labels_with_their_index(model, scoring, labels):
    score, permuted, _ = ms.permutation_test_score(
        model, INDEXED, labels, scoring=scoring, cv=CV, n_permutations=4, random_state=0
    )
    assert (permuted < score).all()
