"""Quality benchmark: this package and other methods on data sets with known groups.

Finished parts are stored in the results folder, so an interrupted run can be resumed.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse the command line and run."""
    options = build_parser().parse_args(arguments)
    if options.seeds < 2:
        raise SystemExit("--seeds must be 2 or more: even draws are for choosing, odd confirm.")
    # Set before any library starts its threads, for this process and its workers.
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ[name] = "1"
    from experiments.quality.benchmark import FULL, QUICK, run

    run(
        options.out,
        data=options.data,
        size=QUICK if options.quick else FULL,
        seeds=options.seeds,
        large=options.large,
        n_jobs=options.n_jobs,
        progress=progress_lines(),
    )
    print((options.out / "summary.md").read_text(encoding="utf-8"))
    print(f"written to {options.out}")
    return 0


def build_parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m experiments.quality", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a dozen sets, in a few minutes")
    parser.add_argument("--data", type=Path, help="folder of real data, else CONVEXHC_DATA")
    parser.add_argument("--out", type=Path, default=Path("results/quality"), help="results")
    parser.add_argument("--n-jobs", type=int, default=2, help="processes, one thread each")
    parser.add_argument("--seeds", type=int, default=6, help="draws of each kind, half for each")
    parser.add_argument("--large", action="store_true", help="LFR graphs of 1000 nodes as well")
    return parser


def progress_lines(every: float = 10.0) -> Callable[[float, str], None]:
    """Progress lines on standard error, at most one per ``every`` seconds, with the time left."""
    from convexhc._text import clock

    begun = time.monotonic()
    shown, previous, skipped = 0.0, 0.0, 0.0

    def show(share: float, text: str) -> None:
        nonlocal shown, previous, skipped
        now = time.monotonic()
        # Results stored by an earlier run do not count for the time estimate.
        skipped += share - previous if text == "start" else 0.0
        previous = share
        if now - shown < every and share < 1.0:
            return
        shown, gone = now, share - skipped
        left = f", about {clock((now - begun) * (1.0 - share) / gone)} left" if gone > 0.02 else ""
        print(f"{share:4.0%} {text}{left}", file=sys.stderr, flush=True)

    return show


if __name__ == "__main__":
    sys.exit(main())
