"""Does an installed convexhc work? Run by `release/check.py` in a fresh environment.

Uses the core dependencies only, and prints the seconds of CPU of each step as JSON.
"""

from __future__ import annotations

import json
import sys
import time
from importlib.metadata import version
from importlib.resources import files
from itertools import combinations
from pathlib import Path

CLIQUES = [range(4 * i, 4 * i + 4) for i in range(4)]
EDGES = [pair for clique in CLIQUES for pair in combinations(clique, 2)]
EDGES += [(3, 4), (2, 5), (11, 12), (10, 13), (7, 8)]


def main() -> None:
    seconds = {}

    def timed(step: str, start: float) -> None:
        seconds[step] = round(time.process_time() - start, 2)

    start = time.process_time()
    import convexhc

    assert convexhc.__version__ == version("convexhc")
    assert "site-packages" in str(Path(convexhc.__file__)), convexhc.__file__
    assert (files("convexhc") / "py.typed").is_file()
    timed("import", start)

    start = time.process_time()
    K = convexhc.similarity.two_hop(EDGES, shift="auto")
    solution = convexhc.solve(K, lam=1.0)
    assert solution.status.name == "SOLVED", solution
    timed("solve", start)

    start = time.process_time()
    path = convexhc.cluster(EDGES)
    found = [sorted(map(int, members)) for members in path.clusters(n_clusters=4)]
    assert found == [list(clique) for clique in CLIQUES], found
    timed("cluster", start)

    start = time.process_time()
    path.save("path.npz")
    again = convexhc.Path.load("path.npz")
    assert again.clusters(n_clusters=2) == path.clusters(n_clusters=2)
    convexhc.report.write_report(path, "report.html")
    assert Path("report.html").stat().st_size > 50_000
    timed("save, load and report", start)

    seconds["all"] = round(time.process_time(), 2)
    print(json.dumps({"python": sys.version.split()[0], **seconds}))


if __name__ == "__main__":
    main()
