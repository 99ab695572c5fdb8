"""`like=` gives the numbers of libraries for recommender systems, which are called here.

RecBole 1.2.1 does not run with NumPy 2, from which it takes `np.float`: its formulas are cited.
"""

from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix

from sklearn_rankscore import evaluate, from_frames, from_ranked_lists, from_trec

K = 4


def lists(seed=0, n_users=40, n_items=12, length=6):
    """Relevant items (some users have none) and distinct ranked items by user."""
    rng = np.random.default_rng(seed)

    def items(sizes):
        return {u: rng.choice(n_items, n, replace=False).tolist() for u, n in enumerate(sizes)}

    return items(rng.integers(0, 9, n_users)), items([length] * n_users)


def ours(like, names, actual, predicted):
    return evaluate(metrics=names, **from_ranked_lists(actual, predicted), like=like)


def test_implicit():
    evaluation = import_module("implicit.evaluation")
    actual, predicted = lists()
    rows = [(u, i) for u, relevant in actual.items() for i in relevant]
    u, i = np.array(rows).T
    test = csr_matrix((np.ones(len(u)), (u, i)), shape=(len(actual), 12))

    class Model:
        def recommend(self, users, _, N):
            ids = np.array([predicted[user][:N] for user in users], dtype=np.int32)
            return ids, np.zeros(ids.shape)

    theirs = evaluation.ranking_metrics_at_k(Model(), test, test, K=K, show_progress=False)
    expected = {f"{name}@{K}": theirs[name] for name in ("precision", "map", "ndcg")}
    assert ours("implicit", list(expected), actual, predicted) == pytest.approx(expected)


def frames(actual, predicted, user, item):
    truth = [(u, i, 1.0) for u, items in actual.items() for i in items]
    top = [(u, i, r) for u, items in predicted.items() for r, i in enumerate(items, start=1)]
    truth = pd.DataFrame(truth, columns=[user, item, "rating"])
    return truth, pd.DataFrame(top, columns=[user, item, "rank"])


# pandas 3 warns of an argument of the library
@pytest.mark.filterwarnings("ignore")
def test_recommenders():
    theirs = import_module("recommenders.evaluation.python_evaluation")
    truth, top = frames(*lists(1), "userID", "itemID")
    top["prediction"] = -top.pop("rank").astype(float)
    names = {"groups": "userID", "document": "itemID", "relevance": "rating"}
    documents = from_frames(truth, top, **names, score="prediction")
    functions = {
        "precision@4": theirs.precision_at_k,
        "recall@4": theirs.recall_at_k,
        "map@4": theirs.map_at_k,
        "ndcg@4": theirs.ndcg_at_k,
    }
    mine = evaluate(metrics=list(functions), **documents, like="recommenders")
    for name, function in functions.items():
        assert mine[name] == pytest.approx(function(truth, top, relevancy_method="top_k", k=K))


@pytest.mark.filterwarnings("ignore")
def test_rectools():
    metrics = import_module("rectools.metrics")
    truth, top = frames(*lists(2), "user_id", "item_id")
    documents = from_frames(truth, top, groups="user_id", document="item_id", rank="rank")
    theirs = {
        "precision@4": metrics.Precision(k=K),
        "recall@4": metrics.Recall(k=K),
        "hit_rate@4": metrics.HitRate(k=K),
        "map@4": metrics.MAP(k=K),
        "mrr@4": metrics.MRR(k=K),
        "ndcg@4": metrics.NDCG(k=K, divide_by_achievable=True),
    }
    mine = evaluate(metrics=list(theirs), **documents, like="rectools")
    for name, metric in theirs.items():
        assert mine[name] == pytest.approx(metric.calc(top, truth)), name


def test_recbole_by_its_formulas():
    """Recbole 1.2.1, recbole/evaluator/metrics.py, lines 62, 88, 126, 159, 186 and 227."""
    actual, predicted = lists(3)
    users = [u for u in actual if actual[u]]
    index = np.array([[i in actual[u] for i in predicted[u][:K]] for u in users])
    n = np.array([len(actual[u]) for u in users])
    ranks = np.arange(1, K + 1)
    precision = index.cumsum(axis=1) / ranks
    discounts = 1 / np.log2(ranks + 1)
    ideal = discounts.cumsum()[np.minimum(n, K) - 1]
    expected = {
        "hit_rate@4": (index.sum(axis=1) > 0).mean(),
        "mrr@4": np.mean([1 / (row.argmax() + 1) if row.any() else 0 for row in index]),
        "map@4": ((precision * index).sum(axis=1) / np.minimum(n, K)).mean(),
        "recall@4": (index.sum(axis=1) / n).mean(),
        "ndcg@4": ((index * discounts).sum(axis=1) / ideal).mean(),
        "precision@4": precision[:, -1].mean(),
    }
    assert ours("recbole", list(expected), actual, predicted) == pytest.approx(expected)


def test_beir():
    retrieval = import_module("beir.retrieval.evaluation")
    rng = np.random.default_rng(4)
    actual, predicted = lists(4)
    actual = {u: items for u, items in actual.items() if items}
    # two digits each, because BEIR's ties are by document id
    qrels = {str(u): {f"d{i:02}": 1 for i in items} for u, items in actual.items()}
    run = {
        str(u): {f"d{i:02}": float(rng.integers(0, 3)) for i in sorted(predicted[u])}
        for u in actual
    }
    evaluation = retrieval.EvaluateRetrieval
    ndcg, mean_ap, recall, precision = evaluation.evaluate(qrels, run, [K])
    theirs = {
        "ndcg@4": ndcg["NDCG@4"],
        "map@4": mean_ap["MAP@4"],
        "recall@4": recall["Recall@4"],
        "precision@4": precision["P@4"],
        "mrr@4": evaluation.evaluate_custom(qrels, run, [K], "mrr")["MRR@4"],
        "hit_rate@4": evaluation.evaluate_custom(qrels, run, [K], "accuracy")["Accuracy@4"],
    }
    documents = from_trec(qrels, run)
    mine = evaluate(metrics=list(theirs), **documents, like="beir")
    assert mine == pytest.approx(theirs, abs=5.1e-6)  # BEIR rounds to five decimals
    capped = evaluation.evaluate_custom(qrels, run, [K], "r_cap")["R_cap@4"]
    name = "recall@4(denominator=min,ties=stable)"
    assert evaluate(metrics=name, **documents)[name] == pytest.approx(capped, abs=5.1e-6)


def test_otto_by_its_formula():
    """The score of one type of event: hits among the first 20, over min(20, R), both summed."""
    actual, predicted = lists(5, n_items=60, length=30)
    actual = {u: items + list(range(100, 100 + 5 * (u % 6))) for u, items in actual.items()}
    hits = sum(len(set(actual[u]) & set(predicted[u][:20])) for u in actual)
    total = sum(min(20, len(items)) for items in actual.values())
    name = "recall@20(denominator=min,average=micro)"
    assert ours(None, name, actual, predicted) == pytest.approx({name: hits / total})
