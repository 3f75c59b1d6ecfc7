"""Location and readers of the real data sets.

The data folder has one folder per data set, as described in its ``README.md``:
``authors_synthetic``, ``hnu1``, ``khan306``, ``classic``, ``primary_school``. None of it is part of
the package.
"""

from __future__ import annotations

import csv
import os
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array, csr_array

from convexhc._types import FloatArray, IntArray

VARIABLE = "CONVEXHC_DATA"


class Scans(NamedTuple):
    """Repeated connectomes: (m, n, n) weights, and the subject and session of each."""

    weights: FloatArray
    subject: IntArray
    session: IntArray


class Expression(NamedTuple):
    """Expression ratios of the same genes in training and test arrays, one gene per row."""

    train: FloatArray
    test: FloatArray
    train_classes: tuple[str, ...]
    test_classes: tuple[str, ...]


class LabelledGraph(NamedTuple):
    """A graph whose groups are known."""

    name: str
    adjacency: csr_array
    labels: IntArray


def data_folder(data: Path | None) -> Path | None:
    """The given folder, else the one named by CONVEXHC_DATA, else None."""
    named = os.environ.get(VARIABLE)
    chosen = data if data is not None else Path(named) if named else None
    if chosen is not None and not chosen.is_dir():
        raise FileNotFoundError(f"the data folder {chosen} does not exist: give another.")
    return chosen


def require_folder(data: Path | None, experiment: str) -> Path:
    """The data folder; raises an error if there is none."""
    folder = data_folder(data)
    if folder is None:
        raise FileNotFoundError(
            f"the experiment {experiment!r} reads real data: name its folder with --data or in "
            f"{VARIABLE}."
        )
    return folder


def authors_similarity(folder: Path) -> tuple[FloatArray, IntArray, IntArray]:
    """The authors' stored similarity of 196 nodes, with its 28 and its 4 groups."""
    K = np.loadtxt(folder / "authors_synthetic" / "synthetic_K_196.csv", delimiter=",")
    node = np.arange(len(K))
    return (K + K.T) / 2, node // 7, node // 49


def connectomes(folder: Path) -> Scans:
    """Five subjects, ten sessions each, 70 regions; streamline counts."""
    rows = np.loadtxt(
        folder / "hnu1" / "hnu1_5subjects_10sessions_edges.csv", delimiter=",", skiprows=1
    )
    key, place = np.unique(rows[:, :2].astype(np.int64), axis=0, return_inverse=True)
    u, v = (rows[:, column].astype(np.int64) - 1 for column in (2, 3))
    weights = np.zeros((len(key), 70, 70))
    weights[place.ravel(), u, v] = rows[:, 4]
    weights = np.maximum(weights, weights.transpose(0, 2, 1))
    return Scans(weights, key[:, 0], key[:, 1])


def khan(folder: Path) -> Expression:
    """306 genes in 64 training and 25 test arrays; ratios, not their logarithms."""
    here = folder / "khan306"

    def ratios(name: str) -> FloatArray:
        with (here / name).open(newline="") as file:
            return np.array([row[1:] for row in list(csv.reader(file))[1:]], dtype=np.float64)

    def classes(name: str) -> tuple[str, ...]:
        with (here / name).open(newline="") as file:
            return tuple(row["class"] for row in csv.DictReader(file))

    return Expression(
        ratios("khan_train_306x64.csv"),
        ratios("khan_test_306x25.csv"),
        classes("train_classes.csv"),
        classes("test_classes.csv"),
    )


def weighted_graph(file: Path, n: int, *, columns: tuple[str, str, str]) -> csr_array:
    """Symmetric weights of an edge list with a header; both directions of an edge are added."""
    with file.open(newline="") as lines:
        rows = [[float(row[name]) for name in columns] for row in csv.DictReader(lines)]
    u, v, weight = np.array(rows).T
    once = coo_array((weight, (u.astype(np.int32), v.astype(np.int32))), shape=(n, n)).tocsr()
    total = csr_array(once + once.T)
    total.setdiag(0.0)
    total.eliminate_zeros()
    return total
