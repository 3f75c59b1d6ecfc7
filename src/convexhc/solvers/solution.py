"""The result of a solver: centroids, clusters and their certificate; and its file format."""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from convexhc._extras import required
from convexhc._text import counted
from convexhc._types import FloatArray, Labels
from convexhc.io.archive import File, decode_names, encode_names, read_npz, write_npz
from convexhc.model.problem import Certificate
from convexhc.model.proof import Proof, pack_proofs, unpack_proofs
from convexhc.provenance import Provenance

# Arrays of a solution; the last may be missing.
ARRAYS = ("centroids", "dual", "labels", "nonneg_dual")


class Status(Enum):
    """Why a solver stopped; the value is advice."""

    SOLVED = "The certificate is below the tolerance."
    MAX_ITER = (
        "Iteration budget spent before the certificate reached the tolerance: "
        "raise max_iter or loosen tol."
    )
    ROUND_OFF = (
        "Round-off keeps the certificate above the tolerance: weights differ by too many orders of "
        "magnitude, leave out the smallest."
    )
    STAGNATED = (
        "The certificate has not fallen while the iterations doubled, and is above the tolerance: "
        'take another method (method="auto"), bring nodes or weights to similar sizes, or loosen '
        "tol."
    )
    STOPPED = "Stopped by on_check before the certificate reached the tolerance."


@dataclass(frozen=True, eq=False)
class Solution:
    """A certified solution at one strength of the penalty.

    Attributes
    ----------
    centroids : (n, m) ndarray
        One centroid per row; rows of a cluster are equal to the last bit.
    dual : (E, m) ndarray
        Edge dual that proves the gap.
    labels : (n,) ndarray of int
        Cluster of every node, numbered by first occurrence.
    certificate : Certificate
        Objective, duality gap, residual of the constraint. From `convexhc.solve` it is in the
        paper's scale; inside the solvers, ``halved``, it is that of the halved problem.
    status : Status
        Why the solver stopped.
    n_iter : int
        Iterations used.
    lam : float
        Strength of the penalty.
    method : str
        Name of the solver.
    nonneg_dual : (n, m) ndarray or None
        Multipliers of centroids >= 0, where the method has them: a better warm start.
    move : float
        Squared step length of the last iteration, from which a later run predicts its own gap;
        zero if unknown.
    names : tuple
        Names of the nodes, empty when they have none.
    seconds : float
        Time the solver took.
    provenance : Provenance or None
        Version, options and fingerprint of the data, when it comes from `convexhc.solve`.
    proof : Proof or None
        Which clusters are those of the exact minimiser, when it comes from `convexhc.solve`.
    halved : bool
        Whether the certificate is that of the halved problem.
    """

    centroids: FloatArray = field(repr=False)
    dual: FloatArray = field(repr=False)
    labels: Labels = field(repr=False)
    certificate: Certificate
    status: Status
    n_iter: int
    lam: float
    method: str
    nonneg_dual: FloatArray | None = field(default=None, repr=False)
    move: float = field(default=0.0, repr=False)
    names: tuple[Hashable, ...] = field(default=(), repr=False)
    seconds: float = field(default=0.0, repr=False)
    provenance: Provenance | None = field(default=None, repr=False)
    proof: Proof | None = field(default=None, repr=False)
    halved: bool = field(default=True, repr=False)

    def __repr__(self) -> str:
        return (
            f"Solution(n={self.labels.size}, lam={self.lam:g}, "
            f"{counted(self.n_clusters, 'cluster')}, objective {self.objective:.6g}, "
            f"relative gap {self.relative_gap:.1e}, status {self.status.name})"
        )

    @property
    def pi(self) -> FloatArray:
        """The paper's matrix: column i is the centroid of node i."""
        return self.centroids.T

    @property
    def n_clusters(self) -> int:
        """Number of distinct centroids."""
        return int(self.labels.max()) + 1

    @property
    def objective(self) -> float:
        """Objective in the paper's scale (eq. 4)."""
        return (2.0 if self.halved else 1.0) * self.certificate.objective

    def in_scale(self, *, halved: bool) -> Solution:
        """The same solution with the certificate of the halved problem, or of the paper's."""
        if halved == self.halved:
            return self
        certificate = self.certificate.scaled(0.5 if halved else 2.0)
        return replace(self, certificate=certificate, halved=halved)

    @property
    def relative_gap(self) -> float:
        """Duality gap over the size of the objective."""
        return self.certificate.relative_gap

    @property
    def clusters(self) -> tuple[tuple[Hashable, ...], ...]:
        """Names of the members of every cluster, in the order of the labels."""
        return members(self.labels, self.names or tuple(range(self.labels.size)))

    def to_frame(self) -> Any:
        """A pandas DataFrame of node, cluster and size, one row per node (extra: graphs)."""
        pd = required("pandas", "to_frame")
        names = self.names or range(self.labels.size)
        sizes = np.bincount(self.labels)[self.labels]
        return pd.DataFrame({"node": list(names), "cluster": self.labels, "size": sizes})

    def summary(self) -> str:
        """A short text: size, clusters, certificate, iterations."""
        sizes = Counter(np.bincount(self.labels).tolist())
        counts = ", ".join(f"{sizes[size]} of {size}" for size in sorted(sizes, reverse=True)[:6])
        more = ", ..." if len(sizes) > 6 else ""
        clusters = counted(self.n_clusters, "cluster")
        return "\n".join(
            [
                f"{self.labels.size} nodes, lam {self.lam:.4g}, {clusters}: {counts}{more}",
                f"objective {self.objective:.6g}, relative gap {self.relative_gap:.1e}, "
                f"residual {self.certificate.residual:.1e}",
                f"{self.method}, {self.n_iter} iterations. {self.status.value}",
            ]
        )

    def _repr_html_(self) -> str:
        return card("convexhc solution", self.summary())

    def save(self, file: File) -> None:
        """Write the solution to one npz file, atomically."""
        text, arrays = pack_solution(self)
        origin = None if self.provenance is None else self.provenance.to_text()
        arrays |= pack_proofs([self.proof], self.labels.size)
        text |= {"kind": "solution", "names": encode_names(self.names), "provenance": origin}
        write_npz(file, text, arrays)

    @classmethod
    def load(cls, file: File) -> Solution:
        """Read a solution that `save` wrote."""
        return read_npz(file, "solution", _unpack_file)


def pack_solution(solution: Solution) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """JSON-serialisable fields and arrays of a solution, without names and provenance."""
    text = {
        "certificate": [float(value) for value in solution.certificate],
        "status": solution.status.name,
        "n_iter": solution.n_iter,
        "lam": solution.lam,
        "method": solution.method,
        "seconds": solution.seconds,
        "move": solution.move,
        "halved": solution.halved,
    }
    arrays = {name: getattr(solution, name) for name in ARRAYS}
    return text, {name: array for name, array in arrays.items() if array is not None}


def unpack_solution(
    text: Mapping[str, Any],
    arrays: Mapping[str, NDArray[Any]],
    *,
    names: tuple[Hashable, ...] = (),
    provenance: Provenance | None = None,
    proof: Proof | None = None,
) -> Solution:
    """Inverse of `pack_solution`."""
    return Solution(
        arrays["centroids"],
        arrays["dual"],
        arrays["labels"],
        Certificate(*text["certificate"]),
        Status[text["status"]],
        text["n_iter"],
        text["lam"],
        text["method"],
        nonneg_dual=arrays.get("nonneg_dual"),
        move=text.get("move", 0.0),
        names=names,
        seconds=text["seconds"],
        provenance=provenance,
        proof=proof,
        halved=text.get("halved", True),
    )


def _unpack_file(text: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Solution:
    origin = text["provenance"]
    return unpack_solution(
        text,
        arrays,
        names=decode_names(text["names"]),
        provenance=None if origin is None else Provenance.from_text(origin),
        proof=unpack_proofs(arrays, 1)[0],
    )


def members(labels: Labels, names: tuple[Hashable, ...]) -> tuple[tuple[Hashable, ...], ...]:
    """Names of the members of every cluster; nodes labelled -1 belong to none.

    Examples
    --------
    >>> import numpy as np
    >>> members(np.array([0, 1, 0, -1]), ("a", "b", "c", "d"))
    (('a', 'c'), ('b',))
    """
    groups: list[list[Hashable]] = [[] for _ in range(int(labels.max()) + 1)]
    for name, label in zip(names, labels.tolist(), strict=True):
        if label >= 0:
            groups[label].append(name)
    return tuple(tuple(group) for group in groups)


def card(title: str, text: str) -> str:
    """HTML of a framed text, for notebooks."""
    return (
        "<div style='border:1px solid #8884;border-radius:6px;padding:.6em 1em;"
        f"display:inline-block'><strong>{html.escape(title)}</strong>"
        f"<pre style='margin:.4em 0 0'>{html.escape(text)}</pre></div>"
    )
