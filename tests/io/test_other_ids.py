"""Predictions whose documents have ids of another kind than the judgments."""

import warnings
from contextlib import nullcontext

import numpy as np
import pandas as pd
import pytest

from sklearn_rankscore import (
    from_frames,
    from_ranked_lists,
    from_recommendations,
    from_trec,
    recall_at_k,
)

N = 12
ITEMS = [f"item {i}" for i in range(N)]
ACTUAL = {user: [item] for user, item in enumerate(ITEMS)}
BY_NUMBER = {user: [f"{user}"] for user in range(N)}


def frame(lists, column):
    rows = [(user, item, 1) for user, items in lists.items() for item in items]
    return pd.DataFrame(rows, columns=["user", "item", column])


def trec(lists):
    return {str(user): dict.fromkeys(map(str, items), 1) for user, items in lists.items()}


SOURCES = {
    "lists": from_ranked_lists,
    "frames": lambda actual, predicted: from_frames(
        frame(actual, "rating"),
        {name: frame(lists, "score") for name, lists in predicted.items()}
        if "knn" in predicted
        else frame(predicted, "score"),
        groups="user",
        document="item",
        score="score",
    ),
    "TREC": lambda actual, predicted: from_trec(
        trec(actual),
        {name: trec(lists) for name, lists in predicted.items()}
        if "knn" in predicted
        else trec(predicted),
    ),
}


@pytest.fixture(params=SOURCES.values(), ids=SOURCES)
def source(request):
    return request.param


def test_a_warning_shows_an_id_of_each(source):
    message = (
        r"none of the 12 items that the system retrieved is among the 12 .*"
        r"retrieved are ids such as '0', and 'item 0' has a relevance"
    )
    with pytest.warns(UserWarning, match=message) as caught:
        documents = source(ACTUAL, BY_NUMBER)
    assert caught[0].filename == __file__
    assert recall_at_k(**documents, k=1) == 0


def test_unjudged_documents_are_not_said_to_be_irrelevant():
    with pytest.warns(UserWarning, match="so that none of them counts as relevant"):
        documents = from_ranked_lists(
            {user: dict.fromkeys(items, 1) for user, items in ACTUAL.items()},
            BY_NUMBER,
            unjudged="nan",
        )
    assert np.isnan(documents["y_true"]).sum() == N


def test_the_system_is_named(source):
    with pytest.warns(UserWarning, match="items that 'knn' retrieved") as caught:
        source(ACTUAL, {"popular": ACTUAL, "knn": BY_NUMBER})
    assert len(caught) == 1


def test_items_that_are_relevant_to_other_queries_are_of_the_same_kind(source):
    others = dict(zip(ACTUAL, [*list(ACTUAL.values())[1:], ["item 0"]], strict=True))
    source(ACTUAL, others)


@pytest.mark.parametrize(("n", "warned"), [(9, False), (10, True)])
def test_few_items_may_have_none_in_common(source, n, warned):
    expected = pytest.warns(UserWarning, match="none of the 10 items") if warned else nullcontext()
    with expected:
        source(dict(list(ACTUAL.items())[:n]), dict(list(BY_NUMBER.items())[:n]))


def test_few_items_on_one_side(source):
    source({user: ["item 0"] for user in ACTUAL}, BY_NUMBER)
    source(ACTUAL, {user: ["0"] for user in ACTUAL})


def test_queries_without_items_have_no_id():
    actual, predicted = ACTUAL | {N: []}, BY_NUMBER | {N: []}
    with pytest.warns(UserWarning, match="none of the 12 items .* among the 12 that"):
        from_ranked_lists(actual, predicted)


def test_numbers_of_items():
    interactions = np.zeros((N, 2 * N))
    interactions[range(N), range(N)] = 1
    recommended = np.arange(N, 2 * N)[:, None]
    with pytest.warns(UserWarning, match="such as 12, and 0 has a relevance"):
        from_recommendations(interactions, recommended)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        from_recommendations(interactions, recommended % N)
