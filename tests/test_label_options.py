"""Missing, biased and other labels: one door after another takes them, or has one error."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from many_queries import EXACT, make_documents, with_unjudged
from requires import requires
from sklearn.linear_model import Ridge
from spark_session import ignore_pandas_warning

import sklearn_rankscore as rs
from sklearn_rankscore.cli import main

pytestmark = ignore_pandas_warning

COLUMNS = with_unjudged(make_documents(20))
TAKEN = [
    "ndcg@3(unjudged=drop)",
    "map(unjudged=irrelevant)",
    "mrr(adjusted=true,unjudged=drop)",
    "ndcg@3(adjusted=true,unjudged=irrelevant)",
]
UNKNOWN = {
    "dcg@3(propensity=seen)": "propensi",
    "recall@3(propensity=seen,clip=0.1)": "propensi",
    "dcg@3(clip=0.1)": "clip|propensi",
    "ndcg@3(target=orders)": "has no option 'target'",
}


def streams(metric, *_):
    accumulator = rs.RankingAccumulator(metric)
    for part in (COLUMNS["qid"] < 9, COLUMNS["qid"] >= 9):
        accumulator.update(*(COLUMNS[name][part] for name in ("label", "score", "qid")))
    return accumulator.scores()


def parquet(metric, folder, _):
    pq.write_table(pa.table(COLUMNS), folder / "rows.parquet")
    return rs.evaluate_parquet(folder / "rows.parquet", metric)


def with_dask(metric, *_):
    requires("dask")
    from sklearn_rankscore import dask

    frame = requires("dask.dataframe").from_pandas(pd.DataFrame(COLUMNS), npartitions=2)
    return dask.evaluate(frame, metric)


def with_spark(metric, _, request):
    requires("pyspark")
    from sklearn_rankscore import spark

    session = request.getfixturevalue("session")
    return spark.evaluate(session.createDataFrame(pa.table(COLUMNS)), metric)


DOORS = [streams, parquet, with_dask, with_spark]


@pytest.mark.parametrize("door", DOORS)
def test_unjudged_and_adjusted_are_taken(door, tmp_path, request):
    expected = rs.evaluate(COLUMNS["label"], COLUMNS["score"], TAKEN, groups=COLUMNS["qid"])
    assert door(TAKEN, tmp_path, request) == pytest.approx(expected, **EXACT)


@pytest.mark.parametrize("metric", UNKNOWN)
@pytest.mark.parametrize("door", DOORS)
def test_options_that_need_other_columns_are_refused_by_name(metric, door, tmp_path, request):
    with pytest.raises(ValueError, match=UNKNOWN[metric]) as caught:
        door(metric, tmp_path, request)
    assert type(caught.value) is ValueError  # before anything runs on a cluster


def test_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    qrels = "".join(f"{q} 0 d{d} {(q + d) % 3}\n" for q in range(5) for d in range(0, 6, 2))
    run = "".join(f"{q} Q0 d{d} 1 {(d * 7 + q) % 5} t\n" for q in range(5) for d in range(6))
    (tmp_path / "qrels.txt").write_text(qrels)
    (tmp_path / "a.run").write_text(run)
    words, command = [w for name in TAKEN for w in ("-m", name)], ["evaluate", "qrels.txt", "a.run"]
    assert main([*command, "--format", "json", *words]) == 0
    expected = rs.evaluate(metrics=TAKEN, **rs.from_trec("qrels.txt", "a.run", unjudged="nan"))
    assert json.loads(capsys.readouterr().out)["runs"]["a"] == pytest.approx(expected)
    for metric, told in UNKNOWN.items():
        with pytest.raises(SystemExit) as caught:
            main([*command, "-m", metric])
        message = capsys.readouterr().err
        assert caught.value.code == 2
        assert any(part in message for part in told.split("|"))


Y, S, G = np.array([1, 0, 1, 0, 2, 0]), np.arange(6.0), {"groups": np.array([0, 0, 0, 1, 1, 1])}
UNJUDGED, X = np.where(np.arange(6) == 1, np.nan, Y), np.column_stack([S, -S])
SCORES, RANKER = rs.query_scores(Y, S, "ndcg", **G), rs.QueryRanker(Ridge())


def dcg(value, **options):
    return lambda: rs.dcg_score(
        Y, S, **G, propensity=np.where(np.arange(6) == 2, value, 0.5), **options
    )


def by_target(target):
    return lambda: rs.make_ranking_scorer("ndcg")(Ridge().fit(X, Y), X, Y, **G, target=target)


MISUSES = [  # call, and what the error tells
    (dcg(0), r"propensity must lie in \(0, 1\].*got values from 0 to 0\.5"),
    (dcg(1.5), r"propensity must lie in \(0, 1\].*got values from 0\.5 to 1\.5"),
    (dcg(np.nan), "propensity contains NaN .first at position 2"),
    (dcg(1, clip=0), "clip must be above 0"),
    (dcg(1, adjusted=True), "adjusted=True is not defined for clicks weighted by propensity"),
    (lambda: rs.dcg_score(Y, S, **G, clip=0.1), "propensity= is not given"),
    (lambda: rs.dcg_score(Y, S, **G, propensity="seen"), "'seen' is neither a column of X nor"),
    (lambda: rs.map_score(Y, S, **G, propensity=S), "unexpected keyword argument 'propensity'"),
    (lambda: rs.evaluate(Y, S, "map", **G, propensity=S),
     "'map' takes no propensity: the contribution of a document depends on"),
    *((lambda name=name: rs.evaluate(UNJUDGED, S, name, **G),
       r"(?s)y_true contains NaN .first at position 1.*unjudged='irrelevant'.*unjudged='drop'")
      for name in ("ndcg", "map", "query_auc", "spearman", "dcg")),
    (lambda: rs.ndcg_score(UNJUDGED, S, **G, unjudged="dropp"),
     "unjudged must be one of .*; got 'dropp'. Did you mean 'drop'"),
    (lambda: rs.map_score(UNJUDGED, S, **G, unjudged="irrelevant", threshold=-1),
     "unjudged='irrelevant' gives documents the label 0, which threshold=-1 makes relevant"),
    (lambda: RANKER.fit(X, UNJUDGED, **G),
     "(?s)y contains NaN .first at row 1.*fit only on judged documents"),
    (by_target(UNJUDGED), "target contains NaN .first at position 1"),
    (by_target(Y[:5]), "inconsistent numbers of samples: y_true has 5 documents, y_score has 6"),
    (lambda: rs.evaluate(Y, S, "recall@2(target=orders)", **G),
     r"'recall' has no option 'target'.* only scorers"),
    (lambda: rs.cross_val_query_scores(RANKER, X, Y, **G, metrics="mrr", target="orders"),
     "target='orders' is neither a column of X nor an index level"),
    (lambda: rs.score_bounds(UNJUDGED, S, "query_auc", **G), "no exact bounds of 'query_auc'"),
    (lambda: rs.rectify(SCORES, SCORES, SCORES),
     "queries with human labels and two others are needed, of a positive weight; got 2 and 0"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "message"), MISUSES)
def test_one_clear_error(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call()
