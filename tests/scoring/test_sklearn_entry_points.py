"""Scoring strings in every entry point of scikit-learn, whichever package is imported first."""

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import sklearn
from expected_search_scores import (
    ALPHAS,
    RELEVANT,
    D,
    Y,
    best,
    boosted,
    boosted_validation,
    chosen,
    curve,
    eliminated_backward,
    fold_mean,
    fold_scores,
    grid,
    leave_one_out,
    logistic_grid,
    monitored,
    mrr,
    ndcg,
    nested,
    one_list,
    permuted_features,
    permuted_labels,
    r2,
    ridge_classifiers,
    searched,
    selected_forward,
    thresholds,
    whole,
)
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
    return searched(ExtraTreesRegressor(random_state=0), answer["params"])


EXPECTED = {
    "get_scorer_by_name": lambda _: [whole(k=k) for k in (3, 1, 12345, None)],
    "names_listed": lambda _: 0,
    "check_scoring_string": lambda _: whole(k=3),
    "check_scoring_list": lambda _: {NAME: whole(k=3), "mrr": whole("mrr")},
    "cross_val_score_string": lambda _: fold_scores(Ridge()),
    "cross_validate_string": lambda _: fold_scores(Ridge()),
    "cross_validate_list": lambda _: [fold_scores(Ridge(), score=f) for f in (ndcg, mrr, r2)],
    "cross_validate_dict": lambda _: [fold_scores(Ridge(), score=f) for f in (ndcg, r2)],
    "grid_search_string": lambda _: grid(),
    "grid_search_list_with_refit": lambda _: {**grid(), "score": chosen()},
    "randomized_search": lambda answer: searched(Ridge(), answer["params"]),
    "halving_grid_search": trees,
    "halving_random_search": trees,
    "learning_curve_string": lambda _: curve(),
    "learning_curve_display": lambda _: curve(),
    "validation_curve_string": lambda _: [fold_scores(Ridge(alpha)) for alpha in ALPHAS],
    "permutation_test": lambda _: permuted_labels(),
    "permutation_importance_string": lambda _: permuted_features(),
    "permutation_importance_list": lambda _: permuted_features(),
    "sequential_feature_selector": lambda _: selected_forward(),
    "rfecv": lambda _: eliminated_backward(),
    "logistic_regression_cv": lambda _: logistic_grid(),
    "ridge_cv": lambda _: best(ALPHAS, lambda alpha: fold_mean(Ridge(alpha))),
    "ridge_cv_leave_one_out": lambda _: best(ALPHAS, lambda a: ndcg(Y, leave_one_out(a))),
    "ridge_cv_leave_one_out_one_list": lambda _: best(
        ALPHAS, lambda a: one_list(Y, leave_one_out(a))
    ),
    "ridge_classifier_cv": lambda _: ridge_classifiers(ndcg),
    "ridge_classifier_cv_one_list": lambda _: ridge_classifiers(one_list),
    "hist_gradient_boosting_regressor": lambda _: boosted(HistGradientBoostingRegressor(), Y),
    "hist_gradient_boosting_classifier": lambda _: boosted(
        HistGradientBoostingClassifier(), RELEVANT, "staged_decision_function"
    ),
    "hist_gradient_boosting_validation": lambda _: boosted_validation(),
    "hist_gradient_boosting_plain": lambda _: None,
    "tuned_threshold": lambda _: thresholds(),
    "nested_search_in_workers": lambda _: nested(),
    "skipped_parameter_validation": lambda _: fold_scores(Ridge()),
    "clone_repr_and_html": lambda _: [True] * 4,
    "pickle_and_deepcopy": lambda _: [chosen()] * 3,
    "scoring_monitor": lambda answer: monitored(len(answer) - 1),
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
    np.testing.assert_allclose(run_python(code, str(tmp_path / "search")), chosen())


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("ndcg@0", "positive integer, got '0'"),
        ("ndcg@ten", "positive integer, got 'ten'"),
        ("ndcg@5(gian=linear)", "Did you mean 'gain'"),
        ("ndcg@5(gain=lineal)", "Did you mean 'linear'"),
    ],
)
def test_malformed_name_is_explained(name, message):
    with pytest.raises(ValueError, match=message):
        cross_val_score(Ridge(), D.X, D.y, scoring=name, cv=D.folds)
    with pytest.raises(ValueError, match=message):
        GridSearchCV(Ridge(), {"alpha": ALPHAS}, scoring=name, cv=D.folds).fit(D.X, D.y)


@pytest.mark.parametrize("name", ["accurracy", "precison", "mape"])
def test_unknown_name_gets_the_error_of_sklearn(name):
    with pytest.raises(ValueError, match="'scoring' parameter of cross_val_score must be"):
        cross_val_score(Ridge(), D.X, D.y, scoring=name, cv=D.folds)
    with pytest.raises(ValueError, match="is not a valid scoring value"):
        get_scorer(name)


@pytest.mark.parametrize(
    "name", ["average_precision", "accuracy", "precision", "recall", "f1", "r2"]
)
def test_names_of_sklearn_keep_their_meaning(name):
    assert type(get_scorer(name)).__module__.startswith("sklearn.metrics")


@pytest.fixture
def unregistered():
    sklearn_rankscore.unpatch_sklearn()
    yield
    sklearn_rankscore.patch_sklearn()


def test_unregister_restores_sklearn(unregistered):
    from sklearn.metrics import _scorer
    from sklearn.model_selection import _search, _validation
    from sklearn.utils._param_validation import StrOptions

    assert type(_scorer._SCORERS) is dict
    assert "is_satisfied_by" not in vars(StrOptions)
    assert _validation.delayed is _search.delayed is sklearn.utils.parallel.delayed
    with pytest.raises(ValueError, match="must be a str among"):
        cross_val_score(Ridge(), D.X, D.y, scoring=NAME, cv=D.folds)


def test_scorer_works_unregistered(unregistered):
    scorer = sklearn_rankscore.make_ranking_scorer(NAME)
    values = cross_val_score(Ridge(), D.X, D.y, scoring=scorer, cv=D.folds, n_jobs=2)
    np.testing.assert_allclose(values, fold_scores(Ridge()))


def test_scorers_that_others_add_survive_unregister():
    from sklearn.metrics import _scorer

    added, replaced = make_scorer(r2_score), _scorer._SCORERS["explained_variance"]
    _scorer._SCORERS["of_others"] = added
    del _scorer._SCORERS["explained_variance"]
    try:
        sklearn_rankscore.unpatch_sklearn()
        assert get_scorer("of_others") is not None
        assert _scorer._SCORERS["of_others"] is added
        assert "explained_variance" not in _scorer._SCORERS
    finally:
        sklearn_rankscore.patch_sklearn()
        _scorer._SCORERS["explained_variance"] = replaced
        del _scorer._SCORERS["of_others"]
