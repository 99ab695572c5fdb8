"""tools/words.py finds every replaced word, and accepts the plain English around them."""

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "tools" / "words.py"
WORDS = runpy.run_path(str(SCRIPT))

IN_CODE = {
    "page": "def page(metric): ...",
    "pages": "pages = []",
    "kernel": "class BoundKernel: ...",
    "kernels": "# one of the kernels",
    "worth": "gains_worth = 1",
    "a third place is worth": '"""The third place is worth .5."""',
    "carriers": "CARRIERS = []",
    "carrier": "message = 'no carrier of ids'",
    "found": "for found in (): ...",
    "found_ids": "found_ids, other = 1, 2",
    "found in a doctest": '"""\n>>> found = 1\n"""',
    "piece": "class Piece: ...",
    "pieces": "# keys of all pieces",
    "patience": "def stop(patience): ...",
    "unclear": "unclear = scores == 0",
    "corrected": "self.corrected = 1",
    "below_or_at": "def below_or_at(threshold): ...",
    "contrast_only": "split(contrast_only=True)  # contrast_only",
    "bound": "def find(X, *, bound=None): ...",
    "who": "def fail(who): ...",
    "also": "def fail(name, *, also=''): ...",
    "keep": "def survival(self, keep): ...",
    "Ranking.keep": "class Ranking:\n    def keep(self): ...",
    "put": "class Values:\n    def put(self): ...",
    "kinds": "self.kinds = []",
    "Runs": "class Runs: ...",
    "spread": "def spread_gains(): ...",
    "arrange": "def arrange(ties): ...",
    "reach": "def reach(k): ...",
    "span": "def span(column): ...",
    "settle": "def settle(): ...",
    "settled": "# ties are settled later",
    "begin": "def begin(task): ...",
    "share": "def share(tasks): ...",
    "above": "def above(threshold): ...",
    "thin": "def thin(queries): ...",
    "deal": "def _deal(folds): ...",
    "deals": "# deals queries to folds",
    "lambda": "f = lambda who: who",
    "attribute": "f.who = 1",
    "test name": "def test_it_goes_on(): ...",
    "f-string": "f'{1} so many'",
}
PHRASES = [
    "so many",
    "as they are",
    "on its own",
    "on their\nown",
    "is there",
    "goes on",
    "says so",
    "look at",
    "looked\nat",
    "What is left",
]
ENGLISH = [
    "value = np.random.kernel",
    "def test_a_fault_is_found(): ...",
    "# the id was found; nothing is found\nx = 1",
    "# a page of the guide\nx = 1",
    "share = 1 / n",
    "def counts(share, n_runs): ...",
    "keep = span = 3",
    "score_bounds, upper_bound, lower_bound = 1, 2, 3",
    "def f(score_bounds, upper_bound): ...",
    "# a great deal of memory, worth reading\nx = 1",
    "# there is a piece of paper; therefore it\n# is. There are more\nx = 1",
    "# someone who is also bound to keep a promise\nx = 1",
    "x.keep = 1  # words: ok",
]


def uses(path, text):
    path.write_text(text, encoding="utf-8")
    return list(WORDS["uses"](path))


@pytest.mark.parametrize("code", IN_CODE.values(), ids=IN_CODE)
def test_each_word_is_found_in_code(code, tmp_path):
    assert uses(tmp_path / "a.py", code)
    assert uses(tmp_path / "a.py", code.replace("\n", "  # words: ok\n") + "  # words: ok") == []


@pytest.mark.parametrize("phrase", PHRASES)
def test_each_phrase_is_found_in_any_prose(phrase, tmp_path):
    in_comment = "# " + phrase.replace("\n", "\n# ") + "\n"
    for name, text in {
        "a.py": f'"""A text with {phrase} inside."""',
        "b.py": f"x = 1  # before\n{in_comment}",
        "c.md": f"A text with {phrase} inside",
        "d.rst": f"> A text with {phrase} inside".replace("\n", "\n> "),
    }.items():
        assert len(uses(tmp_path / name, text)) == 1, name


@pytest.mark.parametrize("code", ENGLISH)
def test_plain_english_is_accepted(code, tmp_path):
    assert uses(tmp_path / "a.py", code) == []


def test_the_documentation_has_pages(tmp_path):
    for name in ("index.md", "api.rst", "conf.py", "test_pages.py"):
        assert uses(tmp_path / name, "# The first page and other pages") == []
    assert uses(tmp_path / "index.md", "Each kernel has a page")[0][1] == "kernel"
    assert uses(tmp_path / "index.md", "so many <!-- words: ok -->") == []


def test_the_script_prints_the_line_and_fails(tmp_path):
    bad, good = tmp_path / "bad.py", tmp_path / "good.py"
    bad.write_text("x = 1\nfound = 2\n")
    good.write_text("x = 1\n")
    command = [sys.executable, str(SCRIPT)]
    run = subprocess.run([*command, str(bad)], capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert run.stdout == f"{bad}:2: 'found'; write: what it holds\n"
    assert subprocess.run([*command, str(good)], check=False).returncode == 0
