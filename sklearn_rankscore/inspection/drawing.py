"""What the pictures share; matplotlib is imported when one is drawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..model_selection.carriers import find_groups, missing_groups
from ..model_selection.predictions import predicted, respond
from ..ranking.arrays import Array

# Okabe and Ito's colours, told apart by all kinds of colour vision, in order of contrast
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")


def predictions(
    estimators: Any, X: Any, y: Any, groups: Any, who: str
) -> tuple[Any, dict[str, Array]]:
    """Query ids, and each estimator's scores under its name."""
    bound, groups = (groups, None) if isinstance(groups, str) else (None, groups)
    ids = find_groups(X, y, groups=groups, bound=bound)
    if ids is None:
        raise missing_groups(who)
    if not isinstance(estimators, Mapping):
        estimators = {type(estimators).__name__: estimators}
    return ids, {
        name: predicted(respond, estimator, X, as_one=True)
        for name, estimator in estimators.items()
    }


def new_axes(ax: Any, who: str) -> Any:
    """The axes to draw on, new ones if there are none."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError(f"{who} needs matplotlib: pip install matplotlib") from error
    if ax is None:
        _, ax = pyplot.subplots(figsize=(7, 4.5), layout="constrained")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def style_of(kwargs: dict[str, Any], artist: str) -> dict[str, Any]:
    """Style given by the caller, with short names such as lw made long."""
    from matplotlib import cbook, lines, patches

    kinds = {"Line2D": lines.Line2D, "StepPatch": patches.StepPatch}
    return dict(cbook.normalize_kwargs(kwargs, kinds[artist]))


def shown(metric: str, cutoff: str = "") -> str:
    """The name as people write it: ``"ndcg"`` is NDCG, ``"hit_rate"`` Hit rate."""
    name, at, rest = metric.partition("@")
    name, bracket, options = name.partition("(")
    words = name.replace("_", " ").capitalize()
    if name in ("dcg", "ndcg", "map", "mrr", "err", "rbp"):
        words = name.upper()
    return f"{words}{at}{rest}{cutoff}{bracket}{options}"
