"""pandas objects with the same row labels in different orders, which are combined by position."""

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.linear_model import Ridge
from sklearn.metrics import get_scorer, make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    cross_val_score,
    permutation_test_score,
)
from sklearn.utils import shuffle

from sklearn_rankscore import (
    QueryKFold,
    QueryRanker,
    QueryTimeSeriesSplit,
    RankChangeDisplay,
    RankingAccumulator,
    cross_val_query_scores,
    dcg_score,
    estimate_propensity,
    evaluate,
    make_ranking,
    ndcg_score,
    propensity_summary,
    query_permutation_importance,
    query_scores,
    query_train_test_split,
    rank_overlap,
    ranking_report,
)

X, Y = make_ranking(n_queries=12, n_features=3, as_frame=True, random_state=0)
FRAME = X.assign(label=Y, document=np.arange(len(X)))
INDEXES = {
    "row numbers": FRAME,
    "ids": FRAME.set_index(FRAME["document"].map("d{}".format)),
    "query and document": FRAME.set_index(["qid", "document"], drop=False),
    "other row numbers": FRAME.set_axis(np.arange(7, 7 + len(X))),
}
CALLS = {
    "function": lambda y, s, **options: ndcg_score(y, s, **options),
    "evaluate": lambda y, s, **options: evaluate(y, s, metrics=["mrr"], **options),
    "systems": lambda y, s, **options: query_scores(y, {"a": s}, metrics="mrr", **options),
    "accumulator": lambda y, s, **options: RankingAccumulator("mrr").update(y, s, **options),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("name", INDEXES)
@pytest.mark.parametrize("sorted_one", ["y_score", "groups", "sample_weight"])
def test_other_orders_are_refused(name, call, sorted_one):
    frame = INDEXES[name]
    columns = {"y_true": frame["label"], "y_score": frame["x0"], "groups": frame["qid"]}
    if sorted_one == "sample_weight":
        columns["sample_weight"] = pd.Series(1.0, index=frame.index)
    columns[sorted_one] = columns[sorted_one].iloc[::-1]
    y_true, y_score = columns.pop("y_true"), columns.pop("y_score")
    message = "indexes of y_true and .* in different orders|another index"
    with pytest.raises(ValueError, match=message):
        CALLS[call](y_true, y_score, **columns)


@pytest.mark.parametrize("name", INDEXES)
def test_the_proposed_fixes(name):
    frame = INDEXES[name]
    y_true, y_score = frame["label"], frame["x0"].sort_values()
    expected = ndcg_score(Y, X["x0"].to_numpy(), groups=X["qid"].to_numpy())
    assert ndcg_score(y_true, y_score.loc[y_true.index], groups=frame["qid"]) == expected
    by_position = ndcg_score(y_true, frame["x0"].iloc[::-1].to_numpy(), groups=frame["qid"])
    assert by_position == ndcg_score(Y, X["x0"].to_numpy()[::-1], groups=X["qid"].to_numpy())


def test_predictions_of_shuffled_rows_may_be_a_new_series():
    rows, labels = shuffle(X, pd.Series(Y), random_state=0)
    predicted = rows["x0"].to_numpy()
    value = ndcg_score(labels, pd.Series(predicted), groups=rows["qid"])
    assert value == ndcg_score(labels.to_numpy(), predicted, groups=rows["qid"].to_numpy())


@pytest.mark.parametrize("call", CALLS)
def test_a_column_of_the_table_before_it_was_shuffled_is_refused(call):
    before = FRAME.reset_index(drop=True)
    shuffled = before.sample(frac=1, random_state=0)
    with pytest.raises(ValueError, match=r"different orders|another index"):
        CALLS[call](shuffled["label"], before["x0"], groups=shuffled["qid"])


@pytest.mark.parametrize("scoring", ["ndcg", make_scorer(ndcg_score), None])
def test_a_permutation_test_shuffles_labels_with_their_index(scoring):
    score, permuted, _ = permutation_test_score(
        QueryRanker(Ridge()), X, pd.Series(Y), scoring=scoring, cv=QueryKFold(3), n_permutations=3
    )
    assert (permuted < score).all()


def routed(X, ids, splitter):
    with config_context(enable_metadata_routing=True):
        return cross_val_score(
            QueryRanker(Ridge()), X, Y, scoring="mrr", cv=splitter, params={"groups": ids}
        )


RANKER = QueryRanker(Ridge()).fit(X[["x0", "x1"]], Y, groups=X["qid"])
SEARCH = GridSearchCV(QueryRanker(Ridge()), {}, scoring="mrr", cv=GroupKFold(3))
GIVEN = {
    "split": lambda X, ids: next(QueryKFold(3).split(X, Y, groups=ids)),
    "split by qid": lambda X, ids: next(QueryKFold(3).split(X, Y, qid=ids)),
    "hold-out": lambda X, ids: query_train_test_split(X, Y, groups=ids),
    "fit": lambda X, ids: QueryRanker(Ridge()).fit(X, Y, groups=ids),
    "fit by qid": lambda X, ids: QueryRanker(Ridge()).fit(X, Y, qid=ids),
    "queries": lambda X, ids: cross_val_query_scores(
        Ridge(), X, Y, metrics="mrr", cv=QueryKFold(3), groups=ids
    ),
    "cross-validation": lambda X, ids: cross_val_score(
        Ridge(), X, Y, scoring="mrr", cv=QueryKFold(3), groups=ids
    ),
    "another splitter": lambda X, ids: cross_val_score(
        Ridge(), X, Y, scoring="mrr", cv=GroupKFold(3), groups=ids
    ),
    "search": lambda X, ids: SEARCH.fit(X, Y, groups=ids),
    "rank": lambda X, ids: RANKER.rank(X, groups=ids),
    "score": lambda X, ids: RANKER.score(X, Y, groups=ids),
    "score by qid": lambda X, ids: RANKER.score(X, Y, qid=ids),
    "scorer": lambda X, ids: get_scorer("mrr")(RANKER, X, Y, groups=ids),
    "scorer by qid": lambda X, ids: get_scorer("mrr")(RANKER, X, Y, qid=ids),
    "routing": lambda X, ids: routed(X, ids, QueryKFold(3)),
    "routing to another splitter": lambda X, ids: routed(X, ids, GroupKFold(3)),
}


@pytest.mark.parametrize("call", GIVEN.values(), ids=GIVEN)
@pytest.mark.parametrize("name", INDEXES)
def test_ids_in_another_order_than_x_are_refused(name, call):
    frame = INDEXES[name]
    if name == "query and document":
        frame = frame.set_axis(frame.index.set_names(["query", "document"]))
    features, ids = frame[["x0", "x1"]], frame["qid"]
    call(features, ids)
    message = "indexes of X and (groups|qid) hold the same row labels in different orders"
    with pytest.raises(ValueError, match=message):
        call(features, ids.iloc[::-1])


def test_the_argument_of_a_hold_out_is_named():
    with pytest.raises(ValueError, match=r"indexes of X and groups .*groups.loc\[X.index\]"):
        query_train_test_split(X[["x0"]], Y, groups=X["qid"].iloc[::-1])


def test_labels_that_are_overlapping_intervals():
    labels = pd.IntervalIndex.from_arrays(range(len(X)), range(3, len(X) + 3))
    rows, ids = X[["x0", "x1"]].set_axis(labels), X["qid"].set_axis(labels)
    ranker = QueryRanker(Ridge())
    assert ranker.fit(rows, Y, groups=ids).n_queries_ == X["qid"].nunique()
    numbered = ids.reset_index(drop=True)
    assert ranker.fit(rows, Y, groups=numbered).n_queries_ == X["qid"].nunique()
    with pytest.raises(ValueError, match="same row labels in different orders"):
        ranker.fit(rows, Y, groups=ids.iloc[::-1])


@pytest.mark.parametrize("library", [Ridge(), QueryRanker(Ridge())], ids=["bare", "ranker"])
def test_an_index_of_ids_has_the_order_of_x(library):
    """Its rows have no labels of their own, and those of X may be sorted within the queries."""
    order = np.lexsort((X["x0"], X["qid"]))
    rows, labels = X.drop(columns="qid").iloc[order], np.asarray(Y)[order]
    ids = pd.Index(X["qid"].to_numpy()[order])
    options = {"cv": QueryKFold(3), "scoring": "mrr", "error_score": "raise"}
    values = cross_val_score(library, rows, labels, groups=ids, **options)
    by_array = cross_val_score(library, rows, labels, groups=ids.to_numpy(), **options)
    np.testing.assert_array_equal(values, by_array)
    search = GridSearchCV(library, {}, **options).fit(rows, labels, groups=ids)
    assert search.best_score_ == pytest.approx(values.mean())


# what is combined with the rows of X or of the labels by position, in the order of these or not
VALUES = pd.Series(np.linspace(0.1, 1, len(X)), X.index)
COMBINED = {
    "times": lambda values: [*QueryTimeSeriesSplit(2, times=values).split(X, Y)],
    "propensity": lambda values: dcg_score(Y, X["x0"], groups=X["qid"], propensity=values),
    "propensity of systems": lambda values: query_scores(
        Y, {"a": X["x0"]}, "dcg", groups=X["qid"], propensity=values
    ),
    "sample_weight": lambda values: QueryRanker(Ridge()).fit(X, Y, sample_weight=values),
    "propensity of clicks": lambda values: propensity_summary(Y, values),
    "documents": lambda values: estimate_propensity(
        pd.Series(np.arange(len(X)) % 3 == 0, X.index),
        pd.Series(np.arange(len(X)) % 2 + 1, X.index),
        queries=np.zeros(len(X)),
        documents=(values * 10).astype(int),
    ),
    "target": lambda values: get_scorer("dcg")(
        RANKER, X[["x0", "x1"]], Y, groups=X["qid"], target=values
    ),
    "ids of overlaps": lambda values: rank_overlap(
        X["x0"], X["x1"].to_numpy(), groups=(values * 10).astype(int)
    ),
    "ids of predictions without labels": lambda values: rank_overlap(
        X["x0"].to_numpy(), X["x1"], groups=(values * 10).astype(int)
    ),
    "names": lambda values: RankChangeDisplay.from_predictions(
        FRAME["label"], {"a": X["x0"], "b": X["x1"]}, groups=X["qid"], query=1, names=values
    ),
    "labels of a hold-out": lambda values: query_train_test_split(X, values),
    "labels of folds": lambda values: cross_val_query_scores(
        QueryRanker(Ridge()), X, values, metrics="dcg", cv=3
    ),
    "labels of importance": lambda values: query_permutation_importance(
        QueryRanker(Ridge()).fit(X, Y), X, values, metrics="dcg", n_repeats=1
    ),
}


@pytest.mark.parametrize("call", COMBINED.values(), ids=COMBINED)
def test_values_in_another_order_are_refused(call):
    call(VALUES)
    with pytest.raises(ValueError, match="hold the same row labels in different orders"):
        call(VALUES.iloc[::-1])
    call(VALUES.iloc[::-1].to_numpy())


@pytest.mark.parametrize("call", ["labels of a hold-out", "labels of folds"])
def test_ids_of_features_and_labels_that_differ_are_refused(call, monkeypatch):
    by_query = X.set_index("qid")
    monkeypatch.setitem(globals(), "X", by_query)
    COMBINED[call](pd.Series(VALUES.to_numpy(), by_query.index))
    with pytest.raises(ValueError, match="different query ids in their index levels 'qid'"):
        COMBINED[call](pd.Series(VALUES.to_numpy(), by_query.index[::-1]))


def test_row_labels_of_other_levels_are_not_compared():
    rows = np.arange(len(X))
    labels = pd.MultiIndex.from_arrays([X["qid"], rows, rows])
    values = pd.Series(VALUES.to_numpy(), labels.droplevel(2))
    query_train_test_split(X.set_axis(labels), values)
    QueryRanker(Ridge()).fit(X.set_axis(labels), Y, sample_weight=values)


def test_ids_are_compared_whatever_their_dtype():
    ids = X["qid"].to_numpy()
    features = X[["x0"]].set_axis(pd.Index(ids, name="qid"))
    labels = pd.Series(np.asarray(Y), pd.Index(ids, dtype="Int64", name="qid"))
    query_train_test_split(features, labels)
    with pytest.raises(ValueError, match="different query ids in their index levels 'qid'"):
        query_train_test_split(features, labels.iloc[::-1])


GIVEN = {"groups": X["qid"], "y_true": FRAME["label"], "y_score": FRAME["x0"]}
SEGMENTED = {
    "query_scores": lambda column: query_scores(**GIVEN, metrics="dcg", segments=column),
    "several": lambda column: query_scores(
        FRAME["label"],
        FRAME["x0"].to_numpy(),
        metrics="dcg",
        groups=X["qid"].to_numpy(),
        segments={"fixed": np.zeros(len(X)), "device": column},
    ),
    "no text": lambda column: query_scores(**GIVEN, metrics="dcg", segments={99: column}),
    "y_true": lambda column: query_scores(**GIVEN, metrics="dcg", segments={"y_true": column}),
    "report": lambda column: ranking_report(**GIVEN, by=column),
    "overlap": lambda column: rank_overlap(
        X["x1"], X["x2"], groups=X["qid"].to_numpy(), segments=column
    ),
    "accumulator": lambda column: RankingAccumulator("dcg", by="device").update(
        **GIVEN, segments=column
    ),
    "sorted": lambda column: RankingAccumulator("dcg", by="device").update_sorted(
        **GIVEN, segments=column
    ),
}


@pytest.mark.parametrize("call", SEGMENTED.values(), ids=SEGMENTED)
def test_segments_in_another_order_are_refused(call):
    column = (X["qid"] % 2).rename("device")
    call(column)
    with pytest.raises(ValueError, match=r"(y_true|score_a|groups) and segments\["):
        call(column.iloc[::-1])
