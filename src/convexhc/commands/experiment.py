"""`convexhc experiment`: rerun a claim of the paper."""

from __future__ import annotations

import os
from argparse import Namespace
from pathlib import Path as File

from convexhc.commands.progress import ProgressLine
from convexhc.commands.speech import Refusal, Say
from convexhc.experiments import EXPERIMENTS


def experiment(options: Namespace, say: Say, progress: ProgressLine) -> int:
    """Run one experiment; finished parts are kept and skipped next time."""
    named = options.data or os.environ.get("CONVEXHC_DATA")
    if named is not None and not File(named).is_dir():
        raise Refusal(f"the data folder {named} does not exist: name it with --data.")
    out = File(options.output)
    EXPERIMENTS[options.name](
        out,
        data=File(named) if named else None,
        quick=options.quick,
        n_jobs=options.n_jobs,
        progress=progress.show,
    )
    progress.clear()
    say(f"written to {out / options.name}")
    return 0
