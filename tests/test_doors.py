"""The entry points agree: same options, same defaults, same partitions at the same lam."""

from __future__ import annotations

import inspect
from dataclasses import fields

import anndata
import numpy as np
import pytest
from scipy import sparse

import convexhc
from convexhc import tl
from convexhc.api.options import FEATURES, POINTS, Options
from convexhc.cli import RENAMED, build_parser, main
from convexhc.estimators import ConvexClustering, ConvexHierarchicalClustering
from convexhc.solvers.admm import ADMM

GRAPHS = {
    "karate": convexhc.datasets.karate().adjacency,
    "fractal": convexhc.datasets.fractal_graph(0, n_meta=2, n_super=3, clique=4).adjacency,
}
OPTIONS = [
    {},
    {"weights": 10},
    {"similarity": "two_hop"},
    {"l1_ratio": 0.5},
    {"max_clusters": 4},
]
K = convexhc.similarity.two_hop(GRAPHS["fractal"])
X = np.random.default_rng(0).normal(size=(12, 2))
any_structure = pytest.mark.filterwarnings(
    "ignore::convexhc.similarity.structure.NoStructureWarning"
)


def by_estimator(adjacency, options, folder):
    return ConvexHierarchicalClustering(**options).fit(adjacency).path_


def by_command_line(adjacency, options, folder):
    sparse.save_npz(folder / "graph.npz", sparse.csr_array(adjacency))
    words = [
        word
        for name, value in options.items()
        for word in (f"--{name.replace('_', '-')}", str(value))
    ]
    out = folder / "out"
    assert main(["fit", str(folder / "graph.npz"), "-o", str(out), "--quiet", *words]) == 0
    return convexhc.Path.load(out / "path.npz")


def by_solve_paths(adjacency, options, folder):
    convexhc.solve_paths([adjacency], folder=folder, **options)
    (outcome,) = convexhc.solve_paths([adjacency], folder=folder, **options)
    assert outcome.resumed
    return outcome.path


DOORS = [by_estimator, by_command_line, by_solve_paths]


@pytest.fixture(scope="module", params=OPTIONS, ids=str)
def options(request):
    return request.param


@pytest.fixture(scope="module", params=GRAPHS)
def adjacency(request):
    return GRAPHS[request.param]


@pytest.fixture(scope="module")
def path(adjacency, options):
    return convexhc.cluster(adjacency, **options)


def annotated(adjacency):
    data = anndata.AnnData(np.zeros((adjacency.shape[0], 1), dtype=np.float32))
    data.obsp["connectivities"] = sparse.csr_matrix(adjacency)
    return data


@any_structure
@pytest.mark.parametrize("door", DOORS)
def test_every_entry_point_finds_the_same_path(door, adjacency, options, path, tmp_path):
    found = door(adjacency, options, tmp_path)
    np.testing.assert_allclose(found.lambdas, path.lambdas, rtol=1e-6)
    np.testing.assert_array_equal(found.partitions, path.partitions)
    np.testing.assert_array_equal(found.suggestion.labels, path.suggestion.labels)
    expected = path.provenance.options
    for name in set(expected) - {"similarity"}:
        assert found.provenance.options[name] == expected[name], name
    # The construction of K is recorded with every path.
    made = found.provenance.options["similarity"]
    assert made.keys() == expected["similarity"].keys()
    assert made["kind"] == expected["similarity"]["kind"]


@any_structure
def test_annotated_data_get_the_same_path(adjacency, options, path):
    data = annotated(adjacency)
    tl.convexhc(data, **options)
    found = data.uns["convexhc"]
    np.testing.assert_allclose(found["lambdas"], path.lambdas, rtol=1e-6)
    np.testing.assert_array_equal(found["path_n_clusters"], path.n_clusters)
    np.testing.assert_array_equal(found["linkage"][:, [0, 1, 3]], path.linkage[:, [0, 1, 3]])
    assert data.obs["convexhc"].astype(int).tolist() == path.suggestion.labels.tolist()
    assert found["similarity"].keys() == path.provenance.options["similarity"].keys()


@any_structure
def test_a_lam_of_the_path_gives_the_same_partition_elsewhere(adjacency, options, path):
    """Solved alone and cold, the lam in the middle of the suggested plateau has its clusters."""
    plateau = path.suggested_plateau
    inside = [level for level in path.levels if plateau.lam_from <= level.lam <= plateau.lam_to]
    level = inside[len(inside) // 2]
    fitted = ConvexHierarchicalClustering(lam=level.lam, **options).fit(adjacency)
    np.testing.assert_array_equal(fitted.path_.levels[0].labels, level.labels)
    alone = convexhc.cluster(adjacency, [level.lam], **options)
    np.testing.assert_array_equal(alone.levels[0].labels, level.labels)
    data = annotated(adjacency)
    tl.convexhc(data, lam=level.lam, min_cluster_size=1, **options)
    assert data.obs["convexhc"].astype(int).tolist() == level.labels.tolist()


def defaults(function):
    """Default of every parameter that has one."""
    parameters = inspect.signature(function).parameters.values()
    return {each.name: each.default for each in parameters if each.default is not each.empty}


def command_line_defaults():
    given = vars(build_parser().parse_args(["fit", "graph", "-o", "out"]))
    # These are read as text, or a number of cores, on which no answer depends.
    return {name: value for name, value in given.items() if name not in ("lambdas", "n_jobs")}


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (convexhc.solve, Options()),
        (convexhc.solve_path, Options()),
        (convexhc.smooth_path, Options()),
        (convexhc.solve_features_path, FEATURES),
        (convexhc.solve_points_path, POINTS),
        (ConvexClustering, POINTS),
    ],
)
def test_the_defaults_of_a_model_are_those_of_its_options(function, expected):
    known = {each.name for each in fields(Options)}
    found = defaults(function)
    shared = known & found.keys()
    assert {"max_clusters"} <= shared or {"tol", "max_iter"} <= shared
    assert {name: found[name] for name in shared} == {
        name: getattr(expected, name) for name in shared
    }
    if function is ConvexClustering:
        assert found["n_lambdas"] == expected.lambdas


def test_cluster_leaves_open_what_the_model_decides():
    found = defaults(convexhc.cluster)
    for each in fields(Options):
        if each.name in found:
            paper, features = getattr(Options(), each.name), getattr(FEATURES, each.name)
            allowed = (paper,) if paper == features else (None, "auto")
            assert found[each.name] in allowed, each.name


@pytest.mark.parametrize(
    "found",
    [defaults(ConvexHierarchicalClustering), defaults(tl.convexhc), command_line_defaults()],
    ids=["estimator", "tl", "command line"],
)
def test_every_entry_point_has_the_defaults_of_cluster(found):
    expected = defaults(convexhc.cluster)
    shared = expected.keys() & found.keys()
    assert {"similarity", "weights"} <= shared
    assert {name: found[name] for name in shared} == {name: expected[name] for name in shared}


def test_every_option_of_cluster_reaches_the_other_entry_points():
    options = {each.name for each in fields(Options)} - {"lambdas", "constraint", "keep"}
    options |= {"similarity", "weights", "space", "shift"}
    assert options <= defaults(convexhc.cluster).keys()
    assert options <= defaults(ConvexHierarchicalClustering).keys()
    assert options <= command_line_defaults().keys()
    # These pass their options on.
    assert not (options - {"similarity", "weights"}) & defaults(tl.convexhc).keys()
    assert not options & defaults(convexhc.solve_paths).keys()


@pytest.mark.parametrize("old", RENAMED)
def test_an_old_option_of_the_command_line_names_the_new_one(old, capsys):
    assert RENAMED[old][2:].replace("-", "_") in command_line_defaults()
    with pytest.raises(SystemExit) as stopped:
        main(["fit", "graph.csv", "-o", "out", old, "1"])
    assert stopped.value.code == 2
    assert f"{old} is now {RENAMED[old]}" in capsys.readouterr().err


def test_a_method_may_be_an_object():
    given = {"similarity": "precomputed", "space": "similarity"}
    one, named = (convexhc.solve(K, 0.3, method=method) for method in (ADMM(), "admm"))
    np.testing.assert_array_equal(one.centroids, named.centroids)
    expected = convexhc.solve_path(K, [0.3, 1.0], method="admm")
    for found in (
        convexhc.solve_path(K, [0.3, 1.0], method=ADMM()),
        convexhc.cluster(K, [0.3, 1.0], weights=None, method=ADMM(), **given),
    ):
        np.testing.assert_array_equal(found.objective, expected.objective)
        assert found.provenance.options["method"] == "admm"
    model = ConvexHierarchicalClustering(lam=0.3, weights=None, method=ADMM(), **given).fit(K)
    np.testing.assert_array_equal(model.path_.objective, expected.objective[:1])
    with pytest.raises(TypeError, match=r"method must be one of .*or a Method object"):
        convexhc.solve(K, 0.3, method=object())


@any_structure
@pytest.mark.parametrize(
    "solve",
    [
        lambda progress: convexhc.cluster(GRAPHS["fractal"], progress=progress),
        lambda progress: convexhc.cluster(GRAPHS["fractal"], weights=10, progress=progress),
        lambda progress: convexhc.cluster(
            K, similarity="precomputed", weights=10, max_clusters=4, progress=progress
        ),
        lambda progress: convexhc.solve_path(K, progress=progress),
        lambda progress: convexhc.solve_path(K, [0.1, 1.0], progress=progress),
        lambda progress: convexhc.solve_features_path(K, progress=progress),
        lambda progress: convexhc.solve_points_path(X, progress=progress),
        lambda progress: convexhc.smooth_path(K, progress=progress),
        lambda progress: (
            ConvexHierarchicalClustering(2, progress=progress).fit(GRAPHS["fractal"]).path_
        ),
        lambda progress: ConvexClustering(2, progress=progress).fit(X).path_,
    ],
)
def test_progress_is_called_once_per_level(solve):
    seen = []
    path = solve(seen.append)
    assert sorted(level.lam for level in seen) == path.lambdas.tolist()
    assert all(isinstance(level, convexhc.Level) for level in seen)
