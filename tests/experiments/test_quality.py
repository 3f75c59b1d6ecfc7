"""The benchmark of quality: fixed halves, scores seen on hand-made partitions, a small run."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from experiments.reading import files, quiet, read
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from experiments.baselines import Linkage
from experiments.quality import benchmark, collection, methods, scores
from experiments.quality.collection import Known, half_of
from experiments.quality.methods import METHODS, Found, Given, exact_cut
from experiments.quality.must_show import must_show
from experiments.quality.scores import (
    collapse,
    compare_at,
    judge_noise,
    level_scores,
    lose_edges,
    score_set,
    tree_agreement,
    without_edges,
)
from experiments.quality.summary import lost_rows, summarise
from experiments.quality.tables import Tables

RNG = np.random.default_rng(0)
COARSE, FINE = np.arange(24) // 12, np.arange(24) // 4
# Similarities that know both levels.
NESTED = 2.0 * np.eye(24) + (COARSE[:, None] == COARSE) + 2.0 * (FINE[:, None] == FINE)
TREE = Linkage("average").fit(NESTED).linkage
PERFECT = Found(
    0.0,
    lambda k: exact_cut(TREE, k),
    lambda: [exact_cut(TREE, k) for k in range(2, 24)],
    FINE,
    TREE,
)


def groups_graph(n: int, size: int, seed: int) -> sparse.csr_array:
    rng = np.random.default_rng(seed)
    group = np.arange(n) // size
    upper = np.triu(rng.random((n, n)) < np.where(group[:, None] == group, 0.9, 0.05), 1)
    return sparse.csr_array((upper | upper.T).astype(np.float64))


def small_sets(data, *, seeds, large):
    group = np.arange(32) // 8
    X = np.eye(4)[group] + 0.1 * np.random.default_rng(0).standard_normal((32, 4))
    near = groups_graph(32, 8, 1)
    return [
        Known("LFR", "LFR mixing 0.2", "confirm", groups_graph(32, 8, 0), {"communities": group}),
        Known(
            "nested blocks",
            "blocks strong seed 1",
            "confirm",
            groups_graph(32, 8, 2),
            {"2 groups": group // 2, "4 groups": group},
        ),
        Known("points", "four clouds", "confirm", near, {"classes": group}, X),
    ]


def small_noise(seeds):
    return [replace(groups_graph_known(seed), levels={}) for seed in range(seeds)]


def groups_graph_known(seed: int) -> Known:
    return Known("no groups", f"noise {seed}", "choose", groups_graph(24, 24, seed), {})


@pytest.fixture(scope="module")
def sets():
    return collection.collect(None, seeds=2, large=False)


class TestSets:
    def test_halves_are_disjoint_and_every_family_has_both_or_is_one_set(self, sets):
        names = [known.name for known in sets]
        assert len(set(names)) == len(names)
        for family in collection.FAMILIES:
            halves = {known.half for known in sets if known.family == family}
            assert halves == ({"confirm"} if family == "real networks" else {"choose", "confirm"})

    def test_a_second_collection_is_the_same(self, sets):
        again = collection.collect(None, seeds=2, large=False)
        for one, other in zip(sets, again, strict=True):
            assert (one.name, one.half, list(one.levels)) == (
                other.name,
                other.half,
                list(other.levels),
            )
            assert (one.adjacency != other.adjacency).nnz == 0

    def test_more_draws_leave_the_halves_of_the_others(self, sets):
        more = {known.name: known.half for known in collection.collect(None, seeds=3, large=False)}
        assert all(more[known.name] == known.half for known in sets)

    @pytest.mark.data
    def test_the_half_of_a_real_set_does_not_depend_on_the_others(self, data_dir):
        (alone,) = collection.real_networks(None)
        networks = collection.real_networks(data_dir)
        halves = {known.name: known.half for known in networks}
        assert halves["karate"] == alone.half
        assert {name for name in halves if "day" not in name} == set(collection.NETWORKS)
        # Graphs of one source never stand on both sides.
        assert len({half for name, half in halves.items() if name.startswith("school")}) == 1

    @pytest.mark.data
    def test_a_quick_run_leaves_the_confirming_half_alone(self, data_dir):
        known = {one.name: one for one in collection.collect(data_dir, seeds=2, large=False)}
        quick = [known[name] for name in benchmark.QUICK.names]
        assert {one.half for one in quick} == {"choose"}
        assert {one.family for one in quick} == set(collection.FAMILIES)

    def test_every_graph_is_symmetric_without_loops_and_labelled_throughout(self, sets):
        for known in sets:
            assert (known.adjacency != known.adjacency.T).nnz == 0
            assert known.adjacency.diagonal().sum() == 0
            assert all(level.shape == (known.n,) for level in known.levels.values())

    def test_graphs_without_groups_are_simple_connected_and_sixteen(self):
        graphs = collection.noise_graphs(1)
        kinds = {graph.name for graph in graphs}
        assert len(kinds) * benchmark.FULL.noise_seeds == 16
        for graph in graphs:
            assert set(np.unique(graph.adjacency.data)) == {1.0}
            assert graph.adjacency.diagonal().sum() == 0
            assert connected_components(graph.adjacency)[0] == 1

    def test_a_shuffled_graph_keeps_its_degrees_and_loses_its_groups(self):
        known = collection.blocks("strong", False, 0)
        shuffled = collection._matrix(collection._shuffled(known, 0))
        assert np.array_equal(shuffled.sum(axis=1), known.adjacency.sum(axis=1))
        fine = known.levels["24 groups"]
        within = [
            sparse.csr_array(A.multiply(fine[:, None] == fine)).sum() / A.sum()
            for A in (known.adjacency, shuffled)
        ]
        assert within[0] > 0.4
        assert within[1] < 0.1


class TestScores:
    def test_a_perfect_tree_has_full_marks(self):
        for level in (COARSE, FINE):
            row = level_scores(PERFECT, level)
            assert row["best_ami"] == pytest.approx(1.0)
            assert row["best_ari"] == pytest.approx(1.0)
            assert row["at_k_ami"] == pytest.approx(1.0)
            assert row["at_k_clusters"] == row["n_groups"]
        assert level_scores(PERFECT, FINE)["chosen_ami"] == pytest.approx(1.0)
        assert level_scores(PERFECT, COARSE)["chosen_ami"] < 0.9

    def test_random_partitions_have_none(self):
        n = 400
        level = RNG.integers(0, 6, n)
        cuts = [RNG.integers(0, k, n) for k in range(2, 30)]
        row = level_scores(Found(0.0, lambda k: cuts[k], lambda: cuts, cuts[0]), level)
        for measure in ("best", "at_k", "chosen"):
            assert abs(row[f"{measure}_ami"]) < 0.05
            assert abs(row[f"{measure}_ari"]) < 0.05

    def test_what_a_method_does_not_offer_has_no_score(self):
        row = level_scores(Found(0.0, chosen=FINE), FINE)
        assert math.isnan(row["best_ami"])
        assert math.isnan(row["at_k_ami"])
        assert row["chosen_ami"] == pytest.approx(1.0)

    def test_a_cut_has_exactly_the_number_asked_for_in_spite_of_ties(self):
        counts = [np.unique(exact_cut(TREE, k)).size for k in range(1, 25)]
        assert counts == list(range(1, 25))

    def test_of_a_scan_the_partition_closest_to_k_is_scored(self):
        partitions = [np.arange(24) // size for size in (12, 4, 2)]
        assert methods._closest(partitions, 5) is partitions[1]
        assert methods._closest(partitions, 40) is partitions[2]

    def test_modularity_is_that_of_networkx(self):
        import networkx as nx

        A = groups_graph(24, 4, 3)
        expected = nx.community.modularity(
            nx.from_scipy_sparse_array(A), [set(np.flatnonzero(g == FINE)) for g in range(6)]
        )
        assert methods.modularity(A, FINE) == pytest.approx(expected)

    @pytest.mark.parametrize(
        ("counts", "n", "drop", "collapsed"),
        [
            ([100, 60, 1], 100, 0.59, True),
            ([100, 31, 2], 100, 0.69, True),
            ([100, 31, 3, 1], 100, 0.69, False),
            ([100, 40, 20, 1], 100, 0.60, False),
            ([1], 20, 0.95, True),
            ([20, 10, 2, 1], 20, 0.5, False),
        ],
    )
    def test_collapse_is_a_fall_from_many_to_at_most_two(self, counts, n, drop, collapsed):
        found = collapse(np.array(counts), n)
        assert found["largest_drop"] == pytest.approx(drop)
        assert found["collapsed"] is collapsed

    def test_a_failure_of_ours_scores_nothing_and_one_of_a_rival_is_left_out(self, monkeypatch):
        class Broken(methods.Convex):
            def fit(self, given, known):
                raise ValueError("no such luck")

        A, groups = groups_graph(24, 4, 0).toarray(), FINE[None]
        monkeypatch.setitem(METHODS, "convexhc", Broken())
        monkeypatch.setitem(METHODS, "ward linkage", Broken())
        ours = score_set(A, groups, method="convexhc", code="")
        theirs = score_set(A, groups, method="ward linkage", code="")
        assert ours["failed"] == theirs["failed"] == "ValueError: no such luck"
        assert [ours["levels"][0][f"{m}_ami"] for m in ("best", "at_k", "chosen")] == [0, 0, 0]
        assert math.isnan(theirs["levels"][0]["best_ami"])
        options = {"shares": [0.1], "draws": 1, "code": ""}
        (lost,) = lose_edges(A, groups, method="convexhc", **options)
        assert (lost["after_ari"], lost["same_tree"]) == (0.0, 0.0)
        (lost,) = lose_edges(A, groups, method="ward linkage", **options)
        assert math.isnan(lost["after_ari"])
        assert judge_noise(A, method="convexhc", code="")["failed"]


class TestLoss:
    @pytest.mark.parametrize("share", [0.05, 0.1, 0.5])
    def test_exactly_the_share_is_lost_and_every_node_stays(self, share):
        A = groups_graph(40, 8, 0)
        fewer = without_edges(A, share, np.random.default_rng(1))
        assert fewer.shape == A.shape
        assert fewer.nnz // 2 == A.nnz // 2 - round(share * (A.nnz // 2))
        assert (fewer != fewer.T).nnz == 0
        # What is left is as it was.
        assert (fewer.multiply(A) != fewer).nnz == 0

    def test_weights_stay_and_draws_differ(self):
        A = groups_graph(40, 8, 0)
        weighted = sparse.csr_array(A * 2.5)
        one, other = (without_edges(weighted, 0.1, np.random.default_rng(s)) for s in (0, 1))
        assert set(one.data) == {2.5}
        assert (one != other).nnz > 0

    def test_nothing_lost_is_nothing_moved(self):
        row = compare_at(PERFECT, PERFECT, FINE) | tree_agreement(PERFECT, PERFECT)
        assert row["before_ari"] == row["after_ari"] == row["same_ari"] == pytest.approx(1.0)
        assert row["same_tree"] == pytest.approx(1.0)

    def test_a_tree_without_order_agrees_with_none(self):
        flat = TREE.copy()
        flat[:, 2] = 1.0
        assert tree_agreement(PERFECT, replace(PERFECT, linkage=flat))["same_tree"] == 0.0
        assert math.isnan(tree_agreement(PERFECT, Found(0.0))["same_tree"])


class TestMethods:
    @pytest.mark.parametrize("name", sorted(METHODS))
    def test_clear_groups_are_found(self, name):
        method = METHODS[name]
        if why := method.missing():
            pytest.skip(f"{name} is not installed: {why}")
        known = small_sets(None, seeds=2, large=False)[2]
        given = Given(known.adjacency, known.points)
        assert method.applies(given)
        found = method.fit(given, [4])
        row = level_scores(found, known.levels["classes"])
        found_ami = [row[f"{m}_ami"] for m in ("best", "at_k", "chosen")]
        # Former defaults, single linkage and density are no match for everything.
        least = 0.4 if name in ("convexhc before", "single linkage", "paris", "hdbscan") else 0.9
        assert max(ami for ami in found_ami if not math.isnan(ami)) > least
        assert found.seconds >= 0.0

    def test_what_is_not_installed_says_how_to_install_it(self, monkeypatch):
        monkeypatch.setattr(methods, "find_spec", lambda module: None)
        missing = {name: method.missing() for name, method in METHODS.items()}
        assert missing["leiden"] == "pip install leidenalg"
        assert missing["infomap"] == "pip install infomap"
        assert missing["convexhc"] is None

    def test_points_alone_are_for_density(self):
        assert not METHODS["hdbscan"].applies(Given(groups_graph(8, 4, 0)))


def score_row(family, name, method, ami, level="all", half="confirm"):
    row = {"family": family, "set": name, "half": half, "method": method, "level": level}
    for measure, value in zip(("best", "at_k", "chosen"), ami, strict=True):
        text = "" if math.isnan(value) else str(value)
        row |= {f"{measure}_ami": text, f"{measure}_ari": text}
    return row


NAMES = {
    "LFR": ("LFR 250 mixing 0.2 seed 1", "LFR 250 mixing 0.4 seed 1"),
    "nested blocks": ("blocks strong seed 1",),
    "real networks": ("karate",),
    "points": ("wine",),
}
AMI = {
    "convexhc": 0.98,
    "ward linkage": 0.9,
    "average linkage": 0.9,
    "leiden": 0.97,
    "spectral": 0.97,
}
LINKAGES = ("single linkage", "average linkage", "complete linkage", "ward linkage")


def all_met() -> Tables:
    """Tables on which every line is met."""
    rows, cost, loss = [], [], []
    for family, names in NAMES.items():
        for name in names:
            levels = ("2 groups", "6 groups", "24 groups") if "blocks" in name else ("all",)
            for method, ami in AMI.items():
                three = (math.nan, ami, math.nan) if method == "spectral" else (ami,) * 3
                rows += [score_row(family, name, method, three, level) for level in levels]
            # A set of the other half, on which ours is nowhere, must not count.
            rows.append(score_row(family, f"{name} 0", "convexhc", (0, 0, 0), half="choose"))
            shared = {"family": family, "set": name, "half": "confirm", "failed": ""}
            for method, seconds in (("convexhc", "1.5"), ("convexhc before", "1")):
                path = {"seconds": seconds, "collapsed": "False", "largest_drop": "0.4"}
                cost.append({**shared, "method": method, **path})
            for method, after in (("convexhc", 0.85), *((m, 0.7) for m in LINKAGES)):
                for share in ("0.05", "0.1"):
                    row = {"before_ari": "0.9", "after_ari": str(after), "same_tree": str(after)}
                    row["same_ari"] = str(after)
                    loss.append({**shared, "method": method, "share": share, **row})
    noise = [{"method": "convexhc", "graph": f"g{i}", "confident": "False"} for i in range(16)]
    return Tables(rows, loss, cost, noise)


def changed(rows, change, **where):
    """Rows with some values replaced where others are as told."""
    hit = [all(row.get(key) == value for key, value in where.items()) for row in rows]
    assert any(hit)
    return [row | change if it else row for row, it in zip(rows, hit, strict=True)]


def failing(tables: Tables) -> list[str]:
    return [check.claim for check in must_show(tables) if not check.met]


class TestMustShow:
    def test_all_lines_can_be_met(self):
        checks = must_show(all_met())
        assert len(checks) == 22
        assert {check.verdict for check in checks} == {"met"}

    @pytest.mark.parametrize(
        ("table", "change", "where", "claims"),
        [
            # Ward closer than 0.03.
            *(
                ("scores", {f"{m}_ami": "0.96"}, {"method": rival}, [f"{word}: ahead of {rival}"])
                for m, word in (("best", "best cut"), ("at_k", "at known k"), ("chosen", "chosen"))
                for rival in ("ward linkage", "average linkage")
            ),
            # Leiden ahead on the mean.
            *(
                (
                    "scores",
                    {f"{m}_ami": "0.985"},
                    {"method": "leiden"},
                    [f"{word}: ahead of Leiden"],
                )
                for m, word in (("best", "best cut"), ("at_k", "at known k"), ("chosen", "chosen"))
            ),
            # Leiden far ahead in a single family.
            (
                "scores",
                {"best_ami": "0.999"},
                {"method": "leiden", "family": "points"},
                [],
            ),
            (
                "scores",
                {"best_ami": "1.01"},
                {"method": "leiden", "family": "points"},
                ["best cut: ahead of Leiden"],
            ),
            ("scores", {"at_k_ami": "0.99"}, {"method": "spectral"}, ["at known k: not behind"]),
            (
                "cost",
                {"collapsed": "True"},
                {"method": "convexhc", "set": "blocks strong seed 1"},
                ["no collapse"],
            ),
            # A path that failed has no counts.
            (
                "cost",
                {"collapsed": ""},
                {"method": "convexhc", "set": "LFR 250 mixing 0.2 seed 1"},
                ["no collapse"],
            ),
            # At mixing 0.4 a path may collapse, but not score far below Leiden.
            (
                "cost",
                {"collapsed": "True"},
                {"method": "convexhc", "set": "LFR 250 mixing 0.4 seed 1"},
                [],
            ),
            (
                "loss",
                {"after_ari": "0.6"},
                {"method": "convexhc", "share": "0.1"},
                ["10 % of the edges lost: agreement"],
            ),
            ("loss", {"after_ari": "0.6"}, {"method": "convexhc", "share": "0.05"}, []),
            *(
                (
                    "loss",
                    {"same_tree": "0.86"},
                    {"method": rival, "share": "0.1"},
                    [f"10 % of the edges lost: the tree moves less than that of {rival}"],
                )
                for rival in LINKAGES
            ),
            *(
                (
                    "scores",
                    {"at_k_ami": "0.969"},
                    {"method": "convexhc", "level": f"{k} groups"},
                    [f"strong blocks without spread, {k} groups"],
                )
                for k in (2, 6, 24)
            ),
            ("cost", {"seconds": "2.1"}, {"method": "convexhc"}, ["CPU time"]),
            ("noise", {"confident": "True"}, {"graph": "g7"}, ["no confident suggestion"]),
            ("noise", {"confident": ""}, {"graph": "g7"}, ["no confident suggestion"]),
        ],
    )
    def test_each_line_fails_alone(self, table, change, where, claims):
        tables = all_met()
        tables = replace(tables, **{table: changed(getattr(tables, table), change, **where)})
        found = failing(tables)
        assert len(found) == len(claims)
        assert all(one.startswith(claim) for one, claim in zip(found, claims, strict=True))

    def test_mixing_of_two_fifths_is_compared_with_leiden(self):
        tables = all_met()
        where = {"method": "convexhc", "set": "LFR 250 mixing 0.4 seed 1"}
        low = changed(tables.scores, {"chosen_ami": "0.9"}, **where)
        assert any("mixing 0.4" in claim for claim in failing(replace(tables, scores=low)))
        near = changed(tables.scores, {"chosen_ami": "0.93"}, **where)
        assert not any("mixing 0.4" in claim for claim in failing(replace(tables, scores=near)))

    def test_without_a_confirming_half_the_other_is_judged(self):
        tables = all_met()
        assert tables.half == "confirm"
        kept = [row | {"half": "choose"} for row in tables.scores if row["half"] == "confirm"]
        loss = [row | {"half": "choose"} for row in tables.loss]
        quick = replace(tables, scores=kept, loss=loss)
        assert quick.half == "choose"
        assert not failing(quick)

    def test_what_stays_after_a_loss_is_told_by_family(self):
        tables = all_met()
        where = {"method": "convexhc", "share": "0.1", "family": "points"}
        loss = changed(tables.loss, {"same_tree": "0.12", "same_ari": "0.34"}, **where)
        before, after = (
            {row["method"]: row for row in lost_rows(one)}
            for one in (tables, replace(tables, loss=loss))
        )
        assert after["convexhc"]["points"] == "0.12 / 0.34" != before["convexhc"]["points"]
        assert after["convexhc"] | {"points": ""} == before["convexhc"] | {"points": ""}
        assert after["ward linkage"] == before["ward linkage"]

    def test_numbers_that_are_missing_meet_nothing(self):
        checks = must_show(Tables([], [], [], []))
        assert {check.met for check in checks} == {None}

    def test_a_mean_counts_every_family_alike(self):
        tables = all_met()
        # Many more sets of one family change nothing if they score alike.
        more = [
            score_row("points", f"more {i}", method, (ami, ami, ami))
            for method, ami in AMI.items()
            for i in range(20)
        ]
        before = {check.claim: check.numbers for check in must_show(tables)}
        after = {
            check.claim: check.numbers
            for check in must_show(replace(tables, scores=[*tables.scores, *more]))
        }
        claim = next(claim for claim in before if claim.startswith("best cut: ahead of ward"))
        assert before[claim] == after[claim]


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    out = tmp_path_factory.mktemp("quality")
    with pytest.MonkeyPatch.context() as patch:
        run_small(out, patch)
    return out


def run_small(out, patch):
    """Three sets of 32 nodes, few cuts and resolutions, and no rehearsal before the timing."""
    patch.setattr(benchmark, "collect", small_sets)
    patch.setattr(benchmark, "noise_graphs", small_noise)
    patch.setattr(methods, "MOST_CLUSTERS", 8)
    patch.setattr(methods, "RESOLUTIONS", (0.3, 1.0, 3.0))
    for module in (benchmark, scores):
        patch.setattr(module, "warm", lambda method, points: None)
    size = benchmark.Size(shares=(0.1,), draws=1, noise_seeds=2)
    benchmark.run(out, data=None, size=size, seeds=2, large=False, n_jobs=1, progress=quiet)


class TestRun:
    def test_every_table_and_figure_is_written(self, results):
        assert files(results, "csv") == {"scores", "loss", "cost", "noise"}
        assert files(results, "png") == files(results, "svg") == {"quality"}
        rows = read(results / "scores.csv")
        installed = {name for name, method in METHODS.items() if not method.missing()}
        assert {row["method"] for row in rows} == installed
        assert {row["set"] for row in rows} == {s.name for s in small_sets(None, seeds=2, large=0)}
        assert {row["failed"] for row in read(results / "cost.csv")} == {""}
        assert {row["share"] for row in read(results / "loss.csv")} == {"0.1"}

    def test_the_summary_judges_every_line(self, results):
        text = (results / "summary.md").read_text()
        assert text.count("| met |") + text.count("| not met |") + text.count("measured |") == 22
        assert "## Loss of edges" in text
        told = summarise(results, {"leiden": "pip install leidenalg"})
        assert "- leiden: not installed, pip install leidenalg" in told

    def test_a_second_run_computes_nothing(self, results, monkeypatch):
        def refuse(*args, **options):
            raise AssertionError("computed again")

        before = (results / "summary.md").read_text()
        for method in METHODS.values():
            monkeypatch.setattr(type(method), "fit", refuse)
        run_small(results, monkeypatch)
        assert (results / "summary.md").read_text() == before

    def test_changed_code_is_computed_anew(self, tmp_path, monkeypatch):
        benchmark._code.cache_clear()
        before = {name: benchmark._code(name) for name in ("convexhc", "leiden")}
        assert before["convexhc"] != before["leiden"]
        package = tmp_path / "convexhc"
        package.mkdir()
        (package / "__init__.py").write_text("changed = True\n")
        monkeypatch.setattr(benchmark.convexhc, "__file__", str(package / "__init__.py"))
        benchmark._code.cache_clear()
        assert benchmark._code("convexhc") != before["convexhc"]
        assert benchmark._code("leiden") == before["leiden"]
        benchmark._code.cache_clear()

    def test_a_draw_is_in_one_half(self):
        assert [half_of(place) for place in range(3)] == ["choose", "confirm", "choose"]
