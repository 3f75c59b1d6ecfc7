"""Assembly of the page of a cohort, one self-contained HTML file."""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping

from convexhc._files import write_bytes
from convexhc._text import counted
from convexhc.api.outcomes import Cohort
from convexhc.cohort.groups import Groups
from convexhc.cohort.overview import ALL, Overview, overview
from convexhc.path import Path
from convexhc.report.cohort_data import cohort_data
from convexhc.report.template import fill_template

# Scripts in the order of concatenation; each uses only those before it when loaded.
SCRIPTS = (
    "shared/basics.js",
    "shared/theme.js",
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
    # A title may contain a lone surrogate, which UTF-8 cannot encode; the data is plain ASCII.
    write_bytes(file, page.encode("utf-8", "xmlcharrefreplace"))


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
