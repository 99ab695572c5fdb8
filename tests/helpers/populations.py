"""Values of queries as rankings give them, drawn from populations with a known mean.

Each function draws an array of a shape, where rows are queries and columns are samples.
"""

import numpy as np


def ndcg_like(random, shape):
    """Mostly high, a tenth at 0 and a fifth at 1."""
    part = random.random(shape)
    return np.where(part < 0.1, 0.0, np.where(part > 0.8, 1.0, random.beta(1.2, 0.6, size=shape)))


def mrr_like(random, shape):
    """Reciprocal of a geometric rank, of which 40 % are 1."""
    return 1.0 / random.geometric(0.4, size=shape)


def hit_like(rate):
    """A document found for most queries."""
    return lambda random, shape: (random.random(shape) < rate).astype(float)


def precision_like(random, shape):
    """Half at 0, the rest low."""
    return np.where(random.random(shape) < 0.5, 0.0, random.beta(0.8, 2.5, size=shape))


def lognormal(random, shape):
    """Without a bound, and very skewed."""
    return random.lognormal(0, 1, size=shape)


# name: (population, its mean); that of a reciprocal rank is p / (1 - p) · log(1 / p)
POPULATIONS = {
    "NDCG": (ndcg_like, 0.2 + 0.7 * 1.2 / 1.8),
    "MRR": (mrr_like, 0.4 / 0.6 * np.log(1 / 0.4)),
    "precision": (precision_like, 0.5 * 0.8 / 3.3),
    "hit rate .9": (hit_like(0.9), 0.9),
    "hit rate .97": (hit_like(0.97), 0.97),
    "lognormal": (lognormal, np.exp(0.5)),
}


def changed(draw, share):
    """A second system that gives a share of the queries another value, and a pair of both."""

    def draw_pair(random, shape):
        first, other = draw(random, shape), draw(random, shape)
        return first, np.where(random.random(shape) < share, other, first)

    return draw_pair


def improved(random, shape):
    """A second system that is .03 better, with noise, where that leaves it in [0, 1]."""
    first = random.beta(4, 4, size=shape)
    return first, first + (random.random(shape) * 0.3 - 0.12) * first * (1 - first)


def hits_won_and_lost(won, lost):
    """Hits that one of two systems has alone."""

    def draw_pair(random, shape):
        part = random.random(shape)
        return (part < lost) * 1.0, ((part >= lost) & (part < lost + won)) * 1.0

    return draw_pair


# name: (population of pairs, mean difference); E[x (1 - x)] of beta(4, 4) is 2 / 9
PAIRS = {
    "NDCG, 30 % changed": (changed(ndcg_like, 0.3), 0.0),
    "NDCG, all changed": (improved, 0.03 * 2 / 9),
    "MRR, 40 % changed": (changed(mrr_like, 0.4), 0.0),
    "hits 20 % won, 2 % lost": (hits_won_and_lost(0.2, 0.02), 0.18),
    "hits 10 % won, 5 % lost": (hits_won_and_lost(0.1, 0.05), 0.05),
    "hits 2 % won": (hits_won_and_lost(0.02, 0), 0.02),
}
WEIGHTS = {
    "equal": lambda random, n: None,
    "lognormal": lambda random, n: random.lognormal(0, 1, size=n),
}
