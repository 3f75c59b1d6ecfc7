"""Tasks for workers, some of which kill them; a module of its own, which workers import quickly."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any


def doubled(task: Any) -> int:
    """Twice a number; "kill" kills the worker, a path kills the first one only."""
    if task == "kill":
        os._exit(1)
    if isinstance(task, Path):
        try:
            task.mkdir()
        except FileExistsError:
            return 0
        os._exit(1)
    return 2 * int(task)


class KillsOnArrival:
    """A task that kills the worker that receives it."""

    def __reduce__(self) -> Any:
        return os._exit, (1,)
