"""Every Python block of the documentation and the README runs and gives the output it shows."""

import doctest
import os
import re
from pathlib import Path

import pytest
from sklearn import config_context
from spark_session import ignore_pandas_warning
from threadpoolctl import threadpool_limits

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(
    page
    for page in [ROOT / "README.md", *DOCS.rglob("*.md")]
    if not {"_build", "gallery"} & set(page.relative_to(ROOT).parts)
)
BLOCK = re.compile(r"^(?P<fence>```+|~~~+)python *\n(?P<code>.*?)^(?P=fence) *$", re.M | re.S)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def blocks(page):
    """Line and code of each block of Python."""
    text = page.read_text(encoding="utf-8")
    for fence in BLOCK.finditer(text):
        yield text.count("\n", 0, fence.start("code")), fence["code"]


def run(page):
    """Run a page's blocks one after the other in one namespace."""
    names = {"__name__": "__page__"}
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(optionflags=FLAGS)
    failures = []
    for line, code in blocks(page):
        if ">>>" in code:
            # the blank line ends a last expected output
            test = parser.get_doctest(code + "\n", names, page.name, str(page), line)
            runner.run(test, out=failures.append, clear_globs=False)
            names = test.globs
        else:
            padded = "\n" * line + code  # so that a traceback names the line of the page
            exec(compile(padded, page, "exec"), names)
    if failures:
        pytest.fail("".join(failures), pytrace=False)


@pytest.fixture(autouse=True)
def isolated(tmp_path, monkeypatch):
    """An empty folder, plots in memory, and scikit-learn's configuration restored afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(os.environ, "MPLBACKEND", "agg")
    # threads cost more than they save for models this small
    with config_context(), threadpool_limits(1):
        yield


@ignore_pandas_warning
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_page(page, request):
    if "pyspark" in page.read_text("utf-8"):
        request.getfixturevalue("session")  # which getOrCreate on the page will find
    run(page)


def test_all_blocks_are_matched():
    """The pattern matches every fence marked as python."""
    for page in PAGES:
        fences = re.findall(r"^\s*(?:```+|~~~+)\s*\{?.*\bpython\b", page.read_text("utf-8"), re.M)
        assert len(fences) == len(list(blocks(page))), page


def test_a_wrong_number_fails(tmp_path):
    """Also if a later block shows the value of an earlier one."""
    page = tmp_path / "page.md"
    page.write_text("```python\na = 1\n```\n\n```python\n>>> a\n2\n```\n")
    with pytest.raises(pytest.fail.Exception, match=r"Expected:\s+2\s+Got:\s+1"):
        run(page)
