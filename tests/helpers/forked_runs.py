"""Runs of `evaluate_parquet` in processes that a test may kill at any time.

A server, which is this file as a program, has imported the package and forks a process for each
run, so that dozens of runs take seconds.
"""

import json
import math
import os
import signal
import subprocess
import sys
import time
import warnings
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

WEIGHTED = {"weight": "weight", "batch_rows": 5}
METRICS = ["ndcg@10(gain=exponential)", "map@5", "err@10", "query_auc", "kendall_tau"]


@dataclass
class Run:
    """A process that evaluates files and writes its result, or its error, to another one."""

    server: "Server"
    pid: int
    result: Path

    def wait(self):
        """The exit code, negative for a signal."""
        return self.server.ask(wait=self.pid)

    def kill(self, number=signal.SIGKILL):
        os.kill(self.pid, number)
        return self.wait()

    def output(self):
        """Whatever it has printed: scores, or an error, and warnings."""
        return json.loads(self.result.read_text())


class Server:
    """Starts runs."""

    def __init__(self, folder):
        self.folder, self.n_runs = folder, 0
        paths = [*filter(None, sys.path), os.path.dirname(__file__)]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self.process = subprocess.Popen([sys.executable, __file__], env=environment, **pipes)

    def ask(self, **request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def start(self, rows, state=None, *, fault=None, **options):
        """Start a run; `fault` is the name of a function of this file and its arguments."""
        self.n_runs += 1
        result = self.folder / f"result-{self.n_runs}"
        options = {"checkpoint": state and str(state), **options}
        pid = self.ask(rows=str(rows), result=str(result), fault=fault, options=options)
        return Run(self, pid, result)

    def finish(self, rows, state=None, **options):
        """The scores of a run that is not disturbed."""
        run = self.start(rows, state, **options)
        assert run.wait() == 0, run.output()
        return run.output()["scores"]

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


def wait_until_saved(state):
    """Wait for the first state of a run, which it saves before it reads the first row."""
    end = time.monotonic() + 60
    while not state.exists():
        assert time.monotonic() < end
        time.sleep(0.002)


def main():
    # in the server alone, which forks before it starts a thread
    import pyarrow.parquet  # noqa: F401

    import sklearn_rankscore.streaming.parquet  # noqa: F401

    with suppress(ImportError):  # fsspec is optional
        import bucket

        bucket.register()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a run handles it as soon as it has begun
    for line in sys.stdin:
        request = json.loads(line)
        if "wait" in request:
            answer = os.waitstatus_to_exitcode(os.waitpid(request["wait"], 0)[1])
        else:
            answer = os.fork()
            if not answer:
                os._exit(run(**request))
        print(answer, flush=True)


def run(rows, result, fault, options):
    """One run, in a process of its own."""
    from sklearn_rankscore import RankingAccumulator, evaluate_parquet

    output = {}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            every_batch = globals()[fault[0]](*fault[1:]) if fault else int
            metrics = [*METRICS, Slow(every_batch)]
            collected = RankingAccumulator(metrics, replace_undefined_by=math.nan)
            evaluate_parquet(rows, collected, **WEIGHTED, **options)
            output["scores"] = repr(collected.result())  # repr gives every bit of a float
        except BaseException as error:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            output["error"] = f"{type(error).__name__}: {error}"
    if fault and fault[0] == "small_files":
        limit_files(None)
    output["warnings"] = [str(warning.message) for warning in caught]
    Path(result).write_text(json.dumps(output))
    return "error" in output


class Slow:
    """A metric that takes a millisecond, in which a fault may occur."""

    def __init__(self, every_batch):
        self.every_batch = every_batch

    def __call__(self, block):
        time.sleep(0.001)
        self.every_batch()
        return block.sizes * 0.1

    def __reduce__(self):
        return Slow, (None,)  # the fault is no part of the metric


def die_at(name, when, count):
    """SIGKILL before or after the nth call of a function of the module os."""
    function, calls = getattr(os, name), []

    def dying(*arguments, **keywords):
        calls.append(name)
        if when == "before" and len(calls) == count:
            os.kill(os.getpid(), signal.SIGKILL)
        value = function(*arguments, **keywords)
        if len(calls) == count:
            os.kill(os.getpid(), signal.SIGKILL)
        return value

    setattr(os, name, dying)
    return int


def die_at_request(count):
    """SIGKILL in the nth step of what changes a file of a bucket."""
    import bucket

    def dying():
        dying.count += 1
        if dying.count == count:
            os.kill(os.getpid(), signal.SIGKILL)

    dying.count = 0
    bucket.Bucket.before_each_step = staticmethod(dying)
    return int


def full_disk(path, until):
    """From the third batch on and for some batches, a disk without space for a file."""
    batches = []

    def every_batch():
        batches.append(path)
        if 3 <= len(batches) < until and not os.path.islink(path):
            os.symlink("/dev/full", path)

    return every_batch


def small_files(n_bytes):
    """From the third batch on, no file may be longer, as with a quota."""
    batches = []

    def every_batch():
        batches.append(n_bytes)
        if len(batches) == 3:
            limit_files(n_bytes)

    return every_batch


def limit_files(n_bytes):
    """Let no write extend a file beyond a size, or let all do so again."""
    import resource  # not on Windows

    _, highest = resource.getrlimit(resource.RLIMIT_FSIZE)
    limit = highest if n_bytes is None else n_bytes
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, highest))


if __name__ == "__main__":
    main()
