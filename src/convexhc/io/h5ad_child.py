"""Program that copies one matrix and the names of the cells from an h5ad file to an npz file.

It is run as a process of its own, with limits of time and memory, because the HDF5 library can
crash or hang on a damaged file. It reads what is asked for and nothing else, neither expression
values nor other annotations, and imports only h5py and numpy.

Arguments: the h5ad file, the key in ``obsp``, the npz file, the largest number of entries, and the
limit of memory in bytes. A line on standard error and the exit code 3 tell why it cannot be read.
"""

import json
import sys

REFUSED = 3


def main(file, key, out, most, memory):
    """Copy ``obsp[key]`` and the index of ``obs``."""
    _limit_memory(int(memory))
    import h5py
    import numpy as np

    def values(dataset):
        if dataset.size > int(most):
            raise ValueError(f"it declares {dataset.size} numbers in a small file")
        read = dataset.asstr() if h5py.check_string_dtype(dataset.dtype) else dataset
        return np.asarray(read[()])

    def names(table):
        if isinstance(table, h5py.Dataset):
            # Files of the first versions of anndata: one record per cell, with the index first.
            index = values(table)[table.dtype.names[0]]
            return [name.decode() if isinstance(name, bytes) else str(name) for name in index]
        index = table[table.attrs.get("_index", "_index")]
        if isinstance(index, h5py.Dataset):
            return [str(name) for name in values(index)]
        if "codes" in index:
            kinds = values(index["categories"])
            return [str(kinds[code]) for code in values(index["codes"])]
        return [str(name) for name in values(index["values"])]

    with h5py.File(file, "r") as store:
        matrices = store.get("obsp", {})
        if key not in matrices:
            raise ValueError(
                f"it has no obsp[{key!r}]: it has {sorted(matrices)}; compute neighbours first, or "
                "pass key=..."
            )
        found = matrices[key]
        arrays = {"names": np.array(json.dumps(names(store["obs"])))}
        if isinstance(found, h5py.Dataset):
            arrays["dense"] = values(found)
        else:
            kind = found.attrs.get("encoding-type", found.attrs.get("h5sparse_format"))
            kind = kind.decode() if isinstance(kind, bytes) else str(kind)
            shape = found.attrs.get("shape", found.attrs.get("h5sparse_shape"))
            arrays["format"] = np.array(kind.removesuffix("_matrix"))
            arrays["shape"] = np.asarray(shape, dtype=np.int64)
            for name in ("data", "indices", "indptr"):
                arrays[name] = values(found[name])
    if any(array.dtype.hasobject for array in arrays.values()):
        raise ValueError("it holds Python objects where numbers must stand")
    with open(out, "wb") as stream:
        np.savez(stream, **arrays)


def _limit_memory(n_bytes):
    try:
        import resource
    except ImportError:  # Windows
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    lower = n_bytes if hard == resource.RLIM_INFINITY else min(n_bytes, hard)
    resource.setrlimit(resource.RLIMIT_AS, (lower, hard))


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except Exception as error:
        sys.stderr.write(" ".join(str(error).split()) or type(error).__name__)
        sys.exit(REFUSED)
