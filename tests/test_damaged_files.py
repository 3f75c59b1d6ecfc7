"""Files and sparse matrices that are broken: refused in one line, without death and without memory.

The wider search is in tests/fuzz.
"""

from __future__ import annotations

import io
import zipfile
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from scipy import sparse

from convexhc import Path, as_graph, metrics, solve_path
from convexhc.cli import main
from convexhc.estimators import ConvexHierarchicalClustering
from convexhc.io import h5ad, h5ad_child
from convexhc.io.border import border

MATRIX = nx.to_scipy_sparse_array(nx.karate_club_graph(), format="csr", dtype=np.float64)
LIST = b"%%MatrixMarket matrix coordinate real general\n"
ARRAY = b"%%MatrixMarket matrix array real general\n"


def broken(kind, part, value):
    """The matrix in one format, with one index changed."""
    matrix = MATRIX.asformat(kind).copy()
    array = matrix.coords[0] if part == "coords" else getattr(matrix, part)
    array[4] = value
    return matrix


BROKEN = [
    (kind, part, value)
    for kind in ("csr", "csc", "bsr")
    for part, value in (("indptr", 10**7), ("indptr", -1), ("indices", 10**7), ("indices", -5))
]
BROKEN += [("coo", "coords", 34), ("coo", "coords", -1)]


@pytest.mark.parametrize(("kind", "part", "value"), BROKEN)
def test_indices_outside_a_sparse_matrix_are_refused(kind, part, value):
    with pytest.raises(ValueError, match=rf"sparse matrix is broken: {part}"):
        as_graph(broken(kind, part, value))


@pytest.mark.parametrize(
    "door",
    [
        lambda matrix: ConvexHierarchicalClustering(n_clusters=2).fit(matrix),
        lambda matrix: metrics.effective_rank(np.eye(34), matrix),
        lambda matrix: metrics.hamming(matrix, MATRIX),
    ],
    ids=["estimator", "effective_rank", "hamming"],
)
def test_the_other_doors_refuse_them_too(door):
    with pytest.raises(ValueError, match="sparse matrix is broken"):
        door(broken("csr", "indices", 10**7))


def test_arrays_of_a_sparse_matrix_must_fit_each_other():
    matrix = MATRIX.copy()
    matrix.indptr = matrix.indptr[:-1]
    with pytest.raises(ValueError, match="indptr must rise from 0 in 35 steps"):
        as_graph(matrix)
    matrix = MATRIX.tocoo()
    matrix.data = matrix.data[:-1]
    with pytest.raises(ValueError, match="coords and data differ in length"):
        as_graph(matrix)
    matrix = sparse.dia_array((np.ones((1, 4)), [0]), shape=(4, 4))
    matrix.offsets = np.array([0, 1])
    with pytest.raises(ValueError, match="offsets and data differ in length"):
        as_graph(matrix)


@pytest.mark.parametrize(("kind", "part", "value"), BROKEN)
def test_indices_outside_a_sparse_matrix_in_a_file_are_refused(kind, part, value, tmp_path):
    file = tmp_path / "graph.npz"
    sparse.save_npz(file, MATRIX.asformat(kind))
    with np.load(file) as archive:
        arrays = {name: archive[name] for name in archive.files}
    arrays["row" if part == "coords" and "row" in arrays else part].flat[4] = value
    np.savez(file, **arrays)
    assert_refused(file)


# Ends that crash scipy's reader: a line that has no end, a NUL in a line.
@pytest.mark.parametrize("tail", [b" ", b"e", b"1e", b"\xff", b"\x00", b"\x00\n", b"\n3 3", b"\t"])
def test_a_strange_end_of_a_matrix_market_file_does_not_crash(tail, tmp_path):
    file = tmp_path / "graph.mtx"
    file.write_bytes(LIST + b"3 3 2\n1 2 1.5\n2 1 1.5" + tail)
    try:
        weight = as_graph(file).weight
    except ValueError as error:
        said = str(error)
    else:
        said = ""
        assert weight.size == 1
    assert "\n" not in said
    assert said.startswith(f"{file}: ") or tail.strip() in (b"", b"e", b"1e")


def zipped_zeros(n):
    """An npz file of about n**2 / 1000 * 8 bytes, which declares n x n zeros."""
    stream = io.BytesIO()
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": "<f8", "fortran_order": False, "shape": (n, n)}
    )
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("arr_0.npy", header.getvalue() + bytes(10**6))
    content = bytearray(stream.getvalue())
    # The directory of the archive declares the whole.
    at = content.rindex(b"PK\x01\x02") + 24
    content[at : at + 4] = min(8 * n * n + len(header.getvalue()), 2**32 - 2).to_bytes(4, "little")
    return bytes(content)


def npy_of_shape(shape):
    stream = io.BytesIO()
    fields = {"descr": "<f8", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(stream, fields)
    return stream.getvalue() + bytes(64)


DECLARED = {
    "nodes.mtx": (LIST + b"100000000 100000000 1\n1 2 1.0\n", "100000000 nodes"),
    "entries.mtx": (LIST + b"3 3 1000000000\n1 2 1.0\n", "1000000000 entries"),
    "array.mtx": (ARRAY + b"40000 40000\n1.0\n", "1600000000 numbers"),
    "shape.npy": (npy_of_shape((10**5, 10**5)), "does not fill"),
    "overflow.npy": (npy_of_shape((2**32, 2**32)), "does not fill"),
    "negative.npy": (npy_of_shape((-2, -4)), "does not fill"),
    "zeros.npz": (zipped_zeros(22000), "numbers in"),
}


@pytest.mark.parametrize("name", DECLARED)
def test_a_small_file_that_declares_a_huge_size_is_refused_before_memory_is_taken(name, tmp_path):
    content, what = DECLARED[name]
    file = tmp_path / name
    file.write_bytes(content)
    resource = pytest.importorskip("resource")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    message = assert_refused(file)
    assert what in message
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000


def test_a_sparse_file_that_declares_many_nodes_is_refused(tmp_path):
    n = 10**9
    sparse.save_npz(tmp_path / "graph.npz", sparse.coo_array(([1.0], ([0], [1])), shape=(n, n)))
    assert "1000000000 nodes" in assert_refused(tmp_path / "graph.npz")


def assert_refused(file):
    """Refused by a ValueError of one line, which names the file and gives no unsafe advice."""
    with pytest.raises(ValueError, match=r"\A[^\n]*\Z") as refused:
        as_graph(file)
    message = str(refused.value)
    assert message.startswith(f"{file}: ")
    assert "pickle" not in message
    return message


RUBBISH = {
    "graph.npz": b"PK\x03\x04 rubbish",
    "graph.npy": b"\x93NUMPY\x01\x00",
    "graph.mtx": b"",
    "graph.graphml": b"<graphml><graph><edge/></graph>",
    "graph.gml": b"graph " + b"[ a " * 5000,
    "graph.gexf": b"<gexf/>",
    "graph.net": b"*vertices 3\n1\n*edges\n1 2 x\n",
    "graph.csv": b"\xff\xfe\x00",
    "graph.h5ad": b"\x89HDF\r\n\x1a\n rubbish",
}


@pytest.mark.parametrize("name", RUBBISH)
def test_rubbish_of_every_format_is_one_line_and_exit_code_two(name, tmp_path, capsys):
    file = tmp_path / name
    file.write_bytes(RUBBISH[name])
    assert main(["info", str(file)]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"convexhc: {file}: not a valid {file.suffix} file: ")
    assert said.count("\n") == 1


def test_python_objects_are_refused_without_advice_to_load_them(tmp_path, capsys):
    objects = np.array([{"a": 1}], dtype=object)
    np.save(tmp_path / "graph.npy", objects, allow_pickle=True)
    np.savez(tmp_path / "graph.npz", objects)
    (tmp_path / "raw.npy").write_bytes(b"\x80\x04\x95 a pickle")
    for name in ("graph.npy", "graph.npz", "raw.npy"):
        assert_refused(tmp_path / name)


def test_a_missing_file_and_a_lack_of_memory_keep_their_types():
    with pytest.raises(FileNotFoundError), border("a", "b"):
        raise FileNotFoundError("a")
    with pytest.raises(MemoryError, match="a: not enough memory"), border("a", "b"):
        raise MemoryError


def h5ad_file(folder):
    anndata = pytest.importorskip("anndata")
    cells = anndata.AnnData(X=np.zeros((34, 2)))
    cells.obsp["connectivities"] = sparse.csr_matrix(MATRIX)
    cells.write_h5ad(folder / "cells.h5ad")
    return folder / "cells.h5ad"


def test_indices_outside_a_matrix_in_an_h5ad_file_are_refused(tmp_path):
    h5py = pytest.importorskip("h5py")
    file = h5ad_file(tmp_path)
    with h5py.File(file, "r+") as store:
        store["obsp/connectivities/indptr"][4] = 10**7
    assert "indptr holds 10000000" in assert_refused(file)


def test_an_h5ad_file_that_declares_a_huge_size_is_refused(tmp_path):
    h5py = pytest.importorskip("h5py")
    file = h5ad_file(tmp_path)
    with h5py.File(file, "r+") as store:
        del store["obsp/connectivities/data"]
        store.create_dataset("obsp/connectivities/data", (10**12,), "f8", chunks=(1000,))
    assert "1000000000000 numbers" in assert_refused(file)


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("import os; os.abort()", "crashed"),
        ("while True: pass", "not done after"),
        ("bytes(10**13)", "crashed|MemoryError|memory"),
    ],
)
def test_a_reader_of_hdf5_that_dies_or_hangs_is_an_error(program, reason, tmp_path, monkeypatch):
    file = h5ad_file(tmp_path)
    (tmp_path / "child.py").write_text(program)
    monkeypatch.setattr(h5ad_child, "__file__", str(tmp_path / "child.py"))
    monkeypatch.setattr(h5ad, "SETTINGS", replace(h5ad.SETTINGS, seconds=2.0))
    with pytest.raises(ValueError, match=rf"cells\.h5ad: not a valid .*({reason})"):
        as_graph(file)


def test_a_saved_path_whose_arrays_contradict_each_other_is_refused(tmp_path):
    file = tmp_path / "path.npz"
    solve_path(MATRIX.toarray() + 40 * np.eye(34), [0.1, 1.0]).save(file)
    with np.load(file) as archive:
        arrays = {name: archive[name] for name in archive.files}
    for name, value in {
        "partitions": np.full_like(arrays["partitions"], 10**6),
        "components": arrays["components"][:-1],
        "lam": arrays["lam"][::-1],
        # Its tree would refuse them later, and not name the file.
        " lam": arrays["lam"] - 1.0,
        "lam ": np.array([0.1, 1.7e308]),
        "seconds": np.array(["a", "b"]),
        "status": np.array(["X", "Y"]),
        "graph_head": arrays["graph_head"] + 10**6,
    }.items():
        np.savez(file, **{**arrays, name.strip(): value})
        with pytest.raises(ValueError, match=r"path\.npz: not a valid path"):
            Path.load(file)


def test_an_array_left_out_of_the_directory_of_an_archive_is_noticed(tmp_path):
    """An archive has a checksum for every member, but none for the list of them."""
    file = tmp_path / "path.npz"
    solve_path(MATRIX.toarray() + 40 * np.eye(34), [0.1, 1.0], keep="all").save(file)
    with np.load(file) as archive:
        arrays = {name: archive[name] for name in archive.files}
    del arrays["cluster_centroids_1"]
    np.savez(file, **arrays)
    with pytest.raises(ValueError, match="arrays are missing"):
        Path.load(file)
