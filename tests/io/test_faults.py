"""Faults in what is read: each fault in each form is one error, which names where it is."""

import bz2
import csv
import gc
import gzip
import io
import json
import lzma
import re
from io import BufferedReader, StringIO

import pandas as pd
import pytest
from frames import pl

from sklearn_rankscore import from_trec

GOOD = {"qrels": [("1", "a", "1"), ("2", "b", "0")], "run": [("1", "a", ".5"), ("2", "b", ".25")]}
VALUE = {"qrels": "relevance", "run": "score"}
PACKED = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
LINES = {"qrels": "{} 0 {} {}\n", "run": "{} Q0 {} 1 {} t\n"}


def text(kind, rows, form):
    """The rows as a file, after a header if its columns have names."""
    if form == ".txt":
        return "".join(LINES[kind].format(*row) for row in rows)
    out = io.StringIO()
    writer = csv.writer(out, delimiter="\t" if form == ".tsv" else ",", lineterminator="\n")
    writer.writerows([("qid", "docno", VALUE[kind]), *rows])
    return out.getvalue()


def write(folder, name, content):
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def refused(folder, kind, source, message, where=""):
    """The error of judgments; that of a run, alone and as one of several."""
    other = "run" if kind == "qrels" else "qrels"
    good = write(folder, f"good.{other}", text(other, GOOD[other], ".txt"))
    calls = [(good, source), (good, {"bad": source})] if kind == "run" else [(source, good)]
    for call in calls:
        with pytest.raises((ValueError, TypeError), match=message) as caught:
            from_trec(*call)
        assert where in str(caught.value)


# of a row after two good ones
NUMBERS = ["x", "high", "1,5", "1_0", "0x1", "--", "1e"]
FAULTS = [
    *((kind, ("1", "a", x), "duplicate document 'a' for query '1'") for kind in GOOD for x in "12"),
    *((kind, ("3", "c", x), f"{VALUE[kind]}:? must be a number; got {re.escape(repr(x))}")
      for kind in VALUE for x in NUMBERS),
    ("qrels", ("3", "c", "nan"), "must be an integer .* got nan|must be a number; got nan"),
    ("run", ("3", "c", "NaN"), "the score is NaN|must be a number; got nan"),
    *(("qrels", ("3", "c", x), "relevance must be an integer of less than")
      for x in ("inf", "-inf", "1e999", "-1.5")),
    ("qrels", ("3", "c", "9007199254740993"), "must not be the integer 9007199254740993"),
    *(("run", ("3", "c", str(x)), f"must not be the integer {str(x)[:9]}")
      for x in (2**53 + 1, -(2**53) - 1, 10**400)),
]  # fmt: skip


@pytest.mark.parametrize("form", [".txt", ".csv", ".tsv", ".txt.gz", ".csv.bz2", ".tsv.xz"])
@pytest.mark.parametrize(("kind", "row", "message"), FAULTS)
def test_a_row_of_a_file(kind, row, message, form, tmp_path):
    plain = form[:4]
    content = text(kind, [*GOOD[kind], row], plain).encode()
    path = write(tmp_path, f"bad{form}", PACKED.get(form[4:], bytes)(content))
    line = 3 + (plain != ".txt")
    refused(tmp_path, kind, path, message, f"{path}, line {line}")


WIDTH = {"qrels": "line {}: a line must have 4 fields", "run": "line {}: a line must have 6 fields"}
# the line of the fault, and the file of TREC
QRELS, RUN = (text(kind, GOOD[kind], ".txt") for kind in GOOD)
# two lines that are not read at once
WIDE = "".join(f"{q} Q0 a 1 0.5 {'t' * 3_000_000}\n" for q in "12")
JSON = json.dumps({"q": {"d": 0.5}})
WRONG_LINES = {
    "qrels": [
        *((1, of, "") for of in (
            "1 0\n", "1\n", "1 0 a 1 # judged\n", "1 0 a 1\r2 0 b 0\r", "2 0 c\n1 0 d 1 1\n",
            "query_id,doc_id,relevance\n1,a,1\n")),
        (1, "1 0 a\n", r"got 3 in '1 0 a'"), (1, RUN, "are given before runs, which have 6"),
        (1, "1 0 a 1 1\n", r"got 4\+.*not have spaces\. Judgments have"),
        (1, "q\td\tlabel\n1\ta\t1\n", r"\.tsv"),
        (2, "1\t0\ta\t1\n2\t0\tc\n", r"got 3 in '2\\t0\\tc'\.$"),
        (2, "1 0 a 1\n2 0 b 0\r3 0 c 1\n", ""), (3, QRELS + "2 0 c\n1 0 d 1 1\n", ""),
    ],
    "run": [
        *((1, of, "") for of in (
            "1 Q0 a 0.5\n", "1 a 0.5\n", "1,a,0.5\n", RUN.replace("\n", "\r"))),
        (1, "1 Q0 a,b 1 0.5\n", r"got 5 in '1 Q0 a,b 1 0\.5'\."),
        (1, "1\tQ0\td v2\t1\t9.5\tt\n", "Ids must not have spaces"),
        (3, RUN + "1 Q0 d v2 1 9.5 t\n", r"'query Q0 .* in '1 Q0 d v2 1 9\.5 t'\. Ids must"),
        # a space in an id moves the rank to another field
        *((3, RUN + f"1 Q0 {of}\n", "") for of in (
            "d 2 1 9.5 t", "d 2 1 inf t", "d v 3 x 1 .5 t", "d 2 3 1 9.5e-1 t", "d 2 v 1 .5 t")),
        (5, RUN + "\n\n1 Q0 b 2 t\n", ""),
        *((1, of, r"JSON is not read: pass json\.load") for of in (
            JSON, JSON.replace(" ", ""), json.dumps(json.loads(JSON), indent=1), f"[{JSON}]")),
        (1, QRELS, "got 4 in .*Judgments have 4 fields and are given before runs"),
        (1, "query,document,score\n1,a,1\n", "names of columns need a name that ends in"),
    ],
}  # fmt: skip
OTHERS = [
    *((kind, of, "has no rows") for kind in GOOD for of in ("", "\n\n", "# only a comment\n")),
    ("qrels", "# header\n\n1 0 a x\n", "line 3: relevance must be a number; got 'x'"),
    ("qrels", "#\n1 0 é 1\n\n1 0 é 1\n", "line 4: duplicate document 'é' for query '1'"),
    ("qrels", "1 0 a 0.5\n", r"line 1: relevance must be an integer of less than .* got 0\.5"),
    ("qrels", "query iteration document relevance\n" + QRELS, "line 1: relevance must be a number"),
    ("run", "query\tQ0\tdocument\trank\tscore\ttag\n", "line 1: score must be a number; got 'sc"),
    ("run", RUN + "1 Q0 a 2 0.1 t extra text\n", "line 3: duplicate document 'a' for query '1'"),
    ("run", WIDE + "3 Q0 x 1 a t\n", "line 3: score must be a number; got 'a'"),
    ("run", "7 Q0 a 1 0.5 t\n", "no query in common: .*has '1', .* has '7'"),
]
HEAD = "qid,docno,label\n"
NO_NAMES = "no column for the query, .*in the first line of a file, by commas"
TABLES = [
    *(("qrels", of, "has no rows") for of in ("", "\n\n", HEAD)),
    *(("qrels", of, NO_NAMES) for of in (
        "1,a,2\n2,b,0\n", "1,0,a,2\n1,0,b,1\n", "1 0 a 0\n1 0 b 1\n", "qid\tdocno\n1\ta\n",
        "qid;docno;label\n1;a;1\n")),
    ("qrels", "qid,docno\n1,a\n", "no column for the relevance, .* if all are relevant, add ones"),
    ("qrels", "qid,label\n1,1\n", "no column for the document"),
    ("qrels", "uid,mid,stars\n2,7,0\n", "no column for the query, .*; it has uid, mid, stars"),
    ("qrels", "1,7,1\n2,7,0\n", "a column is named twice: 1, 7, 1"),
    ("qrels", HEAD + "1,a,1\n3,c,1,9\n", "line 3: 4 fields, but the first line,.* has 3"),
    ("qrels", HEAD + "1,a,1\n\n\n3,c\n", "line 5: 2 fields, but the first line,.* has 3"),
    ("qrels", HEAD + "3,c,\n", "line 2, column label: must be a number; got ''"),
    ("qrels", HEAD + ",c,1\n", "line 2, column qid: an id is missing"),
    ("qrels", HEAD + "3, ,1\n", "line 2, column docno: an id is missing"),
    ("qrels", HEAD + '1,"a\nb",1\n1,"a\nb",1\n', "line 5: duplicate document"),
    ("qrels", HEAD + '1,"a"b,1\n', "line 2: .*expected after"),
    ("qrels", HEAD + '1,a,1\n2,"b,0\n', "line 3: unexpected end of data"),
    ("qrels", HEAD + f'1,"{"a" * 200_000}",1\n', "line 2: field larger than field limit"),
    ("run", "1,Q0,a,1,0.5,x\n", "a column is named twice|names no columns"),
    ("run", "qid,docno,bm25\n1,a,2.5\n", "such as score, sim, prediction; .* are a column 'rank'"),
    ("run", "qid,docno,rank\n1,a,9.25\n1,b,8\n", r"must hold ranks, .*; got 9\.25\. .*as score"),
    ("run", "qid,docno,rank\n1,a,-1\n1,b,2\n", r"column 'rank', must hold ranks, .*; got -1\.0\. "),
    ("run", "qid,docno,rank\n1,a,1000000000\n2,b,1\n", "has ranks up to 1000000000, and 999"),
    ("run", "qid,docno,rank\n1,a,first\n", "line 2, column rank: must be a number"),
]  # fmt: skip


WRONG = [
    *((kind, ".txt", content, WIDTH[kind].format(line) + f".*{hint}")
      for kind, of_kind in WRONG_LINES.items() for line, content, hint in of_kind),
    *((kind, ".txt", *fault) for kind, *fault in OTHERS),
    *((kind, ".csv", *fault) for kind, *fault in TABLES),
    *(("qrels", ".parquet", of, "not a Parquet file") for of in (b"PAR1", b"", QRELS)),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "suffix", "content", "message"), WRONG)
def test_content(kind, suffix, content, message, tmp_path):
    path = write(tmp_path, f"bad{suffix}", content)
    refused(tmp_path, kind, path, message, str(path))


@pytest.mark.parametrize("form", [".txt", ".csv"])
@pytest.mark.parametrize("kind", GOOD)
def test_what_is_no_text(kind, form, tmp_path):
    good = text(kind, GOOD[kind], form)
    line = good.count("\n") + 1
    latin = text(kind, [*GOOD[kind], ("3", "é", "1")], form)
    for content, message in [
        *((good.encode(code), "line 1: not a text file.*UTF-16")
          for code in ("utf-16", "utf-16-le", "utf-32")),
        (latin.encode("latin-1"), f"line {line}: not UTF-8, got the byte 0xe9.*iconv"),
        (good.encode() + b"3 0 \xf0\x9f 1\n", f"line {line}: not UTF-8"),
        (good.replace("b", "b\0"), "line [23]: not a text file, it has a NUL byte"),
        (gzip.compress(good.encode(), mtime=0), "line 1: not (UTF-8|a text file)"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "line 3: not a text file|line 1: not UTF-8"),
        (b"PK\x03\x04\x14\x00\x00", "line 1: not a text file"),
        (b"PAR1\x15\x04\x15\x00", r"line 1: not a text file.* Parquet file.* in \.parquet"),
    ]:  # fmt: skip
        path = write(tmp_path, f"bad{form}", content)
        refused(tmp_path, kind, path, message, str(path))


@pytest.mark.parametrize("form", [".txt", ".csv"])
@pytest.mark.parametrize("end", PACKED)
def test_damaged_files(form, end, tmp_path):
    good = text("qrels", GOOD["qrels"], form).encode()
    for content in (PACKED[end](good * 99)[:-9], PACKED[end](good)[:12], good):
        path = write(tmp_path, f"bad{form}{end}", content)
        message = "the compressed file is truncated or damaged"
        refused(tmp_path, "qrels", path, message, str(path))
    empty = write(tmp_path, f"bad{form}{end}", b"")  # as gzip takes it
    refused(tmp_path, "qrels", empty, "has no rows|truncated or damaged", str(empty))


COLUMNS = {"qid": ["1", "2"], "docno": ["a", "b"], "label": [1, 0]}
OF_COLUMNS = [
    ({"docno": ["a", None]}, "row 1, column docno: an id is missing"),
    ({"label": [1, None]}, "row 1, column label: must be a number; got nan"),
    ({"label": ["x", "y"]}, "column 'label', must hold numbers; got strings"),
    ({"qid": ["1", "1"], "docno": ["a", "a"]}, "row 1: duplicate document 'a' for query '1'"),
    ({"qid": [[1], [2]]}, "the query ids in column 'qid' must hold hashable ids"),
    ({"qid": [], "docno": [], "label": []}, "has no rows"),
]


@pytest.mark.parametrize("form", ["pandas", "polars", "arrow file"])
@pytest.mark.parametrize(("columns", "message"), OF_COLUMNS)
def test_columns_of_frames(columns, message, form, tmp_path):
    columns = {**COLUMNS, **columns}
    source = pl.DataFrame(columns) if form == "polars" else pd.DataFrame(columns)
    if form == "arrow file":
        source.to_parquet(tmp_path / "bad.parquet")
        source = tmp_path / "bad.parquet"
    with pytest.raises((ValueError, TypeError), match=message) as caught:
        from_trec(source, {"1": {"a": 1.0}})
    assert str(source if form == "arrow file" else "qrels") in str(caught.value)


def test_the_file_is_closed_while_its_error_is_kept(tmp_path):
    path = write(tmp_path, "bad.qrels", "1 0 a\n")
    with pytest.raises(ValueError, match="4 fields") as caught:
        from_trec(path, StringIO(RUN))
    # isinstance would ask objects of other libraries, and files of other tests may have no name
    files = [one for one in gc.get_objects() if type(one) is BufferedReader]
    of_path = [one for one in files if getattr(one, "name", None) == str(path)]
    assert caught.value is not None
    assert all(file.closed for file in of_path)
