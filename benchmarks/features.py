"""Graphs of a thousand to a hundred thousand nodes in feature space: seconds, memory, recovery.

The graph has up to 10 x 10 nested groups of unequal size and a mean degree of about 14; 70 % of the
neighbours of a node are drawn in its group, 20 % in its coarse group, 10 % anywhere. `cluster` runs
with its defaults, and the suggested scale and the labels at both known numbers of groups are timed
as well. Each size runs in a separate process, whose peak memory is measured. At the sizes of
`--agreement` the labels are compared with those of the graph model (eq. 4) with the same weights,
at the sizes of `--leaves` those of a path from leaves with those of a path from single nodes.
Results go to benchmarks/results/features.csv, agreement.csv and leaves.csv.

    python benchmarks/features.py [--nodes 1000 20000 100000] [--max-clusters 100] [--threads 1]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
# Most coarse groups, and fine groups in each; nodes of the smallest fine groups; mean degree.
SIDE, GROUP_NODES, DEGREE = 10, 50, 14
INSIDE, NEAR = 0.7, 0.2


def dataset(n: int, seed: int = 0):
    """Adjacency (csr), coarse and fine groups of a graph in nested groups, nodes shuffled."""
    import numpy as np
    from scipy.sparse import csr_array

    rng = np.random.default_rng(seed)
    side = int(np.clip(np.sqrt(n / GROUP_NODES), 2, SIDE))
    share = rng.uniform(0.5, 1.5, side * side)
    fine = np.sort(rng.choice(side * side, n, p=share / share.sum()))
    sizes = np.bincount(fine, minlength=side * side)
    first = np.cumsum(sizes) - sizes
    one = np.repeat(np.arange(n), rng.integers(DEGREE // 4, DEGREE - DEGREE // 4 + 1, n))
    draw, home = rng.random(one.size), fine[one]
    around = home // side * side + rng.integers(0, side, one.size)
    far = rng.integers(0, side * side, one.size)
    goal = np.where(draw < INSIDE, home, np.where(draw < INSIDE + NEAR, around, far))
    other = first[goal] + (rng.random(one.size) * sizes[goal]).astype(np.int64)
    place, apart = rng.permutation(n), one != other
    one, other = place[one[apart]], place[other[apart]]
    A = csr_array((np.ones(one.size), (one, other)), shape=(n, n))
    A = A.maximum(A.T).tocsr()
    A.data[:] = 1.0
    groups = np.empty(n, dtype=np.int64)
    groups[place] = fine
    return A, groups // side, groups


def measure(n: int, max_clusters: int | None) -> dict[str, object]:
    """One path with its suggestion and labels, after a small one that compiles."""
    import time

    from record import peak_megabytes
    from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score

    import convexhc

    warm = dataset(300)[0]
    convexhc.cluster(warm, max_clusters=max_clusters and 10, lambdas=None if max_clusters else 10)
    A, coarse, fine = dataset(n)
    begin, cpu = time.perf_counter(), time.process_time()
    lambdas = None if max_clusters else "auto"
    path = convexhc.cluster(A, lambdas, max_clusters=max_clusters)
    solved = time.process_time() - cpu
    suggestion = path.suggestion
    row: dict[str, object] = {
        "nodes": n,
        "edges": A.nnz // 2,
        "max_clusters": max_clusters or 0,
        "leaves": path.provenance.options["similarity"]["n_leaves"],
        "n_lam": len(path.levels),
        "largest_gap": float(path.relative_gap.max()),
        "cluster_cpu_seconds": solved,
        "suggested": suggestion.n_clusters,
        "structure_z": path.structure.z_score,
    }
    for name, truth in (("coarse", coarse), ("fine", fine)):
        count = int(truth.max()) + 1
        labels = path.labels(n_clusters=count)
        row[f"{name}_groups"] = count
        row[f"{name}_ari"] = adjusted_rand_score(truth, labels)
        row[f"{name}_ami"] = adjusted_mutual_info_score(truth, labels)
    row["cpu_seconds"] = time.process_time() - cpu
    row["seconds"] = time.perf_counter() - begin
    row["peak_megabytes"] = peak_megabytes()
    return row


def agreement(n: int) -> dict[str, object]:
    """Labels in feature space against those of the graph model with the same weights."""
    from sklearn.metrics import adjusted_rand_score

    import convexhc

    A, coarse, fine = dataset(n)
    features = convexhc.cluster(A, test_structure=False)
    graph = convexhc.cluster(A, 60, space="similarity")
    row: dict[str, object] = {"nodes": n}
    for name, truth in (("coarse", coarse), ("fine", fine)):
        one, other = (path.labels(n_clusters=int(truth.max()) + 1) for path in (features, graph))
        row |= {
            f"{name}_groups": int(truth.max()) + 1,
            f"{name}_agreement": adjusted_rand_score(one, other),
            f"{name}_ari_features": adjusted_rand_score(truth, one),
            f"{name}_ari_graph": adjusted_rand_score(truth, other),
        }
    return row


def against_nodes(n: int) -> dict[str, object]:
    """Labels of a path from leaves, a fifth of the nodes, against those of one from the nodes."""
    from dataclasses import replace

    from sklearn.metrics import adjusted_rand_score

    import convexhc
    from convexhc.similarity import leaves

    A, coarse, fine = dataset(n)
    whole = convexhc.cluster(A, test_structure=False)
    settings = leaves.SETTINGS
    leaves.SETTINGS = replace(settings, max_nodes=n - 1, n_leaves=n // 5)
    try:
        joined = convexhc.cluster(A, test_structure=False)
    finally:
        leaves.SETTINGS = settings
    row: dict[str, object] = {"nodes": n, "leaves": n // 5}
    for name, truth in (("coarse", coarse), ("fine", fine)):
        one, other = (path.labels(n_clusters=int(truth.max()) + 1) for path in (whole, joined))
        row |= {
            f"{name}_groups": int(truth.max()) + 1,
            f"{name}_agreement": adjusted_rand_score(one, other),
            f"{name}_ari_nodes": adjusted_rand_score(truth, one),
            f"{name}_ari_leaves": adjusted_rand_score(truth, other),
        }
    return row


def in_a_process(n: int, max_clusters: int | None, threads: int) -> dict[str, object]:
    pinned = {**os.environ, **dict.fromkeys(THREADS, str(threads))}
    command = [sys.executable, str(HERE / "features.py"), "--one", str(n)]
    command += ["--max-clusters", str(max_clusters)] if max_clusters else []
    run = subprocess.run(command, env=pinned, stdout=subprocess.PIPE, text=True, check=True)
    return {**json.loads(run.stdout.splitlines()[-1]), "threads": threads}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, nargs="*", default=[1000, 20_000, 100_000])
    parser.add_argument("--max-clusters", type=int, help="levels up to so many, from above")
    parser.add_argument("--agreement", type=int, nargs="*", default=[], metavar="NODES")
    parser.add_argument("--leaves", type=int, nargs="*", default=[], metavar="NODES")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options.one, options.max_clusters)))
        return 0
    from record import keep, product_seconds, say, stamp

    unit = product_seconds()
    for n in options.nodes:
        row = in_a_process(n, options.max_clusters, options.threads)
        say(row)
        known = stamp(unit, threads=options.threads)
        keep("features", [row], known, key=["nodes", "max_clusters"])
    for name, compare, sizes in (
        ("agreement", agreement, options.agreement),
        ("leaves", against_nodes, options.leaves),
    ):
        for n in sizes:
            row = compare(n)
            say(row)
            keep(name, [row], stamp(unit, threads=options.threads), key=["nodes"])
    return 0


if __name__ == "__main__":
    sys.exit(main())
