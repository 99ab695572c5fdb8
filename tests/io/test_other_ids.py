"""Predictions whose documents have ids of another kind than the judgments."""

import warnings

import numpy as np
import pandas as pd
import pytest

from sklearn_rankscore import from_frames, from_ranked_lists, from_recommendations, from_trec

N = 12
ITEMS = [f"item {i}" for i in range(N)]
ACTUAL = {user: [item] for user, item in enumerate(ITEMS)}
BY_NUMBER = {user: [f"{user}"] for user in range(N)}
OTHERS = {user: [ITEMS[user - 1]] for user in ACTUAL}


def frame(lists):
    rows = [(user, item, 1) for user, items in lists.items() for item in items]
    return pd.DataFrame(rows, columns=["user", "item", "score"])


def trec(lists):
    return {str(user): dict.fromkeys(map(str, items), 1) for user, items in lists.items()}


def by_system(form, predicted):
    return {name: form(lists) for name, lists in predicted.items()} if "knn" in predicted else (
        form(predicted))  # fmt: skip


COLUMNS = {"groups": "user", "document": "item", "score": "score"}
SOURCES = {
    "lists": from_ranked_lists,
    "frames": lambda a, p: from_frames(frame(a), by_system(frame, p), **COLUMNS),
    "TREC": lambda a, p: from_trec(trec(a), by_system(trec, p)),
}


def first(lists, n):
    return dict(list(lists.items())[:n])


WARNED = {
    "none of the 12 items that the system retrieved is among the 12 .*retrieved are such as "
    "'0', and 'item 0' has a relevance": (ACTUAL, BY_NUMBER),
    "items that 'knn' retrieved": (ACTUAL, {"popular": ACTUAL, "knn": BY_NUMBER}),
    "none of the 10 items": (first(ACTUAL, 10), first(BY_NUMBER, 10)),
}
SILENT = [
    (ACTUAL, OTHERS),  # items that are relevant to other queries are of the same kind
    (first(ACTUAL, 9), first(BY_NUMBER, 9)),  # few may have none in common
    ({user: ["item 0"] for user in ACTUAL}, BY_NUMBER),
    (ACTUAL, {user: ["0"] for user in ACTUAL}),
]


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_a_warning_shows_an_id_of_each(source):
    for message, given in WARNED.items():
        with pytest.warns(UserWarning, match=message) as caught:
            source(*given)
        assert [warning.filename for warning in caught] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for given in SILENT:
            source(*given)


def test_other_rules_empty_lists_and_numbers_of_items():
    with pytest.warns(UserWarning, match="that have a relevance. Check that both") as caught:
        documents = from_ranked_lists(ACTUAL, BY_NUMBER, unjudged="nan")
    assert caught[0].filename == __file__
    assert np.isnan(documents["y_true"]).sum() == N
    with pytest.warns(UserWarning, match=r"none of the 12 items .* among the 12 that"):
        from_ranked_lists(ACTUAL | {N: []}, BY_NUMBER | {N: []})
    in_latin_1 = ({user: [f"{text} {user}".encode("latin-1")] for user in ACTUAL} for text in "éè")
    with pytest.warns(UserWarning, match="such as b'.xe8 0', and b'.xe9 0' has a relevance"):
        from_ranked_lists(*in_latin_1)
    interactions = np.eye(N, 2 * N)
    recommended = np.arange(N, 2 * N)[:, None]
    with pytest.warns(UserWarning, match="such as 12, and 0 has a relevance"):
        from_recommendations(interactions, recommended)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        from_recommendations(interactions, recommended % N)
