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

from sklearn_rankscore import rank_overlap

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


@pytest.mark.parametrize("lacking", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_expectations_over_all_orders_of_ties(seed, lacking):
    """Of the same documents, or where each system did not retrieve some of them."""
    rng = np.random.default_rng(seed)
    sizes = [1, 2, 5, 6, 6, 3]
    groups = np.repeat(["d", "a", "c", "f", "b", "e"], sizes)
    a, b = rng.integers(0, 3, len(groups)) * 1.0, rng.integers(0, 4, len(groups)) * 1.0
    if lacking:
        a[a == 0], b[b == 1] = -INF, -INF
    rows = rng.permutation(len(groups))
    groups, a, b = groups[rows], a[rows], b[rows]
    k, p = 1 + seed, 0.5 + seed / 12
    ours = rank_overlap(a, b, groups=groups, p=p, k=k)
    assert ours.ids.tolist() == list("abcdef")
    for query, values in zip(ours.ids, ours.values, strict=True):
        of_query = groups == query
        orders = [[*all_orders(s[of_query].tolist())] for s in (a, b)]
        if not orders[0][0] or not orders[1][0]:
            assert np.isnan(values).all()
            continue
        expected = [
            (
                values[0] if lacking else rbo_of_orders(x, y, p),
                common(x, y, k) / min(k, max(len(x), len(y))),
                x[0] != y[0],
            )
            for x, y in itertools.product(*orders)
        ]
        expected = [statistics.fmean(column) for column in zip(*expected, strict=True)]
        assert values == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("ties", "estimate"), VARIANTS)
def test_every_variant_reads_orders_alone_and_has_no_value_for_nothing(ties, estimate):
    given = {"k": 5, "ties": ties, "estimate": estimate}
    a, b = np.random.default_rng(0).integers(0, 5, size=(2, 20, 8)) * 1.0
    a[:2] = b[0] = -INF  # both systems, or one of them, retrieved nothing
    ours = rank_overlap(a, b, **given)
    assert np.isnan(ours.values[:2]).all()
    assert np.isfinite(ours.values[2:]).all()
    assert [*ours.mean().values()] == pytest.approx(ours.values[2:].mean(axis=0))
    np.testing.assert_allclose(rank_overlap(3 * b - 1, a, **given).values, ours.values)
    alone = rank_overlap(a[2], b[2], groups="none", **given)
    assert alone.values[0] == pytest.approx(ours.values[2])
    same = rank_overlap([3, 2, 1], [9, 8, 7], **given).values[0]
    assert same[1:].tolist() == [1, 0]
    assert same[0] == pytest.approx(1) or estimate == "min"


def test_a_long_ranking_with_deep_ties():
    """Rounding of the overlap at depths of 100,000."""
    rng = np.random.default_rng(0)
    a = rng.integers(0, 40_000, 100_000)
    b = rng.permutation(a)
    ours = rank_overlap(a, b, groups="none", p=0.9999, k=50_000)
    sizes = np.bincount(a, minlength=40_000)
    tops = [np.bincount(np.sort(s)[-50_000:], minlength=40_000) for s in (a, b)]
    shares = [top[s] / sizes[s] for top, s in zip(tops, (a, b), strict=True)]
    assert ours["overlap@50000"][0] == pytest.approx(shares[0] @ shares[1] / 50_000, rel=1e-9)


def test_weights_segments_and_other_forms_of_input():
    a, b = np.random.default_rng(5).normal(size=(2, 6, 8))
    wide, index = rank_overlap(a, b, k=3), pd.Index(np.repeat(range(6), 8), name="qid")
    series = rank_overlap(pd.Series(a.ravel(), index), pd.Series(b.ravel(), index), k=3)
    np.testing.assert_array_equal(series.values, wide.values)
    assert series.to_frame().columns.tolist() == ["query", "rbo", "overlap@3", "top_changed"]
    weighted = rank_overlap(a, b, k=3, sample_weight=[0, 1, 0, 0, 3, 0], segments=list("uvuvuv"))
    assert weighted.mean()["rbo"] == pytest.approx((wide["rbo"][1] + 3 * wide["rbo"][4]) / 4)
    assert {s.segment.value for s in weighted.by()} == {"u", "v"}


def test_the_documented_weights_of_the_first_ten_ranks():
    """Equation 21 of Webber et al. (2010)."""
    pairs = re.findall(r"(\d+) %(?: of the weight of RBO)? for (0\.\d+)", rank_overlap.__doc__)
    assert [p for _, p in pairs] == ["0.9", "0.98"]
    for percent, p in ((int(percent), float(p)) for percent, p in pairs):
        rest = math.log(1 / (1 - p)) - sum(p**i / i for i in range(1, 10))
        assert percent == round(100 * (1 - p**9 + (1 - p) / p * 10 * rest))


A, C = (pd.Series([1, 2], ["a", name]) for name in "bc")
REFUSED = [
    *(({"p": p}, "p must be") for p in (0, 1)),
    ({"k": 0}, "k must be"),
    ({"ties": "average"}, "ties must be"),
    ({"estimate": "res"}, "estimate must be"),
    ({"score_b": [1, 2]}, "must be scores of the same documents, in the same rows"),
    *(({name: [1, np.nan, 2]}, f"{name} contains NaN") for name in ("score_a", "score_b")),
    ({"score_a": A, "score_b": C}, r"another index than score_a .* scores.loc\[score_a.index"),
]


@pytest.mark.parametrize(("options", "message"), REFUSED)
def test_refusals(options, message):
    with pytest.raises(ValueError, match=message):
        rank_overlap(**{"score_a": [1, 2, 3], "score_b": [1, 2, 3], **options})
