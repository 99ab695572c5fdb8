"""Query ids for the fits and scores of cross-validation and searches, without metadata routing.

scikit-learn hands `groups` to the splitter alone. Here they are passed on to each fit and score of
the same call, and so are ids that the row indices of a splitter of this package carry. A call in
which no ids would arrive is refused before its first fit.
"""

from __future__ import annotations

import inspect
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.compose import TransformedTargetRegressor
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import has_fit_parameter

from .._columns import column_names
from .._sklearn_calls import calling_estimator
from .._sklearn_compat import Search, num_samples
from ..query_ids import NoGroupsError, find_query_ids, no_groups_error
from ..query_ids.lookup import QID, fix_by_name, ids_in_index, wrap_fix
from ..query_ids.optuna_search import optuna_search
from .pipelines import is_pipeline
from .scorers_with_ids import (
    finds_ids_after_steps,
    follows_steps,
    name_in_messages,
    query_ids_for,
    rankers_in,
    scorers_of_queries,
    scorers_of_search,
    takes_groups,
)
from .tasks import FoldTask

# packages whose rankers fail without query ids
OF_RANKERS = {"lightgbm", "xgboost", "catboost"}


def pass_query_ids(task: FoldTask) -> None:
    """Pass the ids that the splitter was given to the fit and the scorers of one task.

    Raises
    ------
    NoGroupsError
        If the ranker or a ranking metric needs query ids and none would reach it.
    """
    _pass_to_fit(task, task.candidate)
    _pass_to_scorers(task, task.candidate)
    if _concerns_queries(task, find_groups_param(task.candidate)[1]):
        task.make_selectable()


def _concerns_queries(task: FoldTask, last: Any) -> bool:
    """Whether the task, or the splitter of an inner search, takes query ids."""
    return task.takes_ids or (isinstance(last, Search) and _reads_groups(last.cv))


def _pass_to_fit(task: FoldTask, estimator: Any) -> None:
    param, last = find_groups_param(estimator)
    given = task.fit_params
    if given and task.is_routed:
        return
    if not param:
        task.call_groups.without = last
        given.pop(task.call_groups.optional, None)
        _check_candidates(task)
    elif _is_given(task, param, last):
        return
    _check_ranker(task, last)
    if not _concerns_queries(task, last):
        return
    ids = _ids_for_fit(task, estimator, last, in_pipeline="__" in param)
    if param and ids is not None and not ignores_groups(last):
        if _all_take_ids(task, param, last):
            task.pass_to_fit(param, ids)
        return
    for ranker in rankers_in(estimator):
        if _ids_in_data(task, ranker) is None and not _reads_steps(task, ranker):
            is_alone = task.carried_ids is None or ranker is last
            fix = _fix(task) if is_alone else wrap_fix(type(last).__name__)
            raise no_groups_error(f"{type(ranker.estimator).__name__}.fit", fix=fix)


def _is_given(task: FoldTask, param: str, last: Any) -> bool:
    """Whether the fit is already given query ids."""
    is_given = not {param, param.removesuffix("groups") + "qid"}.isdisjoint(task.fit_params)
    if is_given and task.ranks_queries and param == task.call_groups.optional:
        task.call_groups.given = last
        _check_candidates(task)
    return is_given


def _all_take_ids(task: FoldTask, param: str, last: Any) -> bool:
    """Whether no other candidate of a search takes none; refused if this one needs ids."""
    groups = task.call_groups
    if task.ranks_queries or isinstance(last, Search):
        _check_optuna(param)
        groups.given = last
        _check_candidates(task)
    elif groups.without is None:
        groups.optional = param
    return groups.without is None


def _check_candidates(task: FoldTask) -> None:
    """Refuse a search whose candidates, which are all given the same, do not all take ids."""
    without = task.call_groups.without
    if task.call_groups.given is not None and without is not None:
        raise no_groups_error(
            f"{type(without).__name__}.fit",
            fix="wrap every candidate of the search in QueryRanker.",
        )


def _ids_for_fit(task: FoldTask, estimator: Any, ranker: Any, *, in_pipeline: bool) -> Any:
    """Ids that the ranker, or the splitter of a search, would not find in the data itself."""
    if _reads_steps(task, ranker) and not _is_named(ranker):
        return None
    in_data = _ids_in_data(task, ranker)
    if in_data is None or (isinstance(ranker, Search) and task.carried_ids is not None):
        return task.carried_ids
    if isinstance(estimator, TransformedTargetRegressor):
        return in_data  # which makes an array of y, without its index
    if not in_pipeline:
        return None
    # the steps before the ranker may drop the index of X; a column that they keep is a feature
    source = getattr(ranker, "groups", None)
    level = ids_in_index(task.X, QID if source is None else source)
    return in_data if level is None and task.carried_ids is not None else level


def find_groups_param(estimator: Any, prefix: str = "") -> tuple[str, Any]:
    """The fit parameter that takes query ids to the ranker, or "", and the ranker."""
    if is_pipeline(estimator):
        name, last = estimator.steps[-1]
        return find_groups_param(last, f"{prefix}{name}__")
    if isinstance(estimator, TransformedTargetRegressor):
        return find_groups_param(estimator.regressor, prefix)
    takes_groups = isinstance(estimator, Search) or (
        hasattr(estimator, "fit") and has_fit_parameter(estimator, "groups")
    )
    return (f"{prefix}groups" if takes_groups else ""), estimator


def _check_ranker(task: FoldTask, ranker: Any) -> None:
    """Refuse a ranker whose own parameter for queries cannot be aligned with the rows of a fold."""
    own = [p for p in ("group", "group_id") if has_fit_parameter(ranker, p)]
    own = own if hasattr(ranker, "predict") and not has_fit_parameter(ranker, "groups") else []
    # other models have such parameters too: of features, or for one of their objectives
    packages = {cls.__module__.partition(".")[0] for cls in type(ranker).__mro__}
    is_ranker = type(ranker).__name__.endswith("Ranker") and packages & OF_RANKERS
    if not (task.ranks_queries or is_ranker):
        return
    # sizes of queries cannot be selected with the rows of a fold
    of_rows = ("group_id", "qid") if is_ranker else ("group", "group_id", "qid")
    if own and not any(
        name.rpartition("__")[2] in of_rows and len(ids) == num_samples(task.X)
        for name, ids in task.fit_params.items()
    ):
        name = type(ranker).__name__
        if has_fit_parameter(ranker, "qid") and QID in column_names(task.X):
            return  # XGBRanker reads this column
        raise no_groups_error(f"{name}.fit", fix=wrap_fix(name, "the ranker"))


def ignores_groups(search: Any) -> bool:
    """Whether a search inside of a search splits rows whatever their ids; refused if it ranks."""
    if not isinstance(search, Search) or _reads_groups(search.cv):
        return False
    if scorers_of_queries(scorers_of_search(search)) or any(rankers_in(search.estimator)):
        raise no_groups_error(
            f"the folds of the inner {type(search).__name__}", fix="give it cv=QueryKFold(3)."
        )
    return True


def _reads_groups(cv: Any) -> bool:
    """Whether a splitter reads `groups`, as those of this package and GroupKFold do."""
    if not hasattr(cv, "split"):
        return False
    if not type(cv).__module__.startswith("sklearn."):  # which need not tell what it requests
        return "groups" in inspect.signature(cv.split).parameters
    return cv.get_metadata_routing().split.requests.get("groups") is True


def _check_optuna(param: str) -> None:
    """Refuse a search of Optuna, whose final fit does not get what is passed to the trials."""
    search = optuna_search()
    if getattr(search, "refit", False):
        also = param.removesuffix("groups") + "qid"
        raise no_groups_error(
            f"the final fit of {type(search).__name__}",
            fix=f"call fit(X, y, groups=ids, {also}=ids), or have the ids in the index of X.",
        )


def ids_of_metrics(task: FoldTask) -> Any:
    """The id of each row; None if no metric ranks queries, or no ids are known."""
    if not (scorers := scorers_of_queries(task.scorer)):
        return None
    ids = query_ids_for(scorers[0], task.X, task.y, task.score_params)
    return ids_of_rows(task, task.candidate) if ids is None else ids


def ids_of_rows(task: FoldTask, estimator: Any) -> Any:
    """Ids where the ranker finds them in the data, or else those of the splitter.

    Those of the splitter may be coarser.
    """
    _, ranker = find_groups_param(estimator)
    ids = _ids_in_data(task, ranker)
    return find_query_ids(task.X, task.y, groups=task.carried_ids) if ids is None else ids


def _reads_steps(task: FoldTask, ranker: Any) -> bool:
    """Whether a ranker reads its ids from what the steps before it return, and not from X."""
    return getattr(ranker, "groups", None) is not None and follows_steps(ranker, task.candidate)


def _is_named(ranker: Any) -> bool:
    """Whether a ranker reads its ids by name, and not by a position or a function."""
    return not (isinstance(ranker.groups, Integral) or callable(ranker.groups))


def _ids_in_data(task: FoldTask, ranker: Any) -> Any:
    if _reads_steps(task, ranker) and not _is_named(ranker):
        return None  # in X, the column of this position may be another one
    try:
        return find_query_ids(task.X, task.y, id_source=getattr(ranker, "groups", None))
    except NoGroupsError:
        # the steps of a pipeline may add the column, and other models may mean something else
        is_ours = ranker is task.candidate and hasattr(ranker, "needs_query_ids")
        if is_ours and task.carried_ids is None:
            raise
        return None


def _pass_to_scorers(task: FoldTask, estimator: Any) -> None:
    params = task.score_params
    if params and task.is_routed:
        return
    missing = [
        scorer
        for scorer in scorers_of_queries(task.scorer)
        if query_ids_for(scorer, task.X, task.y, params) is None
    ]
    if not missing:
        return
    # a metric function does not see X, and a pipeline may drop its ids
    ids = ids_of_rows(task, estimator)
    if ids is not None:
        task.pass_to_scorer(takes_groups(task.scorer), ids)
    elif _needs_ids(task.y, estimator) and not (
        _reads_steps(task, find_groups_param(estimator)[1])
        and all(finds_ids_after_steps(scorer, estimator) for scorer in missing)
    ):
        raise no_groups_error(name_in_messages(missing[0]), fix=_fix(task))


def _needs_ids(y: Any, estimator: Any) -> bool:
    """Whether each row has one score; rows with a score for each class are queries themselves."""
    if np.ndim(y) != 1:
        return False
    try:
        return not is_classifier(estimator) or type_of_target(y) == "binary"
    except AttributeError:  # a duck-typed estimator, of which nothing is known
        return False


def _fix(task: FoldTask) -> str:
    if task.divides_groups:
        return (
            "the folds divide the queries of groups=. Use cv=QueryKFold(5) or another splitter "
            "that keeps them whole."
        )
    if task.is_routed and task.has_groups:
        return (
            "with metadata routing, what needs groups requests them: a metric by "
            "make_ranking_scorer('ndcg@10').set_score_request(groups=True), a ranker by "
            "set_fit_request(groups=True). In place of a default scoring, write scoring='ndcg@10'."
        )
    if calling_estimator() == "SequentialFeatureSelector":  # whose fit takes no groups
        return (
            "wrap all as QueryRanker(make_pipeline(SequentialFeatureSelector(..., "
            "cv=QueryKFold(5)), model)), whose fit takes groups=ids."
        )
    if task.carried_ids is not None:
        return (
            "scikit-learn passes groups no further than to the splitter here. Pass the ids in the "
            "data: X = pd.DataFrame(X, index=pd.Index(ids, name='qid'))."
        )
    if change := fix_by_name(task.X):
        return change
    if column_names(task.X):
        return "make the column that holds them an index level 'qid' of X: X.set_index('qid')."
    return "pass groups=ids and cv=QueryKFold(5) to this call."
