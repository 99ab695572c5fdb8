"""
On which queries does a model help?
===================================

A mean does not show on which queries a model is better. This example compares two models on short
and long queries, and tests whether the difference depends on the length.
"""

# %%
# The data are synthetic, with an effect that trees learn and a linear model cannot.
import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import Ridge

from sklearn_rankscore import (
    QueryKFold,
    QueryRanker,
    compare,
    cross_val_query_scores,
    make_ranking,
)

X, y, groups = make_ranking(n_queries=200, utility="interactions", noise=2, random_state=0)
models = {"ridge": Ridge(), "trees": HistGradientBoostingRegressor(max_iter=40, random_state=0)}
scores = {
    name: cross_val_query_scores(
        QueryRanker(model), X, y, groups=groups, metrics="ndcg@5", cv=QueryKFold(5)
    )
    for name, model in models.items()
}

# %%
# Segments describe queries: here the number of documents. Any columns of a query log will do.
length = np.bincount(groups)
segments = {"documents": np.where(length > 20, "more than 20", "up to 20")}
comparison = compare(scores, by=segments, random_state=0)
print(comparison)

# %%
import matplotlib.pyplot as plt

from sklearn_rankscore import ForestDisplay

ForestDisplay.from_comparison(comparison)
plt.show()

# %%
# Decision: use the trees everywhere. They are better in both segments, and the column "differs from
# the rest" does not show that the difference depends on the length. See
# :doc:`/guide/comparing`.
