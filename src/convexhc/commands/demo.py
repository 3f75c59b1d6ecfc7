"""`convexhc demo`: a graph whose groups are known, and a real one, each with its report."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from pathlib import Path as File

from sklearn.metrics import adjusted_rand_score

from convexhc.commands.speech import ProgressLine, Say
from convexhc.datasets import fractal_graph, karate
from convexhc.metrics import effective_rank
from convexhc.path import Point, solve_path
from convexhc.report import write_report
from convexhc.similarity import two_hop
from convexhc.solvers.solve import solve


def demo(options: Namespace, say: Say, progress: ProgressLine) -> int:
    """Solve, tell, and leave the reports in a folder."""
    folder = File(options.output)
    folder.mkdir(parents=True, exist_ok=True)
    _fractal(folder, say, progress)
    _karate(folder, say, progress)
    return 0


def _fractal(folder: File, say: Say, progress: ProgressLine) -> None:
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
        "\nThe gap is a proof: no centroids have an objective better than ours by more than that\n"
        "share. ARI 1 means that the clusters are exactly the known groups.\n"
    )
    path = solve_path(K, on_check=_drawer(progress, "fractal graph"))
    progress.clear()
    say(path.summary())
    file = folder / "fractal.html"
    write_report(path, file, graph=K.graph, title="Fractal graph, 196 nodes")
    say(f"open {file}\n")


def _karate(folder: File, say: Say, progress: ProgressLine) -> None:
    club = karate()
    K = two_hop(club.adjacency, gamma=0.05)
    path = solve_path(K, weights=10, on_check=_drawer(progress, "karate club"))
    progress.clear()
    say("Zachary's karate club: 34 members, who later split in two.\n")
    say(path.summary())
    labels = path.labels(n_clusters=2, min_cluster_size=5)
    say(f"ARI of the cut in two with the split: {adjusted_rand_score(club.labels, labels):.3f}")
    file = folder / "karate.html"
    write_report(path, file, graph=K.graph, title="Zachary's karate club")
    say(f"open {file}")


def _drawer(progress: ProgressLine, what: str) -> Callable[[Point], None]:
    def draw(point: Point) -> None:
        progress.show(0.0, f"{what}: lam {point.lam:.3g}, {point.n_clusters} clusters")

    return draw
