"""`like=` gives the numbers of LightGBM, XGBoost and CatBoost, which are called here.

Not compared are defects: the NDCG of LightGBM and XGBoost on weighted
queries without relevant documents, which they count without their weight, and the weights that
CatBoost's MAP, PrecisionAt, RecallAt and QueryAUC ignore.
"""

import catboost
import lightgbm
import numpy as np
import pytest
import xgboost
from catboost.utils import eval_metric
from library_samples import CUTOFFS, Sample, assert_same

from sklearn_rankscore import evaluate


def at(*cutoffs):
    return ["", *(f"@{k}" for k in cutoffs)]


def test_samples_have_ties_and_undefined_queries(sample):
    pairs = sample.qid[1:] == sample.qid[:-1]
    assert (pairs & (np.diff(sample.score) == 0)).sum() > 20
    assert sample.empty("binary").sum() > 5
    assert (np.float32(sample.score) == sample.score).all()


def by_lightgbm(sample, metric, k, weight=None):
    options = {"objective": "lambdarank", "metric": metric, "eval_at": [k], "verbose": -1}
    data = lightgbm.Dataset(
        np.zeros((len(sample.y), 1)),
        sample.y,
        group=sample.sizes,
        init_score=sample.score,
        weight=weight,
        params=options,
    )
    return lightgbm.Booster(options, data).eval_train()[0][2]


@pytest.mark.parametrize("metric", ["ndcg", "map"])
@pytest.mark.parametrize("k", CUTOFFS)
def test_lightgbm(sample, metric, k):
    assert_same(by_lightgbm(sample, metric, k), sample, "graded", f"{metric}@{k}", "lightgbm")


def test_lightgbm_weighted(sample):
    w = sample.query_weights()
    theirs = by_lightgbm(sample, "map", 5, weight=w)
    assert_same(theirs, sample, "graded", "map@5", "lightgbm", sample_weight=w)
    full = sample.of_queries(~sample.empty())
    w = full.query_weights()
    theirs = by_lightgbm(full, "ndcg", 5, weight=w)
    assert_same(theirs, full, "graded", "ndcg@5", "lightgbm", sample_weight=w)


def by_xgboost(sample, labels, metric, *, weight=None, exponential=True):
    data = xgboost.DMatrix(
        np.zeros((len(sample.y), 1)),
        sample.labels[labels],
        group=sample.sizes,
        base_margin=sample.score,
        weight=weight,
    )
    options = {"objective": "rank:ndcg", "eval_metric": metric, "ndcg_exp_gain": exponential}
    return float(xgboost.Booster(options, [data]).eval(data).rpartition(":")[2])


XGBOOST = [
    ("ndcg{k}", "graded", "ndcg{k}"),
    ("ndcg{k}-", "graded", "ndcg{k}(replace_undefined_by=0)"),
    ("ndcg{k}", "graded", "ndcg{k}(gain=linear)"),
    ("ndcg{k}-", "graded", "ndcg{k}(gain=linear,replace_undefined_by=0)"),
    ("map{k}", "binary", "map{k}"),
    ("map{k}-", "binary", "map{k}(replace_undefined_by=0)"),
    ("pre{k}", "binary", "precision{k}"),
]


@pytest.mark.parametrize("k", at(*CUTOFFS, 40))
@pytest.mark.parametrize(("theirs", "labels", "ours"), XGBOOST)
def test_xgboost(sample, theirs, labels, ours, k):
    number = by_xgboost(sample, labels, theirs.format(k=k), exponential="linear" not in ours)
    assert_same(number, sample, labels, ours.format(k=k), "xgboost")


def test_xgboost_weighted(sample):
    full = sample.of_queries(~sample.empty("binary"))
    w = full.query_weights()
    by_query = w[np.cumsum(full.sizes) - 1]
    for labels, theirs, ours in [
        ("graded", "ndcg@5", "ndcg@5"),
        ("binary", "map@5", "map@5"),
        ("binary", "pre@5", "precision@5"),
    ]:
        number = by_xgboost(full, labels, theirs, weight=by_query)
        assert_same(number, full, labels, ours, "xgboost", sample_weight=w)


@pytest.mark.parametrize("labels", ["graded", "binary"])
def test_xgboost_auc(sample, labels):
    """It compares all pairs, of equal labels by row, and leaves out queries of two documents."""
    long = sample.of_queries(sample.sizes > 2)
    by_row = np.lexsort((-np.arange(len(long.y)), long.labels[labels]))
    ranked = Sample(np.argsort(by_row), long.score, long.qid)
    theirs = by_xgboost(sample, labels, "auc")
    assert_same(theirs, ranked, "graded", "pair_accuracy", None)


def test_xgboost_without_a_cutoff_means_32():
    sample = Sample(np.arange(40) == 34, -np.arange(40.0), np.zeros(40))
    assert evaluate(sample.y, sample.score, "ndcg", like="xgboost") == {"ndcg": 0.0}
    everything = "ndcg(like=xgboost,k=none)"
    assert evaluate(sample.y, sample.score, everything)[everything] > 0


def by_catboost(sample, labels, metric, weight=None):
    y = sample.labels[labels]
    return eval_metric(y, sample.score, metric, group_id=sample.qid, group_weight=weight)[0]


CATBOOST = [
    ("NDCG:top={k};type=Base", "graded", "ndcg{at}"),
    ("NDCG:top={k};type=Exp", "graded", "ndcg{at}(gain=exponential)"),
    ("NDCG:top={k};type=Base;denominator=Position", "graded", "ndcg{at}(discount=reciprocal)"),
    (
        "NDCG:top={k};type=Exp;denominator=Position",
        "graded",
        "ndcg{at}(gain=exponential,discount=reciprocal)",
    ),
    ("DCG:top={k};type=Base", "graded", "dcg{at}"),
    ("ERR:top={k}", "probability", "err{at}"),
    ("PFound:top={k};decay=0.85", "probability", "pfound{at}"),
    ("PFound:top={k};decay=0.5", "probability", "pfound{at}(decay=0.5)"),
    *(
        (theirs + ":top={k}", labels, ours + "{at}")
        for labels in ("graded", "binary", "probability")
        for theirs, ours in [
            ("MAP", "map"),
            ("MRR", "mrr"),
            ("PrecisionAt", "precision"),
            ("RecallAt", "recall"),
        ]
    ),
]


PAIRS = [
    ("QueryAUC:type=Classic", "binary", "query_auc"),
    ("QueryAUC:type=Ranking", "binary", "query_auc"),
    ("QueryAUC:type=Ranking", "graded", "pair_accuracy"),
]
CASES = [(case, k) for case in CATBOOST for k in (*CUTOFFS, None)] + [(case, 0) for case in PAIRS]


@pytest.mark.parametrize(("case", "k"), CASES)
def test_catboost(sample, case, k):
    theirs, labels, ours = case
    number = by_catboost(sample, labels, theirs.format(k=-1 if k is None else k))
    name = ours.format(at="" if k is None else f"@{k}")
    assert_same(number, sample, labels, name, "catboost")


NAMES = {  # in the notation of a library
    by_xgboost: [("ndcg-", "graded"), ("ndcg@3-", "graded"), ("map@3-", "binary")],
    by_catboost: [
        ("NDCG:top=3", "graded"),
        ("NDCG:top=3;type=Exp;denominator=Position;hints=skip_train~false", "graded"),
        ("NDCG:top=-1;type=Base;denominator=LogPosition", "graded"),
        ("DCG:type=Exp", "graded"),
        ("MAP:top=3;border=1", "graded"),
        ("MRR:top=2;border=1", "graded"),
        ("PrecisionAt:top=3", "graded"),
        ("RecallAt:top=3;border=2", "graded"),
        ("ERR:top=3", "probability"),
        ("PFound:top=3;decay=0.5", "probability"),
        ("QueryAUC:type=Classic", "binary"),
        ("QueryAUC:type=Ranking", "graded"),
        ("NDCG:top=-2", "graded"),
        ("NDCG:top=+3;use_weights=false", "graded"),
        ("PrecisionAt", "graded"),
        ("RecallAt", "graded"),
        ("PFound:decay=1e-1", "probability"),
        ("PFound:decay=0;top=3", "probability"),
        ("MAP:border=.5;top=2", "graded"),
    ],
}


@pytest.mark.parametrize("library", NAMES)
def test_names_as_the_library_writes_them(sample, library):
    assert sample.empty("graded").any()
    for theirs, labels in NAMES[library]:
        value = evaluate(sample.labels[labels], sample.score, theirs, groups=sample.qid)[theirs]
        assert value == pytest.approx(library(sample, labels, theirs), rel=1e-6), theirs


def test_xgboost_names_keep_given_options(sample):
    name = "ndcg@3-(gain=linear)"
    theirs = by_xgboost(sample, "graded", "ndcg@3-", exponential=False)
    ours = evaluate(sample.y, sample.score, name, groups=sample.qid)[name]
    assert ours == pytest.approx(theirs, rel=1e-6)


def test_catboost_pair_accuracy_of_given_pairs():
    """PairAccuracy is pooled over all queries and counts a tie as wrong."""
    rng = np.random.default_rng(0)
    qid = np.repeat(np.arange(20), rng.integers(1, 9, 20))
    y, X = rng.integers(0, 3, len(qid)), rng.integers(0, 3, (len(qid), 2))
    pairs = np.argwhere((qid[:, None] == qid) & (y[:, None] > y))
    pool = catboost.Pool(X, y, group_id=qid, pairs=pairs)
    model = catboost.CatBoostRanker(
        loss_function="PairLogit", iterations=3, depth=2, verbose=False, allow_writing_files=False
    ).fit(pool)
    (theirs,) = model.eval_metrics(pool, ["PairAccuracy"], ntree_start=0, eval_period=3).values()
    name = "pair_accuracy(ties=pessimistic,average=micro)"
    ours = evaluate(y, model.predict(pool), name, groups=qid)[name]
    assert ours == pytest.approx(theirs[-1], rel=1e-12)
    assert ours < evaluate(y, model.predict(pool), "pair_accuracy", groups=qid)["pair_accuracy"]


@pytest.mark.parametrize("row", [0, 1, 5, 6])
def test_catboost_weighted(sample, row):
    theirs, labels, ours = CATBOOST[row]
    w = sample.query_weights()
    number = by_catboost(sample, labels, theirs.format(k=3), weight=w)
    assert_same(number, sample, labels, ours.format(at="@3"), "catboost", sample_weight=w)


@pytest.mark.parametrize("like", ["lightgbm", "xgboost", "catboost"])
def test_a_query_without_relevant_documents_has_its_weight(like):
    """With weights 1 and 3 as in CatBoost; LightGBM 4.7 and XGBoost 3.2 give 0.407732."""
    sample = Sample(np.array([0, 1, 0, 0]), np.array([2.0, 1, 2, 1]), np.array([0, 0, 1, 1]))
    w = np.array([1.0, 1, 3, 3])
    theirs = by_catboost(sample, "graded", "NDCG:top=3;type=Exp", weight=w)
    assert theirs == pytest.approx((1 / np.log2(3) + 3) / 4)
    assert_same(theirs, sample, "graded", "ndcg@3", like, sample_weight=w)
