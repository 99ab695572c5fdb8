"""Record what the package returns, and compare two recordings: a redesign changes no number.

    PYTHONPATH=OLD python tools/recorder.py record old.json [SECTION ...]
    PYTHONPATH=NEW python tools/recorder.py record new.json [SECTION ...]
    python tools/recorder.py compare old.json new.json [--all] [--messages]

Only public names are called, so that it runs on both trees. A case keeps the values, their types,
the warnings, or the error. Numbers may differ by 1e-12, relative above 1; classes of warnings and
errors may not differ; their texts may, and are listed by ``--messages``.
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

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import sklearn
from catboost import CatBoostRanker
from lightgbm import LGBMRanker
from scipy.sparse import csr_array
from sklearn import ensemble, metrics
from sklearn import model_selection as ms
from sklearn.base import clone
from sklearn.feature_selection import RFECV, SelectKBest, SequentialFeatureSelector
from sklearn.linear_model import LogisticRegression, Ridge, RidgeCV
from sklearn.pipeline import make_pipeline
from threadpoolctl import threadpool_limits
from xgboost import DMatrix, XGBRanker

import sklearn_rankscore as rs
from sklearn_rankscore import cli

FUNCTIONS = {n: getattr(rs, n) for n in rs.__all__ if n.endswith(("_score", "_at_k"))}
TIES = ["average", "stable", "reversed", "optimistic", "pessimistic"]
LIKE = ["sklearn", "lightgbm", "xgboost", "catboost", "trec_eval", "ranx", "torchmetrics", "rax"]
FEW = ["ndcg@5", "map", "mrr", "recall@3(replace_undefined_by=nan)", "kendall_tau"]
SIZES = np.array([1, 1, 2, 3, 5, 8, 13, 16, 17, 21, 34, 55])
GROUPS = np.repeat(np.arange(len(SIZES)), SIZES)
RANDOM = np.random.default_rng(0)
GRADES = np.minimum(RANDOM.geometric(0.5, len(GROUPS)) - 1, 4)
SCORE = GRADES / 3 + RANDOM.normal(size=len(GRADES))
TIED = np.where(7919 * SCORE % 1 < 0.2, -np.inf, np.round(SCORE))
HOLES, WEIGHTS = np.where(RANDOM.random(len(GRADES)) < 0.3, np.nan, GRADES), 1.0 + GROUPS % 3
DATA = {
    "untied": {"y_true": GRADES, "y_score": SCORE, "groups": GROUPS},
    "tied": {"y_true": GRADES, "y_score": TIED, "groups": GROUPS},
    "irrelevant": {"y_true": 0 * GRADES, "y_score": TIED, "groups": GROUPS},
    "rows": {"y_true": GRADES[:150].reshape(6, 25), "y_score": SCORE[:150].reshape(6, 25)},
    "classes": {"y_true": GRADES[:50] % 3, "y_score": SCORE[:150].reshape(50, 3)},
    "unjudged": {"y_true": HOLES, "y_score": TIED, "groups": GROUPS},
}
OPTIONS = {
    "threshold": [1, 2.5], "denominator": ["min", "relevant", "hits", "k", "attainable"],
    "gain": ["exponential", "binary", (0, 1, 3, 7, 15), {0: 0, 1: 2, 2: 3, 3: 4, 4: 9}, np.sqrt],
    "discount": ["log2_after_first", "reciprocal", None], "p": [0, 0.5, 0.95, 2], "decay": [0, 2],
    "normalize": [True], "max_grade": [6.5, None, 1], "adjusted": [True], "n_jobs": [2],
    "replace_undefined_by": [0.5, np.nan, "x"], "average": ["micro", None, "x"], "k": [0, 1.5],
    "unjudged": ["irrelevant", "drop", "x"], "sample_weight": [WEIGHTS, GROUPS * 0.0, SCORE],
    "propensity": [1 / (2 + GROUPS % 5), GROUPS], "labels": [[2, 0, 1]], "nonsense": [1],
}  # fmt: skip


def each(**values):
    """Options with each combination of values."""
    return [dict(zip(values, some, strict=True)) for some in product(*values.values())]


def metric_functions():
    """Every metric: ties and cut-offs on all data, other options one at a time."""
    for (name, function), (kind, given) in product(FUNCTIONS.items(), DATA.items()):
        known, base = signature(function).parameters, {"ties": TIES, "k": [None, 5]}
        if name == "pfound_score":
            given = given | {"y_true": given["y_true"] / 4}
        for options in each(**{o: v for o, v in base.items() if o in known}):
            yield (name, kind, options), partial(function, **given, **options)
        for option, values in OPTIONS.items() if kind in ("tied", "unjudged", "classes") else ():
            for value in values if option in known or option in ("k", "nonsense") else ():
                yield (name, kind, option, value), partial(function, **(given | {option: value}))


IDS = {kind: partial(np.ndarray.astype, dtype=kind) for kind in ["i1", "u8", "f8", "U", "S"]} | {
    "huge": lambda g: g * 1e17, "tuples": lambda g: [(one % 3, str(one)) for one in g.tolist()],
    "mixed": lambda g: [one if one % 2 else str(one) for one in g.tolist()],
    "missing": lambda g: np.where(g == 3, np.nan, g), "dates": lambda g: g.astype("M8[D]"),
    "None": lambda g: [None if one == 3 else str(one) for one in g.tolist()],
    "sizes": lambda g: SIZES, "one each": lambda g: np.arange(len(g)), "none": lambda g: "none",
    "categories": pd.Categorical, "text": lambda g: pd.Series(g.astype(str), dtype="string"),
    "polars": lambda g: pl.Series(g.astype(str)), "arrow": lambda g: pa.array(g.astype(str)),
    "dictionary": lambda g: pa.array(g.astype(str)).dictionary_encode(),
    "function": lambda g: lambda X: g, "two": lambda g: pd.DataFrame({"a": g // 2, "b": g % 2}),
}  # fmt: skip
FORMS = {
    "list": list,
    "tuple": tuple,
    "Series": pd.Series,
    "pd.array": pd.array,
    "polars": pl.Series,
}
FORMS |= {"arrow": pa.array, "masked": np.ma.masked_array, "column": lambda a: a[:, None]}
FORMS |= {"chunks": lambda a: pa.chunked_array([a[:50], a[50:]]), "frame": pd.DataFrame}
TYPES = ["f2", "f4", "longdouble", "O", ">f8", "i1", "i8", "u1", "u8", "?", "U", "c16", "M8[D]"]
FORMS |= {kind: partial(np.ndarray.astype, dtype=kind) for kind in TYPES}
BAD = [np.nan, np.inf, -np.inf, -1, 1e300, 2**60 + 1]
FORMS |= {value: lambda a, value=value: np.where(GROUPS == 5, value, a) for value in BAD}


def values_of(columns, forms=(), metric="ndcg@5"):
    """The value of each query, with one column in another form."""
    columns = columns | {name: form(columns[name]) for name, form in forms}
    return rs.evaluate(**columns, metrics=metric, average=None)


def types_and_frames():
    """Columns of every library and type, ids of every type, several systems, names, indexes."""
    given = {"y_true": GRADES, "y_score": np.round(4 + SCORE, 1), "groups": GROUPS}
    given["sample_weight"] = WEIGHTS
    for (name, form), place, metric in product(FORMS.items(), given, ["ndcg@5", "map", "infap"]):
        yield (name, place, metric), partial(values_of, given, [(place, form)], metric)
    for order, (name, form) in product([1, -1, 7919], IDS.items()):
        rows = np.arange(len(GROUPS)) * order % len(GROUPS)
        columns = {"y_true": GRADES[rows], "y_score": SCORE[rows], "groups": form(GROUPS[rows])}
        yield ("ids", order, name), partial(rs.query_scores, **columns, metrics=FEW)
    suffixes = ["", "@5", "@0", "(ties=stable)", "@5(threshold=1)", "(average=micro)"]
    for metric, suffix, like in product(["NDCG", "P", "ncdg", "AUC", *rs.metric_names()], suffixes,
                                        [None, *LIKE]):  # fmt: skip
        call = partial(rs.evaluate, **DATA["tied"], metrics=f"{metric}{suffix}", like=like)
        if like is None or suffix == "@5":
            yield (metric, suffix, like), call
    level, plain = pd.Index(GROUPS, name="qid"), pd.Series(SCORE)
    pairs = {
        "level": (pd.Series(GRADES, level), SCORE),
        "scores": (GRADES, pd.Series(SCORE, level)),
    }
    pairs |= {"sorted": (pd.Series(GRADES), plain.sort_values()), "short": (GRADES, SCORE[1:])}
    pairs |= {
        "empty": ([], []),
        "holes": (HOLES, SCORE),
        "systems": (GRADES, {"a": SCORE, "b": TIED}),
    }
    calls = [rs.evaluate, rs.query_scores, rs.ranking_report, rs.score_bounds, rs.convention_report]
    for (name, pair), (ids, groups), call in product(pairs.items(), {"no": None, "given": GROUPS,
            "name": "qid", "level": level, "backwards": GROUPS[::-1]}.items(), calls):  # fmt: skip
        options = {"metrics": ["ndcg@5", "map"], "groups": groups}
        yield ("index", name, ids, call.__name__), partial(call, *pair, **options)


X, Y, QID = rs.make_ranking(40, n_features=5, random_state=0)
FRAME, LEVEL = pd.DataFrame(X, columns=list("abcde")), pd.Index(QID, name="qid")
MIXED = np.random.default_rng(0).permutation(len(Y))
INDEXED, WITH_COLUMN = FRAME.set_index(LEVEL), FRAME.assign(qid=QID)
PLACES = {
    "index": (INDEXED, Y, {}), "groups": (X, Y, {"groups": QID}), "column": (WITH_COLUMN, Y, {}),
    "no ids": (X, Y, {}), "frame": (FRAME, pd.Series(Y), {"groups": pd.Series(QID)}),
    "index of y": (X, pd.Series(Y, LEVEL), {}), "coarser": (INDEXED, Y, {"groups": QID // 2}),
    "divided": (INDEXED, Y, {"groups": np.arange(len(Y)) % 7}),
    "mixed": (X[MIXED], Y[MIXED], {"groups": QID[MIXED]}),
    "polars": (pl.DataFrame(WITH_COLUMN), Y, {}),
    "sparse": (csr_array(X), Y, {"groups": QID}),
    "order": (FRAME, pd.Series(Y)[::-1], {"groups": QID}),
}  # fmt: skip
CV = rs.QueryKFold(3)
LGBM = LGBMRanker(n_estimators=12, num_leaves=5, n_jobs=1, min_child_samples=5, verbose=-1)
BY, ALPHAS, QUIET = (
    {"cv": CV, "scoring": "ndcg@5"},
    {"alpha": [1, 99]},
    {"allow_writing_files": False},
)
LEAVES = {"estimator__num_leaves": [3, 7]}
MODELS = {
    "ridge": Ridge(), "classes": LogisticRegression(), "lightgbm": LGBM,
    "xgboost": XGBRanker(n_estimators=12, max_depth=3, n_jobs=1, random_state=0),
    "catboost": CatBoostRanker(12, depth=3, thread_count=1, verbose=0, random_seed=0, **QUIET),
    "pipeline": make_pipeline(SelectKBest(k=3), LGBM), "search": ms.GridSearchCV(Ridge(), {}, **BY),
    "votes": ensemble.VotingRegressor([("a", Ridge()), ("b", rs.QueryRanker(LGBM))]),
    "stack": ensemble.StackingRegressor([("a", rs.QueryRanker(Ridge()))], Ridge(), cv=CV),
    "ridge cv": RidgeCV([1.0], **BY), "rfecv": RFECV(Ridge(), **BY), "not a model": 3,
    "class": Ridge,
}  # fmt: skip
SCORINGS = {
    "string": "ndcg@5", "none": None, "several": ["r2", "map", "ndcg(like=xgboost)"], "no": "ncdg",
    "scorer": rs.make_ranking_scorer("ndcg@5", gain="exponential"), "ours": rs.ndcg_score,
    "make_scorer": metrics.make_scorer(rs.ndcg_score, k=5), "place": "ndcg@5(groups=qid)",
    "sum": rs.make_weighted_scorer({"ndcg@5": 0.7, "map": 0.3}), "rows": "ndcg(groups=none)",
    "around": metrics.make_scorer(lambda y, s: rs.ndcg_score(y, s)), "theirs": "r2",
}  # fmt: skip
SPLITS = [(np.array(a), np.array(b)) for a, b in CV.split(X, Y, groups=QID)]
CVS = [CV, ms.GroupKFold(3), ms.KFold(3), 3, SPLITS, rs.QueryShuffleSplit(2, random_state=0)]
RESULTS = ["predict", "score", "rank", "predict_proba", "cv_results_", "n_iter_", "support_"]


def tests(values):
    """The scores of folds or candidates, without the times."""
    return {n: v for n, v in values.items() if "test" in n} if isinstance(values, dict) else values


def validated(model, data, y, given, function=ms.cross_validate, **options):
    """What a function of scikit-learn returns."""
    return tests(function(clone(model), data, y, **given, **options))


def fitted(model, data, y, given, routing=False):
    """What a model says after it was fitted."""
    with sklearn.config_context(enable_metadata_routing=routing):
        model, values = clone(model).fit(data, y, **given), {}
        for name in RESULTS:
            if (value := getattr(model, name, None)) is not None:
                arguments = (data, y) if name == "score" else (data,)
                try:
                    values[name] = tests(value(*arguments) if callable(value) else value)
                except Exception as error:
                    values[name] = type(error).__name__
        return values


def model_selection():
    """Cross-validation, searches and splitters with ids in every place."""
    ranker = rs.QueryRanker(LGBM)
    for (f, place), (s, scoring) in product(PLACES.items(), SCORINGS.items()):
        for i, cv in enumerate(CVS[:2] if s not in ("string", "make_scorer") else CVS):
            for model in (Ridge(), rs.QueryRanker(Ridge())) if i < 2 else (Ridge(),):
                name = (f, s, i, type(model).__name__)
                yield name, partial(validated, model, *place, scoring=scoring, cv=cv)
    tools = {
        "grid": ms.GridSearchCV(ranker, LEAVES, **BY),
        "pipeline": make_pipeline(SelectKBest(k=3), ranker),
        "several": ms.GridSearchCV(ranker, LEAVES, scoring=FEW[:2],
                                   refit=rs.one_standard_error(FEW[0])),
        "no scoring": ms.GridSearchCV(ranker, LEAVES, cv=ms.GroupKFold(3)),
        "rfecv": RFECV(Ridge(), **BY),
        "random": ms.RandomizedSearchCV(ranker, LEAVES, n_iter=2, random_state=0, **BY),
        "nested": ms.GridSearchCV(rs.QueryRanker(ms.GridSearchCV(Ridge(), ALPHAS, **BY)), {}, **BY),
        "sequential": SequentialFeatureSelector(Ridge(), n_features_to_select=3, **BY),
        "ridge cv": RidgeCV([1.0, 9], **BY),
        "r2": ms.GridSearchCV(Ridge(), ALPHAS, cv=ms.GroupKFold(3)),
    }  # fmt: skip
    for (t, tool), (f, place), routing in product(tools.items(), PLACES.items(), [False, True]):
        if not routing or f in ("index", "groups"):
            yield ("search", t, f, routing), partial(fitted, tool, *place, routing)
    functions = {
        "predict": partial(ms.cross_val_predict, cv=CV),
        "values": partial(rs.cross_val_query_scores, metrics=FEW, cv=3),
        "learning": partial(ms.learning_curve, train_sizes=[0.5, 1.0], **BY),
        "permutation": partial(ms.permutation_test_score, n_permutations=2, random_state=0, **BY),
    }  # fmt: skip
    for (n, function), (f, place) in product(functions.items(), PLACES.items()):
        yield (n, f), partial(validated, rs.QueryRanker(Ridge()), *place, function=function)
    splitters = [
        (rs.QueryKFold, o) for o in each(n_splits=[2, 99], shuffle=[True], random_state=[7])
    ]
    splitters += [(rs.QueryKFold, o) for o in each(n_splits=[2, 10, 1], random_state=[None, 7])]
    splitters += [
        (rs.QueryShuffleSplit, o) for o in each(test_size=[None, 0.3, 5], random_state=[7])
    ]
    splitters += [(rs.QueryTimeSeriesSplit, o) for o in each(times=[None, "a"], gap=[0, 3])]
    for (splitter, o), skip, ids, (f, (data, y, g)) in product(
        splitters, [False, True], [None, "a", ["a", "b"], 0], [*PLACES.items()][:5]
    ):
        cv = partial(splitter, **o, skip_constant_queries=skip, groups=ids)
        yield (
            (splitter.__name__, o, skip, ids, f),
            lambda c=cv, a=(data, y), g=g: [*c().split(*a, **g)],
        )


def rankers():
    """Every model in a QueryRanker with each option, and metrics of the boosters' training."""
    stop = {"early_stopping": "ndcg@5", "validation_fraction": 0.2, "random_state": 0}
    variants = {
        "plain": {}, "fewer": {"max_queries": 20, "random_state": 0}, "stop": stop,
        "soon": stop | {"n_iter_no_change": 2}, "own": stop | {"early_stopping": True},
        "refit": stop | {"refit_all": True, "n_iter_no_change": 3}, "by name": {"groups": "qid"},
        "drop": {"drop_columns": ["a"]}, "position": {"groups": 0},
        "param": {"group_param": "group"},
    }  # fmt: skip
    (train, test), weights = SPLITS[0], {"sample_weight": 1.0 + QID % 3}
    for (m, model), (v, options) in product(MODELS.items(), variants.items()):
        few = {"index", "groups"} if v == "plain" or m in ("lightgbm", "xgboost") else {"index"}
        for f in PLACES if v == "plain" and m in ("ridge", "lightgbm", "votes") else few:
            yield (m, v, f), partial(fitted, rs.QueryRanker(model, **options), *PLACES[f])
    for (m, model), v in product([*MODELS.items()][:6], ["plain", "soon"]):
        ranker, kept = rs.QueryRanker(model, **variants[v]), (INDEXED.iloc[test], Y[test])
        yield (m, v, "weighted"), partial(fitted, ranker, INDEXED, Y, weights)
        for name, given in {"set": [kept], "pair": kept, "arrays": [(X[test], Y[test])]}.items():
            given = {"eval_set": given}
            yield (m, v, name), partial(fitted, ranker, INDEXED.iloc[train], Y[train], given)
        for labels in (Y / 4, Y - 1, np.where(QID == 3, np.nan, Y), Y > 1, Y.astype(str), Y * 0):
            yield (m, v, "labels", labels[:2]), partial(fitted, ranker, INDEXED, labels, {})
    arguments = (X[:, 0].round(1), weights["sample_weight"], np.bincount(QID))
    for n in ["ndcg@5(gain=exponential)", "ncdg", *FEW]:
        yield ("lgb", n), lambda n=n: rs.lightgbm_metric(n)(Y, *arguments)
        yield ("xgb", n), lambda n=n: rs.xgboost_metric(n)(X[:, 0], DMatrix(X, Y, qid=QID))
        yield ("cat", n), lambda n=n: rs.catboost_metric(n, (Y, QID)).evaluate([X[:, 0]], Y, None)


def comparisons():
    """Values of queries, intervals, tests, reports, displays and importances."""
    few = {"n_resamples": 300, "random_state": 0}
    for n, weighted in product([1, 8, 150], [False, True]):
        X, y, groups = rs.make_ranking(n, 3, n_documents=8, query_effect=2.0, random_state=4)
        systems, tag = {"a": X[:, 0], "b": X.sum(axis=1), "c": X[:, 1].round()}, (n, weighted)
        given = {"groups": groups, "sample_weight": 1 + groups % 3 if weighted else None}
        values = rs.query_scores(
            y, systems, FEW, **given, segments=np.array(["d", "e"])[groups % 2]
        )
        one, model = values["c"], rs.QueryRanker(Ridge()).fit(X, y, groups=groups)
        for name in ("mean", "standard_error", "interval", "aggregate", "to_frame"):
            yield (*tag, name), getattr(one, name)
        for options in each(method=["auto", "bootstrap", "t", "x"], confidence=[0.8, 0.95, 2]):
            yield (*tag, "interval", options), partial(one.interval, **few, **options)
        tools = each(test=["permutation", "t", "wilcoxon"], correction=["holm", None],
                     baseline=[None, "b"], pairs=["baseline", "all"])  # fmt: skip
        for options in [
            *tools,
            {"margin": 0.05},
            {"by": "segment"},
            {"by": [*"ab"]},
            {"test": "x"},
        ]:
            yield (*tag, "compare", options), partial(rs.compare, values, **few, **options)
        for like, by, bounds in product([None, "rax"], [None, groups % 2], [False, True]):
            options = few | {"like": like, "by": by, "bounds": bounds, "output_dict": True} | given
            name = (*tag, "report", like, by is None, bounds)
            yield name, partial(rs.ranking_report, y, systems["c"], **options)
        yield (*tag, "by"), partial(one.by, "segment", random_state=0)
        holes = np.where(y == 1, np.nan, y)
        yield (
            (*tag, "bounds"),
            partial(rs.score_bounds, holes, systems, FEW[:2], max_label=4, **given),
        )
        yield (*tag, "overlap"), partial(rs.rank_overlap, X[:, 0], systems["c"], groups=groups)
        half = {name: scores.select(slice(0, n // 2 + 1)) for name, scores in values.items()}
        yield (*tag, "rectify"), partial(rs.rectify, half["a"], half["b"], values["b"])
        options = few | {"groups": groups, "metrics": "ndcg@5"}
        for within in ("query", None):
            call = partial(rs.query_permutation_importance, model, X, y, within=within, **options)
            yield (*tag, "importance", within), call
        for display in ("CutoffCurve", "DifferenceCurve", "QueryDelta", "QueryScatter", "Forest"):
            call = getattr(rs, f"{display}Display").from_predictions
            yield (
                (*tag, display),
                partial(call, y, {"a": X[:, 0], "b": systems["c"]}, groups=groups),
            )


def readers():
    """Lists, matrices, frames and TREC records, and metrics of what the readers return."""
    random = np.random.default_rng(0)
    items = np.array([random.permutation(20)[:6] for _ in range(15)])
    matrix = random.integers(0, 4, (15, 20)) * (random.random((15, 20)) < 0.2)
    listed, wanted = items.tolist(), [np.flatnonzero(row).tolist() for row in matrix]
    qrels = {f"q{q}": {f"d{i}": i % 4 - 1 for i in one} for q, one in enumerate(wanted) if one}
    run = {f"q{q}": {f"d{i}": (7 * i + q) % 5 for i in one} for q, one in enumerate(listed, 1)}
    rows = [[(q, d, v) for q, one in part.items() for d, v in one.items()] for part in (qrels, run)]
    logs, tops = (pd.DataFrame(part, columns=["user", "item", "value"]) for part in rows)
    names = {"groups": "user", "document": "item", "relevance": "value", "score": "value"}
    lines = ["\n".join(f"{q} 0 {d} {v}" for q, d, v in rows[0])]
    lines += ["\n".join(f"{q} Q0 {d} 1 {v} x" for q, d, v in rows[1])]
    for unjudged in (None, "nan"):
        extra = {"unjudged": unjudged} if unjudged else {}
        lists, records = partial(rs.from_ranked_lists, **extra), partial(rs.from_trec, **extra)
        frames, users = (
            partial(rs.from_frames, **names, **extra),
            partial(rs.from_recommendations, **extra),
        )
        calls = {
            "lists": partial(lists, wanted, listed),
            "sets": partial(lists, [*map(set, wanted)], listed),
            "systems": partial(lists, wanted, {"a": listed, "b": listed[::-1]}),
            "short": partial(lists, wanted, listed[1:]), "dicts": partial(lists, qrels, run),
            "matrix": partial(users, csr_array(matrix), items),
            "far": partial(users, matrix, items + 9),
            "scored": partial(users, matrix, items, items % 4 / 3),
            "trec": partial(records, qrels, run),
            "files": lambda records=records: records(*map(io.StringIO, lines)),
            "complete": partial(records, qrels, run, complete=True),
            "empty": partial(records, {}, run),
            "runs": partial(records, qrels, {"a": run, "b": dict([*run.items()][::2])}),
            "pandas": partial(frames, logs, tops),
            "polars": partial(frames, *map(pl.DataFrame, (logs, tops))),
            "arrow": partial(frames, pa.table(logs), pa.table(tops)),
            "twice": partial(frames, logs, pd.concat([tops, tops]), duplicates="drop"),
        }  # fmt: skip
        for name, call in calls.items():
            yield (name, unjudged), call
            for metric, rule in product(
                ["ndcg@5", "bpref", "judged@5", "infap", "map"], [{}, {"like": "ranx"}]
            ):
                yield (
                    (name, unjudged, metric, rule),
                    lambda c=call, m=metric, r=rule: rs.evaluate(metrics=m, **r, **c()),
                )
            for function in (
                rs.query_scores,
                rs.ranking_report,
                rs.convention_report,
                rs.score_bounds,
            ):
                yield (
                    (name, unjudged, function.__name__),
                    lambda c=call, f=function: f(**c(), metrics=FEW[:2]),
                )


def streams():
    """Batches, Parquet files and accumulators."""
    frame = pd.DataFrame({"label": GRADES, "score": TIED, "qid": GROUPS, "w": WEIGHTS})
    frame, folder = frame.assign(country=np.where(GROUPS % 2, "de", "fr")), tempfile.mkdtemp()
    frames = {"sorted": frame, "mixed": frame.sample(frac=1, random_state=0), "back": frame[::-1]}
    forms = {
        "pandas": lambda d: [d[:50], d[50:]],
        "polars": lambda d: pl.DataFrame(d).iter_slices(60),
    }
    forms["arrow"] = lambda d: pa.Table.from_pandas(d).to_batches(40)
    for i, rows in zip((1, 2, 10), np.array_split(frame.index, 3), strict=True):
        frame.loc[rows].to_parquet(f"{folder}/part.{i}.parquet", row_group_size=50)
    settings = {"many": (FEW, {}), "like": (FEW[:2], {"like": "lightgbm"}), "wrong": ("ncdg", {}),
                "micro": (FEW[:2], {"average": "micro"})}  # fmt: skip
    for (s, (what, o)), weight, by in product(
        settings.items(), [None, "w", "no"], [None, "country"]
    ):
        given = o | {"weight": weight, "by": by}
        for (k, data), (f, form) in product(frames.items(), forms.items()):
            call = partial(rs.evaluate_batches, form(data), what, **given)
            yield ("batches", s, weight, by, k, f), call
        for where in ["", "/part.1.parquet", "/nowhere"]:
            call = partial(rs.evaluate_parquet, folder + where, what, **given)
            yield ("parquet", s, weight, by, where), call

    def accumulate(what, options, parts, order):
        total = rs.RankingAccumulator(what, per_query=True, **options)
        for rows in parts[::order]:
            one, part = rs.RankingAccumulator(what, per_query=True, **options), frame[rows]
            one.update(part.label, part.score, part.qid, sample_weight=part.w)
            total = total.merge(one)
        return [total.result(), total.query_values()]

    whole = [GROUPS % 3 == i for i in range(3)]  # noqa: SIM300
    for (s, setting), order in product(settings.items(), [1, -1]):
        yield (s, "update", order), partial(accumulate, *setting, whole, order)


def command_line():
    """Output and exit status."""
    os.chdir(tempfile.mkdtemp())
    random = np.random.default_rng(0)
    for name, row in {
        "qrels": "q{} 0 d{} {}\n",
        "a": "q{} Q0 d{} 1 {} x\n",
        "b": "q{} Q0 d{} 1 {} x\n",
    }.items():
        with open(name, "w") as file:
            file.writelines(
                row.format(q, d, random.integers(-1, 3)) for q in range(9) for d in range(8)
            )

    def main(*arguments):
        with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(out):
            try:
                return cli.main([*arguments]), out.getvalue()
            except SystemExit as stop:
                return stop.code, out.getvalue()

    extras = ["", "-q", "-c", "--unjudged drop", "--baseline a", "--no", "--like trec_eval"]
    for form, extra, metric in product(
        ["table", "latex", "csv", "json"], extras, ["ndcg@5,map", "bpref"]
    ):
        call = f"evaluate qrels a b -m {metric} --format {form} {extra}"
        yield call, partial(main, *call.split())


SECTIONS = [metric_functions, types_and_frames, model_selection, rankers, comparisons, readers]
SECTIONS += [streams, command_line]


def leaves(value, path=""):
    """Type and numbers, or text, of every part of a result, by its path."""
    kind = "ndarray" if isinstance(value, np.ndarray) else type(value).__name__
    is_ours = type(value).__module__.startswith("sklearn_rankscore") and kind != "ndarray"
    if is_ours and hasattr(value, "to_frame"):
        value = value.to_frame()
    if isinstance(value, pd.DataFrame):
        value = {str(name): value[name].to_numpy() for name in value.columns}
    elif hasattr(value, "_asdict"):
        value = value._asdict()
    elif is_ours and hasattr(value, "__dict__"):
        value = {n: v for n, v in vars(value).items() if n.strip("_") == n}
    parts = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if kind in ("list", "tuple")
        else ()
    )
    if isinstance(value, dict) or any(
        hasattr(part, "__len__") and not isinstance(part, str) for _, part in parts
    ):
        yield path, [kind, [str(name) for name, _ in parts]]
        for name, part in parts if isinstance(value, dict) else enumerate(value):
            yield from leaves(part, f"{path}/{name}")
        return
    array = value.toarray() if isinstance(value, csr_array) else np.asarray(value)
    if array.dtype.kind not in "biuf":
        yield path, [kind, [*map(str, array.ravel())]]
        return
    numbers = array.astype(float).ravel()
    if len(numbers) > 40:  # three numbers that no other order, and hardly other numbers, give
        digest = np.nan_to_num(numbers, nan=-9, posinf=7, neginf=-7) @ np.cos(
            np.arange(len(numbers))
        )
        numbers = np.array([np.isnan(numbers).sum(), np.nansum(numbers), digest])
    yield path, [f"{kind} {array.dtype}", [*array.shape, *numbers.tolist()]]


def observe(call):
    """What a call returns or raises, and the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            seen = {"result": dict(leaves(call()))}
        except Exception as error:
            seen = {"error": [type(error).__name__, str(error)[:400]]}
    return seen | {"warnings": {w.category.__name__: str(w.message)[:300] for w in caught}}


def record(path, *only):
    """Write what all cases return."""
    print(rs.__file__)
    path, cases = os.path.abspath(path), {}
    for section in SECTIONS:
        begun, before = time.perf_counter(), len(cases)
        for name, call in section() if not only or section.__name__ in only else ():
            name = re.sub(r" at 0x\w+|\s+", " ", f"{section.__name__} | {name}")
            assert name not in cases, name
            cases[name] = observe(call)
        errors = sum("error" in one for one in [*cases.values()][before:])
        seconds = time.perf_counter() - begun
        print(
            f"{section.__name__:18}{len(cases) - before:6,} cases{errors:6,} errors {seconds:.0f}",
            flush=True,
        )
    with open(path, "w") as file:
        json.dump(cases, file)


def differences(old, new):
    """Kind and details of each difference of a case."""
    classes = [" ".join(sorted(one["warnings"])) or "none" for one in (old, new)]
    if classes[0] != classes[1]:
        yield f"warnings: {classes[0]} -> {classes[1]}", (old["warnings"], new["warnings"])
    ends = [one["error"][0] if "error" in one else "a value" for one in (old, new)]
    if ends[0] != ends[1]:
        yield f"{ends[0]} -> {ends[1]}", [one.get("error", one.get("result")) for one in (old, new)]
    elif "error" in old and old["error"] != new["error"]:
        yield f"message of {ends[0]}", (old["error"][1], new["error"][1])
    for path in old["result"] | new["result"] if ends == ["a value", "a value"] else ():
        a, b = (one["result"].get(path, ["missing", []]) for one in (old, new))
        if a[0] != b[0]:
            yield f"type: {a[0]} -> {b[0]}", (path, a, b)
        elif not equal(a[1], b[1]):
            yield "value", (path, a[1], b[1])


def equal(a, b):
    """Whether two lists are equal but for rounding."""
    if a == b or len(a) != len(b) or any(isinstance(v, str) for v in a + b):
        return a == b
    return np.allclose(a, b, rtol=1e-12, atol=1e-12, equal_nan=True)


def compare(old_path, new_path, *flags):
    """Print the differences by section and kind."""
    with open(old_path) as old_file, open(new_path) as new_file:
        old, new = json.load(old_file), json.load(new_file)
    groups, alone = defaultdict(list), old.keys() ^ new.keys()
    for name in old.keys() & new.keys():
        for kind, details in differences(old[name], new[name]):
            groups[name.partition(" | ")[0], kind].append((name, details))
    print(f"{len(old):,} and {len(new):,} cases; only in one: {len(alone)} {sorted(alone)[:9]}")
    for (section, kind), several in sorted(groups.items()):
        if not kind.startswith("message") or "--messages" in flags:
            print(f"\n## {section}: {kind}: {len(several)}")
            for name, details in sorted(several, key=str)[: None if "--all" in flags else 4]:
                print(f"  {name}\n      {str(details)[:330]}")


if __name__ == "__main__":
    with threadpool_limits(1):
        {"record": record, "compare": compare}[sys.argv[1]](*sys.argv[2:])
