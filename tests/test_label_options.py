"""Options for missing and biased labels in streams, on clusters and on the command line."""

import json

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from many_queries import EXACT, make_documents, with_unjudged
from requires import requires
from spark_session import ignore_pandas_warning

from sklearn_rankscore import RankingAccumulator, evaluate, evaluate_parquet, from_trec
from sklearn_rankscore.cli import main

pytestmark = ignore_pandas_warning

COLUMNS = with_unjudged(make_documents(20))
TAKEN = [
    "ndcg@3(unjudged=drop)",
    "map(unjudged=irrelevant)",
    "mrr(adjusted=true,unjudged=drop)",
    "ndcg@3(adjusted=true,unjudged=irrelevant)",
]
REFUSED = {
    "dcg@3(propensity=seen)": "propensi",
    "recall@3(propensity=seen,clip=0.1)": "propensi",
    "dcg@3(clip=0.1)": "clip|propensi",
    "ndcg@3(target=orders)": "has no option 'target'",
}


def streams(metric, **_):
    accumulator = RankingAccumulator(metric)
    for part in (COLUMNS["qid"] < 9, COLUMNS["qid"] >= 9):
        accumulator.update(*(COLUMNS[name][part] for name in ("label", "score", "qid")))
    return accumulator.scores()


def parquet(metric, tmp_path, **_):
    pq.write_table(pa.table(COLUMNS), tmp_path / "rows.parquet")
    return evaluate_parquet(tmp_path / "rows.parquet", metric)


def with_dask(metric, **_):
    requires("dask")
    from sklearn_rankscore import dask

    frame = requires("dask.dataframe").from_pandas(pd.DataFrame(COLUMNS), npartitions=2)
    return dask.evaluate(frame, metric)


def with_spark(metric, request, **_):
    requires("pyspark")
    from sklearn_rankscore import spark

    session = request.getfixturevalue("session")
    return spark.evaluate(session.createDataFrame(pa.table(COLUMNS)), metric)


DOORS = [streams, parquet, with_dask, with_spark]


@pytest.mark.parametrize("door", DOORS)
def test_unjudged_and_adjusted_are_taken(door, tmp_path, request):
    rows = COLUMNS["label"], COLUMNS["score"]
    expected = evaluate(*rows, TAKEN, groups=COLUMNS["qid"])
    assert door(TAKEN, tmp_path=tmp_path, request=request) == pytest.approx(expected, **EXACT)


@pytest.mark.parametrize("metric", REFUSED)
@pytest.mark.parametrize("door", DOORS)
def test_options_that_need_other_columns_are_refused_by_name(metric, door, tmp_path, request):
    with pytest.raises(ValueError, match=REFUSED[metric]) as caught:
        door(metric, tmp_path=tmp_path, request=request)
    assert type(caught.value) is ValueError  # before anything runs on a cluster


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    qrels = "".join(f"{q} 0 d{d} {(q + d) % 3}\n" for q in range(5) for d in range(0, 6, 2))
    run = "".join(f"{q} Q0 d{d} 1 {(d * 7 + q) % 5} t\n" for q in range(5) for d in range(6))
    (tmp_path / "qrels.txt").write_text(qrels)
    (tmp_path / "a.run").write_text(run)


@pytest.mark.usefixtures("files")
def test_the_command_line_takes_unjudged_and_adjusted(capsys):
    words = [word for name in TAKEN for word in ("-m", name)]
    assert main(["evaluate", "qrels.txt", "a.run", "--format", "json", *words]) == 0
    expected = evaluate(metrics=TAKEN, **from_trec("qrels.txt", "a.run", unjudged="nan"))
    assert json.loads(capsys.readouterr().out)["runs"]["a"] == pytest.approx(expected)


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("metric", REFUSED)
def test_the_command_line_refuses_by_name(metric, capsys):
    with pytest.raises(SystemExit) as caught:
        main(["evaluate", "qrels.txt", "a.run", "-m", metric])
    message = capsys.readouterr().err
    assert caught.value.code == 2
    assert any(part in message for part in REFUSED[metric].split("|"))
