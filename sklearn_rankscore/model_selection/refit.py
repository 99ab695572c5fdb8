"""Which candidate of a search to refit."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..ranking.arrays import Array

Cost = str | Callable[[dict[str, Any]], float]
Complexity = Cost | None


def one_standard_error(
    metric: str | None = None, *, complexity: Complexity = None
) -> Callable[[Mapping[str, Any]], int]:
    """Make a `refit` that takes the simplest candidate within one standard error of the best.

    Differences that small are noise of the folds, and the simpler model is the safer one.
    ::

        mean >= best mean - s / sqrt(number of folds)

    where s is the standard deviation of the best candidate's folds.

    Parameters
    ----------
    metric : str, default=None
        Name of the metric that decides, as given to `scoring`; None if there is only one.
    complexity : str or callable, default=None
        What makes a candidate simple. The name of a parameter: smaller is simpler
        (``"estimator__max_depth"``), or larger is with a minus in front of it
        (``"-estimator__alpha"``); None as a value, no limit, is the least simple. A function of a
        candidate's dict of parameters: smaller is simpler. None: candidates stand in order,
        simplest first, which is right for a grid of one parameter listed that way and says
        nothing in a random search.

    Returns
    -------
    callable
        ``refit(cv_results) -> index``, for `refit` of GridSearchCV and RandomizedSearchCV.

    Raises
    ------
    ValueError
        When the search ends: if there are fewer than two folds, no candidate has a score, or the
        metric or parameter is not in the results.
    TypeError
        If `metric` is no name, or `complexity` neither a name nor a function.

    See Also
    --------
    cross_val_query_scores : Compare models by their queries instead of by folds.

    Notes
    -----
    Among equally simple candidates the best one wins. scikit-learn sets no `best_score_` for a
    callable `refit`; it stands in ``cv_results_`` at `best_index_`.

    References
    ----------
    .. [1] L. Breiman, J. H. Friedman, R. A. Olshen, C. J. Stone. Classification and Regression
       Trees. Wadsworth, 1984. Section 3.4.3.

    Examples
    --------
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> from sklearn_rankscore import QueryKFold, make_ranking, one_standard_error
    >>> X, y = make_ranking(as_frame=True, random_state=0)
    >>> search = GridSearchCV(
    ...     DecisionTreeRegressor(random_state=0),
    ...     {"max_depth": [2, 3, 4, 5]},
    ...     scoring=["ndcg@10", "map@10"],
    ...     refit=one_standard_error("ndcg@10", complexity="max_depth"),
    ...     cv=QueryKFold(5),
    ... )
    >>> search.fit(X, y).best_params_["max_depth"] <= 5
    True
    """
    if not isinstance(metric, str | None):
        raise TypeError(f"metric must be the name given to scoring, or None; got {metric!r}.")
    if not (isinstance(complexity, str | None) or callable(complexity)):
        raise TypeError(
            "complexity must be the name of a parameter, a function of a dict of parameters, or "
            f"None; got {complexity!r}."
        )
    return functools.partial(_simplest, metric=metric, complexity=complexity)


def _simplest(cv_results: Mapping[str, Any], metric: str | None, complexity: Complexity) -> int:
    folds = _fold_scores(cv_results, metric)
    means = folds.mean(axis=1)
    if folds.shape[1] < 2:
        raise ValueError("one_standard_error needs at least two folds; the search had one.")
    if np.isnan(means).all():
        raise ValueError("no candidate has a score on every fold; one_standard_error cannot pick.")
    best = int(np.nanargmax(means))
    error = folds[best].std(ddof=1) / np.sqrt(folds.shape[1])
    near = np.flatnonzero(means >= means[best] - error).tolist()
    if complexity is None:
        return int(near[0])
    cost = _costs(cv_results["params"], complexity)
    return int(min(near, key=lambda i: (cost[i], -means[i])))


def _fold_scores(cv_results: Mapping[str, Any], metric: str | None) -> Array:
    """Score of each candidate on each fold."""
    prefix, single = "mean_test_", "score"
    known = [key.removeprefix(prefix) for key in cv_results if key.startswith(prefix)]
    name = single if known == [single] else metric
    if name not in known:
        raise ValueError(
            f"one_standard_error({'' if metric is None else repr(metric)}) must name one of the "
            f"metrics of the search: {', '.join(map(repr, known))}."
        )
    folds: list[Array] = []
    while (key := f"split{len(folds)}_test_{name}") in cv_results:
        folds.append(cv_results[key])
    return np.column_stack(folds)


def _costs(candidates: list[dict[str, Any]], complexity: Cost) -> list[float]:
    """How complex each candidate is."""
    if callable(complexity):
        return [float(complexity(params)) for params in candidates]
    name, sign = complexity.removeprefix("-"), -1 if complexity.startswith("-") else 1
    if odd := [params for params in candidates if name not in params]:
        raise ValueError(
            f"complexity={complexity!r}: there is no parameter {name!r} in the candidate {odd[0]}."
        )
    try:
        return [np.inf if p[name] is None else sign * float(p[name]) for p in candidates]
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"complexity={complexity!r} must name a parameter with numbers ({error}); pass a "
            "function of the parameters instead."
        ) from error
