"""A private name that scikit-learn removes costs the strings at most."""

import json
import subprocess
import sys

import pytest

# In a process of its own: the package is imported anew for each change to scikit-learn, which
# takes a tenth of the time of a new process for each.
PROCESS = """
import importlib, json, sys, types, warnings
from contextlib import contextmanager

import numpy as np
import sklearn.metrics
from sklearn.linear_model import Ridge
from sklearn.metrics import get_scorer
from sklearn.model_selection import cross_val_score

class Hiding(types.ModuleType):
    def __getattribute__(self, name):
        # from us alone: scikit-learn of today still uses it
        if name == HIDDEN and "sklearn_rankscore" in sys._getframe(1).f_globals["__name__"]:
            raise AttributeError(name)
        return super().__getattribute__(name)

@contextmanager
def hidden(module, name):
    global HIDDEN
    module, HIDDEN = importlib.import_module(module), name
    module.__class__ = Hiding
    yield
    module.__class__ = types.ModuleType

@contextmanager
def unchanged():
    yield

def use():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        import sklearn_rankscore as rs

    X, y = rs.make_ranking(n_queries=20, as_frame=True, random_state=0)
    order = np.random.default_rng(0).permutation(len(y))
    X, y = X.iloc[order], np.asarray(y)[order]
    weight = 1.0 + np.asarray(X["qid"]) % 3
    cv, scorer = rs.QueryKFold(3), rs.make_ranking_scorer("ndcg@10")
    ranker = rs.QueryRanker(Ridge(), max_queries=15, random_state=0)
    ranker.fit(X, y, sample_weight=weight)
    halves = rs.query_train_test_split(X, y, random_state=0)
    per_query = rs.cross_val_query_scores(
        ranker, X, y, metrics="map", cv=cv, sample_weight=weight
    )
    try:
        get_scorer("ndcg@10")
        strings = True
    except ValueError:
        strings = False
    values = [
        rs.ndcg_score(y, X.iloc[:, 1], groups=X["qid"]),
        [test.tolist() for _, test in cv.split(X, y)],
        [len(half) for half in halves],
        ranker.predict(X).tolist(),
        scorer(ranker, X, y),
        cross_val_score(ranker, X, y, scoring=scorer, cv=cv).tolist(),
        per_query.mean(),
    ]
    rs.unpatch_sklearn()
    for name in [name for name in sys.modules if name.startswith("sklearn_rankscore")]:
        del sys.modules[name]
    return [strings, [str(w.message) for w in caught], values]

for change in CHANGES:
    with eval(change):
        print(json.dumps(use()))
"""

PRIVATE_NAMES = [
    "sklearn.utils._param_validation:StrOptions",
    "sklearn.metrics._scorer:_SCORERS",
]


@pytest.fixture(scope="module")
def results():
    """Whether strings work, the warnings, and values, for each change to scikit-learn."""
    changes = {name: "hidden({!r}, {!r})".format(*name.split(":")) for name in PRIVATE_NAMES}
    changes["unchanged"] = "unchanged()"
    process = subprocess.run(
        [sys.executable, "-c", f"CHANGES = {list(changes.values())}\n{PROCESS}"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert process.returncode == 0, process.stderr
    lines = [json.loads(line) for line in process.stdout.splitlines()]
    return dict(zip(changes, lines, strict=True))


@pytest.mark.parametrize("name", PRIVATE_NAMES)
def test_without_a_private_name(name, results):
    works, (message,), values = results[name]
    assert not works
    assert "make_ranking_scorer('ndcg@10')" in message
    assert values == results["unchanged"][-1]


def test_unchanged(results):
    strings, messages, _ = results["unchanged"]
    assert strings
    assert not messages
