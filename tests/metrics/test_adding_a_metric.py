"""A new metric takes four additions: function, formula, oracle, guide; tests name a missing one.

The metric is Sakai's Q-measure (2004), which is exact under ties: options, ties, names, scorers and
averages, the oracle's test and those of properties then work without further changes.
"""

import inspect
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from textwrap import indent

import pytest

from sklearn_rankscore import ndcg_score

ROOT = Path(__file__).parents[2]

FORMULA = '''

def q_measure(block: Block, k: int | None, gain: ArrayFunction, ties: Any) -> Any:
    """Sum of the blended ratio at each relevant document, over their number."""
    n_relevant = block.total(_has(gain))
    share, value = block.by_rank(_has(gain), ties), block.by_rank(_value(gain), ties)
    offset, size = block.tie_groups(ties)
    above = np.cumsum(value, axis=1) - (offset + 1) * value
    tied = offset * (share * size - 1) / np.maximum(size - 1, 1)  # others, given a relevant one
    ideal = block.ranks + np.cumsum(block.ideal(gain), axis=1)
    sums = ((share * above + value * (1 + tied)) / ideal)[:, :k].sum(axis=1)
    return sums, n_relevant if k is None else np.minimum(n_relevant, k), n_relevant > 0


def _has(gain: ArrayFunction) -> ArrayFunction:
    return lambda labels: (gain(labels) > 0) * 1.0


def _value(gain: ArrayFunction) -> ArrayFunction:
    return lambda labels: gain(labels) + (gain(labels) > 0)
'''
FUNCTION = '''
from .._typing import CutoffArgs, Gain

__all__ += ["q_measure_score"]


class QArgs(CutoffArgs, total=False):
    """Arguments of Q-measure."""

    gain: Gain


@metric("q_measure", formulas.q_measure, aliases=("Q",), ratio=True)
def q_measure_score(y_true: ArrayLike, y_score: ArrayLike, **options: Unpack[QArgs]) -> Any:
    """DOCSTRING
    """
    return score("q_measure", y_true, y_score, options)
'''
# as that of NDCG, which has more options
DOCSTRING = re.sub(
    r"^(discount|propensity|clip) : .*\n(    .*\n)+", "", inspect.getdoc(ndcg_score), flags=re.M
)
FUNCTION = FUNCTION.replace("DOCSTRING", indent(DOCSTRING, "    ").strip())
ORACLE = """

def _q_measure(top: Floats, y: Floats, o: dict) -> Ratio:
    ideal, total = sorted((_gain(label, o) for label in y), reverse=True), 0.0
    for rank in range(1, len(top) + 1):
        gains = [_gain(label, o) for label in top[:rank]]
        if gains[-1] > 0:
            total += (sum(g > 0 for g in gains) + sum(gains)) / (rank + sum(ideal[:rank]))
    n_relevant = sum(g > 0 for g in ideal)
    return total, n_relevant if o["k"] is None else min(n_relevant, o["k"])


METRICS["q_measure"] = OfOrders(_q_measure, is_ratio=True, is_defined=_has_gain)
"""
SECTION = """
### Q-measure: `q_measure`

{func}`~sklearn_rankscore.q_measure_score` blends precision and cumulative gain:

$$ Q = \\frac{1}{R} \\sum_i r_i \\frac{\\text{hits}_i + \\text{gain}_i}{i + \\text{ideal}_i} $$

```python
>>> evaluate([0, 2, 1], [3, 2, 1], "q_measure@2")  # (1 + 2) / (2 + 3), over 2
{'q_measure@2': 0.3}
```
"""
RATIOS = ("`judged` |", "`judged`, `q_measure` |")  # the list of ratios of sums on that page
ADDITIONS = {
    "sklearn_rankscore/metrics/formulas.py": FORMULA,
    "sklearn_rankscore/metrics/graded_relevance.py": FUNCTION,
    "tests/helpers/oracle.py": ORACLE,
    "docs/guide/metrics.md": SECTION,
}
# what is copied, and the tests that a new metric must pass
PARTS = ["sklearn_rankscore", "tests", "docs", "pyproject.toml", "conftest.py"]
OF_THE_METRIC = ["tests/metrics/test_oracle.py", "tests/metrics/test_properties.py"]
ABOUT_IT = ["tests/test_pages.py", "tests/test_public_api.py"]
TEXTS = "tests/metrics/test_shared_docstrings.py"

USE = """
import numpy as np
from sklearn.dummy import DummyRegressor
from sklearn.model_selection import cross_val_score
import sklearn_rankscore as rs

# "a" ranks the labels 3, 2, 1 and "b" 1 and a tie of 4 and 0, "c" has no relevant document
y = np.array([1, 0, 4, 3, 2, 1, 0, 0])
s = np.array([9, 5, 5, 9, 8, 1, 2, 1])
g = np.array(["b", "b", "b", "a", "a", "a", "c", "c"])
b = (2 / 5 + (7 / 7 + 7 / 8) / 2) / 2
assert np.allclose(rs.q_measure_score(y, s, groups=g, average=None), [1, b, 0])
assert np.isclose(rs.q_measure_score(y, s, groups=g), (1 + b) / 3)
both = rs.evaluate(y, s, ["Q@2(ties=stable)", "mrr", rs.q_measure_score], groups=g, average=None)
assert np.allclose(both["Q@2(ties=stable)"], [1, 2 / 5 / 2, 0]), both
assert "q_measure" in rs.metric_names() and "q_measure_score" in rs.__all__
name, folds = "q_measure@2", {"groups": g, "cv": rs.QueryKFold(3)}
tied = cross_val_score(DummyRegressor(), s[:, None], y, scoring=name, **folds)
assert np.isclose(tied.mean(), rs.evaluate(y, 0 * s, name, groups=g)[name])
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A copy of the project, to which tests add all or some of the additions."""
    root = tmp_path_factory.mktemp("project")
    for part in PARTS:
        if (ROOT / part).is_dir():
            shutil.copytree(
                ROOT / part, root / part, ignore=shutil.ignore_patterns("__pycache__", ".*")
            )
        else:
            shutil.copy(ROOT / part, root)
    return root


def run(copy, without, *command):
    """Run Python in the copy, with all other additions."""
    for name, addition in ADDITIONS.items():
        text = (ROOT / name).read_text("utf-8")
        added = text.replace(*RATIOS) + addition
        (copy / name).write_text(text if name in without else added, "utf-8")
    environment = {**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, *command], cwd=copy, env=environment, capture_output=True, text=True,
        check=False,
    )  # fmt: skip


@pytest.mark.slow
def test_a_metric_takes_four_additions(copy):
    assert len(ADDITIONS) == 4
    used = run(copy, (), "-c", USE)
    assert used.returncode == 0, used.stderr
    options = [
        "-q",
        "-p",
        "no:cacheprovider",
        "-k",
        "q_measure or every_metric or shared_docstrings",
    ]
    tested = run(copy, (), "-m", "pytest", *options, *OF_THE_METRIC, *ABOUT_IT, TEXTS)
    assert tested.returncode == 0, tested.stdout
    assert int(re.search(r"(\d+) passed", tested.stdout)[1]) > 100


PROSE = ("tests/helpers/oracle.py", "docs/guide/metrics.md")  # without which the metric works
MISSING = {
    PROSE: [
        f"q_measure needs a {what} in {name}"
        for what, name in zip(("definition", "section"), PROSE, strict=True)
    ],
    ("sklearn_rankscore/metrics/graded_relevance.py",): ["the formula q_measure has no metric"],
    ("sklearn_rankscore/metrics/formulas.py",): ["module .* has no attribute 'q_measure'"],
}


@pytest.mark.slow
@pytest.mark.parametrize("missing", MISSING)
def test_a_missing_addition_is_named(copy, missing):
    options = ["-q", "-p", "no:cacheprovider", "-k", "every_metric or every_formula"]
    tested = run(copy, missing, "-m", "pytest", *options, OF_THE_METRIC[0], ABOUT_IT[0])
    assert tested.returncode != 0
    for message in MISSING[missing]:
        assert re.search(message, tested.stdout + tested.stderr), tested.stdout
