"""`convexhc cohort`: from many files to a folder that compares them."""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path as File
from typing import Any

from convexhc._text import clock, counted
from convexhc.api.cohort import solve_paths
from convexhc.api.outcomes import Cohort, Outcome
from convexhc.cohort.consensus import mean_graph, mean_options
from convexhc.cohort.overview import members, overview
from convexhc.commands.cohort_folder import CohortFolder, cohort_record, write_tables
from convexhc.commands.fit import (
    check_solver,
    file_digest,
    parse_lambdas,
    record,
    solver_options,
    write_run_report,
)
from convexhc.commands.folder import Folder, resume_command
from convexhc.commands.inputs import Subject, find_subjects, folder_names, read_graph, read_groups
from convexhc.commands.messages import Failure, Refusal, Say, resumable
from convexhc.graph import Graph
from convexhc.path import Path
from convexhc.progress_line import ProgressLine
from convexhc.report import write_cohort_report
from convexhc.solvers.solution import Status
from convexhc.version import __version__

# Options that the results of a subject depend on, besides those of `cluster`.
_ASKED = ("symmetrize", "min_cluster_size", "escape_formulas")
# Failed subjects named in the last line.
_MAX_NAMED = 3
# Seconds to wait for the first worker of a Dask cluster.
_DASK_TIMEOUT = 60


@dataclass(frozen=True)
class _Wanted:
    """A path of the cohort: its folder, data, and options that its record shows changed."""

    folder: Folder
    digest: Callable[[], str]
    graph: Callable[[], Graph]
    changes: dict[str, Any]


@dataclass(frozen=True)
class _Run:
    """What the steps of a run share."""

    options: Namespace
    folder: CohortFolder
    given: dict[str, Any]
    say: Say
    progress: ProgressLine

    def solve(
        self, wanted: Mapping[str, _Wanted], given: dict[str, Any], what: str = ""
    ) -> dict[str, Outcome]:
        """The outcomes by name: those of an earlier run are read, the others solved and written."""
        found: dict[str, Outcome] = {}
        unsolved: dict[str, Graph] = {}
        asked: dict[str, dict[str, Any]] = {}
        own = {name: getattr(self.options, name) for name in _ASKED}
        for name, each in wanted.items():
            try:
                # What the files depend on: the version, the input, the options.
                asked[name] = {"convexhc": __version__, "input": each.digest(), **own, **given}
                saved = self.folder.saved(each.folder, asked[name])
                if saved is None:
                    unsolved[name] = each.graph()
                else:
                    path, record = saved
                    seconds = float(record["seconds"])
                    found[name] = Outcome(name, path, seconds=seconds, resumed=True)
            except (OSError, ValueError, Refusal) as error:
                found[name] = Outcome(name, None, str(error))

        def write(done: int, outcome: Outcome) -> None:
            name = str(outcome.name)
            found[name] = outcome
            if outcome.path is not None:
                self._write(wanted[name], outcome.path, unsolved[name], outcome, asked[name])
            text = f"{what}{len(found)} of {len(wanted)}  {name}"
            self.progress.show(len(found) / len(wanted), text)

        solve_paths(unsolved, n_jobs=self.options.n_jobs, on_result=write, **given)
        return {name: found[name] for name in wanted}

    def _write(
        self, wanted: _Wanted, path: Path, graph: Graph, outcome: Outcome, asked: dict[str, Any]
    ) -> None:
        """Write what ``convexhc fit`` writes; the record last."""
        options, folder = Namespace(**{**vars(self.options), **wanted.changes}), wanted.folder
        folder.root.mkdir(parents=True, exist_ok=True)
        folder.write(path, graph, options.min_cluster_size, escape=options.escape_formulas)
        run = record(options, path, outcome.seconds, asked["input"])
        write_run_report(folder.report, path, graph, run)
        folder.finish({**run, "asked": asked})


def cohort(options: Namespace, say: Say, progress: ProgressLine) -> None:
    """Solve one path per file, compare them and write the folder; fail if a subject did."""
    begun = time.monotonic()
    check_solver(options)
    lambdas = parse_lambdas(options.lambdas)
    lams = compared_lams(options.lam, lambdas)
    table = None if options.groups is None else File(options.groups)
    subjects = find_subjects(options.graphs, besides=table)
    groups: dict[Any, Any] | None = None if table is None else read_groups(table, subjects)
    given = solver_options(options, lambdas) | ({"keep": "all"} if lams else {})
    run = _Run(options, CohortFolder(File(options.output)), given, say, progress)
    with run.folder.opened(options.given, resume=options.resume, force=options.force):
        say(f"{counted(len(subjects), 'subject')}, {options.output}")
        with resumable(progress, lambda: f"; go on with: {resume_command(options.given)}"):
            with _workers(options.dask):
                found = _solve_subjects(run, subjects)
                means = _solve_means(run, found, groups)
            progress.note("comparing the subjects ...")
            _write_comparison(run, subjects, found, groups, lams, means, begun)
    say(f"written in {clock(time.monotonic() - begun)}: open {run.folder.page}")
    _fail_if_any(found, options.tol)


def compared_lams(text: str | None, lambdas: list[float] | None) -> list[float]:
    """The lam at which centroids are compared: some of those that are solved."""
    lams = parse_lambdas(text) if text is not None else None
    if lams is None:
        return []
    unsolved = [lam for lam in lams if lambdas is None or lam not in lambdas]
    if unsolved:
        raise Refusal(
            f"--lam {unsolved[0]:g} is not among the lam that every subject is solved at: name it "
            "in --lambdas, too."
        )
    return lams


@contextmanager
def _workers(address: str | None) -> Iterator[None]:
    """Where joblib finds its workers: on a Dask cluster, or else on this machine."""
    if address is None:
        yield
        return
    try:
        from distributed import Client
    except ImportError as error:
        raise Refusal("--dask needs Dask: pip install 'convexhc[dask]'.") from error
    from joblib import parallel_config

    try:
        client: Any = Client(address, timeout=_DASK_TIMEOUT)  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as error:
        raise Refusal(f"--dask {address}: there is no scheduler ({error}).") from error
    with client:
        # joblib gives up after ten seconds without a worker.
        client.wait_for_workers(1, timeout=_DASK_TIMEOUT)
        with parallel_config(backend="dask"):
            yield


def _solve_subjects(run: _Run, subjects: list[Subject]) -> Cohort:
    """The outcome of every subject."""
    wanted = {}
    for each in subjects:
        options = Namespace(**{**vars(run.options), "graph": str(each.file)})
        wanted[each.name] = _Wanted(
            run.folder.subject(each.folder),
            partial(file_digest, each.file),
            partial(read_graph, options),
            {"graph": options.graph},
        )
    return Cohort(tuple(run.solve(wanted, run.given).values()), run.given)


def _solve_means(
    run: _Run, found: Cohort, groups: Mapping[Hashable, Hashable] | None
) -> dict[str, tuple[str, Path]]:
    """Folder and path of the mean graph of all subjects, and of every group of two or more."""
    paths = found.paths
    known = None if groups is None else [groups[name] for name in paths]
    chosen = members(list(paths), known) if len(paths) > 1 else {}
    homes = folder_names([name.removeprefix("group ") for name in chosen])
    given = mean_options(paths, run.given)
    wanted = {}
    for (name, subjects), home in zip(chosen.items(), homes, strict=True):
        own = {subject: paths[subject] for subject in subjects}
        made = f"mean graph of {name} ({counted(len(subjects), 'subject')})"
        wanted[name] = _Wanted(
            run.folder.mean(home),
            partial(" ".join, [path.provenance.data for path in own.values()]),
            partial(mean_graph, own),
            {"graph": made, "similarity": given["similarity"], "shift": None},
        )
    solved = run.solve(wanted, given, "mean graphs, ") if wanted else {}
    for name, outcome in solved.items():
        if outcome.path is None:
            # A graph that could not even be made was not solved: its error has no trace.
            what = "path of the mean graph" if outcome.trace else "mean graph"
            run.say(f"no {what} of {name}: {outcome.error}")
    return {
        name: (wanted[name].folder.root.name, outcome.path)
        for name, outcome in solved.items()
        if outcome.path is not None
    }


def _write_comparison(
    run: _Run,
    subjects: list[Subject],
    found: Cohort,
    groups: Mapping[Hashable, Hashable] | None,
    lams: list[float],
    means: Mapping[str, tuple[str, Path]],
    begun: float,
) -> None:
    """Write the tables, the consensus trees, the page and the record."""
    compared = None
    if len(found.paths) > 1:
        compared = overview(found.paths, groups, lams=lams)
    rows = found.rows(groups)
    write_tables(run.folder.root, rows, compared, escape=run.options.escape_formulas)
    if compared is not None:
        links: dict[Hashable, str] = {
            each.name: f"subjects/{each.folder}/report.html" for each in subjects
        }
        write_cohort_report(
            found,
            run.folder.page,
            groups=groups,
            title=run.options.title or File(run.options.output).resolve().name,
            compared=compared,
            means={name: path for name, (_, path) in means.items()},
            links=links,
            mean_links={name: f"consensus/{home}/report.html" for name, (home, _) in means.items()},
        )
        for each in compared.comparisons:
            run.say(str(each))
        if not compared.distances:
            run.say(
                f"not compared: the subjects have {counted(len(compared.nodes.names), 'node')} in "
                "common, and three are needed. Nodes are matched by name."
            )
    run.folder.finish(
        cohort_record(run.options, rows, compared, round(time.monotonic() - begun, 3))
    )


def _fail_if_any(found: Cohort, tol: float) -> None:
    """Raise `Failure` with one line if a subject failed, or was not solved to the tolerance."""
    if found.failed:
        named = [f"{name}: {error}" for name, error in found.failed.items()]
        more = len(named) - _MAX_NAMED
        text = "; ".join(named[:_MAX_NAMED]) + (f"; and {more} more" if more > 0 else "")
        raise Failure(f"{len(named)} of {counted(len(found), 'subject')} failed: {text}")
    open_paths = [
        name
        for name, path in found.paths.items()
        if any(level.status is not Status.SOLVED for level in path.levels)
    ]
    if open_paths:
        raise Failure(
            f"the gap is above {tol:g} at some lam of {counted(len(open_paths), 'subject')}, such "
            f"as {open_paths[0]}: raise --max-iter, or --tol if that will do."
        )
