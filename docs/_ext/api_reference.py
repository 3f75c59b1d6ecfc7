"""Pages of the API reference: every public name of the package and of its public modules.

A new public name is listed without further work: under "More" if no group below has it.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterable
from pathlib import Path

from sphinx.application import Sphinx

import convexhc

FOLDER = Path(__file__).resolve().parents[1] / "reference"

GROUPS = {
    "Clusters of a graph": ["cluster", "Path", "Level", "Tree"],
    "The problem of the paper": ["solve", "solve_path", "Solution", "Status", "Certificate"],
    "Other models": ["solve_features_path", "solve_points_path", "smooth_path", "SmoothModel"],
    "scikit-learn": ["ConvexHierarchicalClustering", "ConvexClustering"],
    "Many graphs": ["solve_paths", "Cohort"],
    "Building blocks": ["as_graph", "Graph", "Options", "project_doubly_stochastic"],
}
MODULES = "Modules"


def public_modules() -> dict[str, object]:
    """The modules that `convexhc.__all__` names."""
    found = {name: getattr(convexhc, name) for name in convexhc.__all__}
    return {name: module for name, module in found.items() if inspect.ismodule(module)}


def groups_of_names() -> dict[str, list[str]]:
    """Headings and the public names under them; each name is under one."""
    modules = public_modules()
    names = [n for n in convexhc.__all__ if n not in modules and not n.startswith("__")]
    groups = {head: [n for n in group if n in names] for head, group in GROUPS.items()}
    listed = {name for group in groups.values() for name in group}
    groups["More"] = [name for name in names if name not in listed]
    return {head: group for head, group in groups.items() if group}


def heading(text: str, mark: str = "-") -> list[str]:
    return [text, mark * len(text), ""]


def table(names: Iterable[str]) -> list[str]:
    return [
        ".. autosummary::",
        "   :toctree: generated",
        "   :nosignatures:",
        "",
        *[f"   {name}" for name in names],
        "",
    ]


def index_page() -> list[str]:
    lines = heading("API reference", "=")
    lines += ["Every public name. ``help(convexhc.cluster)`` shows the same text.", ""]
    lines += [".. currentmodule:: convexhc", ""]
    for head, names in groups_of_names().items():
        lines += heading(head) + table(names)
    modules = public_modules()
    lines += heading(MODULES)
    lines += [".. toctree::", "   :maxdepth: 1", "", *[f"   {name}" for name in modules], ""]
    return lines


def module_page(name: str, module: object) -> list[str]:
    full = f"convexhc.{name}"
    lines = heading(full, "=")
    lines += [f".. automodule:: {full}", "   :no-members:", "", f".. currentmodule:: {full}", ""]
    names = importlib.import_module(full).__all__
    return lines + table(names)


def write_if_changed(file: Path, lines: list[str]) -> None:
    text = "\n".join(lines)
    if not file.exists() or file.read_text(encoding="utf-8") != text:
        file.write_text(text, encoding="utf-8")


def write_pages(app: Sphinx) -> None:
    """Write the pages that list names; autosummary writes one page for every name they list."""
    FOLDER.mkdir(exist_ok=True)
    write_if_changed(FOLDER / "index.rst", index_page())
    for name, module in public_modules().items():
        write_if_changed(FOLDER / f"{name}.rst", module_page(name, module))


def setup(app: Sphinx) -> dict[str, bool]:
    # Before autosummary looks for names, at the default priority of 500.
    app.connect("builder-inited", write_pages, priority=100)
    return {"parallel_read_safe": True}
