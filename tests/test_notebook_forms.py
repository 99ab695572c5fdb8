"""Every result has an HTML form for notebooks, and every public object a plain one."""

import re
from functools import cache, reduce
from html import escape
from pathlib import Path

import numpy as np
import pytest
from html_structure import Structure
from sklearn.linear_model import Ridge

import sklearn_rankscore as package
from sklearn_rankscore import Block, QueryRanker, RankingAccumulator, make_ranking, query_scores
from sklearn_rankscore.large import StreamedScores

API = Path(__file__).resolve().parents[1] / "docs" / "api.rst"
# one line of text; displays, rankers and splitters are shown by Matplotlib and scikit-learn
PLAIN = {"Block", "Interval", "Segment", "NoGroupsError", "PartialQueryWarning"}
RESULTS = [
    "Comparison", "Difference", "DifferenceSummary", "FeatureImportance", "MetricName",
    "MetricNames", "MetricSummary", "PropensitySummary", "QueryImportances", "QueryScores",
    "RankingAccumulator", "RankingReport", "RectifiedMean", "RectifiedScores", "ScoreBounds",
    "SegmentScore", "SegmentScores", "StreamedScores", "SystemTable", "TableText",
]  # fmt: skip


@cache
def results():
    """One object of each class of results, by the name of the class."""
    X, y, ids = make_ranking(n_queries=30, random_state=0)
    frame, labels = make_ranking(n_queries=30, as_frame=True, random_state=0)
    systems = {"a": X[:, 0], "<b>": X[:, 1]}
    scores = query_scores(y, systems, "ndcg@10", groups=ids, segments=ids % 2)
    human = query_scores(y[ids < 10], X[ids < 10, 0], "ndcg@10", groups=ids[ids < 10])
    unjudged = np.where(np.arange(len(y)) % 5, y, np.nan)
    accumulator = RankingAccumulator("ndcg@10").update(y, X[:, 0], groups=ids)
    paired = RankingAccumulator("ndcg@10").update(y, systems, groups=ids)
    comparison = package.compare(scores, margin=0.1, random_state=0)
    ranker = QueryRanker(Ridge()).fit(frame, labels)
    importances = package.query_permutation_importance(
        ranker, frame, labels, "ndcg@10", n_repeats=1
    )
    rectified = package.rectify(human, human, scores["a"])
    objects = [
        scores["a"], scores["a"].by(), scores["a"].by().scores[0],
        comparison, comparison.differences[0],
        package.compare(scores, pairs="all", random_state=0).system_table(),
        importances, importances.importances[0], rectified, rectified.means[0],
        package.score_bounds(unjudged, X[:, 0], "ndcg@10", groups=ids),
        package.ranking_report(y, systems, groups=ids, k=1, metrics="ndcg"),
        accumulator, accumulator.result()["ndcg@10"], StreamedScores(paired),
        paired.differences()["<b>"]["ndcg@10"],
        package.propensity_summary(y > 2, np.full(len(y), 0.5)),
        package.convention_report(y, X[:, 0], groups=ids),
        package.metric_names(), package.metric_names()["ndcg"],
    ]  # fmt: skip
    return {type(result).__name__: result for result in objects}


def test_every_public_class_of_results_is_tried():
    names = re.findall(r"^   ([\w.]+)$", API.read_text("utf-8"), re.M)
    known = [reduce(lambda of, part: getattr(of, part, None), n.split("."), package) for n in names]
    others = {
        of.__name__ for of in known if isinstance(of, type) and not of.__name__.endswith("Display")
        and not hasattr(of, "get_params") and not hasattr(of, "split")
    }  # fmt: skip
    assert others - PLAIN - set(RESULTS) == set()
    assert sorted(results()) == RESULTS


@pytest.mark.parametrize("name", RESULTS)
def test_html_is_one_or_several_tables(name):
    tables = Structure(results()[name]._repr_html_()).tables
    assert tables
    assert all(len(row) == len(table[0]) for table in tables for row in table)


def test_fields_are_shown():
    difference, names = results()["Difference"], package.metric_names()
    (low, high), html = difference.interval, difference._repr_html_()
    values = dict(*Structure(html).tables)
    assert values["difference"] == f"{difference.difference:.4g}"
    assert values["interval"] == f"low: {low:.4g}, high: {high:.4g}"
    assert values["wins"] == str(difference.wins)
    assert escape("<b>") in html
    (rows,) = Structure(results()["MetricSummary"]._repr_html_()).tables
    assert dict(rows)["n_queries"] == "30"
    (rows,) = Structure(names._repr_html_()).tables
    assert [name for name, _, _ in rows[1:]] == list(names)
    block = Block.from_lists([[1, 0, 2], [1]], [[3, 2, 1], [1]])
    assert repr(block).startswith("<Block of 2 queries with up to 3 ")
    assert repr(package.lightgbm_metric("ndcg@10")) == "<LightGBMMetric 'ndcg@10'>"
    assert repr(package.xgboost_metric("map@5")) == "<XGBoostMetric 'map@5'>"


def test_digits_are_those_of_all_numbers():
    tables = [result for result in results().values() if hasattr(result, "to_string")]
    assert len(tables) > 5
    for table in tables:
        texts = [table.to_string(digits=digits) for digits in (None, 2)]
        decimals = [set(map(len, re.findall(r"\d\.(\d{2,})\b", text))) for text in texts]
        assert max(decimals[0]) == 4
        assert decimals[1] == {2}
