"""These tests need more than `pip install -e ".[test]"`: one folder for each kind of need.

- frames, large: the extra `test-frames`, for tables of any library, and Parquet files;
- peers: the libraries of the extra `test-peers` and of `peers.txt`;
- clusters: the extra `test-clusters`, and Java 17 or newer;
- pages: the extras `docs`, `browser` and all of the above, and a Chromium;
- data: real data, which is no part of the repository, in the folder `../shared/data`.
"""

from pathlib import Path

import hypothesis_profiles  # noqa: F401 - registers the profiles
import pytest
from hypothesis import settings

settings.load_profile("tenth")


@pytest.fixture(scope="session")
def data_path():
    """Folder of real data, which is no part of the repository."""
    return Path(__file__).resolve().parents[2] / "shared" / "data"
