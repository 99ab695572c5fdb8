"""Ids of every type in judgments and runs: equal ones are matched, and none is lost."""

from io import StringIO

import numpy as np
import pandas as pd
import polars as pl
import pytest

from sklearn_rankscore import evaluate, from_frames, from_ranked_lists, from_trec

RUN = "1 Q0 a 1 9 t\n1 Q0 b 2 8 t\n2 Q0 a 1 7 t\n"
DAYS = ["2026-01-01", "2026-01-02"]


def qrels_of(queries, documents=("a", "b", "a"), relevance=(1, 0, 1)):
    return pd.DataFrame(
        {
            "qid": pd.Series(queries, dtype=object),
            "docno": pd.Series(documents, dtype=object),
            "label": relevance,
        }
    )


def nested_of(queries, documents=("a", "b", "a"), relevance=(1, 0, 1)):
    nested = {}
    for query, document, label in zip(queries, documents, relevance, strict=True):
        nested.setdefault(query, {})[document] = label
    return nested


@pytest.mark.parametrize("form", [qrels_of, nested_of])
@pytest.mark.parametrize(
    "queries",
    [("1", "1", 2), (1, "1", 2), (1, 1, b"2"), (np.int64(1), np.int32(1), np.str_("2"))],
    ids=str,
)
def test_queries_of_mixed_types_are_text(form, queries):
    documents = from_trec(form(queries), StringIO(RUN))
    assert documents["groups"].tolist() == ["1", "1", "2"]
    assert documents["y_true"].tolist() == [1, 0, 1]
    assert documents["y_score"].tolist() == [9, 8, 7]


def test_numbers_of_numpy_are_numbers():
    run = {np.int64(1): {"a": 9, "b": 8}, np.int64(2): {"a": 7}}
    assert from_trec(nested_of((1, 1, 2)), run)["groups"].tolist() == [1, 1, 2]


@pytest.mark.parametrize("form", [qrels_of, nested_of])
def test_documents_of_bytes_are_text(form):
    documents = from_trec(form(list("112"), [b"a", b"b", b"a"]), StringIO(RUN))
    assert documents["y_true"].tolist() == [1, 0, 1]


@pytest.mark.parametrize("form", [qrels_of, nested_of])
@pytest.mark.parametrize(
    ("query", "kind"),
    [(2.5, "float"), (pd.Timestamp("2026-01-01"), "Timestamp"), (np.float32(2.5), "float")],
)
def test_queries_whose_text_depends_on_their_format_are_refused(form, query, kind):
    message = rf"the qrels has query ids of the type {kind}, such as .*Convert them to integers"
    with pytest.raises(ValueError, match=message):
        from_trec(form(("1", "1", query)), StringIO(RUN))


@pytest.mark.parametrize("form", [qrels_of, nested_of])
def test_whole_floats_are_integers(form):
    """Of a column with missing ids that were dropped; as numbers they are equal too."""
    for number in (float, np.float32):
        judged = form([number(1), number(1), number(2)], [number(7), number(8), number(7)])
        run = {1: {7: 9, 8: 8}, 2: {7: 7}}
        for given in (run, {str(q): {str(d): s for d, s in of.items()} for q, of in run.items()}):
            assert from_trec(judged, given)["y_true"].tolist() == [1, 0, 1]


@pytest.mark.parametrize("form", [qrels_of, nested_of])
@pytest.mark.parametrize("label", [99999999999999999999.0, -(2.0**63), 2.0**53])
def test_a_relevance_that_is_no_exact_integer_is_refused(form, label):
    message = r"relevance must be an integer of less than 2\*\*53,.* got"
    with pytest.raises(ValueError, match=message):
        from_trec(form(list("112"), relevance=[1, label, 1]), StringIO(RUN))
    with pytest.raises(ValueError, match=rf"line 2: {message}"):
        from_trec(StringIO(f"1 0 a 1\n1 0 b {label!r}\n"), StringIO(RUN))


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

    def frames(named):
        judged, predicted = (dates(library, unit) for unit in units)
        truth = pd.DataFrame({named: judged, "other": [1, 2], "relevance": [1, 1]})
        return truth, pd.DataFrame({named: predicted, "other": [1, 2], "score": [2, 1]})

    options = {"relevance": "relevance", "score": "score"}
    documents = from_frames(*frames("doc_id"), groups="other", document="doc_id", **options)
    assert evaluate(metrics="recall", **documents) == {"recall": 1}
    documents = from_frames(*frames("query_id"), groups="query_id", document="other", **options)
    assert evaluate(metrics="recall", **documents) == {"recall": 1}
    assert documents["groups"].dtype.kind == ("m" if library == "durations" else "M")


@pytest.mark.parametrize("column", ["query", "item"])
@pytest.mark.parametrize("missing", ["NaT", np.timedelta64("NaT", "s")])
def test_missing_dates_are_refused(column, missing):
    kind = "m8[s]" if isinstance(missing, np.timedelta64) else "M8[s]"
    times = np.array([0, 1], dtype="i8").astype(kind)
    truth = pd.DataFrame({"query": times, "item": times, "relevance": 1})
    wrong = truth.assign(**{column: np.array([times[0], missing], dtype=kind)})
    predictions = wrong.rename(columns={"relevance": "score"})
    names = {"groups": "query", "document": "item", "relevance": "relevance", "score": "score"}
    kind = "query" if column == "query" else "document"
    with pytest.raises(ValueError, match=rf"the {kind} ids in column '{column}' must not have"):
        from_frames(truth, predictions, **names)
    with pytest.raises(ValueError, match=rf"the {kind} ids in column '{column}' must not have"):
        from_frames(wrong.assign(score=1), **names)


LOOKALIKES = [[1, "2"], ["1", 2], ["1", b"2"], [np.int64(1), "2"], [np.str_("1"), 2]]


@pytest.mark.parametrize("mixed", LOOKALIKES, ids=str)
@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("column", ["query", "item"])
def test_a_number_beside_its_text_is_refused_in_frames(column, side, mixed):
    """A column of both is made by pd.concat of two files, of which pandas read one as numbers."""
    frames = [
        pd.DataFrame({"query": ["1", "2"], "item": ["1", "2"], name: [1, 1]})
        for name in ("relevance", "score")
    ]
    frames[side][column] = pd.Series(mixed, dtype=object)
    names = {"groups": "query", "document": "item", "relevance": "relevance", "score": "score"}
    with pytest.raises(TypeError, match=r"\b[12]\b.*\b[12]\b.* never\s+equal"):
        from_frames(*frames, **names)


@pytest.mark.parametrize("mixed", LOOKALIKES, ids=str)
@pytest.mark.parametrize("side", [0, 1])
def test_a_number_beside_its_text_is_refused_in_lists(side, mixed):
    lists = [[["1", "2"], ["2"]], [["1", "2"], ["2"]]]
    lists[side] = [mixed, ["2"]]
    with pytest.raises(TypeError, match=r"\b[12]\b.*\b[12]\b.* never\s+equal"):
        from_ranked_lists(*lists)


def test_ids_of_several_types_are_accepted():
    truth = pd.DataFrame({"query": [1, "a", 1], "item": ["x", 2, ("y", 1)]})
    predictions = truth.assign(score=[1, 2, 3])
    documents = from_frames(truth, predictions, groups="query", document="item", score="score")
    assert evaluate(metrics="recall", **documents) == {"recall": 1}
    documents = from_ranked_lists([["x", 2, ("y", 1)]], [[2, "x"]])
    assert evaluate(metrics="recall", **documents) == {"recall": pytest.approx(2 / 3)}
