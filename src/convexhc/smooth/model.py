"""`convexhc.SmoothModel`: the smooth model at any lam, from two nodes to millions."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from convexhc._checks import LARGEST, checked_count, checked_number, named
from convexhc._types import FloatArray, Labels
from convexhc.graph import Graph
from convexhc.graph_checks import node_indices
from convexhc.io import as_graph
from convexhc.similarity import require_psd
from convexhc.smooth.diffusion import Columns, Diffusion
from convexhc.smooth.labels import counts_at, counts_for, middle_lam, partition
from convexhc.smooth.spectrum import Modes, effective_ranks, leading_modes
from convexhc.solvers.loop import Status
from convexhc.solvers.memory import require_memory, smooth_dense, smooth_sparse

Form = Literal["auto", "dense", "sparse"]

# Up to this many nodes "auto" decomposes the whole Laplacian.
DENSE_NODES = 2000


class Block(NamedTuple):
    """Some columns of pi(lam), and the nodes whose centroids they are."""

    nodes: Labels
    columns: Columns


@dataclass(frozen=True, eq=False)
class SmoothModel:
    """The smooth model of a similarity (appendix D), in closed form: pi(lam) = (I + 2 lam L)^-1.

    For a positive definite K it minimises the smooth objective with or without the doubly
    stochastic constraint, which it satisfies by itself. It never fuses exactly: its clusters come
    from its geometry. pi(lam) has the eigenvectors of L, the same at every lam, with eigenvalues
    1 / (1 + 2 lam mu); they are computed once, when first asked for.

    min Tr[pi'K pi - 2 K pi] + lam sum_ij K_ij |Phi (pi_i - pi_j)|^2, with K = Phi'Phi and L the
    Laplacian of the off-diagonal of K. `convexhc.smooth_path` turns it into a path with a tree.

    Attributes
    ----------
    graph : Graph
        The similarity.
    diffusion : Diffusion
        The Laplacian.
    dimensions : int or None
        Largest number of modes computed per component; None for all, the dense form.

    Examples
    --------
    >>> import numpy as np
    >>> import convexhc
    >>> model = convexhc.SmoothModel.of(np.ones((2, 2)) + np.eye(2))
    >>> model.pi(0.25).round(3)
    array([[0.75, 0.25],
           [0.25, 0.75]])
    >>> K = np.kron(np.eye(2), np.ones((3, 3))) + 0.1 + np.eye(6)
    >>> convexhc.SmoothModel.of(K).labels(lam=0.5)
    array([0, 0, 0, 1, 1, 1])
    """

    graph: Graph = field(repr=False)
    diffusion: Diffusion = field(repr=False)
    dimensions: int | None

    @classmethod
    def of(cls, K: Any, *, dimensions: int = 32, form: Form = "auto") -> SmoothModel:
        """The smooth model of a similarity. Nothing is computed before it is asked for.

        Parameters
        ----------
        K : graph or (n, n) similarity
            As for `convexhc.solve`. The diagonal decides only whether K is positive semidefinite,
            as the model requires; pi(lam) does not depend on it.
        dimensions : int
            Number of modes per component that the sparse form computes: a bound on the clusters it
            can separate.
        form : {"auto", "dense", "sparse"}
            Dense: all modes by one eigendecomposition, O(n^3) time and O(n^2) memory. Sparse:
            columns by conjugate gradients, the first modes by a filtered subspace iteration,
            memory O(n dimensions + edges). Auto is dense up to 2000 nodes.

        Raises
        ------
        ValueError, TypeError
            As for `convexhc.solve`.
        MemoryError
            The form will not fit; the message says how much it needs, and what needs less.
        """
        graph = as_graph(K)
        width = checked_count("dimensions", dimensions)
        chosen = named("form", form, {"auto": None, "dense": True, "sparse": False})
        dense = graph.n <= DENSE_NODES if chosen is None else chosen
        sparse = smooth_sparse(graph.n, graph.n_edges, width)
        if dense:
            cheaper = f"use form='sparse', which needs about {sparse / 1e9:.2g} GB"
            require_memory(f"the dense form on {graph.n} nodes", smooth_dense(graph.n), cheaper)
        else:
            cheaper = "ask for fewer dimensions"
            require_memory(f"the sparse form on {graph.n} nodes", sparse, cheaper)
        require_psd(graph)
        return cls(graph, Diffusion.of(graph), None if dense else width)

    @property
    def names(self) -> tuple[Hashable, ...]:
        """Names of the nodes."""
        return self.graph.names

    @cached_property
    def modes(self) -> Modes:
        """Eigenvectors of L, smoothest first, with eigenvalues and residuals."""
        return leading_modes(self.diffusion, self.dimensions)

    @property
    def components(self) -> Labels:
        """Connected component of every node; nodes of different ones have nothing in common."""
        return self.diffusion.component

    def pi(self, lam: float) -> FloatArray:
        """The minimiser at any lam, in full: (n, n), symmetric.

        One product, O(n^3), in the dense form; n solves in the sparse one, where `blocks` gives
        the same columns without holding them all.
        """
        n = self.diffusion.n
        if self.dimensions is None:
            same = self.components[:, None] == self.components
            full = self.modes.shrunk(lam) @ self.modes.vectors.T
            return np.asarray(np.where(same, full + 1.0 / self.modes.sizes[self.components], 0.0))
        require_memory(f"the full pi of {n} nodes", 8 * n * n, "ask for columns(lam, nodes)")
        full = np.empty((n, n))
        for nodes, columns in self.blocks(lam):
            if columns.status is not Status.SOLVED:
                raise RuntimeError(
                    f"a column of pi({lam:g}) was left with a residual of "
                    f"{columns.residual.max():.1e}: use blocks(lam) with a larger max_iter."
                )
            full[:, nodes] = columns.values
        return np.asarray((full + full.T) / 2.0)

    def apply(
        self, lam: float, X: ArrayLike, *, tol: float = 1e-8, max_iter: int = 10_000
    ) -> Columns:
        """pi(lam) X for any X with a row for every node: X, smoothed over the graph.

        Parameters
        ----------
        lam : float
            Strength, zero or more.
        X : (n, m) array
            Columns.
        tol : float
            Relative residual at which to stop.
        max_iter : int
            Budget of conjugate gradient steps.

        Returns
        -------
        Columns
            The product, and the residual of each column. Each step is one pass over the edges
            for all columns; memory is eight times that of X.
        """
        right = np.array(X, dtype=np.float64, order="C")
        if right.ndim != 2 or len(right) != self.diffusion.n or not np.isfinite(right).all():
            raise ValueError(
                f"X must be a finite matrix of {self.diffusion.n} rows, one for each node; "
                f"received shape {right.shape}."
            )
        strength, tol = checked_number("lam", lam, upper=LARGEST), checked_number("tol", tol)
        return self.diffusion.solve(strength, right, tol=tol, max_iter=max_iter)

    def columns(
        self, lam: float, nodes: ArrayLike, *, tol: float = 1e-8, max_iter: int = 10_000
    ) -> Columns:
        """The centroids of some nodes: columns of pi(lam), without the others.

        Parameters
        ----------
        lam, tol, max_iter
            As for `apply`.
        nodes : (m,) int array
            Which nodes, by number.

        Returns
        -------
        Columns
            ``values`` is (n, m). Many columns are best taken in turn: `blocks`.
        """
        chosen = node_indices(nodes, self.diffusion.n, "nodes")
        needed = 8 * 8 * self.diffusion.n * chosen.size
        require_memory(f"{chosen.size} columns", needed, "take them in turn: blocks(lam, nodes)")
        units = np.zeros((self.diffusion.n, chosen.size))
        units[chosen, np.arange(chosen.size)] = 1.0
        return self.apply(lam, units, tol=tol, max_iter=max_iter)

    def blocks(
        self,
        lam: float,
        nodes: ArrayLike | None = None,
        *,
        size: int = 16,
        tol: float = 1e-8,
        max_iter: int = 10_000,
    ) -> Iterator[Block]:
        """The columns of pi(lam), some at a time: of these nodes, or of all.

        Only ``size`` columns are held at once.
        """
        every = np.arange(self.diffusion.n) if nodes is None else np.asarray(nodes)
        for start in range(0, len(every), checked_count("size", size)):
            part = every[start : start + size]
            yield Block(part, self.columns(lam, part, tol=tol, max_iter=max_iter))

    def coordinates(self, lam: float, dimensions: int | None = None) -> FloatArray:
        """Nodes as points: the smoothest modes, each times its eigenvalue of pi(lam).

        |x_i - x_j| is the distance of the centroids pi_i and pi_j for nodes of one component,
        short by at most sqrt(2) / (1 + 2 lam mu) with mu the first eigenvalue left out. The
        squared distance across components is |x_i|^2 + |x_j|^2 plus one over either size.

        Parameters
        ----------
        lam : float
            Strength, zero or more.
        dimensions : int, optional
            How many; all computed by default.

        Returns
        -------
        (n, d) ndarray
            The constant mode, which tells no nodes apart, is left out.
        """
        known = self.modes.eigenvalues.shape[1]
        if dimensions is not None and checked_count("dimensions", dimensions) > known:
            raise ValueError(
                f"dimensions is {dimensions}, and {known} modes are computed: ask smooth_path for "
                "more dimensions."
            )
        return self.modes.shrunk(checked_number("lam", lam), dimensions)

    def n_clusters(self, lam: float) -> int:
        """Number of clusters that lam resolves: modes shrunk by less than half, 2 lam mu < 1."""
        return int(counts_at(self.modes, checked_number("lam", lam, upper=LARGEST)).sum())

    def labels(self, *, lam: float | None = None, n_clusters: int | None = None) -> Labels:
        """Cluster of every node at one scale.

        The smoothest modes, as many as there are clusters, determine them: by a pivoted QR
        factorisation, and k-means from there. Nothing is random.

        Parameters
        ----------
        lam : float, optional
            Strength; by default the middle of the range that resolves ``n_clusters``.
        n_clusters : int, optional
            Number of clusters, no fewer than connected components; by default what lam resolves.

        Returns
        -------
        (n,) ndarray of int
            Numbered by first occurrence. Fewer clusters only if nodes coincide.

        Raises
        ------
        ValueError
            Neither is given; or the scale is finer than the modes computed.
        """
        strength = None if lam is None else checked_number("lam", lam)
        if n_clusters is not None:
            counts = counts_for(self.modes, checked_count("n_clusters", n_clusters))
        elif strength is not None:
            counts = counts_at(self.modes, strength)
        else:
            raise ValueError("give lam, n_clusters, or both; received neither.")
        if strength is None:
            strength = middle_lam(self.modes, counts)
        return partition(self.modes, counts, strength)

    def effective_rank(self, lambdas: Iterable[float]) -> tuple[FloatArray, FloatArray]:
        """Effective rank of the Gram matrix pi'pi of the centroids at every lam, and its error.

        Exact, with error zero, in the dense form. In the sparse form it is exact for the modes
        computed and estimated for the others (stochastic Lanczos quadrature, standard error).
        """
        strengths = np.array([checked_number("every entry of lambdas", lam) for lam in lambdas])
        return effective_ranks(self.diffusion, self.modes, strengths)
