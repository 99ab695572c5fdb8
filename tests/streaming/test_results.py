"""What an accumulator shows in a console and in a notebook."""

import numpy as np
import pytest
from html_structure import Structure

from sklearn_rankscore import RankingAccumulator, evaluate, make_ranking

NAMES = ["ndcg@10", "map(replace_undefined_by=nan)"]


@pytest.mark.parametrize("is_html", [False, True])
def test_table(is_html):
    X, y, groups = make_ranking(n_queries=30, random_state=0)
    y = np.where(groups == groups[0], 0, y)
    accumulator = RankingAccumulator(NAMES).update(y, X[:, 0], groups=groups)
    values = evaluate(y, X[:, 0], NAMES, groups=groups)
    if is_html:
        (rows,) = Structure(accumulator._repr_html_()).tables
        assert rows[0] == ["", "mean", "std. error", "queries", "undefined"]
        rows = rows[1:]
    else:
        title, header, *lines = repr(accumulator).split("\n")
        assert title == f"RankingAccumulator of {len(y)} documents"
        assert len({len(line) for line in [header, *lines]}) == 1
        rows = [line.split() for line in lines]
    errors = [accumulator.result()[name].standard_error for name in NAMES]
    assert rows == [
        [NAMES[0], f"{values[NAMES[0]]:.4f}", f"{errors[0]:.4f}", "30", "1"],
        [NAMES[1], f"{values[NAMES[1]]:.4f}", f"{errors[1]:.4f}", "30", "1"],
    ]


def test_names_are_escaped():
    accumulator = RankingAccumulator(lambda block: block.sizes / 2).update([1], [1], groups=[1])
    assert Structure(accumulator._repr_html_()).tables[0][1][:2] == ["<lambda>", "0.5000"]


def test_nothing_to_show_is_no_error():
    empty = RankingAccumulator("mrr")
    weightless = RankingAccumulator("mrr").update([1], [1], groups=[1], sample_weight=[0])
    for accumulator in (empty, weightless):
        assert repr(accumulator).split("\n")[2].split() == ["mrr", *"----"]
        assert accumulator._repr_html_().count("<td>-</td>") == 4


def test_open_queries_remain_open():
    whole = RankingAccumulator("mrr").update_sorted([0, 1], [2, 1], groups=[1, 1])
    assert "0.5000" in repr(whole)
    whole.update_sorted([1], [3], groups=[1])
    assert whole.scores() == {"mrr": 1.0}
