"""Fits killed at random moments by SIGKILL, SIGTERM and SIGINT, and resumed.

    python tests/fuzz/kills.py --kills 30 --seed 0

The files must be those of an uninterrupted fit, but for times. Every fit is a forked process, so
that moments are spread over reading, solving and writing and not over imports.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np

from convexhc.cli import main
from convexhc.commands.folder import FILES
from convexhc.datasets import fractal_graph

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
# Exit status by signal: a process that handles it exits with 128 plus its number.
HANDLED = {signal.SIGTERM: 143, signal.SIGINT: 130}
SECONDS_IN_TEXT = re.compile(r'Computed in [^"<]*? with|"seconds":\s*[0-9.e+-]+')


def write_graph(file: Path) -> None:
    graph = fractal_graph(0, n_meta=2, n_super=3, clique=4)
    tail, head = np.nonzero(np.triu(graph.adjacency.toarray()))
    lines = [f"n{a:02d},n{b:02d},1" for a, b in zip(tail, head, strict=True)]
    file.write_text("\n".join(["source,target,weight", *lines]) + "\n")


def start(arguments: list[str]) -> int:
    """Fork a process that runs the command line; its id."""
    child = os.fork()
    if child == 0:
        code = 70
        try:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            with open(os.devnull, "w") as nowhere:
                os.dup2(nowhere.fileno(), 2)
            code = main(arguments)
        finally:
            os._exit(code)
    return child


def finish(child: int) -> int:
    """Wait for a process; its exit code, or minus the signal that killed it."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def content(folder: Path) -> dict[str, object]:
    """Every file, without the times in it."""
    kept: dict[str, object] = {}
    for file in folder.iterdir():
        if file.name.startswith("."):
            kept[file.name] = "hidden"
        elif file.suffix == ".npz":
            with np.load(file) as archive:
                kept |= {
                    f"{file.name}/{name}": archive[name].tobytes()
                    for name in archive.files
                    if name != "seconds"
                }
        elif file.name == "report.html":
            # Times are inside encoded arrays too, so that only its length is stable.
            kept[file.name] = "report"
        elif file.name == "run.json":
            run = json.loads(file.read_text())
            kept[file.name] = {
                name: value for name, value in run.items() if name not in ("seconds", "arguments")
            }
        else:
            kept[file.name] = SECONDS_IN_TEXT.sub("", file.read_text())
    return kept


def kill_once(given: list[str], out: Path, number: signal.Signals, delay: float) -> str:
    """Kill a fit after ``delay`` seconds and finish it; at what stage it was killed."""
    child = start(given)
    time.sleep(delay)
    os.kill(child, number)
    code = finish(child)
    if code not in (0, -number, HANDLED.get(number)):
        raise AssertionError(f"exit code {code} after {number.name}")
    left = {file.name for file in out.iterdir()} if out.exists() else set()
    if "run.json" in left and "checkpoint.npz" not in left:
        return "finished"
    resumed = "checkpoint.npz" in left
    stage = "writing" if left & set(FILES) else "solving" if resumed else "reading"
    again = finish(start([*given, "--resume"] if resumed else given))
    if again != 0:
        raise AssertionError(f"exit code {again} of the second run, which found {sorted(left)}")
    return stage


def run(kills: int, seed: int, work: Path) -> int:
    """Kill so many fits, and print how many at each stage; 1 if files differ."""
    rng = np.random.default_rng(seed)
    file, out = work / "edges.csv", work / "out"
    write_graph(file)
    given = ["fit", str(file), "-o", str(out), "--quiet", "--n-jobs", "1"]
    # The first run compiles, and freshly compiled code may differ in the last bit.
    for _ in range(2):
        shutil.rmtree(out, ignore_errors=True)
        began = time.monotonic()
        assert finish(start(given)) == 0
        duration = time.monotonic() - began
    expected = content(out)
    counts: Counter[str] = Counter()
    while counts.total() < kills:
        shutil.rmtree(out)
        number = SIGNALS[counts.total() % len(SIGNALS)]
        # Late moments are more frequent, since most files are written at the end.
        stage = kill_once(given, out, number, duration * rng.beta(1.5, 1.0))
        found = content(out)
        hidden = [name for name in found if name.startswith(".")]
        for name in hidden:
            # What a process killed at the very end could not remove; the next fit would.
            if number != signal.SIGKILL or stage != "finished":
                raise AssertionError(f"{name} was left behind")
            del found[name]
        if found != expected:
            names = [name for name in expected if found.get(name) != expected[name]]
            print(f"{number.name} while {stage}: other content of {names}")
            return 1
        if stage == "finished":
            # The signal came too late: fits have become faster.
            duration *= 0.8
            continue
        counts[f"{number.name} while {stage}"] += 1
        print(f"{counts.total()}: {number.name} while {stage}", flush=True)
    for what, count in sorted(counts.items()):
        print(f"{count:4d} {what}")
    print(f"{kills} kills, the same files after each")
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Fits killed at random moments.")
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        sys.exit(run(options.kills, options.seed, Path(scratch)))
