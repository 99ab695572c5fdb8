"""Stream a Parquet file: peak memory, and time per row against the metrics in memory.

python benchmarks/stream_parquet.py --rows 50000000

The file is made first, sorted by query, with queries of 10 to 100 documents. Reading it is part of
the streaming time; the time in memory is that of `evaluate` on the same rows, already in arrays.
Each is measured in a process of its own, so that its peak memory is its own.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sklearn_rankscore import evaluate, evaluate_parquet

PIECE = 1_000_000


def make(path, n_rows, seed=0):
    """Write so many rows, a piece at a time."""
    random = np.random.default_rng(seed)
    kinds = pa.schema([("qid", pa.int64()), ("label", pa.int8()), ("score", pa.float32())])
    first = 0
    with pq.ParquetWriter(path, kinds) as writer:
        for start in range(0, n_rows, PIECE):
            n = min(PIECE, n_rows - start)
            ends = np.cumsum(random.integers(10, 101, size=n // 10 + 1))
            qid = first + np.searchsorted(ends, np.arange(n), side="right")
            first = int(qid[-1])  # the last query goes on in the next piece
            label = np.searchsorted([0.5, 0.75, 0.9, 0.97], random.random(n)).astype(np.int8)
            score = random.normal(label, 2.0).astype(np.float32)
            writer.write_batch(pa.record_batch([qid, label, score], schema=kinds))


def clocks():
    """Seconds on the wall, and of the processor in all threads: the fair one on a busy machine."""
    return np.array([time.perf_counter(), time.process_time()])


def stream(path, metrics):
    """Clocks and result of streaming the file."""
    start = clocks()
    found = evaluate_parquet(path, metrics)
    return clocks() - start, found


def in_memory(path, metrics):
    """Clocks and result of the same rows held in arrays."""
    table = pq.read_table(path)
    arrays = [table[name].to_numpy() for name in ("label", "score", "qid")]
    del table
    start = clocks()
    found = evaluate(*arrays[:2], metrics, groups=arrays[2])
    return clocks() - start, found


def measure(way, path, metrics):
    """Run one way in a process of its own."""
    command = [sys.executable, __file__, "--measure", way, "--path", str(path), "--metrics"]
    done = subprocess.run([*command, *metrics], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def report(path, metrics, n_rows):
    """Measure both ways and print them beside each other."""
    streamed, held = (measure(way, path, metrics) for way in ("stream", "in_memory"))
    for way, run in (("streamed", streamed), ("in memory", held)):
        wall, cpu = (seconds / n_rows * 1e9 for seconds in run["seconds"])
        peak = run["peak"] / 2**30
        print(f"{way:>9}: {wall:6.1f} ns a row, {cpu:6.1f} of CPU, peak memory {peak:.2f} GiB")
    wall, cpu = np.divide(streamed["seconds"], held["seconds"])
    print(f"    ratio: {wall:.2f}, {cpu:.2f} of CPU")
    furthest = max(abs(streamed["found"][name] - held["found"][name]) for name in metrics)
    print(f"   differ: {furthest:.1e}")
    return streamed, held


def main():
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=50_000_000)
    parser.add_argument("--metrics", nargs="+", default=["ndcg@10", "map@10", "mrr@10"])
    parser.add_argument("--path", type=Path, help="a file to keep and use again")
    parser.add_argument("--measure", choices=["stream", "in_memory"], help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        ways = {"stream": stream, "in_memory": in_memory}
        seconds, found = ways[given.measure](given.path, given.metrics)
        # kilobytes on Linux, bytes on macOS
        unit = 1 if sys.platform == "darwin" else 1024
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
        print(json.dumps({"seconds": seconds.tolist(), "found": found, "peak": peak}))
        return
    with tempfile.TemporaryDirectory() as folder:
        path = given.path or Path(folder) / "rows.parquet"
        if not path.exists():
            make(path, given.rows)
        report(path, given.metrics, pq.read_metadata(path).num_rows)


if __name__ == "__main__":
    main()
