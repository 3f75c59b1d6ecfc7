"""The commands that show a finished fit otherwise: `cut`, `plot`, `export` and `report`."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path as File

from convexhc import plots
from convexhc._files import atomic_write, write_text
from convexhc._text import counted
from convexhc.commands.fit import write_run_report
from convexhc.commands.folder import Folder
from convexhc.commands.inputs import read_attributes
from convexhc.commands.messages import Refusal, Say
from convexhc.export import format_of
from convexhc.export.csv_table import cell, csv_text
from convexhc.plots.style import SETTINGS
from convexhc.progress_line import ProgressLine

KINDS = ("dendrogram", "icicle", "network", "sankey", "scan")
# Figures of several scales.
OF_SEVERAL = ("sankey", "scan")
PICTURES = (".svg", ".png", ".pdf")


def cut(options: Namespace, say: Say, progress: ProgressLine) -> None:
    """Print the labels at one scale as CSV, or write them to a file."""
    path = Folder(File(options.folder)).path()
    labels = path.labels(
        n_clusters=options.n_clusters,
        lam=options.lam,
        by=options.by,
        min_cluster_size=options.min_cluster_size,
        small="noise" if options.noise else "nearest",
    )
    names = [cell(name, escape=options.escape_formulas) for name in path.names]
    text = csv_text(["node", "cluster"], zip(names, labels.tolist(), strict=True))
    if options.output is None:
        say(text.rstrip("\n"))
        return
    file = _new_file(options)
    write_text(file, text)
    clusters = counted(int(labels.max()) + 1, "cluster")
    say(f"{clusters} of {counted(labels.size, 'node')} written to {file}")


def plot(options: Namespace, say: Say, progress: ProgressLine) -> None:
    """Draw a figure of a finished fit."""
    file = File(options.output)
    if file.suffix.lower() not in PICTURES:
        raise Refusal(f"{file} must end in {', '.join(PICTURES[:-1])} or {PICTURES[-1]}.")
    folder = Folder(File(options.folder))
    path = folder.path()
    _new_file(options)
    given = {"n_clusters": options.n_clusters, "lam": options.lam}
    scales = {name: values for name, values in given.items() if values is not None}
    if options.kind not in OF_SEVERAL:
        if any(len(values) > 1 for values in scales.values()):
            raise Refusal(f"a {options.kind} shows one scale: give one number.")
        scales = {name: values[0] for name, values in scales.items()}
    graph = [folder.graph(path.names)] if options.kind == "network" else []
    drawn = getattr(plots, options.kind)(path, *graph, **scales)
    figure = (drawn[0] if options.kind == "scan" else drawn).get_figure(root=True)
    with atomic_write(file) as stream:
        figure.savefig(stream, format=file.suffix[1:].lower(), dpi=SETTINGS.dpi)
    say(f"written to {file}")


def export(options: Namespace, say: Say, progress: ProgressLine) -> None:
    """Write the clustered graph, its nodes or the tree of a finished fit."""
    path = Folder(File(options.folder)).path()
    try:
        kind = options.format or format_of(options.output)
    except ValueError as error:
        raise Refusal(f"{error} Or give --format.") from None
    file = _new_file(options)
    path.export(file, kind)
    say(f"written to {file}")


def report(options: Namespace, say: Say, progress: ProgressLine) -> None:
    """Write the report of a finished fit again."""
    folder = Folder(File(options.folder))
    path, run = folder.path(), folder.run()
    file = _new_file(options) if options.output else folder.report
    graph = folder.graph(path.names)
    attributes = read_attributes(options.attributes, path.names)
    write_run_report(file, path, graph, run, attributes, folder.support())
    say(f"written to {file}")


def _new_file(options: Namespace) -> File:
    """The file to write; refused if it exists, unless --force is given."""
    file = File(options.output)
    if file.exists() and not options.force:
        raise Refusal(f"{file} exists: name another file, or overwrite it with --force.")
    return file
