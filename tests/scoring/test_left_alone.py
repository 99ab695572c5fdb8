"""Programs that rank nothing do the same with this package imported as without it."""

from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_rankscore.scoring.registration import register, unregister

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
    unregister()
    try:
        yield
    finally:
        register()


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
