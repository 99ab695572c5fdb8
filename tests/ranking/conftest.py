"""The tests of this folder rank few documents by the fast path, too, as they do many."""

import os

import pytest

from sklearn_rankscore.ranking import ranking


@pytest.fixture(autouse=True)
def fast_path(monkeypatch):
    if os.environ.get("SKLEARN_RANKSCORE_PLAIN") != "1":
        monkeypatch.setattr(ranking, "PLAIN_UP_TO", 0)
