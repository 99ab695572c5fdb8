"""ranking_report of unjudged documents and of clicks."""

import re

import numpy as np
import pandas as pd
import pytest

from sklearn_rankscore import (
    make_ranking,
    propensity_summary,
    query_scores,
    ranking_report,
    score_bounds,
)


@pytest.fixture(scope="module")
def data():
    X, y, groups = make_ranking(n_queries=12, random_state=1)
    return np.where(np.arange(len(y)) % 4, y, np.nan), X[:, 0], groups


@pytest.mark.parametrize("rule", ["drop", "irrelevant"])
def test_bounds_are_those_of_score_bounds(data, rule):
    y, score, groups = data
    given = {"groups": groups, "metrics": ["ndcg", "mrr", "query_auc"], "k": (1, 5), "bounds": True}
    report = ranking_report(y, score, unjudged=rule, output_dict=True, **given)["metrics"]
    names = [name for name in report if name != "query_auc"]
    for name, (low, high) in score_bounds(y, score, names, groups=groups).mean().items():
        assert (report[name]["lowest"], report[name]["highest"]) == (low, high)
        assert high > low
    assert "lowest" not in report["query_auc"]  # no labels are known to be the best for it
    text = ranking_report(y, score, unjudged=rule, **given)
    *_, title, ndcg, _ = text.splitlines()
    corner = "[lowest, highest mean of any missing labels]"
    assert title.split() == [*corner.split(), "@1", "@5"]
    low, high = report["ndcg@5"]["lowest"], report["ndcg@5"]["highest"]
    assert ndcg.endswith(f"[{low:.3f}, {high:.3f}]")
    assert "highest mean of any missing labels" in text.to_html(plots=False)
    given["bounds"] = False
    assert "missing labels" not in ranking_report(y, score, unjudged=rule, **given)
    with pytest.raises(TypeError, match="bounds must be True or False"):
        ranking_report(y, score, unjudged=rule, **given | {"bounds": "yes"})


@pytest.mark.parametrize("by_name", [False, True])
def test_effective_clicks_and_clipped_documents(data, by_name):
    y, score, groups = data
    clicks = np.nan_to_num(y) > 2
    seen = np.random.default_rng(0).choice([1, 0.5, 0.05], len(y))
    index = pd.MultiIndex.from_arrays([groups, seen], names=["qid", "seen"])
    given = {"metrics": "dcg", "k": 3, "clip": 0.1, "propensity": "seen" if by_name else seen}
    report = ranking_report(clicks, pd.Series(score, index), output_dict=True, **given)
    summary = propensity_summary(clicks, seen, clip=0.1)
    assert report["data"]["clicks"] == summary.n_clicks
    assert report["data"]["effective_clicks"] == summary.effective_clicks
    assert report["data"]["documents_clipped"] == summary.clipped_share
    scores = query_scores(clicks, score, "dcg@3", groups=groups, propensity=seen, clip=0.1)
    assert report["metrics"]["dcg@3"]["mean"] == scores.mean()["dcg@3"]
    text = ranking_report(clicks, pd.Series(score, index), **given)
    assert f"{summary.n_clicks}, {summary.effective_clicks:.0f}" in text
    assert re.search(f"documents with a clipped propensity +{summary.clipped_share:.1%}", text)
    plain = ranking_report(clicks, score, groups=groups, metrics="dcg", output_dict=True)
    assert "clicks" not in plain["data"]
