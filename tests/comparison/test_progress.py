"""Progress bars of long work: on a terminal with tqdm, and nowhere else."""

import io
import sys

import numpy as np
import pytest
from query_values import scores_of
from sklearn.linear_model import Ridge

from sklearn_rankscore import QueryRanker, compare, make_ranking, query_permutation_importance
from sklearn_rankscore.comparison import intervals as progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def compare_by_segment():
    values, half = np.random.default_rng(0).random((2, 30, 2)), np.arange(30) % 2
    systems = dict(zip("ab", map(scores_of, values), strict=True))
    return compare(systems, by={"half": half}, test="t").to_markdown()


def importances():
    X, y = make_ranking(n_queries=10, as_frame=True, random_state=0)
    fitted = QueryRanker(Ridge()).fit(X, y)
    return query_permutation_importance(fitted, X, y, "mrr", random_state=0).to_markdown()


def shown_by(work, stream, monkeypatch):
    """The result of some work, and what it writes meanwhile."""
    with monkeypatch.context() as patched:
        patched.setattr(sys, "stderr", stream)
        return work(), stream.getvalue().strip()


@pytest.mark.slow
@pytest.mark.parametrize(("work", "total"), [(compare_by_segment, "/6 ["), (importances, "/20 [")])
def test_a_bar_is_shown_on_a_terminal_with_tqdm(work, total, monkeypatch):
    assert progress.DELAY >= 1
    monkeypatch.setattr(progress, "DELAY", 600)  # beside which the work is short on any machine
    result = shown_by(work, Terminal(), monkeypatch)
    assert result[1] == ""
    monkeypatch.setattr(progress, "DELAY", 0)
    assert shown_by(work, io.StringIO(), monkeypatch) == result
    same, text = shown_by(work, Terminal(), monkeypatch)
    assert same == result[0]
    assert total in text
    monkeypatch.setitem(sys.modules, "tqdm", None)
    assert shown_by(work, Terminal(), monkeypatch) == result
