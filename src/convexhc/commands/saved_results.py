"""What `convexhc info` says of results: the folder of a fit, finished or not, and a saved file."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path as File
from typing import Any

from convexhc._text import clock, counted
from convexhc.commands.folder import FILES, Folder, resuming
from convexhc.commands.messages import Refusal, Say
from convexhc.io.archive import kind_of
from convexhc.path import Level, Path
from convexhc.path.checkpoint import solved_so_far
from convexhc.solvers.solution import Solution, Status
from convexhc.version import __version__

# Numbers of clusters that are listed; a path of a thousand nodes may have as many.
_LISTED = 20


def tell_saved(file: File, say: Say) -> bool:
    """Tell what is saved there; False if it is neither a folder nor a file of convexhc."""
    if file.is_dir():
        _tell_folder(Folder(file), say)
        return True
    kind = kind_of(file)
    if kind == "path":
        path = Path.load(file)
        say(f"{file}: a path, of convexhc {path.provenance.version}")
        _tell_path(path, path.provenance.options, say)
    elif kind == "checkpoint":
        _tell_progress(file, say)
    elif kind == "solution":
        say(f"{file}: the solution at one lam")
        say(Solution.load(file).summary())
    else:
        return False
    return True


def _tell_folder(folder: Folder, say: Say) -> None:
    if not folder.finished() and not folder.checkpoint.exists():
        raise Refusal(
            f"{folder.root} is a folder without a run: looked for {FILES[-1]} of a finished one "
            f"and {folder.checkpoint.name} of an unfinished one. Name a graph file, or the folder "
            "that convexhc fit -o wrote."
        )
    if folder.finished():
        run = folder.run()
        say(
            f"{folder.root}: finished run of {run['input']}, in {clock(run['seconds'])} with "
            f"convexhc {run['convexhc']}"
        )
        made = {name: run[name] for name in ("similarity", "shift", "weights", "space")}
        _tell_path(folder.path(), {**run["options"], **made}, say)
    if folder.checkpoint.exists():
        _tell_progress(folder.checkpoint, say)
        _tell_how_to_go_on(folder, say)


def _tell_path(path: Path, options: Mapping[str, Any], say: Say) -> None:
    say(path.summary())
    say(f"clusters: {_listed(path.level_n_clusters[::-1])}")
    if not path.complete:
        say("not complete: the path ends before everything is fused that can be")
    _tell_unsolved(path.levels, say)
    say(f"options: {_words(options)}")


def _tell_progress(checkpoint: File, say: Say) -> None:
    levels = solved_so_far(checkpoint)
    low, high = levels[0], levels[-1]
    say(f"{checkpoint}: unfinished run, {counted(low.labels.size, 'node')}")
    say(
        f"{len(levels)} lam solved, from {low.lam:.4g} ({counted(low.n_clusters, 'cluster')}) to "
        f"{high.lam:.4g} ({counted(high.n_clusters, 'cluster')}), in "
        f"{clock(sum(level.seconds for level in levels))}"
    )
    say(f"certificate: largest relative gap {max(level.relative_gap for level in levels):.1e}")
    _tell_unsolved(levels, say)


def _tell_how_to_go_on(folder: Folder, say: Say) -> None:
    """The command, and what has changed since it was begun."""
    if not folder.begun.exists():
        say("go on with: the command it was begun with, and --resume")
        return
    how = json.loads(folder.begun.read_text(encoding="utf-8"))
    there = "" if how["directory"] == os.getcwd() else f" in {how['directory']}"
    say(f"go on{there} with: {resuming(how['arguments'])}")
    if how["convexhc"] != __version__:
        say(f"begun with convexhc {how['convexhc']}, which it needs; this is {__version__}")


def _tell_unsolved(levels: Sequence[Level], say: Say) -> None:
    """Every status but SOLVED: how often, between which lam, and its advice."""
    for status, count in Counter(level.status for level in levels).items():
        if status is not Status.SOLVED:
            lambdas = [level.lam for level in levels if level.status is status]
            first, last = f"{lambdas[0]:.4g}", f"{lambdas[-1]:.4g}"
            where = f"at {first}" if count == 1 else f"from {first} to {last}"
            say(f"{status.name}: {count} lam, {where}. {status.value}")


def _listed(counts: Sequence[int]) -> str:
    said = " ".join(str(count) for count in counts[:_LISTED])
    more = len(counts) - _LISTED
    return f"{said} and {more} more up to {counts[-1]}" if more > 0 else said


def _words(options: Mapping[str, Any]) -> str:
    """Options as a line; what was left open is left out."""
    plain = {name: value for name, value in options.items() if value is not None}
    if isinstance(plain.get("lambdas"), list):
        plain["lambdas"] = f"{len(plain['lambdas'])} given"
    if isinstance(plain.get("similarity"), Mapping):
        plain["similarity"] = plain["similarity"]["kind"]
    return ", ".join(f"{name} {value}" for name, value in plain.items())
