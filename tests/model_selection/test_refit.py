"""one_standard_error: the simplest candidate within one standard error of the best."""

import pickle

import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
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


@pytest.mark.parametrize(
    ("complexity", "best"),
    [
        (None, 1),
        ("depth", 3),
        ("-alpha", 3),
        ("alpha", 1),
        (lambda params: -params["depth"], 2),
        (lambda params: 0, 2),  # without a difference the best mean wins
    ],
)
def test_picks_the_simplest_within_one_standard_error(complexity, best):
    assert one_standard_error(complexity=complexity)(results(FOLDS, DEPTH)) == best


def test_the_error_is_that_of_the_best_candidates_mean():
    error = stats.sem(FOLDS[2])
    for gap, best in ((error * 0.99, 0), (error * 1.01, 1)):
        folds = [[0.8 - gap] * 3, FOLDS[2]]
        assert one_standard_error()(results(folds, DEPTH[:2])) == best


def test_none_is_the_least_simple():
    params = [{"depth": None}, {"depth": 5}]
    alike = [[0.1, 0.2], [0.1, 0.2]]
    assert one_standard_error(complexity="depth")(results(alike, params)) == 1
    assert one_standard_error(complexity="-depth")(results(alike, params)) == 1


def test_failed_candidates_are_left_out():
    folds = [[np.nan, 0.9], [0.5, 0.6], [0.4, 0.5]]
    assert one_standard_error()(results(folds, DEPTH[:3])) == 1
    with pytest.raises(ValueError, match="no candidate has a score"):
        one_standard_error()(results([[np.nan, 1]], DEPTH[:1]))


@pytest.fixture(scope="module")
def data():
    return make_ranking(n_queries=60, as_frame=True, random_state=1)


@pytest.mark.slow
@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("random", [False, True])
def test_searches_refit_it(data, several, random):
    X, y = data
    given = {
        "scoring": ["map@10", "ndcg@10"] if several else "ndcg@10",
        "refit": one_standard_error("ndcg@10", complexity="estimator__max_depth"),
        "cv": QueryKFold(5),
    }
    ranker = QueryRanker(DecisionTreeRegressor(random_state=0))
    if random:
        search = RandomizedSearchCV(ranker, DEPTHS, n_iter=7, random_state=1, **given)
    else:
        search = GridSearchCV(ranker, DEPTHS, **given)
    search.fit(X, y)
    name = "ndcg@10" if several else "score"
    folds = np.array([search.cv_results_[f"split{i}_test_{name}"] for i in range(5)])
    best = folds.mean(axis=0).argmax()
    near = folds.mean(axis=0) >= folds.mean(axis=0)[best] - stats.sem(folds[:, best])
    depths = [p["estimator__max_depth"] or np.inf for p in search.cv_results_["params"]]
    expected = min(d for d, close in zip(depths, near, strict=True) if close)
    assert search.best_params_["estimator__max_depth"] == expected
    assert expected < depths[best]
    assert search.best_estimator_.estimator_.max_depth == expected


def test_single_metric_needs_no_name_and_order_is_the_default(data):
    X, y = data
    search = GridSearchCV(
        QueryRanker(DecisionTreeRegressor(random_state=0)), DEPTHS, scoring="ndcg@10",
        refit=one_standard_error(), cv=QueryKFold(5),
    )  # fmt: skip
    by_name = clone(search).set_params(
        refit=one_standard_error("ndcg@10", complexity="estimator__max_depth")
    )
    assert search.fit(X, y).best_params_ == by_name.fit(X, y).best_params_


def test_can_be_pickled():
    refit = pickle.loads(pickle.dumps(one_standard_error("ndcg@10", complexity="-alpha")))
    assert refit(results(FOLDS, DEPTH, "ndcg@10")) == 3


@pytest.mark.parametrize(
    ("refit", "given", "message"),
    [
        (one_standard_error(), results(FOLDS, DEPTH, "map"), r"one_standard_error\(\) must name"),
        (one_standard_error("ndcg"), results(FOLDS, DEPTH, "map"), "of the search: 'map'"),
        (one_standard_error(complexity="a"), results(FOLDS, DEPTH), "no parameter 'a' in the"),
        (
            one_standard_error(complexity="-alpha"),
            results([[1, 2]], [{"estimator__alpha": 1}]),
            r"Did you mean 'estimator__alpha'\?",
        ),
        (
            one_standard_error(complexity="kind"),
            results([[1, 2]], [{"kind": "gini"}]),
            "must name a parameter with numbers",
        ),
        (one_standard_error(), results([[1], [2]], DEPTH[:2]), "at least two folds"),
    ],
)
def test_invalid_results_are_refused(refit, given, message):
    with pytest.raises(ValueError, match=message):
        refit(given)


@pytest.mark.parametrize("arguments", [{"metric": 3}, {"complexity": 3}])
def test_arguments_of_a_wrong_type_are_refused(arguments):
    with pytest.raises(TypeError, match="must be the name"):
        one_standard_error(**arguments)
