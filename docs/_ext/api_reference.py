"""Pages of the API reference: every public name of the package and of its public modules.

A new public name is listed without further work: under "More" if no group below has it.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterable
from pathlib import Path

from docutils.nodes import Element
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.ext import autosummary

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
LITERAL = re.compile(r"(``[^`]*``)")


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
    lines += heading("Modules")
    lines += [".. toctree::", "   :maxdepth: 1", "", *[f"   {name}" for name in modules], ""]
    return lines


def module_page(name: str, module: object) -> list[str]:
    full = f"convexhc.{name}"
    lines = heading(full, "=")
    lines += [f".. automodule:: {full}", "   :no-members:", "", f".. currentmodule:: {full}", ""]
    names = importlib.import_module(full).__all__
    return lines + table(names)


def public_name(target: str) -> str | None:
    """The public name behind one that a docstring uses, such as `convexhc.io.as_graph`."""
    last = target.split(".")[-1]
    if last in convexhc.__all__ and last not in public_modules():
        return f"convexhc.{last}"
    for name, module in public_modules().items():
        if last in module.__all__:
            return f"convexhc.{name}.{last}"
    return None


def resolve(app: Sphinx, env: BuildEnvironment, node: Element, text: Element) -> Element | None:
    """Link to the public name; a word in single backticks that has no page is text."""
    if node.get("refdomain") != "py":
        return None
    name = public_name(node["reftarget"])
    if name is not None and name != node["reftarget"]:
        domain, page = env.get_domain("py"), node["refdoc"]
        found = domain.resolve_xref(env, page, app.builder, "obj", name, node, text)
        if found is not None:
            return found
    return text if node["reftype"] == "obj" else None


def escape_bars(
    app: Sphinx, what: str, name: str, found: object, options: object, lines: list[str]
) -> None:
    """A bar in a formula, as in |U_i - U_j|, does not start a substitution."""
    for number, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")):
            pieces = LITERAL.split(line)
            pieces[::2] = [re.sub(r"(?<!\\)\|", r"\\|", piece) for piece in pieces[::2]]
            lines[number] = "".join(pieces)


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
    # In a fresh clone the pages were not there when files were looked for.
    app.env.find_files(app.config, app.builder)


def setup(app: Sphinx) -> dict[str, bool]:
    # The first sentence of a docstring does not end at "(eq. 4)".
    autosummary.WELL_KNOWN_ABBREVIATIONS += ("eq.",)
    # Before autosummary looks for names, at the default priority of 500.
    app.connect("builder-inited", write_pages, priority=100)
    app.connect("missing-reference", resolve)
    # After numpydoc, which rewrites the docstring.
    app.connect("autodoc-process-docstring", escape_bars, priority=900)
    return {"parallel_read_safe": True}
