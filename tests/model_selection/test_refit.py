"""one_standard_error: the simplest candidate within one standard error of the best."""

import pickle

import numpy as np
import pytest
from scipy import stats
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeRegressor

from sklearn_rankscore import QueryKFold, QueryRanker, make_ranking, one_standard_error

DEPTHS = {"estimator__max_depth": [1, 2, 3, 4, 6, 8, None]}


def results(folds, params, name="score"):
    """cv_results_ with a row of fold scores for each candidate."""
    folds = np.array(folds, dtype=float)
    return {
        "params": params,
        f"mean_test_{name}": folds.mean(axis=1),
        f"std_test_{name}": folds.std(axis=1),
        **{f"split{i}_test_{name}": folds[:, i] for i in range(folds.shape[1])},
    }


# means .70, .78, .80, .79; the best one's error is std(.7, .8, .9) / sqrt(3) = .1 / 1.732 = .0577
FOLDS = [[0.6, 0.7, 0.8], [0.78, 0.78, 0.78], [0.7, 0.8, 0.9], [0.79, 0.79, 0.79]]
DEPTH = [{"depth": d, "alpha": a} for d, a in ((1, 8), (3, 1), (9, 2), (2, 4))]


CHOICES = [  # scores of the folds, parameters, what is minimized, and the candidate that is chosen
    *((FOLDS, DEPTH, complexity, best) for complexity, best in (
        (None, 1), ("depth", 3), ("-alpha", 3), ("alpha", 1),
        (lambda params: -params["depth"], 2),
        (lambda params: 0, 2))),  # without a difference the best mean wins
    # None is the least simple
    *(([[0.1, 0.2]] * 2, [{"depth": None}, {"depth": 5}], name, 1) for name in ("depth", "-depth")),
    # a candidate that failed is none
    ([[np.nan, 0.9], [0.5, 0.6], [0.4, 0.5]], DEPTH[:3], None, 1),
]  # fmt: skip


@pytest.mark.parametrize(("folds", "params", "complexity", "best"), CHOICES)
def test_picks_the_simplest_within_one_standard_error(folds, params, complexity, best):
    refit = one_standard_error("ndcg@10", complexity=complexity)
    for again in (
        (refit, pickle.loads(pickle.dumps(refit))) if not callable(complexity) else [refit]
    ):
        assert again(results(folds, params)) == again(results(folds, params, "ndcg@10")) == best


def test_the_error_is_that_of_the_best_candidates_mean():
    error = stats.sem(FOLDS[2])
    for gap, best in ((error * 0.99, 0), (error * 1.01, 1)):
        folds = [[0.8 - gap] * 3, FOLDS[2]]
        assert one_standard_error()(results(folds, DEPTH[:2])) == best


@pytest.mark.slow
def test_a_search_refits_it():
    X, y = make_ranking(n_queries=60, as_frame=True, random_state=1)
    ranker = QueryRanker(DecisionTreeRegressor(random_state=0))
    refit = one_standard_error("ndcg@10", complexity="estimator__max_depth")
    options = {"scoring": ["map@10", "ndcg@10"], "cv": QueryKFold(5), "refit": refit}
    fitted = GridSearchCV(ranker, DEPTHS, **options).fit(X, y)
    folds = np.array([fitted.cv_results_[f"split{i}_test_ndcg@10"] for i in range(5)])
    best = folds.mean(axis=0).argmax()
    near = folds.mean(axis=0) >= folds.mean(axis=0)[best] - stats.sem(folds[:, best])
    depths = [p["estimator__max_depth"] or np.inf for p in fitted.cv_results_["params"]]
    expected = min(d for d, close in zip(depths, near, strict=True) if close)
    assert fitted.best_params_["estimator__max_depth"] == expected < depths[best]
    assert fitted.best_estimator_.estimator_.max_depth == expected


OF_ALPHA = results([[1, 2]], [{"estimator__alpha": 1}]) | {"param_estimator__alpha": [1]}
REFUSED = [
    ({}, results(FOLDS, DEPTH, "map"), r"one_standard_error\(\) must name"),
    ({"metric": "ndcg"}, results(FOLDS, DEPTH, "map"), "of the search: 'map'"),
    ({"metric": "-estimator__alpha"}, OF_ALPHA, "parameter is passed as complexity="),
    ({"complexity": "a"}, results(FOLDS, DEPTH), "no parameter 'a' in the"),
    ({"complexity": "-alpha"}, OF_ALPHA, r"Did you mean 'estimator__alpha'\?"),
    ({"complexity": "kind"}, results([[1, 2]], [{"kind": "gini"}]), "a parameter with numbers"),
    ({}, results([[1], [2]], DEPTH[:2]), "at least two folds"),
    ({}, results([[np.nan, 1]], DEPTH[:1]), "no candidate has a score"),
]


@pytest.mark.parametrize(("options", "given", "message"), REFUSED)
def test_invalid_results_are_refused(options, given, message):
    with pytest.raises(ValueError, match=message):
        one_standard_error(**options)(given)


@pytest.mark.parametrize("arguments", [{"metric": 3}, {"complexity": 3}])
def test_arguments_of_a_wrong_type_are_refused(arguments):
    with pytest.raises(TypeError, match="must be the name"):
        one_standard_error(**arguments)
