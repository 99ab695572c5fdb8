"""The tests of this folder rank few documents by the fast path, too."""

from fast_path import fast_path  # noqa: F401 - a fixture
