"""Malformed files and hostile command lines: one line each, no traceback, and little memory."""

import gzip
import re
import subprocess
import sys

import pytest

from sklearn_rankscore.cli import main


def write(path, content):
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return str(path)


def check(capsys, arguments, message, status=1):
    """One error in one line."""
    try:
        got = main(["evaluate", *arguments])
    except SystemExit as stopped:
        got = stopped.code
    out, err = capsys.readouterr()
    assert (got, out) == (status, "")
    (line,) = [line for line in err.splitlines() if not line.startswith("Try ")]
    assert re.search(message, line), line
    assert len(line) < 2_300


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Good files, and such as someone might put there to do harm."""
    tmp_path = tmp_path_factory.mktemp("hostile")
    write(tmp_path / "q.txt", "1 0 a 1\n1 0 b 0\n")
    write(tmp_path / "r.run", "1 Q0 a 1 0.5 t\n1 Q0 b 2 0.25 t\n")
    write(tmp_path / "s.run", "1 Q0 a 1 0.25 t\n1 Q0 b 2 0.5 t\n")
    write(tmp_path / "r.csv", "qid,docno,score\n1,a,0.5\n1,b,0.25\n")
    write(tmp_path / "scored.csv", "qid,label,score\n1,1,0.5\n1,0,0.25\n")
    for name, target in {
        "zero.run": "/dev/zero", "zero.csv": "/dev/zero", "zero.parquet": "/dev/zero",
        "random.run": "/dev/urandom", "null.run": "/dev/null",
        "loop": "loop", "nowhere.run": "missing", "folder.run": "/",
    }.items():  # fmt: skip
        (tmp_path / name).symlink_to(target)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "folder.parquet").mkdir()
    for name, text in {"letters": b"a", "spaces": b" "}.items():
        write(tmp_path / f"{name}.run.gz", gzip.compress(text * 2**23, 1))
        write(tmp_path / f"{name}.csv.gz", gzip.compress(text * 2**23, 1))
    write(tmp_path / "escape.run", "1 Q0 \x1b[31ma 1 x t\n")
    write(tmp_path / "twice.run", "1 Q0 \x1b]0;\u202ea 1 1 t\n1 Q0 \x1b]0;\u202ea 1 1 t\n")
    write(tmp_path / "names.csv", '"qid","doc\nno","sco\x1b[2Jre"\n1,a,1\n')
    return tmp_path


@pytest.fixture
def folder(made, monkeypatch):
    monkeypatch.chdir(made)
    return made


GOOD = ["q.txt", "r.run"]
DIRECTORY = "[Dd]irectory|regular file|not a Parquet"
HOSTILE = [
    *((["q.txt", name], 1, message) for name, message in {
        "zero.run": "line 1: not a text file", "zero.csv": "line 1: not a text file",
        "zero.parquet": "zero.parquet", "random.run": "not a text file|not UTF-8|fields",
        "null.run": "has no rows",
        "loop": "symbolic links", "nowhere.run": "No such file", "folder.run": DIRECTORY,
        "folder": DIRECTORY, "folder.csv": DIRECTORY, "folder.parquet": "folder.parquet",
        **{f"{of}.{form}.gz": "line 1: the line has more than 4,194,304 bytes"
           for of in ("letters", "spaces") for form in ("run", "csv")},
        "escape.run": r"line 1: score must be a number; got 'x'",
        "twice.run": r"line 2: duplicate document '.x1b.0;.u202ea' for query '1'",
        "names.csv": r"no column for the document.*doc.nno.*sco.x1b.2Jre",
        "x" * 5000: "File name too long: 'x{1900,}…$", "a\0b": "null (byte|character)",
        "\x1b[2J": r"No such file.*: '.x1b.2J'",
        "no\nsuch": r"No such file.*: 'no.nsuch'", "missing.parquet": "No such file|needs pyarrow",
    }.items()),
    (["zero.run", "r.run"], 1, "line 1: not a text file"),
    (["folder", "r.run"], 1, DIRECTORY),
    (["scored.csv", "--scores", "\x1b[1m"], 1, r"no column for the score, '.x1b.1m'"),
    (["scored.csv", "--columns", "query=a\nb"], 1, r"no column for the query, 'a.nb'"),
    ([*GOOD, "-m", "a" * 1_000_000], 2, "an argument has more than 10,000 characters"),
    ([*GOOD, "-m", "a" * 9_000], 2, "is not the name of a metric"),
    ([*GOOD, "-m", "ndgc@5"], 2, "Did you mean 'ndcg@5'"),
    ([*GOOD, "-m", "ndcg@" + "9" * 5000], 2, "ndcg"),
    ([*GOOD, "-m", "\x1b[31mmap\n"], 2, "known metric"),
    ([*GOOD, "-m", "ndcg(average=micro)"], 1, "average='micro', a ratio of sums"),
    ([*GOOD, "-m", "dcg@3(propensity=seen)"], 1, "propensity='seen' is neither a column"),
    ([*GOOD, "-m", "precision@5", "--like", "implicit"], 1, "average='micro', a ratio of sums"),
    ([*GOOD, "--like", "trec-eval"], 2, "invalid choice: 'trec-eval' .*trec_eval"),
    ([*GOOD, "--format", "html\n"], 2, "invalid choice"),
    ([*GOOD, "--formt", "csv"], 2, "unrecognized arguments: --formt csv"),
    ([*GOOD, "-k", "10"], 2, "by commas: -m .map"),
    ([*GOOD, "-m", "map", "mrr"], 2, "unrecognized arguments: mrr; metrics are separated by"),
    ([*GOOD, "--digits", "x"], 2, "must be an integer from 0"),
    ([*GOOD, "--digits", "9" * 9999], 2, "must be an integer from 0"),
    ([*GOOD, "--columns", "query=x"], 2, "--columns needs a CSV, TSV or"),
    (["q.txt", "r.csv", "--columns", "dokument=x"], 2, "Did you mean 'document'"),
    (["q.txt", "r.csv", "--columns", "score=scroe"], 1, "Did you mean 'score'?"),
    (["q.txt", "r.csv", "--columns", "query=q,query=u"], 2, "each name once"),
    (["q.txt", "r.csv", "--columns", "score=a,rank=b"], 2, "the score or the rank, not both"),
    (["q.txt"], 2, "a RUN is missing; only a CSV, TSV or Parquet file"),
    (["", "r.run"], 1, "No such file"),
    (["q.txt", "a="], 1, "No such file"),
    (["q.txt", ""], 2, "the run '' has an empty name"),
    (["q.txt", "=r.run"], 2, "has an empty name"),
    (["-", "-"], 2, "only one of QRELS and RUN"),
    (["-"], 2, "a RUN is missing"),
    ([*GOOD, "r.run"], 2, "two runs are named 'r'"),
    ([*GOOD, "s.run", "--baseline", "rr"], 1, "baseline must be one of 'r', 's'; got 'rr'"),
    ([*GOOD, "--baseline", "r"], 2, "at least two runs"),
    ([*GOOD, "--pairs", "all", "--test", "t"], 2, "at least two runs"),
    ([*GOOD, "s.run", "--pairs", "all", "--baseline", "r"], 2, "--baseline: not allowed with"),
    ([*GOOD, "s.run", "--baseline", "r", "-q", "--format", "csv"], 2, "csv can hold one; use json"),
    ([*GOOD, "s.run", "--baseline", "r", "--confidence", "95"], 1, "between 0 and 1"),
    ([*GOOD, "s.run", "--baseline", "r", "--seed", "-1"], 2, "from 0 to 2"),
    (["scored.csv", "-c"], 2, "need a RUN"),
    (["scored.csv", "--ignore-identical-ids"], 2, "need a RUN"),
    (["scored.csv", "r.csv", "--scores", "a"], 2, "for a single file, without runs"),
    (["scored.csv", "--scores", "a=,b"], 2, "must be NAME=COLUMN"),
    (["scored.csv", "--baseline", "scored"], 2, "at least two runs"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "status", "message"), HOSTILE)
def test_a_hostile_command_line_is_one_error(arguments, status, message, folder, capsys):
    check(capsys, arguments, message, status)


@pytest.mark.parametrize("arguments", [["evalute"], [], ["metrics", "--x"], ["\x1b[2J"]])
def test_wrong_commands(arguments, capsys):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    err = capsys.readouterr().err
    assert (caught.value.code, err.count("\n"), "\x1b" in err) == (2, 2, False)


LIMITED = """
import resource, sys
from sklearn_rankscore.cli import main
main(["evaluate", "q.txt", "r.run", "-m", "map"])
used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
status = [main(["evaluate", "q.txt", name, "-m", "map"]) for name in sys.argv[1:]]
print(*status, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - used, file=sys.stdout)
"""


@pytest.mark.slow
def test_endless_files_need_little_memory(folder):
    command = [sys.executable, "-c", LIMITED, "zero.run", "letters.csv.gz"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    *status, kilobytes = map(int, done.stdout.splitlines()[-1].split())
    assert status == [1, 1]
    assert kilobytes < 100_000


EVIL = "\x1b[31m<b>a|b</b>\n| x | 9.99 |\u202e"


def test_names_are_no_markup_rows_commands_or_formulas(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "r.run", "=1+1 Q0 a 1 1 t\n-1 Q0 a 1 1 t\n\x1b[2J Q0 a 1 1 t\n")
    write(tmp_path / "q.txt", "=1+1 0 a 1\n-1 0 a 1\n\x1b[2J 0 a 1\n")
    for form in ("table", "markdown", "latex", "csv", "json"):
        for extra in (["-q"], ["b=r.run", "--pairs", "all", "--test", "t"]):
            runs = [f"{EVIL}=r.run", "@SUM(A1)=r.run", *extra]
            assert main(["evaluate", "q.txt", *runs, "-m", "map", "--format", form]) == 0
            out = capsys.readouterr().out
            assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u202e]", out)
            assert not any(line.startswith("| x ") for line in out.splitlines())
            if form == "markdown":
                assert "<b>a" not in out
            if form == "csv":
                cells = [cell for line in out.splitlines()[1:] for cell in line.split(",")]
                texts = [c for c in cells if c and not re.fullmatch(r"-?[\d.e-]+|nan", c)]
                assert not any(cell[0] in "=+-@" for cell in texts)
    assert main(["evaluate", "q.txt", "r.run", "-q", "-m", "map", "--format", "csv"]) == 0
    ids = {line.split(",")[1] for line in capsys.readouterr().out.splitlines()[1:]}
    assert ids == {"-1", "'=1+1", "\\x1b[2J", "all"}
