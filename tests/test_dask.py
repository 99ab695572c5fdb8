"""Dask with two local processes gives the result of the same rows in memory."""

import runpy
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from many_queries import EXACT, METRICS, RATIOS, UNJUDGED, in_memory, make_documents, with_unjudged
from requires import requires
from segments import BY, SEGMENT_METRICS, check, expected_segments, make_segments

from sklearn_rankscore import RankingAccumulator, compare, query_scores
from sklearn_rankscore import dask as rank_dask

dask, dd, distributed = map(requires, ["dask", "dask.dataframe", "distributed"])


@pytest.fixture(scope="module")
def client():
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
    )
    with cluster, distributed.Client(cluster) as client:
        yield client


def shuffled(columns, n_partitions=5):
    """A DataFrame whose partitions split queries."""
    frame = pd.DataFrame(columns).sample(frac=1, random_state=0, ignore_index=True)
    return dd.from_pandas(frame, npartitions=n_partitions)


@pytest.mark.parametrize(("strings", "weight"), [(True, None), (False, "weight")])
def test_all_metrics_equal_those_in_memory(client, strings, weight):
    columns = make_documents(long=600, strings=strings)
    scores = rank_dask.evaluate(shuffled(columns), METRICS, weight=weight)
    assert scores == pytest.approx(in_memory(columns, weight=weight), **EXACT)


def test_options_and_partitions(client):
    columns = make_documents()
    df = shuffled(columns).rename(columns={"label": "grade", "qid": "session"})
    scores = rank_dask.evaluate(
        df, RATIOS, label="grade", groups="session", n_partitions=7, average="micro"
    )
    assert scores == pytest.approx(in_memory(columns, RATIOS, average="micro"), **EXACT)


def test_an_accumulator_of_all_queries(client):
    columns = make_documents(strings=True)
    summaries = rank_dask.accumulate(shuffled(columns), METRICS).result()
    whole = RankingAccumulator(METRICS)
    whole.update(columns["label"], columns["score"], columns["qid"])
    for name, expected in whole.result().items():
        assert summaries[name] == pytest.approx(expected, nan_ok=True, **EXACT)


@pytest.mark.parametrize("kind", ["int32", "string", "object", "category", "datetime64[s]"])
@pytest.mark.parametrize("n_queries", [3, 60])
def test_query_ids_keep_their_type(client, kind, n_queries):
    columns = make_documents(n_queries, strings=kind in ("string", "object", "category"))
    frame = pd.DataFrame(columns).astype({"qid": kind})
    with dask.config.set({"dataframe.convert-string": False}):
        df = dd.from_pandas(frame.sample(frac=1, random_state=0), npartitions=5)
        values = rank_dask.query_scores(df, METRICS)
        collected = values.compute().sort_values("qid")
    assert values.dtypes.to_dict() == collected.dtypes.to_dict()
    assert collected["qid"].dtype == frame["qid"].dtype
    assert collected["qid"].tolist() == sorted(set(frame["qid"]))
    expected = in_memory(columns, average=None)
    for name in METRICS:
        np.testing.assert_allclose(collected[name], expected[name], rtol=0, atol=1e-12)


@pytest.mark.parametrize("column", ["label", "score", "qid"])
def test_nulls_are_refused(client, column):
    columns = make_documents(strings=True)
    columns[column] = np.where(columns["qid"] == "q0003ü", None, columns[column])
    kind = "string" if column == "qid" else "float64"
    df = dd.from_pandas(pd.DataFrame(columns).astype({column: kind}), npartitions=3)
    message = f"column '{column}' has a missing value"
    if column == "label":
        message = r"y_true contains NaN .*(\n.*)*unjudged='drop'"
    for wrong in (rank_dask.evaluate, lambda *given: rank_dask.query_scores(*given).compute()):
        with pytest.raises(ValueError, match=message):
            wrong(df, "mrr")


def test_unjudged_documents(client):
    columns = with_unjudged(make_documents(strings=True))
    scores = rank_dask.evaluate(shuffled(columns), UNJUDGED)
    assert scores == pytest.approx(in_memory(columns, UNJUDGED), **EXACT)


def test_invalid_input_is_refused(client):
    df = shuffled(make_documents())
    with pytest.raises(ValueError, match="the DataFrame has no column 'grade'; it has qid, label"):
        rank_dask.evaluate(df, "mrr", label="grade")
    with pytest.raises(ValueError, match="y_true must lie in"):
        rank_dask.evaluate(df.assign(label=10 * df["label"]), "err")
    with pytest.raises(ValueError, match="no documents"):
        rank_dask.evaluate(df[df["qid"] < 0], "mrr")
    with pytest.raises(ValueError, match="not a known metric"):
        rank_dask.query_scores(df, "nonsense")
    with pytest.raises(TypeError, match="must be a Dask DataFrame; got DataFrame"):
        rank_dask.evaluate(pd.DataFrame(), "mrr")
    with pytest.raises(ValueError, match=r"'qid' is the index of .*: pass df.reset_index\(\)"):
        rank_dask.evaluate(df.set_index("qid"), "mrr")
    with pytest.raises(ValueError, match="the DataFrame has 2 columns 'score'"):
        rank_dask.evaluate(df.rename(columns={"weight": "score"}), "mrr")
    for n_partitions in (0, -1, 2.5, "3"):
        with pytest.raises((TypeError, ValueError), match="n_partitions must be an integer of at"):
            rank_dask.evaluate(df, "mrr", n_partitions=n_partitions)


def test_functions_of_a_notebook(client):
    """They cannot be pickled by their names."""
    factor = 2.0
    metrics = ["ndcg@5", lambda block: block.sizes * factor]
    options = {"gain": lambda labels: labels**factor, "replace_undefined_by": np.nan}
    columns = make_documents()
    whole = RankingAccumulator(metrics, **options)
    whole.update(columns["label"], columns["score"], columns["qid"])
    summaries = rank_dask.accumulate(shuffled(columns), metrics, **options).result()
    for name, expected in whole.result().items():
        assert summaries[name] == pytest.approx(expected, **EXACT)


def test_a_group_column_with_the_name_of_a_metric(client):
    columns = make_documents()
    df = shuffled(columns).rename(columns={"qid": "mrr"})
    expected = pytest.approx(in_memory(columns, ["mrr"]), **EXACT)
    assert rank_dask.evaluate(df, "mrr", groups="mrr") == expected
    with pytest.raises(ValueError, match="column of query ids has the name of a metric, 'mrr'"):
        rank_dask.query_scores(df, "mrr", groups="mrr")


def test_segments_and_ids_of_several_columns(client):
    columns = make_segments()
    expected = expected_segments(columns)
    columns |= {"user": columns["qid"] // 10, "session": [f"s{i % 10}" for i in columns["qid"]]}
    df = shuffled({name: c for name, c in columns.items() if name != "qid"})
    options = {"by": BY, "groups": ["user", "session"]}
    collected = rank_dask.accumulate(df, SEGMENT_METRICS, **options)
    check(collected.by_segment(), expected)
    scores = rank_dask.evaluate(df, SEGMENT_METRICS, **options)
    assert scores["", "all queries"] == pytest.approx(collected.scores(), **EXACT)
    assert scores.keys() - {("", "all queries")} == collected.by_segment().keys()
    values = rank_dask.query_scores(df, "mrr", groups=["user", "session"])
    collected = values.compute().sort_values(["user", "session"])
    assert values.dtypes.to_dict() == collected.dtypes.to_dict()
    mrr = in_memory(columns, ["mrr"], average=None)["mrr"]
    np.testing.assert_allclose(collected["mrr"], mrr, rtol=0, atol=1e-12)
    with pytest.raises(ValueError, match="query_scores has no by="):
        rank_dask.query_scores(df, "mrr", groups="user", by="device")


def test_nan_ids_are_refused(client):
    columns = make_documents()
    df = shuffled(columns | {"qid": np.where(columns["qid"] == 3, np.nan, columns["qid"])})
    with pytest.raises(ValueError, match="column 'qid' has a missing value"):
        rank_dask.evaluate(df, "mrr")


def test_grid_search_on_the_cluster(client):
    example = Path(__file__).resolve().parents[1] / "examples" / "cluster_search.py"
    search = runpy.run_path(str(example))["search"]
    alone = search(None)
    before = client.run_on_scheduler(lambda dask_scheduler: dask_scheduler.transition_counter)
    distributed_search = search(client)
    after = client.run_on_scheduler(lambda dask_scheduler: dask_scheduler.transition_counter)
    assert after > before  # the models were fitted by tasks of the cluster
    np.testing.assert_array_equal(
        distributed_search.cv_results_["mean_test_score"], alone.cv_results_["mean_test_score"]
    )
    assert distributed_search.best_params_ == alone.best_params_


def test_propensities_are_refused_by_name():
    df = shuffled(make_documents())
    for function in (rank_dask.evaluate, rank_dask.accumulate, rank_dask.query_scores):
        with pytest.raises(ValueError, match="Spark and Dask take no propensity"):
            function(df, "dcg@3(propensity=score)")


@pytest.mark.parametrize("types", [("int64", "float64"), ("int32", "int64"), ("M8[s]", "M8[ns]")])
def test_partitions_of_different_types_are_refused(types):
    """The shuffle compares hash values, which differ between types; converted, they are right."""
    columns = make_documents(20)
    rows = pd.DataFrame(columns).sample(frac=1, random_state=0)
    parts = [rows.iloc[i::2].astype({"qid": "M8[s]"} if "M8" in kind else {}) for i, kind in
             enumerate(types)]  # fmt: skip
    parts = [part.astype({"qid": kind}) for part, kind in zip(parts, types, strict=True)]
    df = dd.from_map(lambda i: parts[i], range(2), meta=parts[0].iloc[:0])
    with pytest.raises(ValueError, match=r"'qid' of a partition has the type .*df.astype"):
        rank_dask.evaluate(df, "mrr")
    measured = rank_dask.evaluate(df.astype({"qid": types[1]}), METRICS)
    assert measured == pytest.approx(in_memory(columns), nan_ok=True, **EXACT)


def test_two_systems(client):
    columns = make_documents()
    columns["other"] = np.round(columns["score"] + np.random.default_rng(1).random(), 0)
    systems = {"a": "score", "b": "other"}
    scores = rank_dask.evaluate(shuffled(columns), "mrr", score=systems)
    known = columns["label"], {name: columns[c] for name, c in systems.items()}, "mrr"
    d = compare(query_scores(*known, groups=columns["qid"])).differences[0]
    mine = scores.differences["b"]["mrr"]
    assert mine.difference == pytest.approx(d.difference, **EXACT)
    assert mine.standard_error == pytest.approx(d.standard_error, **EXACT)
    assert (mine.wins, mine.ties, mine.losses) == (d.wins, d.ties, d.losses)
