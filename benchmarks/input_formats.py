"""Time and memory of from_frames and from_trec, against a merge of pandas and trec_eval.

    python benchmarks/input_formats.py frames
    python benchmarks/input_formats.py trec [--lines 10000000] [--trec-eval path/to/trec_eval]

Both are CPU times of one process; calls alternate, and the fastest counts. Without the binary of
trec_eval, from_trec is compared with pytrec_eval and the reading of its dicts.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from sklearn_rankscore import evaluate, from_frames, from_trec

NAMES = ["ndcg@10", "map"]


def cpu_time(call: Callable[[], object]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def frames(n_rows: int = 1_000_000) -> None:
    """As many users and items as in MovieLens 1M; half of the predictions were rated."""
    rng, n_users, n_items = np.random.default_rng(0), 6040, 3706
    pairs = rng.choice(n_users * n_items, n_rows + n_rows // 2, replace=False)
    rated, predicted = np.sort(pairs[:n_rows]), pairs[-n_rows:]

    def frame(pair: np.ndarray, **values: np.ndarray) -> pd.DataFrame:
        return pd.DataFrame({"user": pair // n_items, "item": pair % n_items, **values})

    log = frame(rated, rating=rng.integers(1, 6, n_rows))
    top = frame(predicted, score=rng.random(n_rows))
    columns = {"groups": "user", "document": "item", "relevance": "rating", "score": "score"}
    for how in ("outer", "left"):
        merge = lambda how=how: log.merge(top, on=["user", "item"], how=how)  # noqa: E731
        read = lambda: from_frames(log, top, **columns)  # noqa: E731
        times = [(cpu_time(merge), cpu_time(read)) for _ in range(5)]
        theirs, ours = (min(column) for column in zip(*times, strict=True))
        print(f"from_frames {ours:.2f} s, merge(how={how!r}) {theirs:.2f} s: {ours / theirs:.2f}")


def write_trec(folder: Path, n_lines: int, depth: int = 1000) -> tuple[Path, Path]:
    """A run with document ids as in ClueWeb09, and judgments of every fiftieth line."""
    rng = np.random.default_rng(0)
    qrels, run = folder / "big.qrels", folder / "big.run"
    with qrels.open("w") as judged, run.open("w") as lines:
        for start in range(0, n_lines, depth):
            query, scores = start // depth, -np.sort(-rng.random(depth))
            numbers = rng.choice(10**7, depth, replace=False).tolist()
            ids = [f"clueweb09-en{x % 9999:04d}-{x % 99:02d}-{x:07d}" for x in numbers]
            lines.writelines(
                f"{query} Q0 {d} {i} {s:.6f} run\n"
                for i, (d, s) in enumerate(zip(ids, scores.tolist(), strict=True))
            )
            judged.writelines(f"{query} 0 {d} 1\n" for d in ids[::50])
    return qrels, run


def by_pytrec_eval(qrels: Path, run: Path) -> None:
    import pytrec_eval

    with qrels.open() as judged, run.open() as lines:
        evaluator = pytrec_eval.RelevanceEvaluator(
            pytrec_eval.parse_qrel(judged), {"ndcg_cut.10", "map"}
        )
        evaluator.evaluate(pytrec_eval.parse_run(lines))


def trec(n_lines: int, binary: str | None) -> None:
    with tempfile.TemporaryDirectory() as folder:
        qrels, run = write_trec(Path(folder), n_lines)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        ours = cpu_time(lambda: evaluate(metrics=NAMES, **from_trec(qrels, run), like="trec_eval"))
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        if binary is None:
            theirs = cpu_time(lambda: by_pytrec_eval(qrels, run))
        else:
            command = [binary, "-m", "ndcg_cut.10", "-m", "map", str(qrels), str(run)]
            subprocess.run(command, check=True, capture_output=True)
            used = resource.getrusage(resource.RUSAGE_CHILDREN)
            theirs = used.ru_utime + used.ru_stime
    print(f"{ours:.1f} s, {theirs:.1f} s: {ours / theirs:.2f}; {grown * 1024 / n_lines:.0f} B/line")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["frames", "trec"])
    parser.add_argument("--lines", type=int, default=10_000_000)
    parser.add_argument("--trec-eval")
    options = parser.parse_args()
    if options.what == "frames":
        frames()
    else:
        trec(options.lines, options.trec_eval)


if __name__ == "__main__":
    main()
