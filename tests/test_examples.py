"""Every script in `examples/` runs and does what its docstring says.

Their options were chosen on these data: this tests the scripts, not the method.
"""

from __future__ import annotations

import runpy
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from matplotlib import pyplot as plt
from sklearn.metrics import adjusted_rand_score

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


@pytest.fixture
def run(capsys, monkeypatch):
    """Run an example without showing its figures; return its variables and what it printed."""
    monkeypatch.setattr(plt, "show", lambda: None)

    def run_one(name):
        variables = runpy.run_path(str(EXAMPLES / f"{name}.py"))
        assert plt.get_fignums(), "an example has a picture"
        return variables, capsys.readouterr().out

    yield run_one
    plt.close("all")


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


def test_the_florentine_families_have_no_groups_beyond_chance(run):
    variables, printed = run("florentine_families")
    assert not variables["path"].structure.found
    assert variables["path"].suggestion.n_clusters == 3
    assert "groups beyond chance: False" in printed


def test_both_nested_levels_are_found(run):
    variables, _ = run("nested_groups")
    graph, path = variables["graph"], variables["path"]
    for truth in (graph.fine, graph.coarse):
        assert adjusted_rand_score(truth, path.labels(n_clusters=truth.max() + 1)) == 1


def test_only_planted_groups_are_confident(run):
    variables, _ = run("no_groups")
    noise, groups = variables["paths"].values()
    assert not noise.suggestion.confident
    assert groups.suggestion.confident
    assert groups.suggestion.n_clusters == 4


def test_clusters_of_resampled_clubs_agree(run):
    variables, _ = run("stability")
    agreement = variables["agreement"]
    assert agreement.adjusted_rand.mean() > 0.7
    assert agreement.jaccard.shape == (6, 3)


def test_the_convex_path_is_not_worse_than_single_linkage(run):
    variables, _ = run("linkages")
    scores = variables["scores"]
    assert scores["convexhc"][0] == 1
    assert sum(scores["convexhc"]) > sum(scores["single"])


def test_trees_of_one_model_are_more_alike(run):
    variables, _ = run("many_graphs")
    names, correlation = variables["names"], variables["correlation"]
    model = np.array([name.split()[0] for name in names])
    same = model[:, None] == model[None, :]
    others = ~np.eye(len(names), dtype=bool)
    assert correlation[same & others].mean() > correlation[~same].mean() + 0.2
    assert not variables["cohort"].failed


def test_moons_are_two_with_the_points_and_more_without(run):
    variables, _ = run("moons")
    alone, given = (path.suggestion.n_clusters for path in variables["paths"].values())
    assert given == 2
    assert alone > 2
    labels = variables["paths"]["with the points"].labels(n_clusters=2)
    assert adjusted_rand_score(variables["moons"], labels) == 1


def test_digits_are_clustered_by_their_images(run):
    variables, _ = run("digits")
    assert adjusted_rand_score(variables["digits"], variables["labels"]) > 0.8


def test_measurements_keep_the_errors_of_the_sizes_together(run):
    variables, printed = run("measurements")
    sizes = {"radius error", "perimeter error", "area error"}
    assert any(sizes <= set(group) for group in variables["path"].clusters(n_clusters=4))
    assert " 3: radius error, perimeter error, area error" in printed


def test_points_are_clustered_into_the_blobs(run):
    variables, printed = run("clusterpath")
    labels = variables["path"].labels(n_clusters=5)
    assert adjusted_rand_score(variables["blobs"], labels) == 1
    assert "five clusters" in printed


def test_each_lam_is_solved_and_has_fewer_clusters(run):
    variables, _ = run("one_lam")
    solutions = variables["solutions"]
    assert all(solution.status.name == "SOLVED" for solution in solutions)
    counts = [solution.n_clusters for solution in solutions]
    assert counts[1] == 6
    assert counts == sorted(counts, reverse=True)


def test_every_example_is_tested():
    tested = Path(__file__).read_text(encoding="utf-8")
    for file in EXAMPLES.glob("*.py"):
        assert f'run("{file.stem}")' in tested
