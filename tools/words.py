"""Find words that the vocabulary of the project has replaced; `docs/glossary.md` lists them.

    python tools/words.py [FILE ...]

Names are checked where code defines them, split at underscores and capitals; comments, docstrings,
strings and Markdown as text. Every use is printed, and the exit status is 1 if there is one. A line
with `words: ok` in a comment is accepted.
"""

import ast
import io
import re
import sys
import tokenize
from itertools import accumulate
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CODE = ("sklearn_rankscore", "tests", "integration_tests", "examples", "benchmarks", "tools")
FILES = ["README.md", "CONTRIBUTING.md", "docs/**/*.md", "docs/**/*.rst", "docs/conf.py"]
FILES += [f"{folder}/**/*.{end}" for folder in CODE for end in ("py", "md", "rst")]
SKIPPED = {"_build", "gallery", "words.py", "test_words.py"}
ACCEPTED = "words: ok"

# the words, and what to write instead; first names of functions, classes, parameters, variables
NAMES = {
    "pages?": "public function",
    "kernels?": "formula",
    "worth": "gain of a label, discount at a rank",
    "carriers?": "query-id lookup",
    "found": "what it holds",
    "pieces?": "block plan",
    "patience": "persistence",
    "unclear": "collides",
    "corrected": "adjusted_p_value",
    "below_or_at": "irrelevant",
    "contrast_only": "skip_constant_queries",
}
# as local variables these are plain English
SIGNATURES = {
    "(?<!lower_)(?<!upper_)bound": "id_source", "who": "caller", "also": "hint",
    "keep": "continue_prob, precompute", "put": "set", "kinds": "width buckets",
    "spread": "broadcast", "arrange": "apply_tie_rule", "reach": "window", "span": "check_range",
    "settle": "resolve_collisions", "begin": "submit", "thin": "subsample_queries",
    "deal": "assign",
}  # fmt: skip
# whole names of functions and classes: as a part of others, or for values, the field has them too
FUNCTIONS = {"runs": "TieGroups", "share": "parallel_for", "above": "relevant"}
PROSE = {
    "pages?": "public function",
    "kernels?": "formula",
    r"worth(?! (\w+ing|it|the)\b)": "gain, discount",
    "carriers?": "query-id lookup",
    r"pieces?(?! of\b)": "block plan",
    "patience": "persistence",
    "settl(e|es|ed|ing)": "resolve",
    r"(deals?|dealt|dealing)(?! (with|of)\b)": "assign",
    "below_or_at": "irrelevant",
    "contrast_only": "skip_constant_queries",
    r"found(?=(, \w+)* =(?!=))": "what it holds",
    "so many": "the number, or a noun",
    "as they are": "unchanged",
    "on (its|their) own": "alone, separately",
    "is there": "exists, is available",
    "goes on": "continues",
    "sa(y|ys|id) so": "raises, states",
    "look(s|ed|ing)? at": "read, depend on, examine",
    "what is left": "the rest",
}
# what has pages: a file, or a line of code, about one of these may speak of them
HAS_PAGES = (
    r"(?i)(\.(md|rst)|conf\.py|test_pages\.py|browse\.py)$|docs|documentation|guide|web|html|readme"
)
STRINGS = {"COMMENT", "STRING", "FSTRING_MIDDLE", "TSTRING_MIDDLE"}


def prose_of(code):
    """The comments and strings of Python code where they stand, with blanks for the rest."""
    starts = [0, *accumulate(map(len, code.splitlines(keepends=True)))]
    parts, end = [], 0
    for token in tokenize.generate_tokens(io.StringIO(code).readline):
        if tokenize.tok_name[token.type] in STRINGS:
            first, last = (starts[row - 1] + column for row, column in (token.start, token.end))
            parts += [re.sub(r"\S", " ", code[end:first]), code[first:last].replace("#", " ")]
            end = last
    return "".join(parts)


def definitions(tree):
    """Line and name of each definition, and the tables of words that it must avoid."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            whole = {
                word: b for word, b in FUNCTIONS.items() if word == node.name.lower().strip("_")
            }
            yield node.lineno, node.name, NAMES | SIGNATURES | whole
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg, NAMES | SIGNATURES
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.attr, NAMES | SIGNATURES
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id, NAMES


def in_names(tree):
    """Line, name and replacement; the name of a test is a sentence."""
    for line, name, words in definitions(tree):
        if name.startswith("test_"):
            yield from ((line, name, better) for _, _, better in in_text(name.replace("_", " ")))
            continue
        snake = re.sub("(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
        for word, better in words.items():
            if re.search(f"(?<![a-z0-9]){word}(?![a-z0-9])", snake):
                yield line, name, better


def in_text(text):
    """Line, word or phrase, and replacement; a phrase may continue on the next line."""
    for word, better in PROSE.items():
        pattern = word.replace(" ", r"[\s\"'>]+")
        for match in re.finditer(rf"(?i)\b{pattern}\b", text):
            yield text.count("\n", 0, match.start()) + 1, " ".join(match[0].split()), better


def uses(path):
    """Line, word and replacement of each replaced word in a file."""
    text = path.read_text("utf-8")
    names = in_names(ast.parse(text)) if path.suffix == ".py" else []
    listed = {*names, *in_text(prose_of(text) if path.suffix == ".py" else text)}
    for number, word, better in sorted(listed):
        line = text.splitlines()[number - 1]
        is_page = "page" in word.lower() and re.search(HAS_PAGES, f"{line}\n{path.name}")
        if ACCEPTED not in line and not is_page:
            yield number, word, better


def main(arguments):
    """Print the words in these files, or in all; 1 if there are any."""
    paths = map(Path, arguments) if arguments else (p for f in FILES for p in ROOT.glob(f))
    total = 0
    for path in sorted({path.resolve() for path in paths if not SKIPPED & set(path.parts)}):
        for line, word, better in uses(path):
            name = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
            print(f"{name}:{line}: {word!r}; write: {better}")
            total += 1
    return int(total > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
