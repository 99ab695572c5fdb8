"""A private name that scikit-learn removes costs the strings at most."""

import json
import subprocess
import sys
from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from scipy.sparse import csr_array
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _check_method_params, _num_samples

from sklearn_rankscore import _sklearn_compat as compat

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
def other_base_of_scorers():
    class Scorer:
        pass

    make_scorer, sklearn.metrics.make_scorer = sklearn.metrics.make_scorer, lambda f: Scorer()
    yield
    sklearn.metrics.make_scorer = make_scorer

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
    weight = {"sample_weight": 1.0 + np.asarray(X["qid"]) % 3}
    cv, scorer = rs.QueryKFold(3), rs.make_ranking_scorer("ndcg@10")
    ranker = rs.QueryRanker(Ridge(), max_queries=15, random_state=0).fit(X, y, **weight)
    try:
        strings = get_scorer("ndcg@10") is not None
    except ValueError:
        strings = False
    values = [
        [test.tolist() for _, test in cv.split(X, y)],
        [len(half) for half in rs.query_train_test_split(X, y, random_state=0)],
        ranker.predict(X).tolist(),
        scorer(ranker, X, y),
        cross_val_score(ranker, X, y, scoring=scorer, cv=cv).tolist(),
        rs.cross_val_query_scores(ranker, X, y, metrics="map", cv=cv, **weight).mean(),
    ]
    rs.unpatch_sklearn()
    for name in [name for name in sys.modules if name.startswith("sklearn_rankscore")]:
        del sys.modules[name]
    return [strings, [str(w.message) for w in caught], values]

for change in CHANGES:
    with eval(change):
        print(json.dumps(use()))
"""

PRIVATE_NAMES = {  # and whether strings work without
    "sklearn.utils:_safe_indexing": True,
    "sklearn.utils.validation:_num_samples": True,
    "sklearn.utils.validation:_check_method_params": True,
    "sklearn.utils.parallel:Parallel": True,
    "sklearn.utils._param_validation:StrOptions": False,
    "sklearn.metrics._scorer:_SCORERS": False,
}
CHANGES = {name: "hidden({!r}, {!r})".format(*name.split(":")) for name in PRIVATE_NAMES}
CHANGES |= {name: f"{name}()" for name in ("other_base_of_scorers", "unchanged")}


@cache
def results():
    """Whether strings work, the warnings, and values, for each change to scikit-learn."""
    code = f"CHANGES = {list(CHANGES.values())}\n{PROCESS}"
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert process.returncode == 0, process.stderr
    return dict(zip(CHANGES, map(json.loads, process.stdout.splitlines()), strict=True))


@pytest.mark.parametrize("name", CHANGES)
def test_without_a_private_name(name):
    works, messages, values = results()[name]
    assert values == results()["unchanged"][-1]
    if name != "other_base_of_scorers":
        assert works is PRIVATE_NAMES.get(name, True)
    assert len(messages) == (not PRIVATE_NAMES.get(name, True)), messages
    assert all("make_ranking_scorer('ndcg@10')" in message for message in messages)


TABLE = np.arange(10.0).reshape(5, 2)
FRAME = pd.DataFrame(TABLE, columns=["a", "b"], index=list("vwxyz"))
DATA = [TABLE, TABLE[:, 0], csr_array(TABLE), list("abcde"), TABLE.tolist(), FRAME, FRAME["a"],
        pl.from_pandas(FRAME), pl.Series(TABLE[:, 0])]  # fmt: skip
if not sklearn.__version__.startswith("1.6."):  # it takes no rows of pyarrow
    DATA += [pa.Table.from_pandas(FRAME), pa.chunked_array([TABLE[:, 0]])]
ROWS = [np.array([3, 0, 0]), np.array([], dtype=int), np.arange(5) % 2 == 0, slice(1, 4), None]


def plain(data):
    index = list(data.index) if hasattr(data, "iloc") else None
    for convert in ("toarray", "to_pandas"):
        data = getattr(data, convert, lambda data=data: data)()
    return type(data), np.asarray(data).tolist(), index


@pytest.mark.parametrize("rows", ROWS, ids=lambda rows: type(rows).__name__)
@pytest.mark.parametrize("data", DATA, ids=lambda data: type(data).__name__)
def test_fallbacks_equal_the_private_functions(data, rows):
    assert plain(compat._take_rows(data, rows)) == plain(_safe_indexing(data, rows))
    assert compat._count_rows(data) == _num_samples(data)
    params = {"aligned": data, "short": [1, 2], "number": 3, "none": None, "word": "w"}
    taken = compat._take_rows_of_params(TABLE, params, indices=rows)
    expected = _check_method_params(TABLE, params, indices=rows)
    assert plain(taken.pop("aligned")) == plain(expected.pop("aligned"))
    assert taken == expected
