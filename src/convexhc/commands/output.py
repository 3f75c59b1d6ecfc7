"""`convexhc export` and `convexhc plot`: a finished fit in the formats of other programs."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from pathlib import Path as File
from typing import Any

from convexhc import plots
from convexhc._files import atomic_write
from convexhc.commands.folder import Folder, refuse_to_overwrite
from convexhc.commands.messages import Refusal, Say
from convexhc.export import FORMATS, format_of
from convexhc.graph import Graph
from convexhc.path import Path
from convexhc.plots.style import SETTINGS

KINDS = ("dendrogram", "icicle", "network", "sankey", "scan")
# Figures of several scales.
OF_SEVERAL = ("sankey", "scan")
PICTURES = (".svg", ".png", ".pdf")


def add_plot_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `convexhc plot`."""
    parser.add_argument("folder", metavar="OUT", help="folder of a finished fit")
    parser.add_argument("--kind", default=KINDS[0], choices=KINDS, help="default %(default)s")
    parser.add_argument(
        "-o", "--output", required=True, metavar="FILE", help="ends in .svg, .png or .pdf"
    )
    scale = parser.add_mutually_exclusive_group()
    scale.add_argument(
        "-k",
        "--n-clusters",
        type=_numbers(int),
        metavar="K",
        help="number of clusters; several for sankey and scan, as in 12,6,2 (default: suggested)",
    )
    scale.add_argument("--lam", type=_numbers(float), help="strength of the penalty, or several")
    parser.add_argument("--force", action="store_true", help="overwrite FILE")


def add_export_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `convexhc export`."""
    parser.add_argument("folder", metavar="OUT", help="folder of a finished fit")
    parser.add_argument(
        "--format",
        choices=FORMATS,
        help="gexf, graphml: Gephi; cx2: Cytoscape; newick: the tree; csv: the nodes (default: by "
        "the ending of FILE)",
    )
    parser.add_argument("-o", "--output", required=True, metavar="FILE")
    parser.add_argument("--force", action="store_true", help="overwrite FILE")


def _numbers(kind: type) -> Callable[[str], list[float]]:
    """Argument type of numbers separated by commas."""

    def numbers(text: str) -> list[float]:
        return [kind(word) for word in text.split(",")]

    return numbers


def export(options: Namespace, say: Say) -> int:
    """Write the clustered graph, its nodes or the tree of a finished fit."""
    path = Folder(File(options.folder)).path()
    file = File(options.output)
    kind = options.format
    if kind is None:
        try:
            kind = format_of(file)
        except ValueError as error:
            raise Refusal(f"{error} Or give --format.") from None
    refuse_to_overwrite(file, force=options.force)
    path.export(file, kind)
    say(f"written to {file}")
    return 0


def plot(options: Namespace, say: Say) -> int:
    """Draw a figure of a finished fit."""
    file = File(options.output)
    if file.suffix.lower() not in PICTURES:
        raise Refusal(f"{file} must end in {', '.join(PICTURES[:-1])} or {PICTURES[-1]}.")
    folder = Folder(File(options.folder))
    path = folder.path()
    refuse_to_overwrite(file, force=options.force)
    figure = _drawn(options.kind, path, lambda: folder.graph(path.names), _scales(options))
    with atomic_write(file) as stream:
        figure.savefig(stream, format=file.suffix[1:].lower(), dpi=SETTINGS.dpi)
    say(f"written to {file}")
    return 0


def _scales(options: Namespace) -> dict[str, Any]:
    """The scales asked for: several for the figures that show several, else one."""
    given: dict[str, Any] = {"n_clusters": options.n_clusters, "lam": options.lam}
    given = {name: values for name, values in given.items() if values is not None}
    if options.kind in OF_SEVERAL:
        return given
    if any(len(values) > 1 for values in given.values()):
        raise Refusal(f"a {options.kind} shows one scale: give one number.")
    return {name: values[0] for name, values in given.items()}


def _drawn(kind: str, path: Path, graph: Callable[[], Graph], scales: dict[str, Any]) -> Any:
    """Draw the figure."""
    draw = getattr(plots, kind)
    drawn = draw(path, graph(), **scales) if kind == "network" else draw(path, **scales)
    ax = drawn[0] if kind == "scan" else drawn
    return ax.get_figure(root=True)
