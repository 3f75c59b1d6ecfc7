"""Rerun a claim of the paper, or the quality benchmark: ``python -m experiments NAME``.

Finished parts are stored in the results folder, so an interrupted run can be resumed.
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
    """Run an experiment and return the exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given[:1] == ["quality"]:
        # It sets the number of threads, which must precede the import of libraries that start them.
        return quality(given[1:])
    from convexhc.cli import run_command

    return run_command(build_parser().parse_args(given))


def build_parser() -> argparse.ArgumentParser:
    """Parser of the paper's experiments; `quality` has its own."""
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
