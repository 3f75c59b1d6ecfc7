"""The page of a cohort: subjects, distances, tests, trees in one self-contained HTML file."""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import scipy

from convexhc._text import counted, on_page
from convexhc._types import FloatArray, Labels
from convexhc.api.outcomes import Cohort
from convexhc.cohort.consensus import common_tree
from convexhc.cohort.distances import SubjectDistances
from convexhc.cohort.groups import Groups
from convexhc.cohort.overview import ALL, Overview, overview
from convexhc.layout.colors import N_COLORS, neutral, palette
from convexhc.layout.tree_layout import depth_heights, relative_heights, small_tree
from convexhc.path import Path
from convexhc.report.array_encoding import RESOLUTION, encode_array, quantize
from convexhc.report.document import fill_template, write_page
from convexhc.report.path_data import finite_or_none
from convexhc.tree.nodes import Nodes

# Distances are stored in this many steps; the next number marks one that is undefined.
_STEPS = RESOLUTION.coordinate_steps - 1
# Rectangles narrower than this share of the leaves are not drawn.
_LEAST_SHARE = 1 / 160
# Places along the leaf axis and heights of small trees, in this many steps.
_SMALL_STEPS = 4000
# Above this number of subjects, finding the best order of a dendrogram takes too long.
_MAX_OPTIMAL_ORDER = 400

# Scripts in the order of concatenation; each uses only those before it when loaded.
SCRIPTS = (
    "shared/basics.js",
    "shared/theme.js",
    "shared/views.js",
    "cohort/data.js",
    "page/surface.js",
    "cohort/matrix.js",
    "cohort/distributions.js",
    "cohort/trees.js",
    "cohort/icicles.js",
    "cohort/table.js",
    "cohort/main.js",
)
STYLES = ("page/style.css", "cohort/style.css")


def cohort_data(
    rows: Sequence[Mapping[str, Any]],
    paths: Mapping[Hashable, Path],
    compared: Overview,
    means: Mapping[str, Path],
    links: Mapping[Hashable, str],
    mean_links: Mapping[str, str],
) -> dict[str, Any]:
    """Values for JSON; O(s^2 + s n) for s subjects of n nodes."""
    groups = list(dict.fromkeys(compared.groups or ()))
    group_of = dict(zip(paths, compared.groups or [None] * len(paths), strict=True))
    solved = {subject: place for place, subject in enumerate(paths)}
    subjects = [
        {
            **{name: _plain(value) for name, value in row.items() if name != "group"},
            "subject": str(row["subject"]),
            "group": groups.index(row["group"]) if row["group"] in groups else -1,
            "place": solved.get(row["subject"], -1),
            "link": links.get(row["subject"]),
            "missingNames": [
                str(name)
                for name in compared.nodes.missing.get(row["subject"], ())[: RESOLUTION.max_named]
            ],
        }
        for row in rows
    ]
    data = {
        "subjects": subjects,
        "groups": [str(group) for group in groups],
        "palette": {"light": palette(N_COLORS), "dark": palette(N_COLORS, dark=True)},
        "neutral": {"light": neutral(), "dark": neutral(dark=True)},
        "common": len(compared.nodes.names),
        "union": len(compared.nodes.union),
        "distances": [_distance_data(each, list(group_of.values())) for each in compared.distances],
        "tests": [
            {name: _plain(value) for name, value in each.row().items()}
            for each in compared.comparisons
        ],
        "trees": [],
        "icicles": [],
    }
    if compared.consensus:
        rank, clusters = _reference(compared, means)
        data["trees"] = _tree_data(compared, means, mean_links, rank, clusters)
        data["icicles"] = [
            _icicle(common_tree(path, compared.nodes, subject).nodes, rank, clusters)
            for subject, path in paths.items()
        ]
    return data


def _plain(value: Any) -> Any:
    return finite_or_none(value) if isinstance(value, float) else value


def _distance_data(distances: SubjectDistances, groups: Sequence[Hashable]) -> dict[str, Any]:
    matrix = distances.matrix
    upper = matrix[np.triu_indices(len(matrix), 1)]
    known = upper[~np.isnan(upper)]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    steps = quantize(np.nan_to_num(matrix, nan=low), 0.0, high, _STEPS)
    steps[np.isnan(matrix)] = _STEPS + 1
    by_tree = _dendrogram_order(matrix)
    first = {group: at for at, group in enumerate(dict.fromkeys(groups))}
    by_group = sorted(by_tree, key=lambda subject: first[groups[subject]])
    return {
        "label": distances.label,
        "meaning": on_page(distances.meaning),
        "low": low,
        "high": high,
        "steps": _STEPS,
        "matrix": encode_array(steps),
        "orders": {"group": by_group, "tree": by_tree},
    }


def _dendrogram_order(matrix: FloatArray) -> list[int]:
    """Subjects in the leaf order of average linkage."""
    known = matrix[~np.isnan(matrix)]
    whole = np.where(np.isnan(matrix), float(known.max(initial=1.0)), matrix)
    hierarchy = scipy.cluster.hierarchy
    condensed = scipy.spatial.distance.squareform(whole, checks=False)
    best = len(matrix) <= _MAX_OPTIMAL_ORDER
    Z = hierarchy.linkage(condensed, "average", optimal_ordering=best)
    return [int(leaf) for leaf in hierarchy.leaves_list(Z)]


def _reference(compared: Overview, means: Mapping[str, Path]) -> tuple[FloatArray, Labels]:
    """Order and clusters of the common nodes, by which all trees are drawn.

    Those of the path of the mean graph, or without it of the majority-rule tree.
    """
    if ALL in means:
        path = means[ALL]
        order = path.tree.leaf_order()
        clusters = path.labels(n_clusters=max(path.suggestion.n_clusters, 2))
    else:
        tree = compared.consensus[ALL].tree
        order = tree.leaf_order()
        counts = [count for count in tree.available_n_clusters if count > 1]
        clusters = tree.labels(n_clusters=min(counts))
    rank = np.empty(len(order))
    rank[order] = np.arange(len(order))
    return rank, clusters


def _tree_data(
    compared: Overview,
    means: Mapping[str, Path],
    links: Mapping[str, str],
    rank: FloatArray,
    clusters: Labels,
) -> list[dict[str, Any]]:
    """The consensus trees: of all subjects, of the mean graph, of every group."""
    trees = []
    for name, consensus in compared.consensus.items():
        nodes, link = consensus.tree.nodes, {"link": links.get(name)}
        head = {"name": name, "kind": "majority", "subjects": consensus.n_trees}
        share = {"share": [round(float(share), 4) for share in consensus.share]}
        drawn = _drawn(nodes, depth_heights(nodes), consensus.tree.names, rank, clusters)
        trees.append(head | share | drawn | link)
        if name == ALL and ALL in means:
            nodes = means[ALL].tree.nodes
            head = {"name": name, "kind": "mean", "share": None, **link}
            drawn = _drawn(nodes, relative_heights(nodes), means[ALL].names, rank, clusters)
            trees.append(head | drawn)
    return trees


def _drawn(
    nodes: Nodes,
    height: FloatArray,
    names: Sequence[Hashable],
    rank: FloatArray,
    clusters: Labels,
) -> dict[str, Any]:
    laid = small_tree(nodes, rank, clusters)
    order = np.argsort(laid.place[: nodes.n_leaves])
    return {
        "names": [str(names[leaf]) for leaf in order],
        "colors": clusters[order].tolist(),
        "parent": encode_array(np.append(nodes.parent[:-1], nodes.parent.size - 1)),
        "place": encode_array(laid.place),
        "size": encode_array(nodes.size),
        "height": encode_array(quantize(height, 0.0, 1.0, _SMALL_STEPS)),
        "steps": _SMALL_STEPS,
    }


def _icicle(nodes: Nodes, rank: FloatArray, clusters: Labels) -> dict[str, Any]:
    """Rectangles of a small icicle: place and width, from and to which height, colour, purity."""
    laid = small_tree(nodes, rank, clusters)
    n = nodes.n_leaves
    top = np.append(laid.height[nodes.parent[:-1]], 1.0)
    shown = np.flatnonzero((nodes.size >= _LEAST_SHARE * n) & (top > laid.height))
    columns = (
        quantize(laid.place[shown] / n, 0.0, 1.0, _SMALL_STEPS),
        quantize(nodes.size[shown] / n, 0.0, 1.0, _SMALL_STEPS),
        quantize(laid.height[shown], 0.0, 1.0, _SMALL_STEPS),
        quantize(top[shown], 0.0, 1.0, _SMALL_STEPS),
        laid.cluster[shown],
        quantize(laid.purity[shown], 0.0, 1.0, 100),
    )
    return {"rows": encode_array(np.stack(columns)), "count": int(shown.size)}


def write_cohort_report(
    cohort: Cohort,
    file: str | os.PathLike[str],
    *,
    groups: Groups | None = None,
    title: str = "Cohort",
    compared: Overview | None = None,
    means: Mapping[str, Path] | None = None,
    links: Mapping[Hashable, str] | None = None,
    mean_links: Mapping[str, str] | None = None,
) -> None:
    """Write the page of a cohort to one HTML file, atomically.

    The page shows the distances between subjects, within groups against between them, the
    consensus trees, and the tree of every subject. It is self-contained and makes no network
    requests.

    Parameters
    ----------
    cohort : Cohort
        Result of `convexhc.solve_paths`, with a solved subject at least.
    file : path
        File to write; replaced if it exists.
    groups : mapping from subject to group, or sequence, optional
        The group of every subject.
    title : str
        Title of the page.
    compared : Overview, optional
        What `convexhc.cohort.overview` found; computed by default.
    means : mapping from group to Path, optional
        Paths of the mean graphs; by default that of all subjects is computed.
    links, mean_links : mappings, optional
        Relative links to the report of each subject, and of each mean graph.

    Raises
    ------
    ValueError
        No solved subject, or no common node.

    Examples
    --------
    >>> import tempfile
    >>> import convexhc
    >>> people = convexhc.datasets.hierarchical_connectomes(n_subjects=2, n_scans=2, n_nodes=16)
    >>> cohort = convexhc.solve_paths(dict(zip(people.names, people.graphs, strict=True)))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_cohort_report(cohort, f"{folder}/cohort.html", groups=people.subject)
    """
    page = cohort_html(
        cohort,
        groups=groups,
        title=title,
        compared=compared,
        means=means,
        links=links,
        mean_links=mean_links,
    )
    write_page(file, page)


def cohort_html(
    cohort: Cohort,
    *,
    groups: Groups | None = None,
    title: str = "Cohort",
    compared: Overview | None = None,
    means: Mapping[str, Path] | None = None,
    links: Mapping[Hashable, str] | None = None,
    mean_links: Mapping[str, str] | None = None,
) -> str:
    """The page of a cohort as HTML text; see `write_cohort_report`."""
    paths = cohort.paths
    known = None if groups is None else cohort.groups_by_name(groups)
    found = overview(paths, known) if compared is None else compared
    if means is None:
        means = {ALL: cohort.mean_path()} if found.consensus else {}
    data = cohort_data(cohort.rows(known), paths, found, means, links or {}, mean_links or {})
    return fill_template(
        "cohort/page.html",
        data,
        title=title,
        summary=_summary(cohort, found),
        styles=STYLES,
        scripts=SCRIPTS,
    )


def _summary(cohort: Cohort, compared: Overview) -> str:
    """What the page says where there is no JavaScript."""
    n_groups = len(set(compared.groups or ()))
    lines = [
        f"{counted(len(cohort), 'subject')}, {counted(n_groups, 'group')}, "
        f"{counted(len(compared.nodes.names), 'common node')}",
        *(str(each) for each in compared.comparisons),
        *(f"{name}: {error}" for name, error in cohort.failed.items()),
    ]
    return "\n".join(lines)
