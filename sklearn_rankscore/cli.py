"""The command line, ``rankscore``: evaluate and compare files of judgments and runs."""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import sys
import warnings
from argparse import ArgumentTypeError, Namespace
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn, get_args

import numpy as np

from ._table import Table, clean
from ._typing import SignificanceTest
from ._validation import did_you_mean
from .comparison import QueryScores, compare, query_scores
from .comparison.results import Comparison
from .io.columns import NAMES
from .io.frames import of_one_table
from .io.text import OPENERS, SEPARATORS, has_columns, read_columns
from .io.trec import join_trec
from .metrics.conventions import CONVENTIONS
from .metrics.names import METRICS
from .metrics.resolve import resolve_all

__all__ = ["main"]

FAILED, WRONG_ARGUMENTS, INTERRUPTED = 1, 2, 130
DEFAULT_METRICS = ["map", "ndcg@10", "mrr", "precision@10", "recall@100"]
# the methods of a table, and of a comparison
FORMATS = {
    "table": ("text", "to_string"),
    "markdown": ("markdown", "to_markdown"),
    "latex": ("latex", "to_latex"),
}
LONGEST_ARGUMENT, LONGEST_MESSAGE = 10_000, 2_000
DESCRIPTION = """\
QRELS and RUN are TREC files (also .gz, .bz2, .xz), CSV, TSV or Parquet files with named columns, or
- for standard input. A run is named after its file; NAME=PATH gives it another name. All runs are
evaluated on the same queries: those that are judged and occur in at least one run, or with -c all
judged queries. A run that lacks one of them retrieved nothing there. A single CSV, TSV or Parquet
file has labels and scores in the same rows; --scores names the columns of several systems."""
EXAMPLES = """\
examples:
  rankscore evaluate qrels.txt bm25.run -m ndcg@10 -m map --like trec_eval
  rankscore evaluate qrels.txt bm25.run dense.run.gz --baseline bm25 --format markdown
  rankscore evaluate qrels.txt a.run b.run c.run --pairs all
  rankscore evaluate ratings.csv top.csv -m recall@20 \\
      --columns query=user,document=movie,relevance=rating,score=prediction
  rankscore evaluate scored.parquet --scores bm25=s1,dense=s2 --baseline bm25
  rankscore metrics"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command, as ``rankscore`` does.

    Parameters
    ----------
    argv : sequence of str, default=None
        Arguments without the name of the program; None means those of this process.

    Returns
    -------
    int
        Exit status: 0 on success, 1 if the data are invalid or cannot be read, 2 if an argument is
        invalid (raised as SystemExit), 130 if interrupted.
    """
    arguments = _parse(sys.argv[1:] if argv is None else argv)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.showwarning = lambda message, *_, **__: _say("warning", message)
            _write(arguments.command(arguments))
    except BrokenPipeError:  # the reader, such as head, has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        return INTERRUPTED
    except MemoryError:
        _say("error", "the files are larger than the memory; see evaluate_parquet.")
        return FAILED
    except (OSError, ValueError, TypeError, ImportError) as error:
        _say("error", error)
        return FAILED
    return 0


def _say(kind: str, message: Any) -> None:
    # lists in messages, on one line
    text = clean(str(message).replace("\n- ", " - ").replace(".\n", ". "))
    shown = text if len(text) <= LONGEST_MESSAGE else f"{text[:LONGEST_MESSAGE]}…"
    print(f"rankscore: {kind}: {shown}", file=sys.stderr)


def _write(text: str) -> None:
    """Print in the encoding of standard output; a character that it lacks as its number."""
    if sys.stdout is None:
        raise OSError("standard output is closed.")
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding))
    sys.stdout.flush()


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, and leave out the usage."""

    def error(self, message: str) -> NoReturn:
        """Print the error, and exit with status 2."""
        if message.startswith("unrecognized"):
            message += "; metrics are separated by commas: -m 'map(threshold=1),ndcg@10'"
        shown = clean(message)[:LONGEST_MESSAGE]
        sys.stderr.write(f"{self.prog}: error: {shown}\nTry '{self.prog} --help'.\n")
        sys.exit(WRONG_ARGUMENTS)


def _parse(argv: Sequence[str]) -> Namespace:
    """The arguments, checked; a wrong one exits with status 2."""
    style: dict[str, Any] = {
        "formatter_class": argparse.RawDescriptionHelpFormatter,
        "allow_abbrev": False,
        "epilog": EXAMPLES,
    }
    parser = Parser(
        prog="rankscore", description="Ranking metrics of qrels and run files.", **style
    )
    # of the package itself, which no module of it imports
    version = sys.modules[__name__.partition(".")[0]].__version__
    parser.add_argument("--version", action="version", version=f"%(prog)s {version}",
                        help="print the version")  # fmt: skip
    commands = parser.add_subparsers(metavar="COMMAND", required=True, parser_class=Parser)
    of_evaluate = commands.add_parser(
        "evaluate", help="evaluate one or several runs", description=DESCRIPTION, **style
    )
    of_evaluate.set_defaults(command=evaluate)
    _add_arguments(of_evaluate)
    of_metrics = commands.add_parser("metrics", help="list the metrics and their options")
    of_metrics.set_defaults(command=metrics)
    if any(len(argument) > LONGEST_ARGUMENT for argument in argv):
        parser.error(f"an argument has more than {LONGEST_ARGUMENT:,} characters")
    arguments = parser.parse_args(argv)
    if arguments.command is evaluate:
        try:
            _check(arguments)
        except (ValueError, TypeError, ImportError) as error:
            of_evaluate.error(str(error))
    return arguments


def _add_arguments(parser: Parser) -> None:
    add = parser.add_argument
    add("qrels", metavar="QRELS", help="relevance judgments")
    add("runs", metavar="RUN", nargs="*", help="run, or NAME=PATH")
    add("-m", "--metric", dest="metrics", action="append", metavar="NAME",
        help="metric such as ndcg@10 or 'map(threshold=1)'; several by commas, or repeated "
        f"(default: {', '.join(DEFAULT_METRICS)})")  # fmt: skip
    add("--import", dest="module",
        help="module, in this folder or installed, that registers metrics of your own")  # fmt: skip
    add("--like", choices=CONVENTIONS, metavar="LIBRARY",
        help=f"conventions of a library: {', '.join(CONVENTIONS)}; ties are averaged otherwise, "
        "trec_eval breaks them by document id (in one scored file, last row first)")  # fmt: skip
    add("-q", "--per-query", action="store_true", help="also print the value of every query")
    add("-c", "--complete", action="store_true", help="count judged queries that no run contains")
    add("--unjudged", choices=("irrelevant", "drop"), metavar="RULE",
        help="documents without a judgment: irrelevant or drop (as trec_eval -J); the default is "
        "irrelevant, except in a single file, and a metric may set its own, as "
        "'ndcg@10(unjudged=drop)'")  # fmt: skip
    add("--ignore-identical-ids", action="store_true",
        help="leave out results whose document is the query, as --like beir does")  # fmt: skip
    add("--columns", type=_columns_by_name, default={}, metavar="FIELD=NAME,...",
        help="columns of CSV and Parquet files; the fields are query, document, relevance, score "
        "and rank")  # fmt: skip
    add("--scores", type=_columns_by_name, default={}, metavar="NAME=COLUMN,...",
        help="columns of scores by system, in a single file of labels and scores")  # fmt: skip
    which = parser.add_mutually_exclusive_group().add_argument
    which("--baseline", metavar="RUN", help="compare all other runs with this one")
    which("--pairs", choices=("all",), help="compare all pairs of runs")
    add("--test", choices=get_args(SignificanceTest),
        help="significance test of a comparison (default: permutation)")  # fmt: skip
    add("--confidence", type=float, metavar="LEVEL",
        help="of the intervals of a comparison; significance is at 1 - LEVEL "
        "(default: 0.95)")  # fmt: skip
    add("--seed", type=_small_integer, metavar="N", help="of the test (default: 0)")
    add("--format", choices=(*FORMATS, "csv", "json"), default="table", help="default: table")
    add("--digits", type=_small_integer, metavar="N",
        help="decimals of means and values (default: 4; csv, json: all)")  # fmt: skip


def _small_integer(text: str) -> int:
    if not text.isdecimal() or len(text) > 10 or int(text) >= 2**32:
        raise ArgumentTypeError(f"must be an integer from 0 to 2**32 - 1; got {text!r:.30}")
    return int(text)


def _columns_by_name(text: str) -> dict[str, str]:
    """``"query=user,document=item"`` as a dict; a name alone stands for itself."""
    pairs: dict[str, str] = {}
    for part in text.split(","):
        name, equals, value = part.partition("=")
        if not name or (equals and not value) or name in pairs:
            raise ArgumentTypeError(f"must be NAME=COLUMN, each name once; got {text!r}")
        pairs[name] = value or name
    return pairs


def _check(arguments: Namespace) -> None:
    """Raise an error if arguments do not fit together, and set those that were not given."""
    if arguments.module:
        sys.path.insert(0, os.getcwd())
        import_module(arguments.module.removesuffix(".py"))
    given = arguments.metrics or DEFAULT_METRICS
    names: list[str] = []
    # separated by commas outside of parentheses
    for name in (name for part in given for name in re.split(r",(?![^(]*\))", part)):
        cutoff = re.fullmatch(r"(.+[._@])\d+", names[-1]) if names and name.isdecimal() else None
        names.append(cutoff[1] + name if cutoff else name)  # trec_eval's "P.5,10"
    arguments.metrics = {clean(name): name for name in names}
    resolve_all(arguments.metrics, like=arguments.like)
    arguments.runs = _named(arguments.runs)
    of_comparison = (arguments.baseline, arguments.pairs, arguments.test, arguments.confidence)
    arguments.compared = any(option is not None for option in (*of_comparison, arguments.seed))
    for is_wrong, problem in _conflicts(arguments):
        if is_wrong:
            raise ValueError(problem)


def _conflicts(arguments: Namespace) -> Iterator[tuple[Any, str]]:
    """What may not be together; the functions of Python refuse other values."""
    files, columns = [arguments.qrels, *arguments.runs.values()], arguments.columns
    is_single, is_table = not arguments.runs, any(map(has_columns, files))
    yield files.count("-") > 1, "only one of QRELS and RUN can be standard input."
    yield "-" in files and sys.stdin is None, "standard input is closed."
    missing = "a RUN is missing; only a CSV, TSV or Parquet file can have labels and scores."
    yield is_single and not is_table, missing
    yield arguments.scores and not is_single, "--scores is for a single file, without runs."
    others = arguments.complete or arguments.ignore_identical_ids
    unneeded = "-c and --ignore-identical-ids need a RUN; a single file has all documents."
    yield is_single and others, unneeded
    unnamed = "--columns needs a CSV, TSV or Parquet file; TREC files have no names of columns."
    yield columns and not is_table, unnamed
    for field in columns:
        known = f"--columns: FIELD must be one of {', '.join(NAMES)}; got {field!r}."
        yield field not in NAMES, known + did_you_mean(field, NAMES)
    yield {"score", "rank"} <= set(columns), "--columns names the score or the rank, not both."
    few = "a comparison needs at least two runs, or --scores NAME=COLUMN,... of a single file."
    yield arguments.compared and len(arguments.runs or arguments.scores) < 2, few
    two = "a comparison and --per-query are two tables, of which csv can hold one; use json."
    yield arguments.compared and arguments.per_query and arguments.format == "csv", two


def _named(runs: list[str]) -> dict[str, str]:
    """Paths by the name of the run."""
    named: dict[str, str] = {}
    for run in runs:
        name, equals, path = run.partition("=")
        if not equals or os.path.exists(run):
            name, path = "stdin" if run == "-" else _stem(run), run
        name = clean(name)
        if not name.strip():
            raise ValueError(f"the run {run!r} has an empty name. Name runs by NAME=PATH.")
        if name in named:
            both = f"{named[name]} and {path}"
            raise ValueError(f"two runs are named {name!r}: {both}. Name them by NAME=PATH.")
        named[name] = path
    return named


def _stem(path: str) -> str:
    """The name of a file without its suffixes."""
    name = Path(path)
    while name.suffix in (*OPENERS, *SEPARATORS, ".parquet", ".txt", ".run", ".trec", ".res"):
        name = name.with_suffix("")
    return name.name or path


def evaluate(arguments: Namespace) -> str:
    """The metrics of each run."""
    documents = _documents(arguments)
    scores = query_scores(metrics=arguments.metrics, like=arguments.like, **documents)
    comparison = compare(scores, **_of_comparison(arguments)) if arguments.compared else None
    digits, form, per_query = arguments.digits, arguments.format, arguments.per_query
    if form == "json":
        return _json(scores, comparison, per_query, digits)
    of_runs = replace(_table_of_runs(scores, per_query=per_query), digits=digits)
    if form == "csv" and comparison is not None:
        rows = _compared(comparison)
        of_runs = Table("", list(rows[0]), [list(row.values()) for row in rows], digits=digits)
    if form == "csv":
        return of_runs.csv()
    results: list[Any] = [of_runs]
    if comparison is not None:
        table = comparison.system_table(digits=4 if digits is None else digits)
        results = [*(results if per_query else []), table, comparison]
    ways = (FORMATS[form][not isinstance(result, Table)] for result in results)
    texts = (getattr(result, way)() for result, way in zip(results, ways, strict=True))
    return "\n\n".join(texts) + "\n"


def _of_comparison(arguments: Namespace) -> dict[str, Any]:
    names = ("baseline", "pairs", "test", "confidence")
    given = {name: getattr(arguments, name) for name in names}
    options = {name: value for name, value in given.items() if value is not None}
    return options | {"random_state": arguments.seed or 0}


def _documents(arguments: Namespace) -> Any:
    """Labels, scores by system and ids."""
    if not arguments.runs:
        return _of_one_file(arguments)
    files = [arguments.qrels, *arguments.runs.values()]
    qrels, *runs = [sys.stdin.buffer if file == "-" else file for file in files]
    documents: Any = join_trec(
        qrels, dict(zip(arguments.runs, runs, strict=True)), arguments.columns,
        arguments.complete or None, arguments.unjudged or "irrelevant",
        arguments.ignore_identical_ids or arguments.like == "beir",
    )  # fmt: skip
    is_trec = not any(map(has_columns, files))
    if arguments.like is None and is_trec and (n_tied := _count_ties(documents)):
        _say(
            "note",
            f"{n_tied:,} results are tied; ties are averaged, and --like trec_eval breaks them by "
            "document id, which gives the digits of trec_eval.",
        )
    return documents


def _count_ties(documents: dict[str, Any]) -> int:
    _, query = np.unique(documents["groups"], return_inverse=True)
    n_tied = 0
    for scores in documents["y_score"].values():
        order = np.lexsort((scores, query))
        ranked, of_query = scores[order], query[order]
        is_tied = (ranked[1:] == ranked[:-1]) & (of_query[1:] == of_query[:-1])
        is_tied &= ranked[1:] > -np.inf
        n_tied += int((np.append(is_tied, False) | np.append(False, is_tied)).sum())
    return n_tied


def _of_one_file(arguments: Namespace) -> Any:
    path, columns, scores = arguments.qrels, arguments.columns, arguments.scores
    file = read_columns(path)
    query, label = (file.find(field, columns) for field in ("query", "relevance"))
    systems = {name: file.find("score", {"score": column}) for name, column in scores.items()}
    systems = systems or {clean(_stem(path)): file.find("score", columns)}
    documents: Any = of_one_table(file, query, None, label, systems, "score", "nan")
    # as in QRELS
    documents["y_true"] = np.where(documents["y_true"] < 0, np.nan, documents["y_true"])
    return documents | ({"unjudged": arguments.unjudged} if arguments.unjudged else {})


def _table_of_runs(scores: dict[str, QueryScores], *, per_query: bool) -> Table:
    """One row per run, after one per query if asked for."""
    names = next(iter(scores.values())).metrics
    rows: list[list[Any]] = []
    for run, of_run in scores.items():
        if per_query:
            for query, values in zip(_texts(of_run), of_run.values.tolist(), strict=True):
                rows.append([run, query, *values])
        rows.append([run, *(["all"] if per_query else []), *of_run.mean().values()])
    header = ["run", *(["query"] if per_query else []), *names]
    return Table("", header, rows, 1 + per_query)


def _compared(comparison: Comparison) -> list[dict[str, Any]]:
    """One row per metric and pair of runs."""
    return [
        {
            "metric": d.metric, "run": d.model, "baseline": d.baseline,
            "baseline_mean": d.baseline_mean, "mean": d.model_mean, "difference": d.difference,
            "low": d.interval.low, "high": d.interval.high, "p": d.p_value,
            "p_holm": d.adjusted_p_value, "wins": d.wins, "ties": d.ties, "losses": d.losses,
        }
        for d in comparison.differences
    ]  # fmt: skip


def _json(
    scores: dict[str, QueryScores], comparison: Comparison | None, per_query: bool,
    digits: int | None,
) -> str:  # fmt: skip
    """JSON without NaN, which its standard does not have."""

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: plain(part) for name, part in value.items()}
        if isinstance(value, float) and math.isnan(value):
            return None
        is_rounded = isinstance(value, float) and digits is not None
        return round(float(value), digits) if is_rounded else value

    result: dict[str, Any] = {"runs": {run: of_run.mean() for run, of_run in scores.items()}}
    if per_query:
        result["queries"] = {
            run: {
                query: dict(zip(of_run.metrics, values, strict=True))
                for query, values in zip(_texts(of_run), of_run.values.tolist(), strict=True)
            }
            for run, of_run in scores.items()
        }
    result = plain(result)
    if comparison is not None:
        result |= {"baseline": comparison.baseline, "test": comparison.test}
        result |= {"adjustment": "holm", "comparison": list(map(plain, _compared(comparison)))}
    lines = json.dumps(result, indent=2, ensure_ascii=False).split("\n")
    return "\n".join(map(clean, lines)) + "\n"


def _texts(scores: QueryScores) -> list[str]:
    """The query ids."""
    return list(map(str, scores.ids.astype(str)))


def metrics(_: Namespace) -> str:
    """The names of the metrics, with their options and defaults."""
    rows = []
    for name, metric in METRICS.items():
        options = ", ".join(f"{o}={v}" for o, v in metric.options.items() if o != "k")
        summary = (metric.function.__doc__ or "").strip().partition("\n")[0]
        rows.append([f"{name}{'@k' if 'k' in metric.options else ''}", summary, options])
    return Table("", ["metric", "", "options"], rows, 3).text() + "\n"
