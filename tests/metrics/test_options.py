"""Options: the ends of their ranges, and the metrics that they apply to."""

import itertools
import pickle
from functools import partial
from importlib import import_module

import numpy as np
import pandas as pd
import pytest
import sklearn.metrics

from sklearn_rankscore import (
    dcg_score,
    evaluate,
    make_ranking_scorer,
    map_score,
    ndcg_score,
    rbp_score,
)

Y, S, G = [2, 0, 1, 0, 1], [0.3, 0.2, 0.1, 0.9, 0.4], [0, 0, 0, 1, 1]


def first_label(block):
    return block.by_rank(lambda labels: labels * 1.0)[:, 0]


def test_metrics_of_different_cut_offs_together_equal_separate_ones():
    random = np.random.default_rng(0)
    y, s, g = random.integers(0, 4, 300), random.normal(size=300), random.integers(0, 9, 300)
    names = ["ndcg@2", "ndcg@20", "map@7", "precision@25"]
    together = evaluate(y, s, names, groups=g)
    assert together == {name: evaluate(y, s, name, groups=g)[name] for name in names}
    assert len({*together.values()}) == len(names)


@pytest.mark.parametrize("form", [dict, pd.Series])
def test_gains_by_label_as_a_dict_or_series_in_any_order(form):
    y, s, ids = [2, 0, 1, 0, 3, 1], [0.1, 0.9, 0.5, 0.5, 0.3, 0.1], [0, 0, 0, 1, 1, 1]
    gains = form({3: 7, 2: 3.5, 0: 0, 1: 1})
    for function in (dcg_score, ndcg_score, rbp_score):
        expected = function(y, s, groups=ids, gain=[0, 1, 3.5, 7])
        assert function(y, s, groups=ids, gain=gains) == expected
    scorer = pickle.loads(pickle.dumps(make_ranking_scorer("dcg@2", gain=gains)))
    expected = dcg_score(y, s, groups=ids, k=2, gain=[0, 1, 3.5, 7])
    assert scorer.score_labels(y, s, groups=ids) == expected


@pytest.mark.parametrize("name", ["ndcg@2", "map", "mrr@1", "ndcg(gain=exponential)", "hits@3"])
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


def test_map_over_hits_is_undefined_without_a_relevant_document():
    values = map_score([[0, 0], [1, 0]], [[1, 2], [2, 1]], denominator="hits", average=None)
    assert values.tolist() == [0.0, 1.0]
    values = map_score([0, 0], [1, 2], denominator="hits", replace_undefined_by=0.25)
    assert values == 0.25


@pytest.mark.parametrize("tied", [[1, 0, 0, 0, 0], [1, 0, 1, 1, 0], [1, 1, 1, 1, 0]])
def test_best_and_worst_mean_over_hits_of_a_group_that_the_cutoff_divides(tied):
    """Over all orders of the tied documents, below one relevant document at rank 4."""
    above = [0, 0, 0, 1]
    means = []
    for order in itertools.permutations(tied):
        ranks = np.flatnonzero([*above, *order][:7]) + 1
        means.append(np.mean(np.arange(1, len(ranks) + 1) / ranks))
    y_score = [9, 8, 7, 6, 0, 0, 0, 0, 0]
    for ties, expected in (("optimistic", max(means)), ("pessimistic", min(means))):
        actual = map_score(above + tied, y_score, k=7, denominator="hits", ties=ties)
        assert actual == pytest.approx(expected, rel=1e-14)


def test_a_function_of_a_block_has_an_average():
    values = evaluate(Y, S, [first_label], groups=G, average=None)
    assert values["first_label"].tolist() == [2.0, 0.0]
    with pytest.raises(ValueError, match="ratio of sums"):
        evaluate(Y, S, [first_label], groups=G, average="micro")


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
