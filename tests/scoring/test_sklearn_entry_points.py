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
from sklearn.metrics import get_scorer, make_scorer, r2_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn_entry_points import ENTRY_POINTS, NAME
from threadpoolctl import threadpool_limits

import sklearn_rankscore

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
    # 1.6 and 1.7 ask the string, not its scorer, for the requests of RidgeCV(cv=None)
    "ridge_cv_leave_one_out": ("TypeError", VERSION < (1, 8)),
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


def tuned_alpha(value):
    return lambda _: by_hand.best(ALPHAS, value)


def ridges(score=by_hand.ndcg):
    return by_hand.fold_scores(Ridge(), score=score)


REGRESSOR, CLASSIFIER = HistGradientBoostingRegressor(), HistGradientBoostingClassifier()
EXPECTED = {
    "get_scorer_by_name": lambda _: [by_hand.whole(k=k) for k in (3, 1, 12345, None)],
    "names_listed": lambda _: 0,
    "check_scoring_string": lambda _: by_hand.whole(k=3),
    "check_scoring_list": lambda _: {NAME: by_hand.whole(k=3), "mrr": by_hand.whole("mrr")},
    "cross_val_score_string": lambda _: ridges(),
    "cross_validate_string": lambda _: ridges(),
    "cross_validate_list": lambda _: [*map(ridges, (by_hand.ndcg, by_hand.mrr, by_hand.r2))],
    "cross_validate_dict": lambda _: [*map(ridges, (by_hand.ndcg, by_hand.r2))],
    "grid_search_string": lambda _: by_hand.grid(),
    "grid_search_list_with_refit": lambda _: {**by_hand.grid(), "score": by_hand.chosen()},
    "randomized_search": lambda answer: by_hand.searched(Ridge(), answer["params"]),
    "halving_grid_search": trees,
    "halving_random_search": trees,
    "learning_curve_string": lambda _: by_hand.curve(),
    "learning_curve_display": lambda _: by_hand.curve(),
    "validation_curve_string": lambda _: [by_hand.fold_scores(Ridge(alpha)) for alpha in ALPHAS],
    "permutation_test": lambda _: by_hand.permuted_labels(),
    "permutation_importance_string": lambda _: by_hand.permuted_features(),
    "permutation_importance_list": lambda _: by_hand.permuted_features(),
    "sequential_feature_selector": lambda _: by_hand.selected_forward(),
    "rfecv": lambda _: by_hand.eliminated_backward(),
    "logistic_regression_cv": lambda _: by_hand.logistic_grid(),
    "ridge_cv": tuned_alpha(lambda alpha: by_hand.fold_mean(Ridge(alpha))),
    "ridge_cv_leave_one_out": tuned_alpha(lambda a: by_hand.ndcg(Y, by_hand.leave_one_out(a))),
    "ridge_cv_leave_one_out_one_list": tuned_alpha(
        lambda alpha: by_hand.one_list(Y, by_hand.leave_one_out(alpha))
    ),
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
    path = [str(Path(__file__).parent), *sys.path]
    env = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(path),
        "MPLBACKEND": "Agg",
        "OMP_NUM_THREADS": "1",
    }
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
    code = (
        "import pathlib, pickle, sys\n"
        "search, X, y = pickle.loads(pathlib.Path(sys.argv[1]).read_bytes())\n"
        "print(search.score(X, y))"
    )
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


def test_unpatched_scikit_learn_is_as_it_was():
    from sklearn.metrics import _scorer
    from sklearn.model_selection import _search, _validation
    from sklearn.utils._param_validation import StrOptions

    added, replaced = make_scorer(r2_score), _scorer._SCORERS["explained_variance"]
    _scorer._SCORERS["of_others"] = added
    del _scorer._SCORERS["explained_variance"]
    sklearn_rankscore.unpatch_sklearn()
    try:
        assert type(_scorer._SCORERS) is dict
        assert "is_satisfied_by" not in vars(StrOptions)
        assert _validation.delayed is _search.delayed is sklearn.utils.parallel.delayed
        with pytest.raises(ValueError, match="must be a str among"):
            score_by(NAME)
        scorer = sklearn_rankscore.make_ranking_scorer(NAME)
        np.testing.assert_allclose(score_by(scorer, n_jobs=2), ridges())
        # what others did to the table meanwhile stays
        assert _scorer._SCORERS["of_others"] is added
        assert "explained_variance" not in _scorer._SCORERS
    finally:
        sklearn_rankscore.patch_sklearn()
        _scorer._SCORERS["explained_variance"] = replaced
        del _scorer._SCORERS["of_others"]
    assert get_scorer(NAME) is not None
