"""Mutation test: break the formulas and the core in every small way, and see the suite turn red.

    python tools/mutate.py [--only metrics] [--sample 200 --seed 0] [--processes 2]

Each mutant changes one place of one file: a comparison, an operator, a sign, a number, a condition,
a function for its opposite, a default, a statement or a return value that is left out. Docstrings,
error texts and annotations are left alone. The tests run on copies of the repository, never on
itself. Results go to a file, line by line; a run that is started again goes on where it ended.
"""

import argparse
import ast
import copy
import hashlib
import json
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "sklearn_rankscore"
ROOMS = ("metrics", "ranking")

# fastest first, and before these what knows most about a file; the first failure kills
COMBINATIONS = "test_oracle.py::test_every_combination_of_options"
TESTS = [
    "test_hostile.py",
    "test_public_api.py::test_a_page_is_its_metric_by_name",
    "test_worked_numbers.py",
    "test_options.py",
    *(f"{COMBINATIONS}[{metric}]" for metric in ("mrr", "query_auc", "spearman", "map", "dcg")),
    "test_ranking_parts.py",
    "test_queries.py",
    "test_parity_recorded.py",
    "test_blocks.py",
    "test_oracle.py::test_padded_queries",
    "test_oracle.py::test_long_queries",
    "test_properties.py",
    "test_oracle.py::test_every_combination_of_options",
]
FIRST = {
    "queries.py": ["test_queries.py", "test_hostile.py"],
    "grouping.py": ["test_queries.py", "test_hostile.py"],
    "arrays.py": ["test_queries.py", "test_io_columns.py", "test_hostile.py", "test_properties.py"],
    "options.py": ["test_options.py", "test_hostile.py"],
    "names.py": ["test_options.py", "test_hostile.py"],
    "conventions.py": ["test_parity_recorded.py", "test_parity.py", "test_parity_evaluators.py"],
    "blocks.py": ["test_ranking_parts.py", "test_blocks.py"],
    "row_sorts.py": ["test_ranking_parts.py", "test_blocks.py"],
    "block.py": ["test_ranking_parts.py", "test_blocks.py"],
    "documents.py": ["test_ranking_parts.py", "test_blocks.py"],
    "exact.py": ["test_ranking_parts.py", "test_blocks.py"],
    "ranking.py": ["test_ranking_parts.py", "test_shared_sort.py", "test_blocks.py"],
    "threads.py": ["test_ranking_parts.py", "test_blocks.py"],
}
METRICS_OF = {
    "cascade.py": ["err", "pfound", "rbp"],
    "correlation.py": ["query_auc", "kendall_tau", "spearman"],
    "gain.py": ["dcg", "ndcg"],
    "hits.py": ["mrr", "hit_rate", "hits"],
    "average_precision.py": ["map", "r_precision"],
    "relevance.py": ["precision", "recall", "f1"],
}

OPPOSITES = {
    ast.Lt: (ast.LtE, ast.GtE), ast.LtE: (ast.Lt, ast.Gt), ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt), ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,), ast.In: (ast.NotIn,), ast.NotIn: (ast.In,), ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,), ast.Mult: (ast.Div,), ast.Div: (ast.Mult,), ast.FloorDiv: (ast.Mult,),
    ast.Mod: (ast.Mult,), ast.Pow: (ast.Mult,), ast.LShift: (ast.RShift,),
    ast.RShift: (ast.LShift,), ast.BitAnd: (ast.BitOr,), ast.BitOr: (ast.BitAnd,),
    ast.BitXor: (ast.BitOr,), ast.And: (ast.Or,), ast.Or: (ast.And,),
}  # fmt: skip
NAMES = [
    ("min", "max"), ("minimum", "maximum"), ("any", "all"), ("argmin", "argmax"),
    ("cumsum", "cumprod"), ("zeros", "ones"), ("zeros_like", "ones_like"), ("exp2", "log2"),
]  # fmt: skip
SWAPS = {a: b for pair in NAMES for a, b in (pair, pair[::-1])}


@dataclass(frozen=True)
class Mutant:
    """One file with one small change."""

    path: Path
    line: int
    what: str
    source: str

    @property
    def name(self):
        """Place, change and a digest of the file, which tells it from any other."""
        digest = hashlib.sha1(self.source.encode()).hexdigest()[:8]
        return f"{self.path.relative_to(PACKAGE)}:{self.line} {self.what} #{digest}"


def mutants_of(path):
    """Every mutant of a file."""
    tree = ast.parse(path.read_text())
    for parent, field, index, node in list(sites(tree)):
        for what, new in changes(node, parent, field):
            put(parent, field, index, new)
            yield Mutant(path, node.lineno, what, ast.unparse(tree))
            put(parent, field, index, node)


def sites(parent):
    """(parent, field, position, node) of all code that a mutant may change."""
    for field, value in ast.iter_fields(parent):
        if field in ("annotation", "returns", "decorator_list", "type_comment"):
            continue
        for index, node in enumerate(value if isinstance(value, list) else [value]):
            if isinstance(node, ast.keyword) and node.arg == "strict":  # of a zip: a mere check
                continue
            if not isinstance(node, ast.AST) or is_text(node) or not hasattr(node, "lineno"):
                yield from sites(node) if isinstance(node, ast.arguments) else ()
                continue
            yield parent, field, index if isinstance(value, list) else None, node
            if not isinstance(node, ast.Raise):
                yield from sites(node)


# sizes that choose between a shortcut and the plain path, and a factor that spreads hashes: they
# change no number, and the tests of tests/test_blocks.py run both paths
SIZES = {"BLOCK_DOCUMENTS", "STRETCH", "SMALL_BLOCK", "SMALL_SHORT", "LONG", "SHALLOW", "TABLED"}
SIZES |= {"SHORT", "FEW", "MEDIUM", "MANY_TIMES", "SORTED_GRADES", "COUNTED_GRADES", "MANY"}
SIZES |= {"ADDED_AT_ONCE", "AT_ONCE", "MOST_THREADS", "HASH_FACTOR"}


def is_text(node):
    """Docstrings, imports, lists of names, and sizes that only make a difference to speed."""
    if isinstance(node, ast.Assign):
        targets = getattr(node.targets[0], "elts", node.targets)
        return all(isinstance(t, ast.Name) and t.id in {"__all__", *SIZES} for t in targets)
    docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return docstring or isinstance(node, ast.Import | ast.ImportFrom)


def is_none(node):
    """Whether it is None already."""
    return isinstance(node, ast.Constant) and node.value is None


def put(parent, field, index, node):
    """Put a piece of code in its place."""
    if index is None:
        setattr(parent, field, node)
    else:
        getattr(parent, field)[index] = node


def changes(node, parent, field):
    """(description, replacement) of each way to break a piece of code."""
    match node:
        case ast.Compare():
            for i, op in enumerate(node.ops):
                for other in OPPOSITES[type(op)]:
                    new = copy.copy(node)
                    new.ops = [*node.ops[:i], other(), *node.ops[i + 1 :]]
                    yield f"{type(op).__name__} -> {other.__name__}", new
        case ast.BinOp() | ast.AugAssign() | ast.BoolOp() if type(node.op) in OPPOSITES:
            for other in OPPOSITES[type(node.op)]:
                new = copy.copy(node)
                new.op = other()
                yield f"{type(node.op).__name__} -> {other.__name__}", new
        case ast.UnaryOp():
            yield f"drop {type(node.op).__name__}", node.operand
        case ast.Constant(value=bool()):
            yield f"{node.value} -> {not node.value}", ast.Constant(not node.value)
        case ast.Constant(value=int() | float()):
            for other in (node.value + 1, node.value - 1):
                yield f"{node.value} -> {other}", ast.Constant(other)
        case ast.Constant(value=str()) if field in ("defaults", "kw_defaults"):
            yield f"{node.value!r} -> 'mutant'", ast.Constant("mutant")
        case ast.Name(id=name) | ast.Attribute(attr=name) if name in SWAPS and field == "func":
            new = copy.copy(node)
            setattr(new, "id" if isinstance(node, ast.Name) else "attr", SWAPS[name])
            yield f"{name} -> {SWAPS[name]}", new
        case ast.If() | ast.IfExp() | ast.While():
            new = copy.copy(node)
            new.test = ast.UnaryOp(ast.Not(), node.test)
            yield f"negate {ast.unparse(node.test)[:40]}", new
        case ast.Return(value=ast.AST() as value) if not is_none(value):
            yield "return None", ast.Return(ast.Constant(None))
        case ast.Expr() | ast.AugAssign() | ast.Raise():
            yield f"drop {ast.unparse(node)[:40]}", ast.Pass()
    if isinstance(node, ast.AugAssign):
        yield f"drop {ast.unparse(node)[:40]}", ast.Pass()


class Bench:
    """A copy of the repository on which mutants are tried, one after the other."""

    def __init__(self, args):
        self.args = args
        self.folder = Path(tempfile.mkdtemp(prefix="mutants-"))
        ignored = shutil.ignore_patterns(".git", "__pycache__", ".*_cache", ".hypothesis")
        for name in ("sklearn_rankscore", "tests", "pyproject.toml"):
            source = ROOT / name
            if source.is_dir():
                shutil.copytree(source, self.folder / name, ignore=ignored)
            else:
                shutil.copy(source, self.folder)

    def verdict(self, mutant):
        """What the tests say about a mutant."""
        place = self.folder / mutant.path.relative_to(ROOT)
        place.write_text(mutant.source)
        try:
            return self.run(mutant.path.name)
        finally:
            shutil.copy(mutant.path, place)

    def run(self, name=""):
        """Fork a child that runs the tests: nothing but the package is imported anew."""
        child = os.fork()
        if not child:
            self._test(name)
        deadline = time.monotonic() + 10 * self.args.timeout
        while time.monotonic() < deadline:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                if os.WIFSIGNALED(status):
                    return "timeout" if os.WTERMSIG(status) == signal.SIGXCPU else "crash"
                return {0: "survived", 1: "killed"}.get(os.WEXITSTATUS(status), "killed at import")
            time.sleep(0.02)
        os.killpg(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return "timeout"

    def _test(self, name):
        import pytest

        os.setsid()
        os.chdir(self.folder)
        sys.path.insert(0, str(self.folder))
        resource.setrlimit(resource.RLIMIT_CPU, (self.args.timeout, self.args.timeout + 5))
        resource.setrlimit(resource.RLIMIT_AS, (8 * 2**30, 8 * 2**30))
        if not self.args.verbose:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            os.dup2(1, 2)
        options = ["-x", "-q", "-p", "no:randomly", "-p", "no:cacheprovider", "-m", "not slow"]
        options += ["--hypothesis-profile=mutants", "-Wignore::pytest.PytestAssertRewriteWarning"]
        code = 0
        for tests in stages(name):
            there = [t for t in tests if (self.folder / "tests" / t.partition("::")[0]).exists()]
            code = code or int(pytest.main([*options, *(f"tests/{test}" for test in there)]))
        os._exit(code)


def stages(name):
    """The tests that know most about a file, and then the others."""
    first = FIRST.get(name) or [f"{COMBINATIONS}[{m}]" for m in METRICS_OF.get(name, [])]
    others = [test for test in TESTS if test not in first]
    return [first, others] if first else [others]


def preload():
    """Import, before the forks, all that tests import but the package."""
    import hypothesis
    import pandas  # noqa: F401
    import pyarrow  # noqa: F401
    import pytest  # noqa: F401
    import scipy.stats  # noqa: F401
    import sklearn.linear_model
    import sklearn.metrics
    import sklearn.model_selection
    import sklearn.utils.parallel  # noqa: F401

    phases = [hypothesis.Phase.explicit, hypothesis.Phase.generate]
    hypothesis.settings.register_profile(
        "mutants", deadline=None, derandomize=True, database=None, phases=phases
    )


def work(mutants, args):
    """Try mutants one by one, and write down what became of each."""
    bench = Bench(args)
    try:
        for mutant in mutants:
            begin = time.monotonic()
            verdict = bench.verdict(mutant)
            line = {"mutant": mutant.name, "verdict": verdict, "s": time.monotonic() - begin}
            with args.results.open("a") as file:
                file.write(json.dumps(line) + "\n")
    finally:
        shutil.rmtree(bench.folder)


def see_the_tests_pass(args):
    """End where the tests fail without a mutant, which would kill every one of them."""
    bench = Bench(args)
    verdict = bench.run()
    shutil.rmtree(bench.folder)
    if verdict != "survived":
        sys.exit(f"the tests do not pass without a mutant: {verdict}")


def read(results):
    """What became of each mutant so far."""
    if not results.exists():
        return {}
    lines = map(json.loads, results.read_text().splitlines())
    return {line["mutant"]: line["verdict"] for line in lines}


def chosen(args):
    """All mutants, or a sample of them, in the order of rooms and files."""
    files = [path for room in ROOMS for path in sorted((PACKAGE / room).glob("*.py"))]
    files = [path for path in files if any(o in str(path.relative_to(PACKAGE)) for o in args.only)]
    mutants = [mutant for path in files for mutant in mutants_of(path)]
    if args.sample and args.sample < len(mutants):
        mutants = random.Random(args.seed).sample(mutants, args.sample)
    return mutants


def report(mutants, verdicts):
    """Killed, tried and total of each file, and the survivors."""
    total, tried, killed = Counter(), Counter(), Counter()
    survivors = []
    for mutant in mutants:
        name, verdict = str(mutant.path.relative_to(PACKAGE)), verdicts.get(mutant.name)
        total[name] += 1
        tried[name] += verdict is not None
        killed[name] += verdict not in (None, "survived")
        if verdict == "survived":
            survivors.append(mutant.name)
    for name in total:
        print(f"{name:32} {killed[name]:5} killed of {tried[name]:5} tried of {total[name]:5}")
    share = killed.total() / max(tried.total(), 1)
    print(f"{'all':32} {killed.total():5} killed of {tried.total():5} tried of {total.total():5}")
    print(f"{share:.1%} killed; survivors:", *sorted(survivors), sep="\n")


def main():
    """Try the mutants that were not tried before, and report on all."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--only", nargs="+", default=[""], help="parts of paths, such as metrics or ties.py"
    )
    parser.add_argument("--sample", type=int, help="try only so many mutants, drawn at random")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--timeout", type=int, default=120, help="CPU seconds for one mutant")
    parser.add_argument("--results", type=Path, default=Path(".mutants.jsonl"))
    parser.add_argument("--trust", action="store_true", help="tests pass without a mutant")
    parser.add_argument("--report", action="store_true", help="run nothing, tell what is known")
    parser.add_argument("--verbose", action="store_true", help="show what the tests print")
    args = parser.parse_args()
    mutants, known = chosen(args), read(args.results)
    if not args.report:
        sys.dont_write_bytecode = True
        preload()
        if not args.trust:
            see_the_tests_pass(args)
        todo = [mutant for mutant in mutants if mutant.name not in known]
        workers = []
        for n in range(args.processes):
            if child := os.fork():
                workers.append(child)
                continue
            work(todo[n :: args.processes], args)
            os._exit(0)
        for child in workers:
            os.waitpid(child, 0)
    report(mutants, read(args.results))


if __name__ == "__main__":
    main()
