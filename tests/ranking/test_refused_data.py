"""Wrong labels, scores, query ids and weights: the type and text of the error."""

import datetime
import decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
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
DISTINGUISHING = ("bpref", "infap", "judged")
Y = np.array([1, 0, 1, 0, 1])
S = np.array([0.3, 0.2, 0.1, 0.9, 0.4])
G = np.array([0, 0, 0, 1, 1])
DAY = datetime.date(2020, 1, 1)

# changes of a valid call, which every metric refuses
DATA = [
    # scores
    ({"y_score": [NAN, 1, 2, 3, 4]}, ValueError, r"y_score contains NaN .*position 0"),
    ({"y_score": [None, 1, 2, 3, 4]}, ValueError, "y_score.*(missing|NaN)"),
    (
        {"y_score": pd.Series([1, None, 2, 3, 4], dtype="Float64")},
        ValueError,
        "y_score.*(missi|Na)",
    ),
    ({"y_score": pd.Series([1, None, 2, 3, 4], dtype="Int64")}, ValueError, "y_score.*(missi|Na)"),
    ({"y_score": pl.Series([1, None, 2, 3, 4])}, ValueError, "y_score.*(missing|NaN)"),
    ({"y_score": pa.array([1.0, None, 2, 3, 4])}, ValueError, "y_score.*(missing|NaN)"),
    ({"y_score": np.ma.masked_greater(S, 0.3)}, ValueError, "y_score has masked values; drop or"),
    ({"y_score": ["0.1", "0.2", "0.3", "0.4", "0.5"]}, TypeError, "must hold numbers; got strings"),
    ({"y_score": list("abcde")}, TypeError, "got strings; .* lists of items to from_ranked"),
    ({"y_score": np.array(list("abcde"), dtype=object)}, TypeError, "numbers; got strings"),
    ({"y_score": [b"a"] * 5}, TypeError, "must hold numbers; got .* bytes"),
    ({"y_score": [1j, 2, 3, 4, 5]}, TypeError, "must hold numbers; got .* complex128"),
    ({"y_score": [DAY] * 5}, (TypeError, ValueError), "y_score must hold .*number"),
    (
        {"y_score": np.array([DAY] * 5, dtype="M8[D]")},
        TypeError,
        "must hold numbers; got .* datetime64",
    ),
    ({"y_score": np.zeros(5, dtype="m8[s]")}, TypeError, "must hold numbers; got .* timedelta64"),
    ({"y_score": np.zeros(5, dtype=[("a", float)])}, TypeError, "y_score must hold numbers; got"),
    ({"y_score": [[0.1], [0.2, 0.3], 1, 2, 3]}, ValueError, "y_score is ragged.*groups="),
    (
        {"y_score": pd.Series([[1], [2, 3], [], [4], [5]])},
        TypeError,
        "got lists; .*from_ranked_lists",
    ),
    ({"sample_weight": "balanced"}, TypeError, "one per document; got 'balanced'"),
    ({"y_true": ["no", "yes", "no", "no", "yes"]}, TypeError, "got strings; map them to numbers"),
    ({"y_score": [object()] * 5}, ValueError, "y_score must hold one number per document"),
    ({"y_score": [{"a": 1}] * 5}, ValueError, "y_score must hold one number per document"),
    ({"y_score": {"a": 1}}, TypeError, "y_score must be an array of numbers"),
    ({"y_score": {0.1, 0.2}}, TypeError, "y_score must be an array of numbers"),
    ({"y_score": (x for x in S)}, TypeError, "y_score must be an array of numbers"),
    ({"y_score": "abcde"}, TypeError, "y_score must be an array of numbers"),
    ({"y_score": None}, TypeError, "y_score must be an array of numbers.*None"),
    ({"y_score": 0.5}, TypeError, "y_score must be an array of numbers.*0.5"),
    ({"y_score": np.array(0.5)}, TypeError, "y_score must be an array of numbers"),
    ({"y_score": np.float64(0.5)}, TypeError, "y_score must be an array of numbers"),
    ({"y_score": [2**63, 1, 2, 3, 4]}, ValueError, r"beyond 2\*\*53.*Rescale"),
    ({"y_score": [2**70, 1, 2, 3, 4]}, ValueError, r"beyond 2\*\*53.*Rescale"),
    ({"y_score": [-(2**60), 1, 2, 3, 4]}, ValueError, r"beyond 2\*\*53.*Rescale"),
    ({"y_score": [2**53 + 1, 2**53, 2, 3, 4]}, ValueError, r"9007199254740993; beyond 2\*\*53"),
    ({"y_score": [np.int64(2**53), np.int64(2**53 + 1), 2.5, 3, 4]}, ValueError, "740993; beyond"),
    ({"y_score": np.array([1, -(2**53) - 3, 2, 3, 4])}, ValueError, "integer -9007199254740995;"),
    ({"y_score": [10**400, 1, 2, 3, 4]}, ValueError, "y_score.*(too large|beyond)"),
    ({"y_score": [decimal.Decimal("NaN")] * 5}, ValueError, "y_score contains NaN"),
    ({"y_score": scipy.sparse.csr_array(np.eye(5))}, TypeError, "sparse matrix; pass a dense"),
    ({"y_score": S[:4]}, ValueError, r"inconsistent numbers of samples: \[5, 4\]"),
    ({"y_score": []}, ValueError, "y_score is empty; at least one"),
    ({"y_score": np.zeros((5, 1)), "groups": None}, ValueError, r"\(5,\) and \(5, 1\).*ravel"),
    ({"y_score": np.zeros((5, 2))}, ValueError, "(shape|goes with one-dimensional)"),
    ({"y_score": np.zeros((1, 5))}, ValueError, "(shape|has 5 labels)"),
    ({"y_score": np.zeros((5, 1, 1))}, ValueError, "one-dimensional.*got an array of shape"),
    ({"y_score": np.zeros((0, 5))}, ValueError, "y_score is empty"),
    (
        {"y_score": pd.DataFrame({"a": S}), "y_true": Y[:, None], "groups": None},
        ValueError,
        r"\(5, 1\) and \(5, 1\).*one document.*y_true.ravel\(\).*groups='none'",
    ),
    # labels
    ({"y_true": [INF, 1, 0, 0, 0]}, ValueError, "y_true contains infinity; .*finite"),
    ({"y_true": ["relevant", "not", "not", "not", "not"]}, TypeError, "must hold numbers; got str"),
    ({"y_true": ["1", "0", "1", "0", "1"]}, TypeError, "y_true must hold numbers; got strings"),
    ({"y_true": [[1], [1, 2], [0], [0], [0]]}, ValueError, "y_true is ragged"),
    ({"y_true": Y[:3]}, ValueError, "inconsistent numbers of samples"),
    ({"y_true": Y[:, None], "groups": None}, ValueError, r"\(5, 1\) and \(5,\): each row would be"),
    ({"y_score": "score"}, TypeError, "got 'score'. Pass the column itself"),
    ({"y_true": 1}, TypeError, "y_true must be an array of numbers, one per document; got 1"),
    ({"y_true": None}, TypeError, "y_true must be an array of numbers.*None"),
    ({"y_true": []}, ValueError, "y_true is empty|inconsistent"),
    ({"y_true": [10**18, 1, 2, 3, 4]}, ValueError, r"beyond 2\*\*53.*Rescale"),
    ({"y_true": [10**25, 1, 2, 3, 4]}, ValueError, r"beyond 2\*\*53.*Rescale"),
    ({"y_true": pd.Series(list("abcde"), dtype="category")}, TypeError, "must hold numbers; got"),
    ({"y_true": pd.to_datetime(["2020"] * 5)}, TypeError, "must hold numbers; got .* datetime64"),
    ({"y_true": np.array([2, "1", 0, 0, 0], dtype=object)}, TypeError, "got strings"),
    # both
    ({"y_true": [], "y_score": [], "groups": None}, ValueError, "empty"),
    ({"y_true": np.zeros((2, 2, 2)), "y_score": np.zeros((2, 2, 2))}, ValueError, "shape"),
    ({"y_true": [[1, 0], [1]], "y_score": [[1, 0], [1]], "groups": None}, ValueError, "ragged"),
    # query ids
    ({"groups": [3, 2]}, ValueError, r"look like group sizes: pass np\.repeat"),
    ({"groups": [5]}, ValueError, r"look like group sizes: pass np\.repeat"),
    ({"groups": pd.Series([3, 2])}, ValueError, r"look like group sizes: pass np\.repeat"),
    ({"groups": (2, 3)}, ValueError, r"look like group sizes: pass np\.repeat"),
    ({"groups": [3.0, 2.0]}, ValueError, r"look like group sizes: pass np\.repeat"),
    ({"groups": [0, 0, 1]}, ValueError, "one id per row: got 3 for 5"),
    ({"groups": []}, ValueError, "one id per row: got 0 for 5"),
    ({"groups": [0] * 6}, ValueError, "one id per row: got 6 for 5"),
    ({"groups": [0, 0, NAN, 1, 1]}, ValueError, "groups must not have missing values; every row"),
    ({"groups": [0, 0, None, 1, 1]}, ValueError, "groups must not have missing values"),
    ({"groups": ["a", "a", None, "b", "b"]}, ValueError, "groups must not have missing values"),
    ({"groups": ["a", "a", NAN, "b", "b"]}, ValueError, "groups must not have missing values"),
    ({"groups": pd.Series(["a", None, "a", "b", "b"])}, ValueError, "must not have missing values"),
    (
        {"groups": pd.Series([1, None, 1, 2, 2], dtype="Int64")},
        ValueError,
        "must not have missing values",
    ),
    (
        {"groups": pd.Series([1, None, 1, 2, 2]).astype("category")},
        ValueError,
        "must not have missing values",
    ),
    (
        {"groups": pd.Series([pd.NaT, DAY, DAY, DAY, DAY])},
        ValueError,
        "must not have missing values",
    ),
    ({"groups": pl.Series(["a", None, "a", "b", "b"])}, ValueError, "must not have missing values"),
    ({"groups": pl.Series([1, None, 1, 2, 2])}, ValueError, "groups must not have missing values"),
    (
        {"groups": pl.Series(["a", None, "a", "b", "b"], dtype=pl.Categorical)},
        ValueError,
        "missing",
    ),
    ({"groups": pa.array(["a", None, "a", "b", "b"])}, ValueError, "must not have missing values"),
    ({"groups": pa.array([1, None, 1, 2, 2])}, ValueError, "groups must not have missing values"),
    ({"groups": np.ma.masked_equal(G, 1)}, ValueError, "groups must not have masked values"),
    ({"groups": G + 2.0**53}, ValueError, r"float64 up to .*from 2\*\*53 on"),
    ({"groups": -(G + 2.0**60)}, ValueError, "rounds different integers to the same"),
    ({"groups": pd.Series(G + 2.0**24, dtype="f4")}, ValueError, r"float32 .*from 2\*\*24 on"),
    ({"groups": np.array(["2020", "NaT", "2020", "2021", "2021"], "M8[Y]")}, ValueError, "missing"),
    ({"groups": [[0], [0], [0], [1], [1]]}, ValueError, "groups must be one-dimensional"),
    ({"groups": np.zeros((5, 2))}, ValueError, "groups must be one-dimensional.*shape"),
    ({"groups": pd.DataFrame({"qid": G})}, ValueError, "groups must be one-dimensional.*shape"),
    ({"groups": dict(enumerate(G))}, ValueError, "got dict {0"),
    ({"groups": 3}, ValueError, "groups must be one-dimensional.*got int 3"),
    ({"groups": "qid"}, ValueError, r"got str 'qid'. Pass the column.*X\['qid'\]"),
    ({"groups": [0, 0, pd.NA, 1, 1]}, ValueError, "groups must not have missing values"),
    ({"groups": ["a", "a", pd.NA, "b", "b"]}, ValueError, "groups must not have missing values"),
    (
        {"groups": np.array([0, 0, pd.NA, 1, 1], dtype=object)},
        ValueError,
        "groups must not have missing values",
    ),
    (
        {"groups": pa.DictionaryArray.from_arrays([0, 0, 1, 2, 2], ["a", None, "b"])},
        ValueError,
        "groups must not have missing values",
    ),
    (
        {"groups": pa.DictionaryArray.from_arrays([0, 0, 1, 2, 2], [1, None, 2])},
        ValueError,
        "groups must not have missing values",
    ),
    ({"groups": True}, ValueError, "groups must be one-dimensional.*got bool True"),
    ({"groups": (g for g in G)}, ValueError, "one id per row; got generator"),
    ({"groups": iter([0, 0, 0, 1, 1])}, ValueError, "one id per row; got list_iterator"),
    ({"groups": [[1], [1, 2], [1], [2], [2]]}, (TypeError, ValueError), "groups .*"),
    (
        {"groups": np.array([[1], [1], {}, 2, 2], dtype=object)},
        (TypeError, ValueError),
        "groups.*hash",
    ),
    ({"groups": [{"a": 1}] * 5}, (TypeError, ValueError), "groups.*hashable"),
    ({"y_true": [Y], "y_score": [S]}, ValueError, "groups= or an .* requires one-dim"),
    ({"y_score": np.ones((5, 2))}, ValueError, r"pass the second column, \[:, 1\]"),
    # weights
    ({"sample_weight": [1, 2, 1, 1, 1]}, ValueError, "varies within a query.*same weight"),
    ({"sample_weight": [1, 1]}, ValueError, "one weight per document: got shape .2,. for 5"),
    ({"sample_weight": [1, 1]}, ValueError, "All documents of a query have its weight"),
    ({"sample_weight": {0: 1, 1: 2}}, TypeError, "one per document; got a dict"),
    ({"sample_weight": 1.0}, TypeError, "sample_weight must be an array"),
    ({"sample_weight": [-1.0] * 5}, ValueError, "sample_weight must be finite and not negative"),
    ({"sample_weight": [INF] * 5}, ValueError, "sample_weight must be finite and not negative"),
    ({"sample_weight": [INF, INF, INF, 1, 1]}, ValueError, "sample_weight must be finite and not"),
    ({"sample_weight": [-1, -1, -1, 1, 1]}, ValueError, "sample_weight must be finite and not neg"),
    (
        {"sample_weight": [NAN] * 5},
        ValueError,
        "sample_weight contains NaN .*position 0",
    ),
    (
        {"sample_weight": [0.0] * 5},
        ValueError,
        "zero for every query; at least one weight must be positive",
    ),
    ({"sample_weight": ["1"] * 5}, TypeError, "sample_weight must hold numbers; got strings"),
    ({"sample_weight": np.ones((5, 1))}, ValueError, "one weight per document"),
    ({"sample_weight": "balanced"}, TypeError, "sample_weight must be an array"),
    # shapes together
    ({"groups": None, "y_true": [Y, Y], "y_score": [S]}, ValueError, "y_true has shape .2, 5"),
    ({"groups": None, "y_true": [Y], "y_score": S}, ValueError, "y_true has shape"),
    (
        {"groups": None, "y_true": Y, "y_score": np.ones((4, 2))},
        ValueError,
        r"numbers of samples: \[5, 4\]",
    ),
    (
        {"groups": None, "y_true": Y, "y_score": np.ones((5, 3))},
        ValueError,
        "3 columns for 2 class",
    ),
    ({"groups": None, "y_true": [Y], "y_score": [S], "sample_weight": Y}, ValueError, "per query"),
    ({"labels": [0, 1]}, ValueError, "labels= names the columns of two-dimensional scores"),
    (
        {"groups": None, "y_score": np.ones((5, 2)), "labels": [0, 0]},
        ValueError,
        "labels= names a class twice",
    ),
    (
        {"groups": None, "y_score": np.ones((5, 2)), "labels": [0, 1, 2]},
        ValueError,
        "2 columns for 3 classes",
    ),
    (
        {"groups": None, "y_score": np.ones((5, 2)), "labels": [0, 7]},
        ValueError,
        "y_true holds the class 1",
    ),
    ({"groups": None, "y_score": np.ones((5, 2)), "labels": 2}, ValueError, "labels"),
    # what every metric takes
    ({"average": "mean"}, ValueError, "average must be one of 'macro', 'micro', None; got 'mean'"),
    ({"average": "marco"}, ValueError, "Did you mean 'macro'"),
    ({"average": 1}, ValueError, "average must be one of"),
    ({"average": ["macro"]}, ValueError, "average must be one of"),
    (
        {"replace_undefined_by": "nan"},
        TypeError,
        "replace_undefined_by must be a number; got 'nan'",
    ),
    ({"replace_undefined_by": None}, TypeError, "replace_undefined_by must be a number; got None"),
    ({"replace_undefined_by": INF}, ValueError, "replace_undefined_by must be finite"),
    ({"replace_undefined_by": True}, TypeError, "replace_undefined_by must be a number"),
    ({"n_jobs": 0}, ValueError, "n_jobs.*0"),
    ({"n_jobs": "all"}, (TypeError, ValueError), "n_jobs"),
    ({"n_jobs": 1.5}, (TypeError, ValueError), "n_jobs"),
]


# which metrics of incompletely judged rankings accept
MISSING_LABELS = [
    (
        {"y_true": [NAN, 1, 0, 0, 0]},
        ValueError,
        r"y_true contains NaN .*position 0.*(\n.*)*unjudged='drop'",
    ),
    ({"y_true": [None, 1, 0, 0, 0]}, ValueError, "y_true.*(missing|NaN)"),
    ({"y_true": pd.Series([True, None, True, False, True], dtype="boolean")}, ValueError, "y_true"),
    ({"y_true": pd.Series([1, None, 0, 0, 0], dtype="int64[pyarrow]")}, ValueError, "y_true.*NaN"),
]


def good_call():
    return {"y_true": Y, "y_score": S, "groups": G}


@pytest.mark.parametrize(("change", "error", "message"), DATA + MISSING_LABELS)
def test_wrong_data_are_refused(change, error, message):
    with pytest.raises(error, match=message):
        ndcg_score(**good_call() | change)
    if not hasattr(change.get("y_score", change.get("groups")), "send"):
        with pytest.raises(error, match=message):
            evaluate(**good_call() | change, metrics="ndcg")


@pytest.mark.parametrize("metric", METRICS)
def test_every_metric_refuses_the_same_data(metric):
    # the others distinguish unjudged documents themselves, or have no rule for them
    reads_all = "unjudged" in METRICS[metric].options and metric not in DISTINGUISHING
    refused = DATA + (MISSING_LABELS if reads_all else [])
    for change, error, message in refused:
        with pytest.raises(error, match=message):
            METRICS[metric].function(**good_call() | change)


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


def test_lists_of_labels_of_different_lengths_are_named():
    with pytest.raises(ValueError, match=r"y_true is ragged.* from_ranked_lists"):
        ndcg_score([[1], [2, 3]], [[0, 1], [1, 0]])


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


def test_the_label_of_a_pool_is_refused_without_a_rule():
    with pytest.raises(ValueError, match=r"y_true contains -inf .* nobody judged"):
        ndcg_score([-INF, 1, 0], [1, 2, 3])
