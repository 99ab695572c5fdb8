"""
Why queries must not be split
=============================

Documents of one query resemble each other. If some of them are in the training set and the others
in the test set, each part is a shorter and easier ranking, and the model has seen the query. This
example measures on web search data how much a random split flatters a ranker.
"""

# %%
# The query ids are in the index of ``X``.
from lightgbm import LGBMRanker
from sklearn.model_selection import KFold, cross_val_score

from sklearn_rankscore import QueryKFold, QueryRanker, load_lambdarank

X, y = load_lambdarank(return_X_y=True, as_frame=True)
ranker = QueryRanker(LGBMRanker(n_estimators=30, n_jobs=1, verbose=-1))
print(f"{len(y)} documents of {X.index.nunique()} queries")

# %%
# Folds of whole queries
# ----------------------
scoring = "ndcg@10(replace_undefined_by=nan)"  # leaves out queries without relevant documents
whole = cross_val_score(
    ranker, X, y, scoring=scoring, cv=QueryKFold(5, shuffle=True, random_state=0)
)
print(f"whole queries: {whole.mean():.3f}")

# %%
# Folds of documents
# ------------------
# scikit-learn's ``KFold`` cuts queries. The scorer warns about it.
import warnings

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    cut = cross_val_score(ranker, X, y, scoring=scoring, cv=KFold(5, shuffle=True, random_state=0))
print(f"cut queries: {cut.mean():.3f}")
print(f"{caught[0].category.__name__}: {str(caught[0].message).splitlines()[0][:80]}")

# %%
# The higher number is wrong: it is the score of rankings of three documents instead of fifteen, and
# no user will ever see those.
import matplotlib.pyplot as plt

figure, axes = plt.subplots(figsize=(5.5, 3.2), layout="constrained")
for place, scores in enumerate([whole, cut]):
    axes.plot([place] * len(scores), scores, "o", color="C0", alpha=0.6)
    axes.hlines(scores.mean(), place - 0.2, place + 0.2, color="black")
axes.set(xticks=[0, 1], xticklabels=["QueryKFold", "KFold"], xlim=(-0.5, 1.5))
axes.set(ylabel="NDCG@10 of a fold", title="Cutting queries flatters the ranker")
plt.show()

# %%
# Decision: use :class:`~sklearn_rankscore.QueryKFold`, or scikit-learn's ``GroupKFold`` with
# ``groups``. See :doc:`/guide/splitting`.
