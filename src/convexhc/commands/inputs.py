"""What a command is given: graphs and how to read them, attributes, subjects and their groups."""

from __future__ import annotations

import csv
import re
from argparse import Namespace
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path as File
from typing import Any

from convexhc._text import counted
from convexhc.api.clustering import make_similarity
from convexhc.api.points_path import in_feature_space
from convexhc.commands.messages import Refusal
from convexhc.graph import Graph
from convexhc.graph_checks import HOW_TO_SYMMETRIZE
from convexhc.io import as_graph
from convexhc.io.files import SUFFIXES
from convexhc.similarity.result import Shift

# Largest graph whose dense similarity is computed for the report.
_MAX_DENSE_NODES = 2000
# Names of the columns of a table of groups, in any case.
SUBJECT_COLUMNS = ("subject", "name", "file", "participant_id", "id")
GROUP_COLUMN = "group"
# Longest name of a folder; file systems allow about 255 bytes.
_MAX_NAME = 100


def read_graph(options: Namespace) -> Graph:
    """Read the graph; an error of the file is an error of usage."""
    signed = options.similarity == "precomputed" and weights_of(options) is not None
    try:
        asked = {"symmetrize": options.symmetrize, "columns": options.columns}
        return as_graph(options.graph, signed=signed, **asked)
    except (ValueError, TypeError, OSError, ImportError) as error:
        # Errors speak of Python's arguments; here there are options.
        said = str(error).replace(HOW_TO_SYMMETRIZE, "Give --symmetrize mean, max or min")
        raise Refusal(said) from error


def columns_of(text: str) -> tuple[str | int, ...]:
    """Columns as `as_graph` takes them: names, or numbers from 1.

    Examples
    --------
    >>> columns_of("gene_a,gene_b"), columns_of("1,3")
    (('gene_a', 'gene_b'), (1, 3))
    """
    words = [word.strip() for word in text.split(",")]
    return tuple(int(word) if word.isdigit() else word for word in words)


def kernel_of(graph: Graph, kind: str, shift: Shift | None) -> Graph:
    """The similarity of a graph, for the report and the estimate of costs."""
    if kind == "graph" and shift is None and graph.n > _MAX_DENSE_NODES:
        return graph
    try:
        return make_similarity(graph, kind, shift=shift).graph
    except (ValueError, TypeError) as error:
        raise Refusal(str(error)) from error


def weights_of(options: Namespace) -> Any:
    """The weights as `convexhc.cluster` takes them: "multiscale", a number, or None for all."""
    word = options.weights
    if word in ("all", "multiscale"):
        return None if word == "all" else word
    if not word.isdigit() or int(word) < 1:
        raise Refusal(
            f"--weights must be 'multiscale', 'all' or a number of neighbours, received {word!r}."
        )
    return int(word)


def in_features(options: Namespace) -> bool:
    """Whether the penalty acts in feature space."""
    return in_feature_space(weights_of(options), options.space)


def read_attributes(file: str | None, names: Sequence[Hashable]) -> dict[str, list[str | None]]:
    """Columns of a CSV file with a title line, whose first column has the names of the nodes.

    Nodes that the file does not name have no value; without a file there are no attributes.
    """
    if file is None:
        return {}
    try:
        with File(file).open(newline="", encoding="utf-8-sig") as lines:
            title, *rows = [row for row in csv.reader(lines, strict=True) if row]
    except (OSError, UnicodeError, csv.Error) as error:
        raise Refusal(f"--attributes {file}: cannot be read as CSV: {error}.") from error
    except ValueError:
        raise Refusal(f"--attributes {file}: the file is empty.") from None
    if len(title) < 2:
        raise Refusal(
            f"--attributes {file}: one column only: the first names the nodes, each further one is "
            "an attribute with its name in line 1."
        )
    values: dict[str, list[str]] = {}
    for row in rows:
        if len(row) != len(title):
            raise Refusal(f"--attributes {file}: {len(row)} cells, not {len(title)}, in {row}.")
        if row[0] in values:
            raise Refusal(f"--attributes {file}: the node {row[0]!r} has two lines.")
        values[row[0]] = row
    if not any(str(name) in values for name in names):
        raise Refusal(
            f"--attributes {file}: none of its {counted(len(values), 'node')} is in the graph, "
            f"whose first is {str(names[0])!r}: the first column must have the names of the nodes."
        )
    nothing: Sequence[str | None] = [None] * len(title)
    columns = zip(*(values.get(str(name), nothing) for name in names), strict=True)
    return {name: list(column) for name, column in list(zip(title, columns, strict=True))[1:]}


@dataclass(frozen=True)
class Subject:
    """One graph file: the name of the subject, the file, and the name of its folder."""

    name: str
    file: File
    folder: str


def find_subjects(given: Sequence[str], *, besides: File | None = None) -> list[Subject]:
    """The graph files among files and folders, one subject each, in the order of their names.

    A folder stands for the graph files directly in it, except hidden ones and ``besides``. The
    name of a subject is that of its file without extension, or with it where two would be equal.
    """
    files: list[File] = []
    for word in given:
        entry = File(word)
        files.extend(_inside(entry, besides) if entry.is_dir() else [entry])
    files = list(dict.fromkeys(files))
    for shorten in (lambda file: file.stem, lambda file: file.name, str):
        names = [shorten(file) for file in files]
        if len(set(names)) == len(names):
            break
    if len(files) < 2:
        raise Refusal(
            f"a cohort needs two graphs or more, received {len(files)}: name the files, or their "
            "folder. For a single graph: convexhc fit."
        )
    return list(map(Subject, names, files, folder_names(names)))


def _inside(folder: File, besides: File | None) -> list[File]:
    left_out = None if besides is None else besides.resolve()
    found = sorted(
        file
        for file in folder.iterdir()
        if file.suffix.lower() in SUFFIXES
        and not file.name.startswith(".")
        and file.is_file()
        and file.resolve() != left_out
    )
    if not found:
        raise Refusal(f"{folder} holds no graph file: looked for {' '.join(SUFFIXES)}")
    return found


def folder_names(names: Sequence[str]) -> list[str]:
    """A name of a folder for each name: distinct, and of plain characters only.

    Examples
    --------
    >>> folder_names(["sub 1", "sub-1", ".."])
    ['sub-1', 'sub-1-2', 'unnamed']
    """
    taken: set[str] = set()
    found = []
    for name in names:
        plain = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip(".-")[:_MAX_NAME] or "unnamed"
        others = (f"{plain}-{number}" for number in count(2))
        # File systems may not tell upper from lower case.
        found.append(next(one for one in chain([plain], others) if one.lower() not in taken))
        taken.add(found[-1].lower())
    return found


def read_groups(file: File, subjects: Sequence[Subject]) -> dict[str, str]:
    """The group of every subject, from a table with a header: CSV, or TSV by its extension.

    The column ``group`` holds the group; ``subject`` (or name, file, id), else the first one, holds
    the name of the subject or of its file. Other rows are ignored.
    """
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise Refusal(f"{file}: {error}") from error
    delimiter = "\t" if file.suffix.lower() == ".tsv" else ","
    rows = [row for row in csv.reader(text.splitlines(), delimiter=delimiter) if row]
    header = [cell.strip().lower() for cell in rows[0]] if rows else []
    if GROUP_COLUMN not in header or len(header) < 2:
        raise Refusal(
            f"{file}: the first line must name the columns, as in 'subject,group'; it is "
            f"{','.join(rows[0]) if rows else 'missing'!r}."
        )
    group = header.index(GROUP_COLUMN)
    named = [header.index(name) for name in SUBJECT_COLUMNS if name in header]
    subject = named[0] if named else next(at for at in range(len(header)) if at != group)
    known: dict[str, str] = {}
    for row in rows[1:]:
        if len(row) <= max(group, subject):
            raise Refusal(f"{file}: the row {','.join(row)!r} has no group.")
        name, value = row[subject].strip(), row[group].strip()
        if known.setdefault(name, value) != value:
            raise Refusal(f"{file}: {name!r} is in two groups, {known[name]!r} and {value!r}.")
    found = {each.name: known.get(each.name, known.get(each.file.name, "")) for each in subjects}
    without = [name for name, value in found.items() if not value]
    if without:
        more = f" and {len(without) - 1} more" if len(without) > 1 else ""
        raise Refusal(
            f"{file} names no group of {without[0]!r}{more}: subjects are named as their files are."
        )
    return found
