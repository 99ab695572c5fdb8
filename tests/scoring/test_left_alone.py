"""Programs that rank nothing do the same with this package imported as without it."""

import os
import pickle
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config, register_parallel_backend
from joblib._parallel_backends import ThreadingBackend
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import Ridge
from sklearn.metrics import _scorer, get_scorer, make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    cross_val_score,
    cross_validate,
    permutation_test_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import _param_validation
from sklearn.utils.parallel import delayed

import sklearn_rankscore as rs
from sklearn_rankscore.scoring import register

PACKAGE = Path(rs.__file__).parent

RNG = np.random.RandomState(0)
X, Y, GROUPS = RNG.normal(size=(60, 4)), RNG.normal(size=60), np.repeat(np.arange(6), 10)
INDEXED = pd.DataFrame(X, index=pd.Index(GROUPS, name="qid"), columns=list("abcd"))


class Model(RegressorMixin, BaseEstimator):
    """Predicts the mean, and another number if `fit` is given what only this package would."""

    def __init__(self, groups=None):
        self.groups = groups

    def fit(self, X, y, groups=None, group=None):
        self.mean_ = np.mean(y) + (groups is not None) + 2 * (group is not None)
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)

    def score(self, X, y, groups=None):
        return -np.mean(np.abs(y - self.mean_)) - 10 * (groups is not None)


class Unloaded(ModuleType):
    """A module that is loaded when it is asked for an attribute, which fails."""

    def __getattr__(self, name):
        raise (ImportError if name == "mean" else AttributeError)(name)


unloaded = Unloaded("unloaded")


def accuracy_within_one(y, predicted):
    close = np.abs(y - predicted) < 1
    return unloaded.mean(close) if np.ndim(close) > 1 else close.mean()


def source(X):
    raise AssertionError("called by this package")


def validated(model, X=X, **options):
    result = cross_validate(model, X, Y, error_score="raise", **options)
    return {name: list(v) for name, v in result.items() if name.startswith("test_")}


BY_GROUP = {"groups": GROUPS, "cv": GroupKFold(3)}
SEARCH = GridSearchCV(Ridge(), {"alpha": [1, 2]}, cv=3)
CALLS = {
    "score with groups": lambda: validated(Model(), **BY_GROUP),
    "score with groups of a frame": lambda: validated(Model(), X=INDEXED, **BY_GROUP),
    "a function of its own": lambda: validated(Model(groups=source), X=INDEXED, scoring="r2"),
    "a search in a pipeline": lambda: validated(
        make_pipeline(StandardScaler(), SEARCH), X=INDEXED, **BY_GROUP
    ),
    "a metric that names a lazy module": lambda: validated(
        Ridge(), scoring=make_scorer(accuracy_within_one)
    ),
}


@contextmanager
def without_hooks():
    rs.unpatch_sklearn()
    try:
        yield
    finally:
        rs.patch_sklearn()


@pytest.mark.parametrize("name", CALLS)
def test_same_results(name):
    with without_hooks():
        expected = CALLS[name]()
    assert CALLS[name]() == expected


@pytest.mark.filterwarnings("ignore:Scoring failed:UserWarning", "ignore:.*fits failed")
def test_same_error_of_an_inner_search():
    """Its metric is refused where scikit-learn refuses it, in the fit of a candidate."""
    model = GridSearchCV(Ridge(), {}, scoring="no such scorer")
    with pytest.raises(ValueError, match=r"(?s)All the 3 fits failed.*parameter of GridSearchCV"):
        cross_validate(model, X, Y, **BY_GROUP)


def calls_of_package(function):
    """The functions of this package that run, and the functions in C that these call."""
    calls, inside = [], f"{PACKAGE}{os.sep}"

    def note(frame, event, _):
        if event in ("call", "c_call") and frame.f_code.co_filename.startswith(inside):
            calls.append((event, frame.f_code.co_qualname))

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        function()
    finally:
        sys.setprofile(before)
    return calls


def test_searches_with_many_groups_hardly_run_this_package():
    groups = np.arange(50_000)
    rows = np.zeros((len(groups), 1))
    search = GridSearchCV(Ridge(), {"alpha": [1, 2]}, cv=GroupKFold(5), scoring="r2", refit=False)
    calls = calls_of_package(lambda: search.fit(rows, rows[:, 0], groups=groups))
    assert len([name for event, name in calls if event == "call"]) <= 30 * 10 + 20
    assert len(calls) <= 80 * 10 + 100


TASKS_OF = [sys.modules[f"sklearn.model_selection.{name}"] for name in ("_search", "_validation")]


def test_unpatched_scikit_learn_is_as_it_was():
    scorer, data = rs.make_ranking_scorer("ndcg@3"), (Ridge(), INDEXED, Y > 0)
    _scorer._SCORERS["of_others"] = scorer
    with without_hooks():
        assert type(_scorer._SCORERS) is dict
        assert _scorer._SCORERS.pop("of_others") is scorer  # which was added meanwhile
        assert "is_satisfied_by" not in vars(_param_validation.StrOptions)
        assert {module.delayed for module in TASKS_OF} == {delayed}
        with pytest.raises(ValueError, match="must be a str among"):
            cross_val_score(*data, scoring="ndcg@3")
        values = cross_val_score(*data, scoring=scorer, **BY_GROUP)
    by_name = cross_val_score(*data, scoring="ndcg@3", **BY_GROUP)
    np.testing.assert_array_equal(values, by_name)


@pytest.mark.parametrize("place", range(3))
def test_a_private_name_that_scikit_learn_removes_costs_the_strings(place, monkeypatch):
    places = list(register.patched_places())
    places[place] = [SimpleNamespace()] if place == 2 else SimpleNamespace()
    ranker, scorer = rs.QueryRanker(Ridge()), rs.make_ranking_scorer("ndcg@3")
    with without_hooks():
        expected = cross_val_score(ranker, INDEXED, Y > 0, scoring=scorer, **BY_GROUP)
        monkeypatch.setattr(register, "patched_places", lambda: places)
        with pytest.warns(RuntimeWarning, match=r"make_ranking_scorer\('ndcg@10'\)") as caught:
            rs.patch_sklearn()
        assert caught[0].filename == __file__
        with pytest.raises(ValueError, match="ndcg@3"):
            get_scorer("ndcg@3")
        values = cross_val_score(ranker, INDEXED, Y > 0, scoring=scorer, **BY_GROUP)
        np.testing.assert_array_equal(values, expected)
        monkeypatch.undo()
    assert get_scorer("ndcg@3").name == "ndcg@3"
    assert "ndcg@3" in _scorer._SCORERS


IMPORTS = """
import copy, pickle, random, warnings
import joblib, numpy as np, sklearn
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import _scorer, check_scoring, get_scorer, get_scorer_names, make_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold

def error(function, *args, **kwargs):
    try:
        return function(*args, **kwargs)
    except Exception as error:
        return type(error).__name__, str(error)

def search():
    return GridSearchCV(Ridge(), {"alpha": [1, 2]}, scoring="r2", cv=GroupKFold(3))

np.random.seed(0)
random.seed(0)
"""
IMPORT = """
import sklearn_rankscore
sklearn_rankscore.unpatch_sklearn()
sklearn_rankscore.patch_sklearn()
"""
# of each, a process that has imported this package has the same as one that has not
FACTS = [
    "get_scorer_names()",
    "list(_scorer._SCORERS), len(_scorer._SCORERS), len(dict(_scorer._SCORERS))",
    "'r2' in _scorer._SCORERS, 'no such scorer' in _scorer._SCORERS, _scorer._SCORERS.get('no')",
    "[(name, repr(scorer)) for name, scorer in _scorer._SCORERS.items()]",
    "pickle.dumps(dict(_scorer._SCORERS)), b'rankscore' in pickle.dumps(_scorer._SCORERS)",
    "sorted(copy.copy(_scorer._SCORERS)), sorted(_scorer._SCORERS | {'mine': 1})",
    "error(get_scorer, 'no such scorer'), error(check_scoring, Ridge(), scoring='no such scorer')",
    "pickle.dumps(search()), joblib.hash(search()), pickle.dumps(clone(search()))",
    "pickle.dumps(get_scorer('r2')), repr(make_scorer(abs))",
    "repr(sklearn.get_config()), repr(LogisticRegression())",
    "warnings.filters, warnings.showwarning.__module__, warnings.formatwarning.__module__",
    "np.geterr(), np.get_printoptions(), repr(np.geterrcall())",
    "np.random.random(), random.random()",
]


def facts(statement):
    lines = [f"print(ascii(({expression})))" for expression in FACTS]
    command = [sys.executable, "-c", "\n".join([IMPORTS, statement, *lines])]
    path = os.pathsep.join([str(PACKAGE.parent), *sys.path])
    environment = os.environ | {"PYTHONPATH": path, "PYTHONHASHSEED": "0"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    return dict(zip(FACTS, done.stdout.splitlines(), strict=True))


@pytest.mark.slow
def test_same_state_of_the_process():
    assert facts(IMPORT) == facts("")


class Pickling(ThreadingBackend):
    """Pickles tasks as a backend of processes does, and runs them in threads."""

    pickled: ClassVar = []

    def submit(self, func, callback=None):
        self.pickled.append(pickle.dumps(func))
        return super().submit(func, callback)

    apply_async = submit  # as it is named before joblib 1.5


def test_tasks_of_others_need_no_package_in_their_processes():
    register_parallel_backend("pickling", Pickling)
    two = {"n_jobs": 2, "groups": GROUPS, "cv": GroupKFold(3)}

    def pickled(call):
        Pickling.pickled.clear()
        with parallel_config("pickling"):
            call()
        return b"rankscore" in b"".join(Pickling.pickled), len(Pickling.pickled)

    search = GridSearchCV(Ridge(), {"alpha": [1, 2]}, scoring="r2", n_jobs=2, cv=GroupKFold(3))
    for call in (
        lambda: search.fit(X, Y, groups=GROUPS),
        lambda: permutation_test_score(Ridge(), X, Y, n_permutations=2, **two),
    ):
        assert pickled(call)[0] is False
        assert pickled(call)[1] > 1
    # which are those of ranking metrics, and those of a search inside that names one
    inner = GridSearchCV(Ridge(), {}, scoring="ndcg", cv=GroupKFold(2))
    assert pickled(lambda: cross_val_score(Ridge(), X, Y > 0, scoring="ndcg", **two))[0]
    assert pickled(lambda: cross_val_score(inner, X, Y > 0, scoring="r2", **two))[0]
