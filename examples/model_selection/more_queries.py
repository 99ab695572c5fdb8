"""
Would more judged queries help?
===============================

Judgments are expensive. The learning curve over the number of training queries shows whether
another hundred would improve the ranker.
"""

# %%
# ``max_queries`` of :class:`~sklearn_rankscore.QueryRanker` trains on a random sample of whole
# queries; scikit-learn's own learning curve would sample documents.
from lightgbm import LGBMRanker
from sklearn.linear_model import Ridge
from sklearn.model_selection import validation_curve

from sklearn_rankscore import QueryKFold, QueryRanker, load_lambdarank

X, y = load_lambdarank(return_X_y=True, as_frame=True)
models = {
    "ridge": Ridge(300),
    "boosting": LGBMRanker(n_estimators=30, min_child_samples=10, n_jobs=1, verbose=-1),
}
sizes = [10, 25, 50, 100, 200]
curves = {
    name: validation_curve(
        QueryRanker(model, random_state=0),
        X,
        y,
        param_name="max_queries",
        param_range=sizes,
        scoring="ndcg@10",
        cv=QueryKFold(5),
    )[1]
    for name, model in models.items()
}
for name, scores in curves.items():
    print(name, scores.mean(axis=1).round(3))

# %%
import matplotlib.pyplot as plt
import numpy as np

figure, axes = plt.subplots(figsize=(5.5, 3.2), layout="constrained")
for name, scores in curves.items():
    mean, error = scores.mean(axis=1), scores.std(axis=1) / np.sqrt(5)
    axes.plot(sizes, mean, "o-", label=name)
    axes.fill_between(sizes, mean - error, mean + error, alpha=0.2)
axes.set(xscale="log", xticks=sizes, xticklabels=sizes, xlabel="training queries", ylabel="NDCG@10")
axes.set_title("Boosting still rises, ridge does not")
axes.legend()
plt.show()

# %%
# Decision: judge more queries if boosting is what you deploy: its curve is not flat at 200. For the
# linear model, 100 queries are enough. See :doc:`/guide/comparing`.
