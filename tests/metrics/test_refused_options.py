"""Wrong options and names of metrics: the type and text of the error."""

import fractions
import math
import re
from functools import partial

import numpy as np
import pandas as pd
import pytest

from sklearn_rankscore import (
    Block,
    dcg_score,
    err_score,
    evaluate,
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

NAN, INF = np.nan, np.inf
Y = np.array([1, 0, 1, 0, 1])
S = np.array([0.3, 0.2, 0.1, 0.9, 0.4])
G = np.array([0, 0, 0, 1, 1])


def good_call():
    return {"y_true": Y, "y_score": S, "groups": G}


OPTIONS = [
    *[(f, {"k": k}, TypeError, f"k must be a positive integer or None .*; got {re.escape(shown)}")
      for f in (ndcg_score, precision_at_k, mrr_score)
      for k, shown in (
          *((k, repr(k)) for k in (True, 2.5, 10.0, "10", [10], fractions.Fraction(4))),
          (np.float64(3), "3.0"), (np.bool_(True), "True"),
      )],
    *[(f, {"k": k}, ValueError, "k must be at least 1, or None for no cut-off; got")
      for f in (ndcg_score, map_score, recall_at_k) for k in (0, -1, np.int64(0))],
    (ndcg_score, {"ties": "averge"}, ValueError, "one of 'average', .*Did you mean 'average'"),
    (ndcg_score, {"gain": "exponental"}, ValueError, "one of 'linear', .*mean 'exponential'"),
    (ndcg_score, {"gain": None}, TypeError, "gain must be 'linear', .* or a callable; got None"),
    (ndcg_score, {"gain": [[0, 1], [2, 3]]}, TypeError, "gain must be 'linear'"),
    (ndcg_score, {"gain": {0: 0, 2: 1}}, ValueError, "each label from 0 to the highest; .* 0, 2"),
    (ndcg_score, {"gain": pd.Series([1, 2], ["a", "b"])}, ValueError, "labels 'a', 'b'"),
    (ndcg_score, {"gain": ["0", "1"]}, TypeError, r"numbers by integer label \(a sequence, a dict"),
    (dcg_score, {"gain": lambda y: 2 if y > 1 else 0}, TypeError, "gain callable .* numpy.vector"),
    (dcg_score, {"gain": math.sqrt}, TypeError, "gain callable must take an array and return one"),
    (dcg_score, {"discount": lambda r: 1 if r < 3 else 0}, TypeError, "discount callable must"),
    (ndcg_score, {"gain": [0, -1]}, ValueError, "gain must hold finite values of at least 0"),
    (ndcg_score, {"gain": [0, INF]}, ValueError, "gain must hold finite values of at least 0"),
    (ndcg_score, {"gain": [1]}, ValueError, "gain has 1 entries, for integer labels 0 to 0; y"),
    (ndcg_score, {"gain": [0, 1], "y_true": Y / 2}, ValueError, r"gain has 2 .* the label 0\.5\."),
    (ndcg_score, {"gain": [0, 1], "y_true": -Y}, ValueError, r"gain has 2 .* the label -"),
    (ndcg_score, {"gain": lambda y: -y}, ValueError, "gain callable returned a negative"),
    (ndcg_score, {"gain": lambda y: y * NAN}, ValueError, "gain callable returned a .*NaN"),
    (ndcg_score, {"gain": lambda y: 1.0}, ValueError, "gain callable must return one value per"),
    (ndcg_score, {"gain": lambda y: y[:1]}, ValueError, "one value per label: .* returned"),
    (ndcg_score, {"gain": lambda y: None}, (TypeError, ValueError), "gain callable"),
    (ndcg_score, {"y_true": -Y}, ValueError, "negative labels .smallest -1.*Shift"),
    (ndcg_score, {"y_true": Y * 1023, "gain": "exponential"}, ValueError, "sum .* not be finite"),
    (dcg_score, {"y_true": Y * 1.7e308}, ValueError, "sum may not be finite.*Rescale"),
    (dcg_score, {"gain": [0, 1e308]}, ValueError, "sum may not be finite.*Rescale"),
    (dcg_score, {"gain": lambda y: y * 1e308}, ValueError, "sum may not be finite.*Rescale"),
    (ndcg_score, {"discount": "log"}, ValueError, "discount must be one of 'log2'.*Did you mean"),
    (ndcg_score, {"discount": lambda r: -1.0 / r}, ValueError, "discount callable"),
    (ndcg_score, {"gain": lambda y: np.where(y == 1, -1, 1)}, ValueError, "gain callable returned"),
    (ndcg_score, {"discount": lambda r: 1.0}, ValueError, "discount callable"),
    (precision_at_k, {"threshold": -1, "unjudged": "irrelevant"}, ValueError, "negative threshold"),
    (precision_at_k, {"unjudged": "dropp"}, ValueError, "one of 'error'.*Did you mean 'drop'"),
    (map_score, {"threshold": NAN}, ValueError, "threshold must be finite; got nan"),
    *[(map_score, {"threshold": t, "unjudged": "irrelevant"}, TypeError, "be a number")
      for t in ("1", None)],
    (map_score, {"threshold": "1"}, TypeError, "threshold must be a number; got '1'"),
    (map_score, {"threshold": True}, TypeError, "threshold must be a number; got True"),
    (map_score, {"threshold": 10**400}, ValueError, "threshold must be finite"),
    (map_score, {"denominator": "k"}, ValueError, "denominator must be one of 'min', 'relevant'"),
    (precision_at_k, {"denominator": "n"}, ValueError, "denominator must be one of 'k', 'min'"),
    (mrr_score, {"average": "micro"}, ValueError, "average='micro' requires .*ratio of sums.*use"),
    (err_score, {"y_true": Y * 9}, ValueError, r"y_true must lie in \[0, 4\] .max_grade.; got"),
    (err_score, {"y_true": Y * 2, "max_grade": None}, ValueError, r"must lie in \[0, 1\]"),
    (err_score, {"max_grade": -1}, ValueError, r"max_grade must be in \[0, 1023\]; got -1"),
    (rbp_score, {"normalize": "yes"}, TypeError, "normalize must be True or False; got 'yes'"),
    (precision_at_k, {"k": 10**30}, ValueError, "k must be at most [0-9]+, or None for no cut-off"),
    (precision_at_k, {"k": -(10**5000)}, ValueError, "at least 1, .* thousands of digits"),
    (rbp_score, {"p": 1}, ValueError, "p must be below 1"),
    (rbp_score, {"p": 1.5}, ValueError, r"p must be in \[0, 1\]; got 1.5"),
    (pfound_score, {"y_true": Y * 4}, ValueError, r"y_true must lie in \[0, 1\] .*probabilities"),
    (pfound_score, {"decay": 2}, ValueError, r"decay must be in \[0, 1\]; got 2"),
    (query_auc_score, {"k": 3}, TypeError, "unexpected keyword argument 'k'"),
    (spearman_score, {"ties": "average"}, TypeError, "unexpected keyword argument 'ties'"),
]  # fmt: skip


@pytest.mark.parametrize(("function", "change", "error", "message"), OPTIONS)
def test_wrong_options_are_refused(function, change, error, message):
    with pytest.raises(error, match=message):
        function(**good_call() | change)


NAMES = [
    ("", ValueError, "'' is not the name of a metric. Names are written"),
    ("ndcg@", ValueError, "cut-off after @ must be a positive integer, got ''"),
    ("ndcg@0", ValueError, "cut-off after @ must be a positive integer, got '0'"),
    ("ndcg@٣", ValueError, "cut-off after @ must be a positive integer"),
    ("ndcg@10@20", ValueError, "cut-off after @|not the name"),
    ("ndcg(", ValueError, "is not the name of a metric"),
    ("ndcg(k)", ValueError, "options are written option=value, .* got 'k'"),
    ("ndcg@5(gain=[0,1,3])", ValueError, r"written option=value, of numbers and words; got '1'"),
    ("ndcg(k=)", ValueError, "options are written option=value"),
    ("ndcg@3(k=4)", ValueError, "gives 'k' twice"),
    ("ndcg(gian=linear)", ValueError, "'ndcg' has no option 'gian'; .* Did you mean 'gain'"),
    ("mrr(gain=linear)", ValueError, "'mrr' has no option 'gain'; there are k, threshold"),
    ("ndcg(like=spark)", ValueError, "like must be one of 'sklearn', 'lightgbm'"),
    ("spearman(like=ranx)", ValueError, "like='ranx' has no 'spearman'; it has"),
    ("map(denominator=hits,average=micro)", ValueError, "average='micro' requires .* options"),
    ("ndcg(average=mikro)", ValueError, "average must be one of .*Did you mean 'micro'"),
    ("ndcg(k=nan)", TypeError, "k must be a positive integer"),
    ("ndcg(n_jobs=2)", ValueError, "'ndcg' has no option 'n_jobs'"),
    (3, TypeError, "metric is a name|metrics"),
    ([3], TypeError, "a metric is a name such as 'ndcg@10'"),
    ([], ValueError, "metrics is empty; name at least one"),
    ("ndcg@10, mrr", ValueError, r"got '10, mrr'. Give several as a list, such as \['ndcg@5'"),
    ("ndcg@[5,10]", ValueError, r"got '\[5,10\]'. Give several as a list"),
    ("ndcg,mrr", ValueError, "'ndcg,mrr' is not the name of a metric. Give several as a list"),
    ({"ndcg": [5, 10]}, TypeError, r"a metric is a name such as 'ndcg@10'.*got \[5, 10\]"),
    ({"ndcg": 10, "mrr": "mrr"}, TypeError, "a metric is a name such as 'ndcg@10'.*got 10"),
    (["ndcg", "ndcg"], ValueError, "metrics names 'ndcg' twice"),
    ([ndcg_score, "ndcg"], ValueError, "metrics names 'ndcg' twice"),
    (lambda block: 1.0, ValueError, "must return one value per query of the block"),
    (lambda block: block.by_rank(lambda y: y), ValueError, "must return one value per query"),
    (lambda block: None, ValueError, "must return one value per query"),
]


EVALUATE = [
    *(({"metrics": name}, error, message) for name, error, message in NAMES),
    ({"gain": "linear", "metrics": "mrr"}, ValueError, "'mrr' has no option 'gain'"),
    (
        {"gian": "linear", "metrics": ["ndcg", "mrr"]},
        ValueError,
        "none of the metrics has an option 'gian'; .* Did you mean 'gain'",
    ),
    ({"qid": G}, ValueError, "no option 'qid'.* Pass the query ids of the rows as groups="),
    (
        {"metrics": [partial(ndcg_score, gain="binary"), "map"], "gain": "linear"},
        ValueError,
        "gain='linear' contradicts the metric 'ndcg', which sets it to 'binary'. Leave one of them",
    ),
    ({"like": "lightbgm"}, ValueError, "like must be one of .*Did you mean 'lightgbm'"),
    ({"like": "lightgbm", "metrics": "err"}, ValueError, "like='lightgbm' has no 'err'"),
    (
        {"average": "micro", "metrics": ["ndcg", "mrr"]},
        ValueError,
        "average='micro' requires a metric that is a ratio",
    ),
    (
        {"metrics": lambda block: block.sizes, "like": "ranx"},
        ValueError,
        "like='ranx' has no '<lambda>",
    ),
    ({"metrics": lambda block: block.sizes, "k": 3}, ValueError, "has no option 'k'"),
]


@pytest.mark.parametrize(("change", "error", "message"), EVALUATE)
def test_evaluate_refuses(change, error, message):
    with pytest.raises(error, match=message):
        evaluate(**good_call() | {"metrics": "ndcg"} | change)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("ndcg@10", {"k": 2}, "k=2 contradicts the metric 'ndcg', which sets it to 10"),
        ("map@5", {"k": None}, "k=None contradicts"),
        ("ndcg(gain=linear)", {"gain": np.array([0.0, 1, 3])}, "contradicts the metric 'ndcg'"),
    ],
)
def test_options_that_contradict_a_name_are_refused(name, options, message):
    with pytest.raises(ValueError, match=message):
        make_ranking_scorer(name, **options)
    with pytest.raises(ValueError, match=message):
        evaluate(Y, S, name, groups=G, **options)


def test_a_block_refuses_an_unknown_tie_rule():
    block = Block.from_lists([[0, 1]], [[1.0, 1.0]])
    for ask in (lambda: block.by_rank(np.asarray, ties="avg"), lambda: block.tie_groups("avg")):
        with pytest.raises(ValueError, match=r"ties must be one of .*; got 'avg'"):
            ask()


@pytest.mark.parametrize("kind", [list, tuple, np.array])
def test_a_metric_may_return_any_sequence_of_three_values(kind):
    given = {"groups": [1, 2, 3], "average": None}
    expected = np.array([0.5, 0.25, 1])

    def metric(block):
        return kind(expected[block.queries])

    (values,) = evaluate([0, 1, 1], [1, 2, 3], metric, **given).values()
    np.testing.assert_array_equal(values, expected)
    with pytest.raises(ValueError, match="one value per query"):
        evaluate([0, 1, 1], [1, 2, 3], lambda _: kind([0.5, 0.25, 1]), groups=[1, 1, 3])
