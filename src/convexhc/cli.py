"""The command line: ``convexhc demo | fit | cohort | cut | plot | export | report | info``."""

from __future__ import annotations

import argparse
import io
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from convexhc.commands.arguments import (
    add_attributes,
    add_bootstrap,
    add_escape,
    add_folder,
    add_similarity,
    add_solver,
)
from convexhc.commands.cohort import cohort
from convexhc.commands.demo import demo
from convexhc.commands.fit import fit
from convexhc.commands.inspection import cut, info, report
from convexhc.commands.messages import Ending, Terminated, exit_code
from convexhc.commands.output import add_export_arguments, add_plot_arguments, export, plot
from convexhc.commands.wording import in_options
from convexhc.progress_line import new_line
from convexhc.version import __version__

EXIT_CODES = "exit codes: 0 done, 1 computation failed, 2 bad usage or input, 130 interrupted, "
EXIT_CODES += "143 terminated"
# Options of earlier versions, and their new names.
RENAMED = {
    "--neighbors": "--weights",
    "--min-size": "--min-cluster-size",
    "--gamma": "--shift",
    "--resolution": "--lam-step",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return the exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    parser = build_parser()
    for old in RENAMED.keys() & {word.split("=")[0] for word in given}:
        parser.error(f"{old} is now {RENAMED[old]}")
    options = parser.parse_args(given)
    options.given = given
    return run_command(options)


def run_command(options: argparse.Namespace) -> int:
    """Call ``options.run``; an exception becomes a line on standard error and an exit code."""
    quiet, as_json = getattr(options, "quiet", False), getattr(options, "json", False)
    progress = new_line()
    progress.quiet = quiet
    try:
        with _warnings_in_one_line(), _terminated_like_ctrl_c():
            return int(options.run(options, _speaker(quiet and not as_json), progress))
    except BrokenPipeError:
        # The reader of our output has closed the pipe; flushing at exit must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (Ending, KeyboardInterrupt, *EXPECTED) as error:
        progress.clear()
        text, code = _ending(error)
        print(f"convexhc: {text}", file=sys.stderr)
        return code


# Any other exception is a bug, and is shown with its traceback.
EXPECTED = (ValueError, TypeError, MemoryError, OSError, ImportError)


def _ending(error: BaseException) -> tuple[str, int]:
    """Message and exit code of an exception."""
    if isinstance(error, Ending):
        return in_options(error), error.code
    if isinstance(error, KeyboardInterrupt):
        return "interrupted", exit_code(error)
    failed = isinstance(error, MemoryError | np.linalg.LinAlgError)
    return in_options(error), 1 if failed else 2


@contextmanager
def _terminated_like_ctrl_c() -> Iterator[None]:
    """Raise an exception on SIGTERM, so that a run ends as on Ctrl-C."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: object) -> None:
        raise Terminated

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before or signal.SIG_DFL)


def _speaker(quiet: bool) -> Callable[[str], None]:
    # A file name may hold bytes that are no characters.
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="backslashreplace")
    return (lambda text: None) if quiet else print


@contextmanager
def _warnings_in_one_line() -> Iterator[None]:
    """Print warnings in one line, without the line of code they come from."""
    with warnings.catch_warnings():
        warnings.showwarning = lambda text, *_: print(
            f"convexhc: warning: {in_options(text)}", file=sys.stderr
        )
        yield


def build_parser() -> argparse.ArgumentParser:
    """The parser of all commands."""
    parser = argparse.ArgumentParser(
        prog="convexhc",
        description="Convex hierarchical clustering of graphs, certified at every scale.",
        epilog=f"example: convexhc fit edges.csv -o out\n\n{EXIT_CODES}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_demo(commands)
    _add_fit(commands)
    _add_cohort(commands)
    _add_cut(commands)
    _add_plot(commands)
    _add_export(commands)
    _add_report(commands)
    _add_info(commands)
    return parser


if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]


def _command(commands: Commands, name: str, text: str, example: str) -> argparse.ArgumentParser:
    return commands.add_parser(
        name,
        help=text,
        description=text,
        epilog=f"example: {example}\n\n{EXIT_CODES}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def _add_demo(commands: Commands) -> None:
    parser = _command(
        commands, "demo", "Cluster two graphs whose groups are known.", "convexhc demo"
    )
    parser.add_argument(
        "-o", "--output", default="demo", help="folder for the reports (default %(default)s)"
    )
    parser.add_argument("--quiet", action="store_true", help="print errors only")
    parser.set_defaults(run=demo)


def _add_graph(parser: argparse.ArgumentParser, or_else: str = "") -> None:
    kinds = f"CSV, TSV, edge list (also .gz), MTX, NPZ, NPY, GraphML, GML, ...{or_else}"
    parser.add_argument("graph", metavar="GRAPH", help=kinds)
    add_similarity(parser)


def _add_fit(commands: Commands) -> None:
    text = "Cluster a graph at every scale and write labels, tree and report."
    parser = _command(commands, "fit", text, "convexhc fit edges.csv -o out")
    _add_graph(parser)
    add_solver(parser)
    parser.add_argument(
        "--n-jobs",
        type=int,
        default=2,
        help="threads, and workers for --bootstrap (default %(default)s)",
    )
    add_bootstrap(parser)
    add_attributes(parser)
    add_folder(parser)
    parser.add_argument(
        "--json", action="store_true", help="print the record of the run (run.json) and no text"
    )
    parser.set_defaults(run=fit)


def _add_cohort(commands: Commands) -> None:
    text = "Cluster many graphs, one file each, and compare them: distances, groups, consensus."
    parser = _command(commands, "cohort", text, "convexhc cohort scans -o out --groups groups.csv")
    parser.add_argument(
        "graphs",
        metavar="FILE",
        nargs="+",
        help="graph files, or folders of them; nodes are matched by name",
    )
    parser.add_argument(
        "--groups",
        metavar="CSV",
        help="table with the columns subject (the name of a file) and group, to be compared",
    )
    add_similarity(parser)
    add_solver(parser)
    parser.add_argument(
        "--lam", metavar="LAM", help="compare centroids at these of the --lambdas, too ('0.1,0.5')"
    )
    parser.add_argument(
        "--n-jobs", type=int, default=2, help="graphs solved at a time (default %(default)s)"
    )
    parser.add_argument(
        "--dask", metavar="ADDRESS", help="solve on the Dask cluster of this scheduler"
    )
    parser.add_argument("--title", help="title of the page (default: the name of OUT)")
    add_folder(parser)
    parser.set_defaults(run=cohort)


def _add_cut(commands: Commands) -> None:
    text = "Labels at one scale of a finished fit, as CSV."
    parser = _command(commands, "cut", text, "convexhc cut out -k 5")
    parser.add_argument("folder", metavar="OUT", help="folder of a finished fit")
    scale = parser.add_mutually_exclusive_group(required=True)
    scale.add_argument("-k", "--n-clusters", type=int, help="number of clusters, exactly")
    scale.add_argument("--lam", type=float, help="strength of the penalty")
    parser.add_argument(
        "--by",
        default="pruning",
        choices=["pruning", "lam"],
        help="with -k: the best pruning of the tree, or its level of at most that many clusters "
        "(default %(default)s)",
    )
    parser.add_argument("--min-cluster-size", type=int, help="smaller clusters do not count")
    parser.add_argument(
        "--noise", action="store_true", help="label the nodes of smaller clusters -1"
    )
    add_escape(parser)
    parser.add_argument("-o", "--output", metavar="FILE", help="default: standard output")
    parser.add_argument("--force", action="store_true", help="overwrite FILE")
    parser.set_defaults(run=lambda options, say, progress: cut(options, say))


def _add_plot(commands: Commands) -> None:
    text = "Draw a figure of a finished fit."
    parser = _command(commands, "plot", text, "convexhc plot out --kind dendrogram -o tree.svg")
    add_plot_arguments(parser)
    parser.set_defaults(run=lambda options, say, progress: plot(options, say))


def _add_export(commands: Commands) -> None:
    text = "Write the clustered graph, its nodes or the tree for another program."
    parser = _command(commands, "export", text, "convexhc export out -o graph.gexf")
    add_export_arguments(parser)
    parser.set_defaults(run=lambda options, say, progress: export(options, say))


def _add_report(commands: Commands) -> None:
    parser = _command(
        commands, "report", "Write report.html of a finished fit.", "convexhc report out"
    )
    parser.add_argument("folder", metavar="OUT", help="folder of a finished fit")
    parser.add_argument("-o", "--output", metavar="FILE", help="default: OUT/report.html, replaced")
    parser.add_argument("--force", action="store_true", help="overwrite FILE")
    add_attributes(parser)
    parser.set_defaults(run=lambda options, say, progress: report(options, say))


def _add_info(commands: Commands) -> None:
    text = "Size of a graph and the cost of a fit in memory and time; or a summary of results."
    parser = _command(commands, "info", text, "convexhc info edges.csv, or convexhc info out")
    _add_graph(parser, "; or the folder of a fit, or a saved path")
    parser.set_defaults(run=lambda options, say, progress: info(options, say))


if __name__ == "__main__":
    sys.exit(main())
