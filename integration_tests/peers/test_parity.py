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


def test_samples_have_ties_and_undefined_queries(sample):
    pairs = sample.qid[1:] == sample.qid[:-1]
    assert (pairs & (np.diff(sample.score) == 0)).sum() > 20
    assert sample.empty("binary").sum() > 5
    assert (np.float32(sample.score) == sample.score).all()


def by_lightgbm(sample, labels, metric, weight=None):
    name, k = metric.split("@")
    options = {"objective": "lambdarank", "metric": name, "eval_at": [int(k)], "verbose": -1}
    given = {"group": sample.sizes, "init_score": sample.score, "weight": weight}
    X = np.zeros((len(sample.y), 1))
    data = lightgbm.Dataset(X, sample.labels[labels], params=options, **given)
    return lightgbm.Booster(options, data).eval_train()[0][2]


def by_xgboost(sample, labels, metric, weight=None, *, exponential=True):
    of_query = None if weight is None else weight[np.cumsum(sample.sizes) - 1]
    given = {"group": sample.sizes, "base_margin": sample.score, "weight": of_query}
    data = xgboost.DMatrix(np.zeros((len(sample.y), 1)), sample.labels[labels], **given)
    options = {"objective": "rank:ndcg", "eval_metric": metric, "ndcg_exp_gain": exponential}
    return float(xgboost.Booster(options, [data]).eval(data).rpartition(":")[2])


def by_xgboost_linear(sample, labels, metric, weight=None):
    return by_xgboost(sample, labels, metric, weight, exponential=False)


def by_catboost(sample, labels, metric, weight=None):
    y = sample.labels[labels]
    return eval_metric(y, sample.score, metric, group_id=sample.qid, group_weight=weight)[0]


LIKE = {
    by_lightgbm: "lightgbm",
    by_xgboost: "xgboost",
    by_xgboost_linear: "xgboost",
    by_catboost: "catboost",
}
# labels, the name of the library, and ours; {at} is a cut-off
LIGHTGBM = [("graded", "ndcg{at}", "ndcg{at}"), ("graded", "map{at}", "map{at}")]
XGBOOST = [
    ("graded", "ndcg{at}", "ndcg{at}"),
    ("graded", "ndcg{at}-", "ndcg{at}(replace_undefined_by=0)"),
    ("binary", "map{at}", "map{at}"),
    ("binary", "map{at}-", "map{at}(replace_undefined_by=0)"),
    ("binary", "pre{at}", "precision{at}"),
]
LINEAR = [
    ("graded", "ndcg{at}", "ndcg{at}(gain=linear)"),
    ("graded", "ndcg{at}-", "ndcg{at}(gain=linear,replace_undefined_by=0)"),
]
BY_POSITION = "NDCG:top={k};type=Exp;denominator=Position"
CATBOOST = [
    ("graded", "NDCG:top={k};type=Base", "ndcg{at}"),
    ("graded", "NDCG:top={k};type=Exp", "ndcg{at}(gain=exponential)"),
    ("graded", "NDCG:top={k};type=Base;denominator=Position", "ndcg{at}(discount=reciprocal)"),
    ("graded", BY_POSITION, "ndcg{at}(gain=exponential,discount=reciprocal)"),
    ("graded", "DCG:top={k};type=Base", "dcg{at}"),
    ("probability", "ERR:top={k}", "err{at}"),
    ("probability", "PFound:top={k};decay=0.85", "pfound{at}"),
    ("probability", "PFound:top={k};decay=0.5", "pfound{at}(decay=0.5)"),
]
BINARY = {"MAP": "map", "MRR": "mrr", "PrecisionAt": "precision", "RecallAt": "recall"}
CATBOOST += [
    (labels, theirs + ":top={k}", ours + "{at}")
    for labels in ("graded", "binary", "probability")
    for theirs, ours in BINARY.items()
]
PAIRS = [
    ("binary", "QueryAUC:type=Classic", "query_auc"),
    ("binary", "QueryAUC:type=Ranking", "query_auc"),
    ("graded", "QueryAUC:type=Ranking", "pair_accuracy"),
]
CASES = [
    (library, labels, *(of.format(at=f"@{k}" if k else "", k=k or -1) for of in names))
    for library, table, cutoffs in [
        (by_lightgbm, LIGHTGBM, CUTOFFS),
        (by_xgboost, XGBOOST, (None, *CUTOFFS, 40)),
        (by_xgboost_linear, LINEAR, (None, *CUTOFFS, 40)),
        (by_catboost, CATBOOST, (*CUTOFFS, None)),
        (by_catboost, PAIRS, (None,)),
    ]
    for labels, *names in table
    for k in cutoffs
]


@pytest.mark.parametrize(("library", "labels", "theirs", "ours"), CASES)
def test_numbers(sample, library, labels, theirs, ours):
    number = library(sample, labels, theirs)
    assert_same(number, sample, labels, ours, LIKE[library])
    if ":" in theirs or theirs.endswith("-"):  # a name that no other library has
        name = theirs + "(gain=linear)" if library == by_xgboost_linear else theirs
        given = sample.labels[labels], sample.score, name
        assert evaluate(*given, groups=sample.qid) == {name: pytest.approx(number, rel=1e-6)}


SPELLINGS = [
    ("graded", BY_POSITION.format(k=3) + ";hints=skip_train~false"),
    ("graded", "NDCG:top=-1;type=Base;denominator=LogPosition"),
    ("graded", "NDCG:top=-2"),
    ("graded", "NDCG:top=+3;use_weights=false"),
    ("graded", "DCG:type=Exp"),
    ("graded", "MAP:top=3;border=1"),
    ("graded", "MAP:border=.5;top=2"),
    ("graded", "MRR:top=2;border=1"),
    ("graded", "PrecisionAt"),
    ("graded", "RecallAt:top=3;border=2"),
    ("probability", "PFound:decay=1e-1"),
    ("probability", "PFound:decay=0;top=3"),
]


def test_spellings_of_catboost(sample):
    for labels, name in SPELLINGS:
        given = sample.labels[labels], sample.score, name
        number = pytest.approx(by_catboost(sample, labels, name), rel=1e-6)
        assert evaluate(*given, groups=sample.qid) == {name: number}


# and whether queries without relevant documents have their weight
WEIGHTED = [
    (by_lightgbm, "graded", "map@5", "map@5", True),
    (by_lightgbm, "graded", "ndcg@5", "ndcg@5", False),
    (by_xgboost, "graded", "ndcg@5", "ndcg@5", False),
    (by_xgboost, "binary", "map@5", "map@5", False),
    (by_xgboost, "binary", "pre@5", "precision@5", False),
    *((by_catboost, labels, *(of.format(k=3, at="@3") for of in names), True)
      for labels, *names in (CATBOOST[at] for at in (0, 1, 5, 6))),
]  # fmt: skip


@pytest.mark.parametrize(("library", "labels", "theirs", "ours", "of_all"), WEIGHTED)
def test_weighted_numbers(sample, library, labels, theirs, ours, of_all):
    of_queries = sample if of_all else sample.of_queries(~sample.empty("binary"))
    w = of_queries.query_weights()
    number = library(of_queries, labels, theirs, w)
    assert_same(number, of_queries, labels, ours, LIKE[library], sample_weight=w)


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


@pytest.mark.parametrize("like", ["lightgbm", "xgboost", "catboost"])
def test_a_query_without_relevant_documents_has_its_weight(like):
    """With weights 1 and 3 as in CatBoost; LightGBM 4.7 and XGBoost 3.2 give 0.407732."""
    sample = Sample(np.array([0, 1, 0, 0]), np.array([2.0, 1, 2, 1]), np.array([0, 0, 1, 1]))
    w = np.array([1.0, 1, 3, 3])
    theirs = by_catboost(sample, "graded", "NDCG:top=3;type=Exp", weight=w)
    assert theirs == pytest.approx((1 / np.log2(3) + 3) / 4)
    assert_same(theirs, sample, "graded", "ndcg@3", like, sample_weight=w)
