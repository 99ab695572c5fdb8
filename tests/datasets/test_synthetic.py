"""The synthetic data: a fair comparison of models; and the options of data sets."""

import numpy as np
import pytest
from lightgbm import LGBMRanker
from sklearn.linear_model import Ridge

from sklearn_rankscore import QueryRanker, load_lambdarank, make_ranking, ndcg_score


def held_out_ndcg(model, utility, seed):
    """NDCG@10 of the second half of the queries, of a model that was trained on the first."""
    X, y, groups = make_ranking(n_queries=200, utility=utility, random_state=seed)
    train = groups < 100
    model = QueryRanker(model).fit(X[train], y[train], groups=groups[train])
    return ndcg_score(y[~train], model.predict(X[~train]), groups=groups[~train], k=10)


@pytest.mark.parametrize("seed", [0, 1])
def test_a_ranker_is_clearly_better_than_a_linear_model(seed):
    linear = held_out_ndcg(Ridge(), "interactions", seed)
    ranker = LGBMRanker(n_jobs=1, n_estimators=50, verbose=-1)
    assert held_out_ndcg(ranker, "interactions", seed) > linear + 0.15
    assert linear > 0.5  # and yet the linear model is of some use: a random order has 0.46


def test_a_linear_model_suffices_for_an_additive_utility():
    assert held_out_ndcg(Ridge(), "additive", 0) > 0.85


def test_utilities_are_what_the_documentation_says():
    """Without noise and query effects, grades are bins of the documented function."""
    quiet = {"noise": 0, "query_effect": 0, "n_informative": 3, "n_grades": 3, "random_state": 0}
    for utility, function in {
        "additive": lambda a, b, c: a + b / 2 + c / 3 + abs(a),
        "interactions": lambda a, b, c: (
            2 * (a * b + b * c / 2 + c * a / 3) + (a + b / 2 + c / 3) / 2
        ),
    }.items():
        X, y, _ = make_ranking(utility=utility, **quiet)
        value = function(*X[:, :3].T)
        limits = np.quantile(value, [0.5, 0.75])
        np.testing.assert_array_equal(y, (value > limits[0]).astype(int) + (value > limits[1]))


def test_informative_features_are_some_of_the_features():
    few = make_ranking(n_features=3, random_state=0)
    all_of_them = make_ranking(n_features=3, n_informative=3, random_state=0)
    for ours, theirs in zip(few, all_of_them, strict=True):
        np.testing.assert_array_equal(ours, theirs)


REFUSED = [
    (make_ranking, {"utility": "linear"}, "utility must be one of 'additive', 'interactions'"),
    (make_ranking, {"n_features": 3, "n_informative": 50}, "at most n_features, 3; got 50"),
    (make_ranking, {"shuffle": "no"}, "shuffle must be True or False; got 'no'"),
    (load_lambdarank, {"subset": "valid"}, "subset must be one of 'train', 'test', 'all'"),
    (load_lambdarank, {"return_X_y": 1}, "return_X_y must be True or False"),
]


@pytest.mark.parametrize(("load", "options", "message"), REFUSED)
def test_refused_options(load, options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        load(**options)
