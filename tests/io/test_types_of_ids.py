"""Ids of every type in judgments and runs: equal ones are matched, and none is lost."""

from functools import partial
from io import StringIO

import numpy as np
import pandas as pd
import pytest
from frames import pl

from sklearn_rankscore import (
    evaluate,
    from_frames,
    from_ranked_lists,
    from_recommendations,
    from_trec,
)

RUN = "1 Q0 a 1 9 t\n1 Q0 b 2 8 t\n2 Q0 a 1 7 t\n"
DAYS = ["2026-01-01", "2026-01-02"]
NAMES = {"groups": "query", "document": "item", "relevance": "relevance", "score": "score"}


def as_frame(queries, documents, relevance):
    columns = {"qid": queries, "docno": documents}
    frame = pd.DataFrame(
        {name: pd.Series(list(ids), dtype=object) for name, ids in columns.items()}
    )
    return frame.assign(label=relevance)


def as_dicts(queries, documents, relevance):
    nested = {}
    for query, document, label in zip(queries, documents, relevance, strict=True):
        nested.setdefault(query, {})[document] = label
    return nested


BYTES, INTS = [b"a", b"b", b"a"], [np.int64(1), np.int32(1), np.str_("2")]
FLOATS = [[of(1), of(1), of(2)] for of in (float, np.float32)]
NUMBERS = {1: {7: 9, 8: 8}, 2: {7: 7}}
AS_TEXT = {str(q): {str(d): s for d, s in of.items()} for q, of in NUMBERS.items()}
MATCHED = [
    *((queries, "aba", StringIO, ["1", "1", "2"])
      for queries in ("112", (1, "1", 2), (1, 1, b"2"), INTS)),
    ("112", BYTES, StringIO, ["1", "1", "2"]),
    ((1, 1, 2), "aba", lambda _: {np.int64(1): {"a": 9, "b": 8}, np.int64(2): {"a": 7}}, [1, 1, 2]),
    # of a column with missing ids that were dropped; as numbers they are equal too
    *((of, [7.0, 8.0, 7.0], lambda _: NUMBERS, [1, 1, 2]) for of in FLOATS),
    *((of, [7.0, 8.0, 7.0], lambda _: AS_TEXT, ["1", "1", "2"]) for of in FLOATS),
]  # fmt: skip


@pytest.mark.parametrize("form", [as_frame, as_dicts])
def test_ids_of_qrels_and_runs(form):
    for queries, items, run, groups in MATCHED:
        documents = from_trec(form(queries, items, [1, 0, 1]), run(RUN))
        assert documents["groups"].tolist() == groups
        assert documents["y_true"].tolist() == [1, 0, 1]
        assert documents["y_score"].tolist() == [9, 8, 7]
    for label in (99999999999999999999.0, -(2.0**63), 2.0**53):
        with pytest.raises(ValueError, match=r"must be an integer of less than 2\*\*53,.* got"):
            from_trec(form("112", "aba", [1, label, 1]), StringIO(RUN))


def dates(library, unit):
    values = np.array(DAYS, dtype=f"datetime64[{unit}]")
    return {
        "pandas": lambda: pd.Series(values),
        "polars": lambda: pl.Series(values),
        "numpy": lambda: values,
        "durations": lambda: pd.Series(values - np.datetime64("2020-01-01", unit)),
    }[library]()


@pytest.mark.parametrize("library", ["pandas", "polars", "numpy", "durations"])
@pytest.mark.parametrize("units", [("ns", "us"), ("ms", "ns"), ("ns", "ns"), ("us", "us")])
def test_equal_dates_of_different_units_are_matched(library, units):
    """The unit is that of the library that read a file."""
    for named, other in (("item", "query"), ("query", "item")):
        truth, top = (pd.DataFrame({named: dates(library, unit), other: [1, 2]}) for unit in units)
        documents = from_frames(truth.assign(relevance=1), top.assign(score=[2, 1]), **NAMES)
        assert evaluate(metrics="recall", **documents) == {"recall": 1}
    assert documents["groups"].dtype.kind == ("m" if library == "durations" else "M")


@pytest.mark.parametrize("mixed", [[1, "2"], ["1", 2], ["1", b"2"], [np.int64(1), "2"]], ids=str)
@pytest.mark.parametrize("side", [0, 1])
def test_a_number_beside_its_text_is_refused(side, mixed):
    """A column of both is made by pd.concat of two files, of which pandas read one as numbers."""
    lists = [[["1", "2"], ["2"]], [["1", "2"], ["2"]]]
    lists[side] = [mixed, ["2"]]
    calls = [lambda: from_ranked_lists(*lists)]
    for column in ("query", "item"):
        frames = [
            pd.DataFrame({"query": ["1", "2"], "item": ["1", "2"], "relevance": 1, "score": 1})
            for _ in range(2)
        ]
        frames[side][column] = pd.Series(mixed, dtype=object)
        calls.append(lambda frames=frames: from_frames(*frames, **NAMES))
    for call in calls:
        with pytest.raises(TypeError, match=r"\b[12]\b.*\b[12]\b.* never\s+equal"):
            call()


N = 12
ACTUAL = {user: [f"item {user}"] for user in range(N)}
OTHERS = {user: [f"{user}"] for user in range(N)}
NONE = (
    "none of the 12 items that {} retrieved is among the 12 that have a relevance. .*former are "
    "such as '0', the latter such as 'item 0'"
)


def long(lists):
    rows = [(user, item, 1) for user, items in lists.items() for item in items]
    return pd.DataFrame(rows, columns=["query", "item", "score"])


def frames(truth, predicted, **options):
    columns = {"groups": "query", "document": "item", "score": "score"}
    return from_frames(long(truth), {of: long(top) for of, top in predicted.items()}, **columns,
                       **options)  # fmt: skip


def trec(truth, predicted):
    def nested(lists):
        return {str(user): dict.fromkeys(items, 1) for user, items in lists.items()}

    return from_trec(nested(truth), {of: nested(top) for of, top in predicted.items()})


def first(n, lists):
    return {user: lists[user] for user in range(n)}


TRAIN, SAME = long(OTHERS), {"knn": ACTUAL}
TEN = first(10, ACTUAL), {"knn": first(10, OTHERS)}
BYTES_OF = [{user: [f"{text} {user}".encode("latin-1")] for user in ACTUAL} for text in "éè"]
READERS = from_ranked_lists, trec, frames
WARNED = [
    *((NONE.format("'knn'"), of, ACTUAL, {"popular": ACTUAL, "knn": OTHERS}) for of in READERS),
    *(("none of the 10 items", of, *TEN) for of in READERS),
    ("12 items of exclude is among .* as '0', the latter such as 'item",
     partial(frames, exclude=TRAIN), ACTUAL, SAME),
    (r"such as b'.xe8 0', the latter such as b'.xe9 0'", from_ranked_lists, *BYTES_OF),
    (NONE.format("the system"), from_ranked_lists, ACTUAL | {N: []}, OTHERS | {N: []}),
    ("such as 12, the latter such as 0",
     from_recommendations, np.eye(N, 2 * N), np.arange(N, 2 * N)[:, None]),
]  # fmt: skip


@pytest.mark.parametrize(("message", "read", "actual", "predicted"), WARNED)
def test_ids_of_another_kind_are_a_warning(message, read, actual, predicted):
    with pytest.warns(UserWarning, match=message) as caught:
        read(actual, predicted)
    assert [warning.filename for warning in caught] == [__file__]


@pytest.mark.parametrize("read", READERS)
def test_ids_of_one_kind_and_few_ids_are_none(read):
    # items that are relevant to other queries are of the same kind
    others = {user: ACTUAL[user - 1] for user in range(1, N)}
    read(ACTUAL, {"knn": others | {0: ["item 3"]}})
    # few may have none in common
    read(first(9, ACTUAL), {"knn": first(9, OTHERS)})
    read({user: ["item 0"] for user in range(N)}, {"knn": OTHERS})
    read(ACTUAL, {"knn": {user: ["0"] for user in range(N)}})
    frames(ACTUAL, SAME, exclude=TRAIN[:9])
    frames(ACTUAL, SAME, exclude=TRAIN.assign(item=["item 3", *TRAIN["item"][1:]]))  # another's
