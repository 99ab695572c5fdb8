"""Rank-biased overlap with ties against published outputs and brute force over all orders.

`rbo_published.csv` holds 60 of the 10,000 rows of rbo/test.csv of
https://github.com/julian-urbano/sigir2024-rbo at commit 0338fd9, copyright 2024 Julián Urbano, MIT
license: the outputs of the implementation by the authors of Corsi and Urbano (SIGIR 2024).
"""

import csv
import itertools
import math
import re
import statistics
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from oracle import all_orders

from sklearn_rankscore import from_trec, make_ranking, rank_overlap

PUBLISHED = Path(__file__).parent / "rbo_published.csv"
VARIANTS = list(itertools.product("wab", ("ext", "min", "max")))
INF = math.inf


def scores_of(ranking, items):
    """Scores that rank items as the text does, where tied items stand in parentheses."""
    scores = dict.fromkeys(items, -INF)
    for rank, group in enumerate(re.findall(r"\([^)]*\)|\w+", ranking)):
        scores |= dict.fromkeys(group.strip("()").split(), -rank)
    return [scores[item] for item in items]


@pytest.mark.parametrize(("ties", "estimate"), VARIANTS)
def test_published_outputs(ties, estimate):
    """Rankings of different documents and lengths: what one lacks has the score -inf."""
    with PUBLISHED.open() as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        items = sorted(set(re.findall(r"\w+", f"{row['x']} {row['y']}")))
        a, b = (scores_of(row[name], items) for name in ("x", "y"))
        ours = rank_overlap(a, b, p=float(row["p"]), ties=ties, estimate=estimate)["rbo"]
        assert ours[0] == pytest.approx(float(row[f"{ties}.{estimate}"]), rel=1e-9)
    assert len(rows) == 60


def common(a, b, depth):
    return len(set(a[:depth]) & set(b[:depth]))


def rbo_of_orders(a, b, p):
    """Extrapolated RBO of two orders of the same documents (Webber et al. 2010, equation 23)."""
    agreement = [common(a, b, d) / d for d in range(1, len(a) + 1)]
    return (1 - p) * math.fsum(x * p**d for d, x in enumerate(agreement)) + p ** len(a)


@pytest.mark.parametrize("seed", range(6))
def test_expectations_over_all_orders_of_ties(seed):
    rng = np.random.default_rng(seed)
    sizes = [1, 2, 5, 6, 6, 3]
    groups = np.repeat(["d", "a", "c", "f", "b", "e"], sizes)
    a, b = rng.integers(0, 3, len(groups)), rng.integers(0, 4, len(groups))
    rows = rng.permutation(len(groups))
    groups, a, b = groups[rows], a[rows], b[rows]
    k, p = 1 + seed, 0.5 + seed / 12
    ours = rank_overlap(a, b, groups=groups, p=p, k=k)
    assert ours.ids.tolist() == list("abcdef")
    for query, values in zip(ours.ids, ours.values, strict=True):
        of_query = groups == query
        n = of_query.sum()
        orders = [list(all_orders(s[of_query].tolist())) for s in (a, b)]
        expected = [
            (rbo_of_orders(x, y, p), common(x, y, k) / min(k, n), x[0] != y[0])
            for x, y in itertools.product(*orders)
        ]
        expected = [statistics.fmean(column) for column in zip(*expected, strict=True)]
        assert values == pytest.approx(expected, rel=1e-12)


def test_rankings_of_which_each_lacks_documents():
    """One has 2 documents of 4, the other all; 0 of the first 1 and 2 of the first 3 are common."""
    a, b = [-INF, 2, 1, -INF], [4, 3, 2, 1]
    ours = rank_overlap(a, b, k=3, p=0.5, estimate="min")
    overlap = [0, 1, 2, 2]  # at the depths 1 to 4, and 2 beyond
    rbo = math.fsum(x / d * 0.5**d for d, x in enumerate(overlap, start=1))
    rbo += math.fsum(2 / d * 0.5**d for d in range(5, 80))
    assert ours.values[0] == pytest.approx([rbo, 2 / 3, 1])
    assert ours.metrics == ("rbo", "overlap@3", "top_changed")
    short = rank_overlap([-INF, 2, 1, -INF], [-INF, 2, 1, -INF], k=10)
    assert short.values[0].tolist() == pytest.approx([1, 1, 0])
    nothing = rank_overlap([[1, 2], [2, 1]], [[-INF, -INF], [2, 1]])
    assert np.isnan(nothing.values[0]).all()
    assert list(nothing.mean().values()) == pytest.approx([1, 1, 0])


@pytest.mark.parametrize(("ties", "estimate"), VARIANTS)
def test_a_query_for_which_both_systems_retrieved_nothing(ties, estimate):
    given = {"ties": ties, "estimate": estimate}
    both = rank_overlap([[-INF, -INF], [2, 1]], [[-INF, -INF], [2, 1]], **given)
    assert np.isnan(both.values[0]).all()
    alone = rank_overlap([2, 1], [2, 1], **given)
    assert both.values[1].tolist() == pytest.approx(alone.values[0].tolist())


def test_identical_and_reversed_rankings():
    X, _, groups = make_ranking(n_queries=50, random_state=0)
    scores = X[:, 0]
    same = rank_overlap(scores, 3 * scores - 1, groups=groups, k=5)
    np.testing.assert_allclose(same.values, [[1, 1, 0]] * 50)
    other = rank_overlap(scores, -scores, groups=groups, k=5)
    assert other["top_changed"].all()
    assert (other["rbo"] < same["rbo"]).all()
    swapped = rank_overlap(-scores, scores, groups=groups, k=5)
    np.testing.assert_allclose(other.values, swapped.values)


def test_a_long_ranking_with_deep_ties():
    """Rounding of the overlap at depths of 100,000."""
    rng = np.random.default_rng(0)
    a = rng.integers(0, 40_000, 100_000)
    b = rng.permutation(a)
    ours = rank_overlap(a, b, groups="none", p=0.9999, k=50_000)
    counts = [
        np.bincount(s[np.argsort(-s, kind="stable")[:50_000]], minlength=40_000) for s in (a, b)
    ]
    sizes = np.bincount(a, minlength=40_000)
    shares = [count[s] / sizes[s] for count, s in zip(counts, (a, b), strict=True)]
    assert ours["overlap@50000"][0] == pytest.approx(shares[0] @ shares[1] / 50_000, rel=1e-9)


def test_weights_segments_and_other_forms_of_input():
    rng = np.random.default_rng(5)
    a, b = rng.normal(size=(2, 6, 8))
    flat = rank_overlap(a.ravel(), b.ravel(), groups=np.repeat(range(6), 8), k=3)
    wide = rank_overlap(a, b, k=3)
    np.testing.assert_array_equal(flat.values, wide.values)
    weighted = rank_overlap(a, b, k=3, sample_weight=[0, 1, 0, 0, 3, 0], segments=list("uvuvuv"))
    assert weighted.mean()["rbo"] == pytest.approx((wide["rbo"][1] + 3 * wide["rbo"][4]) / 4)
    assert {s.segment.value for s in weighted.by()} == {"u", "v"}
    index = pd.Index(np.repeat(range(6), 8), name="qid")
    series = rank_overlap(pd.Series(a.ravel(), index), pd.Series(b.ravel(), index), k=3)
    np.testing.assert_array_equal(series.values, wide.values)
    assert series.to_frame().columns.tolist() == ["query", "rbo", "overlap@3", "top_changed"]


def test_two_systems_of_trec_files():
    qrels = {"q": {"x": 1}}
    runs = {"old": {"q": {"x": 3, "y": 2}}, "new": {"q": {"y": 2, "z": 1}}}
    data = from_trec(qrels, runs)
    ours = rank_overlap(*data["y_score"].values(), groups=data["groups"], k=2)
    assert ours.values[0, 1:].tolist() == [0.5, 1]


def test_scores_with_another_index_are_refused_by_their_names():
    other = pd.Series([1, 2], ["a", "b"]), pd.Series([1, 2], ["a", "c"])
    with pytest.raises(
        ValueError, match=r"another index than score_a .* scores.loc\[score_a.index"
    ):
        rank_overlap(*other)


def test_the_documented_weights_of_the_first_ten_ranks():
    """Equation 21 of Webber et al. (2010)."""
    pairs = re.findall(r"(\d+) %(?: of the weight of RBO)? for (0\.\d+)", rank_overlap.__doc__)
    assert [p for _, p in pairs] == ["0.9", "0.98"]
    for percent, p in ((int(percent), float(p)) for percent, p in pairs):
        rest = math.log(1 / (1 - p)) - sum(p**i / i for i in range(1, 10))
        assert percent == round(100 * (1 - p**9 + (1 - p) / p * 10 * rest))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"p": 1}, "p must be"),
        ({"p": 0}, "p must be"),
        ({"k": 0}, "k must be"),
        ({"ties": "average"}, "ties must be"),
        ({"estimate": "res"}, "estimate must be"),
        ({"score_b": [1, 2]}, "must be scores of the same documents, in the same rows"),
        ({"score_a": [1, np.nan, 2]}, "score_a contains NaN"),
        ({"score_b": [1, np.nan, 2]}, "score_b contains NaN"),
    ],
)
def test_refusals(options, message):
    arguments = {"score_a": [1, 2, 3], "score_b": [1, 2, 3], **options}
    with pytest.raises(ValueError, match=message):
        rank_overlap(**arguments)
