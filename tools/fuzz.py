"""Fuzz every metric against the plain-Python oracle of the tests, and against its own properties.

    python tools/fuzz.py [--cases 1000000] [--seed 0] [--minutes 60]

A case is one query of one metric with random options. Short queries are compared with the oracle,
hundreds per call, in random row order. For long queries the value must not change with another
row order, another monotone scale, other queries in the call, other block sizes and threads, or the
plain sort; it lies between the values with ties in the best and in the worst order. The first
counterexample is printed in full and ends the run.
"""

import argparse
import functools
import itertools
import math
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "helpers")]

import oracle  # noqa: E402

from sklearn_rankscore import evaluate  # noqa: E402
from sklearn_rankscore.metrics.names import METRICS  # noqa: E402
from sklearn_rankscore.ranking import block, ranking  # noqa: E402
from sklearn_rankscore.ranking.fast import choices, documents  # noqa: E402

BATCH = 500
SCORES = np.array(
    [
        -math.inf,
        -1e300,
        -2.0,
        -1.0,
        -5e-324,
        0.0,
        5e-324,
        1 - 2**-53,
        1.0,
        1 + 2**-52,
        7.0,
        math.inf,
    ]
)
POOLS = {
    "grades": [0, 1, 2, 3, 4],
    "sparse": [0, 0, 0, 0, 1],
    "high": [0, 5, 31, 61, 62, 63, 64, 100],
    "reals": [0.0, 0.25, 0.5, 1.0, 1.5],
    "negative": [-2, -1, 0, 1, 3],
    "probabilities": [0.0, 0.125, 0.5, 1.0],
    "incomplete": [0, 1, 2, math.nan, -1],
    "one": [1],
    "none": [0],
}
ANY = ["grades", "sparse", "high", "reals", "negative", "one", "none"]
GAINED = ["grades", "sparse", "high", "reals", "one", "none"]
INCOMPLETE = ("judged", "bpref", "infap")
PROBABILITIES = ["probabilities", "sparse", "one", "none"]
LABELS = {
    **dict.fromkeys(METRICS, ANY),
    **dict.fromkeys(("dcg", "ndcg", "rbp"), GAINED),
    "err": ["grades", "sparse", "reals", "one", "none"],
    "pfound": PROBABILITIES,
    **{name: ["incomplete", "sparse", "one", "none"] for name in INCOMPLETE},
}


def squared(label):
    """A user-defined gain."""
    return label * label


def slow(rank):
    """A user-defined discount."""
    return 1 / (rank + 1)


CHOICES = {
    "gain": ["linear", "exponential", "binary", squared, [0.0, 3.0, 1.0, 4.0, 2.0]],
    "discount": ["log2", "log2_after_first", "reciprocal", None, slow],
    "threshold": [0, 0, 1, 0.5, -1, 62],
    "normalize": [False, True],
    "ties": list(oracle.TIES),
    "max_grade": [4, 5.5, 7, None],
    "unjudged": ["error", "irrelevant", "drop"],
    "k": [None, 1, 2, 3, 4, 5, 7, 10, 1000],
}
PROPENSITIES = np.array([1.0, 0.5, 0.25, 0.01])
CLIPS = [None, None, 0.1, 0.5]
ONLY_WITHIN_CUTOFF = ("precision", "recall", "f1", "hits", "hit_rate", "judged")
DENOMINATORS = {
    "map": ["min", "relevant", "hits"],
    "precision": ["k", "min", "attainable"],
    "recall": ["relevant", "min"],
    "f1": ["k", "min"],
}


def drawn_options(metric, random):
    """One value for every option that the metric has."""
    choices = {**CHOICES, "denominator": DENOMINATORS.get(metric, [])}
    known = METRICS[metric].options
    options = {n: v[random.integers(len(v))] for n, v in choices.items() if n in known}
    for name in {"p", "decay"} & set(known):
        options[name] = float(random.random())
    if metric in INCOMPLETE:
        options["threshold"] = abs(options.get("threshold", 0))
        options["ties"] = ["average", "stable", "reversed"][random.integers(3)]
        options = {name: value for name, value in options.items() if name in known}
    if options.get("unjudged") == "irrelevant" and options.get("threshold", 0) < 0:
        options["unjudged"] = "drop"
    return with_clicks_or_chance(metric, options, random)


def with_clicks_or_chance(metric, options, random):
    """Sometimes clicks, which exclude some options, or adjusted for chance, or neither."""
    choice = random.integers(4)
    if choice == 0 and not (metric in ONLY_WITHIN_CUTOFF and options.get("k") is None):
        return {**options, "adjusted": True}
    if choice > 1 or "propensity" not in METRICS[metric].options:
        return options
    of_clicks = {  # a document without a click counts nothing
        "threshold": abs(options.get("threshold", 0)),
        "normalize": False,
        "denominator": {"precision": "min", "recall": "relevant"}.get(metric),
    }
    options = {name: of_clicks.get(name, value) for name, value in options.items()}
    return {**options, "propensity": True, "clip": CLIPS[random.integers(len(CLIPS))]}


def drawn_pool(metric, options, random):
    """Labels that suit the metric and its options."""
    pools = PROBABILITIES if options.get("max_grade", 4) is None else LABELS[metric]
    if isinstance(options.get("gain"), list):
        pools = ["grades", "sparse", "one", "none"]
    pool = POOLS[pools[random.integers(len(pools))]]
    return pool if options.get("unjudged", "error") == "error" else [*pool, math.nan]


def drawn_queries(pool, random, sizes):
    """Labels, positions of scores in SCORES, and ids, with the rows of queries mixed."""
    groups = random.permutation(np.repeat(random.permutation(len(sizes)), sizes))
    n_scores = random.integers(1, len(SCORES) + 1)
    positions = random.choice(random.permutation(len(SCORES))[:n_scores], len(groups))
    return random.choice(pool, len(groups)), positions, groups


@functools.lru_cache(maxsize=2**16)
def oracle_value(metric, y, s, seen, options):
    """The oracle's value of one query; positions stand for scores, in the same order."""
    given = {n: list(v) if isinstance(v, tuple) else v for n, v in options}
    if given.pop("propensity", False):
        least = given.pop("clip") or 0
        y = [oracle.Click(label, max(p, least)) for label, p in zip(y, seen, strict=True)]
    return oracle.query_value(metric, y, [-math.inf if p == 0 else float(p) for p in s], **given)


def against_the_oracle(metric, options, random):
    """Compare many short queries, in one call, with the oracle."""
    pool = drawn_pool(metric, options, random)
    longest = 6 if options.get("ties", "stable") in ("stable", "reversed") else 5
    y, positions, groups = drawn_queries(pool, random, random.integers(1, longest + 1, BATCH))
    seen = random.choice(PROPENSITIES, len(y)) if options.get("propensity") else None
    given = {**options, "propensity": seen} if seen is not None else options
    values = each(metric, y, SCORES[positions], groups, replace_undefined_by=-9.0, **given)
    key = tuple((n, tuple(v) if isinstance(v, list) else v) for n, v in options.items())
    order = np.argsort(groups, kind="stable")
    heads = np.flatnonzero(np.diff(groups[order], prepend=-1, append=BATCH))
    y, positions = y[order].tolist(), positions[order].tolist()
    seen = [None] * len(y) if seen is None else seen[order].tolist()
    for query, (a, b) in enumerate(itertools.pairwise(heads.tolist())):
        rows = (tuple(column[a:b]) for column in (y, positions, seen))
        expected = oracle_value(metric, *rows, key)
        expected = -9.0 if expected is None else expected
        if not math.isclose(values[query], expected, rel_tol=1e-9, abs_tol=1e-11):
            fail(metric, options, y[a:b], SCORES[positions[a:b]].tolist(), values[query], expected)
    return BATCH


def against_itself(metric, options, random):
    """Check properties of the values of long queries."""
    pool = drawn_pool(metric, options, random)
    sizes = np.exp(random.uniform(0, math.log(300), 100)).astype(int)
    y, positions, groups = drawn_queries(pool, random, sizes)
    s = SCORES[positions]
    if random.integers(2):
        s = np.where(np.isfinite(s), random.normal(size=len(s)).round(random.integers(4)), s)
    seen = random.choice(PROPENSITIES, len(y))

    def measured(y, s, groups, rows=slice(None), **changes):
        given = {**options, **changes}
        given |= {"propensity": seen[rows]} if "propensity" in options else {}
        return each(metric, y[rows], s[rows], groups[rows], **given)

    before = measured(y, s, groups)

    def same(what, after, expected=before, tolerance=0.0):
        good = np.isclose(after, expected, rtol=tolerance, atol=tolerance / 100, equal_nan=True)
        if not good.all():
            query = int(np.flatnonzero(~good)[0])
            rows = groups == query
            given = metric, options, y[rows].tolist(), s[rows].tolist()
            fail(*given, after[query], expected[query], what)

    ranks = np.where(s == -math.inf, s, np.unique(s, return_inverse=True)[1])
    same("ranks for scores", measured(y, ranks, groups))
    order = np.argsort(groups, kind="stable")
    same("rows together", measured(y, s, groups, order))
    most, large = block.BLOCK_DOCUMENTS, choices.LARGE_BLOCK
    block.BLOCK_DOCUMENTS = documents.BLOCK_DOCUMENTS = int(random.integers(1, 2000))
    choices.LARGE_BLOCK = int(random.integers(1, 2000))
    same("other block sizes", measured(y, s, groups, n_jobs=2))
    block.BLOCK_DOCUMENTS = documents.BLOCK_DOCUMENTS = most
    choices.LARGE_BLOCK = large
    small, ranking.PLAIN_UP_TO = ranking.PLAIN_UP_TO, math.inf
    same("the plain sort", measured(y, s, groups), before, 1e-12)
    ranking.PLAIN_UP_TO = small
    query = int(random.integers(len(sizes)))
    alone = measured(y, s, groups, groups == query)
    same("alone", alone, before[[query]])
    if options.get("ties", "average") not in ("stable", "reversed"):
        mixed = random.permutation(len(y))
        same(
            "other row order",
            measured(y, s, groups, mixed),
            before,
            1e-9,
        )
    if "ties" in options and metric != "infap":
        # adjusted values increase with the others, but rounding grows where their expectation is
        # almost 1
        changes = {"adjusted": False} if "adjusted" in options else {}
        value, best, worst = (
            measured(y, s, groups, ties=ties, **changes)
            for ties in (options["ties"], "optimistic", "pessimistic")
        )
        same("no better than the best order", np.fmin(value, best), value, 1e-9)
        same("no worse than the worst order", np.fmax(value, worst), value, 1e-9)
    given = {**options, "propensity": seen} if "propensity" in options else options
    (mean,) = evaluate(y, s, metric, groups=groups, **given).values()
    defined = before[~np.isnan(before)]
    same("mean", np.array([mean]), np.array([defined.mean() if len(defined) else math.nan]), 1e-9)
    return len(sizes)


def each(metric, y, s, groups, **options):
    """The value of every query."""
    return evaluate(y, s, metric, groups=groups, average=None, **options)[metric]


def fail(metric, options, y, s, value, expected, what="the oracle"):
    """Print a counterexample and end."""
    sys.exit(
        f"{metric}, {options}: {what}\ny_true = {y}\ny_score = {s}\ngot {value!r}, "
        f"expected {expected!r}"
    )


def main():
    """Draw cases until their number or the time is reached."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--cases", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=60)
    args = parser.parse_args()
    start, cpu, done = time.monotonic(), time.process_time(), Counter()
    for number in itertools.count():
        if done["oracle"] >= args.cases or time.monotonic() - start > 60 * args.minutes:
            break
        random = np.random.default_rng([args.seed, number])
        metric = list(METRICS)[number % len(METRICS)]
        options = drawn_options(metric, random)
        done["oracle"] += against_the_oracle(metric, options, random)
        done["properties"] += against_itself(metric, options, random)
        done["batches"] += 1
        done["distinct"] += oracle_value.cache_info().misses
        oracle_value.cache_clear()
    print(f"{done['oracle']:,} queries ({done['distinct']:,} distinct in their batch) equal the")
    print(f"oracle, {done['properties']:,} long ones hold their properties, in {done['batches']:,}")
    print("batches of one metric and one set of options;")
    print(f"seed {args.seed}, {time.process_time() - cpu:.0f} s of one core.")


if __name__ == "__main__":
    main()
