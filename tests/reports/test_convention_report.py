"""The table of one ranking's metrics under every library's conventions."""

import math
import pickle
import re

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


@pytest.mark.parametrize(
    ("metrics", "error", "message"),
    [
        ("ndgc@5", ValueError, "Did you mean 'ndcg@5'"),
        ("ndcg@5(like=xgboost)", ValueError, "has a row for each library"),
        ([evaluate], TypeError, "must hold names"),
        ([], ValueError, "name at least one"),
        (["mrr", "mrr"], ValueError, "twice"),
        ("mrr(gain=linear)", ValueError, "has no option 'gain'"),
    ],
)
def test_wrong_metrics(sample, metrics, error, message):
    with pytest.raises(error, match=re.escape(message)):
        convention_report(**sample, metrics=metrics)
    with pytest.raises(ValueError, match="digits must be an integer of at least 0; got -1"):
        convention_report(**sample, digits=-1)
    with pytest.raises(ValueError, match="negative labels"):
        convention_report([-1, 1], [1, 2])


# a query of three tied documents, one whose document has label 1, and one without relevant ones
SMALL = {"y_true": [2, 0, 0, 1, 0, 0], "y_score": [1, 1, 1, 2, 1, 1], "groups": list("aaabbc")}


def reasons_of(report, library):
    """The reasons for each metric: their names and effects."""
    lines = report.partition("Why the values")[2].splitlines()[2:]
    cells = [re.split(r"  +", line) for line in lines]
    return {
        (metric, float(difference)): {
            name: float(effect)
            for name, effect in (reason.rsplit(" ", 1) for reason in reasons.split(", "))
        }
        for metric, of, difference, reasons in cells
        if of == library
    }


def test_reasons_are_the_effects_of_the_options_largest_first():
    report = convention_report(**SMALL, metrics="ndcg", digits=6)
    # a: 2 at rank 1 in input order, and at each rank in a third of the orders; b: 1; c: undefined
    tied = (1 + 1 / math.log2(3) + 1 / 2) / 3
    (((_, difference), reasons),) = reasons_of(report, "lightgbm").items()
    assert difference == pytest.approx(1 - (tied + 1 + 0) / 3, abs=1e-6)
    assert list(reasons) == ["undefined queries as 1", "ties=stable"]  # the gain changes nothing
    assert reasons["undefined queries as 1"] == pytest.approx(1 / 3, abs=1e-6)
    assert reasons["ties=stable"] == pytest.approx((1 - tied) / 3, abs=1e-6)
    assert reasons_of(report, "torchmetrics") == {}


def test_effects_are_averaged_over_the_orders_of_the_options():
    """Leaving out an undefined query makes each of the others count more."""
    report = convention_report(**SMALL, metrics=["ndcg"], digits=6)
    given = {**SMALL, "metrics": "ndcg"}

    def value(**options):
        return evaluate(**given, **options)["ndcg"]

    out, binary = {"replace_undefined_by": math.nan}, {"gain": "binary"}
    by_out = (value(**out) - value() + value(**out, **binary) - value(**binary)) / 2
    (((_, difference), reasons),) = reasons_of(report, "recbole").items()
    assert reasons["undefined queries left out"] == pytest.approx(by_out, abs=1e-6)
    assert sum(reasons.values()) == pytest.approx(difference, abs=2e-6)


def test_effects_add_up_to_the_difference(sample):
    metrics = ["ndcg@5", "map@5", "precision@3", "rbp@10", "query_auc"]
    values = as_dict(sample, metrics)
    report = convention_report(**sample, metrics=metrics, digits=6)
    seen = set()
    for library in CONVENTIONS:
        for (metric, difference), reasons in reasons_of(report, library).items():
            seen.add((library, metric))
            theirs, ours = values[library][metric], values["default"][metric]
            assert difference == pytest.approx(theirs - ours, abs=1e-6)
            assert sum(reasons.values()) == pytest.approx(difference, abs=5e-6)
            sizes = [abs(effect) for effect in reasons.values()]
            assert sizes == sorted(sizes, reverse=True)
    for library, row in values.items():
        for metric, value in row.items():
            if value is not None and abs(value - values["default"][metric]) > 1e-5:
                assert (library, metric) in seen


def test_a_notebook_shows_a_table():
    report = convention_report([1, 0], [1, 2], groups=[0, 0], metrics="ndcg@2")
    assert repr(report) == str(report)
    rows = Structure(report._repr_html_()).tables[0]
    assert rows[0] == ["", "ndcg@2"]
    assert [row[0] for row in rows[1:3]] == ["default", "sklearn"]
    assert rows[1] == report.splitlines()[1].split()
    again = pickle.loads(pickle.dumps(report))
    assert (again, again._repr_html_()) == (report, report._repr_html_())


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
