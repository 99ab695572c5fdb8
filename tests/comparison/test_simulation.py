"""What intervals and tests promise, on the simulated populations of benchmarks/simulations.py."""

import sys
from pathlib import Path

import numpy as np
import pytest

from sklearn_rankscore.comparison.intervals import difference_interval, mean_interval

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))
import simulations  # noqa: E402

pytestmark = pytest.mark.slow

TABLES = ROOT / "benchmarks" / "coverage.md"
# large values that few samples of ten queries hold, and losses that only small weights may hold
NOT_COVERED = {
    ("DCG, gamma(.5)", "equal", 10),
    ("DCG, lognormal", "equal", 10),
    ("95 % won about .01, 5 % lost .5", "lognormal", 100),
}


def recorded_rows():
    """Population, weights and coverage by number of queries, of means and of differences."""
    sizes = []
    for line in TABLES.read_text("utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if cells[1:2] == ["weights"]:  # the head of a table; others follow that of intervals
            is_coverage = cells[0] in ("means", "differences")
            sizes = [int(cell) for cell in cells[2:]] if is_coverage else []
        elif cells[1:2] and cells[1] in simulations.WEIGHTS and len(cells) == 2 + len(sizes):
            yield cells[0], cells[1], dict(zip(sizes, cells[2:], strict=True))


def test_there_is_a_row_of_every_population_and_holds_the_target():
    rows = list(recorded_rows())
    names = {name for name, *_ in rows}
    assert names == {*simulations.MEANS, *simulations.DIFFERENCES}
    n_populations = len(simulations.MEANS) + len(simulations.DIFFERENCES)
    assert len(rows) == n_populations * len(simulations.WEIGHTS)
    for name, weights, shares in rows:
        for n, share in shares.items():
            # .94, up to two standard errors of a simulation of 1,000 samples
            is_covered = share == "none" or float(share) >= 0.94 - 2 * 0.0075
            assert is_covered or (name, weights, n) in NOT_COVERED, (name, weights, n)


@pytest.mark.parametrize("row", list(recorded_rows()), ids=lambda row: ", ".join(row[:2]))
def test_coverage_is_that_of_the_table(row, monkeypatch):
    name, weights, shares = row
    monkeypatch.setattr(simulations, "REPETITIONS", 400)
    is_mean = name in simulations.MEANS
    populations = simulations.MEANS if is_mean else simulations.DIFFERENCES
    interval = mean_interval if is_mean else difference_interval
    n = list(shares)[1]
    covered, none = simulations.coverage(name, populations, interval, weights, n)
    if shares[n] == "none":
        assert none > 0.97
    else:
        stated = float(shares[n])
        # four standard errors of this simulation, a little more where samples share weights
        error = 4 * np.sqrt(stated * (1 - stated) * (1 / 400 + 1 / 1000)) + 0.01
        assert covered == pytest.approx(stated, abs=error)


# the permutation test is exact for symmetric differences, as few queries show
LEVELS = [("t", name, n) for name in simulations.EQUAL for n in (20, 50)]
LEVELS += [("permutation", "heavy tails", 20)]


@pytest.mark.parametrize("weights", ["equal", "lognormal"])
@pytest.mark.parametrize(("test", "name", "n"), LEVELS)
def test_true_hypotheses_are_rejected_one_time_in_twenty(test, name, n, weights, monkeypatch):
    """The standard error of 3,000 samples is .004."""
    monkeypatch.setattr(simulations, "REPETITIONS", 300)
    assert simulations.level(name, test, weights, n) <= 0.055 + 2 * 0.004
