"""Segments and differences in a ranking report."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest

from sklearn_rankscore import compare, evaluate, make_ranking, query_scores, ranking_report

K = {"k": (1, 10), "metrics": ["ndcg", "map"]}
NAMES = ["ndcg@1", "ndcg@10", "map@1", "map@10"]


@pytest.fixture(scope="module")
def data():
    X, y, groups = make_ranking(n_queries=60, random_state=2, shuffle=True)
    device = np.array(["desk", "phone", "tv"])[groups % 3]
    return y, {"one": X[:, 0], "two": X[:, 0] + X[:, 1] / 2}, groups, device


def as_series(values, groups, device):
    index = pd.MultiIndex.from_arrays([groups, device], names=["qid", "device"])
    return pd.Series(values, index=index)


@pytest.mark.parametrize("form", ["rows", "queries", "mapping", "columns", "level", "levels"])
def test_segments_are_metrics_of_their_queries(data, form):
    y, models, groups, device = data
    ids, first = np.unique(groups, return_index=True)
    score, by = models["one"], {
        "rows": device,
        "queries": device[first],
        "mapping": dict(zip(ids.tolist(), device[first], strict=True)),
        "columns": {"device": device},
        "level": "device",
        "levels": ["device"],
    }[form]  # fmt: skip
    if form.startswith("level"):
        given = {"y_true": as_series(y, groups, device), "y_score": score}
    else:
        given = {"y_true": y, "y_score": score, "groups": groups}
    report = ranking_report(**given, by=by, **K, output_dict=True)
    assert {row["column"] for row in report["segments"]} == {
        "segment" if form in ("rows", "queries", "mapping") else "device"
    }
    frame = pd.DataFrame(report["segments"]).set_index(["metric", "value"])
    for value in ("desk", "phone", "tv"):
        rows = device == value
        alone = ranking_report(y[rows], score[rows], groups=groups[rows], **K, output_dict=True)
        for name, expected in alone["metrics"].items():
            row = frame.loc[(name, value)]
            assert (row["mean"], row.low, row.high) == pytest.approx(
                (expected["mean"], expected["low"], expected["high"])
            )
            assert (row.queries, row.share) == (expected["queries"], 1 / 3)
    assert list(report["metrics"]) == NAMES


@pytest.mark.parametrize("weighted", [False, True])
def test_differences_by_segment_are_those_of_compare(data, weighted):
    y, models, groups, device = data
    given = {"groups": groups, "sample_weight": 1.0 + groups % 2 if weighted else None}
    report = ranking_report(
        y, models, **given, by={"device": device}, random_state=0, output_dict=True, **K
    )
    scores = query_scores(y, models, NAMES, segments={"device": device}, **given)
    expected = compare(scores, by="device", random_state=0)
    assert not any("difference" in row for row in report["one"]["segments"])
    rows = report["two"]["segments"]
    assert len(rows) == 12
    for row in rows:
        one = expected[row["metric"], "two", (row["column"], row["value"])]
        assert row["difference"] == pytest.approx(one.difference)
        assert (row["difference_low"], row["difference_high"]) == pytest.approx(one.interval)
        assert row["adjusted_p_value"] == pytest.approx(one.adjusted_p_value)
        assert row["mean"] == pytest.approx(one.model_mean)
        assert row["share"] == pytest.approx(one.share)


def test_the_text_has_all_cells(data):
    y, models, groups, device = data
    text = report = ranking_report(
        y, models, groups=groups, by={"device": device}, random_state=0, **K
    )
    means, differences = text.split("Compared with 'one' by the permutation test\n")
    one, two = means.split("\ntwo\n\n")
    rows = device == "tv"
    for name, part in (("one", one), ("two", two)):
        expected = evaluate(y[rows], models[name][rows], "map@10", groups=groups[rows])["map@10"]
        (line,) = [x for x in part.splitlines() if x.split()[:3] == ["map", "device", "tv"]]
        assert f"{expected:.3f} [" in line
        assert line.split()[3:5] == ["20", "33.3%"]
    shown = compare(report.scores, by="device", random_state=0).to_string(digits=3)
    assert f"Compared with 'one' by the permutation test\n{differences}" == shown
    assert len([line for line in differences.splitlines() if " two " in line]) == 4 * 4


def test_differences_without_segments_are_those_of_compare(data):
    y, models, groups, _ = data
    report = ranking_report(y, models, groups=groups, random_state=0, **K)
    shown = compare(report.scores, random_state=0).to_string(digits=3)
    assert report.endswith(f"\n\n{shown}")
    family = "adjusted by holm for all comparisons with one, each metric by itself"
    assert f"p-values: {family}" in shown
    assert "Compared" not in ranking_report(y, {"one": models["one"]}, groups=groups, **K)


def test_the_report_is_a_text_with_its_parts(data):
    y, models, groups, device = data
    report = ranking_report(y, models, groups=groups, by=device, random_state=0, **K)
    assert isinstance(report, str)
    assert repr(report) == str(report)
    assert list(report.scores) == ["one", "two"]
    assert report.scores["two"].mean() == pytest.approx(
        evaluate(y, models["two"], NAMES, groups=groups)
    )
    assert report.segments["one"]["map@1", ("segment", "tv")].queries == 20
    assert report.comparison["map@1", "two"].baseline == "one"
    for same in (pickle.loads(pickle.dumps(report)), copy.deepcopy(report)):
        assert same == report
        assert same.comparison["map@1", "two"] == report.comparison["map@1", "two"]
    single = ranking_report(y, models["one"], groups=groups, **K)
    assert (single.comparison, single.segments, list(single.scores)) == (None, {}, [""])


def test_refuses_segments_that_do_not_fit(data):
    y, models, groups, _ = data
    with pytest.raises(ValueError, match=r"by='device' names no index level.*by=X\['device'\]"):
        ranking_report(y, models["one"], groups=groups, by="device")
    with pytest.raises(ValueError, match="constant within each query"):
        ranking_report(y, models["one"], groups=groups, by=np.arange(len(y)))
    with pytest.raises(ValueError, match="one value per query"):
        ranking_report(y, models["one"], groups=groups, by=["desk", "phone"])
