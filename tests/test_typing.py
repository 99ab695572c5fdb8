"""Types: pyright accepts typical calls of users and reports wrong ones."""

import inspect
import json
import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import matplotlib as mpl
import pytest
from frames import pl

from sklearn_rankscore import make_ranking

mpl.use("Agg")

CALLS = Path(__file__).parent / "typing_calls.py"
FUNCTIONS = {
    name: function
    for name, function in runpy.run_path(str(CALLS)).items()
    if inspect.isfunction(function) and function.__code__.co_filename == str(CALLS)
}
del FUNCTIONS["mean_of_first"]  # a metric, used by the others

WRONG = {
    "an unknown gain": 'ndcg_score([1], [1], gain="exponental")',
    "an unknown tie rule": 'mrr_score([1], [1], ties="best")',
    "an unknown library": 'evaluate([1], [1], "ndcg", like="lightgmb")',
    "a cut-off in words": 'ndcg_score([1], [1], k="10")',
    "an option of another metric": "mrr_score([1], [1], decay=0.5)",
    "options by position": "ndcg_score([1], [1], [0])",
    "an unknown test": 'compare({}, test="anova")',
    "an unknown method": 'QueryScores([0], [[1]], ["m"]).interval(method="bca")',
    "folds in words": 'QueryKFold("5")',
    "a misspelt option": "QueryKFold(shufle=True)",
    "no metrics": "evaluate([1], [1])",
    "a metric that is a number": "make_ranking_scorer(10)",
}


def pyright(*paths):
    """The errors that pyright reports, one dict each."""
    executable = shutil.which("pyright", path=os.path.dirname(sys.executable))
    command = [executable, "--outputjson", "--pythonpath", sys.executable, *paths]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    reported = json.loads(run.stdout)["generalDiagnostics"]
    return [problem for problem in reported if problem["severity"] == "error"]


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_calls_run(name):
    X, y, g = make_ranking(12, n_features=3, n_documents=8, random_state=0)
    frame, labels = make_ranking(12, n_features=3, n_documents=8, as_frame=True, random_state=0)
    pandas = frame.assign(y=y, s=X[:, 0])
    given = {"y": y, "s": X[:, 0], "g": g, "X": X, "frame": frame, "pandas": pandas}
    if "polars" in name:
        given["polars"] = pl.DataFrame({name: pandas[name].to_numpy() for name in pandas})
    annotations = inspect.signature(FUNCTIONS[name]).parameters.items()
    if any(name == "X" and "DataFrame" in str(p.annotation) for name, p in annotations):
        given |= {"X": frame, "y": labels}
    FUNCTIONS[name](**{parameter: given[parameter] for parameter, _ in annotations})


@pytest.mark.integration
def test_pyright_accepts_the_calls():
    assert [f"{e['range']['start']['line'] + 1}: {e['message']}" for e in pyright(CALLS)] == []


@pytest.mark.integration
def test_pyright_reports_wrong_calls(tmp_path):
    """Each wrong call stands on a line of one file, because pyright takes seconds to start."""
    path = tmp_path / "wrong.py"
    path.write_text("from sklearn_rankscore import *\n" + "\n".join(WRONG.values()) + "\n")
    lines = {error["range"]["start"]["line"] for error in pyright(path)}
    silent = [why for line, why in enumerate(WRONG, start=1) if line not in lines]
    assert silent == []
    assert lines <= set(range(1, len(WRONG) + 1))
