"""What formulas return for the queries of a block, as one value per query of the call."""

import tracemalloc

import numpy as np
import pytest

from sklearn_rankscore import evaluate, register_metric
from sklearn_rankscore.ranking import Ranking, read_queries

FRACTIONS = {
    "arrays": ([1.0, 3.0, 4.0], [2.0, 1.0, 8.0], [True, True, False]),
    "a number as numerator": (1.0, [2.0, 0.0, 8.0], [True, True, False]),
    "a number as denominator": ([1, 3, 4], 2, [True, False, True]),
    "the denominator 0": ([1.0, 3.0, 4.0], 0.0, [True, False, True]),
    "always defined": ([1.0, 3.0, 4.0], [2.0, 1.0, 0.0], True),
    "never defined": ([1.0, 3.0, 4.0], [2.0, 1.0, 0.0], False),
    "only whether it is defined": (1.0, 4.0, np.array([True, False, True])),
}


def of_fraction(*parts):
    """A metric of three queries that returns these parts, of each block those of its queries."""
    register_metric(
        "fraction",
        lambda block: tuple(p if np.ndim(p) == 0 else p[block.queries] for p in parts),
        ratio=True,
    )
    sizes = [1, 40, 3]  # blocks of different widths
    call = {"groups": np.repeat([0, 1, 2], sizes), "metrics": "fraction"}
    return lambda **options: evaluate(np.ones(44), np.arange(44), **call, **options)["fraction"]


@pytest.mark.parametrize("name", FRACTIONS)
def test_fractions_of_blocks(name):
    fraction = [np.array(p) if isinstance(p, list) else p for p in FRACTIONS[name]]
    numerator, denominator, defined = (np.broadcast_to(part, 3) for part in fraction)
    call = of_fraction(*fraction)
    ratios = [n / d if d else 0.0 for n, d in zip(numerator, denominator, strict=True)]
    replaced = call(average=None, replace_undefined_by=-1)
    assert replaced.tolist() == np.where(defined, ratios, -1.0).tolist()
    assert np.isnan(call(average=None, replace_undefined_by=np.nan)).tolist() == (~defined).tolist()
    total = denominator[defined].sum()
    micro = numerator[defined].sum() / total if total else np.nan
    np.testing.assert_equal(call(average="micro", replace_undefined_by=np.nan), micro)


@pytest.mark.parametrize("n_parts", [2, 4])
def test_a_fraction_has_three_parts(n_parts):
    with pytest.raises(ValueError, match="values to unpack"):
        of_fraction(*[np.ones(3)] * n_parts)()


def test_a_metric_that_returns_part_of_a_blocks_array_keeps_no_more():
    y, s = np.ones((20_000, 16)), np.random.default_rng(0).random((20_000, 16))
    ranking = Ranking(read_queries(y, s))
    relevance = np.asarray  # the gain of a label is the label
    ranking.apply([lambda block: block.by_rank(relevance)[:, 0]])
    tracemalloc.start()
    (values,) = ranking.apply([lambda block: block.by_rank(relevance)[:, 0]])
    retained, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert values.numerator.all()
    assert retained < y.nbytes / 2
