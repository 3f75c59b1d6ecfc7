"""`convexhc fit --bootstrap`: the support of the tree, and its files."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from convexhc._files import write_text
from convexhc.commands.folder import SUPPORT_FILES, Folder
from convexhc.commands.messages import Refusal
from convexhc.export.csv_table import cell, csv_text
from convexhc.graph import Graph
from convexhc.path import Path
from convexhc.path.scales import Scale
from convexhc.progress_line import ProgressLine
from convexhc.resampling.draws import default_resample, draws
from convexhc.resampling.run import support
from convexhc.resampling.support import Support


def check_bootstrap(options: Namespace, graph: Graph) -> None:
    """Refuse resamples that cannot be drawn, before the path is solved."""
    if options.bootstrap is None:
        return
    if options.similarity == "precomputed":
        raise Refusal(
            "--bootstrap resamples the edges of a graph, and a similarity would not stay positive "
            "semidefinite: fit the graph that it was made from."
        )
    kind = options.resample or default_resample(graph)
    next(draws(graph, kind, n_resamples=options.bootstrap, **_drawn(options)))


def _drawn(options: Namespace) -> dict[str, Any]:
    return {"share": options.edge_share, "random_state": options.seed}


def bootstrap(
    options: Namespace,
    graph: Graph,
    path: Path,
    settings: dict[str, Any],
    folder: Folder,
    progress: ProgressLine,
) -> Support | None:
    """Support of the path, if it was asked for; solved resamples are kept until the fit is done."""
    if options.bootstrap is None:
        return None
    return support(
        graph,
        path=path,
        n_resamples=options.bootstrap,
        resample=options.resample,
        **_drawn(options),
        n_jobs=options.n_jobs,
        folder=folder.resamples,
        progress=progress,
        **settings,
    )


def write_support(folder: Folder, found: Support | None, *, escape: bool) -> None:
    """Write the tables of the support next to those of the path; remove those of an earlier run."""
    folder.remove_support()
    if found is None:
        return
    nodes = found.table("nodes")
    nodes["node"] = [cell(name, escape=escape) for name in nodes["node"]]
    tables = (found.table("branches"), nodes, found.table("levels"))
    for name, table in zip(SUPPORT_FILES, tables, strict=False):
        write_text(folder.root / name, csv_text(table, zip(*table.values(), strict=True)))
    header = ["left", "right", "lam", "size", "share", "transfer"]
    joins = zip(found.tree.Z.tolist(), found.linkage_support.tolist(), strict=True)
    # A row inside a merge of several clusters makes no branch: its cells are empty.
    rows = (
        [int(a), int(b), repr(h), int(k), *("" if value != value else value for value in shares)]
        for (a, b, h, k), shares in joins
    )
    write_text(folder.root / "linkage.csv", csv_text(header, rows))
    write_text(folder.root / "tree.nwk", found.to_newick() + "\n")
    found.save(folder.root / "support.npz")


def support_record(path: Path, found: Support | None) -> dict[str, Any]:
    """Entries of run.json: the scales with their reasons, and how the resamples were made."""
    scales = path.scales if found is None else found.scales
    record: dict[str, Any] = {"scales": [_scale_record(scale) for scale in scales]}
    if found is not None:
        record["bootstrap"] = {
            "n_resamples": found.n_resamples,
            "resample": found.resample,
            "edge_share": found.edge_share,
            "seed": found.random_state,
            "failed": list(found.failed),
        }
    return record


def _scale_record(scale: Scale) -> dict[str, Any]:
    return {
        "n_clusters": scale.n_clusters,
        "lam_from": scale.lam_from,
        "lam_to": scale.lam_to,
        "modularity": scale.modularity,
        "agreement": scale.agreement,
        "robust": scale.survives,
        "reason": scale.reason,
    }
