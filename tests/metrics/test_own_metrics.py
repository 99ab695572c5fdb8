"""Metrics that users register: names, options, scorers, other processes, and refusals."""

import copy
import importlib
import pickle
import sys

import numpy as np
import pandas as pd
import pytest
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV, cross_val_score

from sklearn_rankscore import (
    Block,
    QueryKFold,
    QueryRanker,
    evaluate,
    make_ranking,
    make_ranking_scorer,
    metric_names,
    query_scores,
    register_metric,
)
from sklearn_rankscore.metrics.definition import METRICS

Y, S, G = [3, 0, 1, 2, 0], [5.0, 4.0, 3.0, 1.0, 2.0], ["a", "a", "a", "b", "b"]


def gain_share(block, k, gain, ties, weight=1.0):
    """Share of the gain within the cut-off."""
    total = block.total(gain)
    return weight * block.by_rank(gain, ties)[:, :k].sum(axis=1), total, total > 0


def first_label(block):
    labels = block.by_rank(np.asarray, "stable")[:, 0]
    return np.where(labels > 0, labels, np.nan)


@pytest.fixture
def registered():
    return register_metric(
        "gain_share",
        gain_share,
        aliases="GS",
        ratio=True,
        limits=(0, 1),
        replace_undefined_by=0.5,
    )


class ByFirst(RegressorMixin, BaseEstimator):
    """Predicts its first feature."""

    def __init__(self, sign=1):
        self.sign = sign

    def fit(self, X, y):
        return self

    def predict(self, X):
        return self.sign * np.asarray(X)[:, 0]


# labels 3, 0, 1 by rank and 0, 2: shares 3/4 and 0 at 1; exponential 7/8 and 0
@pytest.mark.parametrize(
    ("name", "options", "expected"),
    [
        ("gain_share@1", {}, (3 / 4 + 0) / 2),
        ("GS@1", {"average": "micro"}, 3 / 6),
        ("gain-share@1(gain=exponential)", {}, 7 / 16),
        ("gain_share", {"k": 1, "weight": 2}, 3 / 4),
        ("gain_share@1(weight=0.5)", {}, 3 / 16),
        ("gain_share@1", {"sample_weight": [1, 1, 1, 3, 3]}, 3 / 16),
    ],
)
def test_a_name_of_ones_own_has_options_as_other_names(registered, name, options, expected):
    assert list(evaluate(Y, S, [name, "ndcg@1"], groups=G, **options)) == [name, "ndcg@1"]
    assert evaluate(Y, S, name, groups=G, **options)[name] == pytest.approx(expected)


def test_ties_defaults_and_undefined_queries(registered):
    assert registered([0, 4], [1, 1], groups="none", k=1) == 0.5
    assert registered([0, 4], [1, 1], groups="none", k=1, ties="stable") == 0
    assert registered([0, 0], [1, 2], groups="none") == 0.5
    assert np.isnan(registered([0, 0], [1, 2], groups="none", replace_undefined_by=np.nan))
    assert registered(Y, S, groups=G, k=1, average=None).tolist() == [0.75, 0]
    assert evaluate(Y, S, registered, groups=G, k=1) == evaluate(Y, S, "gain_share@1", groups=G)
    assert evaluate([np.nan, 1], [2, 1], "GS@1", unjudged="drop") == {"GS@1": 1}


def test_the_names_list_it(registered):
    assert metric_names()["gain_share"] == (("GS",), "Share of the gain within the cut-off.")
    with pytest.raises(ValueError, match=r"Did you mean 'gain_share@5'\?"):
        evaluate(Y, S, "gain_shar@5", groups=G)


def test_a_function_of_a_block_alone():
    register_metric("first_label", first_label)
    values = query_scores(Y, S, "first_label", groups=G)["first_label"]
    assert values.tolist() == [3, 0]  # undefined queries count 0 by default
    (mean,) = evaluate(Y, S, "first_label(replace_undefined_by=nan)", groups=G).values()
    assert mean == 3
    assert first_label(Block.from_lists([[2, 1]], [[1, 2]])).tolist() == [1]
    with pytest.raises(ValueError, match="has no option 'adjusted'"):
        evaluate(Y, S, "first_label(adjusted=true)", groups=G)


def test_where_scikit_learn_takes_a_scoring_string(registered):
    X, y, groups = make_ranking(30, n_documents=6, random_state=0)
    frame = pd.DataFrame(X, index=pd.Index(groups, name="qid"))
    expected = [
        evaluate(y[groups == q], X[groups == q, 0], "gain_share@2")["gain_share@2"]
        for q in np.unique(groups)
    ]
    folds = [(np.arange(len(y)), np.flatnonzero(groups == q)) for q in np.unique(groups)]
    ours = cross_val_score(ByFirst(), frame, y, scoring="gain_share@2", cv=folds)
    assert ours == pytest.approx(expected)
    grid, cv = {"estimator__sign": [1, -1]}, QueryKFold(2)
    search = GridSearchCV(QueryRanker(ByFirst()), grid, scoring="GS@2", cv=cv)
    assert search.fit(frame, y).best_score_ > 0


def test_intervals_know_the_limits():
    for name, limits in (("bounded", (0, 1)), ("unbounded", None)):
        register_metric(name, gain_share if limits else first_label, limits=limits)
    y, s = np.tile([3, 0, 0], (9, 1)), np.tile([3, 2, 1], (9, 1))
    intervals = query_scores(y, s, ["bounded", "unbounded"]).interval()
    assert 0 <= intervals["bounded"].low < intervals["bounded"].high == 1


def local_formula(factor):
    def last_label(block):
        return factor * block.by_rank(np.asarray, "stable")[:, -1]

    return last_label


def test_workers_of_joblib_compute_it(registered):
    """Loky sends formulas of notebooks along, by value, and those of a cell that ran again."""
    X, y = np.array([[3.0], [2.0]]), np.array([3, 1])
    with Parallel(2, backend="loky") as parallel:
        for factor in (1, 2):
            register_metric("last_label", local_formula(factor))
            for name, expected in (("gain_share@1", 3 / 4), ("last_label", factor)):
                scorer = make_ranking_scorer(name, groups="none")
                assert parallel([delayed(scorer)(ByFirst(), X, y)] * 2) == [expected] * 2


def test_what_workers_send_back_does_not_replace_it():
    """A fitted search holds its scorer, whose formula returns as a copy."""
    function = register_metric("last_label", local_formula(1))
    scorer = make_ranking_scorer("last_label", groups="none")
    for returned in Parallel(2, backend="loky")([delayed(copy.copy)(scorer)] * 2):
        assert returned(ByFirst(), [[3.0], [2.0]], [3, 1]) == 1
    assert evaluate([3, 1], [2, 1], function) == {"last_label": 1}
    assert METRICS["last_label"].function is function


def test_the_function_is_pickled_and_registered_again(registered):
    scorer = make_ranking_scorer("GS@1", groups="none")
    stored = pickle.dumps((registered, scorer))
    for function, sent in (pickle.loads(stored), pickle.loads(stored)):
        assert function(Y, S, groups=G, k=1) == 3 / 8
        assert sent.resolved.definition.aliases == ("GS",)
    again = register_metric("gain_share", gain_share, limits=(0, 2))
    assert METRICS["gain_share"].function is again
    assert repr(again) == "<registered metric 'gain_share'>"
    with pytest.raises(ValueError, match="'GS' is not a known metric"):
        evaluate(Y, S, "GS", groups=G)


@pytest.fixture
def of_a_module(tmp_path, monkeypatch):
    """A function that has taken the name of its formula, as in the guide."""
    formula = "def first(block):\n    return block.by_rank(lambda labels: labels)[:, 0]\n"
    call = "from sklearn_rankscore import register_metric\nfirst = register_metric('first', first)"
    (tmp_path / "metrics_of_mine.py").write_text(formula + call)
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("metrics_of_mine").first
    del sys.modules["metrics_of_mine"]


@pytest.mark.parametrize("name", ["registered", "of_a_module"])
def test_copies_are_the_function(name, request):
    function = request.getfixturevalue(name)
    for copied in (copy.copy, copy.deepcopy, lambda f: pickle.loads(pickle.dumps(f))):
        assert copied(function) is function
    get_scorer(function.__name__)  # which copies
    assert evaluate(Y, S, function, groups="none") == evaluate(
        Y, S, function.__name__, groups="none"
    )
    scorer = make_ranking_scorer(function, groups="none")
    assert pickle.loads(pickle.dumps(scorer))(ByFirst(), [[3.0], [2.0]], [3, 1]) > 0


def other(block, beta):
    return block.total(np.sign)


@pytest.mark.parametrize(
    ("given", "error", "match"),
    [
        (("ndcg", first_label), ValueError, "^the name 'ndcg' is taken by the metric 'ndcg'"),
        (("n_d_c_g", first_label), ValueError, "'n_d_c_g' is taken by the metric 'ndcg'"),
        (("recip_rank", first_label), ValueError, "taken by the metric 'mrr'"),
        (("gain_share", first_label), ValueError, "taken by the metric 'gain_share'"),
        (("gs", first_label), ValueError, "taken by the metric 'gain_share'"),
        (("r2", first_label), ValueError, "'r2' is taken by a scorer of scikit-learn"),
        (("auc", first_label), ValueError, "taken because it may mean 'query_auc'"),
        (("precision_at_5", first_label), ValueError, "because it is read as 'precision@5'"),
        (("mine_at_5", first_label), ValueError, "because it is read as 'mine@5'"),
        (("Q@10", first_label), ValueError, r"^'Q@10' is not the name of a metric: names have"),
        (("a" * 10**6, first_label, "("), ValueError, r"^'\(' is not the name of a metric"),
        (("", first_label), ValueError, "'' is not the name of a metric"),
        ((3, first_label), ValueError, "3 is not the name of a metric"),
        (("new", "ndcg"), TypeError, "a formula is a function of a block .* got 'ndcg'"),
        (("new", lambda *blocks: 0), TypeError, "a formula is a function of a block"),
        (("new", first_label, "Q", (1, 0)), ValueError, "lowest and the highest value; got"),
        (("new", first_label, "Q", (0, np.inf)), ValueError, "limits must be finite; got inf"),
        (("new", other), ValueError, "the option 'beta' of the formula needs a default"),
        (("new", lambda b, denominator: 0), ValueError, "default, the first of denominators="),
        *(
            (("new", eval(f"lambda block, {name}: 0")), ValueError, f"has no parameter '{name}'")
            for name in ("groups", "target", "like", "average", "y_true", "propensity")
        ),
    ],
)
def test_refusals(registered, given, error, match):
    known = list(METRICS)
    with pytest.raises(error, match=match) as raised:
        register_metric(*given[:2], aliases=given[2:3], limits=[*given[3:], None][0])
    assert len(str(raised.value)) < 300
    assert list(METRICS) == known


def test_options_are_checked(registered):
    register_metric("no_ratio", first_label)
    with pytest.raises(ValueError, match="average='micro' requires a metric that is a ratio"):
        evaluate(Y, S, "no_ratio", groups=G, average="micro")
    for wrong, match in (
        ({"k": 0}, "k must be at least 1"),
        ({"gain": "exp"}, "gain must be one of"),
        (
            {"gian": "linear"},
            r"gain_share\(\) got an unexpected .* 'gian'. Did you mean 'gain'",
        ),
        ({"ties": "best"}, "ties must be one of"),
        ({"propensity": [1] * 5}, "unexpected keyword argument 'propensity'"),
    ):
        with pytest.raises((ValueError, TypeError), match=match):
            registered(Y, S, groups=G, **wrong)
    with pytest.raises(ValueError, match="'gain_share' takes no propensity: it is not known to be"):
        evaluate(Y, S, "gain_share", groups=G, propensity=[1] * 5)
    with pytest.raises(ValueError, match="like='trec_eval' has no 'gain_share'"):
        evaluate(Y, S, "gain_share", groups=G, like="trec_eval")
    with pytest.raises(ValueError, match="y_true has negative labels"):
        registered([-1, 1], [1, 2], groups="none")
