"""Rerun a claim of the paper, or score the clusters: ``python -m experiments NAME``.

Finished parts are kept in the folder of the results, and an interrupted run goes on from there.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.paper import EXPERIMENTS
from experiments.quality.__main__ import main as quality

if TYPE_CHECKING:
    from convexhc.commands.messages import Say
    from convexhc.progress_line import ProgressLine


def main(arguments: Sequence[str] | None = None) -> int:
    """Run an experiment; the answer is the exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given[:1] == ["quality"]:
        # It pins the threads, which must come before the import of any library that starts them.
        return quality(given[1:])
    from convexhc.cli import run_command

    return run_command(build_parser().parse_args(given))


def build_parser() -> argparse.ArgumentParser:
    """The command line of the paper's experiments; that of `quality` is its own."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments",
        description="Rerun a claim of the paper; quality has options of its own.",
        epilog="example: python -m experiments synthetic --quick",
    )
    parser.add_argument("name", choices=sorted([*EXPERIMENTS, "quality"]))
    parser.add_argument("--quick", action="store_true", help="minutes instead of the full size")
    parser.add_argument("--data", help="folder of the data sets; default: CONVEXHC_DATA")
    parser.add_argument("-o", "--output", default="results", help="folder (default %(default)s)")
    parser.add_argument("--n-jobs", type=int, default=2, help="processes (default %(default)s)")
    parser.add_argument("--quiet", action="store_true", help="say nothing but errors")
    parser.set_defaults(run=experiment)
    return parser


def experiment(options: argparse.Namespace, say: Say, progress: ProgressLine) -> int:
    """Run one claim of the paper."""
    from convexhc.commands.messages import Refusal

    if options.name == "quality":
        raise Refusal("quality has options of its own, which stand after its name.")
    named = options.data or os.environ.get("CONVEXHC_DATA")
    if named is not None and not Path(named).is_dir():
        raise Refusal(f"the data folder {named} does not exist: name it with --data.")
    out = Path(options.output)
    EXPERIMENTS[options.name](
        out,
        data=Path(named) if named else None,
        quick=options.quick,
        n_jobs=options.n_jobs,
        progress=progress.show,
    )
    progress.clear()
    say(f"written to {out / options.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
