"""`like=` gives recorded numbers of eight libraries on small cases, which need no library.

These are the only comparisons with rax (0.4.0), whose dependencies are large.
"""

import json
import re
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from sklearn_rankscore import convention_report, evaluate
from sklearn_rankscore.metrics.conventions import CONVENTIONS

KS = [1, 5, 10]
NAMES = ("ndcg", "map", "mrr", "precision", "recall")
RAX = ("ndcg_metric", "ap_metric", "mrr_metric", "precision_metric", "recall_metric")


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


def test_published_numbers_of_the_recorded_data(data_path):
    """Rows of the libraries on the recorded ranking, as they reported it themselves."""
    folder = data_path / "recorded"
    csv = folder / "lightgbm_rank_test.csv"
    qid, y_true, y_score = np.loadtxt(csv, delimiter=",", skiprows=1, unpack=True)
    theirs = json.loads((folder / "lightgbm_rank_test.json").read_text())
    report = convention_report(y_true, y_score, groups=qid, output_dict=True)
    assert report["lightgbm"] == pytest.approx(theirs["lightgbm@5"], abs=1e-6)
    assert report["rax"]["ndcg@5"] == pytest.approx(
        theirs["rax@5 (segments)"]["ndcg_metric"], abs=1e-6
    )
    assert report["catboost"]["map@5"] == pytest.approx(theirs["catboost@5"]["MAP:top=5"], abs=1e-6)
