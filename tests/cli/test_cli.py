"""The command line: formats, several runs, tables of other formats, errors and exit codes."""

import csv
import gzip
import io
import json
import re
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest

from sklearn_rankscore import compare, evaluate, from_frames, from_trec, query_scores
from sklearn_rankscore.cli import main
from sklearn_rankscore.metrics.names import METRICS

QRELS = "".join(f"{q} 0 d{d} {(q + d) % 3}\n" for q in range(30) for d in range(9))
BM25 = "".join(f"{q} Q0 d{d} 1 {(d * 7 + q) % 5} t\n" for q in range(30) for d in range(9))
DENSE = "".join(f"{q} Q0 d{d} 1 {(q + d) % 3 + d / 9} t\n" for q in range(29) for d in range(9))


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / "bm25.run").write_text(BM25)
    (tmp_path / "dense.run.gz").write_bytes(gzip.compress(DENSE.encode()))
    return tmp_path


def run(*arguments, status=0):
    try:
        returned = main(["evaluate", *arguments])
    except SystemExit as error:
        returned = error.code
    assert returned == status


def expected():
    return evaluate(
        metrics=["ndcg@5", "map"],
        **from_trec("qrels.txt", {"bm25": "bm25.run", "dense": "dense.run.gz"}),
    )


TIED = [("q", "d1", 1), ("q", "d2", 1)]
ALL = ["qrels.txt", "bm25.run", "dense.run.gz", "-m", "ndcg@5", "-m", "map"]


def test_a_table_of_runs_and_metrics(files, capsys):
    run(*ALL)
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == ["run", "ndcg@5", "map"]
    for line, (name, values) in zip(lines[1:], expected().items(), strict=True):
        assert line == [name, *(f"{value:.4f}" for value in values.values())]


def test_csv_and_json_are_rounded_only_to_the_digits_that_are_given(files, capsys):
    run(*ALL, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    for row in rows:
        of_run = expected()[row["run"]]
        assert float(row["map"]) == pytest.approx(of_run["map"], rel=1e-15)
    run(*ALL, "--format", "json")
    result = json.loads(capsys.readouterr().out)
    for name, values in expected().items():
        assert result["runs"][name] == pytest.approx(values, rel=1e-15)
    run(*ALL, "--format", "csv", "--digits", "2")
    assert f",{expected()['bm25']['map']:.2f}\n" in capsys.readouterr().out
    run(*ALL, "-q", "--baseline", "bm25", "--test", "t", "--format", "json", "--digits", "2")
    result = json.loads(capsys.readouterr().out)
    assert result["runs"]["bm25"]["map"] == round(expected()["bm25"]["map"], 2)
    numbers = [*result["queries"]["bm25"]["3"].values(), *result["comparison"][0].values()]
    assert all(n == round(n, 2) for n in numbers if isinstance(n, float))
    assert type(result["comparison"][0]["wins"]) is int


def test_markdown_and_latex(files, capsys):
    name = f"a_b|c={files / 'bm25.run'}"
    run("qrels.txt", name, "-m", "map", "--format", "markdown")
    value = f"{expected()['bm25']['map']:.4f}"
    lines = ["| run | map |", "| --- | ---: |", rf"| a\_b\|c | {value} |", ""]
    assert capsys.readouterr().out == "\n".join(lines)
    run("qrels.txt", name, "-m", "map", "--format", "latex")
    out = capsys.readouterr().out.splitlines()
    assert out[0] == r"\begin{tabular}{lr}"
    assert rf"  a\_b|c & {value} \\" in out


def test_a_legend_explains_stars_that_are_there(files, capsys):
    runs = (f"x*={files / 'bm25.run'}", f"y={files / 'bm25.run'}")  # equal, so none differs
    run("qrels.txt", *runs, "-m", "map", "--baseline", "y", "--test", "t")
    assert "differs" not in capsys.readouterr().out


def test_values_of_queries(files, capsys):
    run(*ALL, "-q", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    documents = from_trec("qrels.txt", {"bm25": "bm25.run", "dense": "dense.run.gz"})
    scores = query_scores(metrics=["ndcg@5", "map"], **documents)["dense"]
    mine = {row["query"]: float(row["map"]) for row in rows if row["run"] == "dense"}
    assert mine.pop("all") == pytest.approx(scores.mean()["map"])
    assert mine == pytest.approx(dict(zip(scores.ids, scores["map"], strict=True)))


def test_a_run_without_a_query_is_noted_and_scores_0(files, capsys):
    run(*ALL)
    note = "rankscore: note: dense has no results for 1 of 30 queries"
    assert capsys.readouterr().err.startswith(note)
    run("qrels.txt", "dense.run.gz", "-m", "map", "--format", "json")
    alone = json.loads(capsys.readouterr().out)["runs"]["dense"]["map"]
    run("qrels.txt", "dense.run.gz", "-m", "map", "-c", "--format", "json")
    complete = json.loads(capsys.readouterr().out)["runs"]["dense"]["map"]
    assert complete == pytest.approx(alone * 29 / 30)
    assert expected()["dense"]["map"] == pytest.approx(complete)


@pytest.mark.parametrize(
    ("judged", "retrieved"),
    [
        (
            ("log.csv", "query_id,doc_id,relevance\na,1,1\nb,1,1\n"),
            ("top.csv", "query_id,doc_id,score\na,1,1\n"),
        ),
        (("log.qrels", "a 0 1 1\nb 0 1 1\n"), ("top.run", "a Q0 1 1 1.0 tag\n")),
    ],
    ids=["CSV", "TREC"],
)
def test_judged_queries_without_predictions_are_excluded_with_a_note(
    judged, retrieved, tmp_path, capsys
):
    files = []
    name, text = retrieved
    other = f"other-{name}", text.replace("a,", "b,").replace("a ", "b ")
    for name, text in (judged, retrieved, other):
        (tmp_path / name).write_text(text)
        files.append(str(tmp_path / name))
    run(*files, "-m", "map")
    assert "excluded" not in capsys.readouterr().err  # each query occurs in one of the runs
    run(*files[:2], "-m", "map")
    note = "rankscore: note: 1 of 2 judged queries occur in no run and are excluded; -c counts them"
    assert capsys.readouterr().err.startswith(note)
    run(*files, "-m", "map", "-c")
    assert "excluded" not in capsys.readouterr().err


@pytest.mark.parametrize("suffix", ["csv", "run"])
def test_a_warning_of_other_document_ids_is_one_line(suffix, tmp_path, capsys):
    tables = (
        [("qrels.csv", "query_id,doc_id,label\n", "{q},{d},1\n"),
         ("top.csv", "query_id,doc_id,score\n", "{q},{d}.0,1\n")]
        if suffix == "csv"
        else [("qrels.txt", "", "{q} 0 {d} 1\n"), ("top.run", "", "{q} Q0 {d}.0 1 1 t\n")]
    )  # fmt: skip
    for name, header, row in tables:
        rows = (row.format(q=q, d=10 * q + d) for q in range(2) for d in range(9))
        (tmp_path / name).write_text("".join([header, *rows]))
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        run(*(str(tmp_path / name) for name, *_ in tables))
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(
        "rankscore: warning: none of the 18 items that 'top' retrieved is among the 18 that have"
    )
    assert line.endswith("retrieved are ids such as '0.0', and '0' has a relevance.")


def test_a_baseline_adds_intervals_and_tests(files, capsys):
    run(*ALL, "--baseline", "bm25", "--format", "json", "--test", "t", "--method", "t")
    result = json.loads(capsys.readouterr().out)
    documents = from_trec("qrels.txt", {"bm25": "bm25.run", "dense": "dense.run.gz"})
    scores = query_scores(metrics=["ndcg@5", "map"], **documents)
    comparison = compare(scores, baseline="bm25", test="t", method="t")
    for row, d in zip(result["comparison"], comparison.differences, strict=True):
        assert (row["metric"], row["run"], row["wins"]) == (d.metric, d.model, d.wins)
        assert row["difference"] == pytest.approx(d.difference)
        assert (row["low"], row["high"]) == pytest.approx(tuple(d.interval))
        assert row["p_holm"] == pytest.approx(d.adjusted_p_value)
        assert row["p"] == pytest.approx(d.p_value)
    assert (result["test"], result["adjustment"]) == ("t", "holm")
    assert comparison["map", "dense"].adjusted_p_value < 0.05
    run(*ALL, "--baseline", "bm25", "--test", "t")
    out = capsys.readouterr().out
    assert f"{expected()['dense']['map']:.4f}*" in out
    assert "* differs from bm25 (p ≤ 0.05, t test, Holm)" in out
    assert " p (holm) " in out
    assert comparison["ndcg@5", "dense"].p_value != comparison["ndcg@5", "dense"].adjusted_p_value
    run(*ALL, "--baseline", "bm25", "--test", "t", "--method", "t", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    for row, d in zip(rows, comparison.differences, strict=True):
        assert (float(row["p"]), float(row["p_holm"])) == (d.p_value, d.adjusted_p_value)
    run(*ALL, "--baseline", "bm25", "--test", "t", "--format", "latex")
    assert r"* differs from bm25 (p $\leq$ 0.05, t test, Holm)" in capsys.readouterr().out
    p_value = comparison["map", "dense"].adjusted_p_value
    for share, star in ((0.5, ""), (2, "*")):
        level = 1 - share * p_value
        run(*ALL[:3], "-m", "map", "--baseline", "bm25", "--test", "t", "--confidence", repr(level))
        cell = capsys.readouterr().out.splitlines()[2].split()[1]
        assert cell == f"{expected()['dense']['map']:.4f}{star}"


@pytest.mark.parametrize("form", ["table", "markdown", "latex"])
def test_intervals_of_few_distinct_differences_are_marked(form, files, capsys):
    (files / "few.txt").write_text("".join(f"{q} 0 d0 1\n{q} 0 d1 0\n" for q in range(8)))
    (files / "old.run").write_text(
        "".join(f"{q} Q0 d{d} 1 {d} t\n" for q in range(8) for d in (0, 1))
    )
    (files / "new.run").write_text(
        "".join(f"{q} Q0 d{d} 1 {d if q > 3 else -d} t\n" for q in range(8) for d in (0, 1))
    )
    arguments = ["few.txt", "old.run", "new.run", "-m", "mrr", "--baseline", "old", "--format"]
    runs = from_trec("few.txt", {"old": "old.run", "new": "new.run"})
    (d,) = compare(query_scores(metrics="mrr", **runs)).differences
    assert d.few_distinct
    run(*arguments, form)
    out = capsys.readouterr().out
    mark = r"\*" if form == "markdown" else "*"  # of Markdown, a list would begin
    assert f"{d.interval.high:.4f}{mark}" in out
    note = "effectively fewer than six queries differ from the most common value; the interval is"
    assert f"\n{mark} {note}" in out
    run(*arguments, "csv")
    (row,) = csv.DictReader(io.StringIO(capsys.readouterr().out))
    assert float(row["high"]) == d.interval.high


def test_judgments_of_beir(tmp_path, capsys):
    """https://github.com/beir-cellar/beir/wiki/Load-your-custom-dataset"""
    (tmp_path / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t0\nq1\td2\t2\n")
    (tmp_path / "a.run").write_text("q1 Q0 d1 1 0.9 a\nq1 Q0 d2 2 0.5 a\n")
    run(str(tmp_path / "test.tsv"), str(tmp_path / "a.run"), "-m", "mrr,ndcg@10", "--format", "csv")
    assert capsys.readouterr().out.splitlines()[1] == f"a,0.5,{float(1 / np.log2(3))!r}"


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".csv.gz", ".parquet"])
def test_tables_with_named_columns(suffix, files, capsys):
    rng = np.random.default_rng(0)
    pairs = [(u, i) for u in range(8) for i in range(6)]
    users, items = zip(*pairs, strict=True)
    truth = pd.DataFrame({"user": users, "movie": items, "rating": rng.integers(1, 11, 48) / 2})
    top = truth[["user", "movie"]].assign(rank=np.tile(rng.permutation(6) + 1, 8))
    for name, frame in (("truth", truth), ("top", top)):
        if suffix == ".parquet":
            frame.to_parquet(name + suffix)
        else:
            frame.to_csv(name + suffix, index=False, sep="\t" if suffix == ".tsv" else ",")
    columns = ["--columns", "document=movie"]
    metric = "map@3(threshold=3.5)"
    run(f"truth{suffix}", f"top{suffix}", "-m", metric, "--format", "json", *columns)
    mine = json.loads(capsys.readouterr().out)["runs"]["top"]
    documents = from_frames(
        truth, top, query="user", document="movie", relevance="rating", rank="rank"
    )
    theirs = evaluate(metrics=metric, **documents)
    assert mine == pytest.approx(theirs)


@pytest.mark.parametrize("like", ["trec_eval", "ranx", "beir"])
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_run_scores_the_same_beside_others(like, suffix, tmp_path, capsys):
    """Ties are broken by document ids, not by the order in which another run has them."""

    def write(name, rows, value):
        frame = pd.DataFrame(rows, columns=["query_id", "doc_id", value])
        path = tmp_path / f"{name}.{suffix}"
        frame.to_csv(path, index=False) if suffix == "csv" else frame.to_parquet(path)
        return str(path)

    qrels = write("qrels", [("q", "d2", 1)], "relevance")
    first, second = write("a", [("q", "d2", 1)], "score"), write("b", TIED, "score")
    values = []
    for runs in ([second], [first, second]):
        run(qrels, *runs, "-m", "mrr", "--like", like, "--format", "json")
        values.append(json.loads(capsys.readouterr().out)["runs"]["b"]["mrr"])
    (tmp_path / "qrels.txt").write_text("q 0 d2 1\n")
    (tmp_path / "b.run").write_text("".join(f"{q} Q0 {d} 1 {s} t\n" for q, d, s in TIED))
    documents = from_trec(tmp_path / "qrels.txt", tmp_path / "b.run")
    assert values == [evaluate(metrics="mrr", **documents, like=like)["mrr"]] * 2


def test_ranks_are_no_scores_and_win_over_scores_if_they_are_named(files, capsys):
    (files / "truth.csv").write_text("qid,docno,label\n1,a,1\n1,b,0\n")
    (files / "top.csv").write_text("qid,docno,score,position\n1,a,0.1,1\n1,b,0.2,2\n")
    command = ["truth.csv", "top.csv", "-m", "mrr", "--format", "csv"]
    for columns, expected in (
        ("document=docno", 0.5), ("rank=position", 1.0), ("score=score,rank=position", 0.5)
    ):  # fmt: skip
        run(*command, "--columns", columns)
        assert capsys.readouterr().out == f"run,mrr\ntop,{expected}\n"
    assert main(["evaluate", *command, "--columns", "score=position"]) == 1
    message = "top.csv, column position: its name and values are those of ranks"
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ("score=bm52", "no column for the score, 'bm52'; it has .* Did you mean 'bm25'"),
        ("score=-rank", "no column for the score, '-rank'; it has .* Did you mean 'rank'"),
        ("rank=rnk", "no column for the rank, 'rnk'; it has .* Did you mean 'rank'"),
        ("score=bm52,rank=rank", "score=bm52: no run has this column; .* Did you mean 'bm25'"),
        ("score=bm25,rank=other", "rank=other: no run has this column; .* Leave it out"),
    ],
)
def test_a_column_that_is_named_must_be_there(columns, message, files, capsys):
    (files / "truth.csv").write_text("qid,docno,label\n1,a,1\n1,b,0\n")
    (files / "top.csv").write_text("qid,docno,score,bm25,rank\n1,a,1,9.25,2\n1,b,2,8,1\n")
    run("truth.csv", "top.csv", "-m", "mrr", "--columns", columns, status=1)
    assert re.search(message, capsys.readouterr().err)


def test_one_run_may_have_the_scores_that_are_named_and_another_the_ranks(files, capsys):
    (files / "truth.csv").write_text("qid,docno,label\n1,a,1\n1,b,0\n")
    (files / "a.csv").write_text("qid,docno,bm25\n1,a,9.25\n1,b,8\n")
    (files / "b.csv").write_text("qid,docno,place\n1,a,2\n1,b,1\n")
    command = ["truth.csv", "a.csv", "b.csv", "-m", "mrr", "--format", "csv", "--columns"]
    run(*command, "score=bm25,rank=place")
    assert capsys.readouterr().out == "run,mrr\na,1.0\nb,0.5\n"
    run(*command, "score=bm25", status=1)
    assert "b.csv: no column for the score, 'bm25'" in capsys.readouterr().err


def test_scores_of_any_name_are_no_ranks(files, capsys):
    (files / "truth.csv").write_text("qid,docno,label\n1,a,1\n1,b,0\n")
    (files / "top.csv").write_text("qid,docno,bm25\n1,a,9.25\n1,b,8\n")
    command = ["truth.csv", "top.csv", "-m", "mrr", "--format", "csv"]
    run(*command, "--columns", "score=bm25")
    assert capsys.readouterr().out == "run,mrr\ntop,1.0\n"
    run(*command, "--columns", "rank=bm25", status=1)
    assert "top.csv, column bm25: must hold ranks" in capsys.readouterr().err
    run(*command, "--columns", "rank=bm", status=1)
    assert "no column for the rank, 'bm'; it has qid, docno, bm25" in capsys.readouterr().err


def test_a_table_of_judgments_with_a_trec_run(files, capsys):
    rows = [line.split() for line in QRELS.splitlines()]
    text = "\n".join(["qid,docno,label", *(f"{q},{d},{r}" for q, _, d, r in rows)])
    (files / "qrels.csv").write_text(text)
    run("qrels.csv", "bm25.run", "-m", "map", "--format", "json")
    assert json.loads(capsys.readouterr().out)["runs"]["bm25"]["map"] == pytest.approx(
        expected()["bm25"]["map"]
    )


def test_standard_input_and_the_module(files):
    command = [sys.executable, "-m", "sklearn_rankscore", "evaluate", "qrels.txt", "-", "-mmap"]
    result = subprocess.run(command, input=BM25, capture_output=True, text=True, check=True)
    assert result.stdout.split()[-1] == f"{expected()['bm25']['map']:.4f}"
    broken = subprocess.run(command, input="1 Q0 d1\n", capture_output=True, text=True, check=False)
    assert broken.returncode == 1
    assert broken.stderr.startswith("rankscore: error: run (standard input), line 1: a line must")


def test_the_reader_of_the_output_may_stop(files):
    command = f"{sys.executable} -m sklearn_rankscore evaluate qrels.txt bm25.run -q | head -n 1"
    result = subprocess.run(command, shell=True, capture_output=True, text=True, check=True)
    assert (result.stdout.split()[:2], result.stderr) == (["run", "query"], "")


def test_all_metrics_are_listed(capsys):
    assert main(["metrics"]) == 0
    listed = [line.split()[0] for line in capsys.readouterr().out.splitlines()[1:]]
    assert [name.removesuffix("@k") for name in listed] == list(METRICS)


def test_metrics_without_docstrings_are_listed():
    command = [sys.executable, "-OO", "-m", "sklearn_rankscore", "metrics"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.stderr == ""
    assert len(result.stdout.splitlines()) == 1 + len(METRICS)


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["qrels.txt", "bm25.run", "-m", "ndgc@5"], 2, "Did you mean 'ndcg@5'"),
        (["qrels.txt", "bm25.run", "-m", "ndcg@0"], 2, "must be a positive integer"),
        (["qrels.txt", "bm25.run", "--like", "trec-eval"], 2, "Did you mean 'trec_eval'"),
        (["qrels.txt", "bm25.run", "--format", "tabel"], 2, "Did you mean 'table'"),
        (["qrels.txt", "bm25.run", "--formt", "csv"], 2, "Did you mean '--format'"),
        (["qrels.txt", "bm25.run", "--digits", "x"], 2, "an integer of at least 0; got 'x'"),
        (["qrels.txt", "bm25.run", "--columns", "dokument=x"], 2, "Did you mean 'document'"),
        (["qrels.txt"], 2, "a RUN is missing; only a CSV, TSV or Parquet file"),
        (["", "bm25.run"], 2, "QRELS or a RUN is the empty path"),
        (["qrels.txt", "a="], 2, "QRELS or a RUN is the empty path"),
        (["qrels.txt", ""], 2, "the run '' has an empty name"),
        (["qrels.txt", "bm25.run", " "], 2, "the run ' ' has an empty name"),
        (["qrels.txt", "bm25.run", "--columns", "query=x"], 2, "--columns needs a CSV, TSV or"),
        ([*ALL, "--baseline", "bm25", "-q", "--format", "csv"], 2, "--format json"),
        ([*ALL, "--test", "t"], 2, "--test needs --baseline RUN"),
        ([*ALL, "--method", "t"], 2, "--method needs --baseline RUN"),
        ([*ALL, "--confidence", "0.9"], 2, "--confidence needs --baseline RUN"),
        ([*ALL, "--seed", "0"], 2, "--seed needs --baseline RUN"),
        (["-", "-"], 2, "only one of QRELS and RUN"),
        (["qrels.txt", "nowhere.run"], 1, "nowhere.run: No such file or directory"),
        (["qrels.txt", "nowhere.parquet"], 1, "nowhere.parquet: No such file or directory"),
        (
            ["qrels.txt", "bm25.run", "-m", "ndcg(average=micro)"],
            2,
            "(average=micro), which has no",
        ),
        ([*ALL, "-m", "precision@5", "--like", "implicit"], 2, "micro, perhaps by --like implicit"),
        (["qrels.txt", "."], 1, "Is a directory"),
        (["qrels.txt", "bm25.run", "bm25.run"], 2, "two runs are named 'bm25'"),
        (["qrels.txt", "bm25.run", "--baseline", "bm25"], 2, "at least two runs"),
        (["qrels.txt", "bm25.run", "dense.run.gz", "--baseline", "bm52"], 2, "Did you mean 'bm25'"),
        ([*ALL, "--baseline", "bm25", "--confidence", "95"], 2, "between 0 and 1, such as 0.95"),
        ([*ALL, "--baseline", "bm25", "--confidence", "x"], 2, "between 0 and 1, such as 0.95"),
        (["qrels.txt", "bm25.run", "--digits", "99999999999"], 2, "at most 1000"),
        (["a.csv", "b.csv", "--columns", "query=q,query=user"], 2, "twice, 'q' and 'user'"),
        ([*ALL, "--baseline", "bm25", "--seed", "4294967296"], 2, "at most 4294967295"),
        ([*ALL, "--baseline", "bm25", "--seed", "-1"], 2, "an integer of at least 0; got '-1'"),
        (["bm25.run", "bm25.run"], 1, "bm25.run, line 1: a line must have 4 fields"),
        (["qrels.txt", "bad.csv"], 1, "bad.csv, line 3: 2 fields, but the header has 3"),
        (["qrels.txt", "text.csv"], 1, "text.csv, line 3, column score: must be a finite number"),
        (["qrels.txt", "names.csv"], 1, "no column for the document"),
        (["qrels.txt", "names.csv", "--columns", "document=itm"], 1, "Did you mean 'it'"),
        (["qrels.txt", "empty.csv"], 1, "empty.csv: the file is empty"),
        (["qrels.txt", "twice.csv"], 1, "twice.csv, line 1: a column is named twice"),
        (["qrels.txt", "latin.csv"], 1, "latin.csv, line 2: not UTF-8"),
        (["qrels.txt", "quote.csv"], 1, "quote.csv, line"),
        (["qrels.txt", "not.parquet"], 1, "not.parquet: not a Parquet file"),
        (["qrels.txt", "cut.csv.gz"], 1, "cut.csv.gz: the compressed file is truncated"),
    ],
)
def test_errors_are_one_line_with_a_status(arguments, status, message, files, capsys):
    (files / "bad.csv").write_text("qid,docno,score\n1,d1,2\n1,d2\n")
    (files / "text.csv").write_text("qid,docno,score\n1,d1,2\n1,d2,high\n")
    (files / "names.csv").write_text("qid,it,score\n1,d1,2\n")
    (files / "empty.csv").write_text("")
    (files / "twice.csv").write_text("qid,docno,docno,score\n1,d1,d1,2\n")
    (files / "latin.csv").write_bytes("qid,docno,score\n1,é,2\n".encode("latin-1"))
    (files / "quote.csv").write_text('qid,docno,score\n1,"d1"x,2\n')
    (files / "not.parquet").write_bytes(b"PAR0")
    (files / "cut.csv.gz").write_bytes(gzip.compress(b"qid,docno,score\n1,d1,2\n")[:-9])
    run(*arguments, status=status)
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
    assert err.startswith("rankscore")
    assert len(err.splitlines()) == status


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["evalute"], "Did you mean 'evaluate'"),
        ([], "required: COMMAND"),
        (["metrics", "--x"], "unknown argument --x"),
        (["evaluate", "a", "b", "--latex"], "Did you mean '--format latex'?"),
        (["evaluate", "a", "b", "-k", "10"], "part of the names of metrics, as in -m ndcg@10"),
        (["evaluate", "a", "b", "-m", "map", "mrr"], "separated by commas, as in -m map,ndcg@10"),
    ],
)
def test_wrong_commands(arguments, message, capsys):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert message in capsys.readouterr().err


def test_small_p_values_are_shown_as_a_bound(files, capsys):
    names = range(40)
    qrels = "".join(f"{q} 0 a 1\n{q} 0 b 0\n" for q in names)
    (files / "pairs.txt").write_text(qrels)
    for name, scores in {"right": (2, 1), "wrong": (1, 2)}.items():
        lines = (f"{q} Q0 {d} 1 {s} t\n" for q in names for d, s in zip("ab", scores, strict=True))
        (files / f"{name}.run").write_text("".join(lines))
    given = ["pairs.txt", "wrong.run", "right.run", "-m", "mrr", "--baseline", "wrong"]
    given += ["--test", "wilcoxon"]
    run(*given)
    assert " <0.0001 " in capsys.readouterr().out
    run(*given, "--digits", "2", "--format", "latex")
    assert " & $<$0.01 & " in capsys.readouterr().out
    run(*given, "--digits", "2", "--format", "csv")
    assert ",0.00,0.00," in capsys.readouterr().out


def test_several_metrics_are_separated_by_commas(files, capsys):
    names = ["ndcg@5(gain=exponential,ties=stable)", "map", "mrr"]
    run("qrels.txt", "bm25.run", *(a for name in names for a in ("-m", name)))
    expected = capsys.readouterr().out
    run("qrels.txt", "bm25.run", "-m", ",".join(names))
    assert capsys.readouterr().out == expected
    run("qrels.txt", "bm25.run", "-m", "ndcg@5,10", status=2)
    assert "'10' is not a known metric" in capsys.readouterr().err


def test_propensities_are_refused_by_name(files, capsys):
    run("qrels.txt", "bm25.run", "-m", "dcg@3(propensity=seen)", status=2)
    assert "dcg@3(propensity=seen): files have no propensities" in capsys.readouterr().err
    run("qrels.txt", "bm25.run", "-m", "recall@3(target=orders)", status=2)
    assert "'recall' has no option 'target'" in capsys.readouterr().err
