"""What importing this package does to scikit-learn, all of it; `unpatch_sklearn` undoes it.

* Names such as ``"ndcg@10"`` are scoring strings: `get_scorer` looks them up in its table, and the
  check of parameters accepts them among names of scorers.
* Tasks of cross-validation and searches are made by `delayed`, which is hooked in the two modules
  that make them. Query ids that the call was given as `groups`, or that the rows of a splitter of
  this package carry, are added to the fit and to the scorers of a task. A task without rankers and
  ranking metrics stays as it is.
"""

from __future__ import annotations

import copy
import inspect
import sys
import threading
from collections import UserDict
from collections.abc import Callable
from functools import lru_cache, partial, wraps
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.base import clone, is_classifier
from sklearn.dummy import DummyRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import check_scoring
from sklearn.utils import Bunch
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import has_fit_parameter

from .._columns import as_column, column_names
from .._sklearn_compat import (
    FunctionScorer,
    MultimetricScorer,
    PassthroughScorer,
    Search,
    list_scorers,
    num_samples,
    patched_places,
)
from .._validation import warn
from ..metrics.names import display_name, name_of_function, names_metric
from ..query_ids import (
    NoGroupsError,
    find_query_ids,
    group_rows,
    no_groups_error,
    vary_within_queries,
)
from ..query_ids.lookup import QID, FoldRows, check_same_order, ids_in_index, index_ids
from .predictions import is_pipeline, last_step
from .scorer import WITHOUT_IDS, RankingScorer, check_columns, check_no_feature

_lock = threading.RLock()
_undo: list[Callable[[], None]] = []

# which turns a ValueError of a trial into nan
OPTUNA = "optuna_integration.sklearn.sklearn"
# the functions of scikit-learn that fit and score, or predict, a fold
TASKS = ("_fit_and_score", "_fit_and_predict", "_permutation_test_score")

# parameters with one value for each row of X
OF_ROWS = ("groups", "qid", "sample_weight", "propensity", "target")


class PartialQueryWarning(UserWarning):
    """A test fold holds only some documents of a query."""


def patch_sklearn() -> None:
    """Make metric names scoring strings of scikit-learn; importing the package does it.

    Warns
    -----
    RuntimeWarning
        If the installed scikit-learn lacks a private name that this needs; `make_ranking_scorer`
        works without it.
    """
    with _lock:
        if _undo:
            return
        try:
            module, options, made_tasks = patched_places()
            _assign(module, "_SCORERS", _ScorerTable(module._SCORERS))
            _assign(options, "is_satisfied_by", _accepting_names(options.is_satisfied_by))
            for made_in in made_tasks:
                _assign(made_in, "delayed", _with_query_ids(made_in.delayed))
            if not isinstance(check_scoring(DummyRegressor(), "ndcg@10"), RankingScorer):
                raise TypeError("check_scoring('ndcg@10') returned another scorer")
        except Exception as error:
            unpatch_sklearn()
            warn(
                "this version of scikit-learn does not accept metric names as scoring "
                f"({error!r}). Use scoring=make_ranking_scorer('ndcg@10') instead.",
                RuntimeWarning,
            )


def unpatch_sklearn() -> None:
    """Undo `patch_sklearn`: scikit-learn no longer knows the names of ranking metrics."""
    with _lock:
        while _undo:
            _undo.pop()()


def _assign(owner: Any, name: str, value: Any) -> None:
    inherited = name not in vars(owner)
    before = getattr(owner, name)
    setattr(owner, name, value)
    restore = partial(setattr, owner, name, before)
    _undo.append(partial(delattr, owner, name) if inherited else restore)


class _ScorerTable(UserDict[str, Any]):
    """The table of scorers with one for each metric name, which iteration leaves out."""

    def __init__(self, scorers: dict[str, Any]) -> None:
        self.data = scorers  # itself, so that scorers which others add are seen in both

    def __contains__(self, name: object) -> bool:
        return name in self.data or names_metric(name, self.data.keys())

    def __missing__(self, name: str) -> Any:
        if names_metric(name, self.data.keys()):
            return RankingScorer(name)
        raise KeyError(name)

    def __reduce__(self) -> Any:
        return dict, (self.data,)


def _accepting_names(check: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    @wraps(check)
    def is_satisfied_by(self: Any, value: Any) -> bool:
        # only options that are names of scorers include both of these
        return bool(check(self, value)) or (
            {"r2", "roc_auc"} <= self.options and names_metric(value, self.options)
        )

    return is_satisfied_by


def _with_query_ids(delayed: Callable[[Any], Any]) -> Callable[[Any], Any]:
    @lru_cache(len(TASKS))  # not for every task, which may be a fit of half a millisecond
    def hooked(function: Any) -> Any:
        make, names = delayed(function), list(inspect.signature(function).parameters)

        def make_task(*args: Any, **kwargs: Any) -> Any:
            task = {**dict(zip(names, args, strict=False)), **kwargs}
            if not _concerns_queries(task):
                return make(*args, **kwargs)
            groups, caller = _call()
            try:
                made = make(**_Task(task, groups, caller).with_query_ids())
            except NoGroupsError as error:
                if caller == OPTUNA:
                    raise RuntimeError(str(error)) from error
                raise
            # unpickled, it imports this package, so that strings are known to inner searches
            made[0].imported = PartialQueryWarning
            return made

        return make_task

    @wraps(delayed)
    def delayed_with_query_ids(function: Any) -> Any:
        is_task = getattr(function, "__name__", None) in TASKS
        return hooked(function) if is_task else delayed(function)

    return delayed_with_query_ids


def _concerns_queries(task: dict[str, Any]) -> bool:
    """Whether a task has a ranking metric, or an estimator that takes query ids."""
    if any(map(_is_ours, list_scorers(task.get("scorer")))):
        return True
    candidates = [task["estimator"], *(task.get("parameters") or {}).values()]
    if any(map(_takes_query_ids, candidates)):
        return True
    # an inner search whose folds are by the ids that the rows of our splitter carry
    _, model = _last_model(candidates[0])
    is_carried = isinstance(task.get("test"), FoldRows)
    return is_carried and isinstance(model, Search) and _reads_groups(model.cv)


def _is_ours(scorer: Any) -> bool:
    if isinstance(scorer, RankingScorer | PassthroughScorer):
        return ranks_queries(scorer)
    if isinstance(scorer, FunctionScorer):
        return is_of_metric_function(scorer) or calls_metric_function(scorer)
    return name_of_function(getattr(scorer, "func", scorer)) is not None


def calls_metric_function(scorer: Any) -> bool:
    """Whether a function of the user calls a metric function of this package without `groups`.

    Only its names are looked up, and no attribute of other modules, which may be lazy.
    """
    function = getattr(scorer, "_score_func", None)
    if not inspect.isfunction(function) or str(function.__module__).startswith("sklearn."):
        return False
    if "groups" in str(function.__code__.co_consts):
        return False
    names = set(function.__code__.co_names)
    values = [function.__globals__.get(name) for name in names]
    package = sys.modules[__name__.partition(".")[0]]
    if any(value is package for value in values):  # as in rs.ndcg_score
        values += [vars(package).get(name) for name in names]
    return any(name_of_function(value) for value in values)


def _takes_query_ids(estimator: Any) -> bool:
    """Whether its fit, or that of what it is made of, reads query ids."""
    if not hasattr(estimator, "get_params") or isinstance(estimator, type):
        return False
    _, model = _last_model(estimator)
    if isinstance(model, Search):
        return ranks_queries(scorer_of_search(model)) or _takes_query_ids(model.estimator)
    return bool(_rankers_in(estimator)) or _is_ranker(model)


def _is_ranker(model: Any) -> bool:
    return hasattr(type(model), "needs_query_ids")


def _rankers_in(estimator: Any) -> list[Any]:
    """Every `QueryRanker` that a fit of an estimator would fit, and that needs query ids."""
    attributes = getattr(estimator, "__dict__", {"": ()}).values()
    may_hold_others = [
        value
        for value in attributes
        if isinstance(value, list | tuple | dict) or hasattr(value, "get_params")
    ]
    if not may_hold_others and not _is_ranker(estimator):
        return []  # without its parameters, which take a while to list
    parts = [estimator, *estimator.get_params(deep=True).values()]
    frozen = [part for part in parts if isinstance(part, FrozenEstimator)]
    fitted = {id(inner) for part in frozen for inner in part.get_params(deep=True).values()}
    rankers = (part for part in parts if _is_ranker(part))
    return [part for part in rankers if id(part) not in fitted and part.needs_query_ids]


def find_groups_param(estimator: Any) -> tuple[str, Any]:
    """The fit parameter that takes query ids to the ranker, or "", and the ranker."""
    prefix, model = _last_model(estimator)
    takes_groups = isinstance(model, Search) or (
        hasattr(model, "fit") and has_fit_parameter(model, "groups")
    )
    return (f"{prefix}groups" if takes_groups else ""), model


def _last_model(estimator: Any) -> tuple[str, Any]:
    """What the names of its fit parameters start with, and the model that ranks."""
    model, prefix = last_step(estimator)
    while _has_target(model):
        model, inner = last_step(model.regressor)
        prefix += inner
    return prefix, model


def _has_target(estimator: Any) -> bool:
    """Whether it is a TransformedTargetRegressor, whose module is slow to import."""
    return hasattr(estimator, "regressor") and hasattr(estimator, "check_inverse")


def ignores_groups(search: Any) -> bool:
    """Whether a search inside of a search splits rows whatever their ids; refused if it ranks."""
    if not isinstance(search, Search) or _reads_groups(search.cv):
        return False
    if ranks_queries(scorer_of_search(search)) or _rankers_in(search.estimator):
        inner = f"the folds of the inner {type(search).__name__}"
        raise no_groups_error(inner, fix="give it cv=QueryKFold(3).")
    return True


def _reads_groups(cv: Any) -> bool:
    """Whether a splitter reads `groups`, as those of this package and GroupKFold do."""
    if not hasattr(cv, "split"):
        return False
    if not type(cv).__module__.startswith("sklearn."):  # which need not tell what it requests
        return "groups" in inspect.signature(cv.split).parameters
    return cv.get_metadata_routing().split.requests.get("groups") is True


def _call() -> tuple[Any, str]:
    """The `groups` of the call of scikit-learn that makes a task, and the module that called it.

    scikit-learn hands `groups` to the splitter alone, and its own splitters do not pass them on, so
    that only the frame of the call has them.
    """
    groups, frame = None, sys._getframe(1)
    while frame.f_back is not None:
        frame = frame.f_back
        module = str(frame.f_globals.get("__name__"))
        if module.partition(".")[0] not in ("sklearn", "joblib", __name__.partition(".")[0]):
            return groups, module
        if groups is None:
            routed: Any = frame.f_locals.get("routed_params")
            groups = routed.splitter.split.get("groups") if hasattr(routed, "splitter") else None
    return groups, ""


class _Task:
    """A fit of one fold, and its scores, whose arguments get query ids.

    Parameters
    ----------
    arguments : dict of str to object
        Those of the function of scikit-learn that fits and scores.
    groups : array-like or None
        The ids that the call was given.
    caller : str
        The module of the call.
    """

    def __init__(self, arguments: dict[str, Any], groups: Any, caller: str) -> None:
        self.arguments, self.caller = arguments, caller
        self.X, self.y = arguments["X"], arguments["y"]
        self.is_of_search = "candidate_progress" in arguments
        # joblib asks for all but the first tasks in other threads, which have configurations of
        # their own; but only metadata routing makes the parameters of a fit a Bunch
        is_routed = get_config()["enable_metadata_routing"]
        self.is_routed = is_routed or isinstance(arguments.get("fit_params"), Bunch)
        parameters = arguments.get("parameters") or {}
        replaced = {name: value for name, value in parameters.items() if hasattr(value, "fit")}
        base = arguments["estimator"]
        self.estimator = clone(base).set_params(**replaced) if replaced else base
        self.param, self.model = find_groups_param(self.estimator)
        self.base_param = find_groups_param(base)[0] if replaced else self.param
        self.scorers = list(filter(_is_ours, list_scorers(arguments.get("scorer"))))
        self.rankings = list(filter(ranks_queries, self.scorers))
        if "cv" in arguments and hasattr(self.X, "index") and hasattr(self.y, "set_axis"):
            # a permutation test has shuffled the labels together with their index
            self.y = arguments["y"] = self.y.set_axis(self.X.index)
        self.given = self._given_ids(groups)

    def with_query_ids(self) -> dict[str, Any]:
        """The arguments, with query ids for the fit and the scorers.

        Raises
        ------
        NoGroupsError
            If a ranker or a ranking metric needs query ids and none would reach it.
        """
        for scorer in self.scorers:
            self._check_scorer(scorer)
        for name in ("fit_params", "score_params"):
            values = self._params(name).items()
            of_rows = {k: v for k, v in values if k.rpartition("__")[2] in OF_ROWS}
            check_same_order(X=self.X, **of_rows)
            self._set(name, {key: _selectable(value, self.X) for key, value in values})
        if not self.is_routed:
            self._pass_to_fit()
        self._pass_to_scorers()
        self._check_queries()
        return self.arguments

    def _params(self, name: str) -> dict[str, Any]:
        return self.arguments.get(name) or {}

    def _set(self, name: str, values: dict[str, Any]) -> None:
        """Change parameters; a search fits again with those of its tasks."""
        if values and self.is_of_search:
            self.arguments[name].update(values)
        elif values:
            self.arguments[name] = {**self._params(name), **values}

    def _given_ids(self, groups: Any) -> Any:
        """The id of each row that the call was given, or that the rows of its splitter carry."""
        routed = self._params("score_params")
        candidates = [routed.get("qid"), routed.get("groups")] if self.is_routed else [groups]
        candidates += [getattr(self.arguments.get(n), "query_ids", None) for n in ("test", "train")]
        for ids in candidates:
            if ids is None or isinstance(ids, str) or num_samples(ids) != num_samples(self.X):
                continue
            check_same_order(X=self.X, groups=ids)
            return _selectable(ids, self.X)
        return None

    def _ids_in_data(self, model: Any) -> Any:
        """The ids that a ranker finds in X and y itself."""
        source = model.groups if _is_ranker(model) else None
        try:
            return find_query_ids(self.X, self.y, id_source=source)
        except NoGroupsError:
            if self.given is None:
                raise
            return None  # an array has no names

    def _check_scorer(self, scorer: Any) -> None:
        """Refuse what would score every fold wrongly, or as nan."""
        if (name := name_of_function(getattr(scorer, "func", scorer))) is not None:
            raise TypeError(
                f"scoring={display_name(scorer)} is a function of labels and scores, not a scorer: "
                f"use a name, such as scoring='ndcg@10', or make_ranking_scorer({name!r}, ...)."
            )
        if calls_metric_function(scorer) and index_ids(y=self.y) is None:
            fix = (
                "use scoring='ndcg@10' or make_scorer(ndcg_score, k=10), which get the ids; write "
                "groups=None in the function if its rows, or all documents, are one query."
            )
            raise no_groups_error(f"the metric function that {scorer!r} calls", fix=fix)
        ids = scorer._kwargs.get("groups") if is_of_metric_function(scorer) else None
        if ids is not None and self.arguments.get("test") is not None:
            raise ValueError(
                "make_scorer(..., groups=ids) passes the ids of all rows to each fold. Leave "
                "groups out there, and pass groups=ids and cv=QueryKFold(5) to this call."
            )
        parts = getattr(scorer, "parts", {"": scorer}).values()
        for part in (part for part in parts if isinstance(part, RankingScorer)):
            check_no_feature(part, self.estimator, self.X)
            if not self.is_routed:
                check_columns(part, self.X, self.y)

    def _pass_to_fit(self) -> None:
        """Give the ids to a fit that takes them and would not find them in the rows of X itself."""
        self._check_final_fit()
        of_ranker = {self.param, self.param.removesuffix("groups") + "qid"}
        if of_ranker & self._params("fit_params").keys():
            return
        ids = self._ids_for_fit() if self.param else None
        ids = None if ids is None or ignores_groups(self.model) else ids
        if self.param != self.base_param and (ids if self.param else self.given) is not None:
            every = "wrap every candidate of the search, and the model that they replace, in "
            raise self._error(f"{type(self.model).__name__}.fit", f"{every}QueryRanker.")
        if ids is None:
            self._check_fit()
        else:
            self._set("fit_params", {self.param: ids})

    def _ids_for_fit(self) -> Any:
        in_data = self._ids_in_data(self.model)
        if in_data is None or (isinstance(self.model, Search) and self.given is not None):
            return self.given
        if _has_target(self.estimator):
            return _selectable(in_data, self.X)  # which makes an array of y, without its index
        if self.model is self.estimator:
            return None
        # the steps before the ranker may drop the index of X; a column that they keep is a feature
        source = self.model.groups if _is_ranker(self.model) else None
        level = ids_in_index(self.X, QID if source is None else source)
        ids = in_data if level is None and self.given is not None else level
        return None if ids is None else _selectable(ids, self.X)

    def _check_fit(self) -> None:
        """Refuse a fit that would fail in each fold, or train without queries."""
        name, params = type(self.model).__name__, self._params("fit_params")
        own = [p for p in ("group", "group_id", "qid") if has_fit_parameter(self.model, p)]
        in_column = QID in own and QID in column_names(self.X)  # which XGBRanker reads
        is_given = any(p.rpartition("__")[2] in ("group_id", "qid") for p in params)
        ranks = name.endswith("Ranker") or bool(self.rankings)
        if ranks and own and not self.param and not (in_column or is_given):
            wrapped = f"wrap the ranker as QueryRanker({name}(...)), whose fit takes groups=ids."
            raise self._error(f"{name}.fit", wrapped)
        rankers = _rankers_in(self.estimator)
        # one around the others, the first, passes on what it finds
        for ranker in rankers[:1] if _is_ranker(self.estimator) else rankers:
            if self._ids_in_data(ranker) is None:
                raise self._error(f"{type(ranker.estimator).__name__}.fit")

    def _check_final_fit(self) -> None:
        """Refuse a search of Optuna whose trials are given ids that its final fit will not get."""
        names = {name.rpartition("__")[2] for name in self._params("fit_params")}
        is_given = self.caller == OPTUNA and self.given is not None and "qid" not in names
        needs_ids = is_given and _rankers_in(self.estimator)
        if needs_ids and self._ids_in_data(self.model) is None:
            call = f"fit(X, y, groups=ids, {self.param.removesuffix('groups')}qid=ids)"
            fix = f"have them in the index of X, as by X.set_index('qid'), or call {call}."
            raise self._error("the final fit of OptunaSearchCV", fix)

    def _pass_to_scorers(self) -> None:
        """Give the ids to ranking metrics that would not find them in the rows of X themselves."""
        missing = [
            scorer
            for scorer in self.rankings
            if not isinstance(scorer, RankingScorer)
            or find_query_ids(self.X, self.y, id_source=scorer.groups) is None
        ]
        if self.is_routed:
            missing = [s for s in missing if not isinstance(s, PassthroughScorer)]
            missing = [] if self._params("score_params") else missing
        if not missing:
            return
        ids = self._ids_in_data(self.model)
        # a search hands the same parameters to all of its tasks
        given = self._params("score_params").get("groups") if self.given is None else self.given
        ids = given if ids is None else ids
        if ids is not None and not self.is_routed:
            self.arguments.setdefault("score_params", {})
            self._set("score_params", {"groups": _selectable(ids, self.X)})
            scorer = self.arguments["scorer"]
            several = isinstance(scorer, MultimetricScorer)
            bound = ScorersWithIds(scorer) if several else partial(_score_with_ids, scorer)
            self.arguments["scorer"] = bound
        elif _needs_ids(self.y, self.estimator):
            routed = (
                "pass params={'groups': ids}, or fit(X, y, groups=ids) to a search, and let "
                "scorers request them, as they do unless set_score_request declines."
            )
            raise self._error(name_in_messages(missing[0]), routed if self.is_routed else None)

    def _error(self, caller: str, fix: str | None = None) -> NoGroupsError:
        return no_groups_error(caller, X=self.X if self.given is None else None, fix=fix)

    def _check_queries(self) -> None:
        """Refuse text as relevance, weights of documents; warn of a fold of parts of queries."""
        if not self.rankings and self.arguments.get("scorer") is not None:
            return
        source = getattr(self.rankings[0], "groups", None) if self.rankings else None
        ids = find_query_ids(self.X, self.y, groups=self.given, id_source=source)
        ids = self._ids_in_data(self.model) if ids is None else ids
        if ids is None:
            return
        if any(getattr(scorer, "target", None) is None for scorer in self.rankings):
            as_column(self.y, "y")
        self._check_weights(ids)
        test = self.arguments.get("test")
        if test is None or getattr(test, "is_whole", False):
            return
        codes = group_rows(ids, num_samples(self.X)).codes
        tested = np.bincount(codes[test], minlength=int(codes.max()) + 1)
        if ((tested > 0) & (tested < np.bincount(codes))).any():
            warn(
                "a test fold holds only some documents of its queries, which biases their metrics. "
                "Use QueryKFold or another splitter that keeps queries whole; for successive "
                "halving use QueryRanker, resource='max_queries' and max_resources=, the number of "
                "training queries of a fold.",
                PartialQueryWarning,
            )

    def _check_weights(self, ids: Any) -> None:
        """Refuse weights of documents that a search passes to its metrics of queries, too."""
        weights = None if self.is_routed else self._params("score_params").get("sample_weight")
        if weights is None or num_samples(weights) != num_samples(self.X):
            return  # the fit refuses a wrong number of them
        if self.rankings and vary_within_queries(weights, ids):
            raise ValueError(
                "sample_weight varies within a query, and a search weights "
                f"{name_in_messages(self.rankings[0])}, a mean over queries, as well. To weight "
                "training only, enable metadata routing, with set_fit_request(sample_weight=True) "
                "of the ranker and scoring="
                "make_ranking_scorer('ndcg@10').set_score_request(sample_weight=False)."
            )


def _selectable(ids: Any, X: Any) -> Any:
    """A Series in place of an index or array of pandas, of which scikit-learn selects no rows."""
    if hasattr(ids, "isna") and not hasattr(ids, "iloc"):
        series = sys.modules["pandas"].Series
        return series(ids, index=X.index if hasattr(X, "iloc") else None)
    return np.asarray(ids) if hasattr(ids, "to_pylist") else ids


def _needs_ids(y: Any, estimator: Any) -> bool:
    """Whether each row has one score; rows with a score for each class are queries themselves."""
    return np.ndim(y) == 1 and (not is_classifier(estimator) or type_of_target(y) == "binary")


# Without metadata routing, scikit-learn's own scorers refuse any parameter but `sample_weight`, so
# ids cannot be given to a list of scorers that holds one of them.
class ScorersWithIds(MultimetricScorer):
    """Several scorers that take `groups`; scikit-learn's own do not get them."""

    def __init__(self, scorers: Any) -> None:
        self.__dict__.update(vars(scorers))

    def __call__(self, estimator: Any, *args: Any, groups: Any, **params: Any) -> Any:
        """Score with the ids of these rows."""
        bound = copy.copy(self)
        bound._scorers = {name: bind(s, groups) for name, s in self._scorers.items()}
        return MultimetricScorer.__call__(bound, estimator, *args, **params)


def _score_with_ids(scorer: Any, *args: Any, groups: Any, **params: Any) -> Any:
    return bind(scorer, groups)(*args, **params)


def bind(scorer: Any, ids: Any) -> Any:
    """A scorer that uses `ids` where it finds none itself; others are returned unchanged."""
    if not ranks_queries(scorer):
        return scorer
    if isinstance(scorer, RankingScorer):
        return scorer.with_ids(ids)
    if isinstance(scorer, PassthroughScorer):
        inner = _default_scorer(scorer)
        # the score of a ranker, which pipelines and searches would give no ids
        return bind(inner, ids) if inner else partial(RankingScorer("ndcg"), qid=ids)
    bound = copy.copy(scorer)
    # a permutation test shuffles the labels together with their index
    aligned = ids.to_numpy() if hasattr(ids, "to_numpy") else ids
    bound._kwargs = {**scorer._kwargs, "groups": aligned}
    return bound


def ranks_queries(scorer: Any) -> bool:
    """Whether a scorer ranks the documents of each query, and so needs query ids."""
    if isinstance(scorer, RankingScorer):
        return scorer.groups not in WITHOUT_IDS
    if isinstance(scorer, PassthroughScorer):
        inner = _default_scorer(scorer)
        # `groups` of the score of other models may mean anything
        return ranks_queries(inner) if inner else _is_ranker(scorer._estimator)
    return is_of_metric_function(scorer) and "groups" not in scorer._kwargs


def _default_scorer(scorer: Any) -> Any:
    """The scorer by which the method `score` of a search or a pipeline scores, if it is one."""
    estimator = scorer._estimator
    if isinstance(estimator, Search):
        return scorer_of_search(estimator)
    return PassthroughScorer(estimator.steps[-1][1]) if is_pipeline(estimator) else None


def is_of_metric_function(scorer: Any) -> bool:
    """Whether `sklearn.metrics.make_scorer` made it of a metric function of this package."""
    if not isinstance(scorer, FunctionScorer):
        return False
    function = scorer._score_func
    while isinstance(function, partial):
        if "groups" in function.keywords:
            return False
        function = function.func
    return name_of_function(function) is not None


def scorer_of_search(search: Any) -> Any:
    """The scorer of the method `score` of a search; None if its fit will refuse `scoring`."""
    try:
        scorer = check_scoring(search.estimator, scoring=search.scoring)
    except (TypeError, ValueError):
        return None
    return scorer._scorers.get(search.refit) if isinstance(scorer, MultimetricScorer) else scorer


def name_in_messages(scorer: Any) -> str:
    """A scorer as messages name it."""
    if isinstance(scorer, RankingScorer):
        return f"the metric {scorer.metric!r}"
    if isinstance(scorer, PassthroughScorer):  # of which older versions show the class
        return f"the scorer {type(scorer._estimator).__name__}.score"
    return f"the scorer {scorer!r}"
