"""Docstrings of the metric functions: shared texts, length, links, and types.

`tests/test_public_api.py` tests the order of parameters, their defaults and the sections.
"""

import inspect
import re
from collections import defaultdict
from typing import get_args, get_type_hints

import pytest

from sklearn_rankscore.metrics.names import METRICS

FUNCTIONS = {metric.function.__name__: metric.function for metric in METRICS.values()}
PARAMETERS = sorted({name for f in FUNCTIONS.values() for name in inspect.signature(f).parameters})

# without blank lines, which numpydoc demands; `help` then fits on two screens
MAX_LINES = 72

# the part of a shared text that is the metric's own
OWN_PHRASES = {
    "y_true": r"(?<=Relevance labels, ).+(?=; higher is more relevant)",
    "gain": r"(?<=1 if ).+?(?=, )",
    "replace_undefined_by": r"(?<=Value of a query with ).+(?=; nan excludes)",
}


def contract(name, function):
    """What a parameter of one name means; functions of one contract share one text."""
    if name == "average":
        return averages(function)
    if name in ("denominator", "ties"):
        return str(hints(function)[name])
    if name == "unjudged":  # a rule, or nothing to metrics that distinguish unjudged documents
        return str(function.__name__ in ("bpref_score", "infap_score", "judged_at_k"))
    return "shared"


def hints(function):
    """The types of all options."""
    (options,) = get_args(get_type_hints(function)["options"])
    return get_type_hints(options)


def averages(function):
    """The values of `average`, as a docstring lists them."""
    ratio = any(known.ratio for known in METRICS.values() if known.function is function)
    return '"macro", "micro", None' if ratio else '"macro", None'


def section(function, title):
    """Lines of a section of a docstring."""
    pattern = rf"^{title}\n-+\n(.*?)(?:\n\n[A-Z][\w ]+\n---|\Z)"
    return re.search(pattern, inspect.getdoc(function), flags=re.M | re.S)[1]


def described(function):
    """Type without its default, and description, of each parameter of a docstring."""
    parts = re.split(r"^(\w+) : ", section(function, "Parameters"), flags=re.M)[1:]
    texts = (" ".join(re.sub(r", default=.*", "", text).split()) for text in parts[1::2])
    return dict(zip(parts[::2], texts, strict=True))


def shared_text(name, function):
    """Text of a parameter without the metric's own phrase."""
    text, own = described(function)[name], OWN_PHRASES.get(name)
    if own is None:
        return text
    assert len(re.findall(own, text)) == 1, f"{own!r} is not in {text!r}"
    return re.sub(own, "...", text)


@pytest.mark.parametrize("name", PARAMETERS)
def test_shared_parameters_have_one_text(name):
    texts = defaultdict(lambda: defaultdict(list))
    for function in FUNCTIONS.values():
        if name in described(function):
            text = shared_text(name, function)
            texts[contract(name, function)][text].append(function.__name__)
    for by_text in texts.values():
        assert len(by_text) == 1, f"{name} has one text in all docstrings, not {dict(by_text)}"
    assert len(set().union(*texts.values())) == len(texts), "different contracts, equal texts"


@pytest.mark.parametrize("title", ["Returns", "Raises"])
def test_shared_sections_have_one_text(title):
    texts = defaultdict(list)
    for name, function in FUNCTIONS.items():
        texts[section(function, title)].append(name)
    assert len(texts) == 1, dict(texts)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_docstrings_are_short_and_link_the_full_contract(name):
    lines = inspect.getdoc(FUNCTIONS[name]).splitlines()
    assert sum(bool(line) for line in lines) <= MAX_LINES
    assert ":ref:`shared-parameters`" in section(FUNCTIONS[name], "Notes")
    listed = re.match(r"\{(.+?)\}", described(FUNCTIONS[name])["average"])[1]
    assert listed == averages(FUNCTIONS[name]), f"average in the docstring of {name}"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_types_are_those_of_the_options_that_the_function_accepts(name):
    """A type checker reads only these; what they forget is an error to it."""
    parameters = inspect.signature(FUNCTIONS[name]).parameters
    assert hints(FUNCTIONS[name]).keys() == parameters.keys() - {"y_true", "y_score"}
