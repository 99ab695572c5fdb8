"""
A search engine for docstrings
==============================

Known-item search on real text: the query is the first line of a docstring of scikit-learn, and the
right answer is the function or class that it belongs to. Do words or parts of words find it?
"""

# %%
# The documents are the rest of the docstrings, without the first line.
import inspect

from sklearn.utils.discovery import all_estimators, all_functions

texts = {name: inspect.getdoc(item) or "" for name, item in all_estimators() + all_functions()}
texts = {name: text.partition("\n\n") for name, text in texts.items() if "\n\n" in text}
names = sorted(texts)
queries = [texts[name][0] for name in names]
bodies = [texts[name][2] for name in names]
print(len(names), "documents, for example the query:", queries[names.index("Ridge")])

# %%
# Each query ranks all documents, and one of them is relevant.
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

engines = {
    "words": TfidfVectorizer(sublinear_tf=True),
    "words and pairs": TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2)),
    "parts of words": TfidfVectorizer(sublinear_tf=True, analyzer="char_wb", ngram_range=(3, 5)),
}
similarity = {}
for name, vectorizer in engines.items():
    documents = vectorizer.fit_transform(bodies)
    similarity[name] = (vectorizer.transform(queries) @ documents.T).toarray()

# %%
# Arrays of shape (queries, documents) need no query ids.
from sklearn_rankscore import compare, query_scores

relevant = np.eye(len(names), dtype=int)
scores = {
    name: query_scores(relevant, values, ["mrr", "hit_rate@1", "hit_rate@10"])
    for name, values in similarity.items()
}
print(compare(scores, pairs="all", random_state=0).system_table())

# %%
import matplotlib.pyplot as plt

cutoffs = [1, 2, 5, 10, 20, 50]
figure, axes = plt.subplots(figsize=(5.5, 3.2), layout="constrained")
for name, values in similarity.items():
    rates = query_scores(relevant, values, [f"hit_rate@{k}" for k in cutoffs]).mean()
    axes.plot(cutoffs, list(rates.values()), "o-", label=name)
axes.set(xscale="log", xticks=cutoffs, xticklabels=cutoffs)
axes.set(xlabel="documents shown", ylabel="right document among them")
axes.legend()
plt.show()

# %%
# Decision: the letters in the table mark the engines that are significantly worse. The second stage
# of a search engine would rank the first ten documents again; ``hit_rate@10`` is what it can reach.
# See :doc:`/guide/inputs` for lists of results, and :doc:`/guide/comparing` for the table.
