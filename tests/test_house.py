"""Rules of the source code: how facts travel, sizes, names.

The direction of imports is a rule of import-linter, in pyproject.toml.
"""

import ast
import re
from pathlib import Path

import pytest

import sklearn_rankscore

PACKAGE = Path(sklearn_rankscore.__file__).parent
FILES = {path.relative_to(PACKAGE).as_posix(): path for path in sorted(PACKAGE.rglob("*.py"))}
MAX_FILE, MAX_FUNCTION = 700, 80
# what only some files may contain, a line with it, and these files
CONFINED = {
    # the stacklevel of warnings, and the one hook
    r"\b_getframe|currentframe|\bf_back|\bf_locals": (
        "frame = sys._getframe(1)", r"_validation|scoring/register"
    ),
    # no memory of arrays by their identity
    r"\bweakref\b": ("from weakref import WeakValueDictionary", r"$"),
    r"\bsetattr\(|\bpatch\w*\(": (
        "setattr(parallel, 'Parallel', None)", r"__init__|scoring/|_sklearn_compat"
    ),
    r"sklearn(\.\w+)*\._|from sklearn[.\w]* import _": (
        "from sklearn.metrics import _scorer", r"_sklearn_compat"
    ),
    # labels as bytes; random signs are bytes as well, drawn eight at a time
    r"\buint8\b|\bencode_grades\b|\.grades\b": (
        "labels = queries.grades", r"ranking/|comparison/significance"
    ),
}  # fmt: skip


def docstring_lines(node):
    match node.body:
        case [ast.Expr(value=ast.Constant(value=str())) as docstring, *_]:
            return docstring.end_lineno - docstring.lineno + 1
    return 0


@pytest.mark.parametrize("pattern", CONFINED)
def test_what_stands_in_few_files(pattern):
    example, files = CONFINED[pattern]
    assert re.search(pattern, example)
    found = [name for name, path in FILES.items() if re.search(pattern, path.read_text("utf-8"))]
    assert [name for name in found if not re.match(files, name)] == []


def lengths(path):
    """The number of lines without docstrings, of a file and of each of its functions."""
    text = path.read_text("utf-8")
    nodes = list(ast.walk(ast.parse(text)))
    documented = [n for n in nodes if isinstance(n, ast.FunctionDef | ast.ClassDef | ast.Module)]
    of_functions = [
        (node.name, node.end_lineno - node.lineno + 1 - docstring_lines(node))
        for node in documented if isinstance(node, ast.FunctionDef)
    ]  # fmt: skip
    return len(text.splitlines()) - sum(map(docstring_lines, documented)), of_functions


def test_files_and_functions_can_be_read():
    too_long = []
    for name, path in FILES.items():
        of_file, of_functions = lengths(path)
        too_long += [name] * (of_file > MAX_FILE)
        too_long += [f"{name}: {of}" for of, n in of_functions if n > MAX_FUNCTION]
    assert too_long == []
