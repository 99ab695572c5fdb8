"""Progress bars of long work: on a terminal with tqdm, and nowhere else."""

import io
import sys

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from sklearn_rankscore import (
    QueryRanker,
    QueryScores,
    compare,
    make_ranking,
    query_permutation_importance,
)
from sklearn_rankscore.comparison import intervals as progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def compare_by_segment():
    values = np.random.default_rng(0).random((2, 30, 2))
    half = np.arange(30) % 2
    a, b = (QueryScores(np.arange(30), v, ["mrr", "map"], segments={"half": half}) for v in values)
    return compare({"a": a, "b": b}, by="half", test="t").to_markdown()


def importances():
    X, y = make_ranking(n_queries=10, as_frame=True, random_state=0)
    fitted = QueryRanker(Ridge()).fit(X, y)
    return query_permutation_importance(fitted, X, y, "mrr", random_state=0).to_markdown()


WORK = [
    (compare_by_segment, 6, "differences"),
    (importances, 20, "features"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("work", "total", "unit"), WORK, ids=[work.__name__ for work, *_ in WORK])
def test_a_bar_is_shown_on_a_terminal_with_tqdm(work, total, unit, monkeypatch, capsys):
    monkeypatch.setattr(progress, "DELAY", 0)
    expected = work()
    assert capsys.readouterr().err == ""  # no terminal
    monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setattr(sys, "stderr", Terminal())
    np.testing.assert_array_equal(work(), expected)
    assert sys.stderr.getvalue() == ""
    monkeypatch.undo()
    monkeypatch.setattr(progress, "DELAY", 0)
    monkeypatch.setattr(sys, "stderr", Terminal())
    np.testing.assert_array_equal(work(), expected)
    text = sys.stderr.getvalue()
    assert f"/{total} [" in text
    assert unit in text


def test_short_work_shows_nothing(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    compare_by_segment()
    assert sys.stderr.getvalue().strip() == ""
