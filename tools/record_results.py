"""Record what the package computes, and compare two recordings: a redesign changes no number.

    python tools/record_results.py record FILE.npz
    python tools/record_results.py compare OLD.npz NEW.npz

Record with the old package first on PYTHONPATH and again with the new one, on one machine with the
same libraries; it takes the public API only, and so runs on both. The set is taken in three ways.
Every option of every metric meets all tie rules and several cut-offs on three inputs. Every metric
meets all inputs: queries of one document up to 30,000, scores from untied to all tied and not
retrieved, labels and scores of any type. Whatever else returns numbers is called as the guide shows
it. A call that is refused has the result "refused".

Seeds are fixed and libraries have one thread, so that two recordings of one package are equal bit
for bit (nan equals nan). Numbers added in another order may round otherwise: 1e-13, relative or,
below 1, absolute, has room for that only, as another formula, tie or label moves a result further.
Results beyond it, or on one side only, are listed, and the exit status is 1.
"""

import inspect
import sys
import tempfile
import time
import traceback
import warnings
from functools import lru_cache, partial
from io import StringIO
from itertools import product

import catboost
import dask
import dask.dataframe
import lightgbm
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import sklearn
import xgboost
from scipy.sparse import csr_array
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, KFold, cross_validate
from threadpoolctl import threadpool_limits

import sklearn_rankscore as rs
import sklearn_rankscore.dask as rs_dask

AT_K = ["precision", "recall", "f1", "hits", "hit_rate"]
WHOLE = ["r_precision", "err", "rbp", "pfound", "query_auc", "kendall_tau", "spearman"]
METRICS = {m: getattr(rs, f"{m}_score") for m in ["dcg", "ndcg", "map", "mrr", *WHOLE]}
METRICS |= {m: getattr(rs, f"{m}_at_k") for m in AT_K}
KNOWN = {name: inspect.signature(metric).parameters for name, metric in METRICS.items()}
TIES = ["average", "stable", "reversed", "optimistic", "pessimistic"]
LIKE = ["sklearn", "lightgbm", "xgboost", "catboost", "trec_eval", "ranx", "torchmetrics", "rax"]
FEW = ["ndcg@10", "ndcg", "map@10", "query_auc", "mrr", "recall@5", "err@10", "spearman"]
MANY = [m for m in METRICS if m not in ("pfound", "ndcg", "mrr", "query_auc", "spearman")] + FEW
MANY += ["ndcg@40(gain=exponential)", "dcg@5(discount=reciprocal)", "map@10(denominator=hits)"]
MANY += ["mrr@10(ties=pessimistic)", "precision@10(denominator=min, threshold=1)", "rbp@5(p=0.5)"]
MANY += ["ndcg@5(like=lightgbm)", "map@5(like=trec_eval)", "recall@3(replace_undefined_by=nan)"]


def every(**values):
    """Options with each combination of values."""
    return [dict(zip(values, some, strict=True)) for some in product(*values.values())]


GAINS = every(gain=["exponential", "binary", (0, 1, 3, 7, 15), np.sqrt])
FALLS = partial(np.float_power, 0.9)
DCG = [*GAINS, *every(discount=["log2", "log2_after_first", "reciprocal", None, FALLS])]
ABOVE = {"threshold": [0, 1, 2.5]}
OPTIONS = {name: every(**ABOVE) for name in METRICS if "threshold" in KNOWN[name]} | {
    "dcg": [*DCG, {"gain": "exponential", "discount": "reciprocal"}],
    "ndcg": [*DCG, {"gain": "exponential", "discount": "reciprocal"}],
    "map": every(**ABOVE, denominator=["min", "relevant", "hits"]),
    "precision": every(**ABOVE, denominator=["k", "min"]),
    "f1": every(**ABOVE, denominator=["k", "min"]),
    "err": every(max_grade=[4, 6.5, None]),
    "rbp": [*every(p=[0, 0.5, 0.8, 0.95]), *GAINS, {"gain": "binary", "threshold": 1}],
    "pfound": every(decay=[0, 0.5, 0.85, 1]),
}
DRAW = np.random.default_rng(0).integers
SIZES = {
    "one document": np.ones(12, int),
    "short": DRAW(1, 17, 60),
    "many short": DRAW(1, 17, 4000),
    "wide": DRAW(17, 41, 40),
    "medium": DRAW(100, 141, 12),
    "long": np.array([1200, 1200, 1201]),
    "very long": np.array([30_000]),
    "mixed": np.array([1, 1, 2, 3, 5, 8, 13, 16, 17, 21, 34, 55, 89, 144, 233, 377, 600]),
    "2,500 of about 120": DRAW(90, 151, 2500),
    "30,000 of about 10": DRAW(1, 20, 30_000),
    "lengths by Zipf": 100_000 // np.arange(1, 12),
    "1.2 million in one": np.array([1_200_000]),
    "1.2 million in 10,000": np.full(10_000, 120),
}
LABELS = {
    "grades": lambda g: g,
    "31 grades": lambda g: (g + 7 * np.arange(len(g))) % 31,
    "63 grades": lambda g: (g + 7 * np.arange(len(g))) % 63,
    "large labels": lambda g: 50 * g,
    "fractions": lambda g: 0.37 * g,
    "probabilities": lambda g: g / 4,
    "negative labels": lambda g: g - 2,
    "none relevant": lambda g: 0 * g,
    "all alike": lambda g: 0 * g + 2,
}
SCORES = {
    "no ties": lambda x: x,
    "few ties": lambda x: np.round(x, 1),
    "heavily tied": np.round,
    "all tied": lambda x: 0 * x,
    "not retrieved": lambda x: np.where(7919 * x % 1 < 0.3, -np.inf, x),
    "tied, not retrieved": lambda x: np.where(7919 * x % 1 < 0.3, -np.inf, np.round(x)),
    "nearly tied": lambda x: 1 + 1e-9 * x,
    "last bits": lambda x: 1 + np.round(9 * x) * 2.0**-52,
    "signed zeros": lambda x: np.where(abs(x) < 1, np.copysign(0.0, x), x),
    "huge": lambda x: 1e300 * x,
    "tiny": lambda x: 1e-320 * x,
    "infinite": lambda x: np.where(x > 1, np.inf, x),
}
FLOATS = ["float16", "float32", "float64", "longdouble", "object", ">f8"]
TYPES = [*FLOATS, "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool"]
SHORT, MEDIUM = ("short", "grades", "heavily tied"), ("medium", "grades", "tied, not retrieved")
CORE = [SHORT, MEDIUM, ("mixed", "fractions", "few ties")]
INPUTS = [
    *product([*SIZES][:8], ["grades"], [*SCORES][:6]),
    *product(["mixed"], [*LABELS, *TYPES], ["heavily tied"]),
    *product(["short"], LABELS, ["few ties"]),
    *product(["mixed"], ["31 grades"], [*SCORES, *TYPES]),
]


@lru_cache
def documents(layout="mixed", labels="grades", scores="few ties"):
    """Arguments of a metric: queries of some lengths, with labels and scores of some kind."""
    sizes, random = SIZES[layout], np.random.default_rng(0)
    grades = np.minimum(random.geometric(0.5, sizes.sum()) - 1, 4)
    x = grades / 3 + random.normal(size=len(grades))
    typed = (x if scores in FLOATS else np.maximum(9 * x, 0)).astype
    return {
        "y_true": LABELS[labels](grades) if labels in LABELS else grades.astype(labels),
        "y_score": SCORES[scores](x) if scores in SCORES else typed(scores),
        "groups": np.repeat(np.arange(len(sizes)), sizes),
    }


def outcome(function, *args, **options):
    """What a call returns, or that it is refused."""
    try:
        return function(*args, **options)
    except (TypeError, ValueError):
        return "refused"


def title(*parts):
    """A readable name."""
    return " | ".join(map(str, parts))


def leaves(name, value):
    """Name and array of every part of a result."""
    value = value._asdict() if hasattr(value, "_asdict") else value
    if isinstance(value, dict):
        for key, part in value.items():
            yield from leaves(title(name, key), part)
        return
    array = np.asarray(np.nan if value is None else value)
    yield name, np.array([*map(str, array.ravel())]) if array.dtype.kind in "OM" else array


def measured(metric, given, options):
    """A metric, on labels in its range."""
    if metric == "pfound" or options.get("max_grade", 4) is None:
        given = given | {"y_true": np.clip(given["y_true"], 0, 1)}
    elif metric == "err" and (highest := given["y_true"].max()) > 4:
        options = {"max_grade": float(highest)} | options
    return outcome(METRICS[metric], **given, **options)


def inputs():
    """Name and arguments of each input, and values of options to measure it with."""
    for kind in dict.fromkeys([*CORE, *INPUTS]):
        rules = {"average": [None], "k": [None, 10], "ties": TIES[: 1 + (kind[1] == "grades")]}
        if kind in CORE:
            rules |= {"k": [None, 1, 5, 40], "ties": TIES}
        yield str(kind), documents(*kind), rules
    rules = {"average": ["macro", "micro"], "replace_undefined_by": [0.0, 0.5, np.nan]}
    for kind, weighted in product([SHORT, ("mixed", "none relevant")], [False, True]):
        weights = documents(*kind)["groups"] % 4 / 2 if weighted else None
        given = documents(*kind) | {"sample_weight": weights}
        yield f"{kind}, weighted {weighted}", given, rules | {"k": [None, 3]}
    random, rules = np.random.default_rng(0), {"average": ["macro", None], "k": [None, 5]}
    y, score = random.integers(0, 5, (30, 25)), random.normal(size=(30, 25))
    score[random.random(score.shape) < 0.2] = -np.inf
    some = {"in C": score, "in Fortran": np.asfortranarray(score), "tied": score.round()}
    for (name, scores), weighted in product(some.items(), [False, True]):
        given = {"sample_weight": np.arange(30) % 4 / 2} if weighted else {}
        yield f"rows {name}, weighted {weighted}", given | {"y_true": y, "y_score": scores}, rules
    for labels in (None, [2, 0, 1]):
        given = {"y_true": random.integers(0, 3, 30), "y_score": score[:, :3]}
        yield f"classes {labels}", given | {"labels": labels}, rules


def by_metric():
    """Every metric on every input; every option of it on some."""
    for (name, given, rules), metric in product(inputs(), METRICS):
        own = OPTIONS.get(metric, [{}]) if len(rules["k"]) == 4 else [{}]
        rules = {option: some for option, some in rules.items() if option in KNOWN[metric]}
        for some, rule in product(own, every(**rules)):
            yield title(metric, some | rule, name), measured(metric, given, some | rule)


IDS = {
    **{kind: partial(np.ndarray.astype, dtype=kind) for kind in ["i1", "u8", "f8", "U", "M8[D]"]},
    "descending": lambda g: 5 - g,
    "far apart": lambda g: g * 10**15,
    "tuples": lambda g: [(one % 3, str(one)) for one in g.tolist()],
    "numbers and texts": lambda g: [one if one % 2 else str(one) for one in g.tolist()],
    "pandas dates": lambda g: pd.Series(pd.Timestamp("2026-01-01") + pd.to_timedelta(g, "D")),
    "pandas categories": lambda g: pd.Categorical(g, categories=range(99, -1, -1), ordered=True),
    "polars categories": lambda g: pl.Series(g.astype(str), dtype=pl.Categorical),
    "pyarrow dictionary": lambda g: pa.array(g.astype(str)).dictionary_encode(),
}
COLUMNS = {"lists": list, "pandas": pd.Series, "pandas arrays": pd.array}
COLUMNS |= {"polars": pl.Series, "pyarrow": pa.array, "masked": np.ma.masked_array}


def ids_and_columns():
    """Ids of every type and columns of every library, in several row orders."""
    rows = np.arange(SIZES["mixed"].sum())
    orders = {"in order": rows, "backwards": rows[::-1]}
    orders["shuffled"] = np.random.default_rng(0).permutation(rows)
    for order, rows in orders.items():
        y, score, groups = (values[rows] for values in documents().values())
        for name, form in IDS.items():
            values = rs.query_scores(y, score, FEW, groups=form(groups))
            yield (
                title("ids", name, order),
                {"ids": [*map(str, values.ids)], "values": values.values},
            )
        for name, form in COLUMNS.items():
            columns = rs.evaluate(form(y), form(score), FEW, groups=form(groups), average=None)
            yield title("columns", name, order), columns


def many_at_once():
    """`evaluate` of many metrics, and of each with the conventions of every library."""
    for kind in [SHORT, ("long", "probabilities"), ("mixed",)]:
        given = documents(*kind)
        for options in every(n_jobs=[1, 2], average=["macro", None]):
            values = rs.evaluate(
                metrics=MANY, **given, **options, sample_weight=given["groups"] % 4
            )
            yield title(options, kind), values
        for like, metric, k in product(LIKE, METRICS, ["", "@5"]):
            value = outcome(rs.evaluate, metrics=metric + k, like=like, **given, average=None)
            yield title(metric + k, f"like {like}", kind), value
    options = {"gain": "exponential", "threshold": 1, "ties": "stable", "p": 0.5, "k": 7}
    yield "shared", rs.evaluate(metrics=["ndcg", "map@3", "mrr", "rbp"], **given, **options)
    functions = [rs.ndcg_score, partial(rs.map_score, k=5), rs.spearman_score]
    yield "functions", [*rs.evaluate(metrics=functions, **given).values()]
    words = np.array(["cat", "dog", "bird"])[given["groups"][:500] % 3]
    score = given["y_score"][:1500].reshape(-1, 3)
    yield "words", rs.evaluate(words, score, MANY, labels=["cat", "dog", "bird"])


# the name of a block's method before the redesign, or after it
TIE_GROUPS = "tie_groups" if hasattr(rs, "Block") else "tie_runs"
OWN = {
    "gains": lambda block, ties: block.by_rank(np.sqrt, ties),
    "readers": lambda block, ties: block.survival(lambda y: 1 - np.minimum(y, 4) / 5, ties),
    "ties": lambda block, ties: np.add(*getattr(block, TIE_GROUPS)(ties)),
    "missed": lambda block, ties: block.ideal(np.sqrt) - block.by_rank(np.sqrt, ties),
    "mean gain": lambda block, ties: (block.total(np.sqrt) / block.sizes)[:, None],
}


def own(name, ties, block):
    """A user-defined metric: values of a block, discounted by the reciprocal rank."""
    held = block.ranks <= block.retrieved[:, None]
    values = (OWN[name](block, ties) * held / block.ranks).sum(axis=1)
    return np.where(block.retrieved > 1, values, np.nan)


def own_metrics():
    """Metrics that are functions of a block of ranked queries."""
    more = [("many short", *MEDIUM[1:]), ("long", *SHORT[1:])]
    rules = [{"average": None}, {"replace_undefined_by": 0.5}, {}]
    for kind, name, ties, rule in product(CORE + more, OWN, TIES, rules):
        values = rs.evaluate(metrics=partial(own, name, ties), **documents(*kind), **rule)
        yield title(name, ties, rule, kind), [*values.values()]


def large():
    """300,000 documents and more: several blocks, stretches and threads."""
    for layout, scores, n_jobs in product([*SIZES][8:], ["no ties", "few ties"], [1, 2]):
        given, what = documents(layout, "grades", scores), title(layout, scores, n_jobs)
        rows = np.random.default_rng(0).permutation(len(given["groups"]))
        mixed = {name: values[rows] for name, values in given.items()}
        texts = mixed | {"groups": mixed["groups"].astype(str)}
        some = FEW if SIZES[layout].max() < 10**4 else FEW[:4]
        yield what, rs.evaluate(metrics=some, **given, n_jobs=n_jobs, average=None)
        yield f"{what} | first ranks", rs.evaluate(metrics=FEW[0], **given, n_jobs=n_jobs)
        yield f"{what} | shuffled", rs.evaluate(metrics=FEW[:3], **mixed, n_jobs=n_jobs)
        yield f"{what} | texts", rs.evaluate(metrics=FEW[0], **texts, n_jobs=n_jobs)


TIMES = {"times": [None, "day"], "gap": [0, 3], "max_train_size": [None, 7]}
SHARES = {"test_size": [None, 0.3, 5], "train_size": [None, 0.5, 9], "random_state": [0, 7]}
SPLITTERS = [
    *product([rs.QueryKFold], every(n_splits=[3, 2, 10])),
    *product([rs.QueryKFold], every(n_splits=[4], shuffle=[True], random_state=[0, 7])),
    *product([rs.RepeatedQueryKFold], every(n_splits=[3], n_repeats=[2], random_state=[0, 7])),
    *product([rs.QueryShuffleSplit], every(n_splits=[2], **SHARES)),
    *product([rs.QueryTimeSeriesSplit], every(n_splits=[2, 4], **TIMES)),
    (rs.QueryTimeSeriesSplit, {"n_splits": 3, "test_size": 4}),
]
# the old name of the splitters' option, or the new one
SKIP = {"contrast_only", "skip_constant_queries"}  # words: ok
SKIP &= {*inspect.signature(rs.QueryKFold).parameters}


def splits():
    """Data, folds of every splitter, and both parts of a split."""
    X, y, groups = rs.make_ranking(40, 3, query_effect=3.0, shuffle=True, random_state=3)
    yield "make_ranking", {"X": X, "y": y, "groups": groups}
    frame = pd.DataFrame({"qid": groups, "day": groups * 7 % 11, "user": groups // 2})
    for (splitter, options), skip, ids in product(SPLITTERS, [False, True], [None, "user"]):
        cv = splitter(**options, **dict.fromkeys(SKIP, skip), groups=ids)
        folds = [np.concatenate([a, [-1], b]) for a, b in cv.split(frame, y)]
        name = title(splitter.__name__, options, f"skip constant queries {skip}, ids {ids}")
        yield name, dict(enumerate(folds))
    for options in every(**SHARES):
        parts = rs.query_train_test_split(X, y, groups.astype(str), groups=groups, **options)
        yield title("query_train_test_split", options), dict(enumerate(parts))


LGBM = {"n_jobs": 1, "deterministic": True, "force_row_wise": True, "verbose": -1}
CAT = {"thread_count": 1, "random_seed": 0, "verbose": False, "allow_writing_files": False}
RANKERS = {
    "ridge": Ridge(),
    "histograms": HistGradientBoostingRegressor(max_iter=8, random_state=0),
    "classes": LogisticRegression(),
    "lightgbm": lightgbm.LGBMRanker(n_estimators=12, num_leaves=5, **LGBM),
    "xgboost": xgboost.XGBRanker(n_estimators=12, max_depth=3, n_jobs=1, random_state=0),
    "catboost": catboost.CatBoostRanker(iterations=12, depth=3, **CAT),
}
SCORING = {name: name for name in ("ndcg@5", "map(threshold=1)", "ndcg(like=xgboost)", "err")}
SCORING["table"] = rs.make_ranking_scorer("ndcg@5", gain=[0, 1, 3, 7, 15])
SCORING["own"] = rs.make_ranking_scorer(partial(own, "gains", "average"))


def fitted(X, y, weights, ranker):
    """What a ranker says after it was fitted."""
    ranker.fit(X, y, sample_weight=weights)
    rounds = getattr(ranker, "n_iter_", None)
    return {"predictions": ranker.predict(X), "score": ranker.score(X, y), "rounds": rounds}


def cross_validated(*args, **options):
    """The scores of folds, and not the times."""
    values = cross_validate(*args, scoring=options.pop("scoring", SCORING), **options)
    return {name: scores for name, scores in values.items() if name.startswith("test_")}


def rankers():
    """Every ranker: fitted, in cross-validation, and with the values of its queries."""
    X, y = rs.make_ranking(60, 6, n_documents=12, shuffle=True, as_frame=True, random_state=0)
    stopping = {"early_stopping": True, "n_iter_no_change": 2, "validation_fraction": 0.2}
    folds = [rs.QueryKFold(3), rs.QueryShuffleSplit(2, random_state=0), rs.QueryTimeSeriesSplit(3)]
    for name, model in RANKERS.items():
        for options, weighted in product([{}, {"max_queries": 20}, stopping], [False, True]):
            weights = 1.0 + X["qid"] % 3 if weighted else None
            values = outcome(
                fitted, X, y, weights, rs.QueryRanker(model, random_state=0, **options)
            )
            yield title(name, options, f"weighted {weighted}"), values
        for cv in [*folds, KFold(3)]:
            values = cross_validated(rs.QueryRanker(model), X, y, cv=cv)
            yield title(name, type(cv).__name__), values
        for like in (None, "ranx"):
            given = {"sample_weight": X["qid"] % 3, "like": like, "metrics": FEW[:3], "cv": 4}
            values = rs.cross_val_query_scores(rs.QueryRanker(model), X, y, **given)
            yield title("values", name, like), {"ids": values.ids, "values": values.values}


def searches():
    """Searches, and the ways query ids travel."""
    X, y = rs.make_ranking(50, 5, n_documents=10, as_frame=True, random_state=1)
    plain, ids = X.drop(columns="qid"), X["qid"].to_numpy()
    level = pd.Series(y.to_numpy(), index=pd.Index(ids, name="qid"))
    model, cv = rs.QueryRanker(Ridge()), rs.QueryKFold(3)
    grids = [{"estimator": [*RANKERS.values()]}, {"estimator__alpha": [1, 10, 1e4]}]
    for grid, pick in product(grids, ["ndcg@5", rs.one_standard_error("ndcg@5")]):
        search = GridSearchCV(model, grid, scoring=SCORING, refit=pick, cv=cv).fit(X, y)
        values = {name: values for name, values in search.cv_results_.items() if "test_" in name}
        values["predictions"] = search.predict(X)
        yield f"grid of {[*grid]}, best {pick == 'ndcg@5'}", values
    for name, ranker, data, labels in (
        ("ndcg", Ridge(), X.set_index("qid"), y),
        ("ndcg@5", Ridge(), plain.to_numpy(), level),
        ("ndcg(groups=s)", Ridge(), X.rename(columns={"qid": "s"}), y),
        ("hit_rate@2", LogisticRegression(), plain, y.clip(0, 2)),
        ("ndcg@9(groups=none)", Ridge(), plain, y),
    ):
        yield name, cross_validated(ranker, data, labels, scoring=[name], cv=KFold(3))
    with sklearn.config_context(enable_metadata_routing=True):
        yield "routed", cross_validated(model, plain, y, cv=cv, params={"groups": ids})


def while_boosters_train():
    """Metrics of the boosters' training, called alone and by the boosters."""
    X, y, groups = rs.make_ranking(30, 5, n_documents=10, random_state=2)
    sizes, weights, score = np.bincount(groups), 1.0 + groups % 3, X[:, 0].round(1)
    data = lightgbm.Dataset(X, y, group=sizes, weight=weights, params={"verbose": -1})
    matrix, told = xgboost.DMatrix(X, y, qid=groups), (y, groups)
    for name in MANY:
        yield f"lightgbm {name}", rs.lightgbm_metric(name)(y, score, weights, sizes)[1]
        yield f"xgboost {name}", rs.xgboost_metric(name)(score, matrix)[1]
        yield f"catboost {name}", rs.catboost_metric(name, told).evaluate([score], y, None)
    for name, options in (("ndcg@5", {"gain": "exponential"}), ("map@5", {"like": "catboost"})):
        metric, params = rs.lightgbm_metric(name, **options), {"objective": "lambdarank"} | LGBM
        keep = {"valid_sets": [data], "callbacks": [lightgbm.record_evaluation(history := {})]}
        lightgbm.train(params | {"metric": "None"}, data, 8, feval=metric, **keep)
        yield f"training of lightgbm, {name}", [*history["training"].values()]
        metric, params = rs.xgboost_metric(name, **options), {"objective": "rank:ndcg"}
        keep = {"evals": [(matrix, "")], "evals_result": (history := {}), "verbose_eval": False}
        xgboost.train(params | {"nthread": 1}, matrix, 8, custom_metric=metric, **keep)
        yield f"training of xgboost, {name}", [*history[""].values()]
        metric = rs.catboost_metric(name, told, **options)
        model = catboost.CatBoostRanker(iterations=8, depth=3, eval_metric=metric, **CAT)
        history = model.fit(X, y, group_id=groups).get_evals_result()
        yield f"training of catboost, {name}", [*history["learn"].values()]


NUMBERS = ["baseline_mean", "model_mean", "difference", "p_value", "wins", "ties", "losses"]


def decisions():
    """Values of queries, intervals, comparisons and reports."""
    names = ["ndcg@5", "mrr", "map", "recall@3(replace_undefined_by=nan)", "kendall_tau"]
    seeds = [int, np.random.RandomState, np.random.default_rng]
    tests = {"test": ["permutation", "t", "wilcoxon"], "correction": ["holm", None]}
    methods, few = {"method": ["bootstrap", "t"]}, {"n_resamples": 500}
    for n, weighted in product([1, 8, 150], [False, True]):
        X, y, groups = rs.make_ranking(n, 3, n_documents=8, query_effect=2.0, random_state=4)
        scores = {"one": X[:, 0], "two": X.sum(axis=1), "three": X[:, 1].round()}
        given = {"groups": groups, "sample_weight": 1 + groups % 3 if weighted else None}
        values = {name: rs.query_scores(y, x, names, **given) for name, x in scores.items()}
        what = f"{n} queries, weighted {weighted}"
        for name, one in values.items():
            parts = {"mean": one.mean(), "error": one.standard_error(), "values": one.values}
            yield title("query_scores", what, name), parts | {"frame": one.to_frame()[names]}
        for options, seed in product(every(**methods, confidence=[0.8, 0.95]), seeds):
            value = values["three"].interval(random_state=seed(0), **few, **options)
            yield title("interval", what, options, seed.__name__), value
        for options in every(**tests, baseline=[None, "two"]):
            value = outcome(rs.compare, values, random_state=0, **few, **options)
            for one in getattr(value, "differences", ()):
                all_of = vars(one)
                adjusted = all_of.get("corrected", all_of.get("adjusted_p_value"))
                numbers = [*(all_of[name] for name in NUMBERS), *one.interval, adjusted]
                yield title("compare", what, options, one.metric, one.model), numbers
        for like in (None, "rax", "catboost"):
            options = few | {"like": like, "k": [3, None], "threshold": 1, "random_state": 0}
            options |= {"metrics": ["ndcg", "map"], "output_dict": True} | given
            yield title("report", what, like), rs.ranking_report(y, scores["three"], **options)
        options = {"groups": groups, "metrics": MANY[:-3], "output_dict": True}
        for like, row in rs.convention_report(y, scores["three"], **options).items():
            yield title("conventions", what, like), np.array([*row.values()], float)


def forms():
    """Lists of items, lists of relevance, recommendations and TREC files as documents."""
    random = np.random.default_rng(0)
    listed = [random.permutation(20)[: random.integers(0, 9)].tolist() for _ in range(15)]
    wanted = [random.permutation(20)[: random.integers(0, 5)].tolist() for _ in range(15)]
    texts = [[[f"d{item}" for item in one] for one in some] for some in (wanted, listed)]
    twice = {("user", q): one + one[:2] for q, one in enumerate(listed)}
    grades = {("user", q): {i: 1 + i % 3 for i in one} for q, one in enumerate(wanted)}
    matrix = random.integers(0, 4, (15, 20)) * (random.random((15, 20)) < 0.2)
    items = np.array([random.permutation(20)[:6] for _ in range(15)])
    items[random.random(items.shape) < 0.2] = -1
    run = [f"q{q} Q0 d{i} 1 {(7 * i + q) % 5 / 2} x" for q, one in enumerate(listed) for i in one]
    qrels = [f"q{q + 1} 0 d{i} {i % 4 - 1}" for q, one in enumerate(wanted) for i in one]
    files = [partial(StringIO, "\n".join(lines)) for lines in (qrels, run)]
    for name, given in {
        "lists": rs.from_ranked_lists(wanted, listed),
        "sets": rs.from_ranked_lists([*map(set, wanted)], listed),
        "texts": rs.from_ranked_lists(*texts),
        "dicts": rs.from_ranked_lists(grades, twice),
        "pandas": rs.from_ranked_lists(pd.Series(wanted), pd.Series(listed)),
        "relevance": rs.from_relevance_lists([[i % 3 for i in one] for one in listed]),
        "relevance of dicts": rs.from_relevance_lists(twice),
        "recommendations": rs.from_recommendations(csr_array(matrix), items),
        "scored": rs.from_recommendations(matrix, items, items % 4 / 3),
        "TREC": rs.from_trec(*(open_file() for open_file in files)),
        "all of TREC": rs.from_trec(*(open_file() for open_file in files), complete=True),
    }.items():
        yield name, given
        yield f"{name}, metrics", rs.evaluate(metrics=FEW[:3], like="ranx", **given)


STREAMED = {
    "many": (MANY, {}),
    "own": ([partial(own, "gains", "average"), "ndcg@5"], {}),
    "like": (FEW[:3], {"like": "lightgbm"}),
    "micro": (["ndcg@5", "map", "recall@3"], {"average": "micro"}),
}


def accumulators():
    """Batches of whole queries and of a sorted stream, merged in several orders."""
    columns = [*documents().values(), documents()["groups"] % 3]
    whole = [columns[-1] == part for part in range(3)]
    batches = {"update": whole, "update_sorted": np.array_split(np.arange(len(columns[0])), 7)}
    for method, (name, (metrics, options)), order in product(batches, STREAMED.items(), [1, -1]):
        total = rs.RankingAccumulator(metrics, per_query=True, **options)
        for rows in batches[method][::order]:
            y, score, groups, weights = (column[rows] for column in columns)
            one = rs.RankingAccumulator(metrics, per_query=True, **options)
            getattr(one, method)(y, score, groups, sample_weight=weights)
            total = total.merge(one)
        what = title(method, name, f"order {order}")
        yield what, total.result()
        yield f"{what} | of queries", total.close().query_values()[1]


def files_and_clusters():
    """Parquet files and Dask DataFrames."""
    y, score, groups = documents().values()
    frame = pd.DataFrame({"label": y, "score": score, "qid": groups, "w": 1.0 + groups % 3})
    mixed = frame.sample(frac=1, random_state=0, ignore_index=True)
    spread = dask.dataframe.from_pandas(mixed, npartitions=4)
    how = {"scheduler": "synchronous", "dataframe.shuffle.method": "tasks"}
    with tempfile.TemporaryDirectory() as folder, dask.config.set(how):
        for i, rows in zip((1, 2, 10), np.array_split(frame.index, 3), strict=True):
            frame.loc[rows].to_parquet(f"{folder}/part.{i}.parquet", row_group_size=50)
        for (name, (metrics, options)), weight in product(STREAMED.items(), [None, "w"]):
            what, options = title(name, f"weight {weight}"), options | {"weight": weight}
            for n in (97, 10_000):
                values = rs.evaluate_parquet(folder, metrics, batch_rows=n, **options)
                yield title("parquet", what, n), values
            yield title("dask", what), rs_dask.evaluate(spread, metrics, **options)
            values = rs_dask.accumulate(spread, metrics, n_partitions=3, **options).result()
            yield title("dask accumulate", what), values
        values = rs_dask.query_scores(spread, MANY).compute().sort_values("qid")
        yield "dask query_scores", values.to_dict(orient="list")


SECTIONS = [by_metric, ids_and_columns, many_at_once, own_metrics, large, splits, rankers, searches]
SECTIONS += [while_boosters_train, decisions, forms, accumulators, files_and_clusters]


def record(path):
    """Write the results of the package that is imported; whether a section failed."""
    print(rs.__file__)
    warnings.simplefilter("ignore")
    values, failed = {}, False
    for section in SECTIONS:
        begun, before = time.perf_counter(), len(values)
        try:
            with threadpool_limits(1):
                for name, value in section():
                    new = dict(leaves(title(section.__name__, name), value))
                    assert not new.keys() & values.keys(), f"{name} comes twice"
                    values |= new
        except Exception:
            failed = True
            traceback.print_exc()
        seconds = time.perf_counter() - begun
        print(f"{section.__name__:22}{len(values) - before:8,} results{seconds:8.1f} s", flush=True)
    np.savez(path, **values)
    print(f"{len(values):,} results, {sum(map(np.size, values.values())):,} numbers")
    return failed


def distance(old, new):
    """0 if equal bit for bit, else the largest difference, relative above 1, and never 0."""
    if "U" in (old.dtype.kind, new.dtype.kind) or old.shape != new.shape:
        return 0.0 if np.array_equal(old, new) else np.inf
    plain = [np.where(np.isnan(a), np.nan, a) if a.dtype.kind == "f" else a for a in (old, new)]
    if old.dtype == new.dtype and plain[0].tobytes() == plain[1].tobytes():
        return 0.0
    old, new = old.astype(float), new.astype(float)
    with np.errstate(invalid="ignore"):
        apart = np.abs(old - new) / np.maximum(1, np.abs(old))
    apart = np.where((old == new) | (np.isnan(old) & np.isnan(new)), 5e-324, apart)
    return np.nan_to_num(apart, nan=np.inf).max()


def compare(old_path, new_path):
    """Print how two recordings differ; whether any result does by more than rounding."""
    old, new = np.load(old_path), np.load(new_path)
    shared, alone = {*old.files} & {*new.files}, {*old.files} ^ {*new.files}
    apart = {name: distance(old[name], new[name]) for name in shared}
    others = {name: f"off by {d:.3g}" for name, d in apart.items() if d > 1e-13}
    others |= {name: f"only in {old_path if name in old else new_path}" for name in alone}
    equal = sum(d == 0 for d in apart.values())
    near = len(shared | alone) - equal - len(others)
    print(f"{len(shared | alone):,} results, {equal:,} equal bit for bit, ", end="")
    print(f"{near:,} within 1e-13, {len(others):,} others")
    for name in sorted(others):
        print(f"  {others[name]}: {name}")
    return bool(others)


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in ("record", "compare"):
        sys.exit(__doc__)
    sys.exit({"record": record, "compare": compare}[sys.argv[1]](*sys.argv[2:]))
