"""Time and memory of `evaluate_parquet` for twenty million rows: sorted, shuffled, and text ids.

    python benchmarks/big_files.py [--rows 20000000] [--memory-limit 1GB] [--before path]

Each run is a process of its own, which prints wall-clock and CPU seconds and its peak memory; the
values must be those in memory. With `--before`, the folder of another version of the package, the
sorted file is read by both in turn.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from stream_parquet import make

METRICS = ["ndcg@10", "map@10", "mrr@10"]
PACKAGE = Path(__file__).parents[1]


def write_files(folder, n_rows):
    """Write rows sorted by query, and shuffled ones with ids unchanged and as text."""
    make(folder / "sorted.parquet", n_rows)
    table = pq.read_table(folder / "sorted.parquet")
    order = np.random.default_rng(1).permutation(len(table))
    columns = {name: table[name].to_numpy()[order] for name in table.column_names}
    qid = columns["qid"]
    pq.write_table(pa.table(columns), folder / "shuffled.parquet")
    texts = pa.array([f"session-{i:010d}" for i in range(qid.max() + 1)], pa.large_string())
    parts = [texts.take(pa.array(part)) for part in np.array_split(qid, 20)]
    pq.write_table(pa.table(columns | {"qid": pa.chunked_array(parts)}), folder / "text.parquet")


def in_memory(path):
    """The values of all rows at once."""
    from sklearn_rankscore import evaluate

    table = pq.read_table(path)
    label, score, qid = (table[name].to_numpy() for name in ("label", "score", "qid"))
    return evaluate(label, score, METRICS, groups=qid)


def stream(path, options):
    """The values of the file."""
    from sklearn_rankscore import evaluate_parquet

    return dict(evaluate_parquet(path, METRICS, **options))


def measure(path, options, package=PACKAGE):
    """Run `stream`, or `in_memory` if there are no options, in a process of its own."""
    command = [sys.executable, __file__, "--path", str(path), "--options", json.dumps(options)]
    environment = {**os.environ, "PYTHONPATH": str(package)}
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, env=environment)
    return json.loads(done.stdout)


def child(path, options):
    """Print the times, the peak memory in GB, and the values."""
    import duckdb  # noqa: F401 - not part of the time
    import pyarrow.dataset  # noqa: F401

    import sklearn_rankscore.metrics  # noqa: F401

    wall, cpu = time.perf_counter(), time.process_time()
    values = in_memory(path) if options is None else stream(path, options)
    times = time.perf_counter() - wall, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
    print(json.dumps({"times": times, "peak": peak, "values": values}))


def show(title, run, expected):
    """Print a run, which must have the expected values to 1e-12."""
    differs = max(abs(run["values"][name] - expected[name]) for name in METRICS)
    assert differs <= 1e-12, differs
    wall, cpu = run["times"]
    print(f"{title:24} {wall:6.2f} s {cpu:6.2f} s of CPU {run['peak']:5.2f} GB", flush=True)


def main():
    """Write the files, and measure."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--memory-limit", default="1GB")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--before", help="the folder of another version of the package")
    parser.add_argument("--folder", type=Path, help="where files are kept")
    parser.add_argument("--path", help=argparse.SUPPRESS)
    parser.add_argument("--options", type=json.loads, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.path:
        child(given.path, given.options)
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        folder.mkdir(exist_ok=True)
        if not (folder / "text.parquet").exists():
            # in another process: those started here begin with the peak memory of this one
            write = get_context("spawn").Process(target=write_files, args=(folder, given.rows))
            write.start()
            write.join()
        held = measure(folder / "sorted.parquet", None)
        show("in memory, sorted", held, held["values"])
        for name in ("shuffled", "text"):
            run = measure(folder / f"{name}.parquet", {"memory_limit": given.memory_limit})
            show(name, run, held["values"])
        best = {}
        for _ in range(given.rounds):
            for title, package in (("sorted", PACKAGE), ("sorted, before", given.before)):
                if package is not None:
                    run = measure(folder / "sorted.parquet", {}, package)
                    show(title, run, held["values"])
                    best[title] = np.minimum(run["times"], best.get(title, np.inf))
        if len(best) == 2:
            wall, cpu = best["sorted"] / best["sorted, before"]
            print(f"ratio of the fastest: {wall:.2f}, {cpu:.2f} of CPU")


if __name__ == "__main__":
    main()
