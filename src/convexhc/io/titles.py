"""Tell a title from an edge in the first line of a list of edges."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence

# Words that head the two columns of edges, in pairs; case does not matter.
_TITLES = {
    ("a", "b"),
    ("child", "parent"),
    ("citing", "cited"),
    ("end", "start"),
    ("destination", "origin"),
    ("destination", "source"),
    ("follower", "followee"),
    ("head", "tail"),
    ("interactor_a", "interactor_b"),
    ("parent", "child"),
    ("receiver", "sender"),
    ("sender", "receiver"),
    ("x", "y"),
}
# A word and the mark that tells its two columns apart: protein1, gene_a, id.x.
_MARKED = re.compile(r"(?P<stem>[^\W\d_].*?)(?P<mark>[ _.-]?(?:[0-9]|[ABXYIJabxyij]))")
_MARKS = {("1", "2"), ("0", "1"), ("a", "b"), ("x", "y"), ("i", "j")}


def is_title(first: Sequence[str], others: Sequence[str]) -> bool:
    """Whether the first line of edges is a title: a note says so, and a doubtful line is refused.

    ``first`` are its two cells, ``others`` those of all other lines. It is an edge if one of the
    names occurs on another line, or does not begin with a letter. ValueError if the names occur
    nowhere else and are not known as a title: a title that is read as an edge would become two more
    nodes.
    """
    known = set(others)
    if any(name in known or not name[:1].isalpha() for name in first):
        return False
    one, other = first
    if not _heads_columns(one, other, known):
        raise ValueError(
            f"line 1: is it a title or an edge? {one!r} and {other!r} occur on no other line. If "
            f"it is a title, pass columns=({one!r}, {other!r}); if it is an edge, columns=(1, 2)"
        )
    warnings.warn(
        f"line 1 is taken as the title of the columns {one!r} and {other!r}, which occur on no "
        "other line; if it is an edge, pass columns=(1, 2)",
        UserWarning,
        stacklevel=2,
    )
    return True


def _heads_columns(one: str, other: str, names: set[str]) -> bool:
    """Whether two words look like the names of the two columns of edges, not like two nodes."""
    pair = one.lower(), other.lower()
    if pair in _TITLES or pair[::-1] in _TITLES:
        return True
    left, right = _MARKED.fullmatch(one), _MARKED.fullmatch(other)
    if left is None or right is None or left["stem"].lower() != right["stem"].lower():
        return False
    marks = tuple(found["mark"].lower().lstrip(" _.-") for found in (left, right))
    # Nodes named n1, n2, n3 are no title.
    alike = (_MARKED.fullmatch(name) for name in names)
    return marks in _MARKS and not any(
        found is not None and found["stem"].lower() == left["stem"].lower() for found in alike
    )
