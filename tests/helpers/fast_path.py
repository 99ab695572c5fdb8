"""Few documents are ranked by the fast path, too, as many are."""

import os

import pytest

from sklearn_rankscore.ranking import ranking


@pytest.fixture(autouse=True)
def fast_path(monkeypatch):
    if os.environ.get("SKLEARN_RANKSCORE_PLAIN") != "1":
        monkeypatch.setattr(ranking, "PLAIN_UP_TO", 0)
