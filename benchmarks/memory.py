"""Peak memory of each metric, in bytes per document beyond the labels, scores and ids.

    python benchmarks/memory.py [--documents 5000000]

Labels and scores are float64, ids int64. "One query" holds all documents; "tiny" queries have two.
With "ties" there are some thousand different scores, with "heavy ties" nine. Labels are 0 and 1, or
fractions between them, which no small integer stores.
"""

import argparse
import tracemalloc

import numpy as np

from sklearn_rankscore import evaluate, evaluate_batches

FAMILIES = {
    "with a cut-off": [
        *("ndcg@10", "dcg@10", "map@10", "mrr@10", "precision@10", "recall@10", "f1@10"),
        *("hits@10", "hit_rate@10", "err@10", "rbp@10", "pfound@10", "judged@10"),
    ],
    "gains and hits": [
        *("ndcg", "dcg", "rbp", "precision", "recall", "f1", "hits", "hit_rate", "mrr"),
        *("r_precision", "judged"),
    ],
    "MAP, ERR, pFound": ["map", "err", "pfound"],
    "pairs, correlation": ["query_auc", "pair_accuracy", "kendall_tau", "spearman"],
    "bpref": ["bpref"],
}
# what a query of any length takes at most; tiny queries take more for results per query
LIMITS = {"with a cut-off": 40} | dict.fromkeys([*FAMILIES][1:], 80)
LIMITS_TINY = {"with a cut-off": 70} | dict.fromkeys([*FAMILIES][1:], 110)
LIMIT_STREAM = 50
SHAPES = {
    "one query": (None, None, False),
    "one query, ties": (None, 3, False),
    "one query, heavy ties": (None, 0, False),
    "one query, ties, fractions": (None, 3, True),
    "queries of 100": (100, None, False),
    "tiny queries": (2, None, False),
}


def make(n, length, decimals, fractions):
    """Return labels, scores and ids."""
    random = np.random.default_rng(0)
    y, score = random.integers(0, 2, n).astype(np.float64), random.standard_normal(n)
    y = random.random(n) if fractions else y
    score = score if decimals is None else np.round(score, decimals)
    return y, score, np.arange(n) // (length or n)


def peak(call, n):
    """Return the most memory that a call holds at a time, in bytes per document."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1] / n
    finally:
        tracemalloc.stop()


def measure(n, shape, names):
    """Return bytes per document of the metric that needs most of them."""
    y, score, ids = make(n, *SHAPES[shape])
    return max(peak(lambda m=m: evaluate(y, score, m, groups=ids), n) for m in names)


def measure_stream(n, batch_rows, names):
    """Return bytes per document of a stream that consists of one query, up to its result."""
    import pyarrow as pa

    y, score, ids = make(n, None, None, fractions=False)
    table = pa.table({"label": y, "score": score, "qid": ids})
    return peak(lambda: evaluate_batches(table.to_batches(batch_rows), names), n)


def main():
    """Print the table of `benchmarks/memory.md`."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--documents", type=int, default=5_000_000)
    n = parser.parse_args().documents
    print("| metrics | " + " | ".join(SHAPES) + " |\n|---" + "|---" * len(SHAPES) + "|")
    for family, names in FAMILIES.items():
        cells = (f"{measure(n, shape, names):.0f}" for shape in SHAPES)
        print(f"| {family} | " + " | ".join(cells) + " |", flush=True)
    few = FAMILIES["with a cut-off"]
    print(f"a stream of one query: {measure_stream(n, n // 10, few):.0f}")


if __name__ == "__main__":
    main()
