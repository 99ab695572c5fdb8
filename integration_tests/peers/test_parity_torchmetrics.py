"""`like="torchmetrics"`, and the options that correspond to those of torchmetrics, called here.

Scores are within (0, 1] and distinct except for NDCG: torchmetrics drops documents with a score of
at most 0, breaks ties arbitrarily, and its AUROC applies a sigmoid in single precision to scores
outside [0, 1], which ties large ones.
"""

from importlib import import_module

import numpy as np
import pytest

from sklearn_rankscore import evaluate

pytestmark = pytest.mark.slow  # importing PyTorch takes seconds
K = 4
RNG = np.random.default_rng(0)
GROUPS = np.repeat(np.arange(60), RNG.integers(1, 12, 60))
GRADES = RNG.integers(0, 4, len(GROUPS)) * (GROUPS % 5 > 0)  # a fifth without relevant documents
BINARY = (GRADES > 1) | (GROUPS % 7 == 1)  # and some without others
SCORES = (RNG.permutation(len(GROUPS)) + 1.0) / len(GROUPS)


def theirs(name, y_true=BINARY, y_score=SCORES, **options):
    retrieval, torch = import_module("torchmetrics.retrieval"), import_module("torch")
    metric = getattr(retrieval, f"Retrieval{name}")(**options)
    value = metric(torch.tensor(y_score), torch.tensor(y_true), indexes=torch.tensor(GROUPS))
    return pytest.approx(float(value), rel=1e-6)


def ours(name, y_true=BINARY, y_score=SCORES, like="torchmetrics", **options):
    return evaluate(y_true, y_score, name, groups=GROUPS, like=like, **options)[name]


NAMES = {
    "map": "MAP",
    "mrr": "MRR",
    "precision": "Precision",
    "recall": "Recall",
    "hit_rate": "HitRate",
    "query_auc": "AUROC",
    "r_precision": "RPrecision",
}
WITH_CUTOFF = [name for name in NAMES if name not in ("query_auc", "r_precision")]


@pytest.mark.parametrize("name", NAMES)
def test_values(name):
    assert ours(name) == theirs(NAMES[name])


@pytest.mark.parametrize("k", [None, K])
def test_ndcg_with_ties(k):
    scores = np.ceil(SCORES * 4)
    value = ours("ndcg", GRADES, scores, k=k)
    assert value == theirs("NormalizedDCG", GRADES, scores, top_k=k)


@pytest.mark.parametrize("name", WITH_CUTOFF)
@pytest.mark.parametrize(("action", "value"), [("neg", 0), ("pos", 1), ("skip", np.nan)])
def test_empty_target_action(name, action, value):
    expected = theirs(NAMES[name], top_k=K, empty_target_action=action)
    assert ours(f"{name}@{K}", replace_undefined_by=value) == expected


def test_adaptive_k():
    expected = theirs("Precision", top_k=K, adaptive_k=True)
    assert ours(f"precision@{K}", denominator="min") == expected
    assert ours(f"precision@{K}") != expected


def test_aggregations():
    """Of the values of queries; torch takes the lower of two in the middle."""
    values = ours(f"recall@{K}", average=None)
    for name, share in {"min": 0, "median": 0.5, "max": 1}.items():
        value = np.quantile(values, share, method="lower")
        assert value == theirs("Recall", top_k=K, aggregation=name)


def test_fall_out():
    """The recall of irrelevant documents; a query without any counts 1, as theirs by default."""
    expected = theirs("FallOut", BINARY.astype(int), top_k=K)
    assert ours(f"recall@{K}", ~BINARY, like=None, replace_undefined_by=1) == expected


def test_ignore_index():
    """Documents with this label are left out, as those without a judgment."""
    labels = np.where(RNG.random(len(GROUPS)) < 0.2, -1, BINARY)
    unjudged = np.where(labels < 0, np.nan, labels)
    for name in WITH_CUTOFF:
        expected = theirs(NAMES[name], labels, top_k=K, ignore_index=-1)
        judged = np.isin(GROUPS, GROUPS[labels >= 0])  # theirs never sees the other queries
        rows = unjudged[judged], SCORES[judged], f"{name}@{K}(unjudged=drop)"
        (value,) = evaluate(*rows, groups=GROUPS[judged], like="torchmetrics").values()
        assert value == expected


def test_scores_up_to_zero_are_dropped():
    """A defect that `like` does not reproduce, unless their scores are -inf."""
    shifted = SCORES - np.median(SCORES)
    expected = theirs("Recall", y_score=shifted, top_k=K)
    assert ours(f"recall@{K}", y_score=np.where(shifted > 0, shifted, -np.inf)) == expected
    assert ours(f"recall@{K}", y_score=shifted) != expected
