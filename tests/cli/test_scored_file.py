"""One file with a label and the scores of one or several systems in each row."""

import csv
import io
import json

import numpy as np
import pandas as pd
import pytest

from sklearn_rankscore import evaluate
from sklearn_rankscore.cli import main

RNG = np.random.default_rng(0)
ROWS = pd.DataFrame({"qid": RNG.integers(0, 30, 400), "label": RNG.integers(0, 3, 400)})
ROWS["score"] = RNG.normal(size=400)
ROWS["dense"] = ROWS["score"] + ROWS["label"]
METRICS = ["ndcg@10", "map(threshold=1)"]
WRITERS = {
    "csv": lambda rows, path: rows.to_csv(path, index=False),
    "tsv": lambda rows, path: rows.to_csv(path, index=False, sep="\t"),
    "parquet": lambda rows, path: rows.to_parquet(path),
    "csv.gz": lambda rows, path: rows.to_csv(path, index=False),
}


def run(*arguments):
    """The status, and the values by system and metric in CSV."""
    return main(["evaluate", *map(str, arguments), "-m", ",".join(METRICS), "--format", "json"])


def expected(**systems):
    y, groups = ROWS["label"], ROWS["qid"]
    return {
        name: pytest.approx(evaluate(y, scores, METRICS, groups=groups), rel=1e-12)
        for name, scores in systems.items()
    }


@pytest.mark.parametrize("end", WRITERS)
def test_values_are_those_of_evaluate(end, tmp_path, capsys):
    path = tmp_path / f"scored.{end}"
    WRITERS[end](ROWS, path)
    assert run(path) == 0
    assert json.loads(capsys.readouterr().out)["runs"] == expected(scored=ROWS["score"])
    assert run(path, "--columns", "score=dense") == 0
    assert json.loads(capsys.readouterr().out)["runs"] == expected(scored=ROWS["dense"])
    named = ROWS.rename(columns={"qid": "day", "label": "clicked"})
    WRITERS[end](named, path)
    columns = ("--columns", "query=day,relevance=clicked", "--scores", "bm25=score,dense")
    assert run(path, *columns, "--baseline", "bm25") == 0
    result = json.loads(capsys.readouterr().out)
    assert result["runs"] == expected(bm25=ROWS["score"], dense=ROWS["dense"])
    assert [row["wins"] for row in result["comparison"]] == [30, 30]


def test_values_of_queries(tmp_path, capsys):
    ROWS.to_csv(tmp_path / "scored.csv", index=False)
    main(["evaluate", str(tmp_path / "scored.csv"), "-q", "-m", "mrr", "--format", "csv"])
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    values = [float(row["mrr"]) for row in rows if row["query"] != "all"]
    y, groups = ROWS["label"], ROWS["qid"].astype(str)
    alone = evaluate(y, ROWS["score"], "mrr", groups=groups, average=None)["mrr"]
    np.testing.assert_allclose(values, alone, rtol=1e-12)


@pytest.mark.parametrize(
    ("file", "arguments", "message"),
    [
        ("scored.csv", ["--scores", "densse"], "no column 'densse' for --scores; .*'dense'"),
        ("scored.csv", ["--columns", "query=user"], "no column for the query, 'user'"),
        ("scored.csv", ["--columns", "score=rank"], "its name and values are those of ranks"),
        ("wrong.csv", [], r"wrong.csv, line 3, column score: must be a finite number; got 'nan'"),
        ("empty.csv", [], "the file has no rows"),
        ("missing.csv", [], "missing.csv: No such file"),
    ],
)
def test_a_wrong_file_is_one_error(file, arguments, message, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ranks = ROWS.groupby("qid")["score"].rank(ascending=False).astype(int)
    ROWS.assign(rank=ranks).to_csv("scored.csv", index=False)
    (tmp_path / "wrong.csv").write_text("qid,label,score\n1,1,2\n1,0,nan\n")
    (tmp_path / "empty.csv").write_text("qid,label,score\n")
    assert run(file, *arguments) == 1
    assert_one_line(capsys.readouterr().err, message)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["scored.txt"], "a RUN is missing; only a CSV, TSV or Parquet file"),
        (["-"], "a RUN is missing"),
        (["scored.csv", "-c"], "-c and --unjudged need a RUN"),
        (["scored.csv", "--unjudged", "drop"], "-c and --unjudged need a RUN"),
        (["scored.csv", "run.csv", "--scores", "a"], "leave out the runs"),
        (["scored.csv", "--scores", "a=,b"], "must be NAME=COLUMN"),
        (["scored.csv", "--scores", "a=x,a=y"], "must be NAME=COLUMN"),
        (["scored.csv", "--scores", "a,b", "--baseline", "c"], "--baseline must be one of a, b"),
        (["scored.csv", "--baseline", "scored"], "--baseline needs runs, or --scores NAME=COLUMN"),
    ],
)
def test_wrong_arguments(arguments, message, capsys):
    with pytest.raises(SystemExit, match="2"):
        run(*arguments)
    assert_one_line(capsys.readouterr().err.partition("\nTry")[0], message)


def assert_one_line(error, message):
    assert pd.Series([error]).str.contains(message).all(), error
    assert error.strip().count("\n") == 0
