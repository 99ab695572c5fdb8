"""Evaluation sets given to `fit` are treated like the training rows."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from gathered_rows import gather
from lightgbm import LGBMRanker
from native_fits import fit, is_ranker, log_of, make
from requires import requires
from sklearn import config_context
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from training_rounds import sizes_of

from sklearn_rankscore import QueryKFold, QueryRanker, lightgbm_metric, make_ranking

AT_10 = {"L": {"eval_at": [10]}, "X": {}, "C": {}}
NAMES = ("LGBMRanker", "XGBRanker", "CatBoostRanker", "LGBMRegressor", "XGBRegressor",
         "CatBoostRegressor", "LGBMClassifier", "XGBClassifier", "CatBoostClassifier")  # fmt: skip


@pytest.fixture(scope="module")
def valid():
    """Other queries with ids of the training queries, in random order: X, y, ids."""
    X, y, ids = make_ranking(n_queries=15, n_features=6, n_informative=3, random_state=1)
    order = np.random.default_rng(2).permutation(len(y))
    return X[order], y[order], ids[order]


def native_log(name, rows, valid, weights=None, start=None, **params):
    """The log of the booster itself on gathered rows, with its own arguments."""
    model, (X, y, ids) = make(name, 10), valid
    of_set = [ids, X, y, weights, start]
    if is_ranker(model):
        of_set = gather(ids, X, y, weights, start)
    q, X, y, weights, start = of_set
    if name[0] == "L":
        sets = {"eval_X": (X,), "eval_y": (y,)} | ({"eval_at": [10]} if is_ranker(model) else {})
        sets |= {"eval_group": [sizes_of(q)]} if is_ranker(model) else {}
        sets |= {} if weights is None else {"eval_sample_weight": [weights]}
        sets |= {} if start is None else {"eval_init_score": [start]}
    elif name[0] == "X":
        sets = {"eval_set": [(X, y)], "verbose": False}
        if is_ranker(model):
            sets["eval_qid"] = [q]
            first = np.unique(q, return_index=True)[1]
            weights = None if weights is None else weights[first]
        sets["sample_weight_eval_set"] = None if weights is None else [weights]
        sets["base_margin_eval_set"] = None if start is None else [start]
    else:
        of_row = {"group_weight": weights} if is_ranker(model) else {"weight": weights}
        group_id = q if is_ranker(model) else None
        sets = {
            "eval_set": requires("catboost").Pool(X, y, group_id=group_id, baseline=start, **of_row)
        }
        # CatBoost wants scores to start from in both or in none
        params |= {} if start is None else {"start": np.zeros(len(rows[1]))}
    return log_of(fit(model, *rows[:2], rows[2], **sets, **params))


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
}
WEIGHTS = ("eval_sample_weight", "sample_weight_eval_set")
STARTS = ("eval_init_score", "base_margin_eval_set")


def forms_of(X, y):
    """The forms in which one pair is taken."""
    return [
        {"eval_set": [(X, y)]}, {"eval_set": ([X, y],)}, {"eval_set": (X, y)},
        {"eval_X": X, "eval_y": y}, {"eval_X": (X,), "eval_y": [y]},
    ]  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", NAMES)
def test_the_log_is_that_of_the_booster(name, way, rows, valid):
    rows, valid = ((X, np.minimum(y, 2), ids) for X, y, ids in (rows, valid))
    (X, y), params = WAYS[way](*rows)
    pair, of_valid = WAYS[way](*valid)
    groups = {"groups": rows[2]} if params else {}
    at_10 = AT_10[name[0]] if name.endswith("Ranker") else {}
    fitted = QueryRanker(make(name, 10)).fit(X, y, eval_set=[pair], **groups, **of_valid, **at_10)
    logged, expected = log_of(fitted.estimator_), native_log(name, rows, valid)
    assert logged.keys() == expected.keys()
    for metric, values in expected.items():
        np.testing.assert_allclose(logged[metric], values, rtol=1e-9)


@pytest.mark.parametrize("piped", [False, True])
@pytest.mark.parametrize("i", [0, 1])
def test_weights_and_starts_have_the_names_of_any_booster(i, piped, ranker, rows, valid):
    """One entry per row, which is gathered with them; a pipeline needs no name of a step."""
    X, y, ids = rows
    weights, start = 1.0 + valid[2] % 4, np.linspace(-2, 2, len(valid[1]))
    scale = StandardScaler().fit(gather(ids, X)[1]).transform if piped else np.asarray
    scaled = (scale(X), y, ids), (scale(valid[0]), *valid[1:])
    expected = native_log(ranker, *scaled, weights, start)
    step = f"{ranker.lower()}__" if piped else ""
    own = {step + key: value for key, value in AT_10[ranker[0]].items()}
    if ranker[0] == "C":
        own[f"{step}baseline"] = np.zeros(len(y))
    model = make_pipeline(StandardScaler(), make(ranker, 10)) if piped else make(ranker, 10)
    for form in forms_of(*valid[:2]):
        sets = {**form, "eval_qid": [valid[2]], WEIGHTS[i]: [weights], STARTS[i]: [start]}
        for prefix in {"", step}:
            params = {prefix + key: value for key, value in sets.items()}
            fitted = QueryRanker(model).fit(X, y, groups=ids, **params, **own).estimator_
            assert log_of(fitted[-1] if piped else fitted) == expected
    assert expected != native_log(ranker, *scaled, None, start)
    assert expected != native_log(ranker, *scaled, weights)


def test_sizes_of_queries_name_contiguous_rows(ranker, rows, valid):
    X, y, ids = rows
    q, X_q, y_q = gather(valid[2], *valid[:2])
    fitted = QueryRanker(make(ranker, 10)).fit(
        X, y, groups=ids, eval_set=(X_q, y_q), eval_group=[sizes_of(q)], **AT_10[ranker[0]]
    )
    assert log_of(fitted.estimator_) == native_log(ranker, rows, valid)


@pytest.mark.parametrize("name", WEIGHTS)
@pytest.mark.parametrize("routing", [False, True])
def test_a_search_passes_the_same_set_to_each_fold(routing, name, ranker, rows, valid):
    """Metadata routing asks for no request, whether or not the booster has such a parameter."""
    X, y, ids = rows
    weights = 1.0 + valid[2] % 3
    sets = {"eval_X": [valid[0]], "eval_y": [valid[1]], "eval_qid": [valid[2]], name: [weights]}
    search = GridSearchCV(
        QueryRanker(make(ranker, 10)), {}, cv=QueryKFold(2), scoring="ndcg", error_score="raise"
    )
    labels, ids = (y, {"groups": ids}) if routing else (pd.Series(y, pd.Index(ids, name="qid")), {})
    with config_context(enable_metadata_routing=routing):
        search.fit(X, labels, **ids, **sets, **AT_10[ranker[0]])
    fitted = search.best_estimator_.estimator_
    assert log_of(fitted) == native_log(ranker, rows, valid, weights)


def test_other_estimators_get_the_parameter_unchanged(rows, valid):
    class Own(Ridge):
        def fit(self, X, y, eval_set=None):
            self.eval_set_ = eval_set
            return super().fit(X, y)

    sets = [valid[:2]]
    fitted = QueryRanker(Own()).fit(*rows[:2], groups=rows[2], eval_set=sets)
    assert fitted.estimator_.eval_set_ is sets


# --- LightGBM knows training data by identity, calls them "training", and does not stop on them


@pytest.mark.parametrize("piped", [False, True])
@pytest.mark.parametrize("labels", [np.asarray, pd.Series])
@pytest.mark.parametrize("in_order", [True, False])
def test_training_data_among_the_sets_of_lightgbm(in_order, labels, piped, rows, valid):
    X, y, ids = rows
    if in_order:
        ids, X, y = gather(ids, X, y)
    y = labels(y)
    q, X_q, y_q = gather(ids, X, np.asarray(y))
    X_v, y_v = gather(valid[2], *valid[:2])[1:]
    native = LGBMRanker(**make("LGBMRanker", 10).get_params()).fit(
        X_q, y_q, group=sizes_of(q), eval_X=(X_q, X_v), eval_y=(y_q, y_v),
        eval_group=[sizes_of(q), sizes_of(gather(valid[2])[0])], eval_at=[1],
    )  # fmt: skip
    model = make("LGBMRanker", 10)
    ranker = QueryRanker(make_pipeline("passthrough", model) if piped else model)
    step = "lgbmranker__" if piped else ""

    def logs(sets, ids_of_sets, **params):
        fitted = ranker.fit(
            X, y, groups=ids, eval_set=sets, eval_qid=ids_of_sets, **{f"{step}eval_at": [1]},
            **params,
        ).estimator_  # fmt: skip
        return (fitted[-1] if piped else fitted).evals_result_

    own, other = (X, y), (valid[0], valid[1])
    assert logs([own, other], [ids, valid[2]]) == native.evals_result_
    assert list(native.evals_result_) == ["training", "valid_1"]
    copied, other_ids, weights = (X.copy(), y.copy()), np.zeros(len(y), int), 1.0 + ids % 3
    flipped = np.asarray(y).max() - np.asarray(y)
    # with other labels, queries or weights, they are a set of their own
    for sets, params in (
        ((X, flipped), {}),
        (own, {"eval_sample_weight": [weights]}),
        (own, {"eval_sample_weight": [weights], "sample_weight": 2 * weights}),
    ):
        as_copy = copied if sets is own else (X.copy(), flipped)
        assert logs([sets], [ids], **params) == logs([as_copy], [ids], **params)
    assert logs([own], [other_ids]) == logs([copied], [other_ids])
    assert list(logs([own], [other_ids])) == ["valid_0"]
    ranker.set_params(max_queries=20)
    assert list(logs([own, other], [ids, valid[2]])) == ["training", "valid_1"]
    # as the set to watch, they stop the training
    ranker.set_params(max_queries=None, early_stopping="ndcg@5", n_iter_no_change=3)
    rounds = []
    for pair in (own, copied):
        logs([pair], [ids])
        rounds.append(ranker.n_iter_)
    assert rounds[0] == rounds[1]


def test_a_pointwise_model_does_not_know_the_queries_of_a_metric(rows, valid):
    X, y, ids = rows
    sets = {"groups": ids, "eval_set": [valid[:2]], "eval_qid": [valid[2]]}
    model = QueryRanker(make("LGBMRegressor", 5))
    with pytest.raises(ValueError, match=r"no queries .*early_stopping='ndcg@10'\) knows"):
        model.fit(X, y, eval_metric=lightgbm_metric("ndcg@10"), **sets)
    model.set_params(early_stopping="ndcg@10").fit(X, y, **sets)
