"""Time and peak memory for a hundred million documents.

    python benchmarks/big.py [--documents 100000000] [--length 50] [--n-jobs 2]

Labels are bytes, scores float32 and query ids int32, as in a large Parquet file: 900 MB in total.
The means are compared with means computed from parts of the data.
"""

import argparse
import itertools
import resource
import time

import numpy as np

from sklearn_rankscore import evaluate

METRICS = ["ndcg@10", "map@10", "mrr@10", "precision@10", "recall@100"]
LAYOUTS = (
    "contiguous queries, sorted by id",
    "contiguous queries, not sorted",
    "shuffled rows",
)


def peak():
    """Return the peak memory of the process so far, in GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def make(n_documents, length):
    """Return labels, scores and ids of queries of 1 to 2 * length - 1 documents."""
    random = np.random.default_rng(0)
    sizes = random.integers(1, 2 * length, int(1.1 * n_documents / length) + 1)
    ids = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)[:n_documents]
    y = random.integers(0, 5, len(ids), dtype=np.uint8)
    return y, random.random(len(ids), dtype=np.float32), ids


def evaluate_in_parts(y, s, ids, names, n_parts=20):
    """Return the means computed from parts that consist of whole queries."""
    bounds = np.searchsorted(ids, np.linspace(0, ids[-1] + 1, n_parts + 1).astype(ids.dtype))
    total, count = dict.fromkeys(names, 0.0), 0
    for a, b in itertools.pairwise(bounds):
        scores = evaluate(y[a:b], s[a:b], names, groups=ids[a:b], average=None)
        count += len(scores[names[0]])
        total = {name: total[name] + scores[name].sum() for name in names}
    return {name: total[name] / count for name in names}


def main():
    """Measure each layout with one metric and with five metrics."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--documents", type=int, default=100_000_000)
    parser.add_argument("--length", type=int, default=50)
    parser.add_argument("--n-jobs", type=int, default=1)
    parser.add_argument("--layouts", type=int, nargs="+", default=[0, 1, 2])
    args = parser.parse_args()
    y, s, ids = make(args.documents, args.length)
    expected = evaluate_in_parts(y, s, ids, METRICS)
    print(f"{len(y):,} documents in {ids[-1] + 1:,} queries; {peak():.1f} GB including the data")
    for layout in args.layouts:
        if layout == 1:
            ids = np.random.default_rng(1).permutation(ids[-1] + 1).astype(np.int32)[ids]
        elif layout == 2:
            order = np.random.default_rng(2).permutation(len(y))
            y, s, ids = y[order], s[order], ids[order]
            del order
        for names in (METRICS[:1], METRICS):
            start = time.perf_counter()
            scores = evaluate(y, s, names, groups=ids, n_jobs=args.n_jobs)
            seconds = time.perf_counter() - start
            for name in names:
                assert abs(scores[name] - expected[name]) < 1e-9, (name, scores)
            print(
                f"{LAYOUTS[layout]:32} {len(names)} metrics {seconds:7.1f} s "
                f"{1e9 * seconds / len(y):6.1f} ns per document, peak {peak():.1f} GB"
            )


if __name__ == "__main__":
    main()
