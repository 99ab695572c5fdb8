"""Accumulators merge if they compute the same, in whichever process they were created."""

import abc
import importlib
import inspect
import json
import math
import os
import re
import subprocess
import sys
from functools import cached_property, lru_cache, partial

import numpy as np
import pandas as pd
import pytest

from sklearn_rankscore import RankingAccumulator, evaluate, evaluate_parquet, ndcg_score
from sklearn_rankscore.streaming.fingerprint import fingerprint, is_portable

FIRST = [2, 0, 1], [0.1, 0.3, 0.2], ["a", "a", "b"]
SECOND = [0, 1, 0], [0.1, 0.3, 0.2], ["c", "c", "d"]
BOTH = [x + y for x, y in zip(FIRST, SECOND, strict=True)]


def squared(labels):
    return labels**2


@pytest.mark.parametrize(
    ("metric", "options"),
    [
        ("ndcg@2", {"replace_undefined_by": math.nan}),
        ("ndcg@2", {"gain": squared}),
        ("ndcg@2", {"gain": [0, 1, 5]}),
        (partial(ndcg_score, gain=squared), {}),
        ("precision", {"threshold": np.float64(0)}),
    ],
)
def test_equal_options_merge(metric, options):
    one, two = (RankingAccumulator(metric, **options) for _ in range(2))
    merged = one.update(*FIRST).merge(two.update(*SECOND)).scores()
    assert merged == pytest.approx(evaluate(*BOTH[:2], metric, groups=BOTH[2], **options))


def test_options_that_are_written_differently_merge():
    one = RankingAccumulator("ndcg@2", gain=np.array([0.0, 1.0, 5.0])).update(*FIRST)
    one.merge(RankingAccumulator("ndcg@2", gain=[0, 1, 5]).update(*SECOND))
    assert one.n_documents == 6


def scaled(factor):
    return lambda labels: labels * factor


LIMIT = 3


def limited(labels):
    return np.minimum(labels, LIMIT)


def with_helper(labels):
    return squared(labels)


def in_memory_of(labels, memory={}):  # noqa: B006
    return labels + len(memory)


class Power:
    def __init__(self, exponent):
        self.exponent = exponent

    def __call__(self, labels):
        return labels**self.exponent


class Fancy(abc.ABC):  # noqa: B024
    __slots__ = ("__dict__", "exponent")

    def __init__(self, exponent):
        self.exponent = exponent

    @property
    def half(self):
        return self.exponent / 2

    @cached_property
    def double(self):
        return self.exponent * 2

    @staticmethod
    def power(labels, exponent):
        return labels**exponent

    def __call__(self, labels):
        return self.power(labels, self.half)


def variant(function, old, new):
    """The function of this module after an edit of its source."""
    code = inspect.getsource(inspect.getmodule(function)).replace(old, new)
    names = {"__name__": function.__module__, "__file__": __file__}
    exec(compile(code, "elsewhere.py", "exec"), names)
    return names[function.__name__]


@pytest.mark.parametrize(
    ("function", "old", "new"),
    [
        (squared, "return labels**2", "return labels**3"),
        (limited, "LIMIT = 3", "LIMIT = 4"),
        (with_helper, "return labels**2", "return labels**3"),
        (in_memory_of, "memory={}", "memory={1: 2}"),
        (Power, "labels**self.exponent", "labels*self.exponent"),
        (Fancy, "self.exponent / 2", "self.exponent / 3"),
        (Fancy, "self.exponent * 2", "self.exponent * 3"),
    ],
)
def test_an_edited_function_is_another_one(function, old, new):
    assert fingerprint(variant(function, "nothing", "")) == fingerprint(function)
    assert fingerprint(variant(function, old, new)) != fingerprint(function)
    one, two = (RankingAccumulator("ndcg", gain=f) for f in (function, variant(function, old, new)))
    with pytest.raises(ValueError, match="the same; got ndcg"):
        one.merge(two)


HELPERS = """
def helper(labels):
    return labels * FACTOR

FACTOR = 1
"""
METRIC = """
import helpers_of_a_metric
import numpy as np
from helpers_of_a_metric import helper

class Scaled:
    def __call__(self, labels):
        return helper(labels)

def by_name(labels):
    return np.minimum(helper(labels), 4)

def by_module(labels):
    return (lambda: helpers_of_a_metric.helper(labels))()

scaled = Scaled()
"""


def fingerprints_in(folder, helpers):
    """The fingerprints of functions that call those of another module of the user."""
    folder.mkdir()
    (folder / "helpers_of_a_metric.py").write_text(helpers)
    (folder / "metric_with_helpers.py").write_text(METRIC)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        module = importlib.import_module("metric_with_helpers")
        functions = module.by_name, module.by_module, module.scaled
        prints = [fingerprint(f) for f in (*functions, partial(ndcg_score, gain=module.helper))]
        for name in ("metric_with_helpers", "helpers_of_a_metric"):
            del sys.modules[name]
    return prints


def test_functions_of_other_modules_of_the_user_are_part_of_a_function(tmp_path):
    first = fingerprints_in(tmp_path / "first", HELPERS)
    assert fingerprints_in(tmp_path / "moved", HELPERS + "UNUSED = 1\n") == first
    for i, (old, new) in enumerate([("labels *", "labels +"), ("FACTOR = 1", "FACTOR = 2")]):
        edited = fingerprints_in(tmp_path / str(i), HELPERS.replace(old, new))
        assert all(a != b for a, b in zip(first, edited, strict=True))
    (tmp_path / "library").mkdir()
    installed = fingerprints_in(tmp_path / "library" / "site-packages", HELPERS)
    assert installed == fingerprints_in(tmp_path / "site-packages", HELPERS.replace("1", "2"))


@pytest.mark.parametrize(
    ("same", "other"),
    [
        ((scaled(2), scaled(2)), scaled(3)),
        ((Power(2), Power(2)), Power(3)),
        ((Fancy(2), Fancy(2)), Fancy(3)),
        ((Power(2).__call__, Power(2).__call__), Power(3).__call__),
        ((partial(pow, 2), partial(pow, 2)), partial(pow, 3)),
        ((partial(pow, exp=2), partial(pow, exp=2)), partial(pow, exp=3)),
        ((lambda x, y=1: x, lambda x, y=1: x), lambda x, y=2: x),
        ((lambda x, *, y=1: x, lambda x, *, y=1: x), lambda x, *, y=2: x),
        ((lambda x: x in {1, 2}, lambda x: x in {1, 2}), lambda x: x in {1, 3}),
        ((frozenset([0, 8]), frozenset([8, 0])), frozenset([0, 9])),
        ((lambda x: (lambda: 1)(), lambda x: (lambda: 1)()), lambda x: (lambda: 2)()),
        ((lru_cache(scaled(2)), lru_cache(scaled(2))), lru_cache(scaled(3))),
        ((np.sqrt, np.sqrt), np.cbrt),
        ((math.nan, float("nan")), 0.5),
        ((np.arange(3), np.arange(3)), np.arange(4)),
        ((np.array(["a", None]), np.array(["a", None])), np.array(["b", None])),
        ((pd.Timestamp("2020-01-01"), pd.Timestamp("2020-01-01")), pd.Timestamp("2021-01-01")),
        (({"a": 1, "b": 2}, {"b": 2, "a": 1}), {"a": 1, "b": 3}),
        ((1, 1), True),
    ],
)
def test_values_are_compared_by_what_they_are(same, other):
    assert fingerprint(same[0]) == fingerprint(same[1])
    assert fingerprint(same[0]) != fingerprint(other)
    assert is_portable(fingerprint(other))


def test_functions_that_call_themselves_end():
    def factorial(n):
        return 1 if n < 2 else n * factorial(n - 1)

    def sum_to(n):
        return 1 if n < 2 else n + sum_to(n - 1)

    assert fingerprint(factorial) != fingerprint(sum_to)


def test_what_cannot_be_pickled_is_compared_by_identity():
    first, second = ((generator for generator in ()) for _ in range(2))
    assert fingerprint(first) == fingerprint(first) != fingerprint(second)
    assert not is_portable(fingerprint([first]))


PRINTED = """
import json, runpy, sys
names = runpy.run_path(sys.argv[1], run_name=sys.argv[2])
from sklearn_rankscore.streaming.fingerprint import fingerprint
values = [names["squared"], names["limited"], names["with_helper"], names["scaled"](2),
          names["Power"](2), {"a", "b", "c"}]
print(json.dumps([fingerprint(value) for value in values]))
"""


@pytest.mark.parametrize("name", [__name__, "another_name"])
def test_a_new_process_has_the_same_fingerprints(name):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    command = [sys.executable, "-c", PRINTED, __file__, name]
    printed = subprocess.run(command, env=environment, capture_output=True, check=True).stdout
    here = [squared, limited, with_helper, scaled(2), Power(2), {"a", "b", "c"}]
    assert json.loads(printed) == [fingerprint(value) for value in here]


def test_an_accumulator_is_not_merged_with_itself():
    accumulator = RankingAccumulator("mrr").update(*FIRST)
    with pytest.raises(ValueError, match="merged with itself"):
        accumulator.merge(accumulator)
    assert accumulator.n_documents == 3


def first_only(offset):
    def metric(block):
        return np.full(len(block.sizes), float(offset))

    return metric


def test_different_functions_of_one_name_are_refused():
    one, two = (RankingAccumulator(first_only(offset)).update(*FIRST) for offset in (0, 1))
    with pytest.raises(ValueError, match="two different functions are called 'metric'"):
        one.merge(two)
    assert one.merge(RankingAccumulator(first_only(0)).update(*SECOND)).scores() == {"metric": 0}


class Counting:
    calls = 0

    def __call__(self, block):
        self.calls += 1
        return np.ones(len(block.sizes))


def test_one_object_is_equal_to_itself_after_it_has_changed():
    metric = Counting()
    one = RankingAccumulator(metric).update(*FIRST)
    assert one.merge(RankingAccumulator(metric).update(*SECOND)).n_documents == 6


@pytest.mark.parametrize("metric", ["dcg@3(propensity=seen)", "recall@3(propensity=seen)"])
def test_propensities_are_refused_by_name(metric):
    """At once, before any rows are read."""
    message = re.escape(f"'{metric}': accumulators, evaluate_parquet, Spark and Dask take no prop")
    with pytest.raises(ValueError, match=message):
        RankingAccumulator(metric)
    with pytest.raises(ValueError, match=message):
        evaluate_parquet("absent.parquet", metric)
    with pytest.raises(ValueError, match=r"'dcg': accumulators, .* take no propensity"):
        RankingAccumulator("dcg", propensity=[0.5])
    with pytest.raises(ValueError, match="'recall' has no option 'target'"):
        RankingAccumulator("recall@3(target=orders)")
