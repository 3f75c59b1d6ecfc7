"""Every script in `examples/` runs and does what its docstring says.

Their options were chosen on these data: this tests the scripts, not the method.
"""

from __future__ import annotations

import runpy
from pathlib import Path

import networkx as nx
import pytest
from sklearn.metrics import adjusted_rand_score

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


@pytest.fixture
def run(capsys):
    """Run an example; return its variables and what it printed."""

    def run_one(name):
        variables = runpy.run_path(str(EXAMPLES / f"{name}.py"))
        return variables, capsys.readouterr().out

    return run_one


def test_karate_recovers_the_two_sides_except_for_one_member(run):
    variables, printed = run("karate")
    club = nx.karate_club_graph()
    sides = [club.nodes[member]["club"] for member in club]
    labels = variables["path"].labels(n_clusters=2)
    misplaced = min(
        sum(
            (side == "Officer") == (label == one) for side, label in zip(sides, labels, strict=True)
        )
        for one in (0, 1)
    )
    assert misplaced <= 1
    assert "group 1" in printed


def test_southern_women_fall_into_two_groups_of_nine(run):
    """In the order of the data, in which women who attended the same events are adjacent."""
    variables, printed = run("southern_women")
    names = variables["path"].names
    assert variables["path"].clusters(n_clusters=2) == (names[:9], names[9:])
    assert "Evelyn Jefferson" in printed


def test_les_miserables_has_no_single_characters_in_its_pruning(run):
    variables, printed = run("les_miserables")
    path = variables["path"]
    level = path.clusters(n_clusters=7, by="lam")
    pruned = path.clusters(n_clusters=6)
    assert min(map(len, pruned)) >= 4
    assert len(pruned) == 6
    assert min(map(len, level)) == 1
    assert path.suggestion.confident
    # The students of the barricade are together.
    students = {"Enjolras", "Combeferre", "Courfeyrac", "Joly", "Grantaire", "Feuilly"}
    assert any(students <= set(group) for group in pruned)
    assert "by pruning" in printed


def test_wine_clusters_agree_with_the_cultivars(run):
    variables, _ = run("wine")
    assert adjusted_rand_score(variables["wine"].target, variables["labels"]) > 0.7
    assert variables["fitted"].n_clusters_ == 3


def test_every_example_is_tested():
    tested = Path(__file__).read_text(encoding="utf-8")
    for file in EXAMPLES.glob("*.py"):
        assert f'run("{file.stem}")' in tested
