"""Files in the SVMlight format, with query ids in the lines or sizes beside them."""

import bz2
import gzip
import io

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

from sklearn_rankscore import load_letor, ndcg_score

TEXT = "2 qid:7 1:0.5 2:1\n# a comment\n\n0 qid:7 2:3 # docid = 12\n1 qid:9 1:0.25 3:-4\n"
X = [[0.5, 1, 0], [0, 3, 0], [0.25, 0, -4]]
BARE = "0 1:1\n1 1:2\n"


def write(folder, text, name="train.txt"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize(("end", "packed"), [("", bytes), (".gz", gzip.compress),
                                             (".bz2", bz2.compress)])  # fmt: skip
def test_lines_with_ids(tmp_path, end, packed):
    path = write(tmp_path, packed(TEXT.encode()), f"train.txt{end}")
    features, y, groups = load_letor(path)
    assert features.tolist() == X
    assert (y.tolist(), groups.tolist()) == ([2, 0, 1], [7, 7, 9])
    assert y.dtype == groups.dtype == np.int64
    frame, y = load_letor(path, as_frame=True)
    assert list(frame) == ["feature_1", "feature_2", "feature_3"]
    assert frame.index.name == y.index.name == "qid"
    assert (frame.index.tolist(), frame.to_numpy().tolist()) == ([7, 7, 9], X)
    assert list(load_letor(write(tmp_path, ZERO), as_frame=True)[0]) == ["feature_0"]
    assert ndcg_score(y, frame["feature_1"]) == pytest.approx((1 + 1) / 2)


def test_it_reads_what_scikit_learn_writes(tmp_path):
    random = np.random.default_rng(0)
    features, y = random.normal(size=(50, 4)), random.normal(size=50)
    groups = random.integers(0, 9, 50)  # not adjacent
    path = str(tmp_path / "data.svm")
    dump_svmlight_file(features, y, path, query_id=groups)
    for ours, theirs in zip(load_letor(path, zero_based=True), (features, y, groups), strict=True):
        np.testing.assert_allclose(ours, theirs)


@pytest.mark.parametrize("end", ["query", "group"])
def test_sizes_beside_the_file(tmp_path, end):
    write(tmp_path, "2\n1\n", f"train.txt.{end}")
    assert load_letor(write(tmp_path, f"{BARE}2 1:3\n"))[2].tolist() == [0, 0, 1]
    assert load_letor(write(tmp_path, TEXT))[2].tolist() == [7, 7, 9]  # ids go first


def lines(*ids):
    return "".join(f"1 qid:{i} 1:1\n" for i in ids)


ONE, ZERO, SHUFFLED = "1 qid:1 1:8\n", "1 qid:1 0:8\n", "1 qid:3 3:-4 1:0.25\n"
REPEATED = "1 qid:3 1:1\n1 qid:3 2:5 1:0.25 2:6\n"
# texts of files, options, which of the results, and its values in each file
READ = [
    ([lines("a", "b")], {}, 2, [["a", "b"]]),
    ([lines("7", "07")], {}, 2, [["7", "07"]]),  # as integers they would be one query
    ([lines("7", "9223372036854775808")], {}, 2, [["7", "9223372036854775808"]]),
    ([lines("7", "-1")], {}, 2, [[7, -1]]),
    ([lines("1"), lines("2"), lines("q9")], {}, 2, [["1"], ["2"], ["q9"]]),
    ([lines("1"), lines("2")], {}, 2, [[1], [2]]),
    *(([f"{y} qid:1 1:1\n1 qid:1 1:1\n"], {}, 1, [[float(y), 1.0]])
      for y in ("0.5", "1e19", "-1e19", "9223372036854775808", "9007199254740992")),
    ([TEXT, ONE], {}, 0, [X, [[8, 0, 0]]]),
    ([ONE], {"n_features": 3}, 0, [[[8, 0, 0]]]),
    ([ONE], {}, 0, [[[8]]]), ([ZERO], {}, 0, [[[8]]]),
    ([ONE], {"zero_based": True}, 0, [[[0, 8]]]), ([ONE, ZERO], {}, 0, [[[0, 8]], [[8, 0]]]),
    ([SHUFFLED], {}, 0, [[[0.25, 0, -4]]]),
    ([REPEATED], {"repeated_features": "first"}, 0, [[[1, 0], [0.25, 5]]]),
    ([REPEATED], {"repeated_features": "last"}, 0, [[[1, 0], [0.25, 6]]]),
    *((["1 qid:1 1:3 2:7\n"], {"dtype": dtype}, 0, [np.array([[3, 7]], dtype).tolist()])
      for dtype in ("f4", "f8")),
    (["1 qid:1 1:1e39\n0 qid:1 1:9007199254740991\n"], {}, 0, [[[1e39], [2.0**53 - 1]]]),
]  # fmt: skip


@pytest.mark.parametrize(("texts", "options", "part", "expected"), READ)
def test_values_of_files(tmp_path, texts, options, part, expected):
    files = [write(tmp_path, text, f"{at}.txt") for at, text in enumerate(texts)]
    loaded = [of_file[part] for of_file in load_letor(files, **options)]
    lists = [values.tolist() for values in loaded]
    assert lists == expected
    assert part == 0 or repr(lists) == repr(expected)  # ids and labels have these types, too
    assert loaded[0].dtype == options.get("dtype", loaded[0].dtype)


def test_files_with_sizes_are_numbered_and_do_not_mix_with_ids(tmp_path):
    for name, sizes, text in (("one", "1\n", "1 1:1\n"), ("two", "2\n", "1 1:1\n0 1:3\n")):
        write(tmp_path, sizes, f"{name}.txt.query")
        write(tmp_path, text, f"{name}.txt")
    files = [tmp_path / "one.txt", tmp_path / "two.txt"]
    assert [ids.tolist() for *_, ids in load_letor(files)] == [[0], [1, 1]]
    with pytest.raises(ValueError, match="query ids in their lines, or none of them"):
        load_letor([*files, write(tmp_path, TEXT)])


REFUSED = [
    *((TEXT, {"dtype": dtype}, "dtype must be float32 or float64")
      for dtype in ("f2", "i8", bool, "S4", object)),
    ("1 qid:1 1:1e39\n", {"dtype": "f4"}, "finite numbers of the type float32"),
    *((f"0 qid:1 1:2\n{line}\n", {}, "line 2: got .*with finite numbers")
      for line in ("1 qid:1 1:1e400", "-1e400 qid:1 1:2", "1 qid:1 1:inf")),
    (TEXT, {"n_features": 2}, "n_features=2, but there are 3 features"),
    ("1 qid:1 0:8\n", {"zero_based": False}, "zero_based=False"),
    ("1 qid:3 1:1\n1 qid:3 2:5 2:6\n", {}, "line 2: feature 2 occurs more than once"),
    ("", {}, "is empty: it has no line"),
    (BARE, {}, "has no query ids: its lines have no qid:ID after the label"),
    ("1 qid:1 1:0.5\n0 1:0.25\n", {}, "line 2: wrong qid:ID b'1:0.25'"),
    (b"1 qid:1 1:1\n1 qid:\xe9 1:1\n", {}, r"train.txt, line 2: wrong qid:ID b'qid:.xe9'"),
    *((f"{first}\n\n{line}\n1 qid:1 1:0.5\n", {}, f"train.txt, line 3: .*{message}")
      # scikit-learn reads neither features in another order nor a byte order mark
      for first in ("1 qid:1 1:0.5", "1 qid:1 2:0.5 1:1", "\ufeff1 qid:1 1:0.5")
      for line, message in [
          ("0 qid:1 1:NULL", "got '1:NULL', but a line must be"), ("0 qid:1 1:2 2:", "got '2:'"),
          ("0 qid:1 price:2", "got 'price:2'"), ("1,2 qid:1 1:2", "got '1,2'"),
          ("0 qid:1 -1:2", "got '-1:2'"), ("0 qid:1 2147483648:3", "from 0 to 2147483647"),
          ("0 qid: 1 1:2", "wrong qid:ID b'qid:'"),
      ]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "options", "message"), REFUSED)
def test_wrong_files_and_options(tmp_path, text, options, message):
    with pytest.raises(ValueError, match=message):
        load_letor(write(tmp_path, text), **options)


@pytest.mark.parametrize("sizes", ["size\n2\n", "1.0\n1.0\n", "3\n-1\n", "0 1\n1 0\n", "1\n2\n"])
def test_wrong_sizes_are_named(tmp_path, sizes):
    write(tmp_path, sizes, "train.txt.query")
    message = r"train\.txt\.query must hold the size of one query per line, .* the 2 lines of "
    with pytest.raises(ValueError, match=message):
        load_letor(write(tmp_path, BARE))


@pytest.mark.parametrize(
    "content", [TEXT.encode(), gzip.compress(TEXT.encode())[:-12]], ids=["no gzip", "cut off"]
)
def test_damaged_files_are_named(tmp_path, content):
    with pytest.raises(ValueError, match=r"train\.txt\.gz: the compressed file is truncated or"):
        load_letor(write(tmp_path, content, "train.txt.gz"))


def test_what_is_no_file():
    with pytest.raises(FileNotFoundError, match=r"missing\.txt"):
        load_letor("missing.txt")
    with pytest.raises(ValueError, match="got none"):
        load_letor([])
    with pytest.raises(TypeError, match="PathLike"):
        load_letor(io.BytesIO(b"1 qid:1 1:2\n"))
