"""Malformed CSV and Parquet files: one line each, which names the file and the line or row."""

import bz2
import gzip
import re

import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from sklearn_rankscore.cli import main

GOOD_QRELS, GOOD_RUN = "qid,docno,label\n1,a,1\n2,b,0\n", "qid,docno,score\n1,a,0.5\n2,b,0.25\n"
BOM = "\ufeff"

BAD_QRELS = [
    ("", r"BAD: the file is empty"),
    ("\n\n", r"BAD: the file is empty"),
    ("qid,docno,label\n", r"BAD: the file has no rows"),
    ("qid,docno\n1,a\n", r"BAD: no column for the relevance, such as .* add a column of ones"),
    ("qid,label\n1,1\n", r"BAD: no column for the document"),
    ("docno,label\na,1\n", r"BAD: no column for the query"),
    ("1,a,2\n2,b,0\n", r"BAD: the first line names no columns; it has 1, a, 2\. Add .* 3 names"),
    ("1,7,1\n2,7,0\n", r"BAD: the first line names no columns; it has 1, 7, 1\. Add .* 3 names"),
    ("qid,7,7\n2,7,0\n", r"BAD, line 1: a column is named twice: qid, 7, 7"),
    ("uid,mid,stars\n2,7,0\n", r"BAD: no column for the query, .*; it has uid, mid, stars"),
    ("qid;docno;label\n1;a;1\n", r"BAD: .* first line are separated by ';', .* tabs. Convert it"),
    ("qid\tdocno\n1\ta\n", r"BAD: .* separated by '\\t', but those of a .csv file .* Rename it"),
    ("1 0 a|b 0\n1 0 a|c 0\n", r"BAD: the first line names no columns. A TREC file"),
    ("qid,docno,label,label\n1,a,1,1\n", r"BAD, line 1: a column is named twice"),
    ("qid,docno,label\n1,a\n", r"BAD, line 2: 2 fields, but the header has 3"),
    (GOOD_QRELS + "3,c,1,9\n", r"BAD, line 4: 4 fields, but the header has 3"),
    (GOOD_QRELS + "\n\n3,c\n", r"BAD, line 6: 2 fields, but the header has 3"),
    (GOOD_QRELS + "3,c,\n", r"BAD, line 4, column label: must be a finite number; got ''"),
    (GOOD_QRELS + "3,c,yes\n", r"BAD, line 4, column label: must be a finite number; got 'yes'"),
    (GOOD_QRELS + "3,c,1_0\n", r"BAD, line 4, column label: must be a finite number; got '1_0'"),
    (GOOD_QRELS + '3,c,"1,5"\n', r"BAD, line 4, column label: must be a finite number"),
    (GOOD_QRELS + "3,c,nan\n", r"BAD, line 4, column label: must be a finite number; got 'nan'"),
    (GOOD_QRELS + "3,c,inf\n", r"BAD, line 4, column label: must be a finite number; got 'inf'"),
    (GOOD_QRELS + "3,c,-1.5\n", r"BAD, line 4, column label: a negative relevance .*; got -1\.5\."),
    (GOOD_QRELS + ",c,1\n", r"BAD, line 4, column qid: an id must be .*; it is missing"),
    (GOOD_QRELS + "3, ,1\n", r"BAD, line 4, column docno: an id must be .*; it is missing"),
    (GOOD_QRELS + "1,a,1\n", r"BAD, line 4: duplicate document 'a' for query '1'"),
    (GOOD_QRELS + "\n1,a,0\n", r"BAD, line 5: duplicate document 'a' for query '1'"),
    ('qid,docno,label\n1,"a\nb",1\n1,"a\nb",1\n', r"BAD, line 5: duplicate document"),
    ('qid,docno,label\n1,"a"b,1\n', r"BAD, line 2: .*expected after"),
    ('qid,docno,label\n1,a,1\n2,"b,0\n', r"BAD, line 3: unexpected end of data"),
    (GOOD_QRELS.encode("utf-16"), r"BAD, line 1: not (UTF-8|a text file)"),
    (GOOD_QRELS.encode("utf-16-le"), r"BAD, line \d: (not a text file|line contains NUL)"),
    ((GOOD_QRELS + "3,é,1\n").encode("latin-1"), r"BAD, line 4: not UTF-8, got the byte 0xe9"),
    ("qid,docné,label\n".encode("latin-1"), r"BAD, line 1: not UTF-8, got the byte 0xe9"),
    (GOOD_QRELS + "3,c\0,1\n", r"BAD, line 4: (not a text file|line contains NUL)"),
    ("1 0 a 0\n1 0 b 1\n", r"BAD: the first line names no columns. A TREC file"),
    ("1,0,a,0\n1,0,b,1\n", r"BAD: the first line names no columns; .* of 4 names"),
    ("1,0,a,2\n1,0,b,1\n", r"BAD: the first line names no columns; .* of 4 names"),
    (gzip.compress(GOOD_QRELS.encode(), mtime=0), r"BAD, line 1: not (UTF-8|a text file)"),
]
BAD_RUNS = [
    ("1,Q0,a,1,0.5,x\n", r"BAD: the first line names no columns; .* of 6 names"),
    (
        "qid,docno,bm25\n1,a,2.5\n",
        r"BAD: no column for the score, such as score, sim, prediction; it has qid, docno, bm25\. "
        r"Name it by --columns score=NAME\. Ranks, 1 for the best, .* --columns rank=NAME\.",
    ),
    (
        "qid,docno,rank\n1,a,9.25\n1,b,8\n",
        r"BAD, column rank: must hold ranks, 1 for the best, or .*; got 9\.25\. "
        r".* by --columns score=rank\.",
    ),
    ("qid,docno,rank\n1,a,-1\n1,b,2\n", r"BAD, column rank: must hold ranks, .*; got -1\.0\. "),
    ("qid,docno,score\n1,a,high\n", r"BAD, line 2, column score: must be a finite number"),
    ("qid,docno,rank\n1,a,first\n", r"BAD, line 2, column rank: must be a finite number"),
    ("qid,docno,score\n1,a,-inf\n", r"BAD, line 2, column score: must be a finite number"),
    (GOOD_RUN + "2,b,0.5\n", r"BAD, line 4: duplicate document 'b' for query '2'"),
    ("qid,docno,score\n7,a,1\n", r"the run 'bad' and the qrels have no query in common: .* is '7'"),
]
BAD_FILES = [
    (
        "bad.csv.gz",
        gzip.compress(GOOD_QRELS.encode() * 9, mtime=0)[:-9],
        r"BAD: .* is truncated or damaged",
    ),
    (
        "bad.csv.gz",
        GOOD_QRELS.encode(),
        r"BAD: the compressed file is truncated or damaged \(Not a gzipped",
    ),
    ("bad.csv.gz", gzip.compress(b"qid,docno,label\n1,a\n", mtime=0), r"BAD, line 2: 2 fields"),
    ("bad.csv.bz2", bz2.compress(GOOD_QRELS.encode())[:-9], r"BAD: .* is truncated or damaged"),
    ("bad.csv.bz2", GOOD_QRELS.encode(), r"BAD: the compressed file is truncated or damaged"),
    ("bad.tsv", GOOD_QRELS.encode(), r"BAD: .* separated by ',', .* a .tsv file by tabs"),
    ("bad.parquet", b"PAR1", r"BAD: not a Parquet file"),
    ("bad.parquet", b"", r"BAD: not a Parquet file"),
    ("bad.parquet", GOOD_QRELS.encode(), r"BAD: not a Parquet file"),
]
BAD_FRAMES = [
    (
        {"qid": [1, 2], "docno": ["a", None], "label": [1, 0]},
        r"BAD, row 2, column docno: .*missing",
    ),
    ({"qid": [1.0, 2.5], "docno": ["a", "b"], "label": [1, 0]}, r"BAD, row 1, column qid.*got 1.0"),
    ({"qid": [1, 2], "docno": ["a", "b"], "label": [1, None]}, r"BAD, row 2, column label.*number"),
    ({"qid": [1, 2], "docno": ["a", "b"], "label": ["x", "y"]}, r"BAD, row 1, column label.*'x'"),
    ({"qid": [1, 1], "docno": ["a", "a"], "label": [1, 0]}, r"BAD, row 2: duplicate document 'a'"),
    (
        {"qid": [[1], [2]], "docno": ["a", "b"], "label": [1, 0]},
        r"BAD, row 1, column qid: an id.*got \[1\]",
    ),
    ({"qid": [1], "docno": [b"\xff"], "label": [1]}, r"BAD, row 1, column docno: .* UTF-8 text"),
    ({"qid": [], "docno": [], "label": []}, r"BAD: the file has no rows"),
]


def check(message, capsys, folder, *arguments):
    assert main(["evaluate", *arguments, "-m", "map"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    (line,) = err.splitlines()
    bad = next(str(argument) for argument in arguments if "bad" in argument)
    assert re.search(message.replace("BAD", re.escape(bad)), line), line


def write(path, content):
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return str(path)


@pytest.mark.parametrize(("content", "message"), BAD_QRELS)
def test_judgments(content, message, tmp_path, capsys):
    run = write(tmp_path / "good.csv", GOOD_RUN)
    check(message, capsys, tmp_path, write(tmp_path / "bad.csv", content), run)


@pytest.mark.parametrize(("content", "message"), BAD_RUNS)
def test_runs(content, message, tmp_path, capsys):
    qrels = write(tmp_path / "good.csv", GOOD_QRELS)
    check(message, capsys, tmp_path, qrels, write(tmp_path / "bad.csv", content))


@pytest.mark.parametrize(("name", "content", "message"), BAD_FILES)
def test_compressed_and_parquet_files(name, content, message, tmp_path, capsys):
    run = write(tmp_path / "good.csv", GOOD_RUN)
    check(message, capsys, tmp_path, write(tmp_path / name, content), run)


@pytest.mark.parametrize(("columns", "message"), BAD_FRAMES)
def test_parquet_columns(columns, message, tmp_path, capsys):
    pd.DataFrame(columns).to_parquet(tmp_path / "bad.parquet")
    run = write(tmp_path / "good.csv", GOOD_RUN)
    check(message, capsys, tmp_path, str(tmp_path / "bad.parquet"), run)


def test_a_parquet_column_that_is_named_twice(tmp_path, capsys):
    columns = [pa.array(column) for column in (["1"], ["a"], [1], [2])]
    table = pa.table(columns, names=["qid", "docno", "label", "label"])
    parquet.write_table(table, tmp_path / "bad.parquet")
    run = write(tmp_path / "good.csv", GOOD_RUN)
    message = "BAD: a column is named twice: qid, docno, label, label"
    check(message, capsys, tmp_path, str(tmp_path / "bad.parquet"), run)


def test_a_name_of_a_column_is_for_all_files(tmp_path, capsys):
    qrels = write(tmp_path / "good.csv", GOOD_QRELS.replace("docno", "movie"))
    run = write(tmp_path / "bad.csv", GOOD_RUN)
    message = "BAD: no column for the document, 'movie'; .*document=movie is for all files: rename"
    check(message, capsys, tmp_path, qrels, run, "--columns", "document=movie")


@pytest.mark.parametrize(("suffix", "separator"), [("csv", ","), ("tsv", "\t")])
def test_a_first_line_of_data_is_no_header(suffix, separator, tmp_path, capsys):
    """As in the files of MS MARCO."""
    qrels = write(tmp_path / "qrels.txt", "10 0 71 1\n2 0 5 1\n")
    rows = "10,71,1\n10,72,2\n2,5,1\n".replace(",", separator)
    run = write(tmp_path / f"bad.{suffix}", rows)
    message = r"BAD: the first line names no columns; it has 10, 71, 1\. Add a line before it, of 3"
    check(message, capsys, tmp_path, qrels, run)
    check(message, capsys, tmp_path, qrels, run, "--columns", "query=10,document=71,rank=1")
    write(tmp_path / f"bad.{suffix}", separator.join(("query_id", "doc_id", "rank\n")) + rows)
    assert main(["evaluate", qrels, run, "-m", "mrr"]) == 0
    assert capsys.readouterr().out.split() == ["run", "mrr", "bad", "1.0000"]


def test_names_of_columns_may_be_positions_and_beside_others_numbers(tmp_path, capsys):
    rows, qrels = [(1, "a", 0.25), (1, "b", 0.5)], write(tmp_path / "qrels.txt", "1 0 a 1\n")
    for header, columns in (
        ("0,1,2", "query=0,document=1,score=2"), ("uid,item,2026", "query=uid,score=2026"),
    ):  # fmt: skip
        for index in (False, True):
            frame = pd.DataFrame(rows, columns=header.split(","))
            frame.to_csv(tmp_path / "run.csv", index=index)
            run = str(tmp_path / "run.csv")
            assert main(["evaluate", qrels, run, "-m", "mrr", "--columns", columns]) == 0
            assert capsys.readouterr().out.split() == ["run", "mrr", "run", "0.5000"]
            frame.to_parquet(tmp_path / "run.parquet")
            run = str(tmp_path / "run.parquet")
            assert main(["evaluate", qrels, run, "-m", "mrr", "--columns", columns]) == 0
            assert capsys.readouterr().out.split() == ["run", "mrr", "run", "0.5000"]


@pytest.mark.parametrize("spelling", [str.title, str.lower])
def test_relevance_may_be_true_or_false(spelling, tmp_path, capsys):
    labels = {"1": spelling("true"), "0": spelling("false")}
    run = write(tmp_path / "run.csv", "qid,docno,score\n1,a,0.5\n1,b,0.75\n")
    for first, second in (labels.values(), labels):
        text = f"qid,docno,label\n1,a,{first}\n1,b,{second}\n"
        assert main(["evaluate", write(tmp_path / "qrels.csv", text), run, "-m", "map"]) == 0
        assert capsys.readouterr().out.split() == ["run", "map", "run", "0.5000"]


def test_a_byte_order_mark_and_crlf_are_no_fault(tmp_path, capsys):
    text = BOM + GOOD_QRELS.replace("\n", "\r\n")
    qrels = write(tmp_path / "qrels.csv", text)
    run = write(tmp_path / "run.csv", GOOD_RUN)
    assert main(["evaluate", qrels, run, "-m", "mrr"]) == 0
    assert capsys.readouterr().out.split()[-1] == "0.5000"
