"""Documents without a judgment, from every function that reads judgments, against trec_eval."""

import math
from importlib import import_module
from io import StringIO

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from sklearn_rankscore import (
    bpref_score,
    evaluate,
    from_frames,
    from_ranked_lists,
    from_recommendations,
    from_relevance_lists,
    from_trec,
    ndcg_score,
    ranking_report,
    score_bounds,
)

NAN = math.nan
RULES = ("irrelevant", "drop", "nan")
QRELS = "1 0 a 1\n1 0 b 0\n1 0 c -1\n1 0 d 2\n1 0 e -1\n"
RUN = "1 Q0 c 1 9 t\n1 Q0 x 2 8 t\n1 Q0 a 3 7 t\n1 Q0 b 4 6 t\n"


def judgments_and_run(seed, levels=(-1, 0, 0, 0, 1, 2)):
    """Qrels with levels from -1, of some documents only, and runs with ties and other documents."""
    random = np.random.default_rng(seed)
    qrels, run = {}, {}
    for query in (f"q{i:02d}" for i in range(40)):
        documents = [f"d{i:03d}" for i in range(random.integers(2, 30))]
        judged, retrieved = (
            random.permutation(documents)[: random.integers(1, len(documents) + 1)]
            for _ in range(2)
        )
        qrels[query] = {d: int(random.choice(levels)) for d in judged}
        run[query] = {d: float(random.integers(0, 12)) / 4 for d in retrieved}
    return qrels, run


OURS = {"map": "map", "ndcg": "ndcg", "recip_rank": "mrr", "Rprec": "r_precision"}
OURS |= {"P_5": "precision@5", "recall_5": "recall@5", "ndcg_cut_5": "ndcg@5"}
OURS |= {"map_cut_5": "map@5", "success_5": "hit_rate@5"}
OF_UNJUDGED = {"bpref": "bpref", "infAP": "infap"}


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("rule", ["irrelevant", "drop", "pooled"])
@pytest.mark.integration
def test_metrics_equal_trec_eval_and_its_option_j(seed, rule):
    qrels, run = judgments_and_run(seed)
    names = OF_UNJUDGED if rule == "pooled" else OURS
    measures = {of.replace("_5", ".5") for of in names}
    theirs = (
        import_module("pytrec_eval")
        .RelevanceEvaluator(qrels, measures, judged_docs_only_flag=rule == "drop")
        .evaluate(run)
    )
    of_rule = {} if rule == "pooled" else {"unjudged": rule}
    ways = [from_trec(qrels, run) | of_rule]
    # infap needs to know the pool, which negative labels mark
    ways += [] if rule == "pooled" else [from_trec(qrels, run, unjudged="nan") | of_rule]
    # pytrec_eval corrupts memory with other negative labels, which count as -1
    junk = {q: {d: -2 if r == -1 else r for d, r in of.items()} for q, of in qrels.items()}
    ways.append(from_trec(junk, run) | of_rule)
    for documents in ways:
        ours = evaluate(metrics=names, **documents, like="trec_eval", average=None)
        for name in names:
            expected = [theirs[query][name] for query in sorted(theirs)]
            np.testing.assert_allclose(ours[name], expected, rtol=1e-6, atol=1e-9, err_msg=name)


@pytest.mark.integration
def test_judged_equals_ir_measures():
    ir_measures = import_module("ir_measures")
    qrels, run = judgments_and_run(5, [0, 0, 1, 2])
    for measure in map(ir_measures.parse_measure, ("Judged", "Judged@1", "Judged@3", "Judged@10")):
        theirs = {m.query_id: m.value for m in ir_measures.iter_calc([measure], qrels, run)}
        # it ranks equal scores by ascending id, the order of our rows
        name = f"{str(measure).lower()}(ties=stable)"
        ours = evaluate(metrics=name, **from_trec(qrels, run, unjudged="nan"), average=None)[name]
        assert ours.tolist() == pytest.approx([theirs[query] for query in sorted(theirs)])


def of_all_formats(unjudged):
    """The same judgments and ranking, from each function that reads them."""
    judged, ranked = {"a": 2, "b": 0, "d": 1}, ["x", "a", "y", "b"]
    truth = pd.DataFrame({"q": 1, "d": [*judged], "label": judged.values()})
    top = pd.DataFrame({"q": 1, "d": ranked, "rank": range(1, 5)})
    columns = {"groups": "q", "document": "d", "relevance": "label", "rank": "rank"}
    yield from_trec({"q": judged}, {"q": ranked}, unjudged=unjudged)
    yield from_frames(truth, top, **columns, unjudged=unjudged)
    yield from_ranked_lists([judged], [ranked], unjudged=unjudged)
    several = from_ranked_lists([judged], {"one": [ranked], "two": [["z"]]}, unjudged=unjudged)
    yield several | {"y_score": several["y_score"]["one"]}
    stored = csr_array(([2.0, 1.0], ([0, 0], [0, 3])), shape=(1, 6))
    yield from_recommendations(stored, [[4, 0, 5, 1]], unjudged=unjudged)


def test_the_arguments_hold_a_rule_for_their_unjudged_documents():
    of_unjudged = ["judged@2", "bpref", "infap", "ndcg@3(unjudged=drop)", "err(unjudged=drop)"]
    for zeros, dropped, nans in zip(*map(of_all_formats, RULES), strict=True):
        assert np.isnan(nans["y_true"]).any()
        assert {**zeros, "unjudged": "drop"}.keys() == dropped.keys() == {*nans, "unjudged"}
        expected = evaluate(metrics=of_unjudged, **nans)
        assert evaluate(metrics=of_unjudged, **zeros) == expected
        assert expected["judged@2"] == 0.5
        assert ndcg_score(**dropped) == ndcg_score(**nans, unjudged="drop")
        assert ndcg_score(**zeros) == ndcg_score(**nans, unjudged="irrelevant")
        assert bpref_score(**zeros) == bpref_score(**nans) > 0
        bounds, of_nans = (score_bounds(**d, metrics="map").mean()["map"] for d in (zeros, nans))
        assert bounds == of_nans
        assert bounds.low < bounds.high
        report = ranking_report(**zeros, metrics="map", bounds=True, output_dict=True)
        assert 0 < report["data"]["documents_unjudged"] < 1


def trec(run=RUN, **options):
    files = {name: StringIO(of) for name, of in run.items()} if isinstance(run, dict) else None
    return lambda: from_trec(StringIO(QRELS), files or StringIO(run), **options)


OTHER = "1 Q0 y 1 3 t\n1 Q0 d 2 2 t\n"
LOG = pd.DataFrame({"user": [1, 1, 1], "item": ["tea", "jam", "ham"], "stars": [5, 0, NAN]})
TOP = pd.DataFrame({"user": 1, "item": ["oil", "jam", "tea", "ham"], "score": [4, 3, 2, 1]})
ONE = {"groups": "user", "score": "score", "relevance": "stars"}
TWO = {**ONE, "document": "item"}
ONCE = csr_array(([2.0, 0.0], ([0, 0], [1, 2])), shape=(1, 4))
TWICE = csr_array((np.array([1.0, 1.0, 0.0]), np.array([1, 1, 2]), np.array([0, 3])), (1, 4))
AGAIN = [{"a": 2, "b": 0}], [["x", "b", "a", "b"]]  # the second b is no unjudged document


def matrix(interactions, items, rule):
    return lambda: from_recommendations(interactions, [items], unjudged=rule)


@pytest.mark.parametrize(("read", "labels"), [
    (trec(), "[1.0, 0.0, -inf, nan, 2.0, -inf]"),  # a b c x, d e
    (trec(unjudged="drop"), "[1.0, 0.0, -inf, nan, 2.0, -inf]"),
    (trec(unjudged="nan"), "[1.0, 0.0, nan, nan, 2.0, nan]"),
    (trec({"a": RUN, "b": OTHER}, unjudged="nan"), "[1.0, 0.0, nan, 2.0, nan, nan, nan]"),
    (lambda: from_frames(LOG, TOP, **TWO, unjudged="nan"), "[nan, 0.0, 5.0, nan]"),
    (lambda: from_frames(LOG.assign(score=1), **ONE, unjudged="nan"), "[5.0, 0.0, nan]"),
    (lambda: from_ranked_lists(*AGAIN, unjudged="nan"), "[nan, 0.0, 2.0, 0.0]"),
    (lambda: from_ranked_lists(*AGAIN), "[nan, 0.0, 2.0, 0.0]"),
    (lambda: from_relevance_lists([[NAN, 1], [None, 0]]), "[nan, 1.0, nan, 0.0]"),
    # ratings may be negative, unlike in qrels
    *((lambda rule=rule: from_ranked_lists([{"a": -1, "b": 1}], [["a", "x"]], unjudged=rule),
       "[-1.0, nan, 1.0]") for rule in RULES),
    *((lambda rule=rule: from_frames(LOG[:2].assign(stars=[1, -1]), TOP, **TWO, unjudged=rule),
       "[nan, -1.0, 1.0, nan]") for rule in RULES),
    (matrix(ONCE, [0, 1, 2, 3], "nan"), "[nan, 2.0, 0.0, nan]"),  # a stored 0 is a judgment
    (matrix(TWICE, [0, 1, 2, 3], "nan"), "[nan, 2.0, 0.0, nan]"),  # entries are added up
    (matrix(ONCE, [0, 1, 2, 3], "irrelevant"), "[nan, 2.0, nan, nan]"),
    # not recommended, it is a document only if it was judged
    (matrix(ONCE, [0, 1], "nan"), "[nan, 2.0, 0.0]"),
    (matrix(ONCE, [0, 1], "irrelevant"), "[nan, 2.0]"),
])  # fmt: skip
def test_labels(read, labels):
    assert str(read()["y_true"].tolist()) == labels
