"""A new metric takes five additions; options, ties, names, scorers and averages then work.

The metric is cumulated gain, CG@k: DCG without a discount (Järvelin & Kekäläinen, 2002).
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import sklearn_rankscore

PACKAGE = Path(sklearn_rankscore.__file__).parent

FORMULA = '''

@formula(check_labels=check_gains)
def cg(block: Block, k: int | None, gain: ArrayFunction, ties: Any) -> Any:
    """Sum of gains."""
    return block.by_rank(gain, ties)[:, :k].sum(axis=1), 1.0, block.ideal(gain)[:, 0] > 0
'''
FUNCTION = '''

def cg_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    groups: QueryIds | None = None,
    k: int | None = None,
    gain: Gain = "linear",
    ties: Ties = "average",
    replace_undefined_by: float = 0.0,
    average: Literal["macro"] | None = "macro",
    sample_weight: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    n_jobs: int | None = None,
) -> float | Array:
    """Cumulated gain, averaged over queries."""
    return score(formulas.cg, **locals())
'''
NAME = 'METRICS["cg"] = NamedFormula(cumulative_gain.cg_score, formulas.cg)\n'
EXPORT = 'from .{module} import cg_score\n\n__all__ += ["cg_score"]\n'
ADDITIONS = {
    "metrics/formulas.py": FORMULA,
    "metrics/cumulative_gain.py": FUNCTION,
    "metrics/names.py": NAME,
    "metrics/__init__.py": EXPORT.format(module="cumulative_gain"),
    "__init__.py": EXPORT.format(module="metrics"),
}

USE = """
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.model_selection import cross_val_score, cross_validate

import sklearn_rankscore as rs

assert Path(rs.__file__).is_relative_to(sys.argv[1])

# query "a" ranks the labels 2, 3 first, query "b" 1 and a tie of 0 and 4, "c" has no gain
y = np.array([1, 0, 4, 3, 2, 1, 0, 0])
s = np.array([9, 5, 5, 8, 9, 1, 2, 1])
g = np.array(["b", "b", "b", "a", "a", "a", "c", "c"])

# the function
assert rs.cg_score(y, s, groups=g, k=2, average=None).tolist() == [5, 3, 0]
assert rs.cg_score(y, s, groups=g, k=2) == 8 / 3
assert rs.cg_score(y, s, groups=g, k=2, ties="optimistic") == 10 / 3
assert rs.cg_score(y, s, groups=g, k=2, replace_undefined_by=np.nan) == 4
assert rs.cg_score(y, s, groups=g, k=1, gain="exponential") == 4 / 3
assert rs.cg_score(y, s, groups=g, k=2, sample_weight=np.where(g == "a", 2, 1)) == 13 / 4
assert rs.cg_score(["x"], [[1, 2]], labels=["x", "y"], k=1) == 0

# its name, beside other metrics
both = rs.evaluate(y, s, ["cg@2(ties=stable)", "mrr", rs.cg_score], groups=g, average=None)
assert both["cg@2(ties=stable)"].tolist() == [5, 1, 0], both
assert both["cg"].tolist() == [6, 5, 0]
assert rs.query_scores(y, s, "cg@1", groups=g)["cg@1"].tolist() == [2, 1, 0]

# a string for scikit-learn, with a model that predicts its only feature
class Identity(RegressorMixin, BaseEstimator):
    def fit(self, X, y):
        return self

    def predict(self, X):
        return X["s"]


X = pd.DataFrame({"s": s}, index=pd.Index(g, name="qid"))
folds = [(np.arange(8), np.flatnonzero(g == query)) for query in "abc"]
assert cross_val_score(Identity(), X, y, scoring="cg@2", cv=folds).tolist() == [5, 3, 0]
scores = cross_validate(Identity(), X, y, scoring=["cg@1", "ndcg"], cv=folds)
assert scores["test_cg@1"].tolist() == [2, 1, 0]

# wrong options get the same errors
for wrong in ({"k": 0}, {"gain": "exponental"}, {"average": "micro"}, {"ties": "none"}):
    try:
        rs.cg_score(y, s, **wrong)
    except ValueError as error:
        assert next(iter(wrong)) in str(error)
    else:
        raise AssertionError(wrong)
"""


def test_a_metric_takes_five_additions(tmp_path):
    package = tmp_path / "sklearn_rankscore"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__", ".*"))
    assert len(ADDITIONS) == 5
    for name, addition in ADDITIONS.items():
        with (package / name).open("a", encoding="utf-8") as file:
            file.write(addition)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    run = subprocess.run(
        [sys.executable, "-c", USE, str(tmp_path)],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
