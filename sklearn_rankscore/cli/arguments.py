"""The arguments of the command line."""

from __future__ import annotations

import argparse
import math
import re
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, get_args

from .._typing import IntervalMethod, SignificanceTest
from .._validation import did_you_mean
from ..metrics.conventions import CONVENTIONS
from ..metrics.metric import Metric
from ..metrics.resolve import resolve_all
from .header import NAMES
from .sources import is_table, named_runs

COMMANDS = ("evaluate", "metrics")
RULES = ("irrelevant", "drop")
FORMATS = ("table", "markdown", "latex", "csv", "json")
DEFAULT_METRICS = ["map", "ndcg@10", "mrr", "precision@10", "recall@100"]
# the options of a comparison, and their defaults
COMPARISON = {"test": "permutation", "method": "auto", "confidence": 0.95, "seed": 0}
FILES = """\
QRELS and RUN are TREC files (also .gz, .bz2, .xz), CSV, TSV or Parquet files with named columns, or
- for standard input. A run is named after its file; NAME=PATH gives it another name. All runs are
evaluated on the same queries: those that are judged and occur in at least one run, or with -c all
judged queries. A run that lacks one of them retrieved nothing there. A single CSV, TSV or Parquet
file has labels and scores in the same rows; --scores names the columns of several systems."""
EXAMPLES = """\
examples:
  rankscore evaluate qrels.txt bm25.run -m ndcg@10 -m map --like trec_eval
  rankscore evaluate qrels.txt bm25.run dense.run.gz --baseline bm25 --format markdown
  rankscore evaluate ratings.csv top.csv -m recall@20 \\
      --columns query=user,document=movie,relevance=rating,score=prediction
  rankscore evaluate scored.parquet --scores bm25=s1,dense=s2 --baseline bm25 \\
      --columns query=session,relevance=clicked
  rankscore metrics"""


class Parser(argparse.ArgumentParser):
    """A parser whose errors leave out the usage."""

    def error(self, message: str) -> NoReturn:
        """Print the error, and exit with status 2."""
        sys.stderr.write(f"{self.prog}: error: {message}\nTry '{self.prog} --help'.\n")
        sys.exit(2)


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """The arguments, checked; a wrong one exits with status 2."""
    parser, evaluate = _parsers()
    if argv and not argv[0].startswith("-") and argv[0] not in COMMANDS:
        known = ", ".join(COMMANDS)
        hint = did_you_mean(argv[0], COMMANDS)
        parser.error(f"unknown command {argv[0]!r}; the commands are {known}.{hint}")
    arguments, unknown = parser.parse_known_args(argv)
    if unknown:
        hint = "" if arguments.command == "metrics" else _hint(unknown[0], evaluate)
        parser.error(f"unknown argument {unknown[0]}.{hint}")
    if arguments.command != "evaluate":
        return arguments
    given = arguments.metrics or DEFAULT_METRICS
    # separated by commas outside of parentheses
    arguments.metrics = [name for names in given for name in re.split(r",(?![^(]*\))", names)]
    try:
        resolved = resolve_all(arguments.metrics, like=arguments.like)
        arguments.runs = named_runs(arguments.runs)
    except (ValueError, TypeError) as error:
        evaluate.error(str(error))
    for name, metric in resolved.items():
        if fault := _fault_of_metric(name, metric, arguments.like):
            evaluate.error(fault)
    if conflict := _conflict(arguments):
        evaluate.error(conflict)
    for option, default in COMPARISON.items():
        if getattr(arguments, option) is None:
            setattr(arguments, option, default)
    return arguments


def _fault_of_metric(name: str, metric: Metric, like: str | None) -> str | None:
    """Why files cannot be evaluated by a metric."""
    if metric.propensity is not None or metric.clip is not None:
        return f"{name}: files have no propensities; use evaluate in Python."
    if metric.average == "micro":
        convention = "" if like is None else f", perhaps by --like {like}"
        return (
            f"{name} is a ratio of sums over all queries (average=micro{convention}), which has no "
            "value for a query; use average=macro."
        )
    return None


def _hint(unknown: str, evaluate: argparse.ArgumentParser) -> str:
    """What an unknown argument was probably meant to be."""
    if unknown.lstrip("-") in FORMATS:
        return f" Did you mean '--format {unknown.lstrip('-')}'?"
    if unknown.lstrip("-") in ("k", "cutoff", "top-k"):
        return " Cut-offs are part of the names of metrics, as in -m ndcg@10."
    if not unknown.startswith("-"):
        return " Several metrics are separated by commas, as in -m map,ndcg@10."
    return did_you_mean(unknown, list(evaluate._option_string_actions))


def _conflict(arguments: argparse.Namespace) -> str | None:
    """Why arguments cannot be used together."""
    files = [arguments.qrels, *arguments.runs.values()]
    if not all(files):
        return "QRELS or a RUN is the empty path."
    if files.count("-") > 1:
        return "only one of QRELS and RUN can be standard input."
    if conflict := _conflict_of_one_file(arguments):
        return conflict
    if arguments.columns and not any(map(is_table, files)):
        return "--columns needs a CSV, TSV or Parquet file; TREC files have no names of columns."
    if arguments.baseline is None:
        given = [name for name in COMPARISON if getattr(arguments, name) is not None]
        if given:
            return f"--{given[0]} needs --baseline RUN, with which all other runs are compared."
        return None
    if arguments.per_query and arguments.format == "csv":
        return (
            "--baseline and --per-query give two tables, of which csv can hold one; use "
            "--format json, or leave out one of them."
        )
    return _wrong_baseline(arguments.baseline, list(arguments.runs or arguments.scores))


def _conflict_of_one_file(arguments: argparse.Namespace) -> str | None:
    """Why a file of labels and scores cannot be evaluated with these arguments."""
    if arguments.runs:
        return "--scores is for a single file; leave out the runs." if arguments.scores else None
    if not is_table(arguments.qrels):
        return "a RUN is missing; only a CSV, TSV or Parquet file can have labels and scores."
    if arguments.complete or arguments.unjudged:
        return "-c and --unjudged need a RUN: a single file has a label in each row."
    return None


def _wrong_baseline(baseline: str, runs: list[str]) -> str | None:
    if not runs:
        return "--baseline needs runs, or --scores NAME=COLUMN,... of a single file."
    if baseline not in runs:
        hint = did_you_mean(baseline, runs)
        return f"--baseline must be one of {', '.join(runs)}; got {baseline!r}.{hint}"
    return "--baseline needs at least two runs; got one." if len(runs) < 2 else None


def _parsers() -> tuple[Parser, Parser]:
    parser = Parser(
        prog="rankscore",
        description="Ranking metrics of qrels and run files.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    # of the package itself, which no module of it imports
    version = sys.modules[__name__.partition(".")[0]].__version__
    parser.add_argument("--version", action="version", version=f"%(prog)s {version}",
                        help="print the version")  # fmt: skip
    commands = parser.add_subparsers(
        dest="command", metavar="COMMAND", required=True, parser_class=Parser
    )
    evaluate = commands.add_parser(
        "evaluate",
        help="evaluate one or several runs",
        description=FILES,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    _add_arguments(evaluate.add_argument)
    commands.add_parser("metrics", help="list the metrics and their options")
    return parser, evaluate


def _add_arguments(add: Callable[..., Any]) -> None:
    add("qrels", metavar="QRELS", help="relevance judgments")
    add("runs", metavar="RUN", nargs="*", help="run, or NAME=PATH")
    add("-m", "--metric", dest="metrics", action="append", metavar="NAME",
        help="metric such as ndcg@10 or 'map(threshold=1)'; several by commas, or repeated "
        f"(default: {', '.join(DEFAULT_METRICS)})")  # fmt: skip
    add("--like", type=_choice(tuple(CONVENTIONS)), metavar="LIBRARY",
        help=f"conventions of a library: {', '.join(CONVENTIONS)}")  # fmt: skip
    add("-q", "--per-query", action="store_true", help="also print the value of every query")
    add("-c", "--complete", action="store_true", help="count judged queries that no run contains")
    add("--unjudged", type=_choice(RULES), metavar="RULE",
        help=f"documents without a judgment: {', '.join(RULES)} (as trec_eval -J); the default is "
        "irrelevant, and a metric may set its own, as 'ndcg@10(unjudged=drop)'")  # fmt: skip
    add("--columns", type=_columns, default={}, metavar="FIELD=NAME,...",
        help="columns of CSV and Parquet files; the fields are query, document, relevance, score "
        "and rank")  # fmt: skip
    add("--scores", type=_scores, default={}, metavar="NAME=COLUMN,...",
        help="columns of scores by system, in a single file of labels and scores")  # fmt: skip
    add("--baseline", metavar="RUN", help="compare all other runs with this one")
    tests = get_args(SignificanceTest)
    add("--test", type=_choice(tests), metavar="TEST",
        help=f"significance test: {', '.join(tests)} (default: permutation)")  # fmt: skip
    methods = get_args(IntervalMethod)
    add("--method", type=_choice(methods), metavar="METHOD",
        help=f"confidence intervals: {', '.join(methods)} (default: auto)")  # fmt: skip
    add("--confidence", type=_confidence, metavar="LEVEL",
        help="of the intervals; stars mark p <= 1 - LEVEL (default: 0.95)")  # fmt: skip
    add("--seed", type=_whole_number(2**32 - 1), metavar="N",
        help="of bootstrap and test (default: 0)")  # fmt: skip
    add("--format", type=_choice(FORMATS), default="table", metavar="FORMAT",
        help=f"{', '.join(FORMATS)} (default: table)")  # fmt: skip
    add("--digits", type=_whole_number(1000), metavar="N",
        help="decimals of values, bounds and p-values (default: 4; csv, json: all)")  # fmt: skip


def _choice(allowed: tuple[str, ...]) -> Callable[[str], str]:
    def check(text: str) -> str:
        if text not in allowed:
            raise argparse.ArgumentTypeError(
                f"must be one of {', '.join(allowed)}; got {text!r}.{did_you_mean(text, allowed)}"
            )
        return text

    return check


def _whole_number(most: int) -> Callable[[str], int]:
    def check(text: str) -> int:
        if not text.isdecimal():
            raise argparse.ArgumentTypeError(f"must be an integer of at least 0; got {text!r}.")
        if int(text) > most:
            raise argparse.ArgumentTypeError(f"must be at most {most}; got {text:.20}.")
        return int(text)

    return check


def _confidence(text: str) -> float:
    try:
        level = float(text)
    except ValueError:
        level = math.nan
    if not 0 < level < 1:
        raise argparse.ArgumentTypeError(
            f"must be a number between 0 and 1, such as 0.95; got {text!r}."
        )
    return level


def _scores(text: str) -> dict[str, str]:
    """``"bm25=s1,dense"`` as a dict; a column alone names the system too."""
    scores: dict[str, str] = {}
    for part in text.split(","):
        name, equals, column = part.partition("=")
        if not name or (equals and not column) or name in scores:
            raise argparse.ArgumentTypeError(f"must be NAME=COLUMN,... of several; got {text!r}.")
        scores[name] = column or name
    return scores


def _columns(text: str) -> dict[str, str]:
    """``"query=user,document=item"`` as a dict."""
    columns: dict[str, str] = {}
    for part in text.split(","):
        field, equals, name = part.partition("=")
        if not equals or not name or field not in NAMES:
            raise argparse.ArgumentTypeError(
                f"must be FIELD=NAME, where FIELD is one of {', '.join(NAMES)}; got {part!r}."
                f"{did_you_mean(field, NAMES)}"
            )
        if field in columns:
            raise argparse.ArgumentTypeError(
                f"{field} is named twice, {columns[field]!r} and {name!r}."
            )
        columns[field] = name
    return columns
