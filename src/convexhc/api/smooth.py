"""`convexhc.smooth_path`: the smooth model at every scale."""

from __future__ import annotations

from typing import Any

import numpy as np

from convexhc.api.options import Lambdas, OnLevel, Options, Progress, explains_renamed_options
from convexhc.path.engine import run
from convexhc.path.path import Path
from convexhc.path.plan import Grid
from convexhc.path.smooth_model import MAX_LEVELS, SmoothPathModel, resolving_lambdas
from convexhc.progress_line import level_listener, shown
from convexhc.provenance import Provenance, fingerprint
from convexhc.smooth.model import Form, SmoothModel


@explains_renamed_options
def smooth_path(
    K: Any,
    lambdas: Lambdas = Options.lambdas,
    *,
    max_clusters: int | None = None,
    dimensions: int = 32,
    form: Form = "auto",
    on_check: OnLevel | None = None,
    progress: Progress = False,
) -> Path:
    """Cluster a similarity at every scale by the smooth model (appendix D), in closed form.

    min Tr[pi'K pi - 2 K pi] + lam sum_ij K_ij |Phi (pi_i - pi_j)|^2 has the minimiser
    (I + 2 lam L)^-1, with K = Phi'Phi and L the Laplacian of the off-diagonal of K. It never fuses
    exactly: a lam resolves as many clusters as there are modes that it shrinks by less than half,
    and these modes determine the clusters. `SmoothModel` gives the minimiser itself, in full or by
    columns.

    Parameters
    ----------
    K : graph or (n, n) similarity
        As for `convexhc.solve`.
    lambdas : iterable of float, int or None
        Exactly these; this number of them in equal ratios; or None for one lam for every number of
        clusters.
    max_clusters : int, optional
        Largest number of clusters when the lam are found. Default 32.
    dimensions, form
        As for `SmoothModel.of`.
    on_check, progress
        As for `convexhc.solve_path`.

    Returns
    -------
    Path
        Partitions and the tree. Up to 500 nodes every level is certified; beyond that the closed
        form has no certificate, and ``relative_gap`` is NaN. Centroids are not kept.

    Raises
    ------
    ValueError, TypeError, MemoryError
        As for `SmoothModel.of`; or a lam finer than the modes computed.

    Examples
    --------
    >>> import numpy as np
    >>> import convexhc
    >>> K = np.kron(np.eye(2), np.ones((3, 3))) + 0.1 + np.eye(6)
    >>> path = convexhc.smooth_path(K)
    >>> path.labels(n_clusters=2)
    array([0, 0, 0, 1, 1, 1])
    >>> path.linkage.shape
    (5, 4)
    """
    options = Options.among(locals())
    smooth = SmoothModel.of(K, dimensions=dimensions, form=form)
    grid = options.grid or resolving_lambdas(smooth, options.max_clusters or MAX_LEVELS)
    if isinstance(options.lambdas, int):
        grid = tuple(np.geomspace(grid[0], grid[-1], options.lambdas).tolist())
    record = {
        "model": "smooth",
        "lambdas": list(grid),
        "dimensions": smooth.dimensions,
        "max_clusters": options.max_clusters,
    }
    plan = Grid(grid, descending=True)
    with shown(progress) as line:
        return run(
            SmoothPathModel(smooth, min(grid)),
            plan,
            Provenance.of(record, fingerprint(smooth.graph)),
            keep=lambda lam: False,
            listen=level_listener(line, progress, on_check, plan),
        )
