"""What the displays share; matplotlib is imported only to draw."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from .._typing import Array, MatrixLike, QueryIds
from ..metrics.aliases import canonical_name
from ..metrics.names import METRICS
from ..query_ids.lookup import find_explicit_ids, no_groups_error, source_or_ids
from ..scoring.predictions import predict_scores

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's palette for all types of colour vision (https://jfly.uni-koeln.de/color), sorted
# by contrast with white
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")


def ids_and_scores(
    estimators: Any, X: MatrixLike, y: ArrayLike, groups: QueryIds | str | None, caller: str
) -> tuple[Any, dict[str, Array]]:
    """Query ids, and the scores of each estimator under its name."""
    id_source, ids = source_or_ids(groups, X)
    ids = find_explicit_ids(X, y, groups=ids, id_source=id_source)
    if ids is None:
        raise no_groups_error(caller)
    if not isinstance(estimators, Mapping):
        estimators = {type(estimators).__name__: estimators}
    return ids, {name: predict_scores(estimator, X) for name, estimator in estimators.items()}


def prepare_axes(ax: Axes | None, caller: str) -> Axes:
    """The given axes, or those of a new figure, without the top and right spines."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError(
            f"{caller} needs matplotlib, which is not installed: pip install matplotlib"
        ) from error
    if ax is None:
        _, ax = pyplot.subplots(figsize=(7, 4.5), layout="constrained")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def normalize_style(kwargs: dict[str, Any], artist: str) -> dict[str, Any]:
    """Properties of an artist under their full names, ``linewidth`` for ``lw``."""
    from matplotlib import cbook, lines, patches

    artists = {"Line2D": lines.Line2D, "StepPatch": patches.StepPatch}
    return dict(cbook.normalize_kwargs(kwargs, artists[artist]))


def axis_label(metric: str, cutoff: str = "") -> str:
    """The name of a metric in text: NDCG for ``"ndcg"``, Hit rate for ``"hit_rate"``."""
    name, at, rest = metric.partition("@")
    name, bracket, options = name.partition("(")
    name = canonical_name(name, METRICS) or name
    is_acronym = name in ("dcg", "ndcg", "map", "mrr", "err", "rbp")
    text = name.upper() if is_acronym else name.replace("_", " ").capitalize()
    return f"{text}{at}{rest}{cutoff}{bracket}{options}"
