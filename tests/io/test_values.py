"""Values of each form of input: by hand, by published examples and by the oracle."""

import math
import time
from importlib import import_module
from io import BytesIO, StringIO

import numpy as np
import oracle
import pandas as pd
import pytest
from frames import pa, pl
from scipy.sparse import coo_array, csr_array, csr_matrix, random_array

from sklearn_rankscore import (
    evaluate,
    from_frames,
    from_ranked_lists,
    from_recommendations,
    from_relevance_lists,
    from_trec,
    ndcg_score,
    recall_at_k,
)

NAN, INF = math.nan, math.inf
LOG = pd.DataFrame({"user": ["ann", "ann", "bob", "eve"], "item": ["tea", "jam", "tea", "oil"]})
TOP = pd.DataFrame({"user": ["ann", "ann", "bob"], "item": ["oil", "jam", "tea"]})
TOP = TOP.assign(rank=[1, 2, 1], score=[0.5, 0.25, 0.125])
SEEN = pd.DataFrame({"user": ["ann", "bob", "zoe"], "item": ["oil", "tea", "x"]})
GAPS = pd.DataFrame(
    {"user": [1, 2, 2, 3, 3, 3], "item": list("abaabc"), "rank": [9.0, 2, 5, 4.5, 4.5, 7]}
)
A = pd.DataFrame({"user": [1, 2, 3], "item": ["a"] * 3})
LIBRARIES = [lambda f: f]
if pl:
    LIBRARIES += [pl.from_pandas, lambda f: pa.Table.from_pandas(f, preserve_index=False)]
COLUMNS = [pd.Series, list, tuple, *((pl.Series, pa.array) if pl else ())]
TABLES = [pd.DataFrame, *([lambda rows: pl.DataFrame(rows, orient="row")] if pl else ())]
VARIED = pd.DataFrame({"user": [1, "a", 1], "item": ["x", 2, ("y", 1)]})
BIG = np.array([2**53 + 1, 2**53])
LEFT = LOG.assign(y=1).merge(TOP, on=["user", "item"], how="left").fillna({"score": -INF})
SIMILAR = (
    pd.DataFrame({"user": ["tea"], "item": ["jam"]}),
    pd.DataFrame({"user": ["tea", "tea"], "item": ["tea", "jam"], "score": [9.0, 1.0]}),
)


def days(frame, days):
    return frame.assign(user=list(zip(frame["user"], days, strict=True)))


def frames(truth, predictions=None, **options):
    columns = {} if "score" in options else {"rank": "rank"}
    return lambda: from_frames(
        truth, predictions, **{"groups": "user", "document": "item", **columns, **options}
    )


FRAMES = [
    *((frames(of(LOG), of(TOP)), {"recall@2": [0.5, 1, 0], "mrr": [0.5, 1, 0]})
      for of in LIBRARIES),
    # a rank is a position, as in RecTools, where an only item at rank 9 has 1/9
    *((frames(of(A), of(GAPS)),
       {"mrr": [1 / 9, 1 / 5, (1 / 4 + 1 / 5) / 2], "recall@4": [0, 0, 0.5]}) for of in LIBRARIES),
    # one document lacks the rank 1, and tied ones the next: some row was left out
    *((frames(A[:1], A.assign(user=1, item=["a", "b", "c"], rank=ranks)), {"mrr": [1 / 2]})
      for ranks in ([2, 3, 3], [1.5, 2, 3])),
    (frames(A, {"gaps": GAPS, "same": GAPS}), {"judged@9": [1 / 9, 1 / 5, 1 / 7]}),
    (frames(A[:2], pd.DataFrame({"user": [1, 2], "item": ["a", "a"], "rank": [0, 3]})),
     {"mrr": [1, 1 / 4]}),
    # jam moves up to rank 1; bob has nothing left, and eve no predictions
    (frames(LOG, TOP, exclude=SEEN), {"mrr": [1, 0, 0], "recall": [1 / 2, 0, 0]}),
    (frames(*SIMILAR, score="score", ignore_identical_ids=True), {"mrr": [1]}),
    (frames(*SIMILAR, score="score"), {"mrr": [0.5]}),
    (frames(LOG, pd.concat([TOP, SEEN[2:].assign(rank=1)])), {"recall@2": [0.5, 1, 0]}),
    (frames(LOG, TOP, complete=False), {"recall@2": [0.5, 1]}),
    # signed and unsigned integers together would become floats, in which both users are one
    (frames(pd.DataFrame({"user": BIG, "item": [1, 2]}),
            pd.DataFrame({"user": BIG.astype("u8"), "item": [1.0, 3.0], "score": 1}),
            score="score"), {"recall": [0, 1]}),
    # both scores of one row belong to one document
    (frames(LOG, TOP.assign(a=[3.0, 2, 1], b=[1.0, 2, 1]), score={"a": "a", "b": "b"}),
     {"mrr": {"a": [0.5, 1, 0], "b": [1, 1, 0]}}),
    (frames(TOP.assign(y=[1, 0, 1]), relevance="y", score={"a": "score"}), {"map": [1, 1]}),
    (frames(days(LOG, [1] * 4), days(TOP, [1, 1, 2])), {"recall@2": [0.5, 0, 0]}),
    (frames(VARIED, VARIED.assign(score=[1, 2, 3]), score="score"), {"recall": [1, 1]}),
    (frames(LOG.assign(collect=1), TOP), {"mrr": [0.5, 1, 0]}),  # the name of a method of polars
    (frames(LEFT, document=None, relevance="y", score="score"), {"recall@2": [0.5, 1, 0]}),
]  # fmt: skip

RANKS = ("cafbged", (3, 4), 0.5706417189553201), ("cbgegaagagegaegaf", (2, 17), 0.5338931479009518)
COUNTRIES = [["US", "FR", "CN"], ["FR", "US", "CN"], ["FR", "FR", "CN"]]
MISSING = [["US", None, "FR"], ["CN", "US", None], [None, "FR", "US"]]
DAY = pd.Timestamp("2026-01-01")
MIXED = {("u", 1): {frozenset("ab"), 2, "1"}, ("u", 2): (DAY, 2.5)}
SCORED = {"q": {"a": 1.0}, "r": []}
SYSTEMS = {"twice": [["a", "a", "x"]], "once": [["a"]], "later": [["b", "a", "a", "a"]]}
ARRAYS = [np.array([2, 9]), np.array([8, 3])]


def lists(actual, predicted, **options):
    return lambda: from_ranked_lists(actual, predicted, **options)


def labels(relevances):
    return lambda: from_relevance_lists(relevances)


LISTS = [
    *((lists([list("ABC")], [list(top)]), {"map@3": [pytest.approx(value, abs=5e-5)]})
      for top, value in [("ABE", 0.6667), ("ADE", 0.3333), ("EAB", 0.3889), ("AEB", 0.5556)]),
    *((lists([["b", "f"]], [list(top)]), {"ndcg": [pytest.approx(value, abs=1e-15)]})
      for top, _, value in RANKS),
    *((lists([["b", "f"]], [list(top)]),
       {"ndcg": [sum(1 / math.log2(1 + r) for r in at) / (1 + 1 / math.log2(3))]})
      for top, at, _ in RANKS),
    # missing cells have no rank, a second FR has one; the discount at rank 3 is 1 / log2(4)
    *((lists(pd.Series(["US", "CN", "FR"], index=index, dtype=dtype),
             pd.DataFrame(cells, index=index, dtype=dtype)), {"ndcg@3": expected})
      for dtype in (object, "str", "category") for index in (None, ["u", "v", "w"])
      for cells, expected in ((COUNTRIES, [1, 0.5, 1]), (MISSING, [1, 1, 1]))),
    *((lists(truth, top), {"ndcg": [1, 0.5, 1]})
      for truth in (*(of([["US"], ["CN"], ["FR"]]) for of in COLUMNS), ["US", "CN", {"FR": 1}])
      for top in (*(of(COUNTRIES) for of in COLUMNS), np.array(COUNTRIES))),
    *((lists(["US", "CN", "FR"], of(MISSING)), {"ndcg": [1, 1, 1]}) for of in TABLES),
    (lists([["a"], [], ["b"]], [["a"], [], ["b"]]), {"mrr": [1, 0, 1]}),
    (lists([[], []], [[], []]), {"mrr": [0, 0]}),
    (lists(MIXED, {("u", 1): ["1", b"x", 2.0, frozenset("ba")], ("u", 2): [DAY, (2, 5)]}),
     {"recall@4": [1, 0.5]}),
    (lists(([(1, 2)], [(1, 2)]), ([(1, 2), (3, 4)], [(3, 4), (1, 2)])), {"mrr": [1, 0.5]}),
    (lists(["ABC"], [["A", "ABC"]]), {"recall@2": [1]}),  # a string is one item
    (lists([["a", "a", "b"]], [["a"]]), {"recall@2": [0.5]}),
    (lists({"u": ["a", "b"], "v": ["c"]}, {"u": ["a", "x", "b"], "v": ["v", "c"]},
           exclude={"u": ["a", "x"], "w": ["c"]}, ignore_identical_ids=True),
     {"mrr": [1, 1], "recall@1": [1, 1]}),
    (lists([["a", "b"], ["c"]], [["a", "x", "b"], ["v", "c"]], exclude=[{"a", "x"}, []]),
     {"mrr": [1, 0.5]}),
    *((lists(truth, {"a": top, "b": [[2, 9], [8, 3]]}), {"map": {"a": [0.5, 0.5], "b": [0.5, 0.5]}})
      for of in COLUMNS[-1:]  # of pyarrow, or tuples
      for truth in ([[1, 2], [3]], list(map(of, [[1, 2], [3]])))
      for top in (ARRAYS, list(map(of, ARRAYS)), of(ARRAYS), list(of(ARRAYS)))),
    # an empty list among dicts of scores retrieves nothing
    *((lists({"q": {"a": 1}, "r": {"b": 1}}, run), {"mrr": [1, 0]})
      for run in (SCORED, dict(reversed(SCORED.items())), {**SCORED, "r": np.array([])})),
    (lists({"q": {"a": 1}, "r": {"b": 1}}, {"one": SCORED, "two": {"q": {"a": 1.0}}}),
     {"mrr": {"one": [1, 0], "two": [1, 0]}}),
    # a repeated item is no other item, and judged; "c" is relevant and retrieved by no system
    *((lists([["a", "b", "c"]], SYSTEMS, unjudged=rule),
       {"recall@3(unjudged=irrelevant)": {"twice": [1 / 3], "once": [1 / 3], "later": [2 / 3]},
        "judged@3": {"twice": [2 / 3], "once": [1], "later": [1]}})
      for rule in ("irrelevant", "nan")),
    *((labels(of), {"mrr": [0.5, 1]}) for column in COLUMNS
      for of in ({"a": [0, 1], "b": (2, 0)}, np.array([[0, 1], [2, 0]]), column([[0, 1], [1]]),
                 {"a": column([0, 1]), "b": column([1])})),
    (labels({"s": [[0, 1], [1, 1]], "t": np.array([[1, 0], [1, 1]])}),
     {"mrr": {"s": [0.5, 1], "t": [1, 1]}}),
    (labels([[1], [], [1]]), {"mrr": [1, 0, 1]}),
    (labels({"a": {"p": [1, 0], "q": [NAN, 1, 1]}, "b": {"q": [1, NAN]}}),
     {"mrr(unjudged=drop)": {"a": [1, 1], "b": [0, 1]},
      "recall(unjudged=drop)": {"a": [1, 1], "b": [0, 0.5]}}),
    # missing labels have a rank in every form
    *((labels(of), {"mrr(unjudged=irrelevant)": [0.5, 1]})
      for rows in [[[None, 1, 0], [1, None, 1]]]
      for of in (rows, np.array(rows, float), pd.DataFrame(rows, dtype="Int64"),
                 *(table(rows) for table in TABLES), {"q": rows[0], "r": rows[1]})),
]  # fmt: skip

PAIR = csr_array([[0, 1, 0], [1, 0, 0]])
EYE = csr_array(np.eye(2))
TWICE = csr_matrix((np.array([1.0, 2, 0]), np.array([1, 1, 0]), np.array([0, 3])), shape=(1, 2))


def matrix(*given, **options):
    return lambda: from_recommendations(*given, **options)


MATRICES = [
    (matrix(PAIR, [[-1, 1], [-1, -1]]), {"mrr": [1, 0]}),  # padding has no rank
    (matrix(PAIR, [[1, 2], [2, 0]], [[1, 1], [2, 1]]), {"mrr": [0.75, 0.5]}),
    (matrix(PAIR, [[1, -1], [0, 1]]), {"precision@2(denominator=min)": [1, 0.5]}),
    *((matrix(PAIR, np.array([[2, 1], [0, 2]], dtype=dtype)), {"mrr": [0.5, 1]})
      for dtype in ("u1", "i2", "u4", "u8", "i8", float)),
    *((matrix(truth, pd.DataFrame([[0, 1], [0, 1]], dtype=dtype)), {"mrr": [1, 0.5]})
      for dtype in ("int64", "Int64", object, *(["int32[pyarrow]"] if pa else []))
      for truth in (EYE, pd.DataFrame(np.eye(2, dtype=int), dtype=dtype))),
    (matrix(csr_array((3, 4)), [[0], [-1], [2]]), {"ndcg": [0, 0, 0]}),
    (matrix(TWICE, [[0, 1]]), {"dcg": [3 / math.log2(3)]}),
    *((matrix(of([[1, 1, 0, 0], [0, 0, 1, 0]]), [[0, 2, 3, 1], [2, 0, 1, 3]],
              exclude=of([[1, 0, 2, 0], [0, 0, 0, 0]])), {"mrr": [0.5, 1], "recall@2": [1, 1]})
      for of in (np.asarray, csr_array)),
]  # fmt: skip

BEIR = {"q1": {"d1": 1, "d2": 1}}, {"q1": {"q1": 1.0, "d1": 0.9, "d3": 0.5, "d2": 0.4}}
BEIR_RUN = "".join(f"q1 Q0 {d} 1 {s} t\n" for d, s in BEIR[1]["q1"].items())
TWO = {"1": {"a": 1}, "2": {"b": 1}}
JUDGED = pd.DataFrame({"qid": ["1", "1"], "docno": ["a", "b"], "label": [1, 0]})
# PyTerrier's results have the numbers of documents in its index beside the ids
PYTERRIER = pd.DataFrame({"qid": "1", "docid": [7, 4], "docno": ["b", "a"], "score": [2, 1]})
OF_BEIR = "query-id\tcorpus-id\tscore\nq1\td1\t0\nq1\td2\t2\n"


def trec(*given, **options):
    return lambda: from_trec(*given, **options)


TREC = [
    # BEIR's evaluation, with its default ignore_identical_ids=True, gives these numbers
    *((trec(BEIR[0], run() if callable(run) else run, ignore_identical_ids=True),
       {"ndcg@10": [pytest.approx(0.9197, abs=5e-5)], "map@10": [pytest.approx(5 / 6)]})
      for run in (BEIR[1], {"a": BEIR[1]}, lambda: StringIO(BEIR_RUN))),
    (trec(*BEIR), {"ndcg@10": [pytest.approx(0.6509, abs=5e-5)], "map@10": [0.5]}),
    (trec({"q": {"a": 1}}, {"q": {"q": 1.0}}, ignore_identical_ids=True), {"map": [0]}),
    (trec(JUDGED, PYTERRIER), {"mrr": [0.5]}),
    (trec(pd.read_csv(StringIO(OF_BEIR), sep="\t"),
          pd.DataFrame({"query-id": "q1", "corpus-id": ["d1", "d2"], "score": [0.25, 0.75]})),
     {"mrr": [1], "dcg": [2]}),
    *((trec({"1": {"a": 1}}, run), {"mrr": [0.5]}) for run in (
        {"1": ["b", "a"]}, {"1": ("b", "a")}, {"1": ["b", "a"], "2": []}, {"x": {"1": ["b", "a"]}},
        {"1": [("b", 2), ("a", 1.5)]}, {"1": {"b": np.array(2), "a": np.array(1)}})),
    # a comment of as many words as a line has fields
    (trec(StringIO("1 0 a 1\n#1 0 b 1\n"), {"1": ["b", "a"]}, complete=True), {"mrr": [0.5]}),
    *((trec(TWO, run, complete=True), {"map": [0, 0]})
      for run in ({}, StringIO(""), [], {"1": {}})),
]  # fmt: skip


@pytest.mark.parametrize(("documents", "expected"), [*FRAMES, *LISTS, *MATRICES, *TREC])
def test_equals_the_value_by_hand(documents, expected):
    values = evaluate(metrics=list(expected), **documents(), average=None)
    systems = values if isinstance(next(iter(values.values())), dict) else {None: values}
    for system, of_system in systems.items():
        for name, wanted in expected.items():
            by_query = wanted[system] if isinstance(wanted, dict) else wanted
            for value, by_hand in zip(of_system[name].tolist(), by_query, strict=True):
                assert value == by_hand or value == pytest.approx(by_hand, abs=1e-15), name


@pytest.mark.parametrize("library", LIBRARIES)
def test_one_frame_keeps_the_order_of_its_rows(library):
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"q": rng.integers(0, 9, 80), "y": rng.integers(0, 3, 80)})
    rows["s"] = rng.random(80)
    rows["r"] = rows.groupby("q")["s"].rank(ascending=False)
    for column in ({"score": "s"}, {"rank": "r"}):
        documents = from_frames(library(rows), groups="q", relevance="y", **column)
        assert ndcg_score(**documents) == ndcg_score(rows["y"], rows["s"], groups=rows["q"])
        np.testing.assert_array_equal(documents["groups"], rows["q"])


def test_ranks_of_several_methods_have_no_gaps():
    top = pd.DataFrame({"user": [1] * 4, "item": list("abcd")})
    for method in ("min", "max", "average", "first", "dense"):
        ranks = pd.Series([4, 2, 2, 1]).rank(ascending=False, method=method)
        assert len(frames(top[::3], top.assign(rank=ranks))()["y_true"]) == 4, method


@pytest.mark.parametrize("name", ["rank", "Rank", "bm25_rank", "rank.x", "position"])
def test_ranks_given_as_scores_are_refused(name):
    top = TOP[["user", "item", "rank"]].rename(columns={"rank": name})
    message = f"column {name!r}, is given as score, .* Pass it as rank={name!r}.* or rename it"
    one = {"relevance": "y", "score": {"a": name}}
    for given, options in (
        ((LOG, top), {"score": name}), ((LOG, {"a": top}), {"score": name}),
        ((LOG, top.assign(**{name: top[name] - 1})), {"score": name}), ((top.assign(y=1),), one),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=message):
            frames(*given, **options)()
    assert recall_at_k(**frames(LOG, top, rank=name)(), k=2) == 0.5
    for score in ([0.5, 1.5, 2], [-1, -2, -1], [3, -INF, INF]):  # which are no ranks
        frames(LOG, top.assign(**{name: score}), score=name)()
    for other in ("pagerank", "ranking", "votes", "itemranks"):
        frames(LOG, top.rename(columns={name: other}), score=other)()


def plain(actual, predicted, scores):
    """Labels and scores of one query, from the definition of the lists."""
    labels = [
        0 if item in predicted[:at] else actual.get(item, 0) for at, item in enumerate(predicted)
    ]
    missed = [grade for item, grade in actual.items() if item not in predicted]
    return labels + missed, scores + [-INF] * len(missed)


@pytest.mark.parametrize("metric", ["ndcg", "map", "hits"])
@pytest.mark.parametrize("k", [None, 4])
def test_repeated_and_tied_items_equal_the_oracle(metric, k):
    """Of lists, and of a matrix whose columns are in another order than its scores."""
    rng = np.random.default_rng(1)
    dense = rng.integers(0, 4, (50, 12)) * (rng.random((50, 12)) < 0.3)
    items, scores = rng.integers(-1, 12, (50, 6)), rng.integers(0, 3, (50, 6))
    order = np.argsort(-scores, axis=1, kind="stable")
    ranked, tied = (np.take_along_axis(of, order, axis=1) for of in (items, scores))
    actual = [{item: int(row[item]) for item in np.flatnonzero(row)} for row in dense]
    predicted = [row[row != -1].tolist() for row in ranked]
    values = [row[of != -1].tolist() for row, of in zip(tied, ranked, strict=True)]
    positions = [[*range(0, -len(row), -1)] for row in predicted]
    name = metric if k is None else f"{metric}@{k}"
    for documents, given in (
        (from_recommendations(csr_array(dense), items, scores), values),
        (from_ranked_lists(actual, predicted), positions),
    ):
        expected = []
        for y, s in map(plain, actual, predicted, given):
            expected.append((oracle.query_value(metric, y, s, k=k) or 0.0) if y else 0.0)
        by_query = evaluate(metrics=[name], **documents, average=None)[name]
        np.testing.assert_allclose(by_query, expected, rtol=1e-12)


def test_sums_of_events_in_small_integers():
    log = coo_array((np.ones(300, np.uint8), (np.zeros(300, int), np.ones(300, int))), shape=(1, 2))
    assert np.nansum(from_recommendations(log, [[1, 0]])["y_true"]) == 300


def test_items_that_are_times_of_any_unit():
    days = np.array(["2024-01-01", "2024-01-02"], "M8[ns]")
    documents = from_ranked_lists([[pd.Timestamp(day) for day in days[::-1]]], [days[1:]])
    assert recall_at_k(**documents, k=1) == 0.5


def test_queries_of_a_dict_and_of_an_index():
    by_index = pd.Series([["a"], ["c", "b"]], index=["u", "v"])
    by_key = {"v": ["b"], "u": ["a"]}
    for given in ((by_index, by_key), (by_key, by_index), (by_index, {"knn": by_key})):
        scores = evaluate(metrics="recall@1", **from_ranked_lists(*given))
        (value,) = scores.get("knn", scores).values()
        assert value == (0.75 if given[0] is by_index else 0.5)


def test_a_matrix_is_not_changed():
    from_recommendations(TWICE, [[0, 1]])
    assert (TWICE.data.tolist(), TWICE.indices.tolist()) == ([1, 2, 0], [1, 1, 0])


@pytest.mark.slow
def test_time_of_two_million_recommendations():
    rng = np.random.default_rng(0)
    interactions = random_array((20_000, 20_000), density=1e-3, format="csr", rng=rng)
    recommended = rng.integers(0, 20_000, (20_000, 100), dtype=np.int32)
    start = time.process_time()
    recall = recall_at_k(**from_recommendations(interactions, recommended), k=100)
    # it takes 0.5 s; the limit allows for a busy or slow machine
    assert time.process_time() - start < 3
    assert recall == pytest.approx(100 / 20_000, rel=0.1)


def test_relevance_by_rank_is_that_of_items_that_carry_it():
    """The n-th document of a query with a label is the same one in all systems."""
    rng = np.random.default_rng(4)
    ranked = [rng.integers(0, 3, rng.integers(1, 9)).tolist() for _ in range(30)]
    systems = {
        name: [rng.permutation(of)[:size].tolist() for of in ranked]
        for name, size in [("a", 5), ("b", 3), ("all", None)]
    }
    items = {
        name: [[(x, of[:i].count(x)) for i, x in enumerate(of)] for of in lists_]
        for name, lists_ in systems.items()
    }
    by_query = zip(*items.values(), strict=True)
    actual = [{item: item[0] for of in of_query for item in of} for of_query in by_query]
    names = ["ndcg", "ndcg@3", "map@3", "mrr", "precision@3", "recall@3", "r_precision"]
    expected = evaluate(metrics=names, **from_ranked_lists(actual, items), average=None)
    together = evaluate(metrics=names, **from_relevance_lists(systems), average=None)
    np.testing.assert_equal(together, expected)
    alone = evaluate(metrics=names, **from_relevance_lists(systems["all"]), average=None)
    np.testing.assert_equal(alone, together["all"])


MESSY_QRELS = "\ufeff# judged by hand\r\n301 0 A 1\r\n\r\n301\t0\tB  -1\r\n  302 Q C 2.0 \r\n"
MESSY_RUN = "\n#run\n301 Q0 B 1 2 x\n301\tQ0\tA\t2\t1e0\tx\n302 Q0 #C 1 .5 x\n302 Q0 C 1 -1 x y"


@pytest.mark.parametrize("wrap", [StringIO, lambda text: BytesIO(text.encode())])
def test_comments_tabs_blank_lines_and_line_ends(wrap):
    """And a byte order mark, and text after the tag, which trec_eval skips too."""
    documents = from_trec(wrap(MESSY_QRELS), wrap(MESSY_RUN))
    assert str(documents["y_true"].tolist()) == "[1.0, -inf, nan, 2.0]"
    assert documents["y_score"].tolist() == [1.0, 2.0, 0.5, -1.0]
    assert documents["groups"].tolist() == ["301", "301", "302", "302"]


def test_long_and_short_ids_are_distinct():
    ids = ["d" * n + end for n in (1, 8, 63, 64, 65, 300) for end in ("", "a", "b", "é")]
    for least in (0, 16):  # without and with ids that are too long for an array
        run = "".join(f"q Q0 {one} 1 {at} t\n" for at, one in enumerate(ids[: len(ids) - least]))
        documents = from_trec({"q": {"da": 1}}, StringIO(run))
        assert documents["y_score"].tolist() == [
            at for at, _ in sorted(enumerate(ids[: len(ids) - least]), key=lambda pair: pair[1])
        ]


def trec_eval(qrels, run):
    measures = {"map", "P.5", "recip_rank"}
    return import_module("pytrec_eval").RelevanceEvaluator(qrels, measures).evaluate(run)["q"]


TIED = {"q": {"d10": 1, "d9": 0, "é": 0}}, {"q": dict.fromkeys(["d9", "é", "d10"], 1.0)}
HUGE = {"q": {"a": 1, "b": 1}}, {"q": {"a": -INF, "b": 1e300, "c": INF}}
CLOSE = [({"q": {"a": 1}}, {"q": {"a": 0.1 + d, "b": 0.1}}) for d in (1e-12, 1e-9, 1e-6)]


@pytest.mark.parametrize(("given", "single"), [
    (TIED, 1 / 3), (HUGE, 1 / 2), (CLOSE[0], 1 / 2), (CLOSE[1], 1 / 2), (CLOSE[2], 1)
])  # fmt: skip
@pytest.mark.integration
def test_ties_and_rounding_of_trec_eval(given, single):
    """Descending bytes of ids; double precision, as in trec_eval 10; pytrec_eval has single."""
    names = {"recip_rank": "mrr", "map": "map", "P_5": "precision@5"}
    theirs = trec_eval(*given)
    assert theirs["recip_rank"] == pytest.approx(single)
    written = StringIO("".join(f"q Q0 {d} 1 {s!r} t\n" for d, s in given[1]["q"].items()))
    for run in (given[1], written):
        mine = evaluate(metrics=list(names.values()), **from_trec(given[0], run), like="trec_eval")
        if given in CLOSE:
            assert mine["mrr"] == 1
        else:
            assert mine == pytest.approx({ours: theirs[of] for of, ours in names.items()})


@pytest.mark.integration
def test_tensors_as_lists_and_as_scores():
    tensor = import_module("torch").tensor
    arrays = list(map(tensor, ARRAYS))
    expected = from_ranked_lists([[1, 2], [3]], ARRAYS)
    for truth in ([[1, 2], [3]], [tensor([1, 2]), tensor([3])]):
        np.testing.assert_equal(from_ranked_lists(truth, arrays), expected)
    actual, scores = {"q": {"a": 0, "b": 2}}, {"q": {"a": 0.5, "b": 0.25}}
    tensors = {"q": {document: tensor(score) for document, score in scores["q"].items()}}
    for read in (from_ranked_lists, from_trec):
        np.testing.assert_equal(read(actual, tensors), read(actual, scores))
        of_system = read(actual, {"bm25": tensors})["y_score"]["bm25"]
        np.testing.assert_equal(of_system, read(actual, scores)["y_score"])
