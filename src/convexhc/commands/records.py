"""The JSON records in the folder of a fit."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path as File
from typing import Any

from convexhc.io.border import border

# Entries of run.json and begun.json that the commands use, and their types.
RUN: Mapping[str, tuple[type, ...]] = {
    "convexhc": (str,),
    "input": (str,),
    "seconds": (int, float),
    "similarity": (str,),
    "shift": (int, float, str, type(None)),
    "weights": (str,),
    "space": (str,),
    "options": (dict,),
}
BEGUN: Mapping[str, tuple[type, ...]] = {
    "convexhc": (str,),
    "arguments": (list,),
    "directory": (str,),
}


def read_record(file: File, expected: Mapping[str, tuple[type, ...]]) -> dict[str, Any]:
    """Read a record; ValueError unless it has the expected entries."""
    with border(file, "record of a run (fit again with --force)"):
        record = json.loads(file.read_text(encoding="utf-8"))
        if not isinstance(record, dict):
            raise ValueError("it holds no entries")
        for name, types in expected.items():
            if not isinstance(record[name], types):
                raise ValueError(f"{name} is {record[name]!r}")
        return record
