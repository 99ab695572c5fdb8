"""A ranking metric as a scikit-learn scorer."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cached_property
from typing import Any

import numpy as np
import sklearn
from sklearn.metrics import make_scorer
from sklearn.utils.metadata_routing import MetadataRequest, get_routing_for_object

from ..metrics.names import NamedMetric, measure, parse_name, resolve
from ..ranking import Queries, Ranking
from .carriers import Bound, find_groups, missing_groups
from .predictions import predicted, read_predicted, respond

# the base of scikit-learn's own scorers, whose instances alone share predictions and are accepted
# everywhere; found through a public function, because its name is private and about to change
BaseScorer: Any = type(make_scorer(len)).__mro__[1]

SINGLE_QUERY = "none"


def make_ranking_scorer(metric: Any, *, groups: Bound = None, **options: Any) -> RankingScorer:
    """Make a scorer from a ranking metric.

    Parameters
    ----------
    metric : str or callable
        A name such as ``"ndcg@10"`` or ``"map@5(threshold=1)"``, a metric function of this
        package, or any function of a block of ranked queries.
    groups : str or callable, default=None
        Where the query ids are: the name of a column or index level of X (or an index level of
        y), or a function of X; ``"none"`` takes all rows as one query. None looks for ``"qid"``
        in X, then in the index of y, then for routed `groups`.
    **options
        Options of the metric, such as ``k=10`` or ``gain="exponential"``.

    Returns
    -------
    RankingScorer
        A callable ``scorer(estimator, X, y, *, groups=None, qid=None, sample_weight=None)``, for
        the `scoring` of anything in scikit-learn. Higher is better. With metadata routing it
        requests `groups` and `qid`.

    Raises
    ------
    ValueError
        For an unknown metric or option.
    TypeError
        If `groups` holds ids instead of saying where they are, or `metric` is neither a name nor
        a function of a block.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn_rankscore import QueryKFold, make_ranking, make_ranking_scorer
    >>> X, y = make_ranking(as_frame=True, random_state=0)
    >>> scorer = make_ranking_scorer("ndcg@10", gain="exponential")
    >>> cross_val_score(Ridge(), X, y, scoring=scorer, cv=QueryKFold(3)).shape
    (3,)
    """
    return RankingScorer(metric, groups, options)


class RankingScorer(BaseScorer):
    """What `make_ranking_scorer` returns and a name such as ``"ndcg@10"`` stands for."""

    def __init__(self, metric: Any, groups: Bound, options: dict[str, Any]) -> None:
        self.metric, self.options = metric, dict(options)
        if isinstance(metric, str) and "groups" in (named := dict(parse_name(metric)[1])):
            groups = SINGLE_QUERY if named["groups"] is None else named["groups"]
        if not isinstance(groups, Hashable):
            raise TypeError(
                "groups must be the name of a column or index level, or a function of X; got "
                f"{type(groups).__name__}. Ids of given rows go with fit, split or score."
            )
        self.groups = groups
        self.named  # noqa: B018 - a wrong name or option is an error now, not at the first fold
        kwargs = {"metric": metric, "bound": groups, "options": self.options}
        methods = ("decision_function", "predict_proba", "predict")
        super().__init__(score_labels, 1, kwargs, methods)

    @cached_property
    def named(self) -> NamedMetric:
        """The metric, ready to be computed."""
        return _named(self.metric, self.options)

    def __getstate__(self) -> dict[str, Any]:
        # the ready metric holds functions made on the fly, and is made again from its name
        return {name: value for name, value in vars(self).items() if name != "named"}

    def __repr__(self) -> str:
        shown = [repr(self.metric)]
        if self.groups is not None and "groups" not in str(self.metric):
            shown.append(f"groups={self.groups!r}")
        shown += [f"{name}={value!r}" for name, value in self.options.items()]
        return f"make_ranking_scorer({', '.join(shown)})"

    _routing_repr = __repr__

    def _accept_sample_weight(self) -> bool:
        return True

    def __call__(
        self,
        estimator: Any,
        X: Any,
        y_true: Any,
        *,
        groups: Any = None,
        qid: Any = None,
        sample_weight: Any = None,
    ) -> float:
        """Score the predictions of `estimator` for `X`.

        Parameters
        ----------
        estimator : object
            A fitted estimator; classifiers give decision values, others predictions.
        X : array-like or DataFrame of shape (n_documents, n_features)
            Documents.
        y_true : array-like of shape (n_documents,)
            Relevance.
        groups, qid : array-like of shape (n_documents,), default=None
            Query ids; `qid` comes before ids that travel with the data, `groups` after them.
        sample_weight : array-like of shape (n_documents,), default=None
            Weights, constant within a query.

        Returns
        -------
        float
            The score; higher is better.
        """
        return self._score(respond, estimator, X, y_true, groups, qid, sample_weight)

    def _score(
        self,
        method_caller: Callable[..., Any],
        estimator: Any,
        X: Any,
        y_true: Any,
        groups: Any = None,
        qid: Any = None,
        sample_weight: Any = None,
    ) -> float:
        # scikit-learn hands the scorers of one call the same cache of predictions; the sorted
        # queries are kept in it beside them, so that more metrics cost no further sort
        cache = next((a for a in getattr(method_caller, "args", ()) if isinstance(a, dict)), None)
        given = (estimator, X, y_true, groups, qid, sample_weight)
        key = ("sklearn_rankscore", self.groups, *map(id, given))
        if cache is not None and key in cache:
            queries, ranking, _ = cache[key]
        else:
            ids = self._ids(X, y_true, groups, qid)
            scores = predicted(method_caller, estimator, X, as_one=ids is not None)
            queries = read_predicted(
                estimator, y_true, scores, ids, sample_weight, repr(self.metric)
            )
            ranking = None
            if cache is not None:
                ranking = Ranking(queries).keep()
                cache[key] = queries, ranking, given  # what is referred to cannot change its id
        return _value(self.named, queries, ranking)

    def _ids(self, X: Any, y: Any, groups: Any, qid: Any) -> Any:
        if isinstance(self.groups, str) and self.groups == SINGLE_QUERY:
            return np.zeros(len(y), dtype=int)
        return find_groups(X, y, groups=groups, qid=qid, bound=self.groups)

    # Requests are built here from public objects, because a class attribute
    # __metadata_request__score is ignored by scikit-learn 1.8 and forgotten by 1.9.
    def get_metadata_routing(self) -> MetadataRequest:
        """Metadata this scorer asks for: `groups` and `qid`."""
        if "_metadata_request" in vars(self):
            return get_routing_for_object(self._metadata_request)
        owner = self if hasattr(BaseScorer, "_routing_repr") else type(self).__name__
        request = MetadataRequest(owner=owner)
        for name, wanted in (("groups", True), ("qid", True), ("sample_weight", None)):
            request.score.add_request(param=name, alias=wanted)
        return request

    _get_metadata_request = get_metadata_routing

    def set_score_request(self, **kwargs: Any) -> RankingScorer:
        """Change what metadata routing passes, such as ``groups="session_id"``.

        Parameters
        ----------
        **kwargs
            `groups`, `qid` or `sample_weight`: True, False, None or the name it is passed under.

        Returns
        -------
        RankingScorer
            The scorer itself.
        """
        if not sklearn.get_config()["enable_metadata_routing"]:
            raise RuntimeError(
                "This method is only available when metadata routing is enabled. You can enable "
                "it using sklearn.set_config(enable_metadata_routing=True)."
            )
        request = self.get_metadata_routing()
        for name, wanted in kwargs.items():
            if name not in ("groups", "qid", "sample_weight"):
                raise TypeError(
                    f"a ranking scorer can request groups, qid and sample_weight; got {name!r}."
                )
            request.score.add_request(param=name, alias=wanted)
        self._metadata_request = request
        return self


def score_labels(
    y_true: Any,
    y_score: Any,
    *,
    groups: Any = None,
    qid: Any = None,
    sample_weight: Any = None,
    metric: Any = "ndcg",
    bound: Bound = None,
    options: dict[str, Any] | None = None,
) -> float:
    """Score predictions without their X, as threshold tuning does: ids come with y or routing."""
    if isinstance(bound, str) and bound == SINGLE_QUERY:
        ids = np.zeros(len(y_true), dtype=int)
    elif callable(bound) and qid is None:
        raise missing_groups(f"the metric {metric!r}, whose groups={bound!r} needs an X")
    else:
        # a column of X cannot be looked up here, but y may carry it as an index level
        ids = find_groups(None, y_true, groups=groups, qid=qid, bound=bound)
    queries = read_predicted(None, y_true, np.asarray(y_score), ids, sample_weight, repr(metric))
    return _value(_named(metric, options or {}), queries, None)


def _named(metric: Any, options: dict[str, Any]) -> NamedMetric:
    if isinstance(metric, str):
        # groups= is the scorer's own option, the metric knows nothing of it
        name, named = parse_name(metric)
        if "groups" in dict(named):
            own = {option: value for option, value in named if option != "groups"}
            metric, options = name, {**options, **own}
    named_metric = resolve(metric, **options)
    if named_metric.average is None:
        raise ValueError("a scorer needs one number; average=None gives one per query.")
    return named_metric


def _value(named: NamedMetric, queries: Queries, ranking: Ranking | None) -> float:
    (values,) = measure(queries, [named], ranking=ranking)
    return float(named.aggregate(values, queries))


__all__ = ["RankingScorer", "make_ranking_scorer"]
