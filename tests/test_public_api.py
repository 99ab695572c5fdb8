"""The public surface: names, signatures and their texts, imports that are one-way and light."""

import ast
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

import sklearn_rankscore
from sklearn_rankscore.metrics.names import METRICS, evaluate

PACKAGE = Path(sklearn_rankscore.__file__).parent
ROOMS = [
    module.name
    for module in pkgutil.iter_modules([str(PACKAGE)])
    if module.name not in ("spark", "dask")
]

HOUSE_ORDER = [
    "y_true", "y_score", "groups", "k", "gain", "threshold", "discount", "denominator",
    "max_grade", "p", "decay", "ties", "replace_undefined_by", "average", "sample_weight",
    "labels", "n_jobs",
]  # fmt: skip
EVERYWHERE = {
    "y_true", "y_score", "groups", "replace_undefined_by", "average", "sample_weight", "labels",
    "n_jobs",
}  # fmt: skip

# defaults and texts of parameters that differ from the others of the same name, and why
OTHER_DEFAULTS = {
    ("gain", "rbp"): "RBP was defined for binary relevance",
    ("denominator", "map"): "a perfect ranking is 1",
    ("replace_undefined_by", "query_auc"): "no value lies at the worst end",
    ("replace_undefined_by", "kendall_tau"): "no value lies at the worst end",
    ("replace_undefined_by", "spearman"): "no value lies at the worst end",
}
OWN_TEXTS = {
    "y_true": "which labels suit differs: gains, grades, probabilities",
    "replace_undefined_by": "says when the metric is undefined",
    "average": "micro is there for ratios only",
    ("gain", "rbp"): "also binary, by threshold",
    ("denominator", "map"): "what average precision divides by",
    ("k", "precision"): "as divisor",
    ("ties", "query_auc"): "pairs, not places",
    ("y_score", "query_auc"): "documents that were not retrieved stand last",
    ("y_score", "kendall_tau"): "documents that were not retrieved stand last",
    ("y_score", "spearman"): "documents that were not retrieved stand last",
}


def page(metric):
    return METRICS[metric].page


def parameters(metric):
    return inspect.signature(page(metric)).parameters


def texts(function):
    """Type and description of each parameter, as its docstring gives them."""
    section = inspect.getdoc(function).split("Parameters\n----------\n")[1].split("\n\n")[0]
    parts = re.split(r"^(\w+(?:, \w+)*) : ", section, flags=re.M)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


@pytest.mark.parametrize("room", [None, *ROOMS])
def test_all_is_sorted_and_true(room):
    module = importlib.import_module("sklearn_rankscore" + (f".{room}" if room else ""))
    if not hasattr(module, "__all__"):
        assert not hasattr(module, "__path__"), f"{room} says nothing of what is public"
        return
    assert module.__all__ == sorted(set(module.__all__))
    for name in module.__all__:
        assert hasattr(module, name)
        assert inspect.getdoc(getattr(module, name)), name


def test_all_that_is_imported_into_the_package_is_public():
    tree = ast.parse((PACKAGE / "__init__.py").read_text())
    imported = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    names = {alias.name for node in imported for alias in node.names}
    assert names == set(sklearn_rankscore.__all__)


@pytest.mark.parametrize("metric", METRICS)
def test_every_metric_is_public(metric):
    assert page(metric).__name__ in sklearn_rankscore.__all__
    assert page(metric) is getattr(sklearn_rankscore, page(metric).__name__)


@pytest.mark.parametrize("metric", METRICS)
def test_parameters_stand_in_the_house_order(metric):
    names = list(parameters(metric))
    assert sorted(names, key=HOUSE_ORDER.index) == names
    assert set(names) >= EVERYWHERE
    kinds = [p.kind for p in parameters(metric).values()]
    assert kinds == [inspect.Parameter.POSITIONAL_OR_KEYWORD] * 2 + [
        inspect.Parameter.KEYWORD_ONLY
    ] * (len(kinds) - 2)


@pytest.mark.parametrize("name", HOUSE_ORDER[2:])
def test_parameters_of_one_name_have_one_default(name):
    defaults = defaultdict(list)
    for metric in METRICS:
        if name in parameters(metric) and (name, metric) not in OTHER_DEFAULTS:
            defaults[repr(parameters(metric)[name].default)].append(metric)
    assert len(defaults) <= 1, dict(defaults)
    for other, metric in OTHER_DEFAULTS:
        if other == name:
            assert repr(parameters(metric)[name].default) not in defaults


@pytest.mark.parametrize("name", [name for name in HOUSE_ORDER if name not in OWN_TEXTS])
def test_parameters_of_one_name_have_one_text(name):
    found = defaultdict(list)
    for metric in METRICS:
        if name in parameters(metric) and (name, metric) not in OWN_TEXTS:
            found[texts(page(metric))[name].strip()].append(metric)
    assert len(found) == 1, dict(found)


@pytest.mark.parametrize("metric", METRICS)
def test_docstrings_name_every_parameter_in_order_with_its_default(metric):
    described = texts(page(metric))
    assert list(described) == list(parameters(metric))
    for name, text in described.items():
        default = parameters(metric)[name].default
        if default is not inspect.Parameter.empty:
            said = str(default) if not isinstance(default, str) else f'"{default}"'
            assert text.splitlines()[0].endswith(f"default={said}"), name


@pytest.mark.parametrize("metric", METRICS)
def test_docstrings_have_every_section(metric):
    doc = inspect.getdoc(page(metric))
    sections = re.findall(r"^(.+)\n-{3,}$", doc, flags=re.M)
    order = ["Parameters", "Returns", "Raises", "See Also", "Notes", "References", "Examples"]
    assert [s for s in order if s in sections] == sections
    assert set(order) - set(sections) <= {"References"}
    assert "igher is better" in doc
    assert "groups=groups" in doc


@pytest.mark.parametrize("metric", METRICS)
def test_a_page_is_its_metric_by_name(metric):
    """With every option that the page takes, and each shape of input."""
    random = np.random.default_rng(0)
    y, s, g = random.integers(0, 2, 40), random.integers(0, 9, 40), random.integers(0, 5, 40)
    other = {
        "k": 2, "gain": [0, 3], "threshold": -1, "discount": "reciprocal", "denominator": "min",
        "max_grade": 2, "p": 0.3, "decay": 0.4, "ties": "pessimistic", "replace_undefined_by": 0.7,
        "average": None,
    }  # fmt: skip
    given = {name: value for name, value in other.items() if name in parameters(metric)}
    if "relevant" in texts(page(metric)).get("denominator", ""):
        given["denominator"] = "relevant"
    data = {"groups": g, "sample_weight": g + 1.0}
    for options in [{}, given, *({name: value} for name, value in given.items())]:
        (by_name,) = evaluate(y, s, metric, **data, **options).values()
        np.testing.assert_equal(page(metric)(y, s, **data, **options, n_jobs=2), by_name)
    classes, scores = [3, 1, 3], random.normal(size=(3, 2))
    (by_name,) = evaluate(classes, scores, metric, labels=[3, 1]).values()
    assert page(metric)(classes, scores, labels=[3, 1]) == by_name


# ---- what imports what

LEVELS = {
    "ranking": 0, "metrics": 1, "model_selection": 2, "inspection": 3, "io": 3, "streaming": 3,
    "datasets": 3, "spark": 4, "dask": 4,
}  # fmt: skip


def imports_of(path):
    """Rooms that a file of the package imports, at any depth."""
    package = ("sklearn_rankscore", *path.relative_to(PACKAGE).parent.parts)
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level:
            module = [*package[: len(package) - node.level + 1], *(node.module or "").split(".")]
            names = [".".join(filter(None, [*module, alias.name])) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        for name in names:
            if name.startswith("sklearn_rankscore."):
                yield name.split(".")[1]


FILES = sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")


def room_of(path):
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_one_way(path):
    for other in imports_of(path):
        assert other == room_of(path) or LEVELS[other] < LEVELS[room_of(path)], other


def test_no_room_is_forgotten():
    assert {room_of(path) for path in FILES} <= set(LEVELS)
    assert not list(PACKAGE.rglob("utils.py")) + list(PACKAGE.rglob("base.py"))


HEAVY = [
    "pandas", "matplotlib", "polars", "pyarrow", "lightgbm", "xgboost", "catboost", "dask",
    "pyspark", "torch", "tqdm",
]  # fmt: skip


WITHOUT = f"""
import sys

class Absent:
    asked = set()

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {HEAVY}:
            frame = sys._getframe(1)
            while "importlib" in frame.f_code.co_filename:
                frame = frame.f_back
            self.asked.add((frame.f_globals["__name__"], name))
            raise ModuleNotFoundError(name, name=name)

sys.meta_path.insert(0, Absent())
import sklearn_rankscore
y, s, g = [2, 0, 1, 1], [0.3, 0.2, 0.1, 0.4], [1, 1, 0, 0]
sklearn_rankscore.evaluate(y, s, ["ndcg", "map"], groups=g)
print(*[ask for ask in Absent.asked if ask[0].startswith("sklearn_rankscore")])
"""


def test_importing_the_package_asks_for_no_optional_library():
    """Neither does it need one; scikit-learn itself may look for pandas."""
    command = [sys.executable, "-c", WITHOUT]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == ""
