"""Malformed files: one error each, which names the file and the line."""

import bz2
import gc
import gzip
import json
import lzma
from io import BufferedReader, StringIO

import pytest

from sklearn_rankscore import from_trec

QRELS, RUN = "1 0 a 1\n2 0 b 0\n", "1 Q0 a 1 0.5 t\n2 Q0 b 1 0.5 t\n"
LONG = "".join(f"{q} Q0 d{d} 1 0.5 t\n" for q in range(9) for d in range(99))

# what the file of judgments holds, and the message
BAD_QRELS = [
    ("1 0 a\n", r"line 1: a line must have 4 fields.*got 3 in '1 0 a'"),
    ("1 0\n", "line 1: a line must have 4 fields"),
    ("1\n", "line 1: a line must have 4 fields"),
    ("1 0 a 1 1\n", r"line 1: a line must have 4.*got 4\+.*not have spaces\. Judgments have"),
    (RUN, r"line 1: a line must have 4 .* are given before runs, which have 6"),
    ("1 0 a 1 # judged\n", "line 1: a line must have 4 fields"),
    (QRELS + "2 0 c\n1 0 d 1 1\n", "line 3: a line must have 4 fields"),
    ("2 0 c\n1 0 d 1 1\n", "line 1: a line must have 4 fields"),
    ("1 0 d 1 1\n2 0 c\n", "line 1: a line must have 4 fields"),
    ("# header\n\n1 0 a x\n", "line 3: relevance must be a number; got 'x'"),
    ("1 0 a 1,5\n", "line 1: relevance must be a number; got '1,5'"),
    ("1 0 a 1_0\n", "line 1: relevance must be a number; got '1_0'"),
    ("1 0 a 0x1\n", "line 1: relevance must be a number; got '0x1'"),
    ("1 0 a 0.5\n", r"line 1: relevance must be an integer of less than 2\*\*53,.* got 0\.5"),
    (QRELS + "3 0 a nan\n", "line 3: relevance must be an integer of less .* got nan"),
    (QRELS + "3 0 a inf\n", "line 3: relevance must be an integer of less .* got inf"),
    (QRELS + "3 0 a 1e999\n", "line 3: relevance must be an integer"),
    (QRELS + "1 0 a 1\n", "line 3: duplicate document 'a' for query '1'"),
    (QRELS + "1 0 a 2\n", "line 3: duplicate document 'a' for query '1'"),
    ("#\n1 0 é 1\n\n1 0 é 1\n", "line 4: duplicate document 'é' for query '1'"),
    ("", "has no rows; at least one is needed"),
    ("\n\n", "has no rows"),
    ("# only a comment\n", "has no rows"),
    ("query_id,doc_id,relevance\n1,a,1\n", "line 1: a line must have 4 fields"),
    ("q\td\tlabel\n1\ta\t1\n", r"line 1: a line must have 4 fields.* \.tsv"),
    ("1\t0\ta\t1\n2\t0\tc\n", r"line 2: a line must have 4 fields.*got 3 in '2\\t0\\tc'\.$"),
    ("query iteration document relevance\n" + QRELS, "line 1: relevance must be a number"),
    ("1 Q0 a 1 0.5 t\n", "line 1: a line must have 4 fields"),
    ("1 0 a 1\r2 0 b 0\r", "line 1: a line must have 4 fields"),
    ("1 0 a 1\n2 0 b 0\r3 0 c 1\n", "line 2: a line must have 4 fields"),
    ("1 0 a\x00 1\n", "line 1: not a text file, it has a NUL byte"),
    (QRELS + "3 0 \x00 1\n", "line 3: not a text file, it has a NUL byte"),
    (QRELS.encode("utf-16"), "line 1: not a text file.*UTF-16"),
    (QRELS.encode("utf-32"), "line 1: not a text file.*UTF-16"),
    ((QRELS + "3 0 é 1\n").encode("latin-1"), "line 3: not UTF-8, got the byte 0xe9.*iconv"),
    (b"1 0 \xff 1\n", "line 1: not UTF-8, got the byte 0xff"),
    (QRELS.encode() + b"3 0 \xf0\x9f 1\n", "line 3: not UTF-8"),
    (gzip.compress(QRELS.encode(), mtime=0), "line 1: not (UTF-8|a text file)"),
    (b"\x89PNG\r\n\x1a\n\x00\x00", "line 3: not (UTF-8|a text file)|line 1: not UTF-8"),
    (b"PK\x03\x04\x14\x00\x00", "line 1: not a text file"),
    (b"PAR1\x15\x04\x15\x00", r"line 1: not a text file.* Parquet file.* in \.parquet"),
]  # fmt: skip
BAD_RUNS = [
    ("1 Q0 a 1 0.5\n", r"line 1: a line must have 6 fields.*got 5 in '1 Q0 a 1 0\.5'"),
    ("1 Q0 a 0.5\n", "line 1: a line must have 6 fields"),
    ("1 a 0.5\n", "line 1: a line must have 6 fields"),
    ("1,a,0.5\n", "line 1: a line must have 6 fields"),
    ("1 Q0 a,b 1 0.5\n", r"got 5 in '1 Q0 a,b 1 0\.5'\."),
    (RUN + "\n\n1 Q0 b 2 t\n", "line 5: a line must have 6 fields"),
    (RUN + "1 Q0 b 2 high t\n", "line 3: score must be a number; got 'high'"),
    (RUN + "1 Q0 b 2 0,5 t\n", "line 3: score must be a number; got '0,5'"),
    (RUN + "1 Q0 b 2 1_000 t\n", "line 3: score must be a number; got '1_000'"),
    (RUN + "1 Q0 b 2 -- t\n", "line 3: score must be a number"),
    (RUN + "1 Q0 b 2 nan t\n", "line 3: the score is NaN"),
    ("# x\n" + RUN + "1 Q0 b 2 NaN t\n", "line 4: the score is NaN"),
    (RUN + "1 Q0 a 2 0.1 t\n", "line 3: duplicate document 'a' for query '1'"),
    ("1 Q0 a 1 2 t\n2 Q0 a 1 2 t\n1 Q0 a 1 2 t\n", "line 3: duplicate document 'a'"),
    (RUN + "1 Q0 a 2 0.1 t extra text\n", "line 3: duplicate document 'a' for query '1'"),
    ("1\tQ0\td v2\t1\t9.5\tt\n", "line 1: a line must have 6 fields.* Ids must not have spaces"),
    (RUN + "1 Q0 d v2 1 9.5 t\n",
     r"line 3: a line must have 6 fields, 'query Q0 .* in '1 Q0 d v2 1 9\.5 t'\. Ids must"),
    (RUN + "1 Q0 d 2 1 9.5 t\n", "line 3: a line must have 6 fields"),
    (RUN + "1 Q0 d 2 1 inf t\n", "line 3: a line must have 6 fields"),
    (RUN + "1 Q0 d v 3 x 1 .5 t\n", "line 3: a line must have 6 fields"),
    (RUN + "1 Q0 d 2 3 1 9.5e-1 t\n", "line 3: a line must have 6 fields"),
    (RUN + "1 Q0 d 2 v 1 .5 t\n", "line 3: a line must have 6 fields"),
    ("7 Q0 a 1 0.5 t\n", "no query in common"),
    ("", "has no rows"),
    ("#\n", "has no rows"),
    (RUN.replace("\n", "\r"), "line 1: a line must have 6 fields"),
    (RUN.encode("utf-16-le"), "line 1: not a text file"),
    (RUN.encode() + "1 Q0 ü 2 0.1 t\n".encode("cp1252"), "line 3: not UTF-8, got the byte 0xfc"),
    ("query\tQ0\tdocument\trank\tscore\ttag\n" + RUN,
     "line 1: score must be a number; got 'score'"),
    (RUN + "1 Q0 d 1 9007199254740993 t\n",
     "line 3: score must not be the integer 9007199254740993"),
    (RUN + "#\n1 Q0 d 1 -9007199254740993 t\n",
     "line 4: score must not be the integer -9007199254740993"),
    (RUN + f"1 Q0 d 1 {10**400} t\n", "line 3: score must not be the integer 1000"),
    (LONG + "1 Q0 d98 1 0.5 t\n", "line 892: duplicate document 'd98' for query '1'"),
    (LONG + "8 Q0 x 1 t\n", "line 892: a line must have 6 fields"),
    (LONG + "# x\n8 Q0 x 1 a t\n", "line 893: score must be a number; got 'a'"),
]  # fmt: skip
JSON = json.dumps({"q": {"d": 0.5}})
BAD_RUNS += [
    (form, r"line 1: .* JSON is not read: pass json\.load")
    for form in (JSON, JSON.replace(" ", ""), json.dumps(json.loads(JSON), indent=1), f"[{JSON}]")
]
BAD_RUNS += [
    (QRELS, r"line 1: .* got 4 in .*Judgments have 4 fields and are given before runs"),
    ("query,document,score\n1,a,1\n", r"line 1: .* names of columns need a name that ends in"),
]
BAD_FILES = [
    ("qrels.gz", gzip.compress(QRELS.encode() * 99, mtime=0)[:-9], "truncated or damaged"),
    ("qrels.gz", gzip.compress(QRELS.encode(), mtime=0)[:12], "truncated or damaged"),
    ("qrels.gz", QRELS.encode(), "truncated or damaged.*Not a gzipped file"),
    ("qrels.gz", b"", "has no rows"),
    ("qrels.xz", lzma.compress(QRELS.encode())[:-9], "truncated or damaged"),
    ("qrels.xz", QRELS.encode(), "truncated or damaged"),
    ("qrels.bz2", bz2.compress(QRELS.encode() * 99)[:-9], "truncated or damaged"),
    ("qrels.bz2", QRELS.encode(), "truncated or damaged"),
    ("qrels.gz",
     gzip.compress(b"1 0 a 1\n1 0 b\n", mtime=0), r"qrels\.gz, line 2: a line must have 4"),
]  # fmt: skip


def write(folder, name, content):
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize(("content", "message"), BAD_QRELS)
def test_qrels(content, message, tmp_path):
    path, run = write(tmp_path, "bad.qrels", content), write(tmp_path, "good.run", RUN)
    with pytest.raises(ValueError, match=message) as caught:
        from_trec(path, run)
    assert str(path) in str(caught.value)


def test_the_file_is_closed_while_its_error_is_kept(tmp_path):
    path, run = write(tmp_path, "bad.qrels", "1 0 a\n"), write(tmp_path, "good.run", RUN)
    with pytest.raises(ValueError, match="4 fields") as caught:
        from_trec(path, run)
    # isinstance would ask objects of other libraries, and files of other tests may have no name
    files = [one for one in gc.get_objects() if type(one) is BufferedReader]
    of_path = [one for one in files if getattr(one, "name", None) == str(path)]
    assert caught.value is not None
    assert all(file.closed for file in of_path)


@pytest.mark.parametrize(("content", "message"), BAD_RUNS)
def test_runs(content, message, tmp_path):
    qrels, path = write(tmp_path, "good.qrels", QRELS), write(tmp_path, "bad.run", content)
    for run in (path, {"bad": path}):
        with pytest.raises(ValueError, match=message) as caught:
            from_trec(qrels, run)
        if "line" in message or "no rows" in message:
            assert str(path) in str(caught.value)


@pytest.mark.parametrize(("name", "content", "message"), BAD_FILES)
def test_compressed_files(name, content, message, tmp_path):
    path, run = write(tmp_path, name, content), write(tmp_path, "good.run", RUN)
    with pytest.raises(ValueError, match=message) as caught:
        from_trec(path, run)
    assert str(path) in str(caught.value)


def test_text_after_the_tag_is_ignored():
    """As trec_eval does: get_trec_results.c skips the rest of the line."""
    expected = from_trec({"1": {"a": 1}}, {"1": {"a": 0.5, "b": 0.25}})
    with_text = "1 Q0 a 1 0.5 t more text\n1 Q0 b 2 0.25 t\n"
    documents = from_trec({"1": {"a": 1}}, StringIO(with_text))
    assert documents["y_score"].tolist() == expected["y_score"].tolist() == [0.5, 0.25]


def test_a_byte_order_mark_is_no_part_of_the_first_query(tmp_path):
    path = write(tmp_path, "bom.qrels", b"\xef\xbb\xbf" + QRELS.encode())
    assert from_trec(path, StringIO(RUN))["groups"].tolist() == ["1", "2"]
