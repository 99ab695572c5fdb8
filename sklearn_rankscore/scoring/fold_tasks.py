"""What happens to the tasks of cross-validation and searches before they run."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

import numpy as np
from sklearn import config_context, get_config

from .._sklearn_compat import list_scorers, num_samples
from ..query_ids import vary_within_queries
from ..query_ids.fold_rows import MarkedFolds, marked_as_queries
from ..query_ids.lookup import check_same_rows
from ..query_ids.optuna_search import not_nan_in_optuna
from ..query_ids.row_order import check_same_order
from ..ranking import read_queries
from ..ranking.shapes import SINGLE_QUERY
from .call_groups import CallGroups
from .columns import check_columns, check_no_feature
from .partial_queries import FoldChecker
from .pipelines import is_pipeline
from .scorer import WITHOUT_IDS, RankingScorer
from .scorers_with_ids import check_function, query_rankers_in
from .task_ids import ids_of_metrics, pass_query_ids
from .tasks import FoldTask
from .weighted_sum import WeightedScorer

# parameters with one value for each row of X
OF_ROWS = ("groups", "qid", "sample_weight", "propensity", "target")
# where functions come from that are known not to rank the rows of several queries as one
KNOWN = ("sklearn.metrics", "sklearn_rankscore.")


def prepare_tasks(tasks: Iterable[Any], call_groups: CallGroups) -> Iterator[Any]:
    """Tasks of one parallel call, with query ids; warns once if folds split queries."""
    checker = FoldChecker()
    # with the objects themselves, whose ids may be those of others once they die
    checked: dict[tuple[int, int], tuple[Any, Any]] = {}
    # joblib prepares all but the first tasks in other threads, of which each has a configuration
    config = get_config()

    def prepare(task: FoldTask) -> None:
        checker.check(task)
        if (inputs := (id(task.scorer), id(task.X))) not in checked:
            checked[inputs] = task.scorer, task.X
            check_scorers(task)
        _pass_ids(task)

    for function, args, kwargs in tasks:
        with config_context(**config):
            task = FoldTask(function, args, kwargs, call_groups)
            try:
                prepare(task)
            except ValueError as error:
                raise not_nan_in_optuna(error) from error
        yield task.as_tuple()


def prepared(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that fits a fold, called with query ids."""

    @functools.wraps(function)
    def prepared_call(*args: Any, **kwargs: Any) -> Any:
        task = FoldTask(function, args, kwargs, CallGroups.read())
        check_scorers(task)
        _pass_ids(task)
        return function(**task.arguments)

    return prepared_call


def _pass_ids(task: FoldTask) -> None:
    """Pass query ids on to the fit and the scorers of a task whose labels no metric refuses."""
    check_labels(task)
    check_pairs(task.candidate, task.fit_params)
    if task.fits:
        pass_query_ids(task)
        _mark_queries(task)


def check_scorers(task: FoldTask) -> None:
    """Refuse scorers that cannot score a fold, because scikit-learn would turn errors into nan."""
    for scorer in list_scorers(task.scorer):
        check_function(scorer, task.test)
    for scorer in _metrics(task):
        check_no_feature(scorer, task.estimator, task.X)
        if not (task.is_routed and task.score_params):
            check_columns(scorer, task.X, task.y)
    if _metrics(task) or any(query_rankers_in(task.estimator)):
        _check_order(task)
    _check_weights(task)


def _check_order(task: FoldTask) -> None:
    """Refuse labels and parameters whose rows are in another order than those of X."""
    if not task.permutes_labels:
        check_same_rows(X=task.X, y=task.y)
    for params in (task.fit_params, task.score_params):
        of_rows = {p: v for p, v in params.items() if p.rpartition("__")[2] in OF_ROWS}
        check_same_order(X=task.X, **of_rows)


def _mark_queries(task: FoldTask) -> None:
    """Mark rows of several queries, which a function of the user must not rank as one."""
    functions = (getattr(s, "_score_func", s) for s in list_scorers(task.scorer))
    if all(str(getattr(f, "__module__", "")).startswith(KNOWN) for f in functions):
        return
    if (codes := task.query_codes()) is None:
        return
    for name in {"train", "test"} & task.arguments.keys():
        task.arguments[name] = marked_as_queries(task.arguments[name], codes)
    if "cv" in task.arguments:  # a permutation test splits within its task
        task.arguments["cv"] = MarkedFolds(task.arguments["cv"], codes)


def check_labels(task: FoldTask) -> None:
    """Refuse labels that a metric refuses, such as negative ones, among the rows to be scored."""
    metrics = [s for s in _metrics(task) if s.groups not in WITHOUT_IDS]
    if not metrics:
        return
    labels = np.asarray(task.y)
    # labels of NaN are refused by the fit, which names what to train on
    if labels.ndim != 1 or labels.dtype.kind not in "iuf" or np.isnan(labels).any():
        return
    if task.test is not None and not task.arguments.get("return_train_score"):
        labels = labels[task.test]
    try:
        queries = read_queries(labels, np.zeros(len(labels)), groups=SINGLE_QUERY)
        for scorer in metrics:
            if scorer.target is None and "target" not in task.score_params:
                scorer.resolved.check(queries)
    except ValueError:
        if ids_of_metrics(task) is not None:  # otherwise they may be classes
            raise


def check_pairs(estimator: Any, fit_params: Mapping[str, Any]) -> None:
    """Refuse pairs of rows for a fold, whose rows have other numbers."""
    given = [name for name, value in fit_params.items() if value is not None]
    pairs = [name for name in given if name.rpartition("__")[2] == "pairs"]
    if pairs and any(map(_is_of_catboost, query_rankers_in(estimator))):
        raise ValueError(
            f"{pairs[0]} number the rows of the whole data, but cross-validation and searches fit "
            "on some of the rows, which have other numbers. Choose:\n"
            "- no pairs: CatBoost makes them from the labels, as for loss_function='PairLogit', "
            "or needs none, as for 'YetiRank';\n"
            "- fit each fold yourself, with pairs of its rows: for train, test in "
            "QueryKFold(5).split(X, y, groups): ranker.fit(X[train], y[train], "
            "groups=groups[train], pairs=pairs_of_fold)."
        )


def _is_of_catboost(query_ranker: Any) -> bool:
    ranker = query_ranker.estimator
    while is_pipeline(ranker):
        ranker = ranker.steps[-1][1]
    return any(of.__module__.partition(".")[0] == "catboost" for of in type(ranker).__mro__)


def _check_weights(task: FoldTask) -> None:
    """Refuse weights of rows, which scikit-learn passes on from the fit to the scorer."""
    weights = task.score_params.get("sample_weight")
    if weights is None:
        return
    ids = ids_of_metrics(task)
    if ids is None or num_samples(ids) != num_samples(weights):
        return
    if vary_within_queries(weights, ids):
        raise ValueError(
            "sample_weight varies within a query, but ranking metrics average over queries, and "
            "scikit-learn passes weights to the metric as well. To weight rows in training alone:\n"
            "- sklearn.set_config(enable_metadata_routing=True);\n"
            "- QueryRanker(...).set_fit_request(sample_weight=True) as the estimator;\n"
            "- scoring=make_ranking_scorer(...).set_score_request(sample_weight=False)."
        )


def _metrics(task: FoldTask) -> list[RankingScorer]:
    """The ranking metrics among the scorers, and in sums of them."""
    return list(chain.from_iterable(map(_single_metrics, list_scorers(task.scorer))))


def _single_metrics(scorer: Any) -> Iterable[RankingScorer]:
    """The scorer, or the parts of a weighted sum, if they are ours."""
    if isinstance(scorer, WeightedScorer):
        return scorer.parts.values()
    return [scorer] if isinstance(scorer, RankingScorer) else []
