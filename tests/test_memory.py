"""Peak memory stays within the limits that the guide states, in bytes per document."""

import runpy
from pathlib import Path

import pytest

BENCHMARK = runpy.run_path(str(Path(__file__).resolve().parents[1] / "benchmarks" / "memory.py"))
N = 500_000  # below, buffers of a fixed size count


@pytest.mark.slow
@pytest.mark.parametrize("shape", BENCHMARK["SHAPES"])
@pytest.mark.parametrize("family", BENCHMARK["FAMILIES"])
def test_bytes_per_document(family, shape):
    limits = BENCHMARK["LIMITS_TINY" if shape == "tiny queries" else "LIMITS"]
    n = 2 * N if "fractions" in shape else N  # whose buffers are larger
    measured = BENCHMARK["measure"](n, shape, BENCHMARK["FAMILIES"][family])
    assert measured <= limits[family]


@pytest.mark.slow
def test_bytes_per_document_of_a_stream():
    names = BENCHMARK["FAMILIES"]["with a cut-off"]
    assert BENCHMARK["measure_stream"](N, N // 10, names) <= BENCHMARK["LIMIT_STREAM"]
