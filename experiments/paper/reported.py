"""Numbers printed in the paper, for comparison."""

from __future__ import annotations

from experiments.results import Row

# Table I: 196 nodes, alpha = 0.95, mean over 20 graphs, k-means on the centroids.
_TABLE_I = {
    0.001: (81.3, 0.86, 0.94, 8.1e-4, 0.95, 0.94, 1.3e-4),
    0.1: (30.4, 0.89, 0.94, 6.1e-1, 0.95, 0.95, 8.5e-2),
    0.5: (35.2, 0.70, 0.91, 2.6e-1, 0.95, 0.94, 3.8e-2),
    1.0: (28.45, 0.65, 0.91, 4.7e-1, 0.95, 0.95, 8.9e-2),
    40.0: (1.64, 0.29, 0.53, -2.6e-2, 0.87, 0.74, 2.1e-2),
}
_COLUMNS = (
    "effective_rank",
    "fine_accuracy",
    "fine_completeness",
    "fine_silhouette",
    "coarse_accuracy",
    "coarse_completeness",
    "coarse_silhouette",
)
TABLE_I: dict[float, Row] = {
    lam: dict(zip(_COLUMNS, values, strict=True)) for lam, values in _TABLE_I.items()
}
TABLE_I_COLUMNS = _COLUMNS

# Values of lam in figure 1, and those of the connectome figures.
FIGURE_1_LAMBDAS = (0.001, 0.03, 0.2, 3.0)
CONNECTOME_LAMBDAS = (0.0, 0.01)

# The table of figure 5 (Khan): lam, effective rank, homogeneity of the paper's method and of HC.
KHAN_TABLE: tuple[Row, ...] = tuple(
    {"lam": lam, "effective_rank": rank, "homogeneity": ours, "homogeneity_hc": standard}
    for lam, rank, ours, standard in (
        (0.032, 242, 0.937, 0.935),
        (0.256, 141, 0.774, 0.721),
        (0.512, 37, 0.446, 0.292),
        (1.024, 7, 0.100, 0.087),
    )
)
