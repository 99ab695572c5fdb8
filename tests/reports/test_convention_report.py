"""The table of one ranking's metrics under every library's conventions."""

import math
import pickle
import re
from functools import cache
from itertools import permutations

import pandas as pd
import pytest
from html_structure import Structure
from library_samples import random_sample

from sklearn_rankscore import convention_report, evaluate
from sklearn_rankscore.metrics.conventions import CONVENTIONS

LIBRARIES = ["default", *CONVENTIONS]


@pytest.fixture(scope="module")
def sample():
    sample = random_sample(longest=20)
    return {"y_true": sample.y, "y_score": sample.score, "groups": sample.qid}


def as_dict(sample, metrics):
    return convention_report(**sample, metrics=metrics, output_dict=True)


def test_every_number_is_that_of_evaluate_and_the_text_rounds_it(sample):
    metrics = ["ndcg@5", "ndcg", "map@5", "precision@3(threshold=1)", "query_auc"]
    report = as_dict(sample, metrics)
    assert list(report) == LIBRARIES
    text = convention_report(**sample, metrics=metrics, digits=3).partition("\n\n")[0]
    header, *lines = text.splitlines()
    assert header.split() == metrics
    assert len({len(line) for line in [header, *lines]}) == 1
    for (library, row), line in zip(report.items(), lines, strict=True):
        shown = ["-" if number is None else f"{number:.3f}" for number in row.values()]
        assert line.split() == [library, *shown]
        for name, number in row.items():
            known = library == "default" or name.split("@")[0] in CONVENTIONS[library]
            assert (number is not None) == known
            if known:
                like = None if library == "default" else library
                assert number == pytest.approx(evaluate(**sample, metrics=name, like=like)[name])


def test_what_a_library_refuses_is_a_dash(sample):
    """ERR of labels above the largest; MAP over the hits, which is no ratio of sums."""
    report = as_dict(sample, "err@5")
    assert report["default"]["err@5"] > 0
    assert report["catboost"] == report["ranx"] == {"err@5": None}
    name = "map@5(average=micro)"
    report = as_dict(sample, [name, "mrr"])
    assert report["default"][name] == evaluate(**sample, metrics=name)[name]
    assert report["torchmetrics"][name] is None
    assert report["torchmetrics"]["mrr"] is not None


REFUSED = [
    ({"metrics": "ndgc@5"}, "Did you mean 'ndcg@5'"),
    ({"metrics": "ndcg@5(like=xgboost)"}, "has a row for each library"),
    ({"metrics": [evaluate]}, "must hold names"),
    ({"metrics": []}, "name at least one"),
    ({"metrics": ["mrr", "mrr"]}, "twice"),
    ({"metrics": "mrr(gain=linear)"}, "has no option 'gain'"),
    ({"digits": -1}, "digits must be an integer of at least 0; got -1"),
    ({"y_true": [-1, 1], "y_score": [1, 2], "groups": None}, "negative labels"),
]


@pytest.mark.parametrize(("given", "message"), REFUSED)
def test_refusals(sample, given, message):
    with pytest.raises((TypeError, ValueError), match=message):
        convention_report(**{**sample, **given})


# a query of three tied documents, one whose document has label 1, and one without relevant ones
SMALL = {"y_true": [2, 0, 0, 1, 0, 0], "y_score": [1, 1, 1, 2, 1, 1], "groups": list("aaabbc")}


def reasons_of(report, library):
    """The difference of each metric, and the effects of the reasons for it."""
    lines = report.partition("Why the values")[2].splitlines()[2:]
    cells = [re.split(r"  +", line) for line in lines]
    return {
        metric: [float(n) for n in (difference, *re.findall(r" ([+-]?[\d.]+)(?:,|$)", reasons))]
        for metric, of, difference, reasons in cells
        if of == library
    }


def effects_of(given, metric, library):
    """What each option changes, averaged over all orders of changing one after the other."""
    name, _, cutoff = metric.partition("@")
    options = {o: v for o, v in CONVENTIONS[library][name].items() if o != "k" or not cutoff}

    @cache
    def value(chosen):
        return evaluate(**given, metrics=metric, **{o: options[o] for o in chosen})[metric]

    effects = dict.fromkeys(options, 0.0)
    orders = [*permutations(options)]
    for order in orders:
        for i, option in enumerate(order):
            before, after = frozenset(order[:i]), frozenset(order[: i + 1])
            effects[option] += (value(after) - value(before)) / len(orders)
    return [effect for effect in effects.values() if abs(effect) > 1e-9]


@pytest.mark.parametrize("library", CONVENTIONS)
def test_reasons_are_the_effects_of_the_options_largest_first(sample, library):
    for given, metrics in ((sample, ["ndcg@5", "map@5", "precision@3", "query_auc"]),
                           (SMALL, ["ndcg", "map", "mrr", "rbp@10"])):  # fmt: skip
        metrics = [name for name in metrics if name.partition("@")[0] in CONVENTIONS[library]]
        values = as_dict(given, metrics)
        shown = reasons_of(convention_report(**given, metrics=metrics, digits=9), library)
        for name in metrics:
            difference, *effects = shown.get(name, [0.0])
            expected = effects_of(given, name, library)
            assert sorted(effects) == pytest.approx(sorted(expected), abs=1e-8)
            assert sorted(effects, key=abs, reverse=True) == effects
            assert sum(effects) == pytest.approx(difference, abs=1e-8)
            theirs, ours = values[library][name], values["default"][name]
            assert difference == pytest.approx(theirs - ours, abs=1e-8)


def test_a_notebook_shows_the_same_table_also_of_a_copy():
    report = convention_report([1, 0], [1, 2], groups=[0, 0], metrics="ndcg@2")
    again = pickle.loads(pickle.dumps(report))
    assert again == str(report) == repr(report)
    header, *rows = Structure(again._repr_html_()).tables[0]
    assert header == ["", "ndcg@2"]
    assert rows == [line.split() for line in report.splitlines()[1 : len(rows) + 1]]


def test_propensities_are_those_of_an_index_level():
    index = pd.MultiIndex.from_arrays([[1, 1, 2], [0.5, 0.25, 1.0]], names=["qid", "seen"])
    name = "dcg@5(propensity=seen)"
    report = convention_report(
        pd.Series([1, 1, 0], index), [3, 2, 1], metrics=[name], output_dict=True
    )
    assert report["default"][name] == pytest.approx((2 + 4 / math.log2(3)) / 2)
    assert report["trec_eval"][name] is None
    with pytest.raises(ValueError, match="propensity='seen' is neither"):
        convention_report([1, 1, 0], [3, 2, 1], groups=[1, 1, 2], metrics=[name])
