"""The example runs on a reader's own files; the gallery runs it on the packaged ones."""

import runpy
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import image
from sklearn.datasets import dump_svmlight_file
from threadpoolctl import threadpool_limits

from sklearn_rankscore import load_lambdarank

mpl.use("Agg")
ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = runpy.run_path(str(ROOT / "examples" / "compare_rankers.py"))


@pytest.mark.slow
def test_it_reports_compares_and_saves_pictures(tmp_path, capsys):
    X, y, groups = load_lambdarank(return_X_y=True, subset="test")
    path = str(tmp_path / "rank.txt")
    dump_svmlight_file(X, y, path, zero_based=False, query_id=groups)
    with threadpool_limits(1):  # so small a problem is slower with threads
        EXAMPLE["main"](["--data", path, "--out", str(tmp_path)])
    printed = capsys.readouterr().out
    assert "queries without relevant documents" in printed
    assert "Compared with 'ridge' by the permutation test" in printed
    assert "ndcg@10  boosting" in printed
    for name in ("cutoff_curve.png", "query_delta.png"):
        height, width = image.imread(tmp_path / name).shape[:2]
        assert (width, height > 600) == (7 * 150, True)  # axes of 4 inches, and a legend


def test_forms_of_files(tmp_path):
    """With ids, with sizes of queries in a second file, and a folder of both; not without any."""
    plain, with_ids, sizes = (tmp_path / f"rank.{name}" for name in ("train", "txt", "train.query"))
    plain.write_text("1 1:0.5\n0 1:0.25\n2 1:1\n")
    with_ids.write_text("1 qid:0 1:0.5\n0 qid:0 1:0.25\n2 qid:1 1:1\n")
    with pytest.raises(ValueError, match="has no query ids"):
        EXAMPLE["read"](plain, None)
    sizes.write_text("2\n1\n")
    for given in ((with_ids, None), (plain, sizes), (tmp_path, None)):
        X, y, groups = EXAMPLE["read"](*given)
        assert np.ravel(X).tolist() == [0.5, 0.25, 1]
        assert (y.tolist(), groups.tolist()) == ([1, 0, 2], [0, 0, 1])
