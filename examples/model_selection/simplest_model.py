"""
The simplest model that is as good
==================================

A search returns the candidate with the highest mean, even if the difference is noise. The
one-standard-error rule selects the simplest candidate among those that are as good.
"""

# %%
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV

from sklearn_rankscore import QueryKFold, QueryRanker, load_lambdarank, one_standard_error

X, y = load_lambdarank(return_X_y=True, as_frame=True, subset="train")
alphas = [1, 10, 100, 300, 1000, 3000, 10000]
search = GridSearchCV(
    QueryRanker(Ridge()),
    {"estimator__alpha": alphas},
    scoring="ndcg@10",
    cv=QueryKFold(5),
    refit=one_standard_error(complexity="-estimator__alpha"),  # a larger alpha is simpler
).fit(X, y)
means = search.cv_results_["mean_test_score"]
print(f"best: {alphas[means.argmax()]}, selected: {search.best_params_['estimator__alpha']}")

# %%
import matplotlib.pyplot as plt
import numpy as np

errors = search.cv_results_["std_test_score"] / np.sqrt(5)
figure, axes = plt.subplots(figsize=(5.5, 3.2), layout="constrained")
axes.errorbar(alphas, means, yerr=errors, fmt="o-", capsize=3)
axes.axhline(means.max() - errors[means.argmax()], color="gray", linestyle=":")
axes.plot(
    alphas[search.best_index_], means[search.best_index_], "o", ms=12, mfc="none", mec="black"
)
axes.set(xscale="log", xlabel="alpha of the ridge regression", ylabel="NDCG@10")
axes.set_title("The circle is within one standard error of the best")
plt.show()

# %%
# Did the rule cost anything? The test queries were in no fold.
from sklearn_rankscore import compare, query_scores

X_test, y_test = load_lambdarank(return_X_y=True, as_frame=True, subset="test")
best = QueryRanker(Ridge(alphas[means.argmax()])).fit(X, y)
systems = {
    "best mean": query_scores(y_test, best.predict(X_test), "ndcg@10"),
    "one standard error": query_scores(y_test, search.predict(X_test), "ndcg@10"),
}
print(compare(systems, random_state=0))

# %%
# Decision: take the simpler model. The difference is far below what fifty queries can show. See
# :doc:`/guide/tuning`.
