"""Documents without a judgment, from every function that reads judgments, against trec_eval."""

import copy
import math
import pickle
import warnings
from importlib import import_module
from io import StringIO

import joblib
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
    kendall_tau_score,
    ndcg_score,
    ranking_report,
    score_bounds,
)

NAN = math.nan
QRELS = "1 0 a 1\n1 0 b 0\n1 0 c -1\n1 0 d 2\n1 0 e -1\n"
RUN = "1 Q0 c 1 9 t\n1 Q0 x 2 8 t\n1 Q0 a 3 7 t\n1 Q0 b 4 6 t\n"


def random_judgments_and_run(seed, levels):
    """Qrels with levels from -1, of some documents only, and runs with ties and other documents."""
    random = np.random.default_rng(seed)
    qrels, run = {}, {}
    for query in range(40):
        documents = [f"d{i:03d}" for i in range(random.integers(2, 30))]
        judged = random.permutation(documents)[: random.integers(1, len(documents) + 1)]
        retrieved = random.permutation(documents)[: random.integers(1, len(documents) + 1)]
        qrels[f"q{query:02d}"] = {d: int(random.choice(levels)) for d in judged}
        run[f"q{query:02d}"] = {d: float(random.integers(0, 12)) / 4 for d in retrieved}
    return qrels, run


@pytest.fixture(params=[0, 1, 2])
def judgments(request):
    return random_judgments_and_run(request.param, [-1, 0, 0, 0, 1, 2])


def by_trec_eval(qrels, run, measures, **options):
    pytrec_eval = import_module("pytrec_eval")
    measured = pytrec_eval.RelevanceEvaluator(qrels, set(measures), **options).evaluate(run)
    names = [measure.replace(".", "_") for measure in measures]
    return {name: [measured[query][name] for query in sorted(measured)] for name in names}


OURS = {
    "map": "map",
    "ndcg": "ndcg",
    "recip_rank": "mrr",
    "Rprec": "r_precision",
    "P_5": "precision@5",
    "recall_5": "recall@5",
    "ndcg_cut_5": "ndcg@5",
    "map_cut_5": "map@5",
    "success_5": "hit_rate@5",
}
MEASURES = ["map", "ndcg", "recip_rank", "Rprec"] + [
    f"{name}.5" for name in ("P", "recall", "ndcg_cut", "map_cut", "success")
]


@pytest.mark.parametrize("judged_only", [False, True])
@pytest.mark.integration
def test_metrics_equal_trec_eval_and_its_option_j(judgments, judged_only):
    theirs = by_trec_eval(*judgments, MEASURES, judged_docs_only_flag=judged_only)
    documents = from_trec(*judgments, unjudged="nan")
    rule = "drop" if judged_only else "irrelevant"
    options = {"like": "trec_eval", "unjudged": rule, "average": None}
    ours = evaluate(metrics=list(OURS.values()), **documents, **options)
    for name, values in theirs.items():
        np.testing.assert_allclose(ours[OURS[name]], values, rtol=1e-6, atol=1e-9, err_msg=name)
    if not judged_only:
        default = from_trec(*judgments)
        again = evaluate(metrics=list(OURS.values()), **default, like="trec_eval", average=None)
        assert all(np.array_equal(ours[name], again[name]) for name in ours)


@pytest.mark.integration
def test_bpref_and_infap_equal_trec_eval(judgments):
    theirs = by_trec_eval(*judgments, ["bpref", "infAP"])
    documents = from_trec(*judgments)
    assert np.isneginf(documents["y_true"]).any()
    assert np.isnan(documents["y_true"]).any()
    ours = evaluate(metrics=["bpref", "infAP"], **documents, like="trec_eval", average=None)
    for name, values in ours.items():
        np.testing.assert_allclose(values, theirs[name], rtol=1e-6, atol=1e-9, err_msg=name)
    nan = from_trec(*judgments, unjudged="nan")
    again = evaluate(metrics="bpref", **nan, like="trec_eval", average=None)["bpref"]
    assert again.tolist() == ours["bpref"].tolist()


RULES = ("irrelevant", "drop", "nan")


def of_all_formats(unjudged):
    """The same judgments and ranking, from each function that reads them."""
    judged, ranked = {"a": 2, "b": 0, "d": 1}, ["x", "a", "y", "b"]
    truth = pd.DataFrame({"q": 1, "d": [*judged], "label": judged.values()})
    top = pd.DataFrame({"q": 1, "d": ranked, "rank": range(1, 5)})
    columns = {"groups": "q", "document": "d", "relevance": "label", "rank": "rank"}
    run = dict(zip(ranked, [4.0, 3.0, 2.0, 1.0], strict=True))
    yield from_trec({"q": judged}, {"q": run}, unjudged=unjudged)
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
        assert evaluate(metrics=[*of_unjudged, "map"], **zeros) == {
            **expected, "map": evaluate(metrics="map", **nans, unjudged="irrelevant")["map"]
        }  # fmt: skip
        assert expected["judged@2"] == 0.5
        assert ndcg_score(**dropped) == ndcg_score(**nans, unjudged="drop")
        assert ndcg_score(**zeros) == ndcg_score(**nans, unjudged="irrelevant")
        assert bpref_score(**zeros) == bpref_score(**nans) > 0
        bounds, of_nans = (score_bounds(**d, metrics="map").mean()["map"] for d in (zeros, nans))
        assert bounds == of_nans
        assert bounds.low < bounds.high
        report = ranking_report(**zeros, metrics="map", bounds=True, output_dict=True)
        assert 0 < report["data"]["documents_unjudged"] < 1


def test_labels_keep_what_is_known_of_them_through_pickles_copies_and_processes():
    """b is judged irrelevant above a in one of two queries; x, c and y are not judged."""
    qrels = {"q1": {"a": 1, "b": 0, "c": -1}, "q2": {"a": 1, "d": 0, "e": 0}}
    run = {
        "q1": {"x": 4.0, "a": 3.0, "c": 2.0, "b": 1.0},
        "q2": {"y": 3.0, "d": 2.5, "a": 2.0, "e": 1.0},
    }
    names, documents = ["bpref", "judged@2", "infap", "mrr"], from_trec(qrels, run)
    expected = evaluate(metrics=names, **documents)
    assert (expected["bpref"], expected["judged@2"]) == (0.5, 0.5)
    labels = documents["y_true"]
    for same in (
        pickle.loads(pickle.dumps(documents)),
        copy.deepcopy(documents),
        documents | {"y_true": labels[:]},
        documents | {"y_true": labels.ravel()},
        documents | {"y_true": labels.tolist()},
        documents | {"y_true": pd.Series(labels)},
    ):
        assert evaluate(metrics=names, **same) == expected
    call = joblib.delayed(evaluate)(metrics=names, **documents)
    assert joblib.Parallel(n_jobs=2)([call, call]) == [expected, expected]


@pytest.mark.integration
def test_bpref_equals_ranx():
    """With an irrelevant document for each query, without which ranx divides by zero."""
    ranx = import_module("ranx")
    qrels, run = random_judgments_and_run(4, [0, 0, 1, 2])
    for number, of_query in enumerate(qrels.values()):
        of_query |= {"d998": 0, "d999": 1 + number % 2}
    # ranx ranks equal scores by position only in lists of fewer than 16
    run = {q: dict(list(of_query.items())[:15]) for q, of_query in run.items()}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="unsafe cast from uint64 to int64")
        theirs = ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), "bpref", return_mean=False)
    documents = from_trec(qrels, run, unjudged="nan")
    distinct = {q: len(set(of_query.values())) == len(of_query) for q, of_query in run.items()}
    ours = evaluate(metrics="bpref", **documents, like="ranx", average=None)["bpref"]
    compared = np.array(list(distinct.values()))
    assert compared.sum() > 3
    np.testing.assert_allclose(ours[compared], np.asarray(theirs)[compared], rtol=1e-6)


@pytest.mark.parametrize("k", [1, 3, 10, None])
@pytest.mark.integration
def test_judged_equals_ir_measures(k):
    ir_measures = import_module("ir_measures")
    qrels, run = random_judgments_and_run(5, [0, 0, 1, 2])
    measure = ir_measures.Judged if k is None else ir_measures.Judged @ k
    theirs = {m.query_id: m.value for m in ir_measures.iter_calc([measure], qrels, run)}
    # it ranks equal scores by ascending id, the order of our rows
    documents = from_trec(qrels, run, unjudged="nan")
    name = "judged(ties=stable)" if k is None else f"judged@{k}(ties=stable)"
    ours = evaluate(metrics=name, **documents, average=None)[name]
    assert ours.tolist() == pytest.approx([theirs[query] for query in sorted(theirs)])


def test_from_trec_keeps_three_kinds_of_labels_apart():
    def labels(**options):
        return from_trec(StringIO(QRELS), StringIO(RUN), **options)["y_true"].tolist()

    assert str(labels()) == "[1.0, 0.0, -inf, nan, 2.0, -inf]"  # a b c x, d e
    assert str(labels()) == str(labels(unjudged="drop"))
    assert str(labels(unjudged="nan")) == "[1.0, 0.0, nan, nan, 2.0, nan]"
    with pytest.raises(ValueError, match="unjudged must be one of 'irrelevant', 'drop', 'nan'"):
        labels(unjudged="pool")


@pytest.mark.parametrize("unjudged", RULES)
def test_the_rules_do_not_depend_on_the_labels_of_unjudged_documents(unjudged):
    """Whatever their label; c ranks first, before x, a (relevant) and b."""
    documents = from_trec(StringIO(QRELS), StringIO(RUN), unjudged=unjudged)
    names = ["mrr(unjudged=drop)", "ndcg(unjudged=drop)", "kendall_tau(unjudged=drop)"]
    as_irrelevant = ["mrr(unjudged=irrelevant)", "ndcg(unjudged=irrelevant)"]
    values = evaluate(metrics=[*names, *as_irrelevant, "judged@2"], **documents)
    ideal = 2 + 1 / np.log2(3)
    expected = [1, 1 / ideal, 0.5**0.5, 1 / 3, 0.5 / ideal, 0]
    # d is relevant and was not retrieved: of a, b and d, tied below them, one pair is discordant
    expected[2] = kendall_tau_score([1, 0, 2], [2, 1, 0])
    assert list(values.values()) == pytest.approx(expected)
    assert score_bounds(metrics="mrr", **documents).mean()["mrr"] == (pytest.approx(1 / 3), 1)
    report = str(ranking_report(**documents, metrics="mrr(unjudged=drop)"))
    assert "documents without a judgment 50.0%" in " ".join(report.split())  # c, e and x of six


def test_several_runs_share_their_unjudged_documents():
    runs = {"one": StringIO(RUN), "two": StringIO("1 Q0 y 1 3 t\n1 Q0 d 2 2 t\n")}
    documents = from_trec(StringIO(QRELS), runs, unjudged="nan")
    assert str(documents["y_true"].tolist()) == "[1.0, 0.0, nan, 2.0, nan, nan, nan]"  # abcdxy, e
    ours = evaluate(metrics=["mrr(unjudged=drop)", "judged@1"], **documents)
    assert ours == {
        "one": {"mrr(unjudged=drop)": 1, "judged@1": 0},
        "two": {"mrr(unjudged=drop)": 1, "judged@1": 0},
    }


def test_a_missing_relevance_in_frames():
    log = pd.DataFrame({"user": [1, 1, 1], "item": ["tea", "jam", "ham"], "stars": [5, 0, NAN]})
    top = pd.DataFrame({"user": 1, "item": ["oil", "jam", "tea", "ham"], "score": [4, 3, 2, 1]})
    one = {"groups": "user", "score": "score", "relevance": "stars"}
    given = {**one, "document": "item"}
    for frames, options in (((log, top), given), ((log.assign(score=1),), one)):
        with pytest.raises(ValueError, match="truth, column 'stars', contains NaN"):
            from_frames(*frames, **options)
        with pytest.raises(ValueError, match="unjudged must be one of 'irrelevant', 'drop', 'nan'"):
            from_frames(*frames, **options, unjudged="pool")
    documents = from_frames(log, top, **given, unjudged="nan")
    assert str(documents["y_true"].tolist()) == "[nan, 0.0, 5.0, nan]"
    assert ndcg_score(**documents, unjudged="drop") == pytest.approx(1 / np.log2(3))
    labels = from_frames(log.assign(score=1), **one, unjudged="nan")["y_true"]
    assert str(labels.tolist()) == "[5.0, 0.0, nan]"


@pytest.mark.parametrize("unjudged", ["irrelevant", "nan"])
@pytest.mark.parametrize("source", ["frames", "lists"])
def test_a_negative_label_is_one_whether_or_not_other_documents_are_unjudged(source, unjudged):
    """Unlike in qrels; ratings may be negative."""
    truth = {"u": {"a": -1, "b": 1}, "v": {"a": 1}}
    predicted = {"u": {"a": 2.0, "b": 1.0}, "v": {"a": 1.0}}
    for extra in ({}, {"x": 0.5}):
        top = {**predicted, "v": {**predicted["v"], **extra}}
        if source == "lists":
            documents = from_ranked_lists(truth, top, unjudged=unjudged)
        else:
            frames = (
                pd.DataFrame([(q, d, x) for q, of in data.items() for d, x in of.items()])
                for data in (truth, top)
            )
            names = {"groups": 0, "document": 1, "relevance": 2, "score": 2}
            documents = from_frames(*frames, **names, unjudged=unjudged)
        rules = {rule: f"mrr(unjudged={rule})" for rule in ("irrelevant", "drop")}
        assert evaluate(metrics=rules, **documents) == {"irrelevant": 0.75, "drop": 0.75}
        with pytest.raises(ValueError, match="negative labels"):
            evaluate(metrics="ndcg(unjudged=drop)", **documents)


def test_lists_of_items_and_of_relevance():
    actual, predicted = [{"a": 2, "b": 0}], [["x", "b", "a", "b"]]
    labels = from_ranked_lists(actual, predicted, unjudged="nan")["y_true"].tolist()
    assert str(labels) == "[nan, 0.0, 2.0, 0.0]"  # the second b is no unjudged document
    assert str(from_ranked_lists(actual, predicted)["y_true"].tolist()) == str(labels)
    labels = from_relevance_lists([[NAN, 1], [None, 0]])["y_true"].tolist()
    assert str(labels) == "[nan, 1.0, nan, 0.0]"
    with pytest.raises(ValueError, match="unjudged='drop'"):
        ndcg_score(**from_relevance_lists([[NAN, 1]]))


ONCE = csr_array(([2.0, 0.0], ([0, 0], [1, 2])), shape=(1, 4))
TWICE = csr_array((np.array([1.0, 1.0, 0.0]), np.array([1, 1, 2]), np.array([0, 3])), (1, 4))


@pytest.mark.parametrize(
    ("interactions", "items", "rule", "expected"),
    [
        (ONCE, [0, 1, 2, 3], "nan", "[nan, 2.0, 0.0, nan]"),  # a stored 0 is a judgment
        (TWICE, [0, 1, 2, 3], "nan", "[nan, 2.0, 0.0, nan]"),  # entries are added up
        (ONCE, [0, 1, 2, 3], "irrelevant", "[nan, 2.0, nan, nan]"),
        # not recommended, it is a document only if it was judged
        (ONCE, [0, 1], "nan", "[nan, 2.0, 0.0]"),
        (ONCE, [0, 1], "irrelevant", "[nan, 2.0]"),
    ],
)
def test_recommendations_of_items_that_are_not_stored(interactions, items, rule, expected):
    labels = from_recommendations(interactions, [items], unjudged=rule)["y_true"]
    assert str(labels.tolist()) == expected
