"""Grid search for a ranker on a Dask cluster.

scikit-learn executes its tasks with joblib, for which Dask is one of the backends: the metric, the
splitter and the ranker are used without changes.

python examples/cluster_search.py
"""

# sphinx_gallery_thumbnail_path = "_static/thumb_cluster.svg"

from contextlib import nullcontext

import joblib
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.model_selection import GridSearchCV

from sklearn_rankscore import QueryKFold, QueryRanker, make_ranking


def search(client=None):
    """Run the search on the cluster of a client, or in this process if the client is None."""
    X, y = make_ranking(n_queries=60, as_frame=True, random_state=0)
    grid = GridSearchCV(
        QueryRanker(HistGradientBoostingRegressor(max_iter=20, random_state=0)),
        {"estimator__max_leaf_nodes": [4, 8], "estimator__learning_rate": [0.05, 0.2]},
        scoring="ndcg@10",
        cv=QueryKFold(3),
    )
    cluster = nullcontext() if client is None else joblib.parallel_config("dask")
    with cluster:
        return grid.fit(X, y)


def main():
    """Start a local cluster of two processes; in production, pass the address of a scheduler."""
    from distributed import Client, LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1) as cluster, Client(cluster) as client:
        fitted = search(client)
    print(fitted.best_params_, round(fitted.best_score_, 3))


if __name__ == "__main__":
    main()
