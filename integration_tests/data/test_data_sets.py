"""The packaged data set is LightGBM's, and files of other libraries are read."""

from importlib import resources

import numpy as np
import pytest

from sklearn_rankscore import load_lambdarank, load_letor

FOLDER = resources.files("sklearn_rankscore.datasets").joinpath("data")


@pytest.mark.parametrize("part", ["train", "test"])
def test_it_equals_the_original_files(part, data_path):
    """Read by LightGBM's own rules: a label, features, and sizes of queries in a second file."""
    source = data_path / "lambdarank" / f"rank.{part}"
    X, y, groups = load_lambdarank(return_X_y=True, subset=part)
    expected = np.zeros_like(X)
    lines = source.read_text().splitlines()
    for row, line in enumerate(lines):
        label, *pairs = line.split()
        assert y[row] == int(label)
        for pair in pairs:
            number, value = pair.split(":")
            expected[row, int(number) - 1] = float(value)
    np.testing.assert_array_equal(X, expected)
    sizes = np.loadtxt(f"{source}.query", dtype=int)
    first = {"train": 0, "test": 201}[part]
    np.testing.assert_array_equal(groups, first + np.repeat(np.arange(len(sizes)), sizes))


def test_the_licence_is_the_original(data_path):
    original = (data_path / "lambdarank" / "LICENSE").read_bytes()
    assert FOLDER.joinpath("lambdarank_LICENSE").read_bytes() == original


def test_the_example_data_of_tensorflow_ranking(data_path):
    folder = data_path / "tf_ranking"
    parts = load_letor(
        [folder / f"{part}.txt" for part in ("train", "vali", "test")], repeated_features="last"
    )
    assert [X.shape for X, _, _ in parts] == [(119, 136), (36, 136), (36, 136)]
    assert set(parts[0][1]) == {0, 1, 2}
    line = (folder / "train.txt").read_text().splitlines()[0].split()
    expected = dict(pair.split(":") for pair in line[2:])  # the last value of a feature
    assert {
        str(i): value for i, value in enumerate(parts[0][0][0], start=1) if value
    } == pytest.approx({i: float(value) for i, value in expected.items()})
