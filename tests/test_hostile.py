"""Bad input to every public function: one error that says what was got and what to do."""

import datetime
import decimal
import fractions
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from sklearn.linear_model import Ridge
from sklearn.model_selection import cross_validate

from sklearn_rankscore import (
    NoGroupsError,
    QueryKFold,
    QueryRanker,
    dcg_score,
    err_score,
    evaluate,
    f1_at_k,
    make_ranking,
    make_ranking_scorer,
    map_score,
    mrr_score,
    ndcg_score,
    pfound_score,
    precision_at_k,
    query_auc_score,
    rbp_score,
    recall_at_k,
    spearman_score,
)
from sklearn_rankscore.metrics.names import METRICS

NAN, INF = np.nan, np.inf
Y = np.array([1, 0, 1, 0, 1])
S = np.array([0.3, 0.2, 0.1, 0.9, 0.4])
G = np.array([0, 0, 0, 1, 1])
DAY = datetime.date(2020, 1, 1)

# ---- data: what every metric refuses, as a change of a good call

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
    ({"y_score": np.array(list("abcde"), dtype=object)}, TypeError, "numbers; got strings"),
    ({"y_score": [b"a"] * 5}, TypeError, "must hold numbers; got bytes"),
    ({"y_score": [1j, 2, 3, 4, 5]}, TypeError, "must hold numbers; got complex numbers"),
    ({"y_score": [DAY] * 5}, (TypeError, ValueError), "y_score must hold .*number"),
    ({"y_score": np.array([DAY] * 5, dtype="M8[D]")}, TypeError, "must hold numbers; got dates"),
    ({"y_score": np.zeros(5, dtype="m8[s]")}, TypeError, "must hold numbers; got durations"),
    ({"y_score": np.zeros(5, dtype=[("a", float)])}, TypeError, "y_score must hold numbers; got"),
    ({"y_score": [[0.1], [0.2, 0.3], 1, 2, 3]}, ValueError, "y_score is ragged.*groups="),
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
    ({"y_score": [2**53 + 1, 2**53, 2, 3, 4]}, ValueError, r"beyond 2\*\*53.*Rescale"),
    ({"y_score": [10**400, 1, 2, 3, 4]}, ValueError, "y_score.*(too large|beyond)"),
    ({"y_score": [decimal.Decimal("NaN")] * 5}, ValueError, "y_score contains NaN"),
    ({"y_score": scipy.sparse.csr_array(np.eye(5))}, TypeError, "sparse matrix; pass a dense"),
    (
        {"y_score": S[:4]},
        ValueError,
        "inconsistent numbers of samples: y_true has 5.* y_score has 4",
    ),
    ({"y_score": []}, ValueError, "y_score is empty; at least one"),
    ({"y_score": np.zeros((5, 1))}, ValueError, "(shape|classes|goes with)"),
    ({"y_score": np.zeros((5, 2))}, ValueError, "(shape|goes with one-dimensional)"),
    ({"y_score": np.zeros((1, 5))}, ValueError, "(shape|has 5 labels)"),
    ({"y_score": np.zeros((5, 1, 1))}, ValueError, "one-dimensional.*got an array of shape"),
    ({"y_score": np.zeros((0, 5))}, ValueError, "y_score is empty"),
    ({"y_score": pd.DataFrame({"a": S})}, ValueError, "(shape|goes with)"),
    # labels
    ({"y_true": [NAN, 1, 0, 0, 0]}, ValueError, "y_true contains NaN .*Drop or fill"),
    ({"y_true": [INF, 1, 0, 0, 0]}, ValueError, "y_true contains infinity; .*finite"),
    ({"y_true": [-INF, 1, 0, 0, 0]}, ValueError, "y_true contains infinity; .*finite"),
    ({"y_true": [None, 1, 0, 0, 0]}, ValueError, "y_true.*(missing|NaN)"),
    ({"y_true": pd.Series([True, None, True, False, True], dtype="boolean")}, ValueError, "y_true"),
    ({"y_true": pd.Series([1, None, 0, 0, 0], dtype="int64[pyarrow]")}, ValueError, "y_true.*NaN"),
    ({"y_true": ["relevant", "not", "not", "not", "not"]}, TypeError, "must hold numbers; got str"),
    ({"y_true": ["1", "0", "1", "0", "1"]}, TypeError, "y_true must hold numbers; got strings"),
    ({"y_true": [[1], [1, 2], [0], [0], [0]]}, ValueError, "y_true is ragged"),
    ({"y_true": Y[:3]}, ValueError, "inconsistent numbers of samples"),
    ({"y_true": Y[:, None]}, ValueError, "y_true has shape"),
    ({"y_true": 1}, TypeError, "y_true must be an array of numbers, one per document; got 1"),
    ({"y_true": None}, TypeError, "y_true must be an array of numbers.*None"),
    ({"y_true": []}, ValueError, "y_true is empty|inconsistent"),
    ({"y_true": [10**18, 1, 2, 3, 4]}, ValueError, r"beyond 2\*\*53.*Rescale"),
    ({"y_true": [10**25, 1, 2, 3, 4]}, ValueError, r"beyond 2\*\*53.*Rescale"),
    ({"y_true": pd.Series(list("abcde"), dtype="category")}, TypeError, "must hold numbers; got"),
    ({"y_true": pd.to_datetime(["2020"] * 5)}, TypeError, "must hold numbers; got dates"),
    # query ids
    ({"groups": [3, 2]}, ValueError, r"look like group sizes: pass np\.repeat"),
    ({"groups": [5]}, ValueError, r"look like group sizes: pass np\.repeat"),
    ({"groups": pd.Series([3, 2])}, ValueError, r"look like group sizes: pass np\.repeat"),
    ({"groups": (2, 3)}, ValueError, r"look like group sizes: pass np\.repeat"),
    ({"groups": [3.0, 2.0]}, ValueError, r"look like group sizes: pass np\.repeat"),
    ({"groups": [0, 0, 1]}, ValueError, "one query id per document: got 3 for 5"),
    ({"groups": []}, ValueError, "one query id per document: got 0 for 5"),
    ({"groups": [0] * 6}, ValueError, "one query id per document: got 6 for 5"),
    ({"groups": [0, 0, NAN, 1, 1]}, ValueError, "groups contains missing values; every document"),
    ({"groups": [0, 0, None, 1, 1]}, ValueError, "groups contains missing values"),
    ({"groups": ["a", "a", None, "b", "b"]}, ValueError, "groups contains missing values"),
    ({"groups": ["a", "a", NAN, "b", "b"]}, ValueError, "groups contains missing values"),
    ({"groups": pd.Series(["a", None, "a", "b", "b"])}, ValueError, "groups contains missing"),
    ({"groups": pd.Series([1, None, 1, 2, 2], dtype="Int64")}, ValueError, "groups contains missi"),
    ({"groups": pd.Series([1, None, 1, 2, 2]).astype("category")}, ValueError, "contains missing"),
    ({"groups": pd.Series([pd.NaT, DAY, DAY, DAY, DAY])}, ValueError, "groups contains missing"),
    ({"groups": pl.Series(["a", None, "a", "b", "b"])}, ValueError, "groups contains missing"),
    ({"groups": pl.Series([1, None, 1, 2, 2])}, ValueError, "groups contains missing"),
    (
        {"groups": pl.Series(["a", None, "a", "b", "b"], dtype=pl.Categorical)},
        ValueError,
        "missing",
    ),
    ({"groups": pa.array(["a", None, "a", "b", "b"])}, ValueError, "groups contains missing"),
    ({"groups": pa.array([1, None, 1, 2, 2])}, ValueError, "groups contains missing"),
    ({"groups": np.ma.masked_equal(G, 1)}, ValueError, "groups contains masked values"),
    ({"groups": np.array(["2020", "NaT", "2020", "2021", "2021"], "M8[Y]")}, ValueError, "missing"),
    ({"groups": [[0], [0], [0], [1], [1]]}, ValueError, "groups must be one-dimensional"),
    ({"groups": np.zeros((5, 2))}, ValueError, "groups must be one-dimensional.*shape"),
    ({"groups": pd.DataFrame({"qid": G})}, ValueError, "groups must be one-dimensional.*shape"),
    ({"groups": 3}, ValueError, "groups must be one-dimensional.*single value"),
    ({"groups": "qid"}, ValueError, "groups must be one-dimensional.*single value"),
    ({"groups": True}, ValueError, "groups must be one-dimensional.*single value"),
    ({"groups": (g for g in G)}, ValueError, "groups must be one-dimensional.*single value"),
    ({"groups": [[1], [1, 2], [1], [2], [2]]}, (TypeError, ValueError), "groups .*"),
    (
        {"groups": np.array([[1], [1], {}, 2, 2], dtype=object)},
        (TypeError, ValueError),
        "groups.*hash",
    ),
    ({"groups": [{"a": 1}] * 5}, (TypeError, ValueError), "groups.*hashable"),
    ({"y_true": [Y], "y_score": [S]}, ValueError, "groups= goes with one-dimensional"),
    # weights
    ({"sample_weight": [1, 2, 1, 1, 1]}, ValueError, "varies within a query.*same weight"),
    ({"sample_weight": [1, 1]}, ValueError, "one weight per document: got shape .2,. for 5"),
    ({"sample_weight": 1.0}, TypeError, "sample_weight must be an array"),
    ({"sample_weight": [-1.0] * 5}, ValueError, "sample_weight must be finite and not negative"),
    ({"sample_weight": [INF] * 5}, ValueError, "sample_weight must be finite and not negative"),
    ({"sample_weight": [INF, INF, INF, 1, 1]}, ValueError, "sample_weight must be finite and not"),
    ({"sample_weight": [-1, -1, -1, 1, 1]}, ValueError, "sample_weight must be finite and not neg"),
    ({"sample_weight": [NAN] * 5}, ValueError, "sample_weight contains NaN"),
    ({"sample_weight": [0.0] * 5}, ValueError, "zero for every query; at least one must count"),
    ({"sample_weight": ["1"] * 5}, TypeError, "sample_weight must hold numbers; got strings"),
    ({"sample_weight": np.ones((5, 1))}, ValueError, "one weight per document"),
    ({"sample_weight": "balanced"}, TypeError, "sample_weight must be an array"),
    # shapes together
    ({"groups": None, "y_true": [Y, Y], "y_score": [S]}, ValueError, "y_true has shape .2, 5"),
    ({"groups": None, "y_true": [Y], "y_score": S}, ValueError, "y_true has shape"),
    ({"groups": None, "y_true": Y, "y_score": np.ones((4, 2))}, ValueError, "5 labels, .* 4 rows"),
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


def good_call():
    return {"y_true": Y, "y_score": S, "groups": G}


@pytest.mark.parametrize(("change", "error", "message"), DATA)
def test_data(change, error, message):
    with pytest.raises(error, match=message):
        ndcg_score(**good_call() | change)
    if not hasattr(change.get("y_score", change.get("groups")), "send"):
        with pytest.raises(error, match=message):
            evaluate(**good_call() | change, metrics="ndcg")


@pytest.mark.parametrize("metric", METRICS)
def test_every_metric_refuses_the_same_data(metric):
    for change, error, message in DATA:
        with pytest.raises(error, match=message):
            METRICS[metric].page(**good_call() | change)


# ---- options of metrics

OPTIONS = [
    *[(f, {"k": k}, TypeError, f"k must be a positive integer or None .*; got {re.escape(repr(k))}")
      for f in (ndcg_score, precision_at_k, mrr_score)
      for k in (True, 2.5, 10.0, "10", [10], np.float64(3), np.bool_(True), fractions.Fraction(4))],
    *[(f, {"k": k}, ValueError, "k must be at least 1, or None for no cut-off; got")
      for f in (ndcg_score, map_score, recall_at_k) for k in (0, -1, np.int64(0))],
    (ndcg_score, {"ties": "mean"}, ValueError, "ties must be one of 'average', .*; got 'mean'"),
    (ndcg_score, {"ties": "averge"}, ValueError, "Did you mean 'average'"),
    (ndcg_score, {"ties": None}, ValueError, "ties must be one of .*; got None"),
    (ndcg_score, {"ties": True}, ValueError, "ties must be one of .*; got True"),
    (ndcg_score, {"gain": "exp"}, ValueError, "gain must be one of 'linear', 'exponential'"),
    (ndcg_score, {"gain": "exponental"}, ValueError, "Did you mean 'exponential'"),
    (ndcg_score, {"gain": None}, TypeError, "gain must be 'linear', .* or a callable; got None"),
    (ndcg_score, {"gain": 2}, TypeError, "gain must be 'linear'.*got 2"),
    (ndcg_score, {"gain": []}, TypeError, "gain must be 'linear'"),
    (ndcg_score, {"gain": [[0, 1], [2, 3]]}, TypeError, "gain must be 'linear'"),
    (ndcg_score, {"gain": ["a", "b"]}, TypeError, "gain must be 'linear'"),
    (ndcg_score, {"gain": {0: 0, 1: 1}}, TypeError, "gain must be 'linear'"),
    (ndcg_score, {"gain": [0, -1]}, ValueError, "gain must hold finite values of at least 0"),
    (ndcg_score, {"gain": [0, NAN]}, ValueError, "gain must hold finite values of at least 0"),
    (ndcg_score, {"gain": [0, INF]}, ValueError, "gain must hold finite values of at least 0"),
    (ndcg_score, {"gain": [1]}, ValueError, "gain has 1 entries, for integer labels 0 to 0; y"),
    (ndcg_score, {"gain": [0, 1], "y_true": Y / 2}, ValueError, "gain has 2 entries, for integer"),
    (ndcg_score, {"gain": [0, 1], "y_true": -Y}, ValueError, "gain has 2 entries, for integer"),
    (ndcg_score, {"gain": lambda y: -y}, ValueError, "gain callable returned a negative"),
    (ndcg_score, {"gain": lambda y: y * NAN}, ValueError, "gain callable returned a .*NaN"),
    (ndcg_score, {"gain": lambda y: 1.0}, ValueError, "gain callable must return one gain per"),
    (ndcg_score, {"gain": lambda y: y[:1]}, ValueError, "one gain per label: .* returned"),
    (ndcg_score, {"gain": lambda y: None}, (TypeError, ValueError), "gain callable"),
    (ndcg_score, {"y_true": -Y}, ValueError, "negative labels .smallest -1.*Shift"),
    (dcg_score, {"y_true": -Y}, ValueError, "negative labels .smallest -1.*Shift"),
    (ndcg_score, {"y_true": Y * 2000, "gain": "exponential"}, ValueError, "from 1024 on. Use"),
    (ndcg_score, {"y_true": Y * 1023, "gain": "exponential"}, ValueError, "sum .* not be finite"),
    (dcg_score, {"y_true": Y * 1.7e308}, ValueError, "sum over a query .*Rescale"),
    (dcg_score, {"y_true": Y * 1.7e308, "groups": [0, 0, 0, 0, 1]}, ValueError, "sum over a query"),
    (dcg_score, {"gain": [0, 1e308]}, ValueError, "sum over a query .*Rescale"),
    (dcg_score, {"gain": lambda y: y * 1e308}, ValueError, "sum over a query .*Rescale"),
    (ndcg_score, {"y_true": S - 0.5, "y_score": Y}, ValueError, "negative labels"),
    (ndcg_score, {"discount": "log"}, ValueError, "discount must be one of 'log2'.*Did you mean"),
    (ndcg_score, {"discount": 2}, ValueError, "discount must be one of"),
    (ndcg_score, {"discount": lambda r: -1.0 / r}, ValueError, "discount callable must return"),
    (ndcg_score, {"discount": lambda r: r * NAN}, ValueError, "discount callable must return"),
    (ndcg_score, {"discount": lambda r: np.where(r == 2, NAN, 1)}, ValueError, "discount call"),
    (ndcg_score, {"discount": lambda r: np.where(r == 2, -1, 1)}, ValueError, "discount call"),
    (ndcg_score, {"gain": lambda y: np.where(y == 1, NAN, 1)}, ValueError, "gain callable"),
    (ndcg_score, {"gain": lambda y: np.where(y == 1, -1, 1)}, ValueError, "gain callable returned"),
    (ndcg_score, {"gain": [0, 1, NAN]}, ValueError, "gain must hold finite values of at least 0"),
    (ndcg_score, {"discount": lambda r: 1.0}, ValueError, "discount callable must return"),
    (ndcg_score, {"discount": lambda r: None}, (TypeError, ValueError), "discount callable"),
    (map_score, {"threshold": NAN}, ValueError, "threshold must be finite; got nan"),
    (map_score, {"threshold": "1"}, TypeError, "threshold must be a number; got '1'"),
    (map_score, {"threshold": None}, TypeError, "threshold must be a number; got None"),
    (map_score, {"threshold": True}, TypeError, "threshold must be a number; got True"),
    (map_score, {"threshold": 1 + 2j}, TypeError, "threshold must be a number"),
    (map_score, {"threshold": 10**400}, ValueError, "threshold must be finite"),
    (map_score, {"denominator": "k"}, ValueError, "denominator must be one of 'min', 'relevant'"),
    (map_score, {"denominator": None}, ValueError, "denominator must be one of"),
    (precision_at_k, {"denominator": "n"}, ValueError, "denominator must be one of 'k', 'min'"),
    (f1_at_k, {"k": 2, "denominator": 2}, ValueError, "denominator must be one of"),
    (mrr_score, {"average": "micro"}, ValueError, "average='micro' is a ratio of sums.*use"),
    (err_score, {"y_true": Y * 9}, ValueError, r"y_true must lie in \[0, 4\] .max_grade.; got"),
    (err_score, {"y_true": Y - 1}, ValueError, r"y_true must lie in \[0, 4\]"),
    (err_score, {"y_true": Y * 2, "max_grade": None}, ValueError, r"must lie in \[0, 1\]"),
    (err_score, {"max_grade": -1}, ValueError, r"max_grade must be in \[0, 1023\]; got -1"),
    (err_score, {"max_grade": "4"}, TypeError, "max_grade must be a number"),
    (err_score, {"max_grade": 5000}, ValueError, "max_grade must be in"),
    (rbp_score, {"p": 1}, ValueError, "p must be below 1"),
    (rbp_score, {"p": 1.5}, ValueError, r"p must be in \[0, 1\]; got 1.5"),
    (rbp_score, {"p": -0.5}, ValueError, r"p must be in \[0, 1\]"),
    (rbp_score, {"p": NAN}, ValueError, r"p must be in \[0, 1\]; got nan"),
    (rbp_score, {"p": "0.8"}, TypeError, "p must be a number; got '0.8'"),
    (pfound_score, {"y_true": Y * 4}, ValueError, r"y_true must lie in \[0, 1\] .*probabilities"),
    (pfound_score, {"decay": 2}, ValueError, r"decay must be in \[0, 1\]; got 2"),
    (pfound_score, {"decay": None}, TypeError, "decay must be a number; got None"),
    (query_auc_score, {"ties": "half"}, ValueError, "ties must be one of"),
    (query_auc_score, {"k": 3}, TypeError, "unexpected keyword argument 'k'"),
    (spearman_score, {"ties": "average"}, TypeError, "unexpected keyword argument 'ties'"),
    (ndcg_score, {"K": 3}, TypeError, "unexpected keyword argument 'K'"),
]  # fmt: skip


@pytest.mark.parametrize(("function", "change", "error", "message"), OPTIONS)
def test_options(function, change, error, message):
    with pytest.raises(error, match=message):
        function(**good_call() | change)


@pytest.mark.parametrize("metric", METRICS)
def test_options_come_by_keyword(metric):
    with pytest.raises(TypeError, match="positional"):
        METRICS[metric].page(Y, S, G)


# ---- names

NAMES = [
    ("ndgc", ValueError, "not a known metric. Did you mean 'ndcg'"),
    ("ndgc@10", ValueError, "not a known metric. Did you mean 'ndcg'"),
    ("accuracy", ValueError, "'accuracy' is not a known metric.* Known are dcg, ndcg"),
    ("", ValueError, "'' is not the name of a metric. Names are written"),
    ("NDCG", ValueError, "is not the name of a metric"),
    ("ndcg@", ValueError, "cut-off after @ must be a positive integer, got ''"),
    ("ndcg@0", ValueError, "cut-off after @ must be a positive integer, got '0'"),
    ("ndcg@-1", ValueError, "cut-off after @ must be a positive integer"),
    ("ndcg@ten", ValueError, "cut-off after @ must be a positive integer, got 'ten'"),
    ("ndcg@1.5", ValueError, "cut-off after @ must be a positive integer"),
    ("ndcg@٣", ValueError, "cut-off after @ must be a positive integer"),
    ("ndcg@10@20", ValueError, "cut-off after @|not the name"),
    ("ndcg(", ValueError, "is not the name of a metric"),
    ("ndcg)k=1(", ValueError, "is not the name of a metric"),
    ("ndcg(k)", ValueError, "options are written option=value, got 'k'"),
    ("ndcg(=3)", ValueError, "options are written option=value"),
    ("ndcg(k=)", ValueError, "options are written option=value"),
    ("ndcg(k=3,k=4)", ValueError, "gives 'k' twice"),
    ("ndcg@3(k=4)", ValueError, "gives 'k' twice"),
    ("ndcg(gian=linear)", ValueError, "no option 'gian'; it has .* Did you mean 'gain'"),
    ("mrr(gain=linear)", ValueError, "'mrr' has no option 'gain'; it has k, threshold"),
    ("ndcg(gain=cubic)", ValueError, "gain must be one of"),
    ("query_auc@10", ValueError, "'query_auc' has no option 'k'"),
    ("ndcg(like=spark)", ValueError, "like must be one of 'sklearn', 'lightgbm'"),
    ("spearman(like=ranx)", ValueError, "like='ranx' knows no 'spearman'; it has"),
    ("mrr(average=micro)", ValueError, "average='micro' is a ratio of sums"),
    ("ndcg(average=mikro)", ValueError, "average must be one of .*Did you mean 'micro'"),
    ("ndcg(ties=nan)", ValueError, "ties must be one of"),
    ("ndcg(k=nan)", TypeError, "k must be a positive integer"),
    ("ndcg(k=2.0)", TypeError, "k must be a positive integer"),
    ("map(threshold=high)", TypeError, "threshold must be a number; got 'high'"),
    ("ndcg(n_jobs=2)", ValueError, "'ndcg' has no option 'n_jobs'"),
    ("ndcg(groups=qid)", ValueError, "'ndcg' has no option 'groups'"),
    (None, TypeError, "metric is a name|metrics"),
    (3, TypeError, "metric is a name|metrics"),
    ([3], TypeError, "a metric is a name such as 'ndcg@10'"),
    ([["ndcg"]], TypeError, "a metric is a name such as 'ndcg@10'"),
    ([None], TypeError, "a metric is a name such as 'ndcg@10'"),
    ([b"ndcg"], TypeError, "a metric is a name such as 'ndcg@10'"),
    ([{"metric": "ndcg"}], TypeError, "a metric is a name such as 'ndcg@10'"),
    ([], ValueError, "metrics is empty; name at least one"),
    (["ndcg", "ndcg"], ValueError, "metrics names 'ndcg' twice"),
    ([ndcg_score, "ndcg"], ValueError, "metrics names 'ndcg' twice"),
    (lambda block: 1.0, ValueError, "must return one value per query of the block"),
    (lambda block: block.by_rank(lambda y: y), ValueError, "must return one value per query"),
    (lambda block: None, ValueError, "must return one value per query"),
]


@pytest.mark.parametrize(("name", "error", "message"), NAMES)
def test_names(name, error, message):
    with pytest.raises(error, match=message):
        evaluate(Y, S, name, groups=G)


EVALUATE = [
    ({"gain": "linear", "metrics": "mrr"}, ValueError, "none of the metrics has an option 'gain'"),
    ({"gian": "linear"}, ValueError, "none of the metrics has an option 'gian'"),
    ({"y_true": -Y}, ValueError, "negative labels .smallest -1"),
    ({"y_true": Y * 9, "metrics": ["mrr", "err"]}, ValueError, r"must lie in \[0, 4\]"),
    ({"like": "lightbgm"}, ValueError, "like must be one of .*Did you mean 'lightgbm'"),
    ({"like": 3}, ValueError, "like must be one of"),
    ({"like": "lightgbm", "metrics": "err"}, ValueError, "like='lightgbm' knows no 'err'"),
    ({"average": "micro", "metrics": ["ndcg", "mrr"]}, ValueError, "average='micro' is a ratio"),
    ({"metrics": lambda block: block.sizes, "like": "ranx"}, ValueError, "functools.partial"),
    ({"metrics": lambda block: block.sizes, "k": 3}, ValueError, "has an option 'k'"),
    ({"k": 0}, ValueError, "k must be at least 1"),
]


@pytest.mark.parametrize(("change", "error", "message"), EVALUATE)
def test_evaluate(change, error, message):
    with pytest.raises(error, match=message):
        evaluate(**good_call() | {"metrics": "ndcg"} | change)


# ---- scorers, splitters, rankers, synthetic data

X, LABELS = make_ranking(n_queries=8, n_features=3, n_documents=5, as_frame=True, random_state=0)
FEATURES, IDS = X.drop(columns="qid"), X["qid"].to_numpy()
MODEL = Ridge().fit(FEATURES, LABELS)


def score_by(*args, X=FEATURES, y=LABELS, groups=None, **options):
    return make_ranking_scorer(*args, **options)(MODEL, X, y, groups=groups)


def score_bound(groups, X=FEATURES):
    return make_ranking_scorer("ndcg", groups=groups)(MODEL, X, LABELS)


def split_by(X=FEATURES, y=LABELS, groups=IDS, n_splits=3, **options):
    return list(QueryKFold(n_splits, **options).split(X, y, groups=groups))


def fit(estimator=None, y=LABELS, groups=IDS, X=FEATURES, **options):
    weights = options.pop("sample_weight", None)
    ranker = QueryRanker(Ridge() if estimator is None else estimator, **options)
    return ranker.fit(X, y, groups=groups, sample_weight=weights)


class TakesAnything:
    def fit(self, X, y, **params):
        return self


ROOMS = [
    (lambda: score_by("ndcg"), NoGroupsError, "No query ids reached .*'qid'.*groups=ids"),
    (lambda: score_by("ndcg", groups=IDS[:5]), ValueError, "one query id per document: got 5"),
    (lambda: score_bound("session"), NoGroupsError, "names no column or index level of X"),
    (lambda: score_bound(3), (TypeError, ValueError), "groups.*3"),
    (lambda: score_bound(IDS), (TypeError, ValueError), "groups"),
    (lambda: make_ranking_scorer("ndgc@10"), ValueError, "Did you mean 'ndcg'"),
    (lambda: make_ranking_scorer("ndcg@0"), ValueError, "cut-off after @ must be a positive"),
    (lambda: make_ranking_scorer(3), TypeError, "a metric is a name such as 'ndcg@10'"),
    (lambda: make_ranking_scorer("ndcg", k=0), ValueError, "k must be at least 1"),
    (lambda: make_ranking_scorer("ndcg", k="10"), TypeError, "k must be a positive integer"),
    (lambda: make_ranking_scorer("ndcg", gian="linear"), ValueError, "Did you mean 'gain'"),
    (lambda: make_ranking_scorer("ndcg", average=None), ValueError, "a scorer needs one number"),
    (lambda: make_ranking_scorer("mrr", average="micro"), ValueError, "no ratio; use"),
    (lambda: make_ranking_scorer(["ndcg"]), TypeError, "a metric is a name such as"),
    (
        lambda: cross_validate(Ridge(), FEATURES, LABELS, scoring="ndcg@0", cv=2),
        ValueError,
        "cut-off after @ must be a positive integer",
    ),
    (
        lambda: cross_validate(Ridge(), FEATURES, LABELS, scoring="ndcg@10", error_score="raise"),
        NoGroupsError,
        "No query ids reached",
    ),
    (lambda: split_by(groups=None), NoGroupsError, "No query ids reached QueryKFold"),
    (lambda: split_by(groups=IDS[:5]), ValueError, "one query id per document: got 5"),
    (lambda: split_by(groups=[5] * 8), ValueError, "one query id per document"),
    (lambda: split_by(groups=np.where(IDS == 3, np.nan, IDS)), ValueError, "missing values"),
    (lambda: split_by(n_splits=9), ValueError, "n_splits=9 is more than the number of queries, 8"),
    (lambda: split_by(y=None, contrast_only=True), ValueError, "contrast_only=True needs y"),
    (lambda: split_by(shuffle=True, random_state="x"), ValueError, "seed"),
    (lambda: QueryKFold(1), ValueError, "n_splits must be an integer of at least 2; got 1"),
    (lambda: QueryKFold(0), ValueError, "n_splits must be an integer of at least 2; got 0"),
    (lambda: QueryKFold(2.5), ValueError, "n_splits must be an integer of at least 2; got 2.5"),
    (lambda: QueryKFold("5"), ValueError, "n_splits must be an integer of at least 2; got '5'"),
    (lambda: QueryKFold(True), ValueError, "n_splits must be an integer of at least 2; got True"),
    (lambda: QueryKFold(None), ValueError, "n_splits must be an integer of at least 2; got None"),
    (lambda: fit(y=LABELS[:5]), ValueError, "inconsistent numbers of samples"),
    (lambda: fit(groups=IDS[:5]), ValueError, "one query id per document: got 5"),
    (lambda: fit(groups=[*IDS[:-1], None]), ValueError, "missing values"),
    (lambda: fit(TakesAnything()), (TypeError, ValueError), "group_param=|clone"),
    (lambda: fit(groups=None, group_param="qid"), NoGroupsError, "No query ids reached Ridge.fit"),
    (lambda: fit(groups_column=3), TypeError, "groups_column"),
    (lambda: fit(sample_weight=[1.0]), ValueError, "inconsistent numbers of samples"),
    (lambda: QueryRanker(Ridge()).predict(FEATURES), ValueError, "not fitted"),
    (lambda: QueryRanker(Ridge()).n_features_in_, AttributeError, "not fitted"),
    (lambda: fit().score(FEATURES, LABELS), NoGroupsError, "No query ids reached"),
    (lambda: make_ranking(0), ValueError, "n_queries must be .*at least 1; got 0"),
    (lambda: make_ranking(2.5), (TypeError, ValueError), "n_queries must be .*; got 2.5"),
    (lambda: make_ranking("3"), (TypeError, ValueError), "n_queries must be .*; got '3'"),
    (lambda: make_ranking(True), (TypeError, ValueError), "n_queries must be .*; got True"),
    (lambda: make_ranking(5, 0), ValueError, "n_features must be .*at least 1; got 0"),
    (lambda: make_ranking(5, n_documents=-1), ValueError, "n_documents must be .*got -1"),
    (lambda: make_ranking(5, n_informative=0), ValueError, "n_informative must be .*got 0"),
    (lambda: make_ranking(5, n_grades=1), ValueError, "n_grades must be .*at least 2; got 1"),
    (lambda: make_ranking(5, noise=-1), ValueError, "noise must be .*; got -1"),
    (lambda: make_ranking(5, noise=NAN), ValueError, "noise must be .*; got nan"),
    (lambda: make_ranking(5, query_effect="big"), (TypeError, ValueError), "query_effect must be"),
    (lambda: make_ranking(5, random_state="x"), ValueError, "seed"),
]


@pytest.mark.parametrize(("call", "error", "message"), ROOMS)
def test_rooms(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_the_tables_are_long():
    assert len(DATA) + len(OPTIONS) + len(NAMES) + len(EVALUATE) + len(ROOMS) >= 280
