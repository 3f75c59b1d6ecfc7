"""What the tests of the experiments share: a silent progress bar, and tables read back."""

from __future__ import annotations

import csv
from pathlib import Path


def quiet(share: float, text: str) -> None:
    assert 0.0 <= share <= 1.0


def read(file: Path) -> list[dict[str, str]]:
    with file.open(newline="") as lines:
        return list(csv.DictReader(lines))


def files(folder: Path, suffix: str) -> set[str]:
    return {file.stem for file in folder.glob(f"*.{suffix}")}
