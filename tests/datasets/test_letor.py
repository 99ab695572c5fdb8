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
    assert load_letor(write(tmp_path, TEXT))[2].tolist() == [7, 7, 9]  # they agree with the ids


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        (["a", "b"], ["a", "b"]),
        (["7", "07"], ["7", "07"]),  # as integers they would be one query
        (["7", "9223372036854775808"], ["7", "9223372036854775808"]),
        (["7", "-1"], [7, -1]),
    ],
)
def test_ids_remain_distinct(tmp_path, ids, expected):
    path = write(tmp_path, "".join(f"1 qid:{i} 1:1\n" for i in ids))
    assert load_letor(path)[2].tolist() == expected


@pytest.mark.parametrize(
    "label", ["0.5", "1e19", "-1e19", "9223372036854775808", "9007199254740992"]
)
def test_labels_that_are_no_exact_integers_are_floats(tmp_path, label):
    y = load_letor(write(tmp_path, f"{label} qid:1 1:1\n1 qid:1 1:1\n"))[1]
    assert (y.dtype, y.tolist()) == (float, [float(label), 1])


def test_ids_of_several_files_have_one_type(tmp_path):
    files = [write(tmp_path, f"1 qid:{i} 1:1\n", f"{i}.txt") for i in ("1", "2", "q9")]
    assert [ids.tolist() for *_, ids in load_letor(files)] == [["1"], ["2"], ["q9"]]
    assert [ids.tolist() for *_, ids in load_letor(files[:2])] == [[1], [2]]
    write(tmp_path, "1\n", "sizes.txt.query")
    files[1] = write(tmp_path, "1 1:1\n", "sizes.txt")
    with pytest.raises(ValueError, match="query ids in their lines, or none of them"):
        load_letor(files)
    write(tmp_path, "2\n", "more.txt.group")
    files = [files[1], write(tmp_path, "1 1:1\n0 1:3\n", "more.txt")]
    assert [ids.tolist() for *_, ids in load_letor(files)] == [[0], [1, 1]]


def test_several_files_have_the_same_features(tmp_path):
    train, test = write(tmp_path, TEXT), write(tmp_path, "1 qid:1 1:8\n", "test.txt")
    (X_train, *_), (X_test, *_) = load_letor([train, test])
    assert (X_train.tolist(), X_test.tolist()) == (X, [[8, 0, 0]])
    assert load_letor(test, n_features=3)[0].tolist() == X_test.tolist()


def test_the_number_of_the_first_feature(tmp_path):
    one, zero = (write(tmp_path, f"1 qid:1 {i}:8\n", f"{i}.txt") for i in (1, 0))
    assert load_letor(one)[0].tolist() == load_letor(zero)[0].tolist() == [[8]]
    assert load_letor(one, zero_based=True)[0].tolist() == [[0, 8]]
    assert list(load_letor(zero, as_frame=True)[0]) == ["feature_0"]
    assert load_letor([one, zero])[0][0].tolist() == [[0, 8]]


def test_features_in_another_order_and_repeated_ones(tmp_path):
    assert load_letor(write(tmp_path, "1 qid:3 3:-4 1:0.25\n"))[0].tolist() == [[0.25, 0, -4]]
    path = write(tmp_path, "1 qid:3 1:1\n1 qid:3 2:5 1:0.25 2:6\n")
    assert load_letor(path, repeated_features="first")[0][1].tolist() == [0.25, 5]
    assert load_letor(path, repeated_features="last")[0][1].tolist() == [0.25, 6]


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i4", "u1"])
def test_features_of_any_numeric_type(tmp_path, dtype):
    features = load_letor(write(tmp_path, "1 qid:1 1:3 2:7\n"), dtype=dtype)[0]
    assert (features.dtype, features.tolist()) == (dtype, [[3, 7]])


def test_the_range_of_numbers_is_that_of_the_type(tmp_path):
    path = write(tmp_path, "1 qid:1 1:1e39\n0 qid:1 1:9007199254740991\n")
    assert load_letor(path)[0].tolist() == [[1e39], [2**53 - 1]]
    integers = write(tmp_path, "1 qid:1 1:9007199254740991\n")
    assert load_letor(integers, dtype="int64")[0].tolist() == [[2**53 - 1]]


def feature(value, dtype):
    return (f"1 qid:1 1:1 2:{value}\n", {"dtype": dtype}, f"value {value}.* is not of dtype='")


REFUSED = [
    *(feature(*wrong) for wrong in [("0.5", "i4"), ("300", "u1"), ("-1", "u4"), ("nan", "i8"),
                                    ("2", bool), ("9007199254740992", "i8")]),
    *((TEXT, {"dtype": dtype}, "must be of floats, integers or booleans")
      for dtype in ("S4", object, complex, "M8[s]")),
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
    write(tmp_path, "1\n2\n", "other.txt.query")
    with pytest.raises(ValueError, match="describe different queries"):
        load_letor(write(tmp_path, TEXT, "other.txt"))


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
    with pytest.raises(TypeError, match=r"PathLike .*not .*BytesIO"):
        load_letor(io.BytesIO(b"1 qid:1 1:2\n"))
