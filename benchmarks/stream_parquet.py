"""Compare time and peak memory of streaming a Parquet file with evaluation in memory.

python benchmarks/stream_parquet.py --rows 50000000

The file is generated first, sorted by query, with queries of 10 to 100 documents. Both methods
read it: the streaming time is that of `evaluate_parquet`, the time in memory that of reading all
rows into arrays and of `evaluate`. They alternate, in processes of their own, so that their peak
memory can be compared; the medians of several runs are shown, of wall-clock and of CPU time. The
ratio of the CPU times is to stay at most 1.3.
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

CHUNK = 1_000_000


def make(path, n_rows, seed=0):
    """Write the given number of rows in chunks."""
    random = np.random.default_rng(seed)
    schema = pa.schema([("qid", pa.int64()), ("label", pa.int8()), ("score", pa.float32())])
    first = 0
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(0, n_rows, CHUNK):
            n = min(CHUNK, n_rows - start)
            ends = np.cumsum(random.integers(10, 101, size=n // 10 + 1))
            qid = first + np.searchsorted(ends, np.arange(n), side="right")
            first = int(qid[-1])  # the last query continues in the next chunk
            label = np.searchsorted([0.5, 0.75, 0.9, 0.97], random.random(n)).astype(np.int8)
            score = random.normal(label, 2.0).astype(np.float32)
            writer.write_batch(pa.record_batch([qid, label, score], schema=schema))


def clocks():
    """Return wall-clock seconds and CPU seconds of all threads; the latter suit a busy machine."""
    return np.array([time.perf_counter(), time.process_time()])


def stream(path, metrics):
    """Return the times and the result of streaming the file."""
    start = clocks()
    scores = evaluate_parquet(path, metrics)
    return clocks() - start, scores


def in_memory(path, metrics):
    """Return the times and the result of reading all rows into memory and evaluating them."""
    start = clocks()
    table = pq.read_table(path)
    arrays = [table[name].to_numpy() for name in ("label", "score", "qid")]
    del table
    scores = evaluate(*arrays[:2], metrics, groups=arrays[2])
    return clocks() - start, scores


def measure(method, path, metrics):
    """Run one of the two methods in a separate process."""
    command = [sys.executable, __file__, "--measure", method, "--path", str(path), "--metrics"]
    done = subprocess.run([*command, *metrics], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def median(runs):
    """Return a run with the median of the times and the largest peak memory."""
    seconds = np.median([run["seconds"] for run in runs], axis=0)
    return {**runs[0], "seconds": seconds, "peak": max(run["peak"] for run in runs)}


def report(path, metrics, n_rows, n_runs):
    """Measure both methods in turn and print the results."""
    pairs = [
        [measure(method, path, metrics) for method in ("stream", "in_memory")]
        for _ in range(n_runs)
    ]
    streamed, held = map(median, zip(*pairs, strict=True))
    for name, run in (("streamed", streamed), ("in memory", held)):
        wall, cpu = (seconds / n_rows * 1e9 for seconds in run["seconds"])
        peak = run["peak"] / 2**30
        print(f"{name:>9}: {wall:6.1f} ns per row, {cpu:6.1f} of CPU, peak memory {peak:.2f} GiB")
    wall, cpu = np.divide(streamed["seconds"], held["seconds"])
    print(f"    ratio: {wall:.2f}, {cpu:.2f} of CPU")
    difference = max(abs(streamed["scores"][name] - held["scores"][name]) for name in metrics)
    print(f"   differ: {difference:.1e}")
    return streamed, held


def main():
    """Parse the command line and run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=50_000_000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--metrics", nargs="+", default=["ndcg@10", "map@10", "mrr@10"])
    parser.add_argument("--path", type=Path, help="file to keep and reuse")
    parser.add_argument("--measure", choices=["stream", "in_memory"], help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        methods = {"stream": stream, "in_memory": in_memory}
        seconds, scores = methods[given.measure](given.path, given.metrics)
        # kilobytes on Linux, bytes on macOS
        unit = 1 if sys.platform == "darwin" else 1024
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
        print(json.dumps({"seconds": seconds.tolist(), "scores": scores, "peak": peak}))
        return
    with tempfile.TemporaryDirectory() as folder:
        path = given.path or Path(folder) / "rows.parquet"
        if not path.exists():
            make(path, given.rows)
        report(path, given.metrics, pq.read_metadata(path).num_rows, given.runs)


if __name__ == "__main__":
    main()
