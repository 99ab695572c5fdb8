"""Every result has an HTML form for notebooks, and every public object a plain one."""

import re
from functools import cache
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


def public_classes():
    """The classes of the API reference, by name."""
    names = re.findall(r"^   ([\w.]+)$", API.read_text("utf-8"), re.M)
    for name in names:
        holder = package
        for part in name.split("."):
            holder = getattr(holder, part, None)
        if isinstance(holder, type):
            yield holder


def test_every_public_class_of_results_is_tried():
    others = {
        known.__name__
        for known in public_classes()
        if not known.__name__.endswith("Display") and not hasattr(known, "get_params")
        and not hasattr(known, "split")
    }  # fmt: skip
    assert others - PLAIN - set(RESULTS) == set()
    assert sorted(results()) == RESULTS


@pytest.mark.parametrize("name", RESULTS)
def test_html_is_one_or_several_tables(name):
    tables = Structure(results()[name]._repr_html_()).tables
    assert tables
    assert all(len(row) == len(table[0]) for table in tables for row in table)


def test_fields_of_a_dataclass_and_of_a_named_tuple():
    (rows,) = Structure(results()["Difference"]._repr_html_()).tables
    values = dict(rows)
    difference = results()["Difference"]
    assert values["difference"] == f"{difference.difference:.4g}"
    low, high = difference.interval
    assert values["interval"] == f"low: {low:.4g}, high: {high:.4g}"
    assert values["wins"] == str(difference.wins)
    assert escape("<b>") in difference._repr_html_()
    (rows,) = Structure(results()["MetricSummary"]._repr_html_()).tables
    assert dict(rows)["n_queries"] == "30"


def test_names_of_metrics_as_html():
    (rows,) = Structure(package.metric_names()._repr_html_()).tables
    assert [name for name, _, _ in rows[1:]] == list(package.metric_names())


@pytest.mark.parametrize(
    ("plain", "text"),
    [
        (Block.from_lists([[1, 0, 2], [1]], [[3, 2, 1], [1]]), "<Block of 2 queries with up to 3 "),
        (package.lightgbm_metric("ndcg@10"), "<LightGBMMetric 'ndcg@10'>"),
        (package.xgboost_metric("map@5"), "<XGBoostMetric 'map@5'>"),
    ],
)
def test_plain_forms(plain, text):
    assert repr(plain).startswith(text)
