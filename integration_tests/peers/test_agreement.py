"""The same numbers from files, dicts, frames, the command line, and trec_eval (pytrec_eval)."""

import json
from importlib import import_module

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis_profiles import examples

from sklearn_rankscore import evaluate, from_frames, from_trec
from sklearn_rankscore.cli import main

PAIRS = {
    "ndcg": "ndcg",
    "ndcg@3": "ndcg_cut_3",
    "map": "map",
    "map@3": "map_cut_3",
    "precision@5": "P_5",
    "recall@5": "recall_5",
    "mrr": "recip_rank",
    "r_precision": "Rprec",
    "hit_rate@5": "success_5",
}
DOCUMENTS = ["d1", "d10", "d9", "é", "日本", "\U0001f600", "Q0", "a-b_c.d"]
queries = st.sampled_from(["1", "2", "10", "ü", "301", "x#"])
documents = st.sampled_from(DOCUMENTS)
# few scores, which single precision can represent, so that ties are frequent
scores = st.sampled_from([-1.5, 0.0, 0.25, 0.5, 3.0])
# a negative relevance means not judged
qrels = st.dictionaries(
    queries, st.dictionaries(documents, st.integers(-1, 3), min_size=1), min_size=4
)
runs = st.dictionaries(queries, st.dictionaries(documents, scores, min_size=1), min_size=4)


def long(nested, names):
    rows = [(q, d, v) for q, of_query in nested.items() for d, v in of_query.items()]
    # a run by rank may be in any order; trec_eval breaks ties by document id
    return pd.DataFrame(sorted(rows), columns=names)


def trec_eval(judged, run):
    measures = {"ndcg", "ndcg_cut.3", "map", "map_cut.3", "P.5", "recall.5", "recip_rank"}
    pytrec_eval = import_module("pytrec_eval")
    # for which it does not return if all judgments of a query are negative
    judged = {q: {d: max(r, 0) for d, r in of_query.items()} for q, of_query in judged.items()}
    return pytrec_eval.RelevanceEvaluator(judged, measures | {"Rprec", "success.5"}).evaluate(run)


def write(folder, judged, run):
    qrels_file, run_file = folder / "qrels.txt", folder / "bm25.run"
    qrels_file.write_text("".join(f"{q} 0 {d} {r}\n" for q, d, r in long(judged, None).values))
    run_file.write_text("".join(f"{q} Q0 {d} 1 {s!r} t\n" for q, d, s in long(run, None).values))
    return qrels_file, run_file


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("agreement")


def test_all_ways_agree(folder, capsys):
    n_queries = 0

    @given(qrels, runs)
    @examples(60)
    def check(judged, run):
        nonlocal n_queries
        if judged.keys().isdisjoint(run):
            return
        theirs = trec_eval(judged, run)
        n_queries += len(theirs)
        expected = {m: [theirs[q][t] for q in sorted(theirs)] for m, t in PAIRS.items()}
        files = write(folder, judged, run)
        truth, top = long(judged, ["q", "d", "y"]), long(run, ["q", "d", "s"])
        truth["y"] = truth["y"].clip(lower=0)
        names = {"groups": "q", "document": "d", "relevance": "y", "score": "s"}
        ways = {
            "files": from_trec(*files, complete=False),
            "dicts": from_trec(judged, run, complete=False),
            "frames": from_frames(truth, top, **names, complete=False),
        }
        for way, arrays in ways.items():
            values = evaluate(metrics=PAIRS, **arrays, like="trec_eval", average=None)
            for metric in PAIRS:
                assert values[metric].tolist() == pytest.approx(expected[metric], abs=1e-12), way
        arguments = ["evaluate", *map(str, files), "--like", "trec_eval", "-q", "--format", "json"]
        assert main([*arguments, *(f"-m{metric}" for metric in PAIRS)]) == 0
        of_run = json.loads(capsys.readouterr().out)["queries"]["bm25"]
        assert of_run == {
            q: pytest.approx({m: theirs[q][t] for m, t in PAIRS.items()}, abs=1e-12) for q in theirs
        }

    check()
    assert n_queries > 15
