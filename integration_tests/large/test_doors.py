"""Every way to give documents in parts has the results of the same rows in memory."""

import math
import pickle

import numpy as np
import pytest
from doors import DOORS, shuffled
from many_queries import CASES, EXACT, METRICS, in_memory, make_documents
from segments import BY, SEGMENT_METRICS, check, expected_segments, make_segments

from sklearn_rankscore import RankingAccumulator, compare, evaluate, query_scores

every_door = pytest.mark.parametrize("door", DOORS)
every_stream = pytest.mark.parametrize("door", [door for door in DOORS if door != "arrays"])


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    """As many queries are divided between batches as between files."""
    monkeypatch.setattr("sklearn_rankscore.large.tables.BATCH_ROWS", 64)
    monkeypatch.setattr("sklearn_rankscore.large.tables.ROWS_READ", 23)


@every_door
@pytest.mark.parametrize("case", CASES)
def test_results(door, case, tmp_path):
    columns, metrics, options = CASES[case]
    total = DOORS[door](columns, metrics, tmp_path, **options)
    expected = in_memory(columns, metrics, **options)
    assert total.scores() == pytest.approx(expected, nan_ok=True, **EXACT)
    assert total.n_documents == len(columns["qid"])
    assert {of.n_queries for of in total.result().values()} == {60}


@every_door
def test_errors_and_intervals_are_those_of_query_scores(door, tmp_path):
    """Without weights; the intervals are equal where the range of the metric is unknown."""
    columns = make_documents(strings=True)
    metrics = ["ndcg@5", "mrr", "query_auc(replace_undefined_by=nan)", "dcg@3"]
    given = columns["label"], columns["score"], metrics
    scores = query_scores(*given, groups=columns["qid"])
    result = DOORS[door](columns, metrics, tmp_path).result()
    undefined = query_scores(*given, groups=columns["qid"], replace_undefined_by=math.nan)
    for i, (name, error) in enumerate(scores.standard_error().items()):
        n_kept, n_defined = 60 - np.isnan([scores.values, undefined.values]).sum(axis=1)[:, i]
        numbers = error, 60, 60 - n_defined, n_kept - 1
        assert result[name][1:] == pytest.approx(numbers, **EXACT)
    assert result["dcg@3"].interval(0.9) == pytest.approx(scores.interval(0.9)["dcg@3"], **EXACT)


@every_door
@pytest.mark.slow
@pytest.mark.parametrize("weight", [None, "weight"])
def test_segments(door, weight, tmp_path):
    columns = make_segments(long=200)
    total = DOORS[door](columns, SEGMENT_METRICS, tmp_path, by=BY, weight=weight)
    check(total.by_segment(), expected_segments(columns, weight), weight)


@every_door
@pytest.mark.slow
@pytest.mark.parametrize("weight", [None, "weight"])
def test_differences_are_those_of_compare(door, weight, tmp_path):
    columns = make_segments()
    random = np.random.default_rng(3)
    for name in ("b", "c"):
        columns[name] = np.round(columns["score"] + random.normal(size=len(columns["qid"])), 1)
    systems, metrics = {"a": "score", "b": "b", "c": "c"}, ["ndcg@5", *SEGMENT_METRICS[1:]]
    options = {"weight": weight, "by": "country", "score": systems}
    total = DOORS[door](columns, metrics, tmp_path, **options)
    given = columns["label"], {name: columns[c] for name, c in systems.items()}, metrics
    weights = None if weight is None else columns[weight]
    known = {"groups": columns["qid"], "sample_weight": weights}
    for name, means in evaluate(*given, **known).items():
        assert total.scores()[name] == pytest.approx(means, **EXACT)
    scores = query_scores(*given, segments={"country": columns["country"]}, **known)
    compared = compare(scores, pairs="all", by=["country"], random_state=0)
    for d in compared.differences:
        mine = total.differences(d.baseline, segment=d.segment)[d.model][d.metric]
        assert mine.difference == pytest.approx(d.difference, nan_ok=True, **EXACT)
        counts = mine.n_queries, mine.wins, mine.ties, mine.losses
        assert counts == (d.queries, d.wins, d.ties, d.losses)
        if weight is None:
            assert mine.standard_error == pytest.approx(d.standard_error, nan_ok=True, **EXACT)
        if weight is None and not d.few_distinct:
            assert mine.interval() == pytest.approx(tuple(d.interval), **EXACT)


@every_door
def test_values_of_queries(door, tmp_path):
    columns, metrics, options = make_documents(strings=True), METRICS, {"per_query": True}
    if door != "arrays":  # the others take an accumulator, too
        metrics, options = RankingAccumulator(METRICS, per_query=True), {}
    ids, values = DOORS[door](columns, metrics, tmp_path, **options).query_values()
    assert ids.tolist() == np.unique(columns["qid"]).tolist()
    for name, expected in in_memory(columns, average=None).items():
        np.testing.assert_allclose(values[name], expected, rtol=0, atol=1e-12)


@every_door
def test_a_pickle_is_continued(door, tmp_path):
    columns = make_documents()
    total = pickle.loads(pickle.dumps(DOORS[door](columns, METRICS, tmp_path)))
    later = RankingAccumulator(METRICS).update([1, 0], [0, 1], ["x", "x"])
    assert total.merge(later).result()["mrr"].n_queries == 61
    assert len(pickle.dumps(total)) < 16_000


IDS = {
    "dates": lambda q: q.astype("M8[D]"),
    "times": lambda q: q.astype("M8[s]").astype("M8[ns]"),
    "floats": lambda q: q / 4,
    "unsigned": lambda q: q.astype(np.uint64) + np.uint64(2**63),
    "negative": lambda q: q - 30,
    "bytes": lambda q: np.array([bytes([200 - i]) for i in q], dtype=object),
}


@every_door
@pytest.mark.slow
@pytest.mark.parametrize("kind", IDS)
def test_types_of_ids(door, kind, tmp_path):
    columns = make_documents()
    _, order = np.unique(IDS[kind](columns["qid"]), return_inverse=True)
    given = {name: c[np.argsort(order, kind="stable")] for name, c in columns.items()}
    given["qid"] = IDS[kind](given["qid"])
    total = DOORS[door](given, METRICS, tmp_path)
    assert total.scores() == pytest.approx(in_memory(columns), nan_ok=True, **EXACT)


@every_stream
@pytest.mark.parametrize("strings", [False, True])
def test_ids_of_several_columns(door, strings, tmp_path):
    columns = make_documents(long=90)
    expected = pytest.approx(in_memory(columns), nan_ok=True, **EXACT)
    columns["user"], columns["session"] = np.divmod(columns.pop("qid"), 7)
    if strings:
        columns["session"] = np.array([f"s{i}" for i in columns["session"]], dtype=object)
    total = DOORS[door](columns, METRICS, tmp_path, groups=["user", "session"])
    assert total.scores() == expected


@every_stream
def test_an_error_names_the_query_and_changes_nothing(door, tmp_path):
    columns = make_documents(strings=True)
    columns["label"][columns["qid"] == "q0033ü"] = 7
    collected = RankingAccumulator("err@10").update([1, 0], [2, 1], ["a", "a"])
    with pytest.raises(ValueError, match=r"^query 'q0033ü': y_true must lie in"):
        DOORS[door](columns, collected, tmp_path)
    assert collected.n_documents == 2


@every_stream
@pytest.mark.parametrize("column", ["score", "qid", "weight"])
def test_missing_values_are_named_with_their_row(door, column, tmp_path):
    columns = {name: c.astype(float) for name, c in make_documents().items()}
    columns[column][80] = math.nan
    place = r"(batch [0-9]+|.*part-[0-9].parquet), row [0-9]+ .counted from 0.: "
    with pytest.raises(ValueError, match=f"^{place}column '{column}' has a missing value"):
        DOORS[door](columns, "mrr", tmp_path, weight="weight")


@every_door
def test_weights_and_segments_that_vary_are_refused(door, tmp_path):
    columns = make_segments()
    first, *others = np.flatnonzero(columns["qid"] == 8)
    assert others
    columns["weight"][first] += 1
    columns["country"][first], columns["country"][others] = "de", "fr"
    (tmp_path / "b").mkdir()
    name = "" if door == "arrays" else "^query 8: .*"
    with pytest.raises(ValueError, match=f"{name}sample_weight varies within"):
        DOORS[door](columns, "mrr", tmp_path, weight="weight")
    with pytest.raises(ValueError, match=f"{name}'country' varies"):
        DOORS[door](columns, "mrr", tmp_path / "b", by="country")


@every_stream
def test_rows_of_ties_keep_their_order(door, tmp_path):
    columns = make_documents()
    ordered = shuffled(columns) if door == "shuffled files" else columns
    total = DOORS[door](columns, METRICS[:5], tmp_path, ties="stable")
    assert total.scores() == pytest.approx(in_memory(ordered, METRICS[:5], ties="stable"), **EXACT)
