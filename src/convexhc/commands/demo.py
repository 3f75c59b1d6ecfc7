"""`convexhc demo`: a synthetic graph with known groups, and a real one, each with a report."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path as File

from convexhc.api.clustering import cluster
from convexhc.api.graph_path import solve_path
from convexhc.api.single_lam import solve
from convexhc.commands.messages import Say
from convexhc.datasets import fractal_graph, karate
from convexhc.io import as_graph
from convexhc.metrics import effective_rank
from convexhc.path import Path
from convexhc.progress_line import ProgressLine
from convexhc.report import write_report
from convexhc.similarity import Similarity, from_graph, two_hop


def demo(options: Namespace, say: Say, progress: ProgressLine) -> None:
    """Solve both graphs and write their reports; those of an earlier demo are replaced."""
    folder = File(options.output)
    _fractal(folder / "fractal", say, progress)
    _karate(folder / "karate", say, progress)


def _fractal(folder: File, say: Say, progress: ProgressLine) -> None:
    """Solve the paper's graph at three lam, then along a path."""
    from sklearn.metrics import adjusted_rand_score

    graph = fractal_graph(0)
    K = two_hop(graph.adjacency)
    say("A graph of 196 nodes: 28 cliques of 7, in 4 communities of 49.\n")
    say(
        f"{'lam':>5}  {'clusters':>8}  {'relative gap':>12}  {'effective rank':>14}  "
        f"{'ARI cliques':>11}  {'ARI communities':>15}"
    )
    for lam in (0.5, 1.0, 3.0):
        solution = solve(K, lam)
        say(
            f"{lam:5g}  {solution.n_clusters:8d}  {solution.relative_gap:12.1e}  "
            f"{effective_rank(solution.centroids, K.matrix):14.2f}  "
            f"{adjusted_rand_score(graph.fine, solution.labels):11.3f}  "
            f"{adjusted_rand_score(graph.coarse, solution.labels):15.3f}"
        )
    say(
        "\nThe relative gap bounds the error: no centroids have an objective lower by more than\n"
        "that fraction. ARI 1 means that the clusters are exactly the known groups.\n"
    )
    path = solve_path(K, progress=progress)
    progress.clear()
    say(path.summary())
    title = "Fractal graph: 28 cliques in 4 communities"
    known = {
        name: [f"{name} {label}" for label in labels]
        for name, labels in (("community", graph.coarse), ("clique", graph.fine))
    }
    _report(path, folder, graph.adjacency, K, known, title, say)


def _karate(folder: File, say: Say, progress: ProgressLine) -> None:
    """Cluster a real network with the default options."""
    from sklearn.metrics import adjusted_rand_score

    club = karate()
    say("\nZachary's karate club: 34 members, who later split in two. Default options.\n")
    path = cluster(club.adjacency, progress=progress)
    progress.clear()
    say(path.summary())
    found = adjusted_rand_score(club.labels, path.labels(n_clusters=2))
    say(f"ARI of two clusters with the split: {found:.3f}")
    K = from_graph(club.adjacency)
    known = {} if club.labels is None else {"faction": club.labels.tolist()}
    _report(path, folder, club.adjacency, K, known, "Zachary's karate club", say)


def _report(
    path: Path,
    folder: File,
    adjacency: object,
    K: Similarity,
    known: Mapping[str, Sequence[object]],
    title: str,
    say: Say,
) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "report.html"
    graph = as_graph(adjacency)
    write_report(path, file, graph=graph, similarity=K.graph, attributes=known, title=title)
    say(f"open {file}")
