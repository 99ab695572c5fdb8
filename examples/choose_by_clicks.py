"""Choose a model by clicks, which favor documents shown at the top, with and without propensities.

A shop has ranked its products by popularity. Users examine rank k with probability 1 / k, and click
what they examine if it is relevant. A search over two models that are trained on these clicks
compares them by DCG of clicks, by the inverse-propensity estimate of DCG, and by the relevance,
which only a simulation knows.
"""

# sphinx_gallery_thumbnail_path = "_static/thumb_clicks.svg"

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline

from sklearn_rankscore import QueryKFold, QueryRanker, position_propensity, propensity_summary

N_DOCUMENTS = 10
FEATURES = ("popularity", "match")


def simulate(n_queries: int = 500, seed: int = 0) -> tuple[pd.DataFrame, pd.Series]:
    """Return documents and clicks; query ids, propensities and relevance are index levels."""
    rng = np.random.default_rng(seed)
    popularity, match = rng.random((2, n_queries, N_DOCUMENTS))
    shown_at = 1 + np.argsort(np.argsort(-popularity, axis=1), axis=1)
    seen = position_propensity(shown_at)
    relevant = rng.random(match.shape) < 0.1 + 0.1 * popularity + 0.5 * match
    clicks = relevant & (rng.random(match.shape) < seen)
    index = pd.MultiIndex.from_arrays(
        [np.repeat(np.arange(n_queries), N_DOCUMENTS), seen.ravel(), relevant.ravel().astype(int)],
        names=["qid", "seen", "relevant"],
    )
    X = pd.DataFrame({"popularity": popularity.ravel(), "match": match.ravel()}, index)
    return X, pd.Series(clicks.ravel().astype(int), index, name="clicks")


def search(X: pd.DataFrame, clicks: pd.Series, scoring: str) -> GridSearchCV:
    """Choose between two models, each of which sees one of the features."""
    models = [[("features", "passthrough", [feature])] for feature in FEATURES]
    columns = ColumnTransformer(models[0])
    ranker: Any = QueryRanker(Pipeline([("columns", columns), ("ridge", Ridge())]))
    return GridSearchCV(
        ranker,
        {"estimator__columns__transformers": models},
        scoring=scoring,
        cv=QueryKFold(5),
        error_score="raise",
    ).fit(X, clicks)


def chosen(fitted: GridSearchCV) -> str:
    """Return the feature of the chosen model."""
    ((_, _, (feature,)),) = fitted.best_params_["estimator__columns__transformers"]
    return str(feature)


def main() -> None:
    """Print what each way of scoring prefers."""
    X, clicks = simulate()
    summary = propensity_summary(clicks, X.index.get_level_values("seen"), clip=0.15)
    print(
        f"{summary.n_clicks} clicks on {summary.n_documents} documents, an effective "
        f"{summary.effective_clicks:.0f} clicks of equal weight; "
        f"{summary.clipped_share:.0%} of the documents are clipped at 0.15\n"
    )
    print(f"{'scoring':<34}{FEATURES[0]:>12}{FEATURES[1]:>12}  chooses")
    for scoring in (
        "dcg@5",
        "dcg@5(propensity=seen)",
        "dcg@5(propensity=seen,clip=0.15)",
        "dcg@5(target=relevant)",
    ):
        fitted = search(X, clicks, scoring)
        values = "".join(f"{score:>12.3f}" for score in fitted.cv_results_["mean_test_score"])
        print(f"{scoring:<34}{values}  {chosen(fitted)}")


if __name__ == "__main__":
    main()
