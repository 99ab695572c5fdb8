"""The example runs as the gallery shows it."""

import runpy
from pathlib import Path

import matplotlib as mpl
import pytest
from matplotlib import image
from matplotlib import pyplot as plt
from threadpoolctl import threadpool_limits

mpl.use("Agg")
EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "compare_rankers.py"


@pytest.fixture
def main():
    with threadpool_limits(1):  # so small a problem is slower with threads
        yield runpy.run_path(str(EXAMPLE))["main"]
    plt.close("all")


@pytest.mark.slow
@pytest.mark.parametrize("source", ["packaged", "folder", "file"])
def test_reports_compares_and_saves_pictures(main, source, data_path, tmp_path, capsys):
    folder = data_path / "lambdarank"
    data = {
        "packaged": [],
        "folder": ["--data", str(folder)],
        "file": ["--data", str(folder / "rank.test"), "--query", str(folder / "rank.test.query")],
    }
    main([*data[source], "--out", str(tmp_path)])
    printed = capsys.readouterr().out
    assert "queries without relevant documents" in printed
    assert "Compared with 'ridge' by the permutation test" in printed
    assert "ndcg@10  boosting" in printed
    for name in ("cutoff_curve.png", "query_delta.png"):
        height, width = image.imread(tmp_path / name).shape[:2]
        assert (width, height > 600) == (7 * 150, True)  # axes of 4 inches, and a legend


def test_a_file_without_query_ids_is_refused(main, tmp_path):
    path = tmp_path / "plain.txt"
    path.write_text("1 1:0.5\n0 1:0.25\n")
    with pytest.raises(ValueError, match="has no query ids"):
        main(["--data", str(path)])


def test_a_file_with_query_ids_needs_no_sizes(tmp_path):
    path = tmp_path / "with_ids.txt"
    path.write_text("1 qid:3 1:0.5\n0 qid:3 1:0.25\n2 qid:7 1:1\n")
    X, y, groups = runpy.run_path(str(EXAMPLE))["read"](path, None)
    assert X.tolist() == [[0.5], [0.25], [1]]
    assert (y.tolist(), groups.tolist()) == ([1, 0, 2], [3, 3, 7])
