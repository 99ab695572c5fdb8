"""Clicks weighted by inverse propensity; `test_oracle.py` compares every option and tie rule."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest

from sklearn_rankscore import (
    dcg_score,
    evaluate,
    ndcg_score,
    query_scores,
)
from sklearn_rankscore.metrics.names import METRICS

# sums over documents, and ratios of such sums
UNBIASED, SELF_NORMALIZED = ("dcg", "hits", "precision", "rbp"), ("ndcg", "recall")
# rax 0.4.0 with jax 0.10.2 in double precision: dcg_metric and ndcg_metric of these arrays with
# weights=, by cut-off and gain
LABELS = [[2, 0, 0, 0, 0, 2], [2, 1, 0, 0, 0, 1], [1, 1, 0, 0, 2, 2]]
SCORES = [[4.0, 2, 5, 1, 3, 0], [4.0, 5, 3, 2, 1, 0], [5.0, 2, 4, 3, 0, 1]]
WEIGHTS = [[5.0, 5, 10, 2, 10, 1], [1.0, 10, 10, 2, 1, 2], [1.0, 10, 5, 4, 2, 4]]
RAX = {
    "dcg@2": [6.309297535714574, 11.261859507142916, 1.0],
    "ndcg@2": [0.5602358590704187, 1.0, 0.06645649565734896],
    "dcg@2(gain=exponential)": [9.463946303571861, 11.892789260714373, 1.0],
    "ndcg@2(gain=exponential)": [0.5602358590704187, 1.0, 0.05461705988716252],
    "dcg": [7.021711909930619, 11.97427388135896, 9.826416787042351],
    "ndcg": [0.6234948949129624, 0.976546328424622, 0.5622126310208924],
    "dcg(gain=exponential)": [10.532567864895928, 12.605203634930417, 12.086242390196563],
    "ndcg(gain=exponential)": [0.6234948949129624, 0.977694072247015, 0.5559455746384774],
}

Y = np.array([1, 0, 1, 1, 0, 1])
S = np.array([0.3, 0.2, 0.2, 0.1, 0.9, 0.2])
P = np.array([0.9, 0.5, 0.25, 1.0, 0.7, 0.4])
GROUPS = np.array(["a"] * 4 + ["b"] * 2)


@pytest.mark.parametrize("name", RAX)
def test_weights_are_those_of_rax(name):
    ours = evaluate(LABELS, SCORES, name, propensity=1 / np.array(WEIGHTS), average=None)
    np.testing.assert_allclose(ours[name], RAX[name], rtol=1e-12)


@pytest.mark.parametrize("ties", ["average", "stable"])
@pytest.mark.parametrize("k", [1, 3, None])
@pytest.mark.parametrize("metric", UNBIASED)
def test_the_mean_over_all_examinations_is_the_metric_of_the_relevance(metric, k, ties):
    """Each of the 2**4 sets of examined documents, with its probability."""
    y, s, p = Y[:4], S[:4], P[:4]
    estimate = naive = 0.0
    for examined in itertools.product([0, 1], repeat=4):
        clicks = y * examined
        probability = np.where(examined, p, 1 - p).prod()
        options = {"k": k, "ties": ties, "groups": "none"}
        (value,) = evaluate(clicks, s, metric, propensity=p, **options).values()
        (unweighted,) = evaluate(clicks, s, metric, **options).values()
        estimate += probability * value
        naive += probability * unweighted
    (truth,) = evaluate(y, s, metric, **options).values()
    assert estimate == pytest.approx(truth, rel=1e-12)
    assert naive < 0.99 * truth


@pytest.mark.parametrize("where", ["y_true", "y_score"])
def test_a_name_is_an_index_level(where):
    index = pd.MultiIndex.from_arrays([GROUPS, P], names=["qid", "seen"])
    data = {"y_true": Y, "y_score": S} | {where: pd.Series(Y if where == "y_true" else S, index)}
    expected = dcg_score(Y, S, groups=GROUPS, propensity=P)
    assert dcg_score(**data, propensity="seen") == expected
    names = ["dcg(propensity=seen)", "dcg", "ndcg(propensity=seen,clip=0.5)"]
    values = evaluate(**data, metrics=names)
    assert values == {
        names[0]: expected,
        "dcg": dcg_score(Y, S, groups=GROUPS),
        names[2]: ndcg_score(Y, S, groups=GROUPS, propensity=P, clip=0.5),
    }


def test_scores_by_query_and_several_systems():
    systems = {"one": S, "other": -S}
    scores = query_scores(Y, systems, ["dcg@2", "recall@1"], groups=GROUPS, propensity=P, clip=0.3)
    for name, system in systems.items():
        for metric in ("dcg@2", "recall@1"):
            given = {"groups": GROUPS, "propensity": P, "clip": 0.3, "average": None}
            (expected,) = evaluate(Y, system, metric, **given).values()
            np.testing.assert_array_equal(scores[name][metric], expected)


def test_estimates_from_clicks_have_no_known_range():
    """Values that happen to lie in [0, 1] may not."""
    rng = np.random.default_rng(0)
    groups, y, s = np.repeat(np.arange(40), 5), rng.random(200) < 0.2, rng.random(200)
    for given in ({"propensity": np.full(200, 0.99)}, {}):
        scores = query_scores(y, s, ["precision@5", "ndcg@5"], groups=groups, **given)

        def same(block, values=scores["precision@5"]):  # its range is taken to be [0, 1]
            return values[block.queries]

        in_range = query_scores(y, s, same, groups=groups)
        for chosen in (slice(None), slice(9, 40)):
            one = scores.select(chosen).interval()["precision@5"]
            (other,) = in_range.select(chosen).interval().values()
            assert (one == other) is not bool(given)


def test_shapes():
    expected = evaluate(LABELS, SCORES, "ndcg", propensity=1 / np.array(WEIGHTS))
    flat = [np.ravel(a) for a in (LABELS, SCORES, 1 / np.array(WEIGHTS))]
    groups = np.repeat([0, 1, 2], 6)
    given = {"groups": groups, "propensity": flat[2]}
    assert evaluate(flat[0], flat[1], "ndcg", **given) == expected
    given["propensity"] = flat[2].reshape(-1, 1)
    assert evaluate(flat[0], flat[1], "ndcg", **given) == expected
    order = np.random.default_rng(0).permutation(18)
    shuffled = {"groups": groups[order], "propensity": flat[2][order]}
    assert evaluate(flat[0][order], flat[1][order], "ndcg", **shuffled) == pytest.approx(expected)
    # rows of which nobody can tell whether they are in the order of the rows or of the ids
    for ids in (groups[order], groups[::-1]):
        with pytest.raises(ValueError, match=r"got shape \(3, 6\) for 18 documents in 3 queries"):
            evaluate(*flat[:2], "ndcg", groups=ids, propensity=1 / np.array(WEIGHTS))


def replaced(value):
    return np.where(np.arange(6) == 2, value, P)


REFUSED_VALUES = [
    (replaced(0), r"must lie in \(0, 1\].*got values from 0 to 1"),
    (replaced(-0.1), "got values from -0.1 to 1"),
    (replaced(1.01), "got values from 0.4 to 1.01"),
    (replaced(math.nan), "propensity contains NaN .first at position 2"),
    (replaced(1e-310), "propensity has values so small .* clip="),
    (P[:5], r"one probability per document: got shape \(5,\) for 6 documents in 2 queries"),
    (P.reshape(2, 3), r"got shape \(2, 3\)"),
    (0.5, "propensity must be an array of numbers"),
    (GROUPS, "propensity must hold numbers; got strings"),
    ("seen", "propensity='seen' is neither a column of X nor an index level"),
]


# options that would count documents without a click
REFUSED_OPTIONS = [
    ("hits", {"threshold": -1}, "takes no propensity with a gain of the label 0"),
    ("dcg", {"gain": [1, 2]}, "takes no propensity with a gain of the label 0"),
    ("dcg", {"clip": 0}, "clip must be above 0"),
    ("dcg", {"clip": 0.1, "propensity": None}, r"clip=0\.1 raises small propensities, but"),
    ("dcg", {"clip": 1.5}, r"clip must be in \[0, 1\]"),
    ("ndcg", {"adjusted": True}, "takes no propensity with adjusted=True"),
    ("precision@2", {"denominator": "attainable"}, "with denominator='attainable': clicks show"),
    ("recall@2", {"denominator": "min"}, "with denominator='min': clicks show only some"),
    ("dcg", {"replace_undefined_by": np.nan}, "takes no propensity with replace_undefined_by=nan"),
    ("rbp", {"normalize": True}, "takes no propensity with normalize=True"),
    (lambda block: block.sizes, {}, "takes no propensity: it is not known to be a sum"),
]


REFUSED = [("dcg", {"propensity": values}, message) for values, message in REFUSED_VALUES]


@pytest.mark.parametrize(("metric", "options", "message"), REFUSED + REFUSED_OPTIONS)
def test_refused(metric, options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        evaluate(Y, S, metric, **{"groups": GROUPS, "propensity": P, **options})


@pytest.mark.parametrize("metric", METRICS)
def test_a_metric_takes_propensities_or_refuses_them(metric):
    takes = metric in UNBIASED + SELF_NORMALIZED
    assert takes == ("propensity" in METRICS[metric].options) == ("clip" in METRICS[metric].options)
    if takes:
        ones = evaluate(Y, S, metric, groups=GROUPS, propensity=np.ones(6))
        assert ones == pytest.approx(evaluate(Y, S, metric, groups=GROUPS))
        return
    reason = f"'{metric}' takes no propensity: it is not known to be a sum over documents"
    for call in (
        lambda: evaluate(Y, S, metric, groups=GROUPS, propensity=P),
        lambda: evaluate(Y, S, ["dcg", METRICS[metric].function], groups=GROUPS, propensity=P),
        lambda: evaluate(Y, S, f"{metric}(propensity=seen)", groups=GROUPS),
    ):
        with pytest.raises(ValueError, match=reason):
            call()
    assert evaluate(Y, S, metric, groups=GROUPS, propensity=None).keys() == {metric}
