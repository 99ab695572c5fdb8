"""Metrics of one ranking under the conventions of each library."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, TypeAlias

from numpy.typing import ArrayLike

from .._table import Number, Table, number_text
from .._typing import QueryIds, Unjudged
from .._validation import check_count, check_flag
from ..metrics.conventions import CONVENTIONS
from ..metrics.metric import measure
from ..metrics.names import METRICS, parse_name
from ..metrics.resolve import list_metrics, resolve_all, resolve_each
from ..ranking import Queries, read_queries
from .render import TableText

ConventionReport: TypeAlias = dict[str, dict[str, float | None]]
Options: TypeAlias = tuple[tuple[str, Any], ...]
Values: TypeAlias = dict[tuple[str, Options], Any]


def convention_report(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    groups: QueryIds | None = None,
    metrics: str | Iterable[str] = ("ndcg@5", "map@5"),
    unjudged: Unjudged = "error",
    digits: int = 4,
    output_dict: bool = False,
) -> Any:
    """Compute metrics of one ranking with the conventions of each library.

    The first row has the defaults of this package, each other row the conventions of one library,
    as selected by ``like=``. If a published value differs from yours, the row that contains it
    shows which definitions were used, and the second table how much each of them matters for these
    data.

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Relevance labels, finite numbers; higher is more relevant.
    y_score : array-like of the same shape as `y_true`
        Scores; higher ranks first. -inf means not retrieved; NaN is an error.
    groups : array-like of shape (n_documents,), default=None
        Query ids of any hashable dtype, in any row order. None takes those of an index level
        ``qid`` of `y_true` or `y_score`; without one, all documents are a single query, or each
        row of 2-D input is one.
    metrics : str or iterable of str, default=("ndcg@5", "map@5")
        Names such as ``"ndcg@10"`` or ``"recall@20(threshold=1)"``. An option in a name applies to
        all libraries.
    unjudged : {"error", "irrelevant", "drop"}, default="error"
        Rule of the metrics for documents with label NaN, as in `evaluate`.
    digits : int, default=4
        Number of decimals in the text.
    output_dict : bool, default=False
        Whether to return a dict of unrounded numbers instead of the text.

    Returns
    -------
    str or dict of str to dict of str to float
        The tables; or the value of each metric by library, ``"default"`` first. If a library does
        not have a metric, or its conventions do not fit these labels, the value is "-" in the table
        and None in the dict. Some libraries themselves refuse labels that their conventions fit.

    Raises
    ------
    ValueError
        For a name that is unknown or contains ``like=``, and for whatever the metric functions
        refuse.
    TypeError
        If `metrics` contains anything but names.

    See Also
    --------
    evaluate : The values with one convention, selected by ``like=``.
    sklearn.metrics.classification_report : A report on a classifier.

    Notes
    -----
    The libraries are not run and need not be installed. Each row was compared with the output of
    its library. They differ in ties, queries without relevant documents, gains and denominators. If
    the value of a library is due to a defect, its row shows the value without this defect.

    The effect of an option is the change that it makes, averaged over all orders in which the
    options of the library could be changed one after the other; the effects add up to the
    difference.

    Examples
    --------
    >>> from sklearn_rankscore import convention_report
    >>> y_true = [2, 0, 1, 0, 1, 0, 0]
    >>> y_score = [0.3, 0.3, 0.1, 0.9, 0.4, 0.2, 0.1]
    >>> groups = ["a", "a", "a", "b", "b", "c", "c"]
    >>> print(convention_report(y_true, y_score, groups=groups, metrics="map@5", digits=2))
                  map@5
    default        0.40
    sklearn           -
    lightgbm       0.78
    xgboost        0.78
    catboost       0.36
    trec_eval      0.36
    ranx           0.44
    torchmetrics   0.40
    rax            0.44
    beir           0.36
    implicit       0.60
    recommenders   0.60
    rectools       0.60
    recbole        0.60
    <BLANKLINE>
    Why the values differ from the default
    metric  library       difference  because of, the largest effect first
    map@5   lightgbm           +0.37  undefined queries as 1 +0.33, ties=stable +0.04
    map@5   xgboost            +0.37  undefined queries as 1 +0.33, ties=stable +0.04
    map@5   catboost           -0.04  ties=pessimistic -0.04
    map@5   trec_eval          -0.04  ties=reversed -0.04
    map@5   ranx               +0.04  ties=stable +0.04
    map@5   rax                +0.04  ties=stable +0.04
    map@5   beir               -0.04  ties=reversed -0.04
    map@5   implicit           +0.20  undefined queries left out +0.20
    map@5   recommenders       +0.20  undefined queries left out +0.20
    map@5   rectools           +0.20  undefined queries left out +0.20
    map@5   recbole            +0.20  undefined queries left out +0.20
    """
    digits, as_dict = check_count("digits", digits, 0), check_flag("output_dict", output_dict)
    names = _check_names(metrics)
    queries = read_queries(y_true, y_score, groups=groups)
    options = {of: {name: _options(name, of) for name in names} for of in ("default", *CONVENTIONS)}
    given = [(name, of[name] or ()) for of in options.values() for name in names]
    changed = [] if as_dict else [(name, some) for name, of in given for some in _subsets(of)]
    values = _measure(queries, [*given, *changed], unjudged, (y_true, y_score))
    report: ConventionReport = {
        library: {name: values.get((name, o)) if o is not None else None for name, o in of.items()}
        for library, of in options.items()
    }
    if as_dict:
        return report
    rows = [[library, *of.values()] for library, of in report.items()]
    table = Table("", ["", *names], rows, digits=digits)
    reasons = [
        [name, library, Number(value - (report["default"][name] or 0.0), f"+.{digits}f"), shown]
        for name in names
        for library, of in options.items()
        if (value := report[library][name]) is not None
        and (shown := _reasons(_effects(name, of[name] or (), values), digits))
    ]
    header = ["metric", "library", "difference", "because of, the largest effect first"]
    why = Table("Why the values differ from the default", header, reasons, n_labels=2)
    return TableText(f"{table.text()}\n\n{why.text()}", table.html() + why.html())


def _check_names(metrics: str | Iterable[str]) -> list[str]:
    names = list_metrics(metrics)
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"metrics must hold names such as 'ndcg@5'; got {name!r}.")
        if "like" in dict(parse_name(name)[1]):
            raise ValueError(f"the report has a row for each library, without like=; got {name!r}.")
    return list(resolve_all(names))


def _options(name: str, library: str) -> Options | None:
    """The options of a library that differ from the defaults; None if it has not the metric."""
    metric, in_name = parse_name(name)
    if library == "default":
        return ()
    if metric not in CONVENTIONS[library]:
        return None
    known = METRICS[metric].options
    given = CONVENTIONS[library][metric]
    return tuple((o, v) for o, v in given.items() if o not in dict(in_name) and v != known[o])


def _subsets(options: Options) -> Iterator[Options]:
    return (some for n in range(len(options) + 1) for some in combinations(options, n))


def _measure(
    queries: Queries, keys: Iterable[tuple[str, Options]], unjudged: Unjudged, data: Sequence[Any]
) -> Values:
    """Values of metrics with some options, of one sort; none for options that they refuse."""
    metrics = {}
    for name, options in dict.fromkeys(keys):
        try:
            (metric,) = resolve_each([name], unjudged=unjudged, **dict(options))
            metric.check(queries)
        except ValueError:
            if not options:
                raise
        else:
            metrics[name, options] = metric
    measured = measure(queries, metrics.values(), data=data)
    of_keys = zip(metrics.items(), measured, strict=True)
    return {key: metric.aggregate(values, queries) for (key, metric), values in of_keys}


def _effects(name: str, given: Options, values: Values) -> dict[tuple[str, Any], float]:
    """The effect of each option, averaged over all orders of changing one after the other.

    They add up to the difference (Shapley values); nan if some options are refused without others.
    """
    n = len(given)
    effects = dict.fromkeys(given, 0.0)
    for option in given:
        for before in _subsets(tuple(other for other in given if other != option)):
            both = tuple(other for other in given if other in before or other == option)
            change = values.get((name, both), math.nan) - values.get((name, before), math.nan)
            effects[option] += change / (n * math.comb(n - 1, len(before)))
    return effects


def _reasons(effects: Mapping[tuple[str, Any], float], digits: int) -> str:
    """The options whose effect is seen with these digits, that of the largest first."""
    largest = sorted(effects.items(), key=lambda effect: -abs(effect[1]))
    return ", ".join(
        f"{_in_words(*option)} {number_text(effect, f'+.{digits}f')}"
        for option, effect in largest
        if round(abs(effect), digits) != 0
    )


def _in_words(option: str, value: Any) -> str:
    if option != "replace_undefined_by":
        return f"{option}={getattr(value, '__name__', value)}"
    return f"undefined queries {'left out' if math.isnan(value) else f'as {value:g}'}"
