"""Evaluation sets given to `fit` are treated like the training rows."""

from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from frames import pl
from native_fits import fit, gather, is_ranker, log_of, make
from ranking_rows import BY_ID, IDS, IDS_VALID, INDEX, ROWS, VALID, X_VALID, Y_VALID, X, Y, last
from sklearn import config_context
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from training_rounds import sizes_of

from sklearn_rankscore import QueryKFold, QueryRanker, lightgbm_metric

NAMES = [f"{library}{kind}" for library in ("LGBM", "XGB", "CatBoost")
         for kind in ("Ranker", "Regressor", "Classifier")]  # fmt: skip
SETS = {"eval_set": [(X_VALID, Y_VALID)], "eval_qid": [IDS_VALID]}


def at_10(name):
    return {"eval_at": [10]} if name == "LGBMRanker" else {}


def native_log(name, rows, valid, weights=None, start=None, **params):
    """The log of the booster itself on gathered rows, with its own arguments."""
    model, (X, y, ids) = make(name, 10), valid
    ranks, q = is_ranker(model), ids
    if ranks:
        q, X, y, weights, start = gather(ids, X, y, weights, start)
    if name[0] == "L":
        sets = {"eval_X": (X,), "eval_y": (y,), **at_10(name)}
        sets |= {"eval_group": [sizes_of(q)]} if ranks else {}
        sets |= {} if weights is None else {"eval_sample_weight": [weights]}
        sets |= {} if start is None else {"eval_init_score": [start]}
    elif name[0] == "X":
        first = np.unique(q, return_index=True)[1] if ranks else slice(None)
        sets = {"eval_set": [(X, y)], "verbose": False, **({"eval_qid": [q]} if ranks else {})}
        sets["sample_weight_eval_set"] = None if weights is None else [weights[first]]
        sets["base_margin_eval_set"] = None if start is None else [start]
    else:
        of_rows = {"group_id": q, "group_weight": weights} if ranks else {"weight": weights}
        sets = {"eval_set": import_module("catboost").Pool(X, y, baseline=start, **of_rows)}
        # CatBoost wants scores to start from in both or in none
        params |= {} if start is None else {"start": np.zeros(len(rows[1]))}
    return log_of(fit(model, *rows, **sets, **params))


def frame_of(X, library=pd, **columns):
    frame = pd.DataFrame(X).add_prefix("x").assign(**columns)
    return frame if library is pd else library.from_pandas(frame)


# each way to give a set: (X, y, ids) to the pair and the arguments for its ids
WAYS = {
    "column": lambda X, y, q: ((frame_of(X, qid=q), y), {}),
    "polars": lambda X, y, q: ((frame_of(X, pl, qid=q), pl.Series(y)), {}),
    "level of X": lambda X, y, q: ((frame_of(X, qid=q).set_index("qid"), y), {}),
    "level of y": lambda X, y, q: ((X, pd.Series(y, index=pd.Index(q, name="qid"))), {}),
    "eval_qid": lambda X, y, q: ((X, y), {"eval_qid": [q]}),
    # of contiguous rows
    "eval_group": lambda X, y, q: (
        tuple(gather(q, X, y)[1:]), {"eval_group": [sizes_of(gather(q)[0])]}
    ),
}  # fmt: skip
WEIGHTS = ("eval_sample_weight", "sample_weight_eval_set")
STARTS = ("eval_init_score", "base_margin_eval_set")


CASES = [
    *(("LGBMRanker", way) for way in WAYS),
    *((name, "eval_qid") for name in NAMES[1:]),
    *((name, "eval_group") for name in ("XGBRanker", "CatBoostRanker")),
]


@pytest.mark.parametrize(("name", "way"), CASES)
def test_the_log_is_that_of_the_booster(name, way):
    rows, valid = ((X, np.minimum(y, 2), ids) for X, y, ids in (ROWS, VALID))
    pair, of_valid = WAYS[way](*valid)
    (given, labels), groups = (rows[:2], BY_ID) if of_valid else (WAYS[way](*rows)[0], {})
    fitted = QueryRanker(make(name, 10)).fit(
        given, labels, eval_set=[pair], **groups, **of_valid, **at_10(name)
    )
    logged, expected = log_of(fitted.estimator_), native_log(name, rows, valid)
    assert logged.keys() == expected.keys()
    for metric, values in expected.items():
        np.testing.assert_allclose(logged[metric], values, rtol=1e-9)


# the forms in which one pair is taken
FORMS = [
    {"eval_set": [(X_VALID, Y_VALID)]}, {"eval_set": ([X_VALID, Y_VALID],)},
    {"eval_set": (X_VALID, Y_VALID)}, {"eval_X": X_VALID, "eval_y": Y_VALID},
    {"eval_X": (X_VALID,), "eval_y": [Y_VALID]},
]  # fmt: skip


@pytest.mark.parametrize(("i", "piped"), [(0, False), (1, True)])
def test_weights_and_starts_have_the_names_of_any_booster(i, piped, ranker):
    """One entry per row, which is gathered with them; a pipeline needs no name of a step."""
    weights, start = 1.0 + IDS_VALID % 4, np.linspace(-2, 2, len(Y_VALID))
    scale = StandardScaler().fit(gather(IDS, X)[1]).transform if piped else np.asarray
    scaled = (scale(X), Y, IDS), (scale(X_VALID), Y_VALID, IDS_VALID)
    expected = native_log(ranker, *scaled, weights, start)
    step = f"{ranker.lower()}__" if piped else ""
    own = at_10(ranker) | ({"baseline": np.zeros(len(Y))} if ranker[0] == "C" else {})
    own = {step + key: value for key, value in own.items()}
    model = make_pipeline(StandardScaler(), make(ranker, 10)) if piped else make(ranker, 10)
    for form, prefix in zip(FORMS, [step, "", "", "", ""], strict=True):
        sets = {**form, "eval_qid": [IDS_VALID], WEIGHTS[i]: [weights], STARTS[i]: [start]}
        params = {prefix + key: value for key, value in sets.items()}
        fitted = QueryRanker(model).fit(*ROWS, **params, **own).estimator_
        assert log_of(last(fitted)) == expected
    assert expected != native_log(ranker, *scaled, None, start)
    assert expected != native_log(ranker, *scaled, weights)


@pytest.mark.parametrize(("routing", "name"), zip([False, True], WEIGHTS, strict=True))
def test_a_search_passes_the_same_set_to_each_fold(routing, name, ranker):
    """Metadata routing asks for no request, whether or not the booster has such a parameter."""
    weights = 1.0 + IDS_VALID % 3
    model = QueryRanker(make(ranker, 10))
    search = GridSearchCV(model, {}, cv=QueryKFold(2), scoring="ndcg", error_score="raise")
    labels, ids = (Y, BY_ID) if routing else (pd.Series(Y, INDEX), {})
    with config_context(enable_metadata_routing=routing):
        search.fit(X, labels, **ids, **SETS, **{name: [weights]}, **at_10(ranker))
    fitted = search.best_estimator_.estimator_
    assert log_of(fitted) == native_log(ranker, ROWS, VALID, weights)


class Own(Ridge):
    def fit(self, X, y, eval_set=None):
        self.eval_set_ = eval_set
        return super().fit(X, y)


def test_models_that_know_no_sets_or_no_queries():
    fitted = QueryRanker(Own()).fit(*ROWS, eval_set=SETS["eval_set"])
    assert fitted.estimator_.eval_set_ is SETS["eval_set"]
    model = QueryRanker(make("LGBMRegressor", 5))
    with pytest.raises(ValueError, match=r"no queries .*early_stopping='ndcg@10'\), which"):
        model.fit(*ROWS, eval_metric=lightgbm_metric("ndcg@10"), **SETS)
    model.set_params(early_stopping="ndcg@10").fit(*ROWS, **SETS)


# --- LightGBM knows training data by identity, calls them "training", and does not stop on them


@pytest.mark.parametrize("in_order", [True, False])
def test_training_data_among_the_sets_of_lightgbm(in_order):
    ids, X, y = gather(IDS, *ROWS[:2]) if in_order else (IDS, *ROWS[:2])
    (q, X_q, y_q), (q_v, X_v, y_v) = gather(ids, X, y), gather(IDS_VALID, X_VALID, Y_VALID)
    native = make("LGBMRanker", 10).fit(
        X_q, y_q, group=sizes_of(q), eval_X=(X_q, X_v), eval_y=(y_q, y_v),
        eval_group=[sizes_of(q), sizes_of(q_v)],
    )  # fmt: skip
    ranker = QueryRanker(make_pipeline("passthrough", make("LGBMRanker", 10)))

    def logs(sets, ids_of_sets, **params):
        params |= {"eval_set": sets, "eval_qid": ids_of_sets}
        return last(ranker.fit(X, y, ids, **params).estimator_).evals_result_

    own, other = (X, y), (X_VALID, Y_VALID)
    assert logs([own, other], [ids, IDS_VALID]) == native.evals_result_
    assert list(native.evals_result_) == ["training", "valid_1"]
    # with other labels, queries or weights, they are a set of their own
    flipped, other_ids = (X, y.max() - y), np.zeros(len(y), int)
    weights = {"eval_sample_weight": [1.0 + ids % 3]}
    for pair, of_set, params in (flipped, ids, {}), (own, other_ids, {}), (own, ids, weights):
        assert list(logs([pair], [of_set], **params)) == ["valid_0"]
    ranker.set_params(max_queries=20)
    assert list(logs([own, other], [ids, IDS_VALID])) == ["training", "valid_1"]
    # as the set to watch, they stop the training
    ranker.set_params(max_queries=None, early_stopping="ndcg@5", n_iter_no_change=3)
    rounds = [ranker.n_iter_ for pair in (own, (X.copy(), y.copy())) if logs([pair], [ids])]
    assert rounds[0] == rounds[1]
