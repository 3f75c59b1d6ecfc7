"""Chemical measurements of 178 wines: from points to a neighbourhood graph to cultivars."""

from sklearn.datasets import load_wine
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from convexhc import ConvexHierarchicalClustering

wine = load_wine()
model = make_pipeline(
    StandardScaler(),
    ConvexHierarchicalClustering(
        3, affinity="nearest_neighbors", weights=5, min_cluster_size=10, resolution=0.5
    ),
)
labels = model.fit_predict(wine.data)
fitted = model[-1]

print(f"similarity: {fitted.similarity_['kind']}, gamma {fitted.similarity_['gamma']:.3g}")
print(f"largest relative gap {fitted.path_.relative_gap.max():.0e}")
print(f"{fitted.n_clusters_} clusters, adjusted Rand index with the cultivars "
      f"{adjusted_rand_score(wine.target, labels):.2f}")  # fmt: skip
