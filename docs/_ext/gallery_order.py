"""The order of the gallery: networks first, then points, then methods; new examples at the end."""

from __future__ import annotations

TOPICS = [
    "karate",
    "les_miserables",
    "southern_women",
    "florentine_families",
    "nested_groups",
    "no_groups",
    "stability",
    "linkages",
    "many_graphs",
    "wine",
    "moons",
    "digits",
    "measurements",
    "clusterpath",
    "one_lam",
]


def by_topic(file: str) -> tuple[int, str]:
    """Sort key of an example."""
    name = file.removesuffix(".py")
    return (TOPICS.index(name) if name in TOPICS else len(TOPICS), name)
