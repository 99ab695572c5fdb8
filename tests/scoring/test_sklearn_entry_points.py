"""Scoring strings in every entry point of scikit-learn, whichever package is imported first."""

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import expected_search_scores as by_hand
import numpy as np
import pytest
import sklearn
from sklearn.ensemble import (
    ExtraTreesRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.linear_model import Ridge
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn_entry_points import ENTRY_POINTS, NAME
from threadpoolctl import threadpool_limits

ALPHAS, D, Y = by_hand.ALPHAS, by_hand.D, by_hand.Y
ORDERS = {
    "first": "import sklearn_rankscore, sklearn_entry_points",
    "last": "import sklearn_entry_points, sklearn_rankscore",
}
VERSION = tuple(int(part) for part in sklearn.__version__.split(".")[:2])

# scikit-learn 1.6 sets options that SciPy has since deprecated
OLD_OPTIONS = "ignore:scipy.optimize:DeprecationWarning"
pytestmark = pytest.mark.filterwarnings(OLD_OPTIONS)

# entry points that fail with some versions, whatever the scorer
GAPS = {
    # callbacks came with 1.9
    "scoring_monitor": ("ModuleNotFoundError", VERSION < (1, 9)),
    # no metadata is routed and X reaches the scorer as bins, so only groups=none works
    "hist_gradient_boosting_plain": ("NoGroupsError", True),
}


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Threads cost more than they save for models this small."""
    with threadpool_limits(1):
        yield


def trees(answer):
    return by_hand.searched(ExtraTreesRegressor(random_state=0), answer["params"])


def left_out(alpha):
    return by_hand.one_list(Y, by_hand.leave_one_out(alpha))


def ridges(score=by_hand.ndcg):
    return by_hand.fold_scores(Ridge(), score=score)


REGRESSOR, CLASSIFIER = HistGradientBoostingRegressor(), HistGradientBoostingClassifier()
EXPECTED = {
    "get_scorer_by_name": lambda _: [by_hand.whole(k=k) for k in (3, 1, 12345, None)],
    "names_listed": lambda _: 0,
    "check_scoring_string": lambda _: by_hand.whole(k=3),
    "check_scoring_list": lambda _: {NAME: by_hand.whole(k=3), "mrr": by_hand.whole("mrr")},
    "cross_validate_list": lambda _: [*map(ridges, (by_hand.ndcg, by_hand.mrr, by_hand.r2))],
    "grid_search_list_with_refit": lambda _: {**by_hand.grid(), "score": by_hand.chosen()},
    "halving_random_search": trees,
    "learning_curve_display": lambda _: by_hand.curve(),
    "permutation_test": lambda _: by_hand.permuted_labels(),
    "permutation_importance_string": lambda _: by_hand.permuted_features(),
    "permutation_importance_list": lambda _: by_hand.permuted_features(),
    "sequential_feature_selector": lambda _: by_hand.selected_forward(),
    "rfecv": lambda _: by_hand.eliminated_backward(),
    "logistic_regression_cv": lambda _: by_hand.logistic_grid(),
    "ridge_cv_leave_one_out_one_list": lambda _: by_hand.best(ALPHAS, left_out),
    "ridge_classifier_cv": lambda _: by_hand.ridge_classifiers(by_hand.ndcg),
    "ridge_classifier_cv_one_list": lambda _: by_hand.ridge_classifiers(by_hand.one_list),
    "hist_gradient_boosting_regressor": lambda _: by_hand.boosted(REGRESSOR, Y),
    "hist_gradient_boosting_classifier": lambda _: by_hand.boosted(
        CLASSIFIER, by_hand.RELEVANT, "staged_decision_function"
    ),
    "hist_gradient_boosting_validation": lambda _: by_hand.boosted_validation(),
    "hist_gradient_boosting_plain": lambda _: None,
    "tuned_threshold": lambda _: by_hand.thresholds(),
    "nested_search_in_workers": lambda _: by_hand.nested(),
    "skipped_parameter_validation": lambda _: ridges(),
    "clone_repr_and_html": lambda _: [True] * 4,
    "pickle_and_deepcopy": lambda _: [by_hand.chosen()] * 3,
    "scoring_monitor": lambda answer: by_hand.monitored(len(answer) - 1),
}


def run_python(code, *args):
    """The output of code in a new interpreter with this path; warnings are errors."""
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    env = os.environ | {"PYTHONPATH": path, "MPLBACKEND": "Agg", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-W", "error", "-W", OLD_OPTIONS, "-c", code, *args]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module", params=ORDERS)
def answers(request):
    return run_python(f"{ORDERS[request.param]}; sklearn_entry_points.main()")


def assert_same(answer, expected):
    if isinstance(expected, dict):
        assert answer.keys() == expected.keys()
        for key in expected:
            assert_same(answer[key], expected[key])
    elif isinstance(expected, list) and expected and isinstance(expected[0], dict):
        assert answer == expected
    else:
        np.testing.assert_allclose(answer, expected, rtol=1e-9, atol=1e-12)


def test_table_is_complete():
    assert EXPECTED.keys() == ENTRY_POINTS.keys()


@pytest.mark.parametrize("name", ENTRY_POINTS)
def test_entry_point(answers, name):
    answer = answers[name]
    error, missing = GAPS.get(name, ("", False))
    if missing:
        assert answer["error"] == error
    else:
        assert_same(answer, EXPECTED[name](answer))


def test_a_pickled_search_contains_its_scorer(tmp_path):
    search = GridSearchCV(Ridge(), {"alpha": ALPHAS}, scoring=NAME, cv=D.folds).fit(D.X, D.y)
    (tmp_path / "search").write_bytes(pickle.dumps((search, D.X, D.y)))
    code = """
import pathlib, pickle, sys
search, X, y = pickle.loads(pathlib.Path(sys.argv[1]).read_bytes())
print(search.score(X, y))"""
    np.testing.assert_allclose(run_python(code, str(tmp_path / "search")), by_hand.chosen())


def score_by(scoring, **options):
    return cross_val_score(Ridge(), D.X, D.y, scoring=scoring, cv=D.folds, **options)


MALFORMED = {
    "ndcg@0": "positive integer, got '0'",
    "ndcg@ten": "positive integer, got 'ten'",
    "ndcg@5(gian=linear)": "Did you mean 'gain'",
    "ndcg@5(gain=lineal)": "Did you mean 'linear'",
    **dict.fromkeys(
        ["accurracy", "precison", "mape"], "'scoring' parameter of .* must be|valid scoring value"
    ),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_wrong_names_are_explained_by_us_or_scikit_learn(name):
    search = GridSearchCV(Ridge(), {"alpha": ALPHAS}, scoring=name, cv=D.folds)
    for call in (score_by, get_scorer, lambda _: search.fit(D.X, D.y)):
        with pytest.raises(ValueError, match=MALFORMED[name]):
            call(name)


@pytest.mark.parametrize(
    "name", ["average_precision", "accuracy", "precision", "recall", "f1", "r2"]
)
def test_names_of_sklearn_keep_their_meaning(name):
    assert type(get_scorer(name)).__module__.startswith("sklearn.metrics")
