"""Record what the package returns, and compare two recordings: a redesign changes no number.

    PYTHONPATH=OLD python tools/recorder.py record old.json
    PYTHONPATH=NEW python tools/recorder.py record new.json
    python tools/recorder.py compare old.json new.json [--messages]

Only public names are called, so that it runs on both trees. A case keeps the values, their types,
the warnings, or the error. Numbers may differ by 1e-12, relative above 1; classes of warnings and
errors may not differ; their texts may.
"""

import contextlib
import io
import json
import os
import re
import sys
import tempfile
import time
import warnings
from collections import defaultdict
from functools import partial
from inspect import signature
from itertools import product

import dask
import dask.dataframe
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import sklearn
from catboost import CatBoostRanker
from lightgbm import LGBMClassifier, LGBMRanker
from scipy.sparse import csr_array
from sklearn import ensemble, metrics
from sklearn import model_selection as ms
from sklearn.base import clone
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_selection import RFECV, SelectKBest, SequentialFeatureSelector
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits
from xgboost import DMatrix, XGBRanker

import sklearn_rankscore as rs
from sklearn_rankscore import cli
from sklearn_rankscore import dask as rs_dask

FUNCTIONS = {n: getattr(rs, n) for n in rs.__all__ if n.endswith(("_score", "_at_k"))}
NAMES = [n.removesuffix("_score").removesuffix("_at_k") for n in FUNCTIONS]
TIES = ["average", "stable", "reversed", "optimistic", "pessimistic"]
LIKE = ["sklearn", "lightgbm", "xgboost", "catboost", "trec_eval", "ranx", "torchmetrics", "rax"]
LIKE += ["beir", "implicit", "recommenders", "rectools", "recbole", "nobody"]
FEW = ["ndcg@5", "map", "mrr", "recall@3(replace_undefined_by=nan)", "kendall_tau"]
UNJUDGED = ["ndcg@5", "bpref", "judged@5", "infap", "map"]
RANDOM = np.random.default_rng(0)
SIZES = np.array([1, 1, 2, 3, 5, 8, 13, 16, 17, 21, 34, 55])
GROUPS = np.repeat(np.arange(len(SIZES)), SIZES)
GRADES = np.minimum(RANDOM.geometric(0.5, len(GROUPS)) - 1, 4)
SCORE = GRADES / 3 + RANDOM.normal(size=len(GRADES))
TIED = np.where(7919 * SCORE % 1 < 0.2, -np.inf, np.round(SCORE))
HOLES = np.where(RANDOM.random(len(GRADES)) < 0.3, np.nan, GRADES)
DATA = {
    "untied": {"y_true": GRADES, "y_score": SCORE, "groups": GROUPS},
    "tied": {"y_true": GRADES, "y_score": TIED, "groups": GROUPS},
    "all tied": {"y_true": GRADES % 2, "y_score": 0 * SCORE, "groups": GROUPS},
    "irrelevant": {"y_true": 0 * GRADES, "y_score": TIED, "groups": GROUPS},
    "rows": {"y_true": GRADES[:150].reshape(6, 25), "y_score": SCORE[:150].reshape(6, 25)},
    "classes": {"y_true": GRADES[:50] % 3, "y_score": SCORE[:150].reshape(50, 3)},
    "unjudged": {"y_true": HOLES, "y_score": TIED, "groups": GROUPS},
    "no ids": {"y_true": GRADES, "y_score": SCORE},
}
OPTIONS = {
    "threshold": [1, 2.5, "x"],
    "denominator": ["min", "relevant", "hits", "k", "attainable"],
    "gain": ["exponential", "binary", (0, 1, 3, 7, 15), {0: 0, 1: 2, 2: 3, 3: 4, 4: 9}, np.sqrt, "x"],
    "discount": ["log2_after_first", "reciprocal", None, partial(np.float_power, 0.9), "x"],
    "p": [0, 0.5, 0.95, 2],
    "normalize": [True],
    "decay": [0, 0.5, 1, 2],
    "max_grade": [6.5, None, 1],
    "adjusted": [True],
    "replace_undefined_by": [0.5, np.nan, "x"],
    "average": ["micro", None, "x"],
    "unjudged": ["irrelevant", "drop", "x"],
    "sample_weight": [1.0 + GROUPS % 3, GROUPS * 0.0, SCORE],
    "propensity": [1 / (2 + GROUPS % 5), GROUPS],
    "labels": [[2, 0, 1]],
    "n_jobs": [2],
    "k": [0, 1.5, 1000],
    "nonsense": [1],
}


def each(**values):
    """Options with each combination of values."""
    return [dict(zip(values, some, strict=True)) for some in product(*values.values())]


def pfound_labels(name, given):
    return given | {"y_true": np.clip(given["y_true"] / 4, 0, 1)} if "pfound" in name else given


def metric_functions():
    for (name, function), (kind, given) in product(FUNCTIONS.items(), DATA.items()):
        known, given = signature(function).parameters, pfound_labels(name, given)
        unjudged = "drop" if kind == "unjudged" and "unjudged" in known else None
        given = given | ({"unjudged": unjudged} if unjudged else {})
        base = {"ties": TIES, "k": [None, 1, 5]}
        for options in each(**{o: v for o, v in base.items() if o in known}):
            yield (name, kind, options), partial(function, **given, **options)
        for option, values in OPTIONS.items() if kind in ("tied", "irrelevant", "unjudged") else ():
            if option not in known and option not in ("gain", "k", "nonsense"):
                continue
            for value, ties in product(values, ["average", "stable"][: 1 + ("ties" in known)]):
                options = {option: value} | ({"ties": ties} if "ties" in known else {})
                yield (name, kind, options), partial(function, **(given | options))
        for labels in ([2, 0, 1], [0, 1, 2]) if kind == "classes" else ():
            yield (name, kind, labels), partial(function, **given, labels=labels)


TYPES = ["float16", "float32", "longdouble", "object", ">f8", "int8", "int64", "uint8", "uint64"]
TYPES += ["bool", "str", "complex", "M8[D]", "m8[D]"]
COLUMNS = {"lists": list, "tuples": tuple, "pandas": pd.Series, "pandas array": pd.array}
COLUMNS |= {"polars": pl.Series, "pyarrow": pa.array, "masked": np.ma.masked_array}
COLUMNS |= {"chunked": lambda a: pa.chunked_array([a[:50], a[50:]]), "object": lambda a: a.astype(object)}
COLUMNS |= {"pandas arrow": lambda a: pd.Series(pa.array(a).to_pandas(types_mapper=pd.ArrowDtype))}
COLUMNS |= {"column": lambda a: a[:, None], "frame": lambda a: pd.DataFrame({"a": a})}
COLUMNS |= {"nullable": lambda a: pd.Series(a).convert_dtypes(), "read-only": np.broadcast_arrays}
COLUMNS["read-only"] = lambda a: np.broadcast_to(a, a.shape)
IDS = {kind: partial(np.ndarray.astype, dtype=kind) for kind in ["i1", "u8", "f8", "U", "S", "M8[D]"]}
IDS |= {
    "far apart": lambda g: g * 10**15,
    "huge floats": lambda g: g * 1e17,
    "tuples": lambda g: [(one % 3, str(one)) for one in g.tolist()],
    "numbers and texts": lambda g: [one if one % 2 else str(one) for one in g.tolist()],
    "missing": lambda g: np.where(g == 3, np.nan, g),
    "None": lambda g: [None if one == 3 else str(one) for one in g.tolist()],
    "sizes": lambda g: SIZES,
    "one each": lambda g: np.arange(len(g)),
    "pandas dates": lambda g: pd.Series(pd.Timestamp("2026-01-01") + pd.to_timedelta(g, "D")),
    "with zone": lambda g: pd.Series(pd.Timestamp("2026-01-01", tz="CET") + pd.to_timedelta(g, "D")),
    "pandas categories": lambda g: pd.Categorical(g, categories=range(99, -1, -1), ordered=True),
    "pandas text": lambda g: pd.Series(g.astype(str), dtype="string"),
    "polars categories": lambda g: pl.Series(g.astype(str), dtype=pl.Categorical),
    "polars text": lambda g: pl.Series(g.astype(str)),
    "pyarrow text": lambda g: pa.array(g.astype(str)),
    "pyarrow nulls": lambda g: pa.array([None if one == 3 else str(one) for one in g.tolist()]),
    "pyarrow dictionary": lambda g: pa.array(g.astype(str)).dictionary_encode(),
    "positions": lambda g: 0,
    "function": lambda g: lambda X: g,
    "frame of two": lambda g: pd.DataFrame({"a": g // 2, "b": g % 2}),
}


def types_and_frames():
    orders = {"in order": np.arange(len(GROUPS)), "backwards": np.arange(len(GROUPS))[::-1]}
    orders["shuffled"] = np.random.default_rng(1).permutation(len(GROUPS))
    for (order, rows), (name, form) in product(orders.items(), IDS.items()):
        y, score, groups = GRADES[rows], SCORE[rows], GROUPS[rows]
        for call in (rs.query_scores, rs.evaluate):
            yield (call.__name__, "ids", name, order), partial(
                lambda call, *a, form, g: call(*a, groups=form(g)), call, y, score, FEW, form=form, g=groups
            )
    arguments = [GRADES, SCORE, GROUPS, 1.0 + GROUPS % 3]
    for (name, form), place in product(COLUMNS.items(), [0, 1, 2, 3, None]):
        forms = [form if place in (i, None) else np.asarray for i in range(4)]
        yield ("columns", name, place), partial(weighted, forms, arguments)
    for kind, place, function in product(TYPES, [0, 1, 2], ["ndcg@5", "map", "spearman"]):
        forms = [partial(np.ndarray.astype, dtype=kind) if place == i else np.asarray for i in range(4)]
        given = [abs(GRADES), np.round(4 + SCORE), GROUPS, None]
        yield ("type", kind, place, function), partial(weighted, forms, given, function)
    for place, bad in product([0, 1, 2], [np.nan, np.inf, -np.inf, -1, 1e300, 2**60 + 1]):
        given = [np.where(GROUPS == 5, bad, a) if i == place else a for i, a in enumerate(arguments)]
        for metric in ("ndcg", "dcg@5(gain=exponential)", "map", "err", "pfound", "bpref"):
            yield ("value", place, bad, metric), partial(weighted, [np.asarray] * 4, given, metric)
    level = pd.Index(GROUPS, name="qid")
    y, score = pd.Series(GRADES, level), pd.Series(SCORE, level)
    plain = pd.Series(SCORE)
    for name, pair in {
        "level": (y, score), "level of y": (y, SCORE), "level of scores": (GRADES, score),
        "another level": (y.rename_axis("session"), score.rename_axis("session")),
        "levels": (y.set_axis(pd.MultiIndex.from_arrays([GROUPS, range(len(y))], names=["qid", "d"])), SCORE),
        "sorted": (pd.Series(GRADES), plain.sort_values()), "shorter": (GRADES, SCORE[1:]),
        "empty": ([], []), "one": ([1], [2]), "text": (["a"] * 176, SCORE), "sparse": (csr_array(GRADES[None]), SCORE),
        "frame": (pd.DataFrame({"a": GRADES}), SCORE), "contradicting": (y, score.sort_index(ascending=False)),
    }.items():  # fmt: skip
        for groups in (None, "none", "qid", "session", GROUPS, GROUPS[::-1], level, y):
            for call in (rs.evaluate, rs.query_scores, rs.ranking_report, rs.score_bounds):
                options = {"metrics": ["ndcg@5", "map"], "groups": groups}
                yield ("index", name, groups, call.__name__), partial(call, *pair, **options)


def weighted(forms, arguments, metrics="ndcg@5"):
    y, score, groups, weights = (None if a is None else f(a) for f, a in zip(forms, arguments, strict=True))
    return rs.evaluate(y, score, metrics, groups=groups, sample_weight=weights, average=None)


def own(block, ties="average"):
    """A user-defined metric."""
    held = block.ranks <= block.retrieved[:, None]
    return (block.by_rank(np.sqrt, ties) * held / block.ranks).sum(axis=1)


def many_at_once():
    suffixes = ["", "@5", "@0", "(ties=stable)", "@5(threshold=1)", "(average=micro)", "(gain=exponential)"]
    for metric, suffix, like in product([*NAMES, "P", "NDCG_cut_10", "ncdg", "AUC"], suffixes, [None, *LIKE]):
        given = pfound_labels(metric, DATA["tied"])
        if like is None or suffix in ("", "@5"):
            yield (metric + suffix, like), partial(rs.evaluate, **given, metrics=metric + suffix, like=like)
    for kind, ties in product(["untied", "tied", "all tied", "unjudged"], TIES):
        for name, what in {"own": partial(own, ties=ties), "function": rs.ndcg_score, "list": FEW,
                           "dict": {"a": "ndcg@3", "b": own}, "partial": partial(rs.map_score, k=5)}.items():  # fmt: skip
            for options in ({}, {"average": None}, {"ties": ties}):
                yield (kind, name, ties, options), partial(rs.evaluate, **DATA[kind], metrics=what, **options)
    systems = {"a": SCORE, "b": TIED, "c": -SCORE}
    for call in (rs.evaluate, rs.query_scores, rs.score_bounds, rs.ranking_report, rs.convention_report):
        for unjudged, y in product([None, "irrelevant", "drop"], [GRADES, HOLES]):
            options = {"groups": GROUPS} | ({"unjudged": unjudged} if unjudged else {})
            for score in (SCORE, systems):
                name = (call.__name__, "systems", unjudged, y is HOLES, isinstance(score, dict))
                yield name, partial(call, y, score, metrics=["ndcg@5", "map"], **options)
    yield "names", lambda: [*rs.metric_names()]
    yield "names of scikit-learn", metrics.get_scorer_names


X, Y, QID = rs.make_ranking(40, n_features=5, random_state=0)
FRAME, LEVEL = pd.DataFrame(X, columns=list("abcde")), pd.Index(QID, name="qid")
MIXED = np.random.default_rng(0).permutation(len(Y))
INDEXED, WITH_COLUMN = FRAME.set_index(LEVEL), FRAME.assign(qid=QID)
FORMS = {
    "index": (INDEXED, Y, {}), "column": (WITH_COLUMN, Y, {}), "arrays, groups": (X, Y, {"groups": QID}),
    "frame, groups": (FRAME, pd.Series(Y), {"groups": pd.Series(QID)}), "no ids": (X, Y, {}),
    "index of y": (X, pd.Series(Y, LEVEL), {}), "both": (INDEXED, Y, {"groups": QID}),
    "coarser groups": (INDEXED, Y, {"groups": QID // 2}), "divided": (INDEXED, Y, {"groups": np.arange(len(Y)) % 7}),
    "shuffled": (X[MIXED], Y[MIXED], {"groups": QID[MIXED]}), "polars": (pl.DataFrame(WITH_COLUMN), Y, {}),
    "two columns": (FRAME.assign(u=QID // 4, s=QID % 4), Y, {}), "sparse": (csr_array(X), Y, {"groups": QID}),
    "text ids": (FRAME.assign(qid=QID.astype(str)), Y, {}), "misaligned": (FRAME, pd.Series(Y)[::-1], {"groups": QID}),
}  # fmt: skip
LGBM = LGBMRanker(n_estimators=12, num_leaves=5, n_jobs=1, min_child_samples=5, verbose=-1)
XGB = XGBRanker(n_estimators=12, max_depth=3, n_jobs=1, random_state=0)
CAT = CatBoostRanker(iterations=12, depth=3, thread_count=1, verbose=0, random_seed=0, allow_writing_files=False)  # fmt: skip
MODELS = {
    "ridge": Ridge(), "trees": ensemble.HistGradientBoostingRegressor(max_iter=8, random_state=0),
    "classifier": LogisticRegression(), "lightgbm": LGBM, "xgboost": XGB, "catboost": CAT,
    "pipeline": make_pipeline(StandardScaler(), LGBM), "lightgbm classifier": LGBMClassifier(n_estimators=5, n_jobs=1, verbose=-1),
    "forest": ensemble.RandomForestRegressor(5, random_state=0), "search": ms.GridSearchCV(Ridge(), {}, cv=rs.QueryKFold(3), scoring="ndcg@5"),
    "votes": ensemble.VotingRegressor([("a", Ridge()), ("b", rs.QueryRanker(LGBM))]),
    "ridge cv": RidgeCV([1.0], cv=rs.QueryKFold(3), scoring="ndcg@5"), "rfecv": RFECV(Ridge(), cv=rs.QueryKFold(3), scoring="ndcg@5"),
    "stack": ensemble.StackingRegressor([("a", rs.QueryRanker(Ridge()))], LinearRegression(), cv=rs.QueryKFold(3)),
    "not a model": 3, "a class": Ridge,
}  # fmt: skip
SCORINGS = {
    "string": "ndcg@5", "none": None, "several": ["r2", "map", "ndcg(like=xgboost)"], "misspelled": "ncdg@5",
    "scorer": rs.make_ranking_scorer("ndcg@5", gain="exponential"), "own": rs.make_ranking_scorer(own),
    "make_scorer": metrics.make_scorer(rs.ndcg_score, k=5), "function of ours": rs.ndcg_score,
    "sum": rs.make_weighted_scorer({"ndcg@5": 0.7, "map": 0.3}), "column": "ndcg@5(groups=qid)",
    "dict": {"a": "mrr", "b": metrics.make_scorer(rs.map_score)}, "rows": "ndcg(groups=none)",
    "around": metrics.make_scorer(lambda y, s: rs.ndcg_score(y, s)), "r2": "r2", "target": "recall@3(target=t)",
}  # fmt: skip
SPLITS = [*rs.QueryKFold(3).split(X, Y, groups=QID)]
CVS = {
    "queries": rs.QueryKFold(3), "group k-fold": ms.GroupKFold(3), "k-fold": ms.KFold(3), "int": 3,
    "list": SPLITS, "plain list": [(np.array(a), np.array(b)) for a, b in SPLITS], "shuffled": ms.KFold(3, shuffle=True, random_state=0),
    "hold-out": rs.QueryShuffleSplit(2, random_state=0), "groups": ms.GroupShuffleSplit(2, random_state=0),
}  # fmt: skip


def tests(values):
    return {n: v for n, v in values.items() if "test" in n and "time" not in n} if isinstance(values, dict) else values


def cross_validated(model, data, y, given, function=ms.cross_validate, **options):
    return tests(function(clone(model), data, y, **given, **options))


def cross_validation():
    models = {"ridge": Ridge(), "ranker": rs.QueryRanker(Ridge()), "scaled": make_pipeline(StandardScaler(), rs.QueryRanker(Ridge()))}
    for (f, form), (m, model), (s, scoring) in product(FORMS.items(), models.items(), SCORINGS.items()):
        few = [*CVS.items()][: 9 if s == "string" else 4 if s == "make_scorer" else 2 if m == "ridge" else 1]
        for c, cv in few:
            if m != "scaled" or (s == "string" and c in ("queries", "group k-fold")):
                yield (f, m, s, c), partial(cross_validated, model, *form, scoring=scoring, cv=cv)
    for (f, form), (m, model) in product([*FORMS.items()][:3:2], MODELS.items()):
        if m not in ("not a model", "a class"):
            options = {"scoring": ["ndcg@5", "map"], "cv": rs.QueryKFold(3)}
            yield (f, m, "ranker"), partial(cross_validated, rs.QueryRanker(model), *form, **options)
            yield (f, m, "bare"), partial(cross_validated, model, *form, **options)
            yield (f, m, "values"), partial(cross_validated, rs.QueryRanker(model), *form, function=rs.cross_val_query_scores, metrics=FEW, cv=3)  # fmt: skip


def fitted(model, data, y, given, *results):
    model = clone(model).fit(data, y, **given)
    results = results or ("predict", "best_score_", "cv_results_", "n_features_", "support_", "score")
    values = {}
    for name in results:
        if hasattr(model, name):
            value = getattr(model, name)
            call = {"predict": (data,), "score": (data, y), "predict_proba": (data,), "rank": (data,)}.get(name)
            values[name] = tests(outcome(value, *call) if call else value)
    return values


def outcome(function, *args, **options):
    try:
        return function(*args, **options)
    except Exception as error:
        return f"{type(error).__name__}"


def searches():
    ranker, by = rs.QueryRanker(LGBM), {"scoring": "ndcg@5", "cv": rs.QueryKFold(3)}
    leaves, alphas = {"estimator__num_leaves": [3, 7]}, {"alpha": [1, 100]}
    halving = {"resource": "estimator__n_estimators", "min_resources": 5, "max_resources": 10}
    tools = {
        "grid": ms.GridSearchCV(ranker, leaves, **by), "grid of ridge": ms.GridSearchCV(Ridge(), alphas, **by),
        "several": ms.GridSearchCV(ranker, leaves, cv=3, scoring=FEW[:2], refit=FEW[0]), "no scoring": ms.GridSearchCV(ranker, leaves, cv=3),
        "one standard error": ms.GridSearchCV(ranker, leaves, scoring=FEW[:2], refit=rs.one_standard_error(FEW[0]), cv=rs.QueryKFold(3)),
        "random": ms.RandomizedSearchCV(ranker, leaves, n_iter=2, random_state=0, **by), 
        "halving": ms.HalvingGridSearchCV(ranker, leaves, **halving, **by), "halving of queries": ms.HalvingGridSearchCV(ranker, leaves, resource="max_queries", min_resources=6, max_resources=20, **by),
        "halving of samples": ms.HalvingGridSearchCV(ranker, leaves, random_state=0, **by), "group k-fold": ms.GridSearchCV(ranker, leaves, scoring="ndcg@5", cv=ms.GroupKFold(3)),
        "pipeline": make_pipeline(StandardScaler(), ranker), "selected": make_pipeline(SelectKBest(k=3), ranker), "nested": ms.GridSearchCV(rs.QueryRanker(ms.GridSearchCV(Ridge(), alphas, **by)), {}, **by),
        "rfecv": RFECV(Ridge(), **by), "sequential": SequentialFeatureSelector(Ridge(), n_features_to_select=3, **by), "ridge cv": RidgeCV([1.0, 9], **by),
        "early stopping": ms.GridSearchCV(rs.QueryRanker(LGBM, early_stopping="ndcg@5", n_iter_no_change=2, random_state=0), leaves, **by),
        "make_scorer": ms.GridSearchCV(Ridge(), alphas, cv=ms.GroupKFold(3), scoring=metrics.make_scorer(rs.ndcg_score, k=5)), "r2": ms.GridSearchCV(Ridge(), alphas, cv=ms.GroupKFold(3)),
        "bagging": rs.QueryRanker(ensemble.BaggingRegressor(rs.QueryRanker(Ridge()), 2, random_state=0)),
    }  # fmt: skip
    functions = {
        "cross_val_score": partial(ms.cross_val_score, **by), "cross_val_predict": partial(ms.cross_val_predict, cv=rs.QueryKFold(3)),
        "learning": partial(ms.learning_curve, train_sizes=[0.5, 1.0], **by), "permutation": partial(ms.permutation_test_score, n_permutations=2, random_state=0, **by),
        "validation": partial(ms.validation_curve, param_name="max_queries", param_range=[9, 20], **by),
    }  # fmt: skip
    for f, form in FORMS.items():
        for name, tool in tools.items():
            if f not in ("index", "arrays, groups", "no ids", "column") and name not in ("grid", "rfecv"):
                continue
            yield (name, f), partial(fitted, tool, *form)
            if f in ("index", "arrays, groups"):
                yield (name, f, "routed"), partial(routed, fitted, tool, *form)
        for (name, function), model in product(functions.items(), [ranker, rs.QueryRanker(Ridge())]):
            model_name = type(model.estimator).__name__
            yield (name, f, model_name), partial(cross_validated, model, *form, function=function)
        model = Ridge().fit(X, Y)
        for name in ("ndcg@5", "map(groups=qid)", "r2"):
            yield ("scorer", name, f), lambda name=name, form=form: metrics.get_scorer(name)(model, form[0], form[1], **form[2])
            yield ("importance", name, f), lambda name=name, form=form: permutation_importance(model, form[0], form[1], scoring=name, n_repeats=2, random_state=0).importances_mean


def routed(function, *args):
    with sklearn.config_context(enable_metadata_routing=True):
        return function(*args)


def folds():
    frame = pd.DataFrame({"qid": QID, "day": QID * 7 % 11, "user": QID // 2, "x": X[:, 0]})
    shares = each(test_size=[None, 0.3, 5], train_size=[None, 0.5, 9], random_state=[0, 7])
    times = each(n_splits=[2, 4, 99], times=[None, "day"], gap=[0, 3], max_train_size=[None, 7])
    splitters = [(rs.QueryKFold, o) for o in each(n_splits=[2, 3, 10, 99, 1], shuffle=[False, True], random_state=[None, 7]) if not o["shuffle"] or o["random_state"]]
    splitters += [(rs.RepeatedQueryKFold, {"n_splits": 3, "n_repeats": 2, "random_state": s}) for s in (0, 7)]
    splitters += [(rs.QueryShuffleSplit, {"n_splits": 2} | o) for o in shares] + [(rs.QueryTimeSeriesSplit, o) for o in times]
    for (splitter, options), skip, ids in product(splitters, [False, True], [None, "user", ["user", "day"], "nowhere", 0]):
        name = (splitter.__name__, options, skip, ids)
        yield name, lambda s=splitter, o=options, skip=skip, ids=ids: [*s(**o, skip_constant_queries=skip, groups=ids).split(frame, Y)]
    for (f, (data, y, given)), splitter in product(FORMS.items(), [rs.QueryKFold(3), rs.QueryShuffleSplit(2, random_state=0)]):
        yield (f, type(splitter).__name__), lambda a=(data, y), g=given, s=splitter: [*s.split(*a, **g)]
    for options, (f, (data, y, given)) in product(shares, FORMS.items()):
        yield ("train_test", options, f), partial(rs.query_train_test_split, data, y, **given, **options)


def rankers():
    stop = {"early_stopping": "ndcg@5", "validation_fraction": 0.2, "random_state": 0}
    variants = {
        "plain": {}, "max_queries": {"max_queries": 20, "random_state": 0}, "stop": stop | {"n_iter_no_change": 2}, "stop on map": stop | {"early_stopping": "map(threshold=1)", "n_iter_no_change": 2},
        "own stop": stop | {"early_stopping": True, "n_iter_no_change": 2}, "refit": stop | {"refit_all": True, "n_iter_no_change": 3}, "default stop": stop, "function stop": stop | {"early_stopping": own, "n_iter_no_change": 2},
        "drop": {"drop_columns": ["a"]}, "drop nowhere": {"drop_columns": "z"}, "by name": {"groups": "qid"}, "two columns": {"groups": ["u", "s"]}, "position": {"groups": 0}, "function": {"groups": lambda X: QID},
        "param": {"group_param": "group"}, "no param": {"group_param": None}, "nonsense": {"max_queries": -1}, "fraction": {"validation_fraction": 2, "early_stopping": True},
    }  # fmt: skip
    what = ("predict", "score", "rank", "predict_proba", "n_iter_", "n_features_in_", "classes_", "feature_names_in_")
    for (m, model), (v, options), (f, form) in product(MODELS.items(), variants.items(), FORMS.items()):
        slow = m in ("forest", "stack", "search", "rfecv", "votes", "ridge cv", "catboost")
        if v == "plain" or (f in ("index", "arrays, groups") and not (slow and v not in ("stop", "by name"))):
            yield (m, v, f), partial(fitted, rs.QueryRanker(model, **options), *form, *what)
    for m, f, weights in product(MODELS, ["index", "arrays, groups", "shuffled"], [1.0 + QID % 3, QID * 0.0, X[:, 0] ** 2]):
        data, y, given = FORMS[f]
        yield (m, "weighted", f, weights[:2]), partial(fitted, rs.QueryRanker(MODELS[m]), data, y, given | {"sample_weight": weights}, *what)
    for m, labels in product(MODELS, [Y / 4, Y - 1, np.where(QID == 3, np.nan, Y), Y + 40, Y > 1, Y.astype(str), Y[:, None], Y * 0]):
        yield (m, "labels", labels[:2]), partial(fitted, rs.QueryRanker(MODELS[m]), X, labels, {"groups": QID}, *what)
        yield (m, "labels, stopping", labels[:2]), partial(fitted, rs.QueryRanker(MODELS[m], **variants["stop"]), X, labels, {"groups": QID}, *what)
    train, test = SPLITS[0]
    for m, v in product(["ridge", "lightgbm", "xgboost", "catboost", "pipeline", "search"], ["plain", "stop", "own stop", "default stop"]):
        part, kept = INDEXED.iloc[train], {"eval_set": [(INDEXED.iloc[test], Y[test])]}
        for name, given in {"eval_set": kept, "arrays": {"eval_set": [(X[test], Y[test])]}, "tuple": {"eval_set": (INDEXED.iloc[test], Y[test])},
                            "other columns": {"eval_set": [(INDEXED.iloc[test, 1:], Y[test])]}, "positions": {"categorical_feature": [0]}, "nonsense": {"nonsense": 1}}.items():  # fmt: skip
            yield (m, v, "fit", name), partial(fitted, rs.QueryRanker(MODELS[m], **variants[v]), part, Y[train], given, *what)
    for name in [*NAMES, "ndcg@5(gain=exponential)", "ncdg"]:
        y, given = (Y / 4 if "pfound" in name else Y), {"param": None}
        weights, score, sizes = 1.0 + QID % 3, X[:, 0].round(1), np.bincount(QID)
        yield ("lightgbm", name), partial(lambda n, *a: rs.lightgbm_metric(n)(*a), name, y, score, weights, sizes)
        yield ("xgboost", name), partial(lambda n, y: rs.xgboost_metric(n)(score, DMatrix(X, y, qid=QID)), name, y)
        yield ("catboost", name), partial(lambda n, y: rs.catboost_metric(n, (y, QID)).evaluate([score], y, None), name, y)
        del given


def comparisons():
    tools = each(test=["permutation", "t", "wilcoxon", "x"], correction=["holm", None], baseline=[None, "two"], pairs=["baseline", "all"])
    few = {"n_resamples": 300, "random_state": 0}
    for n, weighted in product([1, 8, 150], [False, True]):
        X, y, groups = rs.make_ranking(n, 3, n_documents=8, query_effect=2.0, random_state=4)
        systems = {"one": X[:, 0], "two": X.sum(axis=1), "three": X[:, 1].round()}
        given = {"groups": groups, "sample_weight": 1 + groups % 3 if weighted else None}
        values = rs.query_scores(y, systems, FEW, **given, segments=np.array(["a", "b"])[groups % 2])
        one, what = values["three"], (n, weighted)
        yield (*what, "scores"), lambda one=one: [one, one.mean(), one.standard_error(), one.aggregate(), one.select(slice(1, 3))]
        for options in each(method=["auto", "bootstrap", "t", "x"], confidence=[0.8, 0.95, 2], random_state=[0, np.random.RandomState(0)]):
            yield (*what, "interval", options), partial(one.interval, n_resamples=300, **options)
        for options in [*tools, {"margin": 0.05}, {"by": "segment"}, {"by": [*"ab"]}, {"margin": {"map": 0.1}}, {"confidence": 0.8}]:
            yield (*what, "compare", options), partial(rs.compare, values, **few, **options)
        yield (*what, "power"), lambda v=values: [(c := rs.compare(v, **few)).queries_needed(), c.detectable_difference(), c.system_table(), str(c)]
        for like, by, bounds in product([None, "rax", "catboost"], [None, groups % 2], [False, True]):
            options = few | {"like": like, "by": by, "bounds": bounds, "k": [3, None], "metrics": ["ndcg", "map"]} | given
            for form in (True, False):
                yield (*what, "report", like, by is None, bounds, form), partial(rs.ranking_report, y, systems["three"], output_dict=form, **options)
        yield (*what, "conventions"), partial(rs.convention_report, y, X[:, 1].round(), groups=groups, metrics=FEW[:3], output_dict=True)
        yield (*what, "by"), lambda one=one: one.by("segment", random_state=0)
        yield (*what, "bounds"), partial(rs.score_bounds, np.where(y == 1, np.nan, y), systems, ["ndcg@5", "map", "bpref"], max_label=4, **given)
        for options in each(p=[0.8], ties=["a", "b", "w"], estimate=["ext", "min", "x"]):
            yield (*what, "overlap", options), partial(rs.rank_overlap, X[:, 0], X[:, 1].round(), groups=groups, **options)
        yield (*what, "rectify"), lambda v=values, n=n: rs.rectify(v["one"].select(slice(0, n // 2)), v["two"].select(slice(0, n // 2)), v["two"])
        model = rs.QueryRanker(Ridge()).fit(X, y, groups=groups)
        for within in ("query", None, "x"):
            yield (*what, "importance", within), partial(rs.query_permutation_importance, model, X, y, "ndcg@5", within=within, groups=groups, **few)
        for display in ("CutoffCurve", "DifferenceCurve", "QueryDelta", "QueryScatter", "QueryProperty", "LabelScores", "Forest", "RankChange"):
            two, rest = dict([*systems.items()][:2]), {"query": 0} if display == "RankChange" else {}
            yield (*what, display), lambda d=display, y=y, two=two, g=groups, r=rest: getattr(rs, f"{d}Display").from_predictions(y, two, groups=g, **r)
    clicks = np.random.default_rng(0).random(400) < 0.3
    ranks, q, d = 1 + np.arange(400) % 10, np.arange(400) // 20, np.arange(400) * 7 % 20
    for method in ("all_pairs", "pivot", "x"):
        yield ("clicks", method), partial(rs.estimate_propensity, clicks, ranks, queries=q, documents=d, method=method)
    yield "position", partial(rs.position_propensity, ranks, 0.7)
    yield "summary", partial(rs.propensity_summary, clicks, 1 / ranks, clip=0.2)
    for options in each(return_X_y=[True, False], as_frame=[True, False], subset=["all", "test", "x"]):
        yield ("lambdarank", options), partial(rs.load_lambdarank, **options)
    for options in each(n_queries=[5, 0], shuffle=[True, False], as_frame=[True, False], utility=["additive", "interactions"]):
        yield ("make_ranking", options), partial(rs.make_ranking, **options, random_state=0)


def readers():
    random = np.random.default_rng(0)
    listed = [random.permutation(20)[: random.integers(0, 9)].tolist() for _ in range(15)]
    wanted = [random.permutation(20)[: random.integers(0, 5)].tolist() for _ in range(15)]
    texts = [[[f"d{item}" for item in one] for one in some] for some in (wanted, listed)]
    grades = {("user", q): {i: i % 3 for i in one} for q, one in enumerate(wanted)}
    twice = {("user", q): one + one[:2] for q, one in enumerate(listed)}
    matrix = random.integers(0, 4, (15, 20)) * (random.random((15, 20)) < 0.2)
    items = np.array([random.permutation(20)[:6] for _ in range(15)])
    items[random.random(items.shape) < 0.2] = -1
    run = {f"q{q}": {f"d{i}": (7 * i + q) % 5 / 2 for i in one} for q, one in enumerate(listed) if one}
    qrels = {f"q{q + 1}": {f"d{i}": i % 4 - 1 for i in one} for q, one in enumerate(wanted) if one}
    lines = ["\n".join(f"{q} {0 if x is qrels else 'Q0'} {i} {v}" + (" 1 1 x" if False else "") if x is qrels else f"{q} Q0 {i} 1 {v} x" for q, o in x.items() for i, v in o.items()) for x in (qrels, run)]  # fmt: skip
    logs = pd.DataFrame([(q, d, r) for q, o in qrels.items() for d, r in o.items()], columns=["user", "item", "rating"])
    tops = pd.DataFrame([(q, d, s) for q, o in run.items() for d, s in o.items()], columns=["user", "item", "score"])
    names = {"query": "user", "document": "item", "relevance": "rating", "score": "score"}
    for unjudged in (None, "nan"):
        extra = {"unjudged": unjudged} if unjudged else {}
        calls = {
            "lists": partial(rs.from_ranked_lists, wanted, listed, **extra), "sets": partial(rs.from_ranked_lists, [*map(set, wanted)], listed, **extra), "texts": partial(rs.from_ranked_lists, *texts, **extra),
            "dicts": partial(rs.from_ranked_lists, grades, twice, **extra), "graded": partial(rs.from_ranked_lists, grades, {q: o for q, o in zip(grades, listed, strict=True)}, **extra),
            "systems of lists": partial(rs.from_ranked_lists, wanted, {"a": listed, "b": listed[::-1]}, **extra), "shorter": partial(rs.from_ranked_lists, wanted, listed[1:], **extra),
            "matrix": partial(rs.from_recommendations, csr_array(matrix), items, **extra), "scored": partial(rs.from_recommendations, matrix, items, items % 4 / 3, **extra), "far items": partial(rs.from_recommendations, matrix, items + 9, **extra),
            "trec": lambda e=extra: rs.from_trec(*map(io.StringIO, lines), **e), "all of trec": lambda e=extra: rs.from_trec(*map(io.StringIO, lines), complete=True, **e), "trec dicts": partial(rs.from_trec, qrels, run, **extra),
            "trec systems": partial(rs.from_trec, qrels, {"a": run, "b": dict([*run.items()][::2])}, **extra), "trec, no labels": partial(rs.from_trec, {}, run, **extra), "trec, broken": lambda e=extra: rs.from_trec(io.StringIO("q1 0"), io.StringIO(lines[1]), **e),
            "trec, strict": partial(rs.from_trec, qrels, run, unjudged_queries="error", **extra), "frames": partial(rs.from_frames, logs, tops, **names, **extra), "polars": lambda e=extra: rs.from_frames(pl.DataFrame(logs), pl.DataFrame(tops), **names, **e),
            "arrow": lambda e=extra: rs.from_frames(pa.table(logs), pa.table(tops), **names, **e), "repeated": partial(rs.from_frames, logs, pd.concat([tops, tops]), **names, **extra), "last": partial(rs.from_frames, logs, pd.concat([tops, tops]), **names, duplicates="drop", **extra),
            "systems of frames": partial(rs.from_frames, logs, {"a": tops, "b": tops[::2]}, **names, **extra), "kept": partial(rs.from_frames, logs, tops, missing_queries="drop", unjudged_queries="drop", **names, **extra), "no column": partial(rs.from_frames, logs, tops, query="x", **extra),
        }  # fmt: skip
        for name, call in calls.items():
            yield (name, unjudged), call
            for metric, rule in product([*UNJUDGED, "recall@3", "mrr(unjudged=drop)"], [{}, {"like": "ranx"}]):
                yield (name, unjudged, metric, rule), lambda c=call, m=metric, r=rule: rs.evaluate(metrics=m, **r, **c())
            for function in (rs.query_scores, rs.ranking_report, rs.convention_report, rs.score_bounds):
                yield (name, unjudged, function.__name__), lambda c=call, f=function: f(**c(), metrics=["ndcg@5", "map"])
    for given in ([[1, 0, 1], [0]], twice, {"a": [1, 0]}, [[1, "x"]], []):
        yield ("relevance", given), lambda g=given: [(r := rs.from_relevance_lists(g)), rs.evaluate(metrics=FEW, **r)]


def streams():
    options = {"many": (FEW, {}), "own": ([own, "ndcg@5"], {}), "like": (FEW[:2], {"like": "lightgbm"}), "micro": (["ndcg@5", "map"], {"average": "micro"}), "wrong": ("ncdg", {})}
    columns = [*DATA["tied"].values(), 1.0 + GROUPS % 3]
    frame = pd.DataFrame(dict(zip(["label", "score", "qid", "w"], columns, strict=True))).assign(country=np.where(GROUPS % 2, "de", "fr"))
    mixed = frame.sample(frac=1, random_state=0, ignore_index=True)

    def accumulate(method, batches, metrics, options, order):
        totals = [rs.RankingAccumulator(metrics, per_query=True, **options) for _ in batches]
        for one, rows in zip(totals, batches, strict=True):
            y, score, groups, weights = (column[rows] for column in columns)
            getattr(one, method)(y, score, groups, sample_weight=weights)
        first, *rest = totals[::order]
        for one in rest:
            first = first.merge(one)
        return [first.close().result(), first.query_values()]

    batches = {"update": [GROUPS % 3 == i for i in range(3)], "update_sorted": np.array_split(np.arange(len(GROUPS)), 7)}
    how = {"scheduler": "synchronous", "dataframe.shuffle.method": "tasks"}
    folder = tempfile.mkdtemp()
    for i, rows in zip((1, 2, 10), np.array_split(frame.index, 3), strict=True):
        frame.loc[rows].to_parquet(f"{folder}/part.{i}.parquet", row_group_size=50)
    for (name, (what, given)), weight, by in product(options.items(), [None, "w", "nowhere"], [None, "country"]):
        given = given | {"weight": weight, "by": by}
        for data, kind in ((frame, "sorted"), (mixed, "mixed"), (frame[::-1], "backwards"), (frame.assign(qid=frame.qid.astype(str)), "text")):
            forms = {"pandas": lambda d=data: [d[:50], d[50:90], d[90:]], "arrow": lambda d=data: pa.Table.from_pandas(d).to_batches(40), "polars": lambda d=data: pl.DataFrame(d).iter_slices(60)}
            for (form, make), order in product(forms.items(), ["ascending", "grouped"]):
                yield ("batches", name, weight, by, kind, form, order), lambda m=make, w=what, g=given, o=order: rs.evaluate_batches(m(), w, order=o, **g)
        for rows, where in product([97, 10_000], [folder, f"{folder}/part.1.parquet", f"{folder}/nowhere"]):
            yield ("parquet", name, weight, by, rows, where[len(folder) :]), partial(rs.evaluate_parquet, where, what, batch_rows=rows, **given)
        def spread(call, what=what, given=given):
            with dask.config.set(how):
                return call(dask.dataframe.from_pandas(mixed, npartitions=3), what, **given)
        yield ("dask", name, weight, by), partial(spread, rs_dask.evaluate)
        yield ("dask queries", name, weight, by), partial(spread, lambda *a, **o: rs_dask.query_scores(*a, **{k: v for k, v in o.items() if k != "by"}).compute().sort_values("qid"))
    for method, (name, (what, given)), order in product(batches, options.items(), [1, -1]):
        yield (method, name, order), partial(accumulate, method, batches[method], what, given, order)


def command_line():
    folder = tempfile.mkdtemp()
    random = np.random.default_rng(0)
    with open(f"{folder}/qrels", "w") as file:
        file.writelines(f"q{q} 0 d{d} {random.integers(-1, 3)}\n" for q in range(9) for d in range(8))
    for run in "ab":
        with open(f"{folder}/{run}", "w") as file:
            file.writelines(f"q{q} Q0 d{d} 1 {random.integers(0, 9)} x\n" for q in range(1, 10) for d in range(12))

    def main(*arguments):
        out, err = io.StringIO(), io.StringIO()
        os.chdir(folder)
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                code = cli.main([*arguments])
            except SystemExit as stop:
                code = stop.code
        return {"code": code, "out": out.getvalue(), "err": bool(err.getvalue())}

    yield "metrics", partial(main, "metrics")
    extras = [[], ["-q"], ["-c"], ["--unjudged", "drop"], ["--baseline", "a"], ["--baseline", "a", "--test", "t"], ["--nonsense"], ["--like", "trec_eval"]]
    for form, extra, metric in product(["table", "markdown", "latex", "csv", "json"], extras, ["ndcg@5,map", "bpref,judged@5,infap", "ncdg"]):
        yield (form, extra, metric), partial(main, "evaluate", "qrels", "a", "b", "-m", metric, "--format", form, *extra)
    yield "no file", partial(main, "evaluate", "qrels", "nowhere")


SECTIONS = [metric_functions, types_and_frames, many_at_once, cross_validation, searches, folds]
SECTIONS += [rankers, comparisons, readers, streams, command_line]


def leaves(value, path=""):
    """Type and numbers, or text, of every part of a result, by its path."""
    kind = "ndarray" if isinstance(value, np.ndarray) else type(value).__name__
    if hasattr(value, "to_frame") and not isinstance(value, pd.Series | pd.Index | pl.Series):
        value = value.to_frame()
    if isinstance(value, pd.DataFrame | pl.DataFrame):
        value = {str(name): value[name].to_numpy() for name in value.columns}
    elif hasattr(value, "_asdict"):
        value = value._asdict()
    elif isinstance(value, np.ndarray) and value.dtype.kind == "O" and value.ndim == 1 and kind != "ndarray":
        value = value.tolist()
    elif type(value).__module__.startswith("sklearn_rankscore") and not isinstance(value, np.ndarray) and not callable(value) and hasattr(value, "__dict__"):
        value = {n: v for n, v in vars(value).items() if n[0] != "_" and not n.endswith("_")}
    if isinstance(value, dict):
        yield path, [kind, [*map(str, value)]]
        for key, part in value.items():
            yield from leaves(part, f"{path}/{key}")
    elif isinstance(value, list | tuple) and any(isinstance(v, list | tuple | dict | np.ndarray) or hasattr(v, "__dict__") for v in value):
        yield path, [kind, len(value)]
        for i, part in enumerate(value):
            yield from leaves(part, f"{path}/{i}")
    else:
        array = value.toarray() if isinstance(value, csr_array) else np.asarray(value)
        if array.dtype.kind in "biuf":
            numbers = array.astype(float).ravel()
            if len(numbers) > 40:  # a number that no other order and hardly other numbers give
                digest = np.nan_to_num(numbers, posinf=7, neginf=-7, nan=-9) @ np.cos(np.arange(len(numbers)))
                numbers = np.array([np.isnan(numbers).sum(), np.nansum(numbers), digest])
            yield path, [f"{kind} {array.dtype}", [*array.shape, *numbers.tolist()]]
        else:
            yield path, [kind, str(value) if array.ndim == 0 else [*map(str, array.ravel()[:2000])]]


def observe(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            seen = {"result": dict(leaves(call()))}
        except Exception as error:
            seen = {"error": [type(error).__name__, str(error)[:400]]}
    return seen | {"warnings": {w.category.__name__: str(w.message)[:300] for w in caught}}


def record(path, *only):
    print(rs.__file__)
    cases = {}
    for section in SECTIONS:
        if only and section.__name__ not in only:
            continue
        begun, before = time.perf_counter(), len(cases)
        with threadpool_limits(1):
            for name, call in section():
                name = re.sub(r" at 0x\w+|\s+", " ", f"{section.__name__} | {name}")
                assert name not in cases, name
                cases[name] = observe(call)
        failed = sum("error" in one for one in [*cases.values()][before:])
        print(f"{section.__name__:20}{len(cases) - before:6,} cases {failed:5,} errors {time.perf_counter() - begun:6.1f} s", flush=True)
    with open(path, "w") as file:
        json.dump(cases, file)


def differences(old, new):
    """Yield kind and details of each difference of a case."""
    classes = [" ".join(sorted(one["warnings"])) or "none" for one in (old, new)]
    if classes[0] != classes[1]:
        yield f"warnings: {classes[0]} -> {classes[1]}", (old["warnings"], new["warnings"])
    outcomes = [one["error"][0] if "error" in one else "a value" for one in (old, new)]
    if outcomes[0] != outcomes[1]:
        yield f"outcome: {outcomes[0]} -> {outcomes[1]}", [one.get("error", one.get("result")) for one in (old, new)]
    elif "error" in old and old["error"] != new["error"]:
        yield f"message of {outcomes[0]}", (old["error"][1], new["error"][1])
    for path in {**old["result"], **new["result"]} if outcomes == ["a value"] * 2 else ():
        a, b = old["result"].get(path), new["result"].get(path)
        if a is None or b is None:
            yield "part missing", (path, a, b)
        elif a[0] != b[0]:
            yield f"type: {a[0]} -> {b[0]}", (path, a, b)
        elif not equal(a[1], b[1]):
            yield "value", (path, a[1], b[1])


def equal(a, b):
    if a == b or not isinstance(a, list) or len(a) != len(b) or any(isinstance(v, str) for v in a + b):
        return a == b
    return np.allclose(a, b, rtol=1e-12, atol=1e-12, equal_nan=True)


def compare(old_path, new_path, *flags):
    with open(old_path) as old_file, open(new_path) as new_file:
        old, new = json.load(old_file), json.load(new_file)
    groups = defaultdict(list)
    for name in {**old, **new}:
        if name not in old or name not in new:
            groups[name.partition(" | ")[0], "only in one recording"].append((name, ""))
            continue
        for kind, details in differences(old[name], new[name]):
            groups[name.partition(" | ")[0], kind].append((name, details))
    print(f"{len(old):,} and {len(new):,} cases")
    for (section, kind), found in sorted(groups.items()):
        if kind.startswith("message") and "--messages" not in flags:
            continue
        print(f"\n## {section}: {kind}: {len(found)}")
        for name, details in found if "--all" in flags else found[:4]:
            print(f"  {name}\n      {str(details)[:330]}")


if __name__ == "__main__":
    {"record": record, "compare": compare}[sys.argv[1]](*sys.argv[2:])
