"""Simulated clicks with known relevance: the estimate is unbiased, and chooses the better model."""

import runpy
from pathlib import Path

import numpy as np
import pytest

from sklearn_rankscore import evaluate, position_propensity

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "choose_by_clicks.py"
UNBIASED = ["dcg@5", "precision@5", "hits@3", "rbp"]
RATIO = "recall@3(average=micro)"


@pytest.fixture(scope="module")
def simulated():
    """Values of 200 draws of clicks, weighted and not, and the values of the relevance."""
    rng = np.random.default_rng(0)
    shape = (150, 10)
    relevant = rng.random(shape) < 0.35
    shown_at = 1 + np.argsort(rng.random(shape), axis=1)
    # the model to be judged agrees with the relevance more than with what was shown
    score = np.round(relevant + 0.05 * shown_at + rng.normal(size=shape), 1)
    seen = position_propensity(shown_at, eta=0.8)
    metrics = [*UNBIASED, RATIO]
    weighted, naive = [], []
    for _ in range(200):
        clicks = relevant & (rng.random(shape) < seen)
        weighted.append(list(evaluate(clicks, score, metrics, propensity=seen).values()))
        naive.append(list(evaluate(clicks, score, metrics).values()))
    truth = evaluate(relevant, score, metrics)
    return truth, *(dict(zip(metrics, np.transpose(v), strict=True)) for v in (weighted, naive))


@pytest.mark.parametrize("metric", UNBIASED)
def test_the_estimate_is_unbiased_and_the_naive_one_is_not(metric, simulated):
    truth, weighted, naive = simulated

    def standard_errors(values):
        return abs(values.mean() - truth[metric]) / (values.std(ddof=1) / np.sqrt(len(values)))

    assert standard_errors(weighted[metric]) < 3.5
    assert standard_errors(naive[metric]) > 50


def test_recall_as_a_ratio_of_sums_over_queries_is_consistent(simulated):
    truth, weighted, naive = simulated
    assert weighted[RATIO].mean() == pytest.approx(truth[RATIO], rel=0.005)
    assert abs(naive[RATIO].mean() / truth[RATIO] - 1) > 0.03


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
