"""The single-cell tool: what it writes, that it can be saved, and what it rejects."""

from __future__ import annotations

import warnings
from dataclasses import asdict

import anndata
import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from scipy.cluster.hierarchy import is_valid_linkage

from convexhc import cluster, similarity, solve_path, tl
from convexhc.estimators import ConvexHierarchicalClustering
from convexhc.similarity.structure import NoStructureWarning
from convexhc.solvers.solution import Status

GROUPS = ["0"] * 4 + ["1"] * 4 + ["2"] * 4


def connectivities() -> sparse.csr_matrix:
    """Three cliques of four cells in a chain: zero diagonal, float32, as scanpy stores it."""
    A = np.kron(np.eye(3), np.ones((4, 4)) - np.eye(4))
    A[3, 4] = A[4, 3] = A[7, 8] = A[8, 7] = 0.1
    return sparse.csr_matrix(A.astype(np.float32))


@pytest.fixture
def adata():
    data = anndata.AnnData(np.zeros((12, 2), dtype=np.float32))
    data.obs_names = [f"cell {i}" for i in range(12)]
    data.obsp["connectivities"] = connectivities()
    return data


def test_clusters_are_categories_of_text(adata):
    assert tl.convexhc(adata, n_clusters=3) is None
    column = adata.obs["convexhc"]
    assert column.dtype == "category"
    assert column.tolist() == GROUPS
    assert column.cat.categories.tolist() == ["0", "1", "2"]


def test_categories_are_in_the_order_of_the_numbers(adata):
    tl.convexhc(adata, n_clusters=12)
    assert adata.obs["convexhc"].cat.categories.tolist() == [str(k) for k in range(12)]


def test_at_lam_zero_only_cells_with_the_same_neighbors_share_a_cluster(adata):
    tl.convexhc(adata, lam=0.0)
    labels = adata.obs["convexhc"].tolist()
    twins = [[0, 1, 2], [3], [4], [5, 6], [7], [8], [9, 10, 11]]
    assert [{labels[cell] for cell in cells} for cells in twins] == [{str(k)} for k in range(7)]


def test_results_are_those_of_the_path(adata):
    options = {"tol": 1e-3, "lam_step": 0.5, "l1_ratio": 0.2}
    tl.convexhc(adata, n_clusters=3, similarity="two_hop", weights=None, **options)
    path = solve_path(similarity.two_hop(connectivities()), **options)
    found = adata.uns["convexhc"]
    assert_array_equal(found["linkage"], path.linkage)
    assert is_valid_linkage(found["linkage"])
    assert_array_equal(found["lambdas"], path.lambdas)
    assert_array_equal(found["path_n_clusters"], path.n_clusters)
    assert_array_equal(found["relative_gap"], path.relative_gap)
    assert set(found["status"]) == {Status.SOLVED.name}
    assert found["params"]["n_clusters"] == 3
    assert found["params"]["l1_ratio"] == 0.2
    assert found["similarity"]["kind"] == "two_hop"


def test_by_default_it_is_the_path_that_the_graph_chooses(adata):
    tl.convexhc(adata, n_clusters=3)
    path = cluster(connectivities())
    found = adata.uns["convexhc"]
    assert_array_equal(found["linkage"], path.linkage)
    assert_array_equal(found["relative_gap"], path.relative_gap)
    assert found["similarity"] == path.provenance.options["similarity"]
    assert found["params"]["similarity"] == "graph"


def test_without_a_number_the_choice_is_recorded(adata):
    tl.convexhc(adata)
    plateau = adata.uns["convexhc"]["plateau"]
    assert plateau["n_clusters"] == adata.obs["convexhc"].nunique() == 3
    assert plateau == asdict(cluster(connectivities()).suggested_plateau)
    tl.convexhc(adata, similarity="two_hop", weights=10)
    chosen = solve_path(similarity.two_hop(connectivities()), weights=10).suggested_plateau
    assert adata.uns["convexhc"]["plateau"] == asdict(chosen)
    tl.convexhc(adata, n_clusters=2)
    assert "plateau" not in adata.uns["convexhc"]


@pytest.mark.parametrize("made", ["two_hop", "normalized", "precomputed"])
def test_the_similarity_may_be_chosen(adata, made):
    tl.convexhc(adata, n_clusters=3, similarity=made, shift=3.0, min_cluster_size=2)
    K = connectivities()
    model = ConvexHierarchicalClustering(3, similarity=made, shift=3.0, min_cluster_size=2).fit(K)
    assert_array_equal(adata.uns["convexhc"]["linkage"], model.linkage_)
    assert adata.obs["convexhc"].astype(int).tolist() == model.labels_.tolist()
    assert adata.uns["convexhc"]["similarity"]["shift"] == 3.0


def assert_same_tree(found, expected):
    if sparse.issparse(expected):
        assert_array_equal(found.toarray(), expected.toarray())
        return
    assert type(found) is type(expected) or np.isscalar(expected)
    if isinstance(expected, dict):
        assert found.keys() == expected.keys()
        for key, value in expected.items():
            assert_same_tree(found[key], value)
    else:
        assert_array_equal(found, expected)


def test_cells_without_groups_raise_a_warning():
    rng = np.random.default_rng(0)
    upper = np.triu(rng.random((50, 50)) < 0.15, 1)
    cells = anndata.AnnData(np.zeros((50, 1), dtype=np.float32))
    cells.obsp["connectivities"] = sparse.csr_matrix((upper | upper.T).astype(np.float32))
    with pytest.warns(NoStructureWarning, match="no groups beyond chance"):
        tl.convexhc(cells)
    assert cells.obs["convexhc"].nunique() > 1
    # With a given number there is no warning.
    tl.convexhc(cells, n_clusters=4)
    assert cells.obs["convexhc"].nunique() == 4


@pytest.mark.parametrize("options", [{}, {"lam": 0.3, "weights": 3}, {"weights": connectivities()}])
def test_results_are_saved_and_loaded(adata, tmp_path, options):
    tl.convexhc(adata, tol=1e-2, **options)
    adata.write_h5ad(tmp_path / "cells.h5ad")
    revived = anndata.read_h5ad(tmp_path / "cells.h5ad")
    assert_same_tree(revived.uns["convexhc"], adata.uns["convexhc"])
    assert revived.obs["convexhc"].equals(adata.obs["convexhc"])


def test_one_cell_is_saved_and_loaded(tmp_path):
    alone = anndata.AnnData(np.zeros((1, 1), dtype=np.float32))
    alone.obsp["connectivities"] = sparse.csr_matrix((1, 1), dtype=np.float32)
    tl.convexhc(alone)
    alone.write_h5ad(tmp_path / "cell.h5ad")
    revived = anndata.read_h5ad(tmp_path / "cell.h5ad")
    assert revived.obs["convexhc"].tolist() == ["0"]
    assert revived.uns["convexhc"]["linkage"].shape == (0, 4)


def test_a_copy_does_not_modify_the_original(adata):
    written = tl.convexhc(adata, n_clusters=3, copy=True, key_added="tree")
    assert written.obs["tree"].tolist() == GROUPS
    assert "tree" in written.uns
    assert "tree" not in adata.obs
    assert "tree" not in adata.uns


def test_results_are_writable(adata):
    tl.convexhc(adata, lam=0.3)
    for name in ("linkage", "lambdas"):
        adata.uns["convexhc"][name][:] = 0.0
        assert not adata.uns["convexhc"][name].any()


def test_another_graph_can_be_selected(adata):
    adata.obsp["mine"] = sparse.csr_matrix(np.kron(np.eye(2), 1 - np.eye(6)))
    tl.convexhc(adata, obsp="mine", key_added="mine")
    assert adata.obs["mine"].tolist() == ["0"] * 6 + ["1"] * 6
    assert adata.uns["mine"]["n_connected_components"] == 2
    assert adata.uns["mine"]["params"]["obsp"] == "mine"


def test_duplicate_cell_names_are_accepted(adata):
    with warnings.catch_warnings():
        # Some versions of anndata warn about such names.
        warnings.simplefilter("ignore", UserWarning)
        adata.obs_names = ["cell"] * 12
    tl.convexhc(adata, n_clusters=3)
    assert adata.obs["convexhc"].tolist() == GROUPS


def test_the_error_for_a_missing_graph_lists_those_available(adata):
    adata.obsp["distances"] = connectivities()
    with pytest.raises(ValueError, match=r"no 'umap'.*'connectivities', 'distances'.*obsp="):
        tl.convexhc(adata, obsp="umap")
    with pytest.raises(ValueError, match=r"it has nothing.*neighbors"):
        tl.convexhc(anndata.AnnData(np.zeros((2, 1), dtype=np.float32)))


@pytest.mark.parametrize(
    ("wrong", "error", "match"),
    [
        ({"similarity": "rbf"}, ValueError, "similarity must be one of"),
        ({"affinity": "two_hop"}, TypeError, "unknown option 'affinity': give similarity"),
        ({"tolerance": 1e-3}, TypeError, "unknown option 'tolerance'.*tol"),
        ({"n_clusters": 2, "lam": 1.0}, ValueError, "either n_clusters or lam"),
        ({"n_clusters": 0}, ValueError, "n_clusters"),
    ],
)
def test_an_invalid_option_is_rejected_and_nothing_is_written(adata, wrong, error, match):
    with pytest.raises(error, match=match):
        tl.convexhc(adata, **wrong)
    assert "convexhc" not in adata.obs
    assert "convexhc" not in adata.uns


def test_the_error_for_a_matrix_names_the_right_function():
    with pytest.raises(TypeError, match=r"AnnData object, received csr_matrix.*solve_path"):
        tl.convexhc(connectivities())


def test_a_new_cut_needs_no_new_solve(adata, tmp_path, monkeypatch):
    tl.convexhc(adata, n_clusters=3)
    adata.write_h5ad(tmp_path / "cells.h5ad")
    revived = anndata.read_h5ad(tmp_path / "cells.h5ad")
    # With a number given, the structure is not tested.
    expected = cluster(connectivities(), test_structure=False)

    def refused(*arguments, **options):
        raise AssertionError("it was solved again")

    monkeypatch.setattr("convexhc.path.engine.run", refused)
    monkeypatch.setattr("convexhc.api.graph_path.run", refused)
    for cells in (adata, revived):
        tl.cut(cells, n_clusters=2, key_added="two")
        assert cells.obs["two"].astype(int).tolist() == expected.labels(n_clusters=2).tolist()
        assert cells.obs["convexhc"].tolist() == GROUPS
        found = tl.path(cells)
        assert_array_equal(found.partitions, expected.partitions)
        assert_array_equal(found.linkage, expected.linkage)
        assert found.suggestion.n_clusters == expected.suggestion.n_clusters
        assert found.structure is None
        assert found.names == tuple(adata.obs_names)
        tl.cut(cells, n_clusters=6, min_cluster_size=1)
        assert cells.obs["convexhc"].nunique() == 6
        assert cells.uns["convexhc"]["params"]["n_clusters"] == 6
        tl.cut(cells, lam=1e-9)
        assert cells.obs["convexhc"].nunique() == 12
        assert "n_clusters" not in cells.uns["convexhc"]["params"]
        tl.cut(cells)
        assert cells.obs["convexhc"].nunique() == expected.suggestion.n_clusters
        copied = tl.cut(cells, n_clusters=2, key_added="mine", copy=True)
        assert "mine" in copied.obs
        assert "mine" not in cells.obs


def test_the_path_holds_no_second_copy_of_the_graph_and_few_bytes(adata):
    tl.convexhc(adata, n_clusters=3)
    stored = adata.uns["convexhc"]["path"]
    assert "graph" not in stored
    assert stored["partitions"].dtype == np.uint8
    tl.convexhc(adata, n_clusters=3, similarity="two_hop", weights=3)
    # The graph of the paper's problem is its similarity.
    expected = solve_path(similarity.two_hop(connectivities()), weights=3)
    found = tl.path(adata)
    np.testing.assert_allclose(found.graph.dense(), expected.graph.dense())
    assert_array_equal(found.labels(n_clusters=2), expected.labels(n_clusters=2))


def test_the_graph_is_named_as_in_scanpy(adata, tmp_path):
    two = sparse.csr_matrix(np.kron(np.eye(2), 1 - np.eye(6)))
    adata.obsp["mine_connectivities"] = two
    adata.uns["mine"] = {"connectivities_key": "mine_connectivities"}
    tl.convexhc(adata, neighbors_key="mine", key_added="by key")
    tl.convexhc(adata, adjacency=two, key_added="by matrix")
    expected = ["0"] * 6 + ["1"] * 6
    for key in ("by key", "by matrix"):
        assert adata.obs[key].tolist() == expected
        tl.cut(adata, n_clusters=2, key=key, key_added="again")
        assert adata.obs["again"].tolist() == expected
    assert adata.uns["by key"]["params"]["obsp"] == "mine_connectivities"
    adata.write_h5ad(tmp_path / "cells.h5ad")
    assert tl.path(anndata.read_h5ad(tmp_path / "cells.h5ad"), key="by matrix").graph.n_edges == 30
    # The neighbours that scanpy names are the default.
    adata.uns["neighbors"] = adata.uns["mine"]
    tl.convexhc(adata, n_clusters=2)
    assert adata.obs["convexhc"].tolist() == expected
    with pytest.raises(ValueError, match=r"one of obsp, neighbors_key and adjacency, received \["):
        tl.convexhc(adata, obsp="connectivities", adjacency=two)
    with pytest.raises(ValueError, match="key_added='other'"):
        tl.convexhc(adata, neighbors_key="other")
    with pytest.raises(ValueError, match=r"names|adjacency has 6 nodes"):
        tl.convexhc(adata, adjacency=np.ones((6, 6)))


def test_a_cut_without_a_path_says_what_to_do(adata):
    with pytest.raises(ValueError, match=r"no path under 'tree'.*key_added='tree'"):
        tl.cut(adata, n_clusters=2, key="tree")
    tl.convexhc(adata, n_clusters=3)
    del adata.obsp["connectivities"]
    with pytest.raises(ValueError, match="no 'connectivities'"):
        tl.cut(adata, n_clusters=2)


def test_alpha_is_answered_with_l1_ratio(adata):
    with pytest.raises(TypeError, match="unknown option 'alpha': give l1_ratio"):
        tl.convexhc(adata, alpha=0.5)
