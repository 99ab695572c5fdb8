"""The public names: their order of parameters, defaults and docstrings, and no optional imports.

`tests/metrics/test_shared_docstrings.py` compares the texts of parameters.
"""

import ast
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
from collections import defaultdict
from itertools import chain
from pathlib import Path

import numpy as np
import pytest

import sklearn_rankscore
from sklearn_rankscore import evaluate, metrics
from sklearn_rankscore.metrics.names import METRICS

PACKAGE = Path(sklearn_rankscore.__file__).parent
MODULES = [
    module.name
    for module in pkgutil.iter_modules([str(PACKAGE)])
    if module.name not in ("spark", "dask")
]

ORDER = [
    "y_true", "y_score", "groups", "k", "gain", "normalize", "threshold", "discount", "denominator",
    "max_grade", "p", "decay", "ties", "unjudged", "adjusted", "replace_undefined_by", "average",
    "sample_weight", "propensity", "clip", "labels", "n_jobs",
]  # fmt: skip
OF_EVERY_METRIC = {
    "y_true", "y_score", "groups", "adjusted", "replace_undefined_by", "average", "sample_weight",
    "labels", "n_jobs",
}  # fmt: skip


def parameters(metric):
    return inspect.signature(METRICS[metric].function).parameters


def types_in_docstring(metric):
    """Name and type of each parameter, as the docstring gives them."""
    doc = inspect.getdoc(METRICS[metric].function)
    section = doc.split("Parameters\n----------\n")[1].split("\n\n")[0]
    return dict(re.findall(r"^(\w+) : (.+)$", section, flags=re.M))


@pytest.mark.parametrize("name", [None, *MODULES])
def test_all_is_sorted_and_complete(name):
    module = importlib.import_module("sklearn_rankscore" + (f".{name}" if name else ""))
    if not hasattr(module, "__all__"):
        assert not hasattr(module, "__path__"), f"{name} does not list its public names"
        return
    assert module.__all__ == sorted(set(module.__all__))
    for public in module.__all__:
        assert inspect.getdoc(getattr(module, public)), public


def imported_names(nodes):
    """The names that statements import from modules, by module."""
    names = defaultdict(list)
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.level and node.module:
            names[node.module] += [alias.name for alias in node.names]
    return names


def test_all_that_is_imported_into_the_package_is_public():
    tree = ast.parse((PACKAGE / "__init__.py").read_text())
    (for_type_checkers,) = [
        node.body for node in tree.body if isinstance(node, ast.If) and imported_names(node.body)
    ]
    later = imported_names(for_type_checkers)
    assert later == sklearn_rankscore._LATER
    at_once = {**imported_names(tree.body), "metrics": metrics.__all__}
    names = [*at_once.values(), *later.values()]
    assert sorted(chain.from_iterable(names)) == sklearn_rankscore.__all__


@pytest.mark.slow
def test_a_part_is_imported_when_a_name_of_it_is_used():
    """Metrics and scoring strings do not wait for plots, reports and the like."""
    code = """
import sys, sklearn_rankscore, sklearn.metrics
sklearn_rankscore.ndcg_score([1, 0], [2.0, 1.0], groups="none")
sklearn.metrics.get_scorer("ndcg@10")
parts = [part for part in sklearn_rankscore._LATER if f"sklearn_rankscore.{part}" in sys.modules]
assert not parts, parts
assert "QueryRanker" in dir(sklearn_rankscore)
assert sklearn_rankscore.plots.ForestDisplay is sklearn_rankscore.ForestDisplay
try:
    sklearn_rankscore.ndgc_score
except AttributeError as error:
    assert "has no attribute 'ndgc_score'" in str(error)
else:
    raise AssertionError
"""
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("metric", METRICS)
def test_parameters_have_one_order(metric):
    names = list(parameters(metric))
    assert sorted(names, key=ORDER.index) == names
    assert set(names) >= OF_EVERY_METRIC
    positional = [n for n, p in parameters(metric).items() if p.kind is p.POSITIONAL_OR_KEYWORD]
    assert positional == ["y_true", "y_score"]
    assert {p.kind for p in parameters(metric).values()} == {
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
        inspect.Parameter.KEYWORD_ONLY,
    }


@pytest.mark.parametrize("name", ORDER[2:])
def test_parameters_of_one_name_have_one_default(name):
    """But for those that a metric declares."""
    defaults = defaultdict(list)
    for metric, known in METRICS.items():
        if name in parameters(metric) and name not in known.defaults and name != "denominator":
            defaults[repr(parameters(metric)[name].default)].append(metric)
    assert len(defaults) <= 1, dict(defaults)


@pytest.mark.parametrize("metric", METRICS)
def test_docstrings_name_every_parameter_in_order_with_its_default(metric):
    described = types_in_docstring(metric)
    assert list(described) == list(parameters(metric))
    for name, text in described.items():
        default = parameters(metric)[name].default
        if default is not inspect.Parameter.empty:
            shown = str(default) if not isinstance(default, str) else f'"{default}"'
            assert text.endswith(f"default={shown}"), name


@pytest.mark.parametrize("metric", METRICS)
def test_docstrings_have_every_section(metric):
    doc = inspect.getdoc(METRICS[metric].function)
    sections = re.findall(r"^(.+)\n-{3,}$", doc, flags=re.M)
    order = ["Parameters", "Returns", "Raises", "See Also", "Notes", "References", "Examples"]
    assert [s for s in order if s in sections] == sections
    assert set(order) - set(sections) <= {"References"}
    for part in ("igher is better", "groups=groups"):
        assert part in doc, f"the docstring of {metric} needs {part!r}"


@pytest.mark.parametrize("metric", METRICS)
def test_a_function_equals_its_metric_by_name(metric):
    """With every option of the function, and each shape of input."""
    function = METRICS[metric].function
    random = np.random.default_rng(0)
    y, s, g = random.integers(0, 2, 40), random.integers(0, 9, 40), random.integers(0, 5, 40)
    other = {
        "k": 2, "gain": [0, 3], "threshold": -1, "discount": "reciprocal", "denominator": "min",
        "max_grade": 2, "normalize": True, "p": 0.3, "decay": 0.4, "ties": "pessimistic",
        "unjudged": "drop", "replace_undefined_by": 0.7, "average": None, "adjusted": True,
    }  # fmt: skip
    given = {name: value for name, value in other.items() if name in parameters(metric)}
    if "pessimistic" not in types_in_docstring(metric).get("ties", "pessimistic"):
        given["ties"] = "stable"
    if "relevant" in types_in_docstring(metric).get("denominator", ""):
        given["denominator"] = "relevant"
    data = {"groups": g, "sample_weight": g + 1.0}
    alone = [{name: value} for name, value in given.items() if name != "adjusted"]
    for options in [{}, given, *alone]:
        (by_name,) = evaluate(y, s, metric, **data, **options).values()
        np.testing.assert_equal(function(y, s, **data, **options, n_jobs=2), by_name)
    classes, scores = [3, 1, 3], random.normal(size=(3, 2))
    (by_name,) = evaluate(classes, scores, metric, labels=[3, 1]).values()
    assert function(classes, scores, labels=[3, 1]) == by_name


OPTIONAL = [
    "pandas", "matplotlib", "polars", "pyarrow", "lightgbm", "xgboost", "catboost", "dask",
    "pyspark", "torch", "tqdm", "duckdb", "fsspec", "optuna",
]  # fmt: skip


WITHOUT_THEM = f"""
import sys

class Absent:
    requests = set()

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {OPTIONAL}:
            frame = sys._getframe(1)
            while "importlib" in frame.f_code.co_filename:
                frame = frame.f_back
            self.requests.add((frame.f_globals["__name__"], name))
            raise ModuleNotFoundError(name, name=name)

sys.meta_path.insert(0, Absent())
import sklearn_rankscore
y, s, g = [2, 0, 1, 1], [0.3, 0.2, 0.1, 0.4], [1, 1, 0, 0]
sklearn_rankscore.evaluate(y, s, ["ndcg", "map"], groups=g)
print(*[r for r in Absent.requests if r[0].startswith("sklearn_rankscore")])
"""


CALLS_WITHOUT = {
    "pyarrow": ["evaluate_parquet('f', 'mrr')", "evaluate_batches([], 'mrr')"],
    "fsspec": ["evaluate_parquet('f', 'mrr')"],
    "duckdb": ["evaluate_parquet('f', 'mrr')"],
    "pandas": [
        "make_ranking(n_queries=2, as_frame=True)",
        "load_lambdarank(as_frame=True)",
        "query_scores([1, 0], [1, 0], 'mrr').to_frame()",
    ],
    "polars": ["query_scores([1, 0], [1, 0], 'mrr').to_frame('polars')"],
    "matplotlib": ["CutoffCurveDisplay.from_predictions([0, 1], [1, 2])"],
}


@pytest.mark.parametrize("library", CALLS_WITHOUT)
def test_an_absent_library_is_named_with_the_command_that_installs_it(library, monkeypatch):
    for call in CALLS_WITHOUT[library]:
        with monkeypatch.context() as absent:
            absent.setitem(sys.modules, library, None)
            with pytest.raises(ImportError, match=f"needs {library}, .*: pip install {library}$"):
                eval(f"sklearn_rankscore.{call}")


def test_importing_the_package_imports_no_optional_library():
    """Nor does computing a metric; scikit-learn itself may try to import pandas."""
    command = [sys.executable, "-c", WITHOUT_THEM]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == ""
