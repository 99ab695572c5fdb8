"""
Stop boosting on the metric that you report
===========================================

How many trees? Early stopping answers this from one fit, on queries that are held out from the
training set.
"""

# %%
from lightgbm import LGBMRanker

from sklearn_rankscore import QueryRanker, evaluate, load_lambdarank

X, y = load_lambdarank(return_X_y=True, as_frame=True, subset="train")
X_test, y_test = load_lambdarank(return_X_y=True, as_frame=True, subset="test")

# %%
# ``early_stopping="ndcg@10"`` holds a fraction of the queries out, and stops when the metric has
# not improved for some rounds. ``refit_all`` then trains on all queries with that number of trees.
ranker = QueryRanker(
    LGBMRanker(n_estimators=300, learning_rate=0.05, n_jobs=1, verbose=-1),
    early_stopping="ndcg@10",
    n_iter_no_change=30,
    validation_fraction=0.25,
    refit_all=True,
    random_state=0,
).fit(X, y)
print(f"{ranker.n_iter_} trees instead of 300")

# %%
# Was this a good number of trees? The test queries show the whole curve.
import matplotlib.pyplot as plt

rounds = [5, 10, 20, 40, 80, 160, 300]
full = QueryRanker(LGBMRanker(n_estimators=300, learning_rate=0.05, n_jobs=1, verbose=-1)).fit(X, y)
curve = [
    evaluate(y_test, full.estimator_.predict(X_test, num_iteration=n), "ndcg@10")["ndcg@10"]
    for n in rounds
]
figure, axes = plt.subplots(figsize=(5.5, 3.2), layout="constrained")
axes.plot(rounds, curve, "o-", label="test queries")
axes.axvline(ranker.n_iter_, color="C1", linestyle="--", label="stopped here")
axes.set(xlabel="trees", ylabel="NDCG@10", xscale="log", title="NDCG@10 by the number of trees")
axes.legend()
plt.show()

# %%
from sklearn_rankscore import compare, query_scores

systems = {
    "300 trees": query_scores(y_test, full.predict(X_test), "ndcg@10"),
    "stopped": query_scores(y_test, ranker.predict(X_test), "ndcg@10"),
}
print(compare(systems, random_state=0))

# %%
# Decision: use early stopping. The curve wavers by more than the difference, which fifty queries do
# not show to be real, and most of the trees are saved. In a search, each candidate stops by itself:
# see :doc:`/guide/tuning`.
