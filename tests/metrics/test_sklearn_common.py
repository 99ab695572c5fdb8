"""scikit-learn's common tests of metrics, applied to ours where they apply to its NDCG."""

import functools
import inspect
import itertools
import warnings

import numpy as np
import pytest
import sklearn.metrics

from sklearn_rankscore.metrics.names import METRICS

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import sklearn.metrics.tests.test_common as common

NDCG = ("ndcg_score", sklearn.metrics.ndcg_score)
# a mean of nan could not be compared, nor would it change with weights
OPTIONS = {name: {"replace_undefined_by": 0.0} for name in METRICS}
OPTIONS |= {name: {"k": 3} for name in ("recall", "hit_rate")}  # without a cut-off they are 1
# infinite scores are allowed: ranked first, or not retrieved
ALLOWED = {"y_score": lambda value: not np.isnan(value).any()}


def is_ndcg(value):
    return any(value is one or (isinstance(value, str) and value == one) for one in NDCG)


def parametrized(test):
    """All calls of a test that have NDCG as their metric."""
    sets = []
    for mark in getattr(test, "pytestmark", ()):
        if mark.name == "parametrize":
            names = [name.strip() for name in mark.args[0].split(",")]
            rows = [
                value.values if isinstance(value, type(pytest.param())) else value
                for value in mark.args[1]
            ]
            rows = [row if len(names) > 1 else (row,) for row in rows]
            sets.append([dict(zip(names, row, strict=True)) for row in rows])
    for parts in itertools.product(*sets) if sets else ():
        call = {name: value for part in parts for name, value in part.items()}
        if any(map(is_ndcg, call.values())):
            yield call


def calls():
    for name, test in vars(common).items():
        if name.startswith("test_") and inspect.isfunction(test):
            for call in parametrized(test):
                allowed = [n for n, accept in ALLOWED.items() if n in call and accept(call[n])]
                if not allowed:
                    yield pytest.param(test, call, id=f"{name[5:]}-{len(call)}")


CALLS = list(calls())
TABLES = [
    "ALL_METRICS",
    "CONTINUOUS_CLASSIFICATION_METRICS",
    "CONTINUOUS_MULTILABEL_METRICS",
    "METRIC_UNDEFINED_BINARY",
    "METRIC_UNDEFINED_BINARY_MULTICLASS",
    "THRESHOLDED_METRICS",
    "THRESHOLDED_MULTILABEL_METRICS",
]


# the share of judged documents is 1 in all data of these tests, with any weights
@pytest.mark.parametrize("metric", [name for name in METRICS if name != "judged"])
@pytest.mark.parametrize(("test", "call"), CALLS)
def test_as_for_ndcg(test, call, metric, monkeypatch):
    ours = functools.partial(METRICS[metric].function, **OPTIONS[metric])
    for table in TABLES:
        known = getattr(common, table, None)
        if isinstance(known, dict):
            monkeypatch.setitem(known, metric, ours)
        elif known is not None:
            monkeypatch.setattr(common, table, {*known, metric})
    stand_in = {"ndcg_score": metric, sklearn.metrics.ndcg_score: ours}
    test(**{name: stand_in[v] if is_ndcg(v) else v for name, v in call.items()})


def test_there_are_tests():
    names = {param.id.split("-")[0] for param in CALLS}
    assert len(names) >= 5, names
