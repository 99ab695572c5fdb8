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

from sklearn_rankscore import evaluate, from_trec


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


def without_some_documents(sample):
    """Every third document is not retrieved, except for the first of a query."""
    first = np.append(True, sample.qid[1:] != sample.qid[:-1])
    lost = (np.arange(len(sample.y)) % 3 == 0) & ~first
    return Sample(sample.y, np.where(lost, -np.inf, sample.score), sample.qid)


@pytest.mark.parametrize("kind", ["graded", "binary", "documents not retrieved"])
def test_trec_eval(sample, kind):
    if kind == "documents not retrieved":
        judged = without_some_documents(sample)
    else:
        judged = Sample(sample.labels[kind], sample.score, sample.qid)
    for theirs, ours in zip(by_trec_eval(judged, *TREC_EVAL), TREC_EVAL.values(), strict=True):
        assert_same(theirs, judged, "graded", ours, "trec_eval")


def test_rbp_of_trec_eval_10(sample):
    """From its formula, because pytrec_eval has no RBP: p is .9, and the gain is the label divided
    by the highest of the query, also of documents that were not retrieved."""
    partial = without_some_documents(sample)
    rows = np.lexsort((-np.arange(len(partial.y)), -partial.score, partial.qid))
    starts = np.cumsum(partial.sizes) - partial.sizes
    ranks = np.arange(len(rows)) - np.repeat(starts, partial.sizes)
    highest = np.repeat(np.maximum(1, np.maximum.reduceat(partial.y, starts)), partial.sizes)
    retrieved = partial.score[rows] > -np.inf
    gains = partial.y[rows] / highest * retrieved * 0.1 * 0.9**ranks
    theirs = np.add.reduceat(gains, starts).mean()
    assert_same(theirs, partial, "graded", "rbp", "trec_eval")


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
    short, untied = sample.of_queries(sample.sizes <= 15), sample.untied()
    for clear in (short, untied, without_some_documents(untied)):
        for theirs, ours in zip(by_ranx(clear, *RANX), RANX.values(), strict=True):
            assert_same(theirs, clear, "graded", ours, "ranx")


def test_ranx_bpref(sample):
    """Of queries with both kinds of documents, by whose numbers it divides."""
    relevant = np.add.reduceat(sample.y > 0, np.cumsum(sample.sizes) - sample.sizes)
    clear = sample.untied().of_queries((relevant > 0) & (relevant < sample.sizes))
    theirs, _ = by_ranx(clear, "bpref", "map")
    assert_same(theirs, clear, "graded", "bpref", "ranx")
    judgements, run = as_judgements_and_run(clear)
    documents = from_trec(ranx.Qrels(judgements), ranx.Run(run))
    assert evaluate(metrics="bpref", **documents) == {"bpref": pytest.approx(theirs, rel=1e-6)}


@st.composite
def rectangles(draw):
    shape = draw(st.tuples(st.integers(1, 4), st.integers(2, 9)))
    y_true = draw(arrays(np.int64, shape, elements=st.integers(0, 4)))
    return y_true, draw(arrays(np.float64, shape, elements=st.sampled_from([-1.5, 0, 0.1, 2])))


KS = st.sampled_from([1, 2, 3, 5, 10, None])


@given(data=rectangles(), k=KS)
def test_sklearn_averages_ties(data, k):
    ours = evaluate(*data, "ndcg", k=k, like="sklearn")["ndcg"]
    assert ours == pytest.approx(metrics.ndcg_score(*data, k=k), rel=1e-6)


@pytest.mark.parametrize("base", [2, 10])
@given(data=rectangles(), k=KS, weights=st.lists(st.integers(1, 3), min_size=4))
def test_sklearn_weights_and_bases(base, data, k, weights):
    w = np.array(weights[: len(data[0])], dtype=float)
    ours = evaluate(*data, "dcg", k=k, like="sklearn", sample_weight=w)["dcg"]
    theirs = metrics.dcg_score(*data, k=k, sample_weight=w, log_base=base)
    assert ours * np.log(base) / np.log(2) == pytest.approx(theirs, rel=1e-6)


BY_QUERY = {
    "query_auc": ("binary", metrics.roc_auc_score),
    "kendall_tau": ("graded", lambda y, score: kendalltau(y, score).statistic),
    "spearman": ("graded", lambda y, score: spearmanr(y, score).statistic),
}


@pytest.mark.parametrize("name", BY_QUERY)
def test_pairs_and_correlations_by_query(sample, name):
    labels, function = BY_QUERY[name]
    y, given, theirs = sample.labels[labels], {"groups": sample.qid, "average": None}, []
    for query in np.unique(sample.qid):
        rows = sample.qid == query
        varied = len(set(y[rows])) > 1 and (name == "query_auc" or len(set(sample.score[rows])) > 1)
        theirs.append(function(y[rows], sample.score[rows]) if varied else np.nan)
    for like in ("sklearn", None) if name == "query_auc" else (None,):
        (ours,) = evaluate(y, sample.score, name, like=like, **given).values()
        np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-12)
    if name == "query_auc":
        assert_same(np.nanmean(theirs), sample, labels, name, "sklearn")
