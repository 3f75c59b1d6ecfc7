"""A generator of connectomes: repeated scans of subjects with hierarchies of their own."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from convexhc._checks import checked_count, checked_number
from convexhc.datasets.graphs import RandomState, seeded_generator
from convexhc.graph import Graph

LOBES = tuple(f"{side}{number}" for side in "LR" for number in range(1, 5))
# Mean log counts of streamlines between regions of two hemispheres, of one, and of one lobe.
LOG_COUNTS = np.array([0.0, 2.0, 4.0])


class Connectomes(NamedTuple):
    """Repeated brain scans of several subjects, generated.

    Attributes
    ----------
    graphs : tuple of Graph
        One per scan, on the same named regions; weights are counts of streamlines.
    names : tuple of str
        One per scan, such as ``"sub-1_ses-2"``.
    subject : tuple of str
        The subject of each scan.
    lobe : ndarray of shape (n,)
        The lobe of each region: two hemispheres of four lobes.
    """

    graphs: tuple[Graph, ...]
    names: tuple[str, ...]
    subject: tuple[str, ...]
    lobe: NDArray[np.intp]


def hierarchical_connectomes(
    random_state: RandomState = 0,
    *,
    n_subjects: int = 5,
    n_scans: int = 4,
    n_nodes: int = 64,
    subject_effect: float = 0.5,
    scan_noise: float = 0.2,
) -> Connectomes:
    """Draw structural connectomes whose hierarchy differs a little from subject to subject.

    Regions lie in two hemispheres of four lobes. A scan counts the streamlines between two regions:
    Poisson, with an intensity that is largest inside a lobe and smallest between hemispheres. Its
    logarithm varies between subjects, for every two lobes and for every two regions (standard
    deviation ``subject_effect`` each), and between the scans of one (``scan_noise``).

    Parameters
    ----------
    random_state : int, Generator, RandomState or None, default=0
        Seed or generator; the same int gives the same scans.
    n_subjects, n_scans, n_nodes : int
        Number of subjects, of scans of each, and of regions (at least 8).
    subject_effect, scan_noise : float
        Standard deviations of the log intensities.

    Returns
    -------
    Connectomes
        Graphs, names of the scans and of their subjects.

    Examples
    --------
    >>> scans = hierarchical_connectomes(n_subjects=2, n_scans=2, n_nodes=16)
    >>> scans.names[1], scans.graphs[1], scans.graphs[1].names[:2]
    ('sub-1_ses-2', Graph(n=16, n_edges=...), ('L1.1', 'L1.2'))
    """
    checked_count("n_subjects", n_subjects)
    checked_count("n_scans", n_scans)
    checked_count("n_nodes", n_nodes, lower=len(LOBES))
    effects = {"subject_effect": subject_effect, "scan_noise": scan_noise}
    subject_sd, scan_sd = (checked_number(name, value) for name, value in effects.items())
    rng = seeded_generator(random_state)
    lobe = len(LOBES) * np.arange(n_nodes) // n_nodes
    place = np.arange(n_nodes) - np.searchsorted(lobe, lobe) + 1
    names = [f"{LOBES[k]}.{i}" for k, i in zip(lobe, place, strict=True)]
    tail, head = np.triu_indices(n_nodes, 1)
    side = lobe // (len(LOBES) // 2)
    same_side = side[tail] == side[head]
    mean = LOG_COUNTS[same_side.astype(np.int64) + (lobe[tail] == lobe[head])]
    graphs, scans, subjects = [], [], []
    for subject in range(1, n_subjects + 1):
        between_lobes = rng.standard_normal(2 * [len(LOBES)])[lobe[tail], lobe[head]]
        own = mean + subject_sd * (between_lobes + rng.standard_normal(tail.size))
        for scan in range(1, n_scans + 1):
            counts = rng.poisson(np.exp(own + scan_sd * rng.standard_normal(tail.size)))
            kept = counts > 0
            graphs.append(
                Graph.from_edges(n_nodes, tail[kept], head[kept], counts[kept], names=names)
            )
            scans.append(f"sub-{subject}_ses-{scan}")
            subjects.append(f"sub-{subject}")
    return Connectomes(tuple(graphs), tuple(scans), tuple(subjects), lobe)
