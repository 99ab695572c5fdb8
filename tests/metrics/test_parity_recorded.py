"""`like=` gives recorded numbers of eight libraries, on one real data set and on small cases.

These are the only comparisons with rax (0.4.0), whose dependencies are large.
"""

import json
import re
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from sklearn_rankscore import evaluate
from sklearn_rankscore.metrics.conventions import CONVENTIONS

KS = [1, 5, 10]
NAMES = ("ndcg", "map", "mrr", "precision", "recall")
TORCHMETRICS = ("NormalizedDCG", "MAP", "MRR", "Precision", "Recall")
RAX = ("ndcg_metric", "ap_metric", "mrr_metric", "precision_metric", "recall_metric")
TREC_EVAL = {
    "ndcg_cut_{k}": "ndcg@{k}",
    "map_cut_{k}": "map@{k}",
    "P_{k}": "precision@{k}",
    "recall_{k}": "recall@{k}",
    "success_{k}": "hit_rate@{k}",
    "ndcg": "ndcg",
    "map": "map",
    "recip_rank": "mrr",
    "Rprec": "r_precision",
}
CATBOOST = {
    "NDCG:top={k};type=Base": "ndcg@{k}",
    "NDCG:top={k};type=Exp": "ndcg@{k}(gain=exponential)",
    "NDCG:top={k};type=Exp;denominator=Position": "ndcg@{k}(gain=exponential,discount=reciprocal)",
    "MAP:top={k}": "map@{k}",
    "MRR:top={k}": "mrr@{k}",
    "PrecisionAt:top={k}": "precision@{k}",
    "RecallAt:top={k}": "recall@{k}",
}


@pytest.fixture(scope="module")
def ranked(data_path):
    """Labels, scores and query ids, scored by a LGBMRanker of ten trees."""
    csv = data_path / "recorded" / "lightgbm_rank_test.csv"
    qid, y_true, y_score = np.loadtxt(csv, delimiter=",", skiprows=1, unpack=True)
    return y_true.astype(int), y_score, qid


@pytest.fixture(scope="module")
def recorded(data_path):
    return json.loads((data_path / "recorded" / "lightgbm_rank_test.json").read_text())


def value(data, name, like, **options):
    y_true, y_score, groups = data
    (score,) = evaluate(y_true, y_score, name, groups=groups, like=like, **options).values()
    return score


def rounded(theirs):
    """A number of a library, recorded with six decimals."""
    return pytest.approx(theirs, abs=5.1e-7)


@pytest.mark.parametrize("k", KS)
def test_rax(ranked, recorded, k):
    for theirs, ours in zip(RAX, NAMES, strict=True):
        number = recorded[f"rax@{k} (segments)"][theirs]
        assert value(ranked, f"{ours}@{k}", "rax") == rounded(number)


@pytest.mark.parametrize("k", KS)
def test_torchmetrics_ndcg(ranked, recorded, k):
    number = recorded[f"torchmetrics@{k}"]["RetrievalNormalizedDCG:neg"]
    assert value(ranked, f"ndcg@{k}", "torchmetrics") == rounded(number)


@pytest.mark.parametrize("k", KS)
def test_torchmetrics_drops_scores_up_to_zero(ranked, recorded, k):
    """A defect that `like` does not reproduce: documents scored 0 or less are not retrieved.

    torchmetrics breaks ties by the order that its sort gives, here input order.
    """
    y_true, y_score, groups = ranked
    dropped = y_true, np.where(y_score > 0, y_score, -np.inf), groups
    for theirs, ours in list(zip(TORCHMETRICS, NAMES, strict=True))[1:]:
        number = recorded[f"torchmetrics@{k}"][f"Retrieval{theirs}:neg"]
        assert value(dropped, f"{ours}@{k}", "torchmetrics", ties="stable") == rounded(number)
        assert value(ranked, f"{ours}@{k}", "torchmetrics") > number + 0.005


@pytest.mark.parametrize("k", KS)
def test_boosters(ranked, recorded, k):
    for name in (f"ndcg@{k}", f"map@{k}"):
        assert value(ranked, name, "lightgbm") == rounded(recorded[f"lightgbm@{k}"][name])
    for gain, title in (("linear", "lin"), ("exponential", "exp")):
        number = recorded[f"xgboost {title}@{k}"][f"ndcg@{k}"]
        assert value(ranked, f"ndcg@{k}", "xgboost", gain=gain) == rounded(number)
    for theirs, ours in (("map", "map"), ("pre", "precision")):
        number = recorded[f"xgboost binary labels@{k}"][f"{theirs}@{k}"]
        assert value(ranked, f"{ours}@{k}", "xgboost") == rounded(number)
    for theirs, ours in CATBOOST.items():
        number = recorded[f"catboost@{k}"][theirs.format(k=k)]
        assert value(ranked, ours.format(k=k), "catboost") == rounded(number)


@pytest.mark.parametrize("k", KS)
def test_sklearn_and_trec_eval(ranked, recorded, k):
    number = recorded[f"sklearn ndcg_score linear tie-averaged per query@{k}"]["mean_empty0"]
    assert value(ranked, f"ndcg@{k}", "sklearn") == rounded(number)
    numbers = recorded[f"pytrec_eval@{k} (ties: docid desc, docid = row order zero padded)"]
    for theirs, ours in TREC_EVAL.items():
        assert value(ranked, ours.format(k=k), "trec_eval") == rounded(numbers[theirs.format(k=k)])


@pytest.mark.parametrize("k", KS)
@pytest.mark.parametrize("name", [*NAMES, "hit_rate"])
def test_ranx_within_the_bounds(ranked, recorded, k, name):
    """From 16 documents on ranx breaks ties arbitrarily; some of these queries have 24."""
    number = recorded[f"ranx@{k}"][f"{name}@{k}"]
    worst, best = (
        value(ranked, f"{name}@{k}", "ranx", ties=ties) for ties in ("pessimistic", "optimistic")
    )
    assert worst - 1e-6 <= number <= best + 1e-6


def test_the_table_of_the_guide(ranked):
    """ "On real data": the second pair of columns is without the labels of every third query."""
    guide = (Path(__file__).parents[2] / "benchmarks" / "conventions.md").read_text("utf-8")
    rows = re.findall(r"^\| `like=\"(\w+)\"` \| (.*) \|$", guide, re.M)
    assert [like for like, _ in rows] == list(CONVENTIONS)
    y_true, y_score, groups = ranked
    thinned = np.where(np.isin(groups, np.unique(groups)[::3]), 0, y_true)
    for like, cells in [*rows, (None, re.search(r"\| this package \| (0.*) \|", guide)[1])]:
        for number, (labels, name) in zip(
            cells.split(" | "), product((y_true, thinned), ("ndcg@5", "map@5")), strict=True
        ):
            if number != "–":
                assert f"{value((labels, y_score, groups), name, like):.4f}" == number, like


GRADED, BINARY, NONE = [0, 2, 3, 0, 1, 2], [1, 0, 1, 1, 0, 1], [0, 0, 0, 0]
LAST, FIRST, SHORT = [0, 0, 1, 1], [1, 1, 0, 0], [0, 1]
FRACTIONS = [0.5, 1, 0.9, 2, 0]
SMALL_CASES = {
    "sklearn": [
        (GRADED, "ndcg@3", 0.524883),
        (NONE, "ndcg@3", 0),
        (GRADED, "ndcg", 0.678279),
        (BINARY, "ndcg", 0.892754),
    ],
    "lightgbm": [
        (GRADED, "ndcg@3", 0.518897),
        (GRADED, "map@3", 0.388889),
        (BINARY, "map@3", 0.555556),
        (NONE, "ndcg@3", 1),
        (NONE, "map@3", 1),
        (GRADED, "ndcg", 0.632724),
    ],
    "xgboost": [
        (GRADED, "ndcg@3", 0.518897),
        (GRADED, "ndcg@3(gain=linear)", 0.524883),
        (BINARY, "map@3", 0.555556),
        (NONE, "ndcg@3", 1),
        (NONE, "map@3(replace_undefined_by=0)", 0),
        (SHORT, "precision@3", 0.5),
    ],
    "catboost": [
        (GRADED, "ndcg@3", 0.524883),
        (GRADED, "ndcg@3(gain=exponential)", 0.518897),
        (GRADED, "ndcg@3(discount=reciprocal)", 0.428571),
        (GRADED, "ndcg(discount=reciprocal)", 0.515254),
        (GRADED, "ndcg(discount=reciprocal,gain=exponential)", 0.464957),
        (GRADED, "map@3", 0.388889),
        (BINARY, "map@3", 0.555556),
        (NONE, "ndcg@3", 1),
        (NONE, "map@3", 0),
        (SHORT, "precision@3", 0.5),
        ([0.5, 0.9, 0.2], "err", 0.728333),
        ([0.5, 0.9, 0.2], "pfound", 0.889725),
    ],
    "trec_eval": [
        (GRADED, "ndcg@3", 0.524883),
        (GRADED, "map@3", 0.291667),
        (BINARY, "map@3", 0.416667),
        (NONE, "ndcg@3", 0),
        (SHORT, "precision@3", 0.333333),
    ],
    "ranx": [
        (GRADED, "ndcg@3", 0.524883),
        (GRADED, "ndcg@3(gain=exponential)", 0.518897),
        (GRADED, "map@3", 0.291667),
        (BINARY, "map@3", 0.416667),
        (SHORT, "precision@3", 0.333333),
    ],
    "torchmetrics": [
        (GRADED, "ndcg@3", 0.524883),
        (GRADED, "map@3", 0.583333),
        (BINARY, "map@3", 0.833333),
        (NONE, "ndcg@3", 0),
        (NONE, "map@3", 0),
        (SHORT, "precision@3", 0.333333),
    ],
    "rax": [
        (GRADED, "ndcg@3", 0.518897),
        (GRADED, "map@3", 0.291667),
        (BINARY, "map@3", 0.416667),
        (NONE, "ndcg@3", 0),
        (NONE, "map@3", 0),
        (SHORT, "precision@3", 0.5),
        (FRACTIONS, "mrr@3", 0.5),
        (FRACTIONS, "map@3", 0.25),
        (FRACTIONS, "map", 0.5),
        (FRACTIONS, "precision@3", 0.333333),
        (FRACTIONS, "recall@3", 0.5),
        (GRADED, "pair_accuracy", 0.384615),
        (BINARY, "pair_accuracy", 0.5),
        (NONE, "pair_accuracy", 0),
    ],
}
ALL_TIED = {
    "sklearn": [(LAST, "ndcg@3", 0.653287), (FIRST, "ndcg@3", 0.653287)],
    "torchmetrics": [(LAST, "ndcg@3", 0.653287), (FIRST, "ndcg@3", 0.653287)],
    "trec_eval": [(LAST, "ndcg@3", 1), (FIRST, "ndcg@3", 0.306574), (LAST, "map@3", 1)],
    "catboost": [(LAST, "ndcg@3", 0.306574), (FIRST, "ndcg@3", 0.306574), (FIRST, "map@3", 1 / 6)],
    **{
        library: [
            (LAST, "ndcg@3", 0.306574),
            (FIRST, "ndcg@3", 1),
            (LAST, "map@3", 1 / 6),
            (FIRST, "map@3", 1),
        ]
        for library in ("lightgbm", "xgboost", "ranx", "rax")
    },
}
ALL_TIED["rax"].append((LAST, "pair_accuracy", 0))


def cases(table):
    return [(like, *case) for like, listed in table.items() for case in listed]


@pytest.mark.parametrize(("like", "y_true", "name", "theirs"), cases(SMALL_CASES))
def test_small_cases(like, y_true, name, theirs):
    in_rank_order = -np.arange(len(y_true), dtype=float)
    assert value((y_true, in_rank_order, None), name, like) == rounded(theirs)


@pytest.mark.parametrize(("like", "y_true", "name", "theirs"), cases(ALL_TIED))
def test_small_cases_of_equal_scores(like, y_true, name, theirs):
    assert value((y_true, np.zeros(4), None), name, like) == rounded(theirs)
