"""Metric names: aliases, case, spellings of other libraries, and the errors of misspelt names."""

import time

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.metrics import get_scorer, get_scorer_names
from sklearn.model_selection import cross_validate

from sklearn_rankscore import (
    evaluate,
    make_ranking,
    make_ranking_scorer,
    metric_names,
    query_scores,
)
from sklearn_rankscore.metrics.names import METRICS, names_metric, parse_name, with_cutoff

# what users of other libraries write, and the same in the words of this one
SPELLINGS = {
    "NDCG@10": "ndcg@10",
    "nDCG": "ndcg",
    "P@5": "precision@5",
    "R@5": "recall@5",
    "success@5": "hit_rate@5",
    "HR@10": "hit_rate@10",
    "hit-rate@10": "hit_rate@10",
    "_ndcg": "ndcg",
    "ndcg__at_10": "ndcg@10",
    "recip_rank": "mrr",
    "RR@10": "mrr@10",
    "AP@100": "map@100",
    "MAP(threshold=1)": "map(threshold=1)",
    "ndcg_cut_10": "ndcg@10",
    "P_10": "precision@10",
    "map_cut_10": "map@10",
    "Rprec": "r_precision",
    "ndcg_at_10": "ndcg@10",
    "hit_rate_at_1": "hit_rate@1",
    "GAUC": "query_auc",
    "QueryAUC": "query_auc",
    "spearmanr": "spearman",
    "nDCG @ 10 ( Gain = Exponential )": "ndcg@10(gain=exponential)",
    "P_10(threshold=1)": "precision@10(threshold=1)",
    "P(rel=2)@5": "precision@5(threshold=1)",
    "AP(rel=1)": "map(threshold=0)",
    "RBP(p=0.9,rel=2)@5": "rbp@5(p=0.9, threshold=1)",
    "RBP(rel=2,like=ranx)@5": "rbp@5(threshold=1, gain=binary, like=ranx)",
    "nDCG(gain=exponential)@5": "ndcg@5(gain=exponential)",
    "rbp.95": "rbp(p=0.95)",
    "set_P": "precision",
    "SetR": "recall",
    "relative_P_5(threshold=1)": "precision@5(threshold=1, denominator=attainable)",
    "NDCG:top=10;type=Exp": "ndcg@10(gain=exponential, like=catboost)",
    "NDCG:top=-1;denominator=Position;hints=x": "ndcg(discount=reciprocal, like=catboost)",
    "PrecisionAt:top=5": "precision@5(like=catboost)",
    "MAP:top=3;border=0": "map@3(threshold=0, like=catboost)",
    "QueryAUC:type=Classic": "query_auc(like=catboost)",
    "QueryAUC:type=Ranking": "pair_accuracy(like=catboost)",
    "ndcg@10-": "ndcg@10(replace_undefined_by=0, like=xgboost)",
    "MAP-(k=3)": "map@3(replace_undefined_by=0, like=xgboost)",
}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    return rng.integers(0, 2, 300), rng.normal(size=300), rng.integers(0, 9, 300)


@pytest.mark.parametrize(("spelling", "name"), SPELLINGS.items())
def test_a_spelling_is_the_metric_that_it_names(spelling, name, data):
    y_true, y_score, groups = data
    expected = evaluate(y_true, y_score, name, groups=groups)
    # the result is found under what was asked for
    assert evaluate(y_true, y_score, spelling, groups=groups) == {spelling: expected[name]}
    scores = query_scores(y_true, y_score, spelling, groups=groups)
    assert scores.mean() == {spelling: pytest.approx(expected[name])}
    model = Ridge().fit(y_score[:, None], y_true)
    by_name = make_ranking_scorer(name)  # scikit-learn has a "precision" of its own
    given = model, y_score[:, None], y_true
    assert get_scorer(spelling)(*given, groups=groups) == by_name(*given, groups=groups)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("ndgc@10", "'ndgc@10' is not a known metric. Did you mean 'ndcg@10'"),
        ("mean_average_precison@5", "Did you mean 'mean_average_precision@5'"),
        ("ndcg10", "Did you mean 'ndcg@10'"),
        ("top_k_accuracy@3", "several meanings: use 'hit_rate@k'"),
        ("kendal@5", r"Did you mean 'kendall_tau'\?"),
        ("roc_auc@5", "Did you mean 'group_auc'"),
        ("num_rel_ret", "several meanings: use 'hits', the mean .* trec_eval prints the sum"),
        ("bpref5", r"Did you mean 'bpref'\?"),
        ("ndcg_10", "Did you mean 'ndcg@10'"),
        ("ndcg_score", "Did you mean 'ndcg'"),
        ("ndgc@10(gain=exponential)", r"Did you mean 'ndcg@10\(gain=exponential\)'"),
        ("foo@3", "'foo@3' is not a known metric. Known are map, mrr"),
        ("@3", "'@3' is not the name of a metric. Names are written"),
        ("auc", "several meanings: use 'query_auc'.*'roc_auc'"),
        ("accuracy@5", "several meanings: use 'hit_rate'.*'query_auc'"),
        ("P", "'P' needs a cut-off, such as 'P@5'"),
        ("ndcg_cut", "'ndcg_cut' needs a cut-off, such as 'ndcg_cut@5', or is 'ndcg'"),
        ("map_cut_10@5", "Did you mean 'map@10'"),
        ("ndcg@0-", "must be a positive integer, got '0-'"),
        ("-ndcg", "'-ndcg' is not a known metric. Did you mean 'ndcg'"),
        ("ndcg@" + "1" * 5000, "^'ndcg@1+ is not the name of a metric"),
    ],
)
def test_a_misspelt_name_is_answered_with_the_nearest_of_this_package(name, message, data):
    y_true, y_score, groups = data
    with pytest.raises(ValueError, match=message):
        evaluate(y_true, y_score, name, groups=groups)
    with pytest.raises(ValueError, match=message):
        get_scorer(name)
    X, y = make_ranking(n_queries=9, as_frame=True, random_state=0)
    for scoring in (name, [name], {"a": name}):
        with pytest.raises(ValueError, match=message):
            cross_validate(Ridge(), X, y, scoring=scoring, cv=3)


OF_OTHERS = """
    mae mape rmse mse logloss accurcy r2_score roc_acu f1_scor precison recal foo loss default
    neg_log_los average_precison R2 Accuracy ROC_AUC
"""


@pytest.mark.parametrize("name", OF_OTHERS.split())
def test_other_names_are_left_to_scikit_learn(name):
    """Also those that resemble a name of both, or differ from one in case."""
    with pytest.raises(ValueError, match="is not a valid scoring value"):
        get_scorer(name)
    assert not names_metric(name, get_scorer_names())


def test_names_of_columns_keep_blanks_and_case():
    parsed = dict(parse_name("ndcg@10( groups = Session  Id , gain=exponential)")[1])
    assert parsed == {"k": 10, "groups": "Session  Id", "gain": "exponential"}
    X, y = make_ranking(n_queries=30, as_frame=True, random_state=0)
    model = Ridge().fit(X.to_numpy(), y)
    model.predict = lambda X: X["feature_0"] if "feature_0" in X else X.iloc[:, 1]
    named = X.rename(columns={"qid": "Session  Id"})
    score = get_scorer("ndcg@10(groups=Session  Id)")(model, named, y)
    assert score == get_scorer("ndcg@10")(model, X, y)


def test_with_cutoff():
    assert with_cutoff("MAP (threshold=1)", 5) == "map@5(threshold=1)"
    assert with_cutoff("AP", 3) == "map@3"


def test_metric_names_lists_every_metric_with_its_aliases():
    names = metric_names()
    assert list(names) == list(METRICS)
    for name, (aliases, meaning) in names.items():
        assert meaning.endswith(".")
        assert "\n" not in meaning
        for alias in aliases:
            assert parse_name(f"{alias}@5")[0] == name
        assert f"\n{name} " in repr(names)
        assert meaning in repr(names)
    # no spelling means two metrics
    spellings = [a.lower().replace("_", "") for n in names for a in (n, *names[n].aliases)]
    assert len(spellings) == len(set(spellings))


def test_a_dict_gives_metrics_other_names(data):
    y, s, groups = data
    metrics = {"ndcg@10": "ndcg@10(gain=exponential)", "first": "map@1", "own": own}
    plain = evaluate(y, s, [*metrics.values()], groups=groups)
    assert evaluate(y, s, metrics, groups=groups) == dict(zip(metrics, plain.values(), strict=True))
    scores = query_scores(y, s, metrics, groups=groups)
    assert scores.mean() == pytest.approx(dict(zip(metrics, plain.values(), strict=True)))


def own(block):
    return block.by_rank(lambda labels: labels)[:, 0]


LONG = "a" * 10**6
MILLIONS = [
    *(({"metrics": name}, "is not the name of a metric")
      for name in (LONG, "ndcg@" * 10**5, "ndcg(" + "k=1," * 10**5 + ")")),
    *(({option: LONG}, f"{option} must be one of")
      for option in ("ties", "gain", "unjudged", "average", "like")),
]  # fmt: skip


@pytest.mark.parametrize(("given", "message"), MILLIONS)
def test_a_million_letters_are_refused_at_once(given, message):
    start = time.perf_counter()
    with pytest.raises(ValueError, match=message) as error:
        evaluate([0, 1], [1, 2], **{"metrics": "ndcg"} | given)
    assert time.perf_counter() - start < 0.5  # 12 s when a name was compared with known ones
    assert len(str(error.value)) < 500


def test_a_scoring_string_of_millions_of_letters_is_left_to_scikit_learn_at_once():
    start = time.perf_counter()
    assert not names_metric("a" * 10**7, get_scorer_names())
    assert time.perf_counter() - start < 0.5  # 7 s when it was compared with known names
