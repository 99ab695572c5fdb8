"""The metrics for all boosters: names, options, clones and pickles."""

import pickle

import lightgbm
import numpy as np
import pytest
import xgboost
from requires import requires
from sklearn.base import clone

from sklearn_rankscore import catboost_metric, lightgbm_metric, xgboost_metric


@pytest.mark.parametrize("make", [lightgbm_metric, xgboost_metric])
def test_bad_names_and_options_fail_at_once(make):
    with pytest.raises(ValueError, match="Did you mean 'ndcg@10'"):
        make("ndgc@10")
    with pytest.raises(ValueError, match="a single number; use average='macro'"):
        make("ndcg", average=None)


@pytest.mark.parametrize("name", ["xgboost.XGBRanker", "catboost.CatBoostRanker"])
def test_metrics_survive_clone_and_pickle(name, parts):
    _, y, qid = parts[1]
    library, _, ranker = name.partition(".")
    sets = {"xgboost": (), "catboost": [(y, qid)]}[library]
    make = {"xgboost": xgboost_metric, "catboost": catboost_metric}[library]
    estimator = getattr(requires(library), ranker)(eval_metric=make("mrr@10(threshold=1)", *sets))
    score = np.random.default_rng(0).normal(size=len(y))
    metric = clone(estimator).get_params()["eval_metric"]
    again = pickle.loads(pickle.dumps(metric))
    assert again.value(y, score, qid) == metric.value(y, score, qid)
    assert xgboost_metric("map@5(like=xgboost, ties=stable)").__name__.count(" ") == 0


def test_the_metric_of_another_library_is_refused(parts):
    _, (X, y, qid) = parts
    sizes = np.unique(qid, return_counts=True)[1]
    dataset = lightgbm.Dataset(X, y, group=sizes).construct()
    for metric, data, message in (
        (
            xgboost_metric("map"),
            dataset,
            "for xgboost, but got a Dataset of lightgbm: use lightgbm_",
        ),
        (lightgbm_metric("map"), xgboost.DMatrix(X, y, qid=qid), "of xgboost: use xgboost_metric"),
    ):
        with pytest.raises(TypeError, match=message):
            metric(np.zeros(len(y)), data)
