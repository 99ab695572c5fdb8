"""Files in the SVMlight format, with query ids in the lines or sizes beside them."""

import bz2
import gzip
import io
import re

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

from sklearn_rankscore import load_letor, ndcg_score

TEXT = "2 qid:7 1:0.5 2:1\n# a comment\n\n0 qid:7 2:3 # docid = 12\n1 qid:9 1:0.25 3:-4\n"
X = [[0.5, 1, 0], [0, 3, 0], [0.25, 0, -4]]


def write(folder, text, name="train.txt"):
    path = folder / name
    path.write_text(text)
    return path


def test_lines_with_ids(tmp_path):
    features, y, groups = load_letor(write(tmp_path, TEXT))
    assert features.tolist() == X
    assert (y.tolist(), groups.tolist()) == ([2, 0, 1], [7, 7, 9])
    assert y.dtype == groups.dtype == np.int64


def test_as_frame(tmp_path):
    frame, y = load_letor(write(tmp_path, TEXT), as_frame=True)
    assert list(frame) == ["feature_1", "feature_2", "feature_3"]
    assert frame.index.name == y.index.name == "qid"
    assert frame.index.tolist() == [7, 7, 9]
    assert frame.to_numpy().tolist() == X
    assert ndcg_score(y, frame["feature_1"]) == pytest.approx((1 + 1) / 2)


@pytest.mark.parametrize("end", [".gz", ".bz2"])
def test_compressed_files(tmp_path, end):
    path = tmp_path / f"train.txt{end}"
    path.write_bytes({".gz": gzip, ".bz2": bz2}[end].compress(TEXT.encode()))
    assert load_letor(path)[0].tolist() == X


def test_it_reads_what_scikit_learn_writes(tmp_path):
    random = np.random.default_rng(0)
    features, y = random.normal(size=(50, 4)), random.normal(size=50)
    groups = random.integers(0, 9, 50)  # not adjacent
    path = str(tmp_path / "data.svm")
    dump_svmlight_file(features, y, path, query_id=groups)
    read = load_letor(path, zero_based=True)
    for ours, theirs in zip(read, (features, y, groups), strict=True):
        np.testing.assert_allclose(ours, theirs)


@pytest.mark.parametrize("end", ["query", "group"])
def test_sizes_beside_the_file(tmp_path, end):
    path = write(tmp_path, "0 1:1\n1 1:2\n2 1:3\n")
    write(tmp_path, "1\n2\n", f"train.txt.{end}")
    assert load_letor(path)[2].tolist() == [0, 1, 1]


def test_sizes_that_agree_with_ids_are_accepted(tmp_path):
    path = write(tmp_path, TEXT)
    write(tmp_path, "2\n1\n", "train.txt.query")
    assert load_letor(path)[2].tolist() == [7, 7, 9]
    write(tmp_path, "1\n2\n", "train.txt.query")
    with pytest.raises(ValueError, match="describe different queries"):
        load_letor(path)


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


def test_labels_are_integers_if_all_of_them_are(tmp_path):
    assert load_letor(write(tmp_path, "0.5 qid:1 1:1\n1 qid:1 1:1\n"))[1].tolist() == [0.5, 1.0]


@pytest.mark.parametrize("label", ["1e19", "-1e19", "9223372036854775808", "9007199254740992"])
def test_labels_beyond_exact_integers_are_floats(tmp_path, label):
    y = load_letor(write(tmp_path, f"{label} qid:1 1:1\n1 qid:1 1:1\n"))[1]
    assert y.dtype == float
    assert y.tolist() == [float(label), 1]


def test_ids_of_several_files_have_one_type(tmp_path):
    files = [write(tmp_path, f"1 qid:{i} 1:1\n", f"{i}.txt") for i in ("1", "2", "q9")]
    assert [ids.tolist() for *_, ids in load_letor(files)] == [["1"], ["2"], ["q9"]]
    assert [ids.tolist() for *_, ids in load_letor(files[:2])] == [[1], [2]]
    write(tmp_path, "1\n", "sizes.txt.query")
    files[1] = write(tmp_path, "1 1:1\n", "sizes.txt")
    assert [ids.tolist() for *_, ids in load_letor(files)] == [["1"], [0], ["q9"]]


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i4", "u1"])
def test_features_of_any_numeric_type(tmp_path, dtype):
    features = load_letor(write(tmp_path, "1 qid:1 1:3 2:7\n"), dtype=dtype)[0]
    assert features.dtype == dtype
    assert features.tolist() == [[3, 7]]


@pytest.mark.parametrize(
    ("dtype", "value"), [("i4", "0.5"), ("u1", "300"), ("u4", "-1"), ("i8", "nan"), (bool, "2")]
)
def test_features_that_an_integer_type_would_change_are_refused(tmp_path, dtype, value):
    path = write(tmp_path, f"1 qid:1 1:1 2:{value}\n")
    message = f"value {value} is not of dtype='{np.dtype(dtype).name}'. Leave dtype out"
    with pytest.raises(ValueError, match=re.escape(message)):
        load_letor(path, dtype=dtype)


@pytest.mark.parametrize("dtype", ["S4", object, complex, "M8[s]"])
def test_types_that_are_no_numbers_are_refused(tmp_path, dtype):
    with pytest.raises(ValueError, match="must be of floats, integers or booleans; got"):
        load_letor(write(tmp_path, TEXT), dtype=dtype)


def test_several_files_have_the_same_features(tmp_path):
    train = write(tmp_path, TEXT)
    test = write(tmp_path, "1 qid:1 1:8\n", "test.txt")
    (X_train, *_), (X_test, *_) = load_letor([train, test])
    assert X_train.tolist() == X
    assert X_test.tolist() == [[8, 0, 0]]
    assert load_letor(test, n_features=3)[0].tolist() == X_test.tolist()
    with pytest.raises(ValueError, match="n_features=2, but there are 3 features"):
        load_letor(train, n_features=2)


def test_the_number_of_the_first_feature(tmp_path):
    one = write(tmp_path, "1 qid:1 1:8\n")
    zero = write(tmp_path, "1 qid:1 0:8\n", "zero.txt")
    assert load_letor(one)[0].tolist() == load_letor(zero)[0].tolist() == [[8]]
    assert load_letor(one, zero_based=True)[0].tolist() == [[0, 8]]
    assert list(load_letor(zero, as_frame=True)[0]) == ["feature_0"]
    assert load_letor([one, zero])[0][0].tolist() == [[0, 8]]
    with pytest.raises(ValueError, match="zero_based=False"):
        load_letor(zero, zero_based=False)


def test_unsorted_features_are_sorted(tmp_path):
    path = write(tmp_path, "1 qid:3 3:-4 1:0.25\n")
    assert load_letor(path)[0].tolist() == [[0.25, 0, -4]]


def test_repeated_features_need_a_choice(tmp_path):
    path = write(tmp_path, "1 qid:3 1:1\n1 qid:3 2:5 1:0.25 2:6\n")
    with pytest.raises(ValueError, match=r"line 2: feature 2 occurs more than once"):
        load_letor(path)
    assert load_letor(path, repeated_features="first")[0][1].tolist() == [0.25, 5]
    assert load_letor(path, repeated_features="last")[0][1].tolist() == [0.25, 6]


@pytest.mark.parametrize(
    "line", ["1 qid:1 1:1e400", "-1e400 qid:1 1:2", "1 qid:1 1:inf", "1 qid:1 1:1e39"]
)
def test_a_number_beyond_the_range_of_floats_is_refused(tmp_path, line):
    path = tmp_path / "data.txt"
    path.write_text(f"0 qid:1 1:2\n{line}\n")
    with pytest.raises(ValueError, match=r"data.txt, line 2: got|beyond the range of float32"):
        load_letor(path, dtype=np.float32)
    if "1e39" in line:
        assert load_letor(path)[0].max() == 1e39


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 1:0.5\n0 1:0.25\n", "has no query ids: its lines have no qid:ID after the label"),
        ("1 qid:1 1:0.5\n0 1:0.25\n", "line 2: there is no qid:ID"),
    ],
)
def test_a_file_without_query_ids_is_refused(tmp_path, text, message):
    with pytest.raises(ValueError, match=message):
        load_letor(write(tmp_path, text))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("0 qid:1 1:NULL", "train.txt, line 3: got '1:NULL', but a line must be"),
        ("0 qid:1 1:2 2:", "train.txt, line 3: got '2:', but"),
        ("0 qid:1 price:2", "train.txt, line 3: got 'price:2', but"),
        ("1,2 qid:1 1:2", "train.txt, line 3: got '1,2', but"),
        ("0 qid:1 -1:2", "train.txt, line 3: got '-1:2', but"),
        ("0 qid:1 2147483648:3", "the feature from 0 to 2147483647"),
        ("0 qid: 1 1:2", "train.txt, line 3: there is no ID directly after qid:"),
    ],
)
def test_a_malformed_line_is_named(tmp_path, line, message):
    # scikit-learn reads neither features in another order nor a byte order mark
    for first in ("1 qid:1 1:0.5", "1 qid:1 2:0.5 1:1", "\ufeff1 qid:1 1:0.5"):
        with pytest.raises(ValueError, match=re.escape(message)):
            load_letor(write(tmp_path, f"{first}\n\n{line}\n1 qid:1 1:0.5\n"))


def test_a_file_object_is_refused():
    with pytest.raises(TypeError, match=r"path of a file, .* got an object of BytesIO"):
        load_letor(io.BytesIO(b"1 qid:1 1:2\n"))


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ("size\n2\n", "must hold the size of one query per line, an integer"),
        ("1.0\n1.0\n", "must hold the size of one query per line, an integer"),
        ("3\n-1\n", "must hold the size of one query per line; got the size -1"),
        ("0 1\n1 1\n", "must hold the size of one query per line; got 2 columns"),
    ],
)
def test_malformed_sizes_are_named(tmp_path, sizes, message):
    path = write(tmp_path, "1 1:0.5\n0 1:0.25\n")
    write(tmp_path, sizes, "train.txt.query")
    with pytest.raises(ValueError, match=rf"train\.txt\.query {message}"):
        load_letor(path)


def test_damaged_files_are_named(tmp_path):
    packed = tmp_path / "train.txt.gz"
    for content in (TEXT.encode(), gzip.compress(TEXT.encode())[:-12]):
        packed.write_bytes(content)
        with pytest.raises(
            ValueError, match=r"train\.txt\.gz: the compressed file is truncated or"
        ):
            load_letor(packed)
    plain = tmp_path / "train.txt"
    plain.write_bytes(b"1 qid:1 1:1\n1 qid:\xe9 1:1\n")
    with pytest.raises(ValueError, match=r"train\.txt, line 2: the query id b'\\xe9' is not UTF-8"):
        load_letor(plain)


def test_sizes_of_another_file_are_refused(tmp_path):
    path = write(tmp_path, "1 1:0.5\n0 1:0.25\n")
    write(tmp_path, "1\n2\n", "train.txt.query")
    with pytest.raises(ValueError, match=r"add up to 3, but .* has 2 lines"):
        load_letor(path)


def test_a_missing_file():
    with pytest.raises(FileNotFoundError, match=r"no file missing\.txt"):
        load_letor("missing.txt")
    with pytest.raises(ValueError, match="got none"):
        load_letor([])


@pytest.mark.parametrize("end", ["", ".gz"])
def test_a_byte_order_mark_is_skipped(tmp_path, end):
    path = tmp_path / f"train.txt{end}"
    content = b"\xef\xbb\xbf" + TEXT.encode()
    path.write_bytes(gzip.compress(content) if end else content)
    features, y, groups = load_letor(path)
    assert (features.tolist(), y.tolist(), groups.tolist()) == (X, [2, 0, 1], [7, 7, 9])


@pytest.mark.parametrize("text", ["", "\n# only a comment\n"])
def test_an_empty_file_is_refused_by_name(tmp_path, text):
    with pytest.raises(ValueError, match=r"train\.txt is empty"):
        load_letor(write(tmp_path, text))


def test_queries_of_several_files_with_sizes_stay_apart(tmp_path):
    sizes = [write(tmp_path, "0 1:1\n1 1:2\n2 1:3\n", f"{name}.txt") for name in "ab"]
    for name in "ab":
        write(tmp_path, "1\n2\n", f"{name}.txt.query")
    with_ids = write(tmp_path, "0 qid:3 1:1\n", "c.txt")
    assert [groups.tolist() for _, _, groups in load_letor(sizes)] == [[0, 1, 1], [2, 3, 3]]
    groups = [groups.tolist() for _, _, groups in load_letor([sizes[0], with_ids, sizes[1]])]
    assert groups == [[4, 5, 5], [3], [6, 7, 7]]
    assert load_letor(sizes[1])[2].tolist() == [0, 1, 1]
