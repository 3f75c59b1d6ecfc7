"""Markdown pages on the site: lists of pages, files from outside docs/, and links to them.

The pages stay plain Markdown that any code host shows. While they are read for the site, the lists
of pages below are appended, the changelog and the guide for contributors take the place of the
pages that point to them, and links to files outside docs/ lead to their page or to the repository.
"""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path

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

# Lists of pages, by the page that has them: caption and entries. A pattern adds the pages that are
# not listed before it, so a new page needs no entry.
SIDEBAR = [
    ("Use", ["tutorial", "how-to/index", "gallery/index", "notebooks/index", "reference/index"]),
    ("Understand", ["theory/*", "paper", "quality", "benchmarks", "robustness", "decisions/index"]),
    ("Project", ["changelog", "contributing", "*"]),
]
HOW_TO_ORDER = ["input", "choose-a-scale", "report", "command-line", "large-graphs", "many-graphs"]
LISTS = {
    "how-to/index": [("", [*HOW_TO_ORDER, "*"])],
    "notebooks/index": [("", ["network", "connectomes", "single_cells", "*"])],
    "decisions/index": [("", ["*"])],
}

LINK = re.compile(r"(\]\()([^)\s]+)(\))")
CODE = re.compile(r"(```.*?```|`[^`\n]*`)", re.DOTALL)


def page_list(caption: str, entries: list[str], *, hidden: bool) -> str:
    options = [":glob:", ":maxdepth: 1"]
    options += [f":caption: {caption}"] * bool(caption)
    options += [":hidden:"] * hidden
    return "\n".join(["", "```{toctree}", *options, "", *entries, "```", ""])


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

    # Every second piece is code, in which brackets are no links.
    pieces = CODE.split(text)
    pieces[::2] = [LINK.sub(moved, piece) for piece in pieces[::2]]
    return "".join(pieces)


def on_source_read(app: Sphinx, page: str, source: list[str]) -> None:
    if Path(app.env.doc2path(page)).suffix == ".md":
        folder = (DOCS / page).parent
        if page in MIRRORS:
            source[0], folder = (ROOT / MIRRORS[page]).read_text(encoding="utf-8"), ROOT
        source[0] = with_site_links(source[0], folder)
        for caption, entries in SIDEBAR if page == "index" else LISTS.get(page, []):
            source[0] += page_list(caption, entries, hidden=page == "index")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("source-read", on_source_read)
    return {"parallel_read_safe": True}
