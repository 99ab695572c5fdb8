"""What formulas return for the queries of a block, as one value per query of the call."""

import tracemalloc

import numpy as np
import pytest

from sklearn_rankscore.ranking import MetricValues, Ranking, read_queries

FRACTIONS = {
    "arrays": ([1.0, 3.0, 4.0], [2.0, 1.0, 8.0], [True, True, False]),
    "a number as numerator": (1.0, [2.0, 0.0, 8.0], [True, True, False]),
    "a number as denominator": ([1, 3, 4], 2, [True, False, True]),
    "the denominator 0": ([1.0, 3.0, 4.0], 0.0, [True, False, True]),
    "always defined": ([1.0, 3.0, 4.0], [2.0, 1.0, 0.0], True),
    "never defined": ([1.0, 3.0, 4.0], [2.0, 1.0, 0.0], False),
    "only whether it is defined": (1.0, 4.0, np.array([True, False, True])),
}


@pytest.mark.parametrize("name", FRACTIONS)
def test_fractions_of_blocks_in_any_order(name):
    fraction = tuple(np.array(p) if isinstance(p, list) else p for p in FRACTIONS[name])
    numerator, denominator, defined = (np.broadcast_to(part, 3).tolist() for part in fraction)
    values = MetricValues(6)
    values.set(np.array([4, 0, 2]), fraction)
    values.set(np.array([5, 3, 1]), np.array([0.25, np.nan, 0.75]))
    ratios = [n / d if d else 0.0 for n, d in zip(numerator, denominator, strict=True)]
    of_block = [ratio if exists else -1.0 for ratio, exists in zip(ratios, defined, strict=True)]
    expected = [of_block[1], 0.75, of_block[2], -1.0, of_block[0], 0.25]
    replaced, undefined = values.per_query(-1.0), values.per_query(np.nan)
    assert replaced.tolist() == expected
    assert np.isnan(undefined).tolist() == (~values.defined).tolist()
    assert values.defined.tolist() == [defined[1], True, defined[2], False, defined[0], True]
    assert values.numerator[[4, 0, 2, 5]].tolist() == [*numerator, 0.25]
    assert values.denominator.tolist() == [
        *(denominator[1], 1.0, denominator[2], 1.0, denominator[0], 1.0)
    ]


@pytest.mark.parametrize("n_parts", [2, 4])
def test_a_fraction_has_three_parts(n_parts):
    with pytest.raises(ValueError, match="values to unpack"):
        MetricValues(3).set(np.arange(3), (np.ones(3),) * n_parts)


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
