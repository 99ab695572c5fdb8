"""Metrics that users register under a name of their own."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Self

from sklearn.metrics import get_scorer_names

from .._validation import check_number
from .definition import METRICS, SPELLINGS, Definition, declare, key
from .metric import OF_METRICS, score
from .names import AMBIGUOUS, respelled
from .options import DATA

# arguments that a formula does not receive
_RESERVED = {"y_true", "y_score", *DATA, *OF_METRICS, "like", "target"}


class OwnMetric:
    """The function of a registered metric, which `register_metric` returns.

    It is called as the metric functions of the package, ``(y_true, y_score, *, groups=None, ...)``,
    with the options of the formula.
    """

    is_copy = False  # of a metric that another process has registered

    def __init__(self, definition: Definition) -> None:
        self._definition = replace(definition, function=self)
        self.__name__ = definition.name
        self.__module__, self._qualname = _origin(definition)
        self.__doc__ = inspect.getdoc(definition.formula)
        self.__signature__ = definition.signature

    def __call__(self, y_true: Any, y_score: Any, **options: Any) -> Any:
        """The metric, averaged over queries or one value per query."""
        return score(self.__name__, y_true, y_score, options)

    def __repr__(self) -> str:
        return f"<registered metric {self.__name__!r}>"

    def __deepcopy__(self, memo: Any) -> Self:
        return self  # as functions are

    def __reduce__(self) -> Any:
        module = sys.modules.get(self.__module__)
        if self.__module__ != "__main__" and getattr(module, self._qualname, None) is self:
            return self._qualname  # it has taken the name of its formula, which pickle cannot find
        return _restore, (replace(self._definition, function=NotImplemented),)


def register_metric(
    name: str,
    formula: Callable[..., Any],
    *,
    aliases: str | Sequence[str] = (),
    ratio: bool = False,
    denominators: Sequence[str] = (),
    limits: tuple[float, float] | None = None,
    replace_undefined_by: float = 0.0,
) -> OwnMetric:
    """Make a metric of your own known by a name, as those of this package are.

    After ``register_metric("q_measure", formula)``, ``"q_measure@10"`` is a name in `evaluate`, in
    `scoring` of scikit-learn, in early stopping, and wherever else a metric is named.

    Parameters
    ----------
    name : str
        Lower-case letters, digits and underscores.
    formula : callable
        ``formula(block, **options)``, where `block` is a `Block` of ranked queries. Its parameters
        are the options of the metric: `k`, `gain`, `threshold`, `discount`, `ties`, `denominator`
        and the like have the meaning, the check and the default that they have in `ndcg_score` and
        `map_score`, and the formula receives `gain` and `discount` as functions of an array; others
        need a default. It returns one value per query, nan if undefined, or a tuple of numerator,
        denominator and whether the metric is defined.
    aliases : str or sequence of str, default=()
        Other names, or one.
    ratio : bool, default=False
        Whether it returns a ratio of sums as a tuple, so that ``average="micro"`` is meaningful.
    denominators : sequence of str, default=()
        The values of the option `denominator`, the default first.
    limits : tuple of float, default=None
        The lowest and the highest value, from which intervals of means follow, if known.
    replace_undefined_by : float, default=0.0
        Value of an undefined query unless another is given; nan excludes it from the mean.

    Returns
    -------
    OwnMetric
        A function ``(y_true, y_score, *, groups=None, ...)``, as the metric functions are.

    Raises
    ------
    ValueError
        If a name is taken or not a name, or a parameter of the formula has no default.
    TypeError
        If `formula` is not a function of a block.

    See Also
    --------
    Block : What a formula asks for gains, tie groups and ideal orders.
    metric_names : All names, also of registered metrics.

    Notes
    -----
    Scorers that are sent to other processes take the formula along, which these import by its name,
    as pickle does; names in other strings are known where the module that registers them has been
    imported. A function may be registered again under its name, as a notebook's cell that runs
    twice does.

    References
    ----------
    .. [1] T. Sakai. New Performance Metrics Based on Multigrade Relevance: Their Application to
       Question Answering. NTCIR-4, 2004.

    Examples
    --------
    Q-measure [1]_, exact under ties: the blended ratio at a rank, (relevant documents + their gain)
    / (rank + ideal gain), is summed over the relevant documents. Given that a tied document is
    relevant, each of the others above it is one of the r - 1 others of m - 1.

    >>> import numpy as np
    >>> from sklearn_rankscore import evaluate, register_metric
    >>> def blended_ratio(block, k, gain, ties):
    ...     relevant = lambda labels: (labels > 0) * 1.0
    ...     value = block.by_rank(lambda labels: relevant(labels) * (1 + gain(labels)), ties)
    ...     offset, size = block.tie_groups(ties)
    ...     above = np.cumsum(value, axis=1) - (offset + 1) * value
    ...     share = block.by_rank(relevant, ties)
    ...     tied = offset * (share * size - 1) / np.maximum(size - 1, 1)
    ...     ratio = share * above + value * (1 + tied)
    ...     ratio = ratio / (block.ranks + np.cumsum(block.ideal(gain), axis=1))
    ...     n_relevant = block.total(relevant)
    ...     most = n_relevant if k is None else np.minimum(k, n_relevant)
    ...     return ratio[:, :k].sum(axis=1), most, n_relevant > 0
    >>> q_measure = register_metric("q_measure", blended_ratio, ratio=True, limits=(0, 1))
    >>> evaluate([2, 0, 1], [0.3, 0.3, 0.1], ["q_measure@2", "ndcg@2"])
    {'q_measure@2': 0.4, 'ndcg@2': 0.619...}
    """
    aliases = (aliases,) if isinstance(aliases, str) else tuple(aliases)
    for spelling in (name, *aliases):
        if not re.fullmatch(r"[a-z][a-z0-9_]*" if spelling is name else r"[^@()]+", str(spelling)):
            raise ValueError(
                f"{spelling!r:.50} is not the name of a metric: names have lower-case letters, "
                "digits and underscores."
            )
    _check_formula(formula)
    if limits is not None:
        low, high = (check_number("limits", limit) for limit in limits)
        if low > high:
            raise ValueError(f"limits must be the lowest and the highest value; got {limits!r}.")
        limits = low, high
    return _register(
        Definition(
            name,
            formula,
            aliases=aliases,
            ratio=ratio,
            denominators=tuple(denominators),
            defaults={"replace_undefined_by": replace_undefined_by},
            adjustable="never",
            limits=limits,
            is_own=True,
        )
    )


def _restore(definition: Definition) -> Any:
    """The function of a pickled metric: the registered one, else a copy, until a newer arrives."""
    known = METRICS.get(definition.name)
    if known and _is_again(known, definition) and not getattr(known.function, "is_copy", False):
        return known.function
    function = _register(definition)
    function.is_copy = True
    return function


def _is_again(known: Definition, definition: Definition) -> bool:
    """Whether a metric of one's own is registered once more."""
    return known.is_own and _origin(known) == _origin(definition)


def _register(definition: Definition) -> OwnMetric:
    """Declare a metric."""
    name = definition.name
    known = METRICS.get(name)
    again = known is not None and _is_again(known, definition)
    for spelling in (name, *definition.aliases):
        owner = SPELLINGS.get(key(spelling))
        taken = ""
        if owner is not None and not (again and owner == name):
            taken = f"by the metric {owner!r}"
        elif spelling in get_scorer_names():
            taken = "by a scorer of scikit-learn"
        elif choices := AMBIGUOUS.get(key(spelling)):
            taken = f"because it may mean {choices}"
        elif (other := respelled(spelling)) != spelling.strip():
            taken = f"because it is read as {other!r}"
        if taken:
            raise ValueError(
                f"the name {spelling!r} is taken {taken}. Register the metric under another one."
            )
    function = OwnMetric(definition)
    declare(function._definition)
    return function


def _origin(definition: Definition) -> tuple[str, str]:
    """The module and the name by which a formula was defined."""
    formula = definition.formula
    while isinstance(formula, partial):
        formula = formula.func
    defined = formula if hasattr(formula, "__qualname__") else type(formula)
    return str(defined.__module__), str(defined.__qualname__)


def _check_formula(formula: Any) -> None:
    """Refuse what is no function of a block, and parameters that no formula receives."""
    parameters = [*inspect.signature(formula).parameters.values()] if callable(formula) else []
    if not parameters or any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters):
        raise TypeError(
            "a formula is a function of a block and of named options, such as "
            f"formula(block, k, gain, ties); got {formula!r}."
        )
    for parameter in parameters[1:]:
        if parameter.name in _RESERVED:
            raise ValueError(
                f"a formula has no parameter {parameter.name!r}, which is not passed to it."
            )
