"""How often intervals contain the mean of the population, and true hypotheses are rejected.

``python benchmarks/simulations.py [repetitions]`` prints the tables of coverage.md, in
some minutes with the default of 1,000 repetitions, whose standard error is .007 at .95; levels have
ten times as many.
"""

import sys
import zlib
from functools import cache

import numpy as np

from sklearn_rankscore import QueryScores, compare
from sklearn_rankscore.comparison.intervals import difference_interval, mean_interval
from sklearn_rankscore.comparison.significance import paired_p_values
from sklearn_rankscore.large.moments import Moments
from sklearn_rankscore.metrics.resolve import resolve

REPETITIONS = 1_000


def ndcg_like(random, shape):
    """Mostly high, a tenth at 0 and a fifth at 1."""
    part = random.random(shape)
    return np.where(part < 0.1, 0.0, np.where(part > 0.8, 1.0, random.beta(1.2, 0.6, size=shape)))


def mrr_like(random, shape):
    """Reciprocal of a geometric rank, of which 40 % are 1."""
    return 1.0 / random.geometric(0.4, size=shape)


def precision_like(random, shape):
    """Half at 0, the rest low."""
    return np.where(random.random(shape) < 0.5, 0.0, random.beta(0.8, 2.5, size=shape))


def changed(draw, share):
    """A second system that gives a share of the queries another value."""
    return lambda random, shape: (
        (random.random(shape) < share) * (draw(random, shape) - draw(random, shape))
    )


def improved(random, shape):
    """A second system that is a little better, with noise, where that leaves it in [0, 1]."""
    first = random.beta(4, 4, size=shape)
    return (random.random(shape) * 0.3 - 0.12) * first * (1 - first)


def steps(*values_and_shares):
    """Some values with the given probabilities, and 0 otherwise."""
    values, shares = zip(*values_and_shares, strict=True)

    def draw(random, shape):
        return random.choice([*values, 0.0], size=shape, p=[*shares, 1 - sum(shares)])

    return draw


def rare(share, draw):
    """0 but for a share of the queries."""
    return lambda random, shape: (random.random(shape) < share) * draw(random, shape)


def skewed_gains(random, shape):
    return np.minimum(0.05 * random.lognormal(0, 1, size=shape), 1)


def small_wins_rare_losses(share, loss):
    """Wins of .01 on average, and losses."""
    return lambda random, shape: np.where(
        random.random(shape) < share, -loss, 0.02 * random.random(shape)
    )


def gamma(shape_parameter):
    return lambda random, shape: random.gamma(shape_parameter, 1, size=shape)


def lognormal(sigma):
    return lambda random, shape: random.lognormal(0, sigma, size=shape)


UNKNOWN = (-np.inf, np.inf)

# name: (population, its mean or None to draw it, the range of values)
MEANS = {
    "NDCG": (ndcg_like, 0.2 + 0.7 * 1.2 / 1.8, (0, 1)),
    "MRR": (mrr_like, 0.4 / 0.6 * np.log(1 / 0.4), (0, 1)),
    "precision": (precision_like, 0.5 * 0.8 / 3.3, (0, 1)),
    "hit rate .9": (steps((1.0, 0.9)), 0.9, (0, 1)),
    "hit rate .97": (steps((1.0, 0.97)), 0.97, (0, 1)),
    "DCG, normal": (lambda random, shape: random.normal(5, 1, size=shape), 5.0, UNKNOWN),
    "DCG, gamma(3)": (gamma(3), 3.0, UNKNOWN),
    "DCG, exponential": (gamma(1), 1.0, UNKNOWN),
    "DCG, gamma(.5)": (gamma(0.5), 0.5, UNKNOWN),
    "DCG, 30 % lognormal": (rare(0.3, lognormal(1)), 0.3 * np.exp(0.5), UNKNOWN),
    "DCG, lognormal": (lognormal(1), np.exp(0.5), UNKNOWN),
}
DIFFERENCES = {
    "NDCG, 30 % changed": (changed(ndcg_like, 0.3), 0.0, (-1, 1)),
    "NDCG, all changed": (improved, 0.03 * 2 / 9, (-1, 1)),
    "MRR, 40 % changed": (changed(mrr_like, 0.4), 0.0, (-1, 1)),
    "hits 20 % won, 2 % lost": (steps((1, 0.2), (-1, 0.02)), 0.18, (-1, 1)),
    "hits 10 % won, 5 % lost": (steps((1, 0.1), (-1, 0.05)), 0.05, (-1, 1)),
    "hits 2.5 % won": (steps((1, 0.025)), 0.025, (-1, 1)),
    "15 % won .3, 5 % lost .6": (steps((0.3, 0.15), (-0.6, 0.05)), 0.015, (-1, 1)),
    "5 % .05 lognormal": (rare(0.05, skewed_gains), None, (-1, 1)),
    "10 % .05 lognormal": (rare(0.1, skewed_gains), None, (-1, 1)),
    "30 % .05 lognormal": (rare(0.3, skewed_gains), None, (-1, 1)),
    "all .05 lognormal": (skewed_gains, None, (-1, 1)),
    "20 % won beta(.5, 2)": (
        rare(0.2, lambda random, shape: random.beta(0.5, 2, size=shape)), 0.04, (-1, 1),
    ),
    "heavy tails": (
        lambda random, shape: np.clip(0.05 * random.standard_t(3, size=shape), -1, 1), 0.0, (-1, 1),
    ),
    "DCG, exponential": (
        lambda random, shape: random.exponential(1, shape) - random.exponential(1.2, shape),
        -0.2, UNKNOWN,
    ),
    "DCG, gamma(.5) won": (gamma(0.5), 0.5, UNKNOWN),
    "95 % won .01, 5 % lost .5": (steps((0.01, 0.95), (-0.5, 0.05)), -0.0155, (-1, 1)),
    "95 % won about .01, 5 % lost .5": (small_wins_rare_losses(0.05, 0.5), -0.0155, (-1, 1)),
}  # fmt: skip
WEIGHTS = {
    "equal": lambda random, n: None,
    "lognormal": lambda random, n: random.lognormal(0, 1, size=n),
    "1 or 20": lambda random, n: random.choice([1.0, 20.0], size=n),
}
EQUAL = ("NDCG, 30 % changed", "MRR, 40 % changed", "heavy tails")


def samples(population, weights, n, name="", repetitions=None):
    """Samples of queries in twenty sets, each of other weights."""
    random = np.random.default_rng([n, zlib.crc32(name.encode())])
    each = (repetitions or REPETITIONS) // 20
    for _ in range(20):
        yield population(random, (n, each)), WEIGHTS[weights](random, n)


@cache
def drawn_mean(draw):
    return draw(np.random.default_rng(0), (4_000_000,)).mean()


def coverage(name, populations, interval, weights, n):
    """The share of intervals that contain the mean, and of those that state none."""
    draw, mean, (low, high) = populations[name]
    mean = drawn_mean(draw) if mean is None else mean
    covered, stated = 0, 0
    for values, w in samples(draw, weights, n, name=name):
        w, ones = np.ones(n) if w is None else w, np.ones(values.shape[1])
        ends = interval(values, w, 0.95, low * ones, high * ones)
        covered += ((ends[0] - 1e-9 <= mean) & (mean <= ends[1] + 1e-9)).sum()
        stated += (~np.isnan(ends[0])).sum()
    return covered / max(stated, 1), 1 - stated / REPETITIONS


def streamed(kind):
    """The interval of sums of the values, as in accumulators: of a "summary" or a "difference"."""

    def interval(values, weights, confidence, low, high):
        metric = resolve("ndcg" if np.isfinite(high[0]) else "dcg")
        defined, extremes = np.zeros(len(values), dtype=bool), np.array([0.0, 1.0])
        moments = (Moments.of(weights, of, None, defined, extremes) for of in values.T)
        return np.array([getattr(of, kind)(metric).interval(confidence) for of in moments]).T

    return interval


def level(name, test, weights, n):
    """The share of true hypotheses of equal systems that are rejected at .05.

    Each set has flips of its own, because the level given 999 of them has a deviation of .007.
    """
    drawn = samples(DIFFERENCES[name][0], weights, n, name, 10 * REPETITIONS)
    rejected = [
        paired_p_values(values, np.ones(n) if w is None else w, test, 999, seed) <= 0.05
        for seed, (values, w) in enumerate(drawn)
    ]
    return np.mean(np.concatenate(rejected))


def level_of_family(n, n_models):
    """The share of comparisons of equal systems in which any is called different."""
    random, wrong = np.random.default_rng(n), []
    for _ in range(REPETITIONS // 2):
        values = random.beta(4, 2, size=(n_models, n, 1))
        systems = {str(i): QueryScores(range(n), of, ["ndcg"]) for i, of in enumerate(values)}
        compared = compare(systems, n_resamples=999, random_state=len(wrong))
        wrong.append(any(one.adjusted_p_value <= 0.05 for one in compared))
    return np.mean(wrong)


def text(share):
    return f"{share:.3f}".lstrip("0") if share < 0.9995 else "1.00"


def print_coverage(title, populations, interval, sizes):
    print(f"\n| {title} | weights |", " | ".join(map(str, sizes)), "|")
    print("|---" * (2 + len(sizes)) + "|")
    for name in populations:
        for weights in WEIGHTS:
            cells = []
            for n in sizes:
                covered, none = coverage(name, populations, interval, weights, n)
                cells.append("none" if none > 0.99 else text(covered))
            print(f"| {name} | {weights} |", " | ".join(cells), "|", flush=True)


def main():
    print_coverage("means", MEANS, mean_interval, (10, 20, 50, 100))
    print_coverage("differences", DIFFERENCES, difference_interval, (20, 50, 100, 200, 400))
    sizes = (20, 50, 200, 1000)
    print_coverage("means of streams", MEANS, streamed("summary"), sizes)
    print_coverage("differences of streams", DIFFERENCES, streamed("difference"), sizes)
    sizes = (10, 20, 50, 100)
    print("\n| equal systems | weights | test |", " | ".join(map(str, sizes)), "|")
    print("|---" * (3 + len(sizes)) + "|")
    for name in EQUAL:
        for weights in ("equal", "lognormal"):
            for test in ("permutation", "t"):
                cells = [text(level(name, test, weights, n)) for n in sizes]
                print(f"| {name} | {weights} | `{test}` |", " | ".join(cells), "|", flush=True)
    print("\nany of four models rejected:", text(level_of_family(50, 5)))


if __name__ == "__main__":
    REPETITIONS = int(sys.argv[1]) if len(sys.argv) > 1 else REPETITIONS
    main()
