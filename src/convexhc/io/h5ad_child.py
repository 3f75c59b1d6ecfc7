"""Program that copies one matrix and the names of the cells from an h5ad file to an npz file.

It is run as a process of its own, with limits of time and memory, because the HDF5 library can
crash or hang on a damaged file. It reads what is asked for and nothing else, neither expression
values nor other annotations, and imports only h5py and numpy.

Arguments: the h5ad file, the key in ``obsp``, the npz file, the largest number of entries, and the
limit of memory in bytes. A line on standard error and the exit code 3 tell why it cannot be read.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np

# Exit code of a file that is refused: Python itself ends with 1 or 2.
REFUSED = 3


def main(file: str, key: str, out: str, most: int) -> None:
    """Copy ``obsp[key]`` and the index of ``obs``."""
    import h5py

    with h5py.File(file, "r") as store:
        matrices = store.get("obsp", {})
        if key not in matrices:
            raise ValueError(
                f"it has no obsp[{key!r}]: it has {sorted(matrices)}; compute neighbours first, or "
                "pass key=..."
            )
        names = _names(store["obs"], most)
        arrays = {"names": np.array(json.dumps(names)), **_matrix(matrices[key], most)}
    if any(array.dtype.hasobject for array in arrays.values()):
        raise ValueError("it holds Python objects where numbers must stand")
    with open(out, "wb") as stream:
        np.savez(stream, **arrays)


def _values(dataset: Any, most: int) -> Any:
    if dataset.size > most:
        raise ValueError(f"it declares {dataset.size} numbers in a small file")
    # h5py marks the type of text.
    is_text = (dataset.dtype.metadata or {}).get("vlen") is str
    return np.asarray((dataset.asstr() if is_text else dataset)[()])


def _names(table: Any, most: int) -> list[str]:
    """The index of a table of annotations."""
    if hasattr(table, "dtype"):
        # Files of the first versions of anndata: one record per cell, with the index first.
        index = _values(table, most)[table.dtype.names[0]]
        return [name.decode() if isinstance(name, bytes) else str(name) for name in index]
    index = table[table.attrs.get("_index", "_index")]
    if hasattr(index, "dtype"):
        return [str(name) for name in _values(index, most)]
    if "codes" in index:
        kinds = _values(index["categories"], most)
        return [str(kinds[code]) for code in _values(index["codes"], most)]
    return [str(name) for name in _values(index["values"], most)]


def _matrix(found: Any, most: int) -> dict[str, Any]:
    """A dense matrix, or the arrays of a sparse one as scipy names them."""
    if hasattr(found, "dtype"):
        return {"dense": _values(found, most)}
    kind = found.attrs.get("encoding-type", found.attrs.get("h5sparse_format"))
    kind = kind.decode() if isinstance(kind, bytes) else str(kind)
    shape = found.attrs.get("shape", found.attrs.get("h5sparse_shape"))
    arrays = {name: _values(found[name], most) for name in ("data", "indices", "indptr")}
    return {
        "format": np.array(kind.removesuffix("_matrix")),
        "shape": np.asarray(shape, dtype=np.int64),
        **arrays,
    }


def _limit_memory(n_bytes: int) -> None:
    try:
        import resource
    except ImportError:  # Windows
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    lower = n_bytes if hard == resource.RLIM_INFINITY else min(n_bytes, hard)
    resource.setrlimit(resource.RLIMIT_AS, (lower, hard))


if __name__ == "__main__":
    try:
        source, entry, copy, numbers, memory = sys.argv[1:]
        _limit_memory(int(memory))
        main(source, entry, copy, int(numbers))
    except Exception as error:
        sys.stderr.write(" ".join(str(error).split()) or type(error).__name__)
        sys.exit(REFUSED)
