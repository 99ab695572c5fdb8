"""NDCG@5 of predicted countries, as in the Kaggle competition "Airbnb New User Bookings".

Each user books in one of twelve countries, and the five countries that a model ranks highest are
evaluated. The data are synthetic. A classifier needs no query ids, because each row ranks the
classes. ``groups=rows`` states this, because classes that are numbers might be grades of documents.
"""

# sphinx_gallery_thumbnail_path = "_static/thumb_countries.svg"

from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score

import sklearn_rankscore  # noqa: F401 - registers "ndcg@5" with scikit-learn

X, y = make_classification(1000, n_features=20, n_informative=10, n_classes=12, random_state=0)
model, scoring = LogisticRegression(max_iter=1000), "ndcg@5(groups=rows)"
scores = cross_val_score(model, X, y, scoring=scoring, cv=3)
print(f"NDCG@5 {scores.mean():.4f}")
