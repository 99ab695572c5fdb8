"""
Is boosting better than a linear model?
=======================================

Two means differ; is it the model or the choice of queries? The example scores each query by a model
that was not trained on it, and compares both models query by query.
"""

# %%
from lightgbm import LGBMRanker
from sklearn.linear_model import Ridge

from sklearn_rankscore import (
    QueryDeltaDisplay,
    QueryKFold,
    QueryRanker,
    compare,
    cross_val_query_scores,
    load_lambdarank,
)

X, y = load_lambdarank(return_X_y=True, as_frame=True)
models = {
    "ridge": Ridge(300),
    "boosting": LGBMRanker(
        n_estimators=60, learning_rate=0.05, num_leaves=15, n_jobs=1, verbose=-1
    ),
}
scores = {
    name: cross_val_query_scores(
        QueryRanker(model), X, y, metrics=["ndcg@10", "map@10", "mrr"], cv=QueryKFold(5)
    )
    for name, model in models.items()
}
print(scores["boosting"])

# %%
# All 251 queries take part, instead of the fifty of one test set. The differences are paired: both
# models rank the same query, so that easy and difficult queries cancel.
comparison = compare(scores, random_state=0)
print(comparison)

# %%
import matplotlib.pyplot as plt

QueryDeltaDisplay.from_query_scores(scores, metric="ndcg@10", random_state=0)
plt.show()

# %%
# How many queries would be needed to detect a difference of 0.01 four times out of five?
print(comparison.queries_needed(difference=0.01, power=0.8)["ndcg@10", "boosting"], "queries")

# %%
# Decision: the interval of NDCG@10 contains 0, so that these queries do not show that boosting is
# better. If a difference of 0.01 matters, judge more queries; otherwise, take the simpler model.
# See :doc:`/guide/comparing`.
