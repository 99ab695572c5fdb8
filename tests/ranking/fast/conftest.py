"""The tests of this folder are about the fast path, also where the plain sort is switched on."""

import pytest

from sklearn_rankscore.ranking import ranking


@pytest.fixture(autouse=True)
def fast_path(monkeypatch):
    monkeypatch.setattr(ranking, "PLAIN_UP_TO", 0)
