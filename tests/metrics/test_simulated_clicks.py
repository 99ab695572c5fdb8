"""Simulated clicks with known relevance: the estimate chooses the better model."""

import runpy
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "choose_by_clicks.py"


@pytest.mark.parametrize("seed", [0, 1])
def test_a_search_chooses_the_truly_better_model(seed):
    example = runpy.run_path(str(EXAMPLE))
    X, clicks = example["simulate"](n_queries=300, seed=seed)
    choices = {
        scoring: example["chosen"](example["search"](X, clicks, scoring))
        for scoring in ("dcg@10(target=relevant)", "dcg@10", "dcg@10(propensity=seen)")
    }
    assert list(choices.values()) == ["match", "popularity", "match"]


def test_the_example_runs(capsys):
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    lines = capsys.readouterr().out.splitlines()[3:]
    assert [line.split()[-1] for line in lines] == ["popularity", "match", "match", "match"]
