"""Break the code in every small way with mutmut, and list the changes that no test notices.

    python tools/mutate.py sklearn_rankscore/metrics/formulas.py ['sklearn_rankscore/ranking/*.py']

mutmut does not change decorated functions, and every formula is decorated: in `formulas.py` it
makes 35 changes instead of 412. It therefore runs on a copy of the repository, in `mutants/`, in
which each decorator is a call after the function. Its settings are in `pyproject.toml`; to see a
survivor, `cd mutants && mutmut show NAME`.
"""

import ast
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
COPY = ROOT / "mutants"
COPIED = ("sklearn_rankscore", "tests", "docs", "examples", "tools")
FILES = ("pyproject.toml", "conftest.py", "README.md", "CHANGELOG.md")
TABLE = "[tool.mutmut]\n"


class Undecorate(ast.NodeTransformer):
    """Write `@decorate def f` as `def f`, followed by `f = decorate(f)`."""

    def visit_FunctionDef(self, node):
        """Move the decorators of a function behind it."""
        self.generic_visit(node)
        decorators = [ast.unparse(decorator) for decorator in node.decorator_list]
        # what mutmut takes as it is, and what needs the earlier value of the name
        if {"staticmethod", "classmethod", "overload"} & set(decorators):
            return node
        if any(decorator.endswith(".setter") for decorator in decorators):
            return node
        calls = [f"{node.name} = ({decorator})({node.name})" for decorator in decorators[::-1]]
        node.decorator_list = []
        return [node, *ast.parse("\n".join(calls)).body]


def copy_repository(patterns):
    """Copy what the tests need, with decorators as calls and the patterns as mutmut's setting."""
    shutil.rmtree(COPY, ignore_errors=True)
    ignored = shutil.ignore_patterns("__pycache__", "_build", "gallery", ".*_cache")
    for folder in COPIED:
        shutil.copytree(ROOT / folder, COPY / folder, ignore=ignored)
    for file in FILES:
        shutil.copy(ROOT / file, COPY)
    for pattern in patterns:
        for path in COPY.glob(pattern):
            tree = Undecorate().visit(ast.parse(path.read_text("utf-8")))
            path.write_text(ast.unparse(ast.fix_missing_locations(tree)), "utf-8")
    settings = (COPY / "pyproject.toml").read_text("utf-8")
    settings = settings.replace(TABLE, f"{TABLE}only_mutate = {patterns}\n")
    (COPY / "pyproject.toml").write_text(settings, "utf-8")


def main():
    """Run mutmut on the files that the patterns name, and print its results."""
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    copy_repository(sys.argv[1:])
    for arguments in (["run"], ["results"]):
        subprocess.run([sys.executable, "-m", "mutmut", *arguments], cwd=COPY, check=True)


if __name__ == "__main__":
    main()
