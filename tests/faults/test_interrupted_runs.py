"""Runs that end at any moment resume with results that are equal bit for bit."""

import random
import signal
import time
from itertools import product

import pytest
from forked_runs import wait_until_saved

from sklearn_rankscore.streaming.checkpoint_format import from_bytes

pytestmark = pytest.mark.slow


def n_saved(state):
    """Number of documents in a checkpoint."""
    return from_bytes(state.read_bytes())[1].n_documents if state.exists() else 0


def test_thirty_kills_at_random_times(server, rows, expected, tmp_path):
    state, delays, saved, n_kills = tmp_path / "state", random.Random(0), set(), 0
    begin = time.monotonic()
    assert server.finish(rows, state, checkpoint_seconds=0) == expected
    whole = time.monotonic() - begin
    while n_kills < 30 or len(saved) < 9:  # at different moments on a busy machine, too
        run = server.start(rows, state, checkpoint_seconds=0)
        time.sleep(whole * 10 ** delays.uniform(-3, 0))  # also if the load has changed since
        code = run.kill()
        assert code in (0, -signal.SIGKILL), run.output()
        n_kills += code == -signal.SIGKILL
        saved.add(n_saved(state))  # every file that is left is whole
        if not code:  # it had ended before
            assert run.output()["scores"] == expected
    assert server.finish(rows, state, checkpoint_seconds=0) == expected
    assert not list(tmp_path.iterdir())


def test_kills_before_and_after_each_step_of_a_write(server, rows, expected, tmp_path):
    """Each write syncs the file, replaces the old one, and syncs the folder."""
    state = tmp_path / "state"
    points = [*product(["fsync"], ["before", "after"], [1, 2, 7, 8]), ("replace", "before", 1)]
    points += [*product(["replace"], ["before", "after"], [3]), ("unlink", "before", 1)]
    for point in points:
        run = server.start(rows, state, fault=["die_at", *point], checkpoint_seconds=0)
        assert run.wait() == -signal.SIGKILL, point
        n_saved(state)
    assert server.finish(rows, state, checkpoint_seconds=0) == expected


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_at_random_times_save_the_state(server, rows, expected, tmp_path, number):
    state, delays, saved = tmp_path / "state", random.Random(int(number)), [0]
    while len(saved) < 6 or not any(saved):  # the time between two writes has never passed
        run = server.start(rows, state, checkpoint_seconds=10_000)
        wait_until_saved(state)
        time.sleep(delays.random() * 0.03 * len(saved))  # later and later on a busy machine
        code = run.kill(number)
        if code in (-number, 1):  # it had not ended before
            assert n_saved(state) >= saved[-1]
            saved.append(n_saved(state))
            if number == signal.SIGINT:
                assert run.output()["error"].startswith("KeyboardInterrupt")
        else:
            assert code == 0
            assert run.output()["scores"] == expected
            saved.append(0)
    assert server.finish(rows, state) == expected
