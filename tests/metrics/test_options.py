"""Options: the ends of their ranges, and the metrics that they apply to."""

from functools import partial
from importlib import import_module

import pytest
import sklearn.metrics

from sklearn_rankscore import (
    dcg_score,
    evaluate,
    make_ranking_scorer,
    ndcg_score,
)

Y, S, G = [2, 0, 1, 0, 1], [0.3, 0.2, 0.1, 0.9, 0.4], [0, 0, 0, 1, 1]


@pytest.mark.parametrize("name", ["map", "ndcg@2(gain=exponential)"])
@pytest.mark.integration
def test_scorers_are_stored_without_pickle(name):
    skops = import_module("skops.io")
    scorer = make_ranking_scorer(name)
    stored = skops.dumps(scorer)
    loaded = skops.loads(stored, trusted=skops.get_untrusted_types(data=stored))
    expected = scorer.score_labels(Y, S, groups=G)
    assert loaded.score_labels(Y, S, groups=G) == expected


def test_the_largest_label_with_an_exponential_gain():
    assert dcg_score([1023], [0.0], gain="exponential") == 2.0**1023
    with pytest.raises(ValueError, match="gains up to inf"):
        dcg_score([1024], [0.0], gain="exponential")


def rank_of_label(block, *, label):
    return block.by_rank(lambda labels: (labels == label) * 1.0) @ block.ranks


def test_names_of_partial_functions_show_their_arguments():
    both = [partial(rank_of_label, label=1), partial(rank_of_label, label=2)]
    values = evaluate(Y, S, both, groups=G)
    assert values == {"rank_of_label(label=1)": 2.5, "rank_of_label(label=2)": 0.5}


def test_partial_of_a_metric_function_is_that_metric_with_options():
    bound = partial(ndcg_score, k=3, gain="exponential")
    expected = evaluate(Y, S, "ndcg@3(gain=exponential)", groups=G)
    assert [*evaluate(Y, S, [bound], groups=G, ties="stable").items()] == [
        ("ndcg@3", *expected.values())
    ]


@pytest.mark.parametrize(
    "metric", [sklearn.metrics.ndcg_score, lambda: 1.0, partial(rank_of_label, 1, label=2)]
)
def test_functions_of_other_arguments_are_refused(metric):
    with pytest.raises(TypeError, match=r"is a function of one argument, a block; .* is not"):
        make_ranking_scorer(metric)
