"""Documents with the label NaN, which nobody judged: every metric under every rule for them."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sklearn_rankscore import (
    evaluate,
    ndcg_score,
    precision_at_k,
    query_scores,
    ranking_report,
)
from sklearn_rankscore.metrics.names import METRICS
from sklearn_rankscore.ranking import ranking, read_queries

NAN, INF = math.nan, math.inf
RULES = ("irrelevant", "drop")

Y = np.array([NAN, 2, 0, NAN, 1, NAN, NAN, 0, 1])
S = np.array([9, 8, 7, 6, 5, 2, 1, 4, 3])
G = np.array([0, 0, 0, 0, 0, 1, 1, 2, 2])


READING = {name for name, metric in METRICS.items() if metric.reads_unjudged}


def test_all_metrics_have_the_option_without_effect_on_those_that_distinguish_unjudged_documents():
    assert {"judged", "bpref", "infap"} == READING
    assert all("unjudged" in metric.options for metric in METRICS.values())
    for name in READING:
        values = [METRICS[name].function(Y, S, groups=G, unjudged=rule) for rule in RULES]
        assert values == [METRICS[name].function(Y, S, groups=G)] * 2


@pytest.mark.parametrize("metric", sorted(METRICS.keys() - READING))
def test_without_the_option_nan_is_an_error_that_names_the_choices(metric):
    for call in (METRICS[metric].function, lambda y, s, **g: evaluate(y, s, metric, **g)):
        with pytest.raises(ValueError, match=r"y_true contains NaN \(first at position 0\)") as e:
            call(Y, S, groups=G)
        for choice in ("unjudged='irrelevant'", "unjudged='drop'", "bpref", "infap", "judged@k"):
            assert choice in str(e.value)


def test_a_query_that_loses_all_its_documents_is_undefined():
    def values(replacement):
        return precision_at_k(
            Y, S, k=2, groups=G, unjudged="drop", average=None, replace_undefined_by=replacement
        ).tolist()

    assert values(0.0) == [0.5, 0, 0.5]
    assert values(-1.0) == [0.5, -1, 0.5]
    assert precision_at_k(Y, S, k=2, groups=G, unjudged="drop", replace_undefined_by=NAN) == 0.5
    # a query without relevant documents adds its ranks to the ratio of sums
    assert precision_at_k(Y, S, k=2, groups=G, unjudged="drop", average="micro") == 2 / 6
    assert ndcg_score(Y[5:7], S[5:7], unjudged="drop") == 0


def test_metrics_of_several_rules_in_one_call():
    names = ["ndcg@2(unjudged=drop)", "NDCG@2(unjudged=irrelevant)", "mrr", "judged@2"]
    ours = evaluate(Y, S, names, groups=G, unjudged="drop")
    alone = {name: evaluate(Y, S, name, groups=G, unjudged=rule)[name] for name, rule in
             zip(names[:3], ("drop", "irrelevant", "drop"), strict=True)}  # fmt: skip
    assert ours == alone | {"judged@2": evaluate(Y, S, "judged@2", groups=G)["judged@2"]}
    assert ours[names[0]] != ours[names[1]]


def test_an_option_in_the_name_wins_and_the_others_are_refused_without_one():
    with pytest.raises(ValueError, match="y_true contains NaN"):
        evaluate(Y, S, ["ndcg@2(unjudged=drop)", "mrr"], groups=G)
    given = evaluate(Y, S, ["mrr(unjudged=drop)", "MRR"], groups=G, unjudged="irrelevant")
    assert given["mrr(unjudged=drop)"] == 0.5  # ranks 1, none and 2
    assert given["MRR"] == pytest.approx((1 / 2 + 0 + 1 / 2) / 3)


def test_a_function_of_a_block_takes_the_option():
    def first_label(block):
        return block.by_rank(lambda labels: labels)[:, 0]

    dropped = evaluate(Y, S, first_label, groups=G, unjudged="drop", average=None)
    assert dropped["first_label"].tolist() == [2, 0, 0]
    with pytest.raises(ValueError, match="y_true contains NaN"):
        evaluate(Y, S, first_label, groups=G)


@pytest.mark.parametrize(
    "labels",
    [
        [None, 1, 0],
        np.array([None, 1, 0], dtype=object),
        np.array([NAN, 1, 0], dtype=np.float32),
        pd.Series([None, 1, 0], dtype="Int64"),
        pd.Series([None, True, False], dtype="boolean"),
        pd.Series([None, 1, 0], dtype="int64[pyarrow]"),
        pl.Series([None, 1, 0]),
        pa.array([None, 1, 0]),
        [[NAN, 1, 0]],
    ],
    ids=[
        "list",
        "objects",
        "float32",
        "Int64",
        "boolean",
        "int64[pyarrow]",
        "polars",
        "pyarrow",
        "2-D",
    ],
)
def test_missing_values_of_every_library_are_unjudged(labels):
    scores = [[3, 2, 1]] if isinstance(labels, list) and isinstance(labels[0], list) else [3, 2, 1]
    values = {rule: ndcg_score(labels, scores, unjudged=rule) for rule in RULES}
    assert values == {"irrelevant": pytest.approx(1 / math.log2(3)), "drop": 1}


@pytest.mark.parametrize("labels", [[NAN, INF, 0], [-INF, 1, INF]])
def test_other_labels_are_checked_beside_nan(labels):
    with pytest.raises(ValueError, match="y_true contains infinity"):
        ndcg_score(labels, [3, 2, 1], unjudged="drop")
    with pytest.raises(ValueError, match=r"beyond 2\*\*53"):
        ndcg_score([None, 2**60 + 1, 0], [3, 2, 1], unjudged="drop")
    with pytest.raises(ValueError, match="negative labels"):
        ndcg_score([NAN, -1, 2], [3, 2, 1], unjudged="drop")


def test_documents_of_the_pool_are_unjudged():
    """Those with the label -inf, which only infap distinguishes from the others with NaN."""
    pooled = np.where(np.arange(9) < 4, np.nan_to_num(Y, nan=-INF), Y)
    names = [*METRICS.keys() - {"infap", "pfound"}]
    for rule in RULES:
        given = {"groups": G, "unjudged": rule}
        assert evaluate(pooled, S, names, **given) == evaluate(Y, S, names, **given)
    infap = evaluate(pooled, S, "infap", groups=G)
    assert infap == evaluate(np.where(pooled == -INF, -1, pooled), S, "infap", groups=G)
    assert infap != evaluate(Y, S, "infap", groups=G)
    with pytest.raises(ValueError, match=r"y_true contains -inf \(first at position 0\)"):
        ndcg_score(pooled, S, groups=G)


def test_options_that_contradict_each_other_are_refused():
    with pytest.raises(ValueError, match="label 0, which a negative threshold makes relevant"):
        precision_at_k([1, 0], [1, 0], threshold=-1, unjudged="irrelevant")
    with pytest.raises(ValueError, match=r"unjudged must be one of 'error'.*Did you mean 'drop'"):
        precision_at_k([1, 0], [1, 0], unjudged="dropp")
    assert evaluate([1, NAN], [1, 0], "bpref", unjudged="drop") == {"bpref": 1}
    with pytest.raises(ValueError, match="unjudged must be one of 'error'"):
        evaluate([1, 0], [1, 0], "bpref(unjudged=dropp)")


def test_scores_of_queries_and_reports_take_the_option():
    scores = query_scores(Y, S, ["ndcg@2", "judged@2"], groups=G, unjudged="drop")
    assert scores.ids.tolist() == [0, 1, 2]
    assert scores.mean() == evaluate(Y, S, ["ndcg@2", "judged@2"], groups=G, unjudged="drop")
    report = ranking_report(Y, S, metrics="ndcg", k=2, groups=G, unjudged="drop", output_dict=True)
    assert report["metrics"]["ndcg@2"]["mean"] == scores.mean()["ndcg@2"]
    assert report["data"]["documents_unjudged"] == 4 / 9
    text = ranking_report(Y, S, metrics="ndcg", groups=G, unjudged="drop")
    assert "documents without a judgment        44.4%" in text
    assert "judgment" not in ranking_report(S, S, metrics="ndcg", groups=G, unjudged="drop")


def test_labels_without_nan_need_one_sort(monkeypatch):
    calls = []
    plan = ranking.Ranking._tasks
    monkeypatch.setattr(
        ranking.Ranking, "_tasks", lambda *args, **kw: calls.append(args) or plan(*args, **kw)
    )
    evaluate([1, 0, 2], [1, 2, 3], ["mrr(unjudged=drop)", "mrr", "bpref", "ndcg"])
    assert len(calls) == 1
    evaluate([1, NAN, 2], [1, 2, 3], ["mrr(unjudged=drop)", "map(unjudged=drop)", "bpref"])
    assert len(calls) == 3
    assert read_queries([1, NAN], [1, 2]).has_unjudged
    assert not read_queries([1, 0.5], [1, 2]).has_unjudged
