"""Wrong labels, scores, query ids and weights: the class of the error and what it tells.

`tests/query_ids/test_readers.py` has more about ids.
"""

import datetime
import decimal

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from frames import pa, pl
from sklearn.linear_model import Ridge
from sklearn.metrics import get_scorer

from sklearn_rankscore import (
    QueryKFold,
    QueryRanker,
    RankingAccumulator,
    cross_val_query_scores,
    evaluate,
    ndcg_score,
    query_auc_score,
    query_scores,
)
from sklearn_rankscore.metrics.names import METRICS

NAN, INF = np.nan, np.inf
Y, S, G = np.array([1, 0, 1, 0, 1]), np.array([0.3, 0.2, 0.1, 0.9, 0.4]), np.array([0, 0, 0, 1, 1])
DAYS = np.array([datetime.date(2020, 1, 1)] * 5)
T, V, TV = TypeError, ValueError, (TypeError, ValueError)
ALONE = {"groups": None}


def y(values, **others):
    return {"y_true": values, **others}


def s(values, **others):
    return {"y_score": values, **others}


def w(values, **others):
    return {"sample_weight": values, **others}


# what the error tells: its class, and changes of a valid call
DATA = {
    r"y_score contains NaN .*position 0": (V, [s([NAN, 1, 2, 3, 4])]),
    "y_score.*(missing|NaN)": (V, [
        s([None, 1, 2, 3, 4]),
        *(s(of([1.0, None, 2, 3, 4])) for of in ((pl.Series, pa.array) if pl else ())),
        *(s(pd.Series([1, None, 2, 3, 4], dtype=kind)) for kind in ("Float64", "Int64")),
        s([decimal.Decimal("NaN")] * 5),
    ]),
    "the same columns in different orders": (V, [
        y(pd.DataFrame({"a": [1, 0], "b": [0, 1]}), **ALONE,
          y_score=pd.DataFrame({"b": [1, 2], "a": [3, 4]})),
    ]),
    "y_score has masked values; drop or": (V, [s(np.ma.masked_greater(S, 0.3))]),
    "must hold numbers; got strings": (T, [
        s(list("12345")), s(list("abcde")), s(np.array(list("abcde"), dtype=object)),
        y(list("10101")), y(np.array([2, "1", 0, 0, 0], dtype=object)), w(["1"] * 5),
    ]),
    "strings; map them to numbers, or pass lists of items to from_ranked": (T, [y(list("abcab"))]),
    "must hold numbers; got .* (bytes|complex128|date|datetime64|timedelta64|void)": (T, [
        s([b"a"] * 5), s([1j, 2, 3, 4, 5]), s(DAYS), s(DAYS.astype("M8[D]")),
        s(np.zeros(5, "m8[s]")), s(np.zeros(5, [("a", float)])), y(pd.to_datetime(["2020"] * 5)),
    ]),
    "y_true must hold numbers; got": (T, [y(pd.Series(list("abcde"), dtype="category"))]),
    "got lists; .*from_ranked_lists": (T, [s(pd.Series([[1], [2, 3], [], [4], [5]]))]),
    "is ragged.*groups=.*from_ranked_lists": (V, [
        s([[0.1], [0.2, 0.3], 1, 2, 3]), y([[1], [1, 2], [0], [0], [0]]),
        y([[1], [2, 3]], y_score=[[0, 1], [1, 0]], groups=None),
    ]),
    "y_score must hold one number per document": (V, [s([object()] * 5), s([{"a": 1}] * 5)]),
    "must be an array of numbers": (T, [
        s({"a": 1}), s({0.1, 0.2}), s(x for x in S), s("abcde"), s(None), s(0.5), s(np.array(0.5)),
        y(1), y(None), w({0: 1, 1: 2}), w(1.0), w("balanced"),
    ]),
    "got 'score'. Pass the column itself": (T, [s("score")]),
    r"beyond 2\*\*53.*Rescale": (V, [
        *(s([large, 1, 2, 3, 4]) for large in (2**63, 2**70, -(2**60))),
        y([10**18, 1, 2, 3, 4]), y([10**25, 1, 2, 3, 4]),
    ]),
    "integer 9007199254740993; beyond": (V, [
        s([2**53 + 1, 2**53, 2, 3, 4]), s([np.int64(2**53), np.int64(2**53 + 1), 2.5, 3, 4]),
    ]),
    "integer -9007199254740995;": (V, [s(np.array([1, -(2**53) - 3, 2, 3, 4]))]),
    "y_score.*(too large|beyond)": (V, [s([10**400, 1, 2, 3, 4])]),
    "sparse matrix; pass a dense": (T, [s(scipy.sparse.csr_array(np.eye(5)))]),
    "y_true contains infinity; .*finite": (V, [y([INF, 1, 0, 0, 0]), y([INF, NAN, 0, 0, 0])]),
    # shapes
    r"inconsistent numbers of samples: \[5, 4\]": (V, [
        s(S[:4]), s(np.ones((4, 2)), **ALONE),
    ]),
    "is empty": (V, [s([]), s(np.zeros((0, 5))), y([]), y([], y_score=[], groups=None)]),
    "inconsistent numbers of samples": (V, [y(Y[:3])]),
    r"\(5,\) and \(5, 1\).*ravel": (V, [s(np.zeros((5, 1)), **ALONE)]),
    r"\(5, 1\) and \(5, 1\).*one document.*y_true.ravel\(\).*groups='none'": (V, [
        s(pd.DataFrame({"a": S}), y_true=Y[:, None], groups=None),
    ]),
    r"\(5, 1\) and \(5,\): each row would be": (V, [y(Y[:, None], **ALONE)]),
    "one-dimensional.*got an array of shape": (V, [
        s(np.zeros((5, 1, 1))), y(np.zeros((2, 2, 2)), y_score=np.zeros((2, 2, 2))),
    ]),
    "requires one-dim": (V, [s(np.zeros((5, 3))), s(np.zeros((1, 5))), y([Y], y_score=[S])]),
    r"pass the second column, \[:, 1\]": (V, [s(np.ones((5, 2)))]),
    "y_true has shape": (V, [y([Y, Y], y_score=[S], **ALONE), y([Y], y_score=S, **ALONE)]),
    # classes
    "5 columns for 2 classes": (V, [s(np.ones((5, 5)), **ALONE)]),
    "labels= names the columns of two-dimensional scores": (V, [{"labels": [0, 1]}]),
    "labels= names a class twice": (V, [s(np.ones((5, 2)), labels=[0, 0], **ALONE)]),
    "2 columns for 3 classes": (V, [s(np.ones((5, 2)), labels=[0, 1, 2], **ALONE)]),
    "2 columns for 1 classes": (V, [s(np.ones((5, 2)), labels=2, **ALONE)]),
    "y_true holds the class 1": (V, [s(np.ones((5, 2)), labels=[0, 7], **ALONE)]),
    # query ids
    "one id per row: got 0 for 5": (V, [{"groups": []}]),
    "one id per row: got 6 for 5": (V, [{"groups": [0] * 6}]),
    r"look like group sizes: pass np\.repeat": (V, [{"groups": [3, 2]}]),
    "groups must not have missing values; every row": (V, [{"groups": [0, 0, NAN, 1, 1]}]),
    r"got str 'qid'. Pass the column.*X\['qid'\]": (V, [{"groups": "qid"}]),
    "one id per row; got generator": (V, [{"groups": (g for g in G)}]),
    "got bool True": (V, [{"groups": True}]),
    "groups must have|groups.*hashable|groups must": (TV, [{"groups": [{"a": 1}] * 5}]),
    # weights
    "varies within a query.*same weight": (V, [w([1, 2, 1, 1, 1])]),
    r"per document: got shape \(2,\) for 5.*All documents of a query have": (V, [w([1, 1])]),
    "one weight per document": (V, [w(np.ones((5, 1)))]),
    "one weight per query": (V, [w(Y, y_true=[Y], y_score=[S], **ALONE)]),
    "sample_weight must be finite and not negative": (V, [
        w([-1.0] * 5), w([INF] * 5), w([INF, INF, INF, 1, 1]), w([-1, -1, -1, 1, 1]),
    ]),
    "sample_weight contains NaN .*position 0": (V, [w([NAN] * 5)]),
    "zero for every query; at least one weight must be positive": (V, [w([0.0] * 5)]),
    # what every metric takes
    "average must be one of 'macro', 'micro', None; got": (V, [
        {"average": wrong} for wrong in ("mean", 1, ["macro"])
    ]),
    "Did you mean 'macro'": (V, [{"average": "marco"}]),
    "replace_undefined_by must be a number; got": (T, [
        {"replace_undefined_by": wrong} for wrong in ("nan", None, True)
    ]),
    "replace_undefined_by must be finite": (V, [{"replace_undefined_by": INF}]),
    "n_jobs must not be 0": (V, [{"n_jobs": 0}]),
    "n_jobs must be an integer or None; got": (T, [{"n_jobs": n} for n in ("all", 1.5, True)]),
}  # fmt: skip
# but for metrics of incompletely judged rankings
UNJUDGED = {
    r"y_true contains NaN .*position 0.*(\n.*)*unjudged='drop'": (V, [y([NAN, 1, 0, 0, 0])]),
    "y_true contains NaN": (V, [
        y([None, 1, 0, 0, 0]), y(pd.Series([True, None, True, False, True], dtype="boolean")),
        *(y(pd.Series([1, None, 0, 0, 0], dtype=of)) for of in (["int64[pyarrow]"] if pa else [])),
    ]),
    "y_true contains -inf .* nobody judged": (V, [y([-INF, 1, 0, 0, 0])]),
}  # fmt: skip
# a fault of each argument
SOME = ["y_score.*(missing|NaN)", "y_true contains infinity; .*finite", "one id per row: got 6"]
SOME += ["varies within a query.*same weight", "average must be one of", "n_jobs must not be 0"]


@pytest.mark.parametrize("message", DATA | UNJUDGED)
def test_wrong_data_are_refused(message):
    error, changes = (DATA | UNJUDGED)[message]
    for change in changes:
        call = {"y_true": Y, "y_score": S, "groups": G} | change
        with pytest.raises(error, match=message):
            ndcg_score(**call)
        if not any(hasattr(value, "send") for value in call.values()):  # read to its end
            with pytest.raises(error, match=message):
                evaluate(**call, metrics="ndcg")


@pytest.mark.parametrize("metric", METRICS)
def test_every_metric_refuses_the_same_data(metric):
    known, table = METRICS[metric], DATA
    if "unjudged" in known.options and metric not in ("bpref", "infap", "judged"):
        table = DATA | UNJUDGED
    for message, (error, changes) in table.items():
        if message in UNJUDGED or any(message.startswith(some) for some in SOME):
            with pytest.raises(error, match=message):
                known.function(**{"y_true": Y, "y_score": S, "groups": G} | changes[0])


@pytest.mark.parametrize("labels", [None, [0, 1]])
def test_query_ids_are_not_ignored_for_the_scores_of_classes(labels):
    probabilities = np.array([[0.5, 0.5], [0.4, 0.6], [0.3, 0.7]])
    y_true = pd.Series([0, 1, 1], index=pd.Index([1, 1, 2], name="qid"))
    if labels is None:
        with pytest.raises(ValueError, match="an index level 'qid' requires one-dimensional"):
            query_auc_score(y_true, probabilities)
    else:
        assert query_auc_score(y_true, probabilities, labels=labels) == pytest.approx(2.5 / 3)
    one_hot = pd.DataFrame(np.eye(2)[[0, 1, 1]], index=y_true.index)
    assert query_auc_score(one_hot, probabilities) == pytest.approx(2.5 / 3)


HIDDEN = np.ma.masked_equal(Y, 0)
FEATURES = pd.DataFrame({"x": S}, index=pd.Index(G, name="qid"))
READS_LABELS = {
    "fit": lambda: QueryRanker(Ridge()).fit(FEATURES, HIDDEN),
    "weights of fit": lambda: QueryRanker(Ridge()).fit(FEATURES, Y, sample_weight=HIDDEN),
    "scorer": lambda: get_scorer("ndcg@5")(Ridge().fit(FEATURES, Y), FEATURES, HIDDEN),
    "segments": lambda: query_scores(Y, S, "mrr", groups=G, segments=HIDDEN),
    "stream": lambda: RankingAccumulator("mrr", by="a").update(Y, S, G, segments={"a": HIDDEN}),
    "splitter": lambda: list(QueryKFold(2, skip_constant_queries=True).split(FEATURES, HIDDEN)),
    "folds": lambda: cross_val_query_scores(
        QueryRanker(Ridge()), FEATURES, HIDDEN, metrics="dcg", cv=QueryKFold(2)
    ),
}


@pytest.mark.parametrize("call", READS_LABELS.values(), ids=READS_LABELS)
def test_masked_labels_are_refused_wherever_they_are_read(call):
    with pytest.raises(ValueError, match=r"(y|y_true|sample_weight|segments) has masked val"):
        call()


def test_classes_that_are_numbers_warn():
    """They may be grades of documents, whose ids were forgotten."""
    labels, scores = [0, 1, 1, 0], [[0.9, 0.1], [0.2, 0.8], [0.7, 0.3], [0.6, 0.4]]
    with pytest.warns(UserWarning, match="each row of y_score ranked its 2 classes"):
        value = evaluate(labels, scores, "ndcg")["ndcg"]
    assert value == pytest.approx((3 + 1 / np.log2(3)) / 4)
    assert evaluate(labels, scores, "ndcg", labels=[0, 1])["ndcg"] == value
