"""The outcomes of many graphs: paths, failures, and comparisons between them."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from convexhc import _views
from convexhc._extras import required
from convexhc.api.clustering import cluster
from convexhc.cohort import (
    GroupComparison,
    SubjectDistances,
    checked_groups,
    compare_groups,
    majority_tree,
    mean_graph,
    subject_distances,
)
from convexhc.cohort.consensus import mean_options
from convexhc.cohort.distances import N_NEIGHBORS
from convexhc.cohort.groups import Groups
from convexhc.cohort.overview import cohort_rows
from convexhc.path.path import Path
from convexhc.tree.clades import Consensus


@dataclass(frozen=True, eq=False)
class Outcome:
    """The result of one graph: its path, or its error.

    Attributes
    ----------
    name : hashable
        Name of the graph, or its position.
    path : Path or None
        The path; None after a failure.
    error : str or None
        The error, as ``ValueError: ...``; None after a success.
    trace : str
        The full traceback of the error.
    seconds : float
        Solve time in the worker; zero if the path was read from the folder.
    resumed : bool
        Whether the path was read from the folder.
    """

    name: Hashable
    path: Path | None
    error: str | None = None
    trace: str = field(default="", repr=False)
    seconds: float = 0.0
    resumed: bool = False


OnResult = Callable[[int, Outcome], object]


@dataclass(frozen=True, eq=False)
class Cohort:
    """The outcomes of many graphs, in the order of the input.

    Subjects are compared on the nodes that all of them have, matched by name.

    Attributes
    ----------
    outcomes : tuple of Outcome
        One per graph.
    options : mapping
        Options that all graphs were solved with, by which means of graphs are clustered.

    Examples
    --------
    >>> import convexhc
    >>> people = convexhc.datasets.hierarchical_connectomes(n_subjects=3, n_scans=2, n_nodes=24)
    >>> cohort = convexhc.solve_paths(dict(zip(people.names, people.graphs, strict=True)))
    >>> cohort.compare(people.subject).discriminability
    1.0
    """

    outcomes: tuple[Outcome, ...] = field(repr=False)
    options: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def __repr__(self) -> str:
        return f"Cohort({len(self.paths)} paths, {len(self.failed)} failed)"

    def __len__(self) -> int:
        return len(self.outcomes)

    def __iter__(self) -> Iterator[Outcome]:
        return iter(self.outcomes)

    @property
    def paths(self) -> dict[Hashable, Path]:
        """The solved paths, by name."""
        return {each.name: each.path for each in self.outcomes if each.path is not None}

    @property
    def failed(self) -> dict[Hashable, str]:
        """The errors of the other graphs, by name."""
        return {each.name: each.error for each in self.outcomes if each.error is not None}

    def to_frame(self, groups: Groups | None = None) -> Any:
        """One row per graph, as a pandas DataFrame: the columns of ``cohort.csv`` (extra: graphs).

        Parameters
        ----------
        groups : mapping from name to group, or sequence, optional
            Groups of the subjects.
        """
        pd = required("pandas", "to_frame")
        return pd.DataFrame(self.rows(groups))

    def rows(self, groups: Groups | None = None) -> list[dict[str, Any]]:
        """The rows of `to_frame`, one dict per graph; see `convexhc.cohort.overview`."""
        names = [each.name for each in self.outcomes]
        seconds = {each.name: each.seconds for each in self.outcomes}
        return cohort_rows(names, self.paths, self.failed, seconds, groups)

    def distances(
        self,
        metric: str = "cophenetic",
        *,
        lam: float | None = None,
        n_neighbors: int = N_NEIGHBORS,
        n_clusters: tuple[int, ...] | None = None,
    ) -> SubjectDistances:
        """Distances between the solved subjects; see `convexhc.cohort.subject_distances`."""
        return subject_distances(
            self.paths, metric, lam=lam, n_neighbors=n_neighbors, n_clusters=n_clusters
        )

    def compare(
        self,
        groups: Groups,
        metric: str = "cophenetic",
        *,
        lam: float | None = None,
        n_permutations: int = 999,
        n_draws: int = 1000,
        seed: int = 0,
    ) -> GroupComparison:
        """Distances within groups against those between; see `convexhc.cohort.compare_groups`.

        Parameters
        ----------
        groups : mapping from name to group, or sequence
            The group of every subject; a sequence has one for each graph, failed ones included.
        metric, lam
            As for `distances`.
        n_permutations, n_draws, seed
            As for `convexhc.cohort.compare_groups`.
        """
        return compare_groups(
            self.distances(metric, lam=lam),
            self.groups_by_name(groups),
            n_permutations=n_permutations,
            n_draws=n_draws,
            seed=seed,
        )

    def consensus(
        self, subjects: Iterable[Hashable] | None = None, threshold: float = 0.5
    ) -> Consensus:
        """The majority-rule tree of all subjects or of some; see `cohort.majority_tree`."""
        return majority_tree(self._chosen(subjects), threshold)

    def mean_path(self, subjects: Iterable[Hashable] | None = None) -> Path:
        """The path of the mean graph of all subjects, or of some, with the options of the cohort.

        Where the cohort was solved for similarities, it is the path of the mean similarity.
        """
        paths = self._chosen(subjects)
        return cluster(mean_graph(paths), **mean_options(paths, self.options))

    def report(
        self, file: str | os.PathLike[str], *, groups: Groups | None = None, title: str = "Cohort"
    ) -> None:
        """Write one page that compares the subjects; see `convexhc.report.write_cohort_report`."""
        _views.cohort_report(self, file, groups=groups, title=title)

    def groups_by_name(self, groups: Groups) -> Mapping[Hashable, Hashable]:
        """Groups as a mapping; a sequence is in the order of the outcomes, failed ones included."""
        names = [each.name for each in self.outcomes]
        if isinstance(groups, Mapping):
            return groups
        return dict(zip(names, checked_groups(groups, names), strict=True))

    def _chosen(self, subjects: Iterable[Hashable] | None) -> dict[Hashable, Path]:
        """The paths of these subjects; all by default."""
        paths = self.paths
        if subjects is None:
            return paths
        names = list(subjects)
        unknown = [name for name in names if name not in paths]
        if unknown:
            raise ValueError(f"{unknown[0]!r} is no solved subject of the cohort.")
        return {name: paths[name] for name in names}
