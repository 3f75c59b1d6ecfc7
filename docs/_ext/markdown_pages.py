"""Markdown pages on the site: lists of pages, files from outside docs/, and links to them.

The pages stay plain Markdown that any code host shows. While they are read for the site, the lists
of pages below are appended, the changelog and the guide for contributors take the place of the
pages that point to them, and links to files outside docs/ lead to their page or to the repository.
Cells of tables that hold numbers only are marked, so that they are not broken.
"""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx

DOCS = Path(__file__).resolve().parents[1]
ROOT = DOCS.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
REPOSITORY = PROJECT["urls"]["Repository"]

# Pages whose text is a file outside docs/.
MIRRORS = {"changelog": "CHANGELOG.md", "contributing": "CONTRIBUTING.md"}
# Where links to files outside docs/ lead; all others lead to the repository.
TARGETS = {"README.md": "index.md", "examples/README.rst": "gallery/index.rst"}
TARGETS |= {file: f"{page}.md" for page, file in MIRRORS.items()}

# Lists of pages, by the page that has them: caption and entries. An entry that ends in "*" adds the
# pages of its folder that have none, so a new page needs no entry.
LISTS = {
    "index": {
        "Use": [
            "Tutorial <tutorial>",
            "how-to/index",
            "gallery/index",
            "notebooks/index",
            "reference/index",
        ],
        "Understand": [
            "theory/notation",
            "theory/*",
            "paper",
            "quality",
            "benchmarks",
            "robustness",
            "decisions/index",
        ],
        "Project": ["*", "contributing", "changelog"],
    },
    "how-to/index": {
        "": [
            "input",
            "choose-a-scale",
            "support",
            "report",
            "export",
            "command-line",
            "large-graphs",
            "many-graphs",
            "cohorts",
            "*",
        ]
    },
    "notebooks/index": {"": ["network", "connectomes", "single_cells", "*"]},
    "decisions/index": {"": ["*"]},
}

LINK = re.compile(r"(\]\()([^)\s]+)(\))")
# Numbers, and what stands between them: 0.73 / 0.72 / 0.72, 0.08 (1.9).
NUMBERS = re.compile(r"[-\d.,e+%/() ]*\d[-\d.,e+%/() ]*")
CODE = re.compile(r"(```.*?```|`[^`\n]*`)", re.DOTALL)


def page_lists(page: str) -> str:
    """The lists that a page has, as directives."""
    lists = LISTS.get(page, {})
    listed = {entry for entries in lists.values() for entry in entries}
    listed |= {entry.split("<")[-1].rstrip(">") for entry in listed} | {"index"}
    text = ""
    for caption, entries in lists.items():
        options = [":maxdepth: 1"]
        # The home page has its lists in the sidebar only.
        options += [f":caption: {caption}", ":hidden:"] if page == "index" else []
        names = [name for entry in entries for name in expanded(entry, DOCS / page, listed)]
        text += "\n".join(["", "```{toctree}", *options, "", *names, "```", ""])
    return text


def expanded(entry: str, page: Path, listed: set[str]) -> list[str]:
    """An entry, or for one that ends in "*" the pages of its folder that are not listed."""
    if not entry.endswith("*"):
        return [entry]
    files = page.parent.glob(f"{entry}.md")
    names = (file.relative_to(page.parent).with_suffix("").as_posix() for file in files)
    return sorted(set(names) - listed)


def with_site_links(text: str, folder: Path) -> str:
    """The text with its relative links as seen from the site."""

    def moved(match: re.Match[str]) -> str:
        name, sharp, anchor = match[2].partition("#")
        if not name or re.match(r"[a-z]+:", name):
            return match[0]
        path = Path(os.path.normpath(folder / name))
        if path.is_relative_to(DOCS):
            target = "/" + path.relative_to(DOCS).as_posix()
        elif path.relative_to(ROOT).as_posix() in TARGETS:
            target = f"/{TARGETS[path.relative_to(ROOT).as_posix()]}"
        else:
            target = f"{REPOSITORY}/blob/main/{path.relative_to(ROOT).as_posix()}"
        return f"{match[1]}{target}{sharp}{anchor}{match[3]}"

    # Every second piece is code, in which brackets are no links. An example ends with an empty line
    # for doctest, which is not shown.
    pieces = CODE.split(text)
    pieces[::2] = [LINK.sub(moved, piece) for piece in pieces[::2]]
    pieces[1::2] = [re.sub(r"\n\n```$", "\n```", piece) for piece in pieces[1::2]]
    return "".join(pieces)


def on_source_read(app: Sphinx, page: str, source: list[str]) -> None:
    if Path(app.env.doc2path(page)).suffix == ".md":
        folder = (DOCS / page).parent
        if page in MIRRORS:
            source[0], folder = (ROOT / MIRRORS[page]).read_text(encoding="utf-8"), ROOT
        source[0] = with_site_links(source[0], folder) + page_lists(page)


def on_doctree_read(app: Sphinx, page: nodes.document) -> None:
    for cell in page.findall(nodes.entry):
        if NUMBERS.fullmatch(cell.astext()):
            cell["classes"].append("numbers")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("source-read", on_source_read)
    app.connect("doctree-read", on_doctree_read)
    return {"parallel_read_safe": True}
