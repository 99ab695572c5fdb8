"""The packaged data set is LightGBM's, in the form of scikit-learn's data sets."""

import bz2
import hashlib
from importlib import resources

import numpy as np
import pytest
from sklearn.utils import Bunch

from sklearn_rankscore import load_lambdarank

FOLDER = resources.files("sklearn_rankscore.datasets").joinpath("data")


def test_the_packaged_files_are_small_and_unchanged():
    """Checksums of the text, taken when the files were made from the original."""
    files = {part: FOLDER.joinpath(f"lambdarank_{part}.txt.bz2").read_bytes() for part in SHA256}
    assert sum(map(len, files.values())) < 700_000
    for part, packed in files.items():
        assert hashlib.sha256(bz2.decompress(packed)).hexdigest() == SHA256[part]


SHA256 = {
    "train": "72cf50b2dd80f66b55d94c2e7ac99566d958275b0363da6e839a4eb40e0f63bb",
    "test": "26e8b36294b9ff0c52c892c71377dbf5e2cc29bae92f618224744ea2b31b12d1",
}


@pytest.fixture(scope="module")
def frames():
    return load_lambdarank(as_frame=True)


def test_it_is_a_bunch_of_frames_with_ids_in_the_index(frames):
    assert isinstance(frames, Bunch)
    assert (frames.data.shape, frames.target.shape) == ((3773, 300), (3773,))
    assert len(np.unique(frames.groups)) == 251
    assert (frames.feature_names[0], len(frames.feature_names)) == ("feature_1", 300)
    assert "MIT license" in frames.DESCR
    for frame in (frames.data, frames.target, frames.frame):
        assert frame.index.names == ["qid"]
    np.testing.assert_array_equal(frames.data.index, frames.groups)
    assert list(frames.frame) == [*frames.feature_names, "relevance"]
    np.testing.assert_array_equal(frames.frame["relevance"], frames.target)


def test_the_part_for_testing_follows_that_for_training(frames, lambdarank_test):
    X, y, groups = lambdarank_test
    assert (len(y), len(np.unique(groups))) == (768, 50)
    for part, whole in ((X, frames.data), (y, frames.target), (groups, frames.groups)):
        np.testing.assert_array_equal(part, whole[3005:])
    data = load_lambdarank(subset="test")
    assert data.frame is None
    np.testing.assert_array_equal(data.data, X)
