"""Programs that rank nothing do the same with this package imported as without it."""

import gc
import os
import subprocess
import sys
import weakref
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.inspection import permutation_importance
from sklearn.linear_model import Ridge
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.parallel import Parallel, delayed

import sklearn_rankscore
from sklearn_rankscore import patch_sklearn, unpatch_sklearn

PACKAGE = Path(sklearn_rankscore.__file__).parent

RNG = np.random.RandomState(0)
X, Y, GROUPS = RNG.normal(size=(60, 4)), RNG.normal(size=60), np.repeat(np.arange(6), 10)
INDEXED = pd.DataFrame(X, index=pd.Index(GROUPS, name="qid"), columns=list("abcd"))


class Model(RegressorMixin, BaseEstimator):
    """Predicts the mean, and another number if `fit` is given what only this package would."""

    def __init__(self, steps=5, groups=None):
        self.steps, self.groups = steps, groups

    def fit(self, X, y, groups=None, group=None):
        self.mean_ = np.mean(y) + (groups is not None) + 2 * (group is not None)
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)

    def score(self, X, y, groups=None):
        return -np.mean(np.abs(y - self.mean_)) - 10 * (groups is not None)


class SubgroupRanker(Model):
    """Its name and its optional `group` are those of a ranker; it is none."""

    def fit(self, X, y, group=None):
        return super().fit(X, y, group=group)


class WeightedRidge(Ridge):
    def fit(self, X, y, sample_weight=None):
        assert type(sample_weight) is pd.Index
        return super().fit(X, y, sample_weight)


def source(X):
    raise AssertionError("called by this package")


def validated(model, X=X, **options):
    result = cross_validate(model, X, Y, error_score="raise", **options)
    return {name: list(v) for name, v in result.items() if name.startswith("test_")}


BY_GROUP = {"groups": GROUPS, "cv": GroupKFold(3)}
SEARCH = GridSearchCV(Ridge(), {"alpha": [1, 2]}, cv=3)
CALLS = {
    "a number of steps": lambda: validated(Model(steps=5)),
    "no steps": lambda: validated(Model(steps=())),
    "steps as text": lambda: validated(Model(steps="abc"), scoring="r2"),
    "steps as pairs": lambda: validated(Model(steps=[(1, 2), (3, 4)])),
    "steps in a pipeline": lambda: validated(make_pipeline(StandardScaler(), Model())),
    "steps in a search": lambda: GridSearchCV(Model(), {"steps": [1, 2]}).fit(X, Y).best_score_,
    "score with groups": lambda: validated(Model(), **BY_GROUP),
    "score with groups in a search": lambda: GridSearchCV(Model(), {}).fit(X, Y).best_score_,
    "score with groups of a frame": lambda: validated(Model(), X=INDEXED, **BY_GROUP),
    "a function of its own": lambda: validated(Model(groups=source), X=INDEXED, scoring="r2"),
    "the name of a ranker": lambda: validated(SubgroupRanker(), scoring="r2"),
    "a search in a pipeline": lambda: validated(
        make_pipeline(StandardScaler(), SEARCH), X=INDEXED, **BY_GROUP
    ),
    "an Index of weights": lambda: validated(
        WeightedRidge(), params={"sample_weight": pd.Index(np.linspace(1, 2, 60))}
    ),
}


@contextmanager
def without_hooks():
    unpatch_sklearn()
    try:
        yield
    finally:
        patch_sklearn()


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


@dataclass
class Multiply:
    """A dataclass that compares by value has no hash."""

    factor: int

    def __call__(self, number):
        return self.factor * number


def test_tasks_may_be_unhashable():
    assert Parallel()(delayed(Multiply(2))(number) for number in range(3)) == [0, 2, 4]


class Large:
    def work(self, number):
        return number


def test_bound_methods_are_not_kept_alive():
    large = Large()
    assert Parallel()([delayed(large.work)(1)]) == [1]
    reference = weakref.ref(large)
    del large
    gc.collect()
    assert reference() is None


class DuckTyped:
    """It has what `permutation_importance` asks for and nothing else."""

    def fit(self, X, y):
        return self

    def predict(self, X):
        return X[:, 0]


def test_importance_of_a_duck_typed_model():
    def scoring(model, X, y):
        return -np.abs(model.predict(X) - y).mean()

    with without_hooks():
        expected = permutation_importance(DuckTyped(), X, Y, scoring=scoring, random_state=0)
    measured = permutation_importance(DuckTyped(), X, Y, scoring=scoring, random_state=0)
    np.testing.assert_array_equal(measured.importances, expected.importances)


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


def test_other_tasks_do_not_run_this_package():
    assert calls_of_package(lambda: Parallel()(delayed(abs)(n) for n in range(9))) == []


def test_searches_with_many_groups_hardly_run_this_package():
    groups = np.arange(50_000)
    rows = np.zeros((len(groups), 1))
    search = GridSearchCV(Ridge(), {"alpha": [1, 2]}, cv=GroupKFold(5), scoring="r2", refit=False)
    calls = calls_of_package(lambda: search.fit(rows, rows[:, 0], groups=groups))
    assert len([name for event, name in calls if event == "call"]) <= 30 * 10 + 20
    assert len(calls) <= 80 * 10 + 100


def test_a_class_in_a_module_named_after_optuna_is_none_of_optuna():
    module = ModuleType("optuna_tuner")
    source = """
class Tuner:
    refit = True

    def fit(self, search, *args, **kwargs):
        return search(*args, **kwargs)
"""
    exec(source, vars(module))
    ranker = sklearn_rankscore.QueryRanker(Ridge())
    options = {"scoring": "ndcg@5", "cv": GroupKFold(3), "groups": GROUPS}
    measured = module.Tuner().fit(cross_validate, ranker, X, Y > 0, **options)
    expected = cross_validate(ranker, X, Y > 0, **options)
    assert list(measured["test_score"]) == list(expected["test_score"])


def run(code, *, folder=None, **environment):
    """What a new process prints."""
    path = [str(folder)] if folder else []
    environment["PYTHONPATH"] = os.pathsep.join([*path, str(PACKAGE.parent)])
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


IMPORTS = """
import copy, copyreg, gc, io, locale, logging, os, pickle, random, signal, sys, threading, warnings
import joblib, numpy as np, scipy, sklearn, sklearn.metrics, sklearn.model_selection
import sklearn.feature_selection, sklearn.inspection, sklearn.pipeline, sklearn.utils.parallel
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import _scorer, check_scoring, get_scorer, get_scorer_names, make_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.utils.parallel import Parallel, delayed

def error(function, *args, **kwargs):
    try:
        return function(*args, **kwargs)
    except Exception as error:
        return type(error).__name__, str(error)

def search():
    return GridSearchCV(Ridge(), {"alpha": [1, 2]}, scoring="r2", cv=GroupKFold(3))

TASK = delayed(abs)(1)
np.random.seed(0)
random.seed(0)
"""
# of each, a process that has imported this package has the same as one that has not
FACTS = {
    "the names of scorers": "get_scorer_names()",
    "the table when iterated": "list(_scorer._SCORERS), len(_scorer._SCORERS)",
    "the items of the table": "[(k, repr(v)) for k, v in _scorer._SCORERS.items()]",
    "the pickled table": "pickle.dumps(dict(_scorer._SCORERS))",
    "the names in a pickle of the table": "b'rankscore' in pickle.dumps(_scorer._SCORERS)",
    "a copy of the table": "sorted(copy.copy(_scorer._SCORERS)), len(dict(_scorer._SCORERS))",
    "a merged table": "sorted(_scorer._SCORERS | {'mine': 1})",
    "the name of an unknown scorer": "error(get_scorer, 'no such scorer')",
    "an unknown scorer of a search": "error(check_scoring, Ridge(), scoring='no such scorer')",
    "the call of Parallel": "Parallel.__call__.__code__.co_filename",
    "attributes of Parallel": "sorted(vars(Parallel)), sorted(vars(Parallel.__call__))",
    "a task": "sorted(vars(TASK[0])), pickle.dumps(TASK)",
    "a task that was run": "Parallel()([TASK]), sorted(vars(TASK[0]))",
    "the pickle of a search": "pickle.dumps(search()), joblib.hash(search())",
    "a clone of a search": "pickle.dumps(clone(search()))",
    "the pickle of a scorer": "pickle.dumps(get_scorer('r2')), repr(make_scorer(abs))",
    "the defaults of estimators": "repr(sklearn.get_config()), repr(LogisticRegression())",
    "filters of warnings": "warnings.filters",
    "what prints a warning": "warnings.showwarning.__module__, warnings.formatwarning.__module__",
    "errors of NumPy": "np.geterr(), np.get_printoptions(), repr(np.geterrcall())",
    "random numbers": "np.random.random(), random.random()",
    "logging": "logging.root.level, logging.root.handlers, sorted(logging.root.manager.loggerDict)",
    "the environment": "sorted(os.environ.items())",
    "paths and hooks of imports": "sys.path, len(sys.path_hooks), list(map(type, sys.meta_path))",
    "hooks of the interpreter": "sys.excepthook.__name__, sys.displayhook.__name__",
    "traces": "sys.gettrace(), sys.getprofile(), gc.callbacks, gc.isenabled(), gc.get_threshold()",
    "the limit of recursion": "sys.getrecursionlimit()",
    "signals": "[str(signal.getsignal(s)) for s in sorted(signal.valid_signals())]",
    "threads": "threading.active_count()",
    "the locale": "locale.setlocale(locale.LC_ALL)",
    "reducers of pickle": "sorted(map(repr, copyreg.dispatch_table))",
    "warm libraries": "[m for m in ('pandas polars pyarrow matplotlib lightgbm xgboost catboost '"
    "'optuna torch dask pyspark duckdb tqdm').split() if m in sys.modules]",
}


@cache
def facts(statement):
    lines = [f"print(ascii(({expression})))" for expression in FACTS.values()]
    return run("\n".join([IMPORTS, statement, *lines]), PYTHONHASHSEED="0").splitlines()


@pytest.mark.parametrize("name", FACTS)
def test_same_state_of_the_process(name):
    place = list(FACTS).index(name)
    measured, expected = facts("import sklearn_rankscore"), facts("")
    assert len(measured) == len(expected) == len(FACTS)
    assert measured[place] == expected[place]


def test_the_import_asks_other_modules_nothing():
    """A lazy module loads itself when it is asked for an attribute."""
    code = f"""{IMPORTS}
from types import ModuleType
asked = []

class Lazy(ModuleType):
    def __getattribute__(self, name):
        frame = sys._getframe(1)
        if "sklearn_rankscore" in str(frame.f_globals.get("__name__")):
            asked.append(name)
        return super().__getattribute__(name)

sys.modules["lazy"] = Lazy("lazy")
import sklearn_rankscore
sklearn_rankscore.unpatch_sklearn()
sklearn_rankscore.patch_sklearn()
print(asked)
"""
    assert run(code) == "[]\n"


class Unloaded(ModuleType):
    def __getattr__(self, name):
        of_library = name == "mean"
        raise (ImportError if of_library else AttributeError)(name)


unloaded = Unloaded("unloaded")


def accuracy_within_one(y, predicted):
    close = np.abs(y - predicted) < 1
    return unloaded.mean(close) if np.ndim(close) > 1 else close.mean()


def test_a_metric_of_the_user_may_name_a_module_that_does_not_load():
    scores = cross_val_score(Ridge(), X, Y, scoring=make_scorer(accuracy_within_one))
    assert (scores > 0).all()


# a process for tasks finds no package, or one that cannot be imported
SITE = """
import os, sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "sklearn_rankscore":
            if os.environ["REFUSE"] == "broken":
                raise RuntimeError("cannot be imported here")
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

if "REFUSE" in os.environ:
    sys.meta_path.insert(0, Refuse())
"""
WORK = {
    "tasks": "print(Parallel(2)(delayed(abs)(-n) for n in range(4)))",
    "a search": "print(len(search().set_params(cv=3, n_jobs=2).fit(X, y).cv_results_['params']))",
    "a search with groups": "print("
    "search().set_params(n_jobs=2).fit(X, y, groups=ids).best_score_)",
    "a permutation test": "print(sklearn.model_selection.permutation_test_score("
    "Ridge(), X, y, groups=ids, cv=GroupKFold(3), n_permutations=4, n_jobs=2)[2])",
}


@pytest.mark.parametrize("name", WORK)
@pytest.mark.parametrize("fault", ["absent", "broken"])
def test_processes_without_the_package_work(tmp_path, fault, name):
    (tmp_path / "sitecustomize.py").write_text(SITE)
    code = f"""{IMPORTS}
import sklearn_rankscore
os.environ["REFUSE"] = {fault!r}
X = np.random.RandomState(0).normal(size=(60, 4))
y, ids = X[:, 0], np.repeat(np.arange(6), 10)
{WORK[name]}
"""
    assert run(code, folder=tmp_path).strip()
