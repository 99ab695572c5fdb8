"""Forms of input that look like others: missing cells first, columns of lists, lazy frames."""

import re

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from sklearn_rankscore import (
    evaluate,
    from_ranked_lists,
    from_recommendations,
    from_trec,
    load_letor,
    mrr_score,
)
from sklearn_rankscore.cli import main


def test_lazy_tables_are_refused():
    lazy = pl.LazyFrame({"query_id": ["1"], "doc_id": ["a"], "score": [1.0]})
    for read in (
        lambda: from_trec({"1": {"a": 1}}, lazy),
        lambda: from_ranked_lists(pl.LazyFrame({"a": [1]}), [[1]]),
        lambda: from_ranked_lists([[1]], pl.LazyFrame({"a": [1]})),
    ):
        with pytest.raises(TypeError, match=r"is not in memory; read it first"):
            read()
    relation = duckdb.sql("select 1 as a")
    with pytest.raises(TypeError, match="is not in memory; read it first"):
        from_ranked_lists(relation, relation)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_integer_scores_that_would_become_ties_are_refused(suffix, tmp_path, capsys):
    run = pd.DataFrame({"user": [1, 1], "item": [10, 12]})
    run["score"] = [1764177000000000000, 1764177000000000100]
    (tmp_path / "qrels.txt").write_text("1 0 10 1\n")
    path = tmp_path / f"run.{suffix}"
    run.to_csv(path, index=False) if suffix == "csv" else run.to_parquet(path)
    assert main(["evaluate", str(tmp_path / "qrels.txt"), str(path), "-m", "mrr"]) == 1
    assert re.search("column '?score.* integer 1764177.*2[*][*]53", capsys.readouterr().err)


def test_integer_features_that_are_rounded_are_refused(tmp_path):
    path = tmp_path / "train.txt"
    path.write_text("1 qid:1 1:9007199254740993\n0 qid:1 1:3\n")
    with pytest.raises(ValueError, match=r"may be rounded, .* integers up to 2\*\*53"):
        load_letor(path, dtype="int64")
    path.write_text("1 qid:1 1:9007199254740991\n0 qid:1 1:3\n")
    assert load_letor(path, dtype="int64")[0].tolist() == [[9007199254740991], [3]]


INTERACTIONS = sparse.csr_array([[1, 0], [0, 1]])


@pytest.mark.parametrize("dtype", ["int64", "Int64", "int32[pyarrow]", object])
def test_matrices_of_nullable_integers(dtype):
    top = pd.DataFrame([[0, 1], [0, 1]], dtype=dtype)
    expected = {"mrr": 0.75}
    assert evaluate(metrics="mrr", **from_recommendations(INTERACTIONS, top)) == expected
    interactions = pd.DataFrame(INTERACTIONS.toarray(), dtype=dtype)
    arguments = from_recommendations(interactions, [[0, 1], [0, 1]])
    assert evaluate(metrics="mrr", **arguments) == expected
    if dtype != "int64":
        top = top.where(top != 1, None)
        with pytest.raises(ValueError, match="-1 for no recommendation; got nan"):
            from_recommendations(INTERACTIONS, top)
        floats = top.fillna(-1).astype(float)
        assert mrr_score(**from_recommendations(INTERACTIONS, floats), average=None).tolist() == [
            1,
            0,
        ]


RELEVANT = {"q": {"a": 1}, "r": {"b": 1}}


@pytest.mark.parametrize("empty", [[], (), np.array([])])
def test_an_empty_list_among_dicts_of_scores_retrieves_nothing(empty):
    run = {"q": {"a": 1.0}, "r": empty}
    expected = [1, -np.inf]
    assert from_ranked_lists(RELEVANT, run)["y_score"].tolist() == expected
    assert from_ranked_lists(RELEVANT, dict(reversed(run.items())))["y_score"].tolist() == expected
    systems = from_ranked_lists(RELEVANT, {"one": run, "two": {"q": run["q"]}})["y_score"]
    assert systems["one"].tolist() == systems["two"].tolist() == expected
