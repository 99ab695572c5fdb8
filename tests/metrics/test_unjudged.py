"""Documents with the label NaN, which nobody judged: every metric under every rule for them."""

import math

import numpy as np
import pandas as pd
import pytest
from frames import pa, pl

from sklearn_rankscore import (
    evaluate,
    ndcg_score,
)
from sklearn_rankscore.metrics.names import METRICS

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


MISSING = [None, 1, 0]
FORMS = {
    "list": lambda: MISSING,
    "objects": lambda: np.array(MISSING, dtype=object),
    "float32": lambda: np.array(MISSING, dtype=np.float32),
    "Int64": lambda: pd.Series(MISSING, dtype="Int64"),
    "boolean": lambda: pd.Series([None, True, False], dtype="boolean"),
    "int64[pyarrow]": lambda: pd.Series(MISSING, dtype="int64[pyarrow]"),
    "polars": lambda: pl.Series(MISSING),
    "pyarrow": lambda: pa.array(MISSING),
    "2-D": lambda: [[NAN, 1, 0]],
}


@pytest.mark.parametrize("form", FORMS)
def test_missing_values_of_every_library_are_unjudged(form):
    labels = FORMS[form]()
    scores = [[3, 2, 1]] if form == "2-D" else [3, 2, 1]
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
