"""Runs that are killed, damaged files, and full disks."""

import os
import signal
import subprocess
import sys
import time
from itertools import product

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from doors import shuffled
from many_queries import EXACT, in_memory, make_documents

from sklearn_rankscore import evaluate_parquet

pytestmark = pytest.mark.slow

RUN = """
import sys
from sklearn_rankscore import evaluate_parquet
print("begun", flush=True)
print(evaluate_parquet(sys.argv[1], "ndcg@10", memory_limit="40MB")["ndcg@10"].hex())
"""


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    random, n = np.random.default_rng(0), 2_000_000
    columns = {"qid": random.integers(0, n // 20, n), "label": random.integers(0, 3, n)}
    columns["score"] = random.random(n)
    path = tmp_path_factory.mktemp("rows") / "rows.parquet"
    pq.write_table(pa.table(columns), path)
    return path


def start(path, temporary):
    temporary.mkdir(exist_ok=True)
    environment = {**os.environ, "TMPDIR": str(temporary)}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([sys.executable, "-c", RUN, str(path)], env=environment, **pipes)


def test_runs_that_are_killed_while_they_sort(path, tmp_path):
    """They leave the engine's temporary folder at most, which the next run ignores."""
    files, whole = sorted(path.parent.iterdir()), path.read_bytes()
    for number, seconds in product((signal.SIGINT, signal.SIGKILL), (0, 0.3)):
        temporary = tmp_path / f"{number} after {seconds}"
        run = start(path, temporary)
        while not list(temporary.rglob("*.tmp")):
            assert run.poll() is None
            time.sleep(0.01)
        time.sleep(seconds)
        run.send_signal(number)
        output, errors = run.communicate(timeout=60)
        assert output == "begun\n", errors
        if number == signal.SIGINT:
            assert "KeyboardInterrupt" in errors
            assert not list(temporary.iterdir())
        assert all(left.name.startswith("rankscore-") for left in temporary.iterdir())
    left = sorted(temporary.iterdir())
    output, errors = start(path, temporary).communicate(timeout=300)
    assert sorted(temporary.iterdir()) == left
    assert sorted(path.parent.iterdir()) == files
    assert path.read_bytes() == whole
    table = pq.read_table(path)
    expected = in_memory({n: table[n].to_numpy() for n in table.column_names}, ["ndcg@10"])
    begun, result = output.split()
    assert begun == "begun", errors
    assert float.fromhex(result) == pytest.approx(expected["ndcg@10"], **EXACT), (result, errors)


def test_a_full_disk_is_an_error(path, tmp_path, monkeypatch):
    import resource  # not on Windows

    _, highest = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    resource.setrlimit(resource.RLIMIT_FSIZE, (4_000_000, highest))
    try:
        with pytest.raises(Exception, match=r"(?i)write|space|too large|memory"):
            evaluate_parquet(path, "ndcg@10", memory_limit="40MB")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (highest, highest))
        signal.signal(signal.SIGXFSZ, before)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("order", ["sorted", "shuffled"])
def test_damaged_files_with_checksums(tmp_path, order):
    """Each is an error that names the file, or has the right result: bits, ranges, and lengths."""
    random, columns = np.random.default_rng(0), make_documents(300)
    columns = shuffled(columns) if order == "shuffled" else columns
    path, n_named = tmp_path / "rows.parquet", 0
    pq.write_table(pa.table(columns), path, write_page_checksum=True, data_page_size=2000)
    whole, expected = path.read_bytes(), evaluate_parquet(path, "ndcg@10")
    footer = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    for i in range(299):
        damaged, at = bytearray(whole), int(random.integers(4 if i % 2 else footer, len(whole)))
        if i % 3 == 0:
            damaged[at] ^= 1 << int(random.integers(8))
        elif i % 3 == 1:
            end = min(at + 500, len(whole))
            damaged[at:end] = random.bytes(end - at)
        else:
            damaged = damaged[:at] + damaged[at + int(random.integers(1, 9)) :]
        path.write_bytes(damaged)
        try:
            assert evaluate_parquet(path, "ndcg@10") == expected
        except (ValueError, TypeError) as error:
            assert "rows.parquet" in str(error)  # noqa: PT017 - it may have the right result
            n_named += 1
    assert n_named > 150
