"""`like=` gives the recorded numbers of rax 0.4.0, whose dependencies are large, and of the guide.

The other libraries are called in the folder `peers`.
"""

import json
import re
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from sklearn_rankscore import evaluate
from sklearn_rankscore.metrics.conventions import CONVENTIONS


@pytest.fixture(scope="module")
def ranked(data_path):
    """Labels, scores and query ids, scored by a LGBMRanker of ten trees."""
    csv = data_path / "recorded" / "lightgbm_rank_test.csv"
    qid, y_true, y_score = np.loadtxt(csv, delimiter=",", skiprows=1, unpack=True)
    return y_true.astype(int), y_score, qid


def value(data, name, like):
    y_true, y_score, groups = data
    (score,) = evaluate(y_true, y_score, name, groups=groups, like=like).values()
    return score


def rounded(theirs):
    """A number of a library, recorded with six decimals."""
    return pytest.approx(theirs, abs=5.1e-7)


@pytest.mark.parametrize("k", [1, 5, 10])
def test_rax(ranked, data_path, k):
    recorded = json.loads((data_path / "recorded" / "lightgbm_rank_test.json").read_text())
    numbers = recorded[f"rax@{k} (segments)"]
    numbers["map_metric"] = numbers["ap_metric"]
    for name in ("ndcg", "map", "mrr", "precision", "recall"):
        assert value(ranked, f"{name}@{k}", "rax") == rounded(numbers[f"{name}_metric"])


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


FRACTIONS = [0.5, 1, 0.9, 2, 0]
SMALL_CASES = [  # labels in the order of ranks
    ([0, 2, 3, 0, 1, 2], {"ndcg@3": 0.518897, "map@3": 0.291667, "pair_accuracy": 0.384615}),
    ([1, 0, 1, 1, 0, 1], {"map@3": 0.416667, "pair_accuracy": 0.5}),
    ([0, 0, 0, 0], {"ndcg@3": 0, "map@3": 0, "pair_accuracy": 0}),
    ([0, 1], {"precision@3": 0.5}),
    (FRACTIONS, {"mrr@3": 0.5, "map@3": 0.25, "map": 0.5}),
    (FRACTIONS, {"precision@3": 0.333333, "recall@3": 0.5}),
]
ALL_TIED = [
    ([0, 0, 1, 1], {"ndcg@3": 0.306574, "map@3": 1 / 6, "pair_accuracy": 0}),
    ([1, 1, 0, 0], {"ndcg@3": 1, "map@3": 1}),
]


@pytest.mark.parametrize(("table", "step"), [(SMALL_CASES, -1.0), (ALL_TIED, 0.0)])
def test_small_cases_of_rax(table, step):
    for labels, numbers in table:
        for name, theirs in numbers.items():
            ranked = labels, step * np.arange(len(labels)), None
            assert value(ranked, name, "rax") == rounded(theirs), (labels, name)
