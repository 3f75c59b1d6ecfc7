"""Mutated files of every format, each read in a process of its own with limits.

    python tests/fuzz/files.py --seconds 600 --seed 0

Every input must be read, or refused by one line that names the file; for a folder of results, with
exit code 2. Anything else is a failure: another exception, a death, more than 60 s of CPU time,
more memory than `MEMORY`. Failing inputs are kept in the folder given with --keep.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import anndata
import networkx as nx
import numpy as np
import pandas as pd
from scipy import io as scipy_io
from scipy import sparse

import convexhc
from convexhc.cli import main

# CPU time of one reader, and the time by the clock after which it waits for ever: beside other
# programs, a second of work can take a minute.
SECONDS, MOST_SECONDS = 60, 600
# Address space of one reader, beyond that of the process it is forked from, in bytes.
MEMORY = 3 * 10**9
# A process that has read so many files is replaced, so that leaks do not add up.
INPUTS_PER_CHILD = 200
# Values that small files should not be able to turn into large arrays or into other memory.
HUGE = (b"99999999", b"4294967295", b"9223372036854775807", b"-1", b"1e308", b"nan", b"0", b"1e")
ARRAY_VALUES = (-1, 0, 10**7, 2**31 - 1, 2**62, -(2**63))

FOLDER_FILES = ("run.json", "path.npz", "graph.npz", "begun.json", "checkpoint.npz")
SUFFIXES = ("csv", "tsv", "txt", "mtx", "npy", "npz", "graphml", "gml", "gexf", "net", "h5ad")

READ, REFUSED = "read", "refused"


def example() -> nx.Graph:
    """A small weighted graph with names."""
    graph = nx.karate_club_graph()
    named = nx.Graph()
    for u, v in sorted(graph.edges):
        named.add_edge(f"n{u}", f"n{v}", weight=1.0 + (u + v) % 3)
    return named


def write_examples(folder: Path) -> list[Path]:
    """One or several valid files of every format."""
    graph = example()
    matrix = nx.to_scipy_sparse_array(graph, format="csr")
    dense, names = matrix.toarray(), list(graph.nodes)
    lines = [f"{u},{v},{w}" for u, v, w in graph.edges(data="weight")]
    (folder / "edges.csv").write_text("\n".join(["source,target,weight", *lines]) + "\n")
    (folder / "edges.txt").write_text("\n".join(line.replace(",", " ") for line in lines))
    pd.DataFrame(dense, names, names).to_csv(folder / "matrix.tsv", sep="\t")
    np.save(folder / "dense.npy", dense)
    np.savez_compressed(folder / "dense.npz", dense)
    for kind in ("csr", "csc", "coo", "bsr", "dia"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            sparse.save_npz(folder / f"{kind}.npz", matrix.asformat(kind), compressed=kind == "csr")
    scipy_io.mmwrite(folder / "list.mtx", matrix.tocoo(), symmetry="symmetric")
    scipy_io.mmwrite(folder / "array.mtx", dense, symmetry="general")
    for suffix in ("graphml", "gml", "gexf"):
        getattr(nx, f"write_{suffix}")(graph, folder / f"graph.{suffix}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        nx.write_pajek(graph, folder / "graph.net")
    cells = anndata.AnnData(X=np.zeros((34, 2)), obs=pd.DataFrame(index=names))
    cells.obsp["connectivities"] = sparse.csr_matrix(matrix)
    cells.write_h5ad(folder / "sparse.h5ad")
    cells.obsp["connectivities"] = dense
    cells.write_h5ad(folder / "dense.h5ad", compression="gzip")
    return sorted(folder.iterdir())


def write_results(folder: Path) -> Path:
    """The folder of a finished fit, with the checkpoint of an unfinished one beside it."""
    K = np.kron(np.eye(2), np.ones((3, 3))) + 0.1 + np.eye(6)
    np.save(folder / "K.npy", K)
    out = folder / "out"
    given = ["fit", str(folder / "K.npy"), "-o", str(out), "--quiet", "--weights", "all"]
    given += ["--similarity", "precomputed", "--lambdas", "0.1,1"]
    assert main(given) == 0
    convexhc.solve_path(K, [0.1, 1.0], checkpoint=out / "checkpoint.npz")
    begun = {"convexhc": convexhc.__version__, "arguments": given, "directory": "/"}
    (out / "begun.json").write_text(json.dumps(begun))
    return out


def flipped(content: bytes, rng: np.random.Generator) -> bytes:
    """One to eight bytes replaced."""
    changed = bytearray(content)
    for at in rng.integers(len(changed), size=rng.integers(1, 9)):
        changed[at] = rng.integers(256)
    return bytes(changed)


def bit_flipped(content: bytes, rng: np.random.Generator) -> bytes:
    changed = bytearray(content)
    changed[rng.integers(len(changed))] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def cut(content: bytes, rng: np.random.Generator) -> bytes:
    """The end missing, or a piece of the middle."""
    start, end = sorted(rng.integers(len(content) + 1, size=2))
    return content[:start] + (content[end:] if rng.random() < 0.5 else b"")


def repeated(content: bytes, rng: np.random.Generator) -> bytes:
    """A piece twice, or many times, or the pieces in another order."""
    start, end = sorted(rng.integers(len(content) + 1, size=2))
    piece = content[start:end][:200]
    return content[:start] + piece * int(rng.choice([2, 3, 1000])) + content[start:]


def with_huge_number(content: bytes, rng: np.random.Generator) -> bytes:
    """One number in the text replaced by an extreme one."""
    digits = np.flatnonzero([48 <= sign < 58 for sign in content[:100_000]])
    if not digits.size:
        return flipped(content, rng)
    start = end = int(rng.choice(digits))
    while end < len(content) and 48 <= content[end] < 58:
        end += 1
    return content[:start] + bytes(rng.choice(HUGE)) + content[end:]


def with_other_header(content: bytes, rng: np.random.Generator) -> bytes:
    """The first bytes changed, or those of another format."""
    heads = (b"\x93NUMPY", b"PK\x03\x04", b"%%MatrixMarket matrix array real general\n", b"\x80")
    heads += (b"\x89HDF\r\n\x1a\n", b"<?xml version='1.0'?>", b"graph [", b"*vertices 9\n", b"\xff")
    size = int(rng.integers(min(64, len(content)) + 1))
    return bytes(rng.choice(np.array(heads, dtype=object))) + content[size:]


def with_tail(content: bytes, rng: np.random.Generator) -> bytes:
    """No line end, and something stray there."""
    tails = (b" ", b"1e", b"\xff", b"\x00", b"\n\n", b"\t", b"-", b"[" * 3000, b"(" * 3000)
    return content.rstrip() + bytes(rng.choice(np.array(tails, dtype=object)))


def with_other_array(content: bytes, rng: np.random.Generator) -> bytes:
    """An npz archive, intact, in which one number, shape or type of an array was changed."""
    with np.load(io.BytesIO(content)) as archive:
        arrays = {name: archive[name] for name in archive.files}
    name = str(rng.choice(sorted(arrays)))
    array = np.atleast_1d(arrays[name]).copy()
    choice = rng.integers(4)
    if choice == 0 and array.dtype.kind in "iuf" and array.size:
        with np.errstate(all="ignore"):
            value = ARRAY_VALUES[rng.integers(len(ARRAY_VALUES))]
            array.flat[rng.integers(array.size)] = np.array(value).astype(array.dtype)
    elif choice == 1:
        array = array[: rng.integers(array.shape[0] + 1)]
    elif choice == 2:
        array = np.array(rng.choice(["x", "csr", "csc", "coo", "bsr", "dia", "{}"]))
    else:
        array = array.reshape(*array.shape, 1)
    arrays[name] = array
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


def with_other_entry(content: bytes, rng: np.random.Generator) -> bytes:
    """A JSON record, valid, in which one entry is missing or of another type."""
    record = json.loads(content)
    name = str(rng.choice(sorted(record)))
    record[name] = [None, [], {}, "x", -1, 1e308, [[]]][rng.integers(7)]
    if rng.random() < 0.3:
        del record[name]
    return json.dumps(record).encode()


Mutator = Callable[[bytes, np.random.Generator], bytes]
MUTATORS: list[Mutator] = [
    flipped,
    bit_flipped,
    cut,
    repeated,
    with_huge_number,
    with_other_header,
    with_tail,
]


def mutated(file: Path, rng: np.random.Generator) -> bytes:
    """The content of a file, changed once, or twice in one case of four."""
    content = file.read_bytes()
    choices = list(MUTATORS)
    if zipfile.is_zipfile(file):
        choices += [with_other_array] * 4
    if file.suffix == ".json":
        choices += [with_other_entry] * 4
    content = choices[rng.integers(len(choices))](content, rng)
    if rng.random() < 0.25 and content:
        content = MUTATORS[rng.integers(len(MUTATORS))](content, rng)
    return content


def read_graph(file: Path) -> str:
    """Read a graph; the outcome, or what was wrong with the way it was refused."""
    try:
        convexhc.as_graph(file)
    except (ValueError, TypeError) as error:
        return judged(str(error), str(file))
    return READ


def read_results(file: Path) -> str:
    """Look at a folder in which ``file`` was damaged, with every command that reads it."""
    outcome = READ
    for command in (["info", str(file.parent)], ["report", str(file.parent)]):
        said = io.StringIO()
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
            code = main(command)
        lines = [line for line in said.getvalue().splitlines() if "warning: " not in line]
        if code == 2:
            outcome = judged("\n".join(lines), str(file.parent))
        elif code != 0 or lines:
            return f"exit code {code}: {lines}"
        if outcome not in (READ, REFUSED):
            return outcome
    return outcome


def judged(message: str, name: str) -> str:
    """Whether a message is one line, names the file and gives no unsafe advice."""
    if "\n" in message or name not in message or "pickle" in message:
        return f"bad message: {message[:300]!r}"
    return REFUSED


class Reader:
    """A forked process that runs some functions with limits, and is replaced when it dies or ages.

    The functions take an input, by default a file, and return the outcome.
    """

    def __init__(self, *functions: Callable[[Any], str]) -> None:
        self.functions = functions or (read_graph, read_results)
        self.child, self.inputs = 0, 0

    def attempt(self, read: Callable[[Any], str], file: Path) -> tuple[str, float]:
        """Outcome and seconds of one function on one input."""
        if self.inputs == INPUTS_PER_CHILD:
            self.close()
        if not self.child:
            self._start()
        self.inputs += 1
        began = time.monotonic()
        with contextlib.suppress(BrokenPipeError):
            self.asked.write(f"{read.__name__} {file}\n")
            self.asked.flush()
        said = self.told.readline().rstrip("\n")
        if not said:
            status = self.close()
            signalled = os.WIFSIGNALED(status) and os.WTERMSIG(status)
            said = (
                "hang"
                if signalled in (signal.SIGALRM, signal.SIGPROF)
                else f"death, status {status}"
            )
        return said, time.monotonic() - began

    def _start(self) -> None:
        (heard, asked), (told, answered) = os.pipe(), os.pipe()
        self.child, self.inputs = os.fork(), 0
        if self.child == 0:
            os.close(asked)
            os.close(told)
            try:
                _serve(self.functions, os.fdopen(heard), os.fdopen(answered, "w"))
            finally:
                os._exit(0)
        os.close(heard)
        os.close(answered)
        self.asked, self.told = os.fdopen(asked, "w"), os.fdopen(told)

    def close(self) -> int:
        """End the process; its exit status."""
        if not self.child:
            return 0
        with contextlib.suppress(BrokenPipeError):
            self.asked.close()
        self.told.close()
        _, status = os.waitpid(self.child, 0)
        self.child = 0
        return status


def _serve(functions: Sequence[Callable[[Any], str]], heard: IO[str], answered: IO[str]) -> None:
    """In the child: run what is asked for, one input at a time, and tell the outcomes."""
    for expired in (signal.SIGALRM, signal.SIGPROF):
        signal.signal(expired, signal.SIG_DFL)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
    warnings.simplefilter("ignore")
    readers = {read.__name__: read for read in functions}
    for line in heard:
        name, file = line.rstrip("\n").split(" ", 1)
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        signal.alarm(MOST_SECONDS)
        try:
            outcome = readers[name](Path(file))
        except BaseException as error:
            outcome = f"traceback {type(error).__name__}: {error}"
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.alarm(0)
        answered.write(" ".join(outcome.split())[:400] + "\n")
        answered.flush()


def inputs(
    examples: list[Path], results: Path | None, rng: np.random.Generator, work: Path
) -> Iterator[tuple[str, Callable[[Path], str], Path]]:
    """Endless inputs: format, reader and file, in turn over all examples."""
    while True:
        for example_file in examples:
            file = work / f"mutant{example_file.suffix}"
            file.write_bytes(mutated(example_file, rng))
            yield example_file.suffix[1:], read_graph, file
        for name in () if results is None else FOLDER_FILES:
            folder = work / "out"
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(results, folder)
            (folder / name).write_bytes(mutated(results / name, rng))
            yield name, read_results, folder / name


def run(arguments: argparse.Namespace, work: Path) -> int:
    """Fuzz for so many seconds; print the counts; 1 if any input failed."""
    rng = np.random.default_rng(arguments.seed)
    for name in ("examples", "results", "work"):
        (work / name).mkdir()
    examples = [
        file
        for file in write_examples(work / "examples")
        if not arguments.only or file.suffix[1:] in arguments.only
    ]
    results = None if arguments.only else write_results(work / "results")
    counts: dict[str, Counter[str]] = {}
    slowest, failures, reader = Counter(), 0, Reader()
    end = time.monotonic() + arguments.seconds
    for kind, read, file in inputs(examples, results, rng, work / "work"):
        if time.monotonic() > end:
            break
        outcome, seconds = reader.attempt(read, file)
        fine = outcome in (READ, REFUSED)
        counts.setdefault(kind, Counter())[outcome if fine else "failed"] += 1
        slowest[kind] = max(slowest[kind], seconds)
        if not fine:
            failures += 1
            print(f"{kind}: {outcome}", flush=True)
            if arguments.keep:
                arguments.keep.mkdir(parents=True, exist_ok=True)
                shutil.copy(file, arguments.keep / f"{failures:04d}-{file.name}")
    reader.close()
    print("format          inputs     read  refused   failed  slowest s")
    for kind, count in counts.items():
        numbers = f"{count.total():9d}{count[READ]:9d}{count[REFUSED]:9d}{count['failed']:9d}"
        print(f"{kind:13s}{numbers}{slowest[kind]:11.1f}")
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e3
    total = sum(count.total() for count in counts.values())
    print(f"{total} inputs, {failures} failed, at most {peak:.0f} MB in memory")
    return 1 if failures else 0


def parser() -> argparse.ArgumentParser:
    described = argparse.ArgumentParser(description="Mutated files of every format.")
    described.add_argument("--seconds", type=float, default=600.0)
    described.add_argument("--seed", type=int, default=0)
    described.add_argument("--only", nargs="*", choices=SUFFIXES, help="these formats only")
    described.add_argument("--keep", type=Path, help="folder for inputs that failed")
    return described


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        sys.exit(run(parser().parse_args(), Path(scratch)))
