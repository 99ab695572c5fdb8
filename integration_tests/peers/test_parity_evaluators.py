"""`like=` gives the numbers of trec_eval, ranx, scikit-learn and scipy, which are called here."""

import warnings

import numpy as np
import pytest
import pytrec_eval
import ranx
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from library_samples import CUTOFFS, Sample, assert_same
from scipy.stats import kendalltau, spearmanr
from sklearn import metrics

from sklearn_rankscore import evaluate


def as_judgements_and_run(sample):
    """Labels and scores as dicts by query and document; a run omits documents scored -inf."""
    judgements, run = {}, {}
    for row, (y, score, qid) in enumerate(zip(sample.y, sample.score, sample.qid, strict=True)):
        judgements.setdefault(str(qid), {})[f"d{row:06d}"] = int(y)
        if score > -np.inf:
            run.setdefault(str(qid), {})[f"d{row:06d}"] = float(score)
    return judgements, run


def by_trec_eval(sample, *measures):
    judgements, run = as_judgements_and_run(sample)
    measured = pytrec_eval.RelevanceEvaluator(judgements, set(measures)).evaluate(run)
    names = [measure.replace(".", "_") for measure in measures]
    assert len(measured) == len(judgements)
    return [np.mean([values[name] for values in measured.values()]) for name in names]


TREC_EVAL = {
    "ndcg": "ndcg",
    "map": "map",
    "recip_rank": "mrr",
    "Rprec": "r_precision",
    "num_rel_ret": "hits",
    **{name: name for name in ("set_P", "set_recall", "set_F")},
    **{
        f"{theirs}.{k}": f"{ours}@{k}"
        for k in CUTOFFS
        for theirs, ours in [
            ("ndcg_cut", "ndcg"),
            ("map_cut", "map"),
            ("P", "precision"),
            ("recall", "recall"),
            ("success", "hit_rate"),
        ]
    },
    **{f"relative_P.{k}": f"relative_P_{k}" for k in CUTOFFS},
}


@pytest.mark.parametrize("labels", ["graded", "binary"])
def test_trec_eval(sample, labels):
    judged = Sample(sample.labels[labels], sample.score, sample.qid)
    for theirs, ours in zip(by_trec_eval(judged, *TREC_EVAL), TREC_EVAL.values(), strict=True):
        assert_same(theirs, judged, "graded", ours, "trec_eval")


def without_some_documents(sample):
    """Every third document is not retrieved, except for the first of a query."""
    first = np.append(True, sample.qid[1:] != sample.qid[:-1])
    lost = (np.arange(len(sample.y)) % 3 == 0) & ~first
    return Sample(sample.y, np.where(lost, -np.inf, sample.score), sample.qid)


def test_trec_eval_with_documents_not_retrieved(sample):
    partial = without_some_documents(sample)
    for theirs, ours in zip(by_trec_eval(partial, *TREC_EVAL), TREC_EVAL.values(), strict=True):
        assert_same(theirs, partial, "graded", ours, "trec_eval")


def test_rbp_of_trec_eval_10_has_p_of_nine_tenths(sample):
    """From its formula, because pytrec_eval has no RBP; relevant documents have gain 1."""
    rows = np.lexsort((-np.arange(len(sample.y)), -sample.score, sample.qid))
    starts = np.cumsum(sample.sizes) - sample.sizes
    ranks = np.arange(len(rows)) - np.repeat(starts, sample.sizes)
    gains = sample.labels["binary"][rows] * 0.1 * 0.9**ranks
    theirs = np.add.reduceat(gains, starts).mean()
    assert_same(theirs, sample, "binary", "rbp", "trec_eval")


@pytest.mark.parametrize("labels", [[0, 3, 1, 2, 0], [0, 1, 1, 0, 0], [0, 0, 0, 0, 0]])
def test_rbp_of_trec_eval_10_divides_labels_by_the_highest_of_the_query(labels):
    """As in the outputs published with trec_eval 10 (rbp of out.test.aq and out.test.aql)."""
    labels = np.array([4, *labels])  # the highest one was judged and not retrieved
    scores = np.array([-np.inf, 5, 4, 3, 2, 1])
    for judged in (labels, labels[1:]):
        gains = judged[-5:] / max(1, judged.max())
        expected = (gains * 0.1 * 0.9 ** np.arange(5)).sum()
        given = {"y_true": judged, "y_score": scores[-len(judged) :]}
        value = evaluate(**given, metrics="rbp", like="trec_eval")["rbp"]
        assert value == pytest.approx(expected, rel=1e-14)


def by_ranx(sample, *measures):
    judgements, run = as_judgements_and_run(sample)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="unsafe cast from uint64 to int64")
        measured = ranx.evaluate(ranx.Qrels(judgements), ranx.Run(run), list(measures))
    return [float(measured[measure]) for measure in measures]


AT = ["", *(f"@{k}" for k in CUTOFFS)]
CUT = ("dcg", "ndcg", "map", "mrr", "precision", "recall", "f1", "hits", "hit_rate")
RANX = {
    **{name + at: name + at for name in CUT for at in AT},
    **{f"ndcg_burges{at}": f"ndcg{at}(gain=exponential)" for at in AT},
    "r-precision": "r_precision",
    **{f"rbp.{percent}": f"rbp(p={percent / 100})" for percent in (50, 80, 95)},
}


def test_ranx(sample):
    """From 16 documents on its sort is unstable, so longer queries are compared without ties."""
    for clear in (sample.of_queries(sample.sizes <= 15), sample.untied()):
        for theirs, ours in zip(by_ranx(clear, *RANX), RANX.values(), strict=True):
            assert_same(theirs, clear, "graded", ours, "ranx")


def test_ranx_with_documents_not_retrieved(sample):
    partial = without_some_documents(sample.untied())
    for theirs, ours in zip(by_ranx(partial, *RANX), RANX.values(), strict=True):
        assert_same(theirs, partial, "graded", ours, "ranx")


@st.composite
def rectangles(draw, *, ties):
    shape = draw(st.tuples(st.integers(1, 4), st.integers(2, 9)))
    y_true = draw(arrays(np.int64, shape, elements=st.integers(0, 4)))
    if ties:
        return y_true, draw(arrays(np.float64, shape, elements=st.sampled_from([-1.5, 0, 0.1, 2])))
    orders = st.permutations(range(shape[1]))
    return y_true, np.array([draw(orders) for _ in range(shape[0])]) / 4


KS = st.sampled_from([1, 2, 3, 5, 10, None])
FUNCTIONS = {"ndcg": metrics.ndcg_score, "dcg": metrics.dcg_score}


@pytest.mark.parametrize("name", FUNCTIONS)
@given(data=rectangles(ties=True), k=KS)
def test_sklearn_averages_ties(name, data, k):
    ours = evaluate(*data, name, k=k, like="sklearn")[name]
    assert ours == pytest.approx(FUNCTIONS[name](*data, k=k), rel=1e-6)


@pytest.mark.parametrize("name", FUNCTIONS)
@given(data=rectangles(ties=False), k=KS)
def test_sklearn_without_ties_to_average(name, data, k):
    for ties in ("average", "stable", "optimistic", "pessimistic"):
        ours = evaluate(*data, name, k=k, like="sklearn", ties=ties)[name]
        assert ours == pytest.approx(FUNCTIONS[name](*data, k=k, ignore_ties=True), rel=1e-6)


@pytest.mark.parametrize("name", FUNCTIONS)
@given(data=rectangles(ties=True), k=KS)
def test_sklearn_ignores_ties_within_the_bounds(name, data, k):
    """Its `ignore_ties=True` ranks tied documents in an arbitrary order."""
    theirs = FUNCTIONS[name](*data, k=k, ignore_ties=True)
    worst, best = (
        evaluate(*data, name, k=k, ties=ties)[name] for ties in ("pessimistic", "optimistic")
    )
    assert worst - 1e-9 <= theirs <= best + 1e-9


@pytest.mark.parametrize("base", [2, 10])
@given(data=rectangles(ties=True), k=KS, weights=st.lists(st.integers(1, 3), min_size=4))
def test_sklearn_weights_and_bases(base, data, k, weights):
    w = np.array(weights[: len(data[0])], dtype=float)
    ours = evaluate(*data, "dcg", k=k, like="sklearn", sample_weight=w)["dcg"]
    theirs = metrics.dcg_score(*data, k=k, sample_weight=w, log_base=base)
    assert ours * np.log(base) / np.log(2) == pytest.approx(theirs, rel=1e-6)


def by_query(sample, labels, function):
    """The value of a function for each query."""
    y = sample.labels[labels]
    rows = [np.flatnonzero(sample.qid == q) for q in np.unique(sample.qid)]
    return np.array([function(y[r], sample.score[r]) for r in rows])


def test_sklearn_ndcg_by_query(sample):
    full = sample.of_queries(sample.sizes > 1)
    for k in (*CUTOFFS, None):
        theirs = by_query(full, "graded", lambda y, s, k=k: metrics.ndcg_score([y], [s], k=k))
        ours = evaluate(full.y, full.score, "ndcg", groups=full.qid, k=k, average=None)["ndcg"]
        np.testing.assert_allclose(ours, theirs, rtol=1e-6)


def test_sklearn_roc_auc_by_query(sample):
    def auc(y, score):
        return metrics.roc_auc_score(y, score) if len(set(y)) > 1 else np.nan

    theirs = by_query(sample, "binary", auc)
    y = sample.labels["binary"]
    for like in ("sklearn", None):
        (ours,) = evaluate(
            y, sample.score, "query_auc", groups=sample.qid, average=None, like=like
        ).values()
        np.testing.assert_allclose(ours, theirs, rtol=1e-6)
    assert_same(np.nanmean(theirs), sample, "binary", "query_auc", "sklearn")


@pytest.mark.parametrize(
    ("name", "function"), [("kendall_tau", kendalltau), ("spearman", spearmanr)]
)
def test_scipy_correlations_by_query(sample, name, function):
    def correlation(y, score):
        varied = len(set(y)) > 1 and len(set(score)) > 1
        return function(y, score).statistic if varied else np.nan

    theirs = by_query(sample, "graded", correlation)
    (ours,) = evaluate(sample.y, sample.score, name, groups=sample.qid, average=None).values()
    np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-12)
