"""The effective number of clicks and the share of clipped documents of QueryScores."""

import pickle
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge

import sklearn_rankscore as rs

X, Y, GROUPS = rs.make_ranking(n_queries=12, random_state=1)
CLICKS = (Y > 2) * 1.0
SEEN = np.random.default_rng(0).choice([1, 0.5, 0.05], len(Y))
NAMES = ["dcg@3", "ndcg"]
CLIPPED = partial(rs.propensity_summary, clip=0.1)


def kish(rows, clip):
    """The definition, on the documents of some rows."""
    weights = 1 / np.maximum(SEEN[rows], clip)[CLICKS[rows] > 0]
    return weights.sum() ** 2 / (weights**2).sum(), (SEEN[rows] < clip).mean()


def frame_of(columns):
    """Features with the propensities, half of them and other labels as index levels."""
    frame = pd.DataFrame(X[:, :columns]).assign(qid=GROUPS, seen=SEEN, half=SEEN / 2, likes=Y)
    frame = frame.set_index(["qid", "seen", "half", "likes"])
    return frame.set_axis([f"x{j}" for j in range(columns)], axis=1)


@pytest.mark.parametrize("by_name", [False, True])
def test_of_all_queries_and_of_some(by_name):
    order = np.random.default_rng(1).permutation(len(Y))  # rows of a query are not adjacent
    index = frame_of(1).index
    clicks, scores = (pd.Series(a, index).iloc[order] for a in (CLICKS, X[:, 0]))
    given = {"propensity": "seen" if by_name else SEEN[order], "clip": 0.1}
    scores = rs.query_scores(clicks, scores, NAMES, **given)
    few = scores.select(scores.ids < scores.ids[4])
    for of in (scores, few, pickle.loads(pickle.dumps(few)), replace(few, segments=None)):
        rows = np.isin(GROUPS, of.ids)
        (summary, same), expected = of.propensity_summary().values(), kish(rows, 0.1)
        assert (summary.effective_clicks, summary.clipped_share) == pytest.approx(expected)
        assert summary == same
        assert summary == pytest.approx(CLIPPED(CLICKS[rows], SEEN[rows]))


def test_each_metric_has_its_own():
    """Also by cross-validation, where another target has clicks of its own."""
    frame, clicked = frame_of(X.shape[1]), "dcg@3(propensity=seen, clip=0.1)"
    expected = {
        clicked: CLIPPED(CLICKS, SEEN),
        "dcg(propensity=half)": rs.propensity_summary(CLICKS, SEEN / 2),
        "dcg@5(target=likes, propensity=seen)": rs.propensity_summary(Y, SEEN),
    }
    given = {"metrics": [*expected, "mrr"], "cv": rs.QueryKFold(3)}
    scores = rs.cross_val_query_scores(Ridge(), frame, CLICKS, **given)
    summaries = scores.propensity_summary()
    assert summaries == {name: pytest.approx(of) for name, of in expected.items()}
    first = scores.select(scores.ids == scores.ids[0]).propensity_summary()[clicked]
    assert first.effective_clicks == pytest.approx(kish(scores.ids[0] == GROUPS, 0.1)[0])
    given = [clicked, "mrr", "dcg(propensity=half)"]
    plain = rs.query_scores(pd.Series(CLICKS, frame.index), X[:, 0], given).propensity_summary()
    assert plain == {name: summaries[name] for name in given if name != "mrr"}


def test_importances_by_array_and_by_index_level():
    frame = frame_of(3)
    model, name = Ridge().fit(frame, Y), "dcg@5(propensity=seen)"
    importances = partial(rs.query_permutation_importance, model, y=CLICKS, random_state=0)
    by_array = importances(frame, metrics="dcg@5", propensity=SEEN)
    given = {"metrics": "dcg@5", "groups": GROUPS, "propensity": SEEN}
    expected = rs.query_scores(CLICKS, model.predict(frame), **given)
    assert by_array.baseline.values.tolist() == expected.values.tolist()
    assert by_array.baseline.propensity_summary() == expected.propensity_summary()
    losses = by_array.to_frame()["importance"].tolist()
    assert losses == importances(frame, metrics=name).to_frame()["importance"].tolist()
    assert max(losses) > 0
    with pytest.raises(ValueError, match=r"propensity='seen' is neither .* also take the values"):
        importances(frame.droplevel("seen"), metrics=name)


def test_queries_without_clicks_and_with_weights_of_different_scales():
    none = rs.query_scores(CLICKS * 0, X[:, 0], "dcg", groups=GROUPS, propensity=SEEN)
    assert none.propensity_summary()["dcg"] == pytest.approx((len(Y), 0, 0, np.nan, 0), nan_ok=True)
    scores = rs.query_scores([1, 1, 1, 0], [4, 3, 2, 1], "dcg", groups=[1, 1, 2, 3],
                          propensity=[1, 0.5, 1e-100, 1])  # fmt: skip
    assert scores.propensity_summary()["dcg"] == pytest.approx((4, 3, 1, 1, 0))
    first = scores.select([0, 2]).propensity_summary()["dcg"]
    assert first == pytest.approx((3, 2, 9 / 5, 2 / 3, 0))
