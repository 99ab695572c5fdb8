"""The command line: values as in Python, formats, comparisons, files of every form, streams."""

import csv
import gzip
import io
import json
import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sklearn_rankscore import __version__, compare, evaluate, from_trec, query_scores
from sklearn_rankscore.cli import main
from sklearn_rankscore.metrics.names import METRICS

QRELS = "".join(f"{q} 0 d{d} {(q + d) % 3}\n" for q in range(30) for d in range(9))
BM25 = "".join(f"{q} Q0 d{d} 1 {(d * 7 + q) % 5} t\n" for q in range(30) for d in range(9))
DENSE = "".join(f"{q} Q0 d{d} 1 {(q + d) % 3 + d / 9} t\n" for q in range(29) for d in range(9))
RUNS = ["qrels.txt", "bm25.run", "dense.run.gz"]
ALL = [*RUNS, "-m", "ndcg@5", "-m", "map"]


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / "bm25.run").write_text(BM25)
    (tmp_path / "dense.run.gz").write_bytes(gzip.compress(DENSE.encode()))
    return tmp_path


@pytest.fixture
def run(capsys):
    """The output of a command, as text or JSON or rows of CSV."""

    def call(*arguments, form=None, status=0):
        extra = [] if form is None else ["--format", form]
        assert main(["evaluate", *map(str, arguments), *extra]) == status
        out = capsys.readouterr().out
        if form == "json":
            return json.loads(out)
        return list(csv.DictReader(io.StringIO(out))) if form == "csv" else out

    return call


def documents():
    return from_trec("qrels.txt", {"bm25": "bm25.run", "dense": "dense.run.gz"}, complete=False)


def expected():
    return evaluate(metrics=["ndcg@5", "map"], **documents())


def test_values_in_every_format(run):
    table = [line.split() for line in run(*ALL).splitlines()]
    assert table[0] == ["run", "ndcg@5", "map"]
    for line, (name, values) in zip(table[1:], expected().items(), strict=True):
        assert line == [name, *(f"{value:.4f}" for value in values.values())]
    assert run(*ALL, form="json")["runs"] == expected()
    for row in run(*ALL, form="csv"):
        assert float(row["map"]) == expected()[row["run"]]["map"]
    assert run(*ALL, "--digits", 2, form="csv")[0]["map"] == f"{expected()['bm25']['map']:.2f}"
    value = f"{expected()['bm25']['map']:.4f}"
    one = ["qrels.txt", "a_b|c=bm25.run", "-m", "map"]
    lines = ["| run | map |", "| --- | ---: |", rf"| a\_b\|c | {value} |", ""]
    assert run(*one, form="markdown") == "\n".join(lines)
    assert rf"  a\_b\textbar{{}}c & {value} \\" in run(*one, form="latex")
    names = ["P(rel=2)@5", "ndcg_cut_10", "map(threshold=1, ties=stable)"]  # of other libraries too
    values = run("qrels.txt", "bm25.run", "-m", ",".join(names), form="json")["runs"]["bm25"]
    assert values == evaluate(metrics=names, **from_trec("qrels.txt", "bm25.run"))
    lists = run("qrels.txt", "bm25.run", "-m", "P.5,10,map,ndcg_cut.5,10", form="json")
    assert [*lists["runs"]["bm25"]] == ["P.5", "P.10", "map", "ndcg_cut.5", "ndcg_cut.10"]


def test_values_of_queries(run):
    scores = query_scores(metrics=["ndcg@5", "map"], **documents())["dense"]
    rows = [row for row in run(*ALL, "-q", form="csv") if row["run"] == "dense"]
    mine = {row["query"]: float(row["map"]) for row in rows}
    assert mine.pop("all") == scores.mean()["map"]
    assert mine == dict(zip(scores.ids, scores["map"], strict=True))
    of_run = run(*ALL, "-q", "--digits", 2, form="json")["queries"]["dense"]
    assert {q: of_run[q]["map"] for q in mine} == {q: round(v, 2) for q, v in mine.items()}


def test_what_is_missing_is_said_in_python_and_on_the_command_line(run, capsys):
    main(["evaluate", *ALL])
    message = "dense has no results for 1 of 30 queries, which count as if it retrieved nothing."
    assert f"rankscore: warning: {message}\n" in capsys.readouterr().err
    with pytest.warns(UserWarning, match=message):
        from_trec("qrels.txt", {"bm25": "bm25.run", "dense": "dense.run.gz"})
    main(["evaluate", "qrels.txt", "dense.run.gz"])
    message = "no run has results for 1 judged query of 30, left out of the means as by trec_eval"
    assert f"rankscore: warning: {message}" in capsys.readouterr().err
    with pytest.warns(UserWarning, match=f"{message}.*complete=True"):
        from_trec("qrels.txt", "dense.run.gz")
    alone = run("qrels.txt", "dense.run.gz", "-m", "map", form="json")["runs"]["dense"]["map"]
    complete = run("qrels.txt", "dense.run.gz", "-m", "map", "-c", form="json")["runs"]["dense"]
    assert complete["map"] == pytest.approx(alone * 29 / 30)
    main(["evaluate", "qrels.txt", "dense.run.gz", "-c"])
    assert capsys.readouterr().err.count("warning") == 0


def test_ties_are_said_in_one_line(capsys):
    main(["evaluate", "qrels.txt", "bm25.run", "-m", "map"])
    (line,) = capsys.readouterr().err.splitlines()
    # of nine scores within 0 to 4, eight equal another one; in 30 queries
    assert line == (
        "rankscore: note: 240 results are tied; ties are averaged, and --like trec_eval breaks "
        "them by document id, which gives the digits of trec_eval."
    )
    main(["evaluate", "qrels.txt", "bm25.run", "-m", "map", "--like", "trec_eval"])
    main(["evaluate", "qrels.txt", "dense.run.gz", "-c"])
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("options", [{"baseline": "bm25"}, {"pairs": "all"}], ids=str)
def test_a_comparison_is_that_of_python(options, run):
    """Also the letters of all pairs."""
    ((name, value),) = options.items()
    scores = query_scores(metrics=["ndcg@5", "map"], **documents())
    comparison = compare(scores, **options, test="t")
    given = [*ALL, f"--{name}", value, "--test", "t"]
    table, text = str(comparison.system_table()), run(*given)
    assert table in text
    assert str(comparison) in text
    assert comparison.to_markdown() in run(*given, form="markdown")
    assert comparison.to_latex() in run(*given, form="latex")
    if name == "baseline":
        assert run(*ALL, "--test", "t") == text  # an option of a comparison asks for one
    rows = run(*given, form="csv")
    result = run(*given, "-q", form="json")
    assert (result["test"], result["adjustment"]) == ("t", "holm")
    assert result["baseline"] == options.get("baseline")
    for row, entry, d in zip(rows, result["comparison"], comparison.differences, strict=True):
        of_pair = d.metric, d.baseline, d.model, d.wins
        assert (row["metric"], row["baseline"], row["run"], int(row["wins"])) == of_pair
        values = d.difference, *d.interval, d.p_value, d.adjusted_p_value
        for source in (row, entry):
            names = ("difference", "low", "high", "p", "p_holm")
            assert tuple(float(source[name]) for name in names) == values


OF_RUN = "query_id,doc_id,score\n"
SMALL = {
    "own.txt": "q1 0 d1 1\nq1 0 d2 1\n",
    "own.run": "q1 Q0 q1 1 2 t\nq1 Q0 d1 2 1 t\n",
    "two.txt": "1 0 a 1\n1 0 b 0\n",
    "two.csv": "qid,docno,label\n1,a,1\n1,b,0\n",
    "both.csv": "qid,docno,score,position\n1,a,0.1,1\n1,b,0.2,2\n",
    "gap.csv": "qid,docno,rank\n1,a,9\n",
    "numbers.csv": "\ufeff0,1,2\r\n1,a,0.25\r\n1,b,0.5\r\n",
    "year.csv": "\ufeffuid,item,2026\r\n1,a,0.25\r\n1,b,0.5\r\n",
    "grades.csv": "query_id,doc_id,relevance\n1,a,0.5\n1,b,True\n",
    "grades.run": "1 Q0 a 1 2 t\n1 Q0 b 2 1 t\n",
    "movies.csv": "User,movie,rating\n1,7,3\n1,8,4\n",
    "top.csv": "User,movie,rank\n1,7,1\n1,8,2\n",
    "d2.csv": "query_id,doc_id,relevance\nq,d2,1\n",
    "first.csv": f"{OF_RUN}q,d2,1\n",
    "tied.csv": f"{OF_RUN}q,d1,1\nq,d2,1\n",
    "some.csv": "query_id,relevance,score\n1,,2\n1,-1,5\n1,1,1\n",
}
# a command line, and the value of its last run
VALUES = [
    *((f"own.txt own.run -m map {of}", 0.5) for of in ("--like beir", "--ignore-identical-ids")),
    ("own.txt own.run -m map --like trec_eval", 0.25),
    ("two.csv both.csv -m mrr", 0.5),
    ("two.csv both.csv -m mrr --columns rank=position", 1),
    ("two.csv gap.csv -m mrr", 1 / 9),
    ("movies.csv top.csv -m map(threshold=3.5) --columns document=movie", 0.5),
    # a first line of numbers may be names
    ("two.txt numbers.csv -m mrr --columns query=0,document=1,score=2", 0.5),
    ("two.txt year.csv -m mrr --columns query=uid,score=2026", 0.5),
    # judgments in a table may be fractions or truth, beside a run of TREC
    ("grades.csv grades.run -m dcg@2", 0.5 + 1 / math.log2(3)),
    # two documents of a single file that nobody judged
    ("some.csv -m mrr --unjudged irrelevant", 1 / 3),
    *((f"some.csv -m {of}", 1) for of in ("mrr --unjudged drop", "mrr(unjudged=drop)")),
    # the order in which another run has tied documents breaks no ties: trec_eval ranks them by
    # descending id; ranx and BEIR's own mrr sort stably, and rows are by ascending id
    *((f"d2.csv {runs} -m mrr --like {like}", value)
      for runs in ("tied.csv", "first.csv tied.csv")
      for like, value in (("trec_eval", 1), ("beir", 0.5), ("ranx", 0.5))),
]  # fmt: skip


@pytest.mark.parametrize(("command", "value"), VALUES)
def test_values_of_small_files(command, value, run, files):
    for name, content in SMALL.items():
        (files / name).write_bytes(content.encode())
    *_, (of_metric,) = (of.values() for of in run(*command.split(), form="json")["runs"].values())
    assert of_metric == pytest.approx(value, abs=1e-15)


RNG = np.random.default_rng(0)
ROWS = pd.DataFrame({"qid": RNG.integers(0, 30, 400), "label": RNG.integers(0, 3, 400)})
ROWS["score"] = RNG.normal(size=400)
ROWS["dense"] = ROWS["score"] + ROWS["label"]


def test_a_metric_of_ones_own(run, files):
    (files / "of_mine.py").write_text(
        "from sklearn_rankscore import register_metric\n"
        "def gained(block, k, ties):\n"
        "    return block.by_rank(lambda labels: labels, ties)[:, :k].sum(axis=1)\n"
        "register_metric('gained', gained)\n"
    )
    name = "gained@5(ties=stable)"
    mine = run(*RUNS, "--import", "of_mine.py", "-m", name, form="json")["runs"]
    dcg = evaluate(metrics="dcg@5(ties=stable, discount=none)", **documents())
    for system, (value,) in ((system, of.values()) for system, of in dcg.items()):
        assert mine[system][name] == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize("form", ["a.csv", "a.parquet", "a folder.parquet"])
def test_one_file_of_labels_and_scores(form, run):
    def write(rows):
        path = Path(f"scored.{form.rpartition('.')[2]}")
        if form == "a.csv":
            rows.to_csv(path, index=False)
        elif form == "a.parquet":
            rows.to_parquet(path)
        else:  # as Spark writes it
            path.mkdir(exist_ok=True)
            for part, some in enumerate((rows[:150], rows[150:])):
                some.to_parquet(path / f"part-{part}.parquet")
        return [str(path), "-m", "ndcg@10,map(threshold=1)"]

    names = ["ndcg@10", "map(threshold=1)"]
    of = {
        system: pytest.approx(evaluate(ROWS["label"], ROWS[system], names, groups=ROWS["qid"]))
        for system in ("score", "dense")
    }
    assert run(*write(ROWS), form="json")["runs"] == {"scored": of["score"]}
    given = write(ROWS.rename(columns={"qid": "day", "label": "clicked"}))
    columns = ["--columns", "query=day,relevance=clicked", "--scores", "bm25=score,dense"]
    result = run(*given, *columns, "--baseline", "bm25", "--test", "t", form="json")
    assert result["runs"] == {"bm25": of["score"], "dense": of["dense"]}
    assert [row["wins"] for row in result["comparison"]] == [30, 30]
    ranked = ROWS.assign(position=ROWS.groupby("qid")["score"].rank(ascending=False).astype(int))
    for wrong in ("score=position", "query=user"):
        assert main(["evaluate", *write(ranked), "--columns", wrong]) == 1


class Stream(io.TextIOWrapper):
    """Standard input or output, whose bytes are kept."""

    def __init__(self, content=b"", encoding="utf-8"):
        super().__init__(io.BytesIO(content), encoding)


def test_standard_input(run, monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", Stream(BM25.encode()))
    assert run("qrels.txt", "-", "-mmap", form="csv")[0] == {
        "run": "stdin", "map": str(expected()["bm25"]["map"])
    }  # fmt: skip
    monkeypatch.setattr(sys, "stdin", Stream(b"qid,docno,score\n1,a,1\n"))
    assert main(["evaluate", "qrels.txt", "-"]) == 1
    error = capsys.readouterr().err
    assert error.startswith("rankscore: error: run (standard input), line 1: a line must")
    assert "cannot come from standard input" in error


@pytest.mark.parametrize(("encoding", "name"), [("cp1252", r"\u65e5"), ("utf-8", "日")])
def test_every_encoding_of_standard_output(encoding, name, monkeypatch):
    monkeypatch.setattr(sys, "stdout", out := Stream(encoding=encoding))
    runs = ["日=bm25.run", "b=bm25.run", "--baseline", "b"]
    assert main(["evaluate", "qrels.txt", *runs, "-mmap"]) == 0
    assert name in out.buffer.getvalue().decode(encoding)


def test_closed_and_other_streams(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdout", None)  # what Python does after >&-
    assert main(["metrics"]) == 1
    assert capsys.readouterr().err == "rankscore: error: standard output is closed.\n"
    monkeypatch.setattr(sys, "stdout", io.StringIO())  # of an editor, without an encoding
    assert main(["metrics"]) == 0
    assert "ndcg" in sys.stdout.getvalue()
    reading, writing = os.pipe()
    os.close(reading)  # as head does, which has enough
    with open(writing, "w") as out:
        monkeypatch.setattr(sys, "stdout", out)
        assert main(["metrics"]) == 0
    assert capsys.readouterr().err == ""


def test_metrics_and_version_are_printed(capsys):
    assert main(["metrics"]) == 0
    listed = [line.split()[0] for line in capsys.readouterr().out.splitlines()[1:]]
    assert [name.removesuffix("@k") for name in listed] == list(METRICS)
    command = [sys.executable, "-m", "sklearn_rankscore", "--version"]
    assert subprocess.check_output(command, text=True) == f"rankscore {__version__}\n"
