"""The one-standard-error rule: which candidate of a search to refit."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np

from .._typing import Array

Complexity: TypeAlias = str | Callable[[dict[str, Any]], float]


def one_standard_error(
    metric: str | None = None, *, complexity: Complexity | None = None
) -> Callable[[Mapping[str, Any]], int]:
    """Make a `refit` that selects the simplest candidate within one standard error of the best.

    Differences of less than one standard error are within the noise of cross-validation. By this
    rule [1]_, the eligible candidates are those with ::

        mean >= best mean - s / sqrt(number of folds)

    where s is the standard deviation of the best candidate's scores over the folds.

    Parameters
    ----------
    metric : str, default=None
        Name of the metric to compare, as given to `scoring`; None if there is only one.
    complexity : str or callable, default=None
        What to minimize among the eligible candidates. A str is the name of a numeric parameter, as
        in ``"estimator__max_depth"``; a minus sign before it means that larger values are simpler,
        as in ``"-estimator__alpha"``, and the value None (no limit) is the most complex. A callable
        is a function of the candidate's dict of parameters. None selects the first eligible
        candidate, which requires a grid in ascending order of complexity; do not use it in a
        randomized search.

    Returns
    -------
    callable
        ``refit(cv_results) -> index``, for `refit` of GridSearchCV and RandomizedSearchCV.

    Raises
    ------
    ValueError
        At the end of the search, if it has fewer than two folds, if no candidate has a score on
        every fold, or if `metric` or the parameter is not in the results.
    TypeError
        If `metric` is not a str, or `complexity` neither a str nor callable.

    See Also
    --------
    cross_val_query_scores : Compare models on queries instead of folds.

    Notes
    -----
    Among equally complex candidates the one with the best mean is selected. With a callable
    `refit`, scikit-learn does not set `best_score_`; it is
    ``cv_results_["mean_test_..."][best_index_]``. With several metrics, it does not know which one
    `score` of the search is to return, and raises a KeyError; use a scorer of one metric instead,
    as in ``make_ranking_scorer("ndcg@10")(search, X, y)``.

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
        raise TypeError(f"metric must be the name given to scoring, or None; got {metric!r:.80}.")
    if not (isinstance(complexity, str | None) or callable(complexity)):
        raise TypeError(
            "complexity must be the name of a parameter, a function of a dict of parameters, or "
            f"None; got {complexity!r}."
        )
    return functools.partial(_select_simplest, metric=metric, complexity=complexity)


def _select_simplest(
    cv_results: Mapping[str, Any], metric: str | None, complexity: Complexity | None
) -> int:
    scores = _fold_scores(cv_results, metric)
    means, n_folds = scores.mean(axis=1), scores.shape[1]
    if n_folds < 2:
        raise ValueError("one_standard_error needs at least two folds; the search had one.")
    if np.isnan(means).all():
        raise ValueError("no candidate has a score on every fold; one_standard_error needs one.")
    best = int(np.nanargmax(means))
    standard_error = scores[best].std(ddof=1) / np.sqrt(n_folds)
    eligible = np.flatnonzero(means >= means[best] - standard_error).tolist()
    if complexity is None:
        return int(eligible[0])
    complexities = _complexities(cv_results["params"], complexity)
    return int(min(eligible, key=lambda i: (complexities[i], -means[i])))


def _fold_scores(cv_results: Mapping[str, Any], metric: str | None) -> Array:
    """The score of each candidate on each fold."""
    prefix = "mean_test_"
    names = [key.removeprefix(prefix) for key in cv_results if key.startswith(prefix)]
    name = "score" if names == ["score"] else metric  # "score" is that of a single metric
    if name not in names or f"param_{str(metric).removeprefix('-')}" in cv_results:
        raise ValueError(
            f"one_standard_error({'' if metric is None else repr(metric)}) must name one of the "
            f"metrics of the search: {', '.join(map(repr, names))}. The name of a parameter is "
            "passed as complexity=."
        )
    folds: list[Array] = []
    while (key := f"split{len(folds)}_test_{name}") in cv_results:
        folds.append(cv_results[key])
    return np.column_stack(folds)


def _complexities(candidates: list[dict[str, Any]], complexity: Complexity) -> list[float]:
    """The complexity of each candidate."""
    if callable(complexity):
        return [float(complexity(params)) for params in candidates]
    name, sign = complexity.removeprefix("-"), -1 if complexity.startswith("-") else 1
    if lacking := [params for params in candidates if name not in params]:
        raise ValueError(
            f"complexity={complexity!r}: no parameter {name!r} in the candidate {lacking[0]}."
            + "".join(f" Did you mean {n!r}?" for n in lacking[0] if n.endswith(f"__{name}"))
        )
    try:
        return [np.inf if p[name] is None else sign * float(p[name]) for p in candidates]
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"complexity={complexity!r} must name a parameter with numbers ({error}). Pass a "
            "function of the dict of parameters instead."
        ) from error
