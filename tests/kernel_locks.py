"""Compile every kernel once, however many test workers need it."""

from __future__ import annotations

import fcntl
import functools
from pathlib import Path
from typing import Any

from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import Dispatcher


def compile_once(folder: Path) -> None:
    """Let one process at a time compile a kernel, so that the others find it in the cache.

    This also keeps two processes from writing two signatures of a kernel under one number. A kernel
    is locked while those that it calls are compiled; as no kernel calls itself, no two processes
    wait for each other. Within a process numba's own lock comes first, for the same reason.
    """
    folder.mkdir(parents=True, exist_ok=True)
    compile_now = Dispatcher.compile

    @functools.wraps(compile_now)
    def compile_locked(self: Any, sig: Any) -> Any:
        name = f"{self.py_func.__module__}.{self.py_func.__qualname__}"
        if not name.startswith("convexhc."):
            return compile_now(self, sig)
        with global_compiler_lock, open(folder / f"{name}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            return compile_now(self, sig)

    Dispatcher.compile = compile_locked
