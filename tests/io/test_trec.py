"""TREC files: numbers of trec_eval on random data, formats, and errors."""

import gzip
from importlib import import_module
from io import BytesIO, StringIO

import numpy as np
import pandas as pd
import pytest

from sklearn_rankscore import evaluate, from_trec


def random_files(seed, n_queries=40):
    """Judgments and a run with ties, unjudged documents, and queries missing on either side."""
    rng = np.random.default_rng(seed)
    # ids of unequal length and non-ASCII letters, whose order by bytes is not the numeric one
    names = np.array([f"d{i}" for i in range(25)] + ["D-é", "D-z", "d", "ü1", "日本", "\U0001f600"])
    qrels, run = {}, {}
    for query in map(str, range(n_queries)):
        if rng.random() < 0.85:
            judged = rng.choice(names, rng.integers(1, 15), replace=False)
            qrels[query] = {d: int(rng.choice([-1, 0, 0, 1, 2, 3])) for d in judged.tolist()}
        if rng.random() < 0.85:
            retrieved = rng.choice(names, rng.integers(1, 20), replace=False)
            scores = rng.choice([-3.5, 0.0, 0.25, 7.0, 1e-3], len(retrieved))
            run[query] = dict(zip(retrieved.tolist(), scores.tolist(), strict=True))
    return qrels, run


def qrels_text(qrels):
    return "".join(f"{q} 0 {d} {r}\n" for q, docs in qrels.items() for d, r in docs.items())


def run_text(run):
    return "".join(
        f"{q}\tQ0\t{d}\t1\t{s!r}\ttag\n" for q, docs in run.items() for d, s in docs.items()
    )


def files(qrels, run):
    return StringIO(qrels_text(qrels)), StringIO(run_text(run))


def trec_eval(qrels, run):
    measures = {"ndcg", "ndcg_cut.1,5", "map", "map_cut.5", "P.5", "recall.5", "recip_rank"}
    pytrec_eval = import_module("pytrec_eval")
    return pytrec_eval.RelevanceEvaluator(qrels, measures | {"Rprec", "success.5"}).evaluate(run)


def test_every_negative_label_counts_as_minus_1():
    # -2 marks spam in some judgments; pytrec_eval corrupts memory with it
    qrels, run = random_files(6)
    junk = {q: {d: -2 if r == -1 else r for d, r in docs.items()} for q, docs in qrels.items()}
    expected = from_trec(*files(qrels, run), complete=False)["y_true"]
    assert np.isneginf(expected).any()
    np.testing.assert_array_equal(from_trec(*files(junk, run), complete=False)["y_true"], expected)


@pytest.mark.integration
def test_ties_are_broken_by_descending_bytes_of_document_ids():
    qrels, run = {"q": {"d10": 1, "d9": 0, "é": 0}}, {"q": dict.fromkeys(["d9", "é", "d10"], 1.0)}
    documents = from_trec(*files(qrels, run))
    assert evaluate(metrics="mrr", **documents, like="trec_eval") == {"mrr": 1 / 3}
    assert trec_eval(qrels, run)["q"]["recip_rank"] == pytest.approx(1 / 3)
    assert evaluate(metrics="mrr", **documents)["mrr"] == pytest.approx((1 + 1 / 2 + 1 / 3) / 3)


@pytest.mark.parametrize("apart", [1e-12, 1e-9, 1e-6])
@pytest.mark.integration
def test_scores_are_kept_in_double_precision(apart):
    """As in trec_eval 10, whose m_recip_rank is 1 here; pytrec_eval rounds to single precision."""
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 0.1 + apart, "b": 0.1}}
    mine = evaluate(metrics="mrr", **from_trec(*files(qrels, run)), like="trec_eval")["mrr"]
    assert mine == 1
    assert trec_eval(qrels, run)["q"]["recip_rank"] == (1 if apart == 1e-6 else 0.5)


@pytest.mark.integration
def test_huge_and_infinite_scores_are_retrieved():
    run = {"q": {"a": -np.inf, "b": 1e300, "c": np.inf}}
    qrels = {"q": {"a": 1, "b": 1}}
    documents = from_trec(*files(qrels, run))
    names = {"map": "map", "mrr": "recip_rank", "precision@5": "P_5"}
    mine = evaluate(metrics=names, **documents, like="trec_eval")
    theirs = trec_eval(qrels, run)["q"]
    assert mine == pytest.approx({name: theirs[measure] for name, measure in names.items()})


MESSY_QRELS = "# judged by hand\r\n301 0 A 1\r\n\r\n301\t0\tB  -1\r\n  302 Q C 2.0 \r\n"
MESSY_RUN = "\n#run\n301 Q0 B 1 2 x\n301\tQ0\tA\t2\t1e0\tx\n302 Q0 #C 1 .5 x\n302 Q0 C 1 -1 x"


@pytest.mark.parametrize("wrap", [StringIO, lambda text: BytesIO(text.encode())])
def test_comments_tabs_blank_lines_and_line_ends(wrap):
    documents = from_trec(wrap(MESSY_QRELS), wrap(MESSY_RUN))
    assert documents.pop("unjudged") == "irrelevant"
    documents["y_true"] = np.where(np.isnan(documents["y_true"]), None, documents["y_true"])
    assert {name: values.tolist() for name, values in documents.items()} == {
        "y_true": [1, -np.inf, None, 2],
        "y_score": [1.0, 2.0, 0.5, -1.0],
        "groups": ["301", "301", "302", "302"],
    }


def test_the_numbers_of_documents_in_an_index_are_no_ids():
    """PyTerrier's results have them beside the ids."""
    qrels = pd.DataFrame({"qid": ["1", "1"], "docno": ["a", "b"], "label": [1, 0]})
    run = pd.DataFrame(
        {"qid": ["1", "1"], "docid": [7, 4], "docno": ["b", "a"], "rank": [0, 1], "score": [2, 1]}
    )
    assert evaluate(metrics="mrr", **from_trec(qrels, run)) == {"mrr": 0.5}


def test_a_query_is_no_result_of_its_own_in_beir():
    """BEIR's evaluation, with its default ignore_identical_ids=True, gives these numbers."""
    qrels = {"q1": {"d1": 1, "d2": 1}}
    run = {"q1": {"q1": 1.0, "d1": 0.9, "d3": 0.5, "d2": 0.4}}
    names = ["ndcg@10", "map@10"]
    for given in (run, {"a": run}, StringIO(run_text(run))):
        documents = from_trec(qrels, given, ignore_identical_ids=True)
        values = evaluate(metrics=names, **documents, like="beir")
        values = values.get("a", values)
        assert values == pytest.approx({"ndcg@10": 0.9197, "map@10": 0.8333}, abs=5e-5)
    kept = evaluate(metrics=names, **from_trec(qrels, run), like="beir")
    assert kept == pytest.approx({"ndcg@10": 0.6509, "map@10": 0.5}, abs=5e-5)
    only = from_trec({"q": {"a": 1}}, {"q": {"q": 1.0}}, ignore_identical_ids=True)
    assert evaluate(metrics="map", **only) == {"map": 0}


def test_files_with_named_columns_are_read_by_name(tmp_path):
    (tmp_path / "q.csv").write_text("QID,DocNo,label\n1,a,0.5\n1,b,0\n")
    (tmp_path / "r.tsv.gz").write_bytes(gzip.compress(b"qid\tdocno\trank\n1\tb\t1\n1\ta\t3\n"))
    documents = from_trec(tmp_path / "q.csv", str(tmp_path / "r.tsv.gz"))
    assert evaluate(metrics="mrr", **documents) == {"mrr": pytest.approx(1 / 3)}


def test_judgments_of_beir():
    """https://github.com/beir-cellar/beir/wiki/Load-your-custom-dataset"""
    text = "query-id\tcorpus-id\tscore\nq1\td1\t0\nq1\td2\t2\n"
    judged = pd.read_csv(StringIO(text), sep="\t")
    run = pd.DataFrame({"query-id": "q1", "corpus-id": ["d1", "d2"], "score": [0.25, 0.75]})
    documents = from_trec(judged, run)
    assert documents["y_true"].tolist() == [0, 2]
    assert documents["y_score"].tolist() == [0.25, 0.75]


@pytest.mark.parametrize("run", [{"1": ["b", "a"]}, {"1": ("b", "a")}, {"1": ["b", "a"], "2": []}])
def test_a_run_of_lists_ranks_in_their_order(run):
    for given in (run, {"bm25": run}):
        documents = from_trec({"1": {"a": 1}}, given)
        values = evaluate(metrics="mrr", **documents)
        assert values == ({"mrr": 0.5} if given is run else {"bm25": {"mrr": 0.5}})


@pytest.mark.parametrize("run", [{}, StringIO(""), [], {"1": {}}])
def test_an_empty_run_retrieved_nothing_if_complete(run):
    documents = from_trec({"1": {"a": 1}, "2": {"b": 1}}, run, complete=True)
    assert evaluate(metrics="map", **documents) == {"map": 0}
