"""Support of a path: the same for any number of workers, read back, drawn into every export."""

from __future__ import annotations

import functools
import io
import os
import signal
from dataclasses import replace

import joblib
import numpy as np
import pytest

import convexhc
from convexhc import Support
from convexhc.api import cohort
from convexhc.path.scales import SETTINGS
from convexhc.progress_line import ProgressLine
from convexhc.resampling.comparison import Reference
from convexhc.resampling.draws import draws
from convexhc.resampling.run import options_of
from convexhc.tree.clades import transfer_support

GRAPH = convexhc.as_graph(
    convexhc.datasets.fractal_graph(0, n_meta=2, n_super=2, clique=5).adjacency,
    names=[f"node {i}" for i in range(20)],
)
# Few lam suffice where only the comparison matters.
FEW = {"lambdas": np.geomspace(0.01, 80.0, 14).tolist(), "test_structure": False}
NUMBERS = ("share", "transfer", "nodes", "ami", "vi", "scale_agreement")


def assert_same(one: Support, other: Support) -> None:
    for name in NUMBERS:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert one.to_newick() == other.to_newick()
    assert [str(scale) for scale in one.scales] == [str(scale) for scale in other.scales]


@pytest.fixture(scope="module")
def path() -> convexhc.Path:
    return convexhc.cluster(GRAPH, **FEW)


@pytest.fixture(scope="module")
def found(path: convexhc.Path) -> Support:
    return convexhc.support(GRAPH, path=path, n_resamples=6, share=0.9, **FEW)


def test_support_is_that_of_paths_solved_one_by_one(path, found):
    samples = draws(GRAPH, "drop", n_resamples=6, share=0.9, random_state=0)
    others = [convexhc.cluster(sample, **FEW) for sample in samples]
    transfer = np.array([transfer_support(path.tree, other.tree) for other in others])
    np.testing.assert_array_equal(found.share, (transfer == 1.0).mean(axis=0))
    np.testing.assert_array_equal(found.transfer, transfer.mean(axis=0))
    reference = Reference(path, path.scales)
    np.testing.assert_array_equal(found.ami, [reference.compare(other).ami for other in others])
    assert 0 < found.share[:-1].min() < found.share[:-1].max() == 1.0


def test_two_workers_and_a_folder_change_nothing_and_a_second_call_only_reads(
    path, found, tmp_path, monkeypatch
):
    def again(**settings):
        return convexhc.support(GRAPH, path=path, share=0.9, folder=tmp_path, **settings, **FEW)

    assert again(n_resamples=2).n_resamples == 2
    assert_same(again(n_resamples=6, n_jobs=2), found)
    with monkeypatch.context() as patched:
        patched.setattr(cohort, "_solve", None)
        assert_same(again(n_resamples=6), found)
    assert len(list(tmp_path.iterdir())) == 6


def test_a_path_knows_the_options_it_was_made_by(path, found):
    given = {"lambdas": 9, "n_features": 7, "time": 3, "tol": 1e-3, "lam_step": 0.2}
    made = convexhc.cluster(GRAPH, test_structure=False, **given)
    assert options_of(made) == {**options_of(made), **given}
    assert "time" not in options_of(path)
    assert_same(path.support(n_resamples=6, share=0.9), found)


class Killer(ProgressLine):
    """Kills a process once half of the resamples are done."""

    process = 0

    def show(self, share: float, text: str) -> None:
        if share >= 0.5 and self.process:
            os.kill(self.process, signal.SIGKILL)
            self.process = 0


def test_a_dask_cluster_that_loses_a_worker_half_way_loses_nothing(path, found, tmp_path):
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address=None,
            local_directory=str(tmp_path),
        ) as cluster,
        distributed.Client(cluster) as client,
        joblib.parallel_config("dask"),
    ):
        before = set(client.run(os.getpid).values())
        line = Killer(io.StringIO())
        line.process = min(before)
        again = convexhc.support(GRAPH, path=path, n_resamples=6, share=0.9, progress=line, **FEW)
        assert line.process == 0
        client.wait_for_workers(2)
        assert set(client.run(os.getpid).values()) != before
    assert again.failed == ()
    assert_same(again, found)


def test_support_is_read_back_as_it_was(found, tmp_path):
    found.save(tmp_path / "support.npz")
    again = Support.load(tmp_path / "support.npz")
    assert_same(again, found)
    assert again.summary() == found.summary()
    assert again.table("nodes") == found.table("nodes")
    with pytest.raises(ValueError, match="not a valid"):
        convexhc.Path.load(tmp_path / "support.npz")


def test_support_of_a_path_without_scales_is_read_back(found, tmp_path):
    without = replace(found, scales=(), scale_agreement=np.empty((found.n_resamples, 0)))
    without.save(tmp_path / "support.npz")
    assert_same(Support.load(tmp_path / "support.npz"), without)


def clade_labels(found):
    """Support of every branch but the root and those above single leaves, by the names below."""
    below = convexhc.tree.clades.clades(found.tree)[:-1]
    names = np.array(found.tree.names)
    return {frozenset(names[row]): share for row, share in zip(below, found.share, strict=False)}


def test_biopython_reads_the_support_in_newick(found):
    phylo = pytest.importorskip("Bio.Phylo")
    tree = phylo.read(io.StringIO(found.to_newick()), "newick")
    inner = [clade for clade in tree.get_nonterminals() if clade is not tree.root]
    read = {frozenset(leaf.name for leaf in c.get_terminals()): c.confidence for c in inner}
    assert read == pytest.approx(clade_labels(found), abs=1e-4)
    assert tree.root.confidence is None


def test_dendropy_reads_the_support_in_newick(found):
    dendropy = pytest.importorskip("dendropy")
    tree = dendropy.Tree.get(data=found.to_newick(), schema="newick")
    inner = tree.internal_nodes(exclude_seed_node=True)
    read = {
        frozenset(leaf.taxon.label for leaf in node.leaf_iter()): float(node.label)
        for node in inner
    }
    assert read == pytest.approx(clade_labels(found), abs=1e-4)


def test_tables_have_a_row_for_each_branch_node_level_and_join(path, found):
    branches = found.to_frame()
    assert branches["lam"].tolist() == [merge.lam for merge in path.tree.merges]
    assert branches["share"].tolist() == found.share.tolist()
    assert found.to_frame("nodes")["node"].tolist() == list(path.names)
    levels = found.to_frame("levels")
    assert levels["lam"].tolist() == path.lambdas.tolist()
    assert levels["vi_50"].tolist() == np.median(found.vi, axis=0).tolist()
    with pytest.raises(ValueError, match="kind must be"):
        found.table("leaves")
    # A row of the linkage has support if and only if it completes a merge.
    beside = found.linkage_support
    assert beside[~np.isnan(beside[:, 0]), 0].tolist() == found.share.tolist()
    sizes = path.tree.Z[~np.isnan(beside[:, 0]), 3]
    assert sizes.tolist() == branches["size"].tolist()


def test_points_are_resampled_by_columns():
    rng = np.random.default_rng(0)
    X = np.repeat([[0.0], [5.0]], 8, axis=0) + rng.normal(size=(16, 6))
    settings = {"similarity": "nearest_neighbors", "n_neighbors": 4, "lambdas": 8}
    found = convexhc.support(X, n_resamples=3, **settings)
    assert found.resample == "columns"
    made = convexhc.cluster(X, test_structure=False, **settings)
    with pytest.raises(ValueError, match="does not hold what was observed"):
        made.support()


def test_what_has_no_resamples_is_refused(path):
    K = convexhc.similarity.two_hop(GRAPH)
    for given in ({"G": GRAPH, "similarity": "precomputed"}, {"G": K}):
        with pytest.raises(ValueError, match="a similarity cannot be resampled"):
            convexhc.support(**given)
    with pytest.raises(ValueError, match="path has 20 nodes"):
        convexhc.support(np.ones((3, 3)), path=path)
    with pytest.raises(TypeError, match="no option 'nonsense'"):
        convexhc.support(GRAPH, path=path, n_resamples=1, nonsense=1)
    with pytest.raises(ValueError, match="points must be a table"):
        convexhc.support([1.0, 2.0], similarity="rbf")
    paper = convexhc.solve_path(K, lambdas=[1.0])
    with pytest.raises(ValueError, match="does not hold what was observed"):
        paper.support()
    with pytest.raises(ValueError, match="no resample could be solved"):
        convexhc.support(GRAPH, path=path, n_resamples=1, max_iter=-1)


def test_resamples_that_fail_are_reported_and_do_not_count(path, found, monkeypatch):
    whole = cohort.cluster

    @functools.wraps(whole)
    def fails(graph, **options):
        if graph.n_edges == first.n_edges:
            raise ValueError("it is too hard")
        return whole(graph, **options)

    first = next(iter(draws(GRAPH, "drop", n_resamples=1, share=0.9, random_state=0)))
    monkeypatch.setattr(cohort, "cluster", fails)
    fewer = convexhc.support(GRAPH, path=path, n_resamples=6, share=0.9, **FEW)
    assert 0 < len(fewer.failed) == 6 - fewer.n_resamples
    assert "too hard" in fewer.failed[0]
    assert "failed" in fewer.summary()
    kept = [row for row in found.ami if row.tolist() in fewer.ami.tolist()]
    assert len(kept) >= fewer.n_resamples


def test_branches_without_support_are_faint(path, found):
    from convexhc import plots

    brackets = plots.dendrogram(path, support=found).collections[0].get_colors()
    plain = plots.dendrogram(path).collections[0].get_colors()
    certain = found.share == 1.0
    np.testing.assert_allclose(brackets[certain], plain[certain], atol=1e-2)
    assert np.all(brackets[~certain, :3].mean(axis=1) > plain[~certain, :3].mean(axis=1))
    numbers = plots.dendrogram(path, support=found, support_as="number").texts
    assert [text.get_text() for text in numbers] == [f"{100 * s:.0f}" for s in found.share[:-1]]
    with pytest.raises(ValueError, match="support must have a number"):
        plots.dendrogram(path, support=[0.5])
    with pytest.raises(ValueError, match="support_as must be"):
        plots.dendrogram(path, support=found, support_as="size")


def test_the_reason_of_a_scale_says_whether_it_survives(found):
    agreement = {scale.n_clusters: scale.agreement for scale in found.scales}
    # Both levels that were put in; six resamples do not decide on what lies between them.
    assert (agreement[4], agreement[2]) == (1.0, 1.0)
    robust = [count for count, value in agreement.items() if value >= SETTINGS.min_agreement]
    assert [scale.n_clusters for scale in found.robust_scales] == robust
    (scale, *_) = found.scales
    assert "survives resampling" in scale.reason
    assert "does not survive" in replace(scale, agreement=0.1).reason
    assert "resampling" not in replace(scale, agreement=None).reason
