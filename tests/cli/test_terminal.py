"""The command line in terminals and pipes of any kind."""

import subprocess
import sys

import pytest

from sklearn_rankscore import __version__
from sklearn_rankscore.cli import main

QRELS = "".join(f"{q} 0 {d} {(q + d) % 2}\n" for q in range(9) for d in range(4))
RUN = "".join(f"{q} Q0 {d} 1 {(q + d) % 2 + d / 9} t\n" for q in range(9) for d in range(4))
OPPOSITE = "".join(f"{q} Q0 {d} 1 {-((q + d) % 2)} t\n" for q in range(9) for d in range(4))


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / "a.run").write_text(RUN)
    (tmp_path / "b.run").write_text(OPPOSITE)
    return tmp_path


def rankscore(folder, monkeypatch, *arguments, encoding, **options):
    monkeypatch.setenv("PYTHONIOENCODING", encoding)
    command = [sys.executable, "-m", "sklearn_rankscore", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, check=False, **options)


def test_the_version_is_printed(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["--version"])
    assert stopped.value.code == 0
    assert capsys.readouterr().out == f"rankscore {__version__}\n"


@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "utf-8"])
def test_a_note_is_printed_in_every_encoding(folder, monkeypatch, encoding):
    arguments = ["evaluate", "qrels.txt", "a.run", "b.run", "--baseline", "a", "-m", "map"]
    done = rankscore(folder, monkeypatch, *arguments, encoding=encoding)
    assert (done.returncode, done.stderr) == (0, b"")
    sign = "≤" if encoding == "utf-8" else "<="
    assert f"* differs from a (p {sign} 0.05, permutation test, Holm)" in done.stdout.decode()


def test_help_is_printed_in_every_encoding(folder, monkeypatch):
    done = rankscore(folder, monkeypatch, "evaluate", "--help", encoding="ascii")
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_name_that_the_encoding_lacks_is_refused(folder, monkeypatch):
    arguments = ["evaluate", "qrels.txt", "é=a.run", "-m", "map"]
    done = rankscore(folder, monkeypatch, *arguments, encoding="ascii")
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"PYTHONUTF8=1" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "stream"),
    [(["metrics"], "stdout"), (["evaluate", "qrels.txt", "-"], "stdin")],
)
def test_a_closed_stream_is_one_error(folder, monkeypatch, capsys, arguments, stream):
    monkeypatch.chdir(folder)
    with monkeypatch.context() as closed:
        closed.setattr(sys, stream, None)  # what Python does after >&- or <&-
        status = main(arguments)
    assert status == 1
    assert capsys.readouterr().err == f"rankscore: error: standard {stream[3:]}put is closed.\n"


def test_csv_from_standard_input_is_refused_by_name(folder, monkeypatch):
    arguments = ["evaluate", "qrels.txt", "-"]
    table = b"qid,docno,score\n1,a,1\n"
    done = rankscore(folder, monkeypatch, *arguments, encoding="utf-8", input=table)
    assert done.returncode == 1
    assert b"names end in .csv or .tsv, but not from standard input" in done.stderr


def test_utf_16_is_refused_with_its_fix(folder, monkeypatch, capsys):
    (folder / "wide.csv").write_bytes("qid,docno,score\n1,a,1\n".encode("utf-16-le"))
    monkeypatch.chdir(folder)
    assert main(["evaluate", "qrels.txt", "wide.csv"]) == 1
    assert "Convert a file in UTF-16 to UTF-8" in capsys.readouterr().err


class Written:
    """A standard output that has no encoding, as some editors put in place."""

    text = ""

    def write(self, text):
        self.text += text

    def flush(self):
        pass


def test_standard_output_without_an_encoding(monkeypatch):
    with monkeypatch.context() as replaced:
        replaced.setattr(sys, "stdout", Written())
        assert main(["metrics"]) == 0
        assert "ndcg" in sys.stdout.text
