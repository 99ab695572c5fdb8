"""Rules of the source code: the direction of imports, how facts travel, size, names.

Every rule takes the files of a package and yields violations; the table `FAULTS` has a violation of
each.
"""

import ast
import re
from dataclasses import dataclass
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path, PurePosixPath

import pytest

import sklearn_rankscore

PACKAGE = Path(sklearn_rankscore.__file__).parent
TESTS = Path(__file__).parent

# each part of the package and the parts below it, which it may import together with theirs
BUILDS_ON = {
    "_typing": [],
    "_validation": ["_typing"],
    "_columns": ["_validation"],
    "_sklearn_compat": ["_columns"],
    "query_ids": ["_sklearn_compat"],
    "ranking": ["query_ids"],
    "_table": [],
    "metrics": ["ranking", "_table"],
    "scoring": ["metrics"],
    "model_selection": ["query_ids"],
    "rankers": ["scoring", "model_selection"],
    "comparison": ["rankers"],
    "plots": ["comparison"],
    "reports": ["plots"],
    "io": ["query_ids"],
    "large": ["comparison"],
    "spark": ["large"],
    "dask": ["large"],
    "datasets": ["io"],
    "cli": ["reports", "io", "large"],
    "__main__": ["cli"],
}
# files of ranking/ outside of fast/: each imports only those before it
RANKING = [
    "threads",
    "label_functions",
    "rows",
    "ties",
    "plain",
    "queries",
    "block",
    "derived",
    "aggregate",
    "ranking",
]
OF_FAST = {"fast", "threads", "label_functions", "rows", "ties", "plain", "block", "queries"}
IMPORTS_FAST = {"fast", "ranking", "queries"}

# bytes other than grades: random signs are drawn eight per byte
OTHER_BYTES = {("comparison/significance.py", "uint8")}

MAX_FILE, MAX_FUNCTION = 700, 80
# where frames of the running call are read: the stacklevel of warnings, and the one hook
READ_FRAMES = {"_validation.py", "scoring/register.py"}
FRAMES = {"_getframe", "currentframe", "f_back", "f_locals"}
PATCHES = "scoring/register.py"
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Source:
    """A file of the package; `path` is relative to the package."""

    path: PurePosixPath
    text: str

    @property
    def tree(self):
        return all_nodes(self.text)[0]

    @property
    def module(self):
        """Names of the module below sklearn_rankscore; a package has the name of its folder."""
        parts = self.path.with_suffix("").parts
        return parts[:-1] if parts[-1] == "__init__" else parts

    def nodes(self, *types):
        return (node for node in all_nodes(self.text) if isinstance(node, types))


@cache
def all_nodes(text):
    return list(ast.walk(ast.parse(text)))


def read(package):
    return [
        Source(PurePosixPath(path.relative_to(package).as_posix()), path.read_text("utf-8"))
        for path in sorted(package.rglob("*.py"))
    ]


def imports(source, modules):
    """Modules of the package that a file imports, anywhere in the file."""
    for node in source.nodes(ast.Import, ast.ImportFrom):
        names = [alias.name for alias in node.names]
        if isinstance(node, ast.Import):
            yield from (tuple(n.split(".")[1:]) for n in names if n.startswith("sklearn_rankscore"))
        elif node.level or node.module.partition(".")[0] == "sklearn_rankscore":
            parts = tuple((node.module or "").split(".")) if node.module else ()
            folder = source.path.parent.parts
            parent = folder[: len(folder) + 1 - node.level] + parts if node.level else parts[1:]
            yield from ((*parent, n) if (*parent, n) in modules else parent for n in names)


def import_graph(files):
    modules = {source.module for source in files}
    return {source.module: set(imports(source, modules)) for source in files}


def parts_below(part):
    for lower in BUILDS_ON.get(part, []):
        yield from (lower, *parts_below(lower))


def imports_point_one_way(files):
    for module, imported in import_graph(files).items():
        if not module:
            continue  # the package itself exports names of all parts
        if module[0] not in BUILDS_ON:
            yield f"{'.'.join(module)} is a part that BUILDS_ON does not name"
        allowed = {module[0], *parts_below(module[0])}
        for other in imported:
            if not other or other[0] not in allowed:
                yield f"{'.'.join(module)} imports {'.'.join(other) or 'the package'}"


def imports_within_ranking_point_one_way(files):
    for module, imported in import_graph(files).items():
        if module[:1] != ("ranking",) or len(module) < 2:
            continue
        earlier = {*RANKING[: RANKING.index(module[1])]} if module[1] in RANKING else OF_FAST
        allowed = earlier | ({"fast"} if module[1] in IMPORTS_FAST else set())
        for other in imported:
            if other[0] == "ranking" and (len(other) < 2 or other[1] not in allowed):
                yield f"{'.'.join(module)} imports {'.'.join(other)}"


def no_import_is_circular(files):
    try:
        TopologicalSorter(import_graph(files)).prepare()
    except CycleError as error:
        yield " imports ".join(".".join(module) or "the package" for module in error.args[1])


def files_are_short(files):
    for source in files:
        docstrings = sum(map(docstring_lines, source.nodes(*FUNCTIONS, ast.ClassDef, ast.Module)))
        if (lines := len(source.text.splitlines()) - docstrings) > MAX_FILE:
            yield f"{source.path} has {lines} lines"


def docstring_lines(function):
    first = function.body[0]
    return 0 if ast.get_docstring(function) is None else first.end_lineno - first.lineno + 1


def functions_are_short(files):
    for source in files:
        for function in source.nodes(*FUNCTIONS):
            lines = function.end_lineno - function.lineno + 1 - docstring_lines(function)
            if lines > MAX_FUNCTION:
                yield f"{source.path}: {function.name} has {lines} lines"


def frames_are_read_in_two_places(files):
    for source in files:
        if str(source.path) not in READ_FRAMES:
            used = FRAMES & {node.attr for node in source.nodes(ast.Attribute)}
            yield from (f"{source.path} uses {name}" for name in sorted(used))


def nothing_remembers_arrays(files):
    """No weak memory, and no module-global one by the identity of objects."""
    for source in files:
        imported = {alias.name for node in source.nodes(ast.Import) for alias in node.names}
        modules = {node.module for node in source.nodes(ast.ImportFrom)}
        if "weakref" in imported | modules:
            yield f"{source.path} imports weakref"


def scikit_learn_is_patched_in_one_place(files):
    for source in files:
        if str(source.path) == PATCHES:
            continue
        of_sklearn = {
            alias.asname or alias.name.partition(".")[0]
            for node in source.nodes(ast.Import, ast.ImportFrom)
            for alias in node.names
            if str(getattr(node, "module", None) or alias.name).startswith("sklearn.")
            or alias.name == "sklearn"
        }
        targets = [target for node in source.nodes(ast.Assign) for target in node.targets]
        calls = (n for n in source.nodes(ast.Call) if getattr(n.func, "id", "") == "setattr")
        targets.extend(ast.Attribute(call.args[0], "", ast.Store()) for call in calls)
        for target in (t for t in targets if isinstance(t, ast.Attribute)):
            if isinstance(target.value, ast.Name) and target.value.id in of_sklearn:
                yield f"{source.path} assigns to {target.value.id}"


def names_of_scikit_learn(source):
    """Dotted names of scikit-learn that a file imports, or writes as a string to import later."""
    for node in source.nodes(ast.Import, ast.ImportFrom, ast.Constant):
        if isinstance(node, ast.Constant):
            names = [node.value] if isinstance(node.value, str) else []
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            names = [f"{node.module}.{alias.name}" for alias in node.names if not node.level]
        yield from (name for name in names if re.fullmatch(r"sklearn(\.\w+)+", name))


def private_names_of_scikit_learn_have_one_place(files):
    for source in files:
        if source.path.name != "_sklearn_compat.py":
            private = [name for name in names_of_scikit_learn(source) if "._" in name]
            yield from (f"{source.path} uses {name}" for name in private)


def encoded_grades_stay_in_ranking(files):
    for source in files:
        if source.module[:1] == ("ranking",):
            continue
        attributes = {node.attr for node in source.nodes(ast.Attribute)}
        names = {node.id for node in source.nodes(ast.Name)} | attributes
        names |= {node.name for node in source.nodes(ast.alias)}
        names |= {n.value for n in source.nodes(ast.Constant) if isinstance(n.value, str)}
        used = names & {"uint8", "encode_grades"} | attributes & {"grades"}
        for name in sorted(used):
            if (str(source.path), name) not in OTHER_BYTES:
                yield f"{source.path} uses {name}"


def files_are_named_after_a_subject(files):
    yield from (str(s.path) for s in files if s.path.name in ("utils.py", "base.py"))


def modules_have_a_docstring(files):
    yield from (str(s.path) for s in files if ast.get_docstring(s.tree) is None)


def folders_have_tests(files):
    for folder in sorted({source.path.parent for source in files}):
        places = TESTS / folder, TESTS.with_name("integration_tests") / folder
        if not any(list(place.glob("test_*.py")) for place in places):
            yield f"there are no tests in tests/{folder}"


RULES = [
    imports_point_one_way,
    imports_within_ranking_point_one_way,
    no_import_is_circular,
    files_are_short,
    functions_are_short,
    frames_are_read_in_two_places,
    nothing_remembers_arrays,
    scikit_learn_is_patched_in_one_place,
    private_names_of_scikit_learn_have_one_place,
    encoded_grades_stay_in_ranking,
    files_are_named_after_a_subject,
    modules_have_a_docstring,
    folders_have_tests,
]
FILES = read(PACKAGE)


@cache
def faults(rule):
    return list(rule(FILES))


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_package_obeys(rule):
    assert faults(rule) == []


LONG = "    x = 0\n"
FAULTS = [
    (imports_point_one_way, "query_ids/read.py", "from ..metrics.names import METRICS"),
    (imports_point_one_way, "io/trec.py", "import sklearn_rankscore.ranking.block"),
    (imports_point_one_way, "model_selection/refit.py", "from ..scoring import scorer"),
    (imports_point_one_way, "dask.py", "from . import spark"),
    (imports_point_one_way, "ranking/block.py", "def f():\n    from .. import __version__"),
    (imports_point_one_way, "curves/cutoff.py", '"""A part without a place."""'),
    (imports_within_ranking_point_one_way, "ranking/plain.py", "from .block import Block"),
    (imports_within_ranking_point_one_way, "ranking/block.py", "from .fast import keys"),
    (imports_within_ranking_point_one_way, "ranking/fast/keys.py", "from ..ranking import Ranking"),
    (no_import_is_circular, "metrics/metric.py", "from . import resolve"),
    (no_import_is_circular, "_typing.py", "from sklearn_rankscore._columns import as_column"),
    (files_are_short, "datasets/synthetic.py", "\n" * 700),
    (functions_are_short, "datasets/synthetic.py", "def f():\n" + LONG * 80),
    (frames_are_read_in_two_places, "io/trec.py", "frame = sys._getframe(1)"),
    (frames_are_read_in_two_places, "plots/style.py", "inspect.currentframe().f_back"),
    (nothing_remembers_arrays, "io/trec.py", "import weakref"),
    (nothing_remembers_arrays, "io/trec.py", "from weakref import WeakValueDictionary"),
    (
        scikit_learn_is_patched_in_one_place,
        "io/trec.py",
        "from sklearn.utils import parallel\nparallel.Parallel = None",
    ),
    (
        scikit_learn_is_patched_in_one_place,
        "io/trec.py",
        "from sklearn.utils import parallel\nsetattr(parallel, 'Parallel', None)",
    ),
    (
        private_names_of_scikit_learn_have_one_place,
        "io/trec.py",
        "from sklearn.metrics import _scorer",
    ),
    (private_names_of_scikit_learn_have_one_place, "dask.py", "import sklearn.utils._tags"),
    (private_names_of_scikit_learn_have_one_place, "dask.py", "X = 'sklearn.metrics._scorer'"),
    (encoded_grades_stay_in_ranking, "io/trec.py", "X = np.uint8"),
    (encoded_grades_stay_in_ranking, "io/trec.py", "X = 'uint8'"),
    (encoded_grades_stay_in_ranking, "spark.py", "X = queries.grades"),
    (files_are_named_after_a_subject, "io/utils.py", '"""Helpers."""'),
    (modules_have_a_docstring, "io/formats.py", "X = 1"),
    (folders_have_tests, "io/formats/csv.py", '"""Comma-separated values."""'),
]


@pytest.mark.parametrize(("rule", "path", "addition"), FAULTS)
def test_a_fault_is_found(rule, path, addition):
    texts = {source.path: source.text for source in FILES}
    texts[PurePosixPath(path)] = texts.get(PurePosixPath(path), "") + f"\n{addition}\n"
    assert set(rule([Source(*item) for item in texts.items()])) - set(faults(rule))


def test_every_rule_is_seen_to_find_a_fault():
    assert {rule for rule, *_ in FAULTS} == set(RULES)
