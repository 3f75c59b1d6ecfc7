"""The commands of the command line and their arguments."""

from __future__ import annotations

from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Callable

from convexhc.api.clustering import PAIRWISE
from convexhc.api.options import FEATURES, Options
from convexhc.api.points_path import SPACES
from convexhc.commands.cohort import cohort
from convexhc.commands.demo import demo
from convexhc.commands.fit import fit
from convexhc.commands.info import info
from convexhc.commands.inputs import columns_of
from convexhc.commands.output import KINDS, cut, export, plot, report
from convexhc.export import FORMATS
from convexhc.similarity.result import Shift
from convexhc.solvers.choose import METHODS
from convexhc.version import __version__

EXIT_CODES = "exit codes: 0 done, 1 computation failed, 2 bad usage or input, 130 interrupted, "
EXIT_CODES += "143 terminated"
FOLDER_OF_FIT = "folder of a finished fit"


def build_parser() -> ArgumentParser:
    """The parser of all commands."""
    parser = ArgumentParser(
        prog="convexhc",
        description="Convex hierarchical clustering of graphs, certified at every scale.",
        epilog=f"example: convexhc fit edges.csv -o out\n\n{EXIT_CODES}",
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def command(run: Callable[..., None], text: str, example: str) -> ArgumentParser:
        name = run.__name__
        epilog = f"example: convexhc {name}{example}\n\n{EXIT_CODES}"
        formatter = RawDescriptionHelpFormatter
        made = commands.add_parser(
            name, help=text, description=text, epilog=epilog, formatter_class=formatter
        )
        made.set_defaults(run=run)
        return made

    _add_demo(command(demo, "Cluster two graphs whose groups are known.", ""))
    text = "Cluster a graph at every scale and write labels, tree and report."
    _add_fit(command(fit, text, " edges.csv -o out"))
    text = "Cluster many graphs, one file each, and compare them: distances, groups, consensus."
    _add_cohort(command(cohort, text, " scans -o out --groups groups.csv"))
    _add_cut(command(cut, "Labels at one scale of a finished fit, as CSV.", " out -k 5"))
    example = " out --kind dendrogram -o tree.svg"
    _add_plot(command(plot, "Draw a figure of a finished fit.", example))
    text = "Write the clustered graph, its nodes or the tree for another program."
    _add_export(command(export, text, " out -o graph.gexf"))
    _add_report(command(report, "Write report.html of a finished fit.", " out"))
    text = "Size of a graph and the cost of a fit in memory and time; or a summary of results."
    _add_info(command(info, text, " edges.csv, or convexhc info out"))
    return parser


def _add_demo(parser: ArgumentParser) -> None:
    text = "folder for the reports (default %(default)s)"
    parser.add_argument("-o", "--output", default="demo", help=text)
    _add_quiet(parser)


def _add_fit(parser: ArgumentParser) -> None:
    _add_graph(parser)
    _add_solver(parser)
    text = "threads, and workers for --bootstrap (default %(default)s)"
    parser.add_argument("--n-jobs", type=int, default=2, help=text)
    add = parser.add_argument_group("support of the branches").add_argument
    text = "solve N resamples of the graph, for instance 100"
    add("--bootstrap", type=int, metavar="N", help=text)
    add(
        "--resample",
        choices=["drop", "edges", "weights"],
        help="leave edges out, draw edges with replacement, or draw weights that are counts "
        "(default: weights for counts, else drop)",
    )
    text = "share of the edges that drop keeps (default %(default)s)"
    add("--edge-share", type=float, default=0.95, help=text)
    add("--seed", type=int, default=0, help="of the resamples (default %(default)s)")
    _add_attributes(parser)
    _add_results(parser)
    text = "print the record of the run (run.json) and no text"
    parser.add_argument("--json", action="store_true", help=text)


def _add_cohort(parser: ArgumentParser) -> None:
    add = parser.add_argument
    text = "graph files, or folders of them; nodes are matched by name"
    add("graphs", metavar="FILE", nargs="+", help=text)
    text = "table with the columns subject (the name of a file) and group, to be compared"
    add("--groups", metavar="CSV", help=text)
    _add_similarity(parser)
    _add_solver(parser)
    text = "compare centroids at these of the --lambdas, too ('0.1,0.5')"
    add("--lam", metavar="LAM", help=text)
    add("--n-jobs", type=int, default=2, help="graphs solved at a time (default %(default)s)")
    add("--dask", metavar="ADDRESS", help="solve on the Dask cluster of this scheduler")
    add("--title", help="title of the page (default: the name of OUT)")
    _add_results(parser)


def _add_cut(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("folder", metavar="OUT", help=FOLDER_OF_FIT)
    scale = parser.add_mutually_exclusive_group(required=True)
    scale.add_argument("-k", "--n-clusters", type=int, help="number of clusters, exactly")
    scale.add_argument("--lam", type=float, help="strength of the penalty")
    add(
        "--by",
        default="pruning",
        choices=["pruning", "lam"],
        help="with -k: the best pruning of the tree, or its level of at most that many clusters "
        "(default %(default)s)",
    )
    add("--min-cluster-size", type=int, help="smaller clusters do not count")
    add("--noise", action="store_true", help="label the nodes of smaller clusters -1")
    _add_escape(parser)
    add("-o", "--output", metavar="FILE", help="default: standard output")
    _add_force(parser)


def _add_plot(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("folder", metavar="OUT", help=FOLDER_OF_FIT)
    add("--kind", default=KINDS[0], choices=KINDS, help="default %(default)s")
    add("-o", "--output", required=True, metavar="FILE", help="ends in .svg, .png or .pdf")
    scale = parser.add_mutually_exclusive_group()
    text = "number of clusters; several for sankey and scan, as in 12,6,2 (default: suggested)"
    scale.add_argument("-k", "--n-clusters", type=_numbers(int), metavar="K", help=text)
    scale.add_argument("--lam", type=_numbers(float), help="strength of the penalty, or several")
    _add_force(parser)


def _numbers(kind: type) -> Callable[[str], list[float]]:
    """Argument type of numbers separated by commas."""

    def numbers(text: str) -> list[float]:
        return [kind(word) for word in text.split(",")]

    return numbers


def _add_export(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("folder", metavar="OUT", help=FOLDER_OF_FIT)
    add(
        "--format",
        choices=FORMATS,
        help="gexf, graphml: Gephi; cx2: Cytoscape; newick: the tree; csv: the nodes (default: by "
        "the ending of FILE)",
    )
    add("-o", "--output", required=True, metavar="FILE")
    _add_force(parser)


def _add_report(parser: ArgumentParser) -> None:
    parser.add_argument("folder", metavar="OUT", help=FOLDER_OF_FIT)
    text = "default: OUT/report.html, replaced"
    parser.add_argument("-o", "--output", metavar="FILE", help=text)
    _add_force(parser)
    _add_attributes(parser)


def _add_info(parser: ArgumentParser) -> None:
    _add_graph(parser, "; or the folder of a fit, or a saved path")


def _add_graph(parser: ArgumentParser, or_else: str = "") -> None:
    kinds = f"CSV, TSV, edge list (also .gz), MTX, NPZ, NPY, GraphML, GML, ...{or_else}"
    parser.add_argument("graph", metavar="GRAPH", help=kinds)
    _add_similarity(parser)


def _add_similarity(parser: ArgumentParser) -> None:
    """Add how the similarity and the weights are made from a graph."""
    add = parser.add_argument
    add(
        "--similarity",
        default="graph",
        choices=PAIRWISE,
        help="how the similarity is made from the graph; precomputed: the file holds a similarity "
        "(default %(default)s)",
    )
    text = "added to the diagonal; auto: what makes it positive definite"
    add("--shift", type=_shift, help=text)
    add(
        "--columns",
        type=columns_of,
        metavar="A,B[,W]",
        help="columns of the two ends and of the weight in a table of edges: names in its title "
        "line, or numbers from 1 if it has none",
    )
    add("--symmetrize", choices=["mean", "max", "min"], help="for directed graphs")
    add(
        "--weights",
        default="multiscale",
        metavar="W",
        help="edge weights of the penalty; multiscale: preserve every scale; a number: that many "
        "strongest neighbours per node; all: every pair (default %(default)s)",
    )
    add(
        "--space",
        default="auto",
        choices=SPACES,
        help="where the penalty acts; similarity: the paper's problem; auto: features for "
        "multiscale weights, else similarity (default %(default)s)",
    )


def _shift(text: str) -> Shift:
    return "auto" if text == "auto" else float(text)


def _add_solver(parser: ArgumentParser) -> None:
    """Add how the path is solved: lam, norm, tolerance, method."""
    add = parser.add_argument
    add(
        "--l1-ratio",
        type=float,
        help="share of the l1 norm in the penalty, from 0 to 1 (default "
        f"{FEATURES.l1_ratio:g} for features, {Options.l1_ratio} for the paper's problem)",
    )
    add("--lambdas", help="'0.1,0.5,1' or 'from:to:count' (default: chosen automatically)")
    add("--tol", type=float, default=Options.tol, help="relative gap (default %(default)g)")
    text = "solver of the paper's problem (default %(default)s)"
    add("--method", default=Options.method, choices=METHODS, help=text)
    add(
        "--max-iter",
        type=int,
        help=f"iterations per lam (default {FEATURES.max_iter} for features, "
        f"{Options.max_iter} for the paper's problem)",
    )
    text = "solve only the levels of at most about K clusters, from the top down"
    add("--max-clusters", type=int, metavar="K", help=text)
    text = "smaller clusters do not count in the suggested labels"
    add("--min-cluster-size", type=int, metavar="N", help=text)
    text = "relative step of lam below which merges are not separated (default %(default)s)"
    add("--lam-step", type=float, default=Options.lam_step, help=text)
    text = "solve more accurately where the clusters are not proven"
    add("--prove", action="store_true", help=text)


def _add_attributes(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--attributes",
        metavar="FILE",
        help="CSV with the names of the nodes in its first column; the report colours nodes by the "
        "others, and shows how well the clusters agree with them",
    )


def _add_results(parser: ArgumentParser) -> None:
    """Add the folder of the results."""
    text = "folder for the results"
    parser.add_argument("-o", "--output", required=True, metavar="OUT", help=text)
    _add_escape(parser)
    again = parser.add_mutually_exclusive_group()
    again.add_argument("--resume", action="store_true", help="continue an interrupted run")
    again.add_argument("--force", action="store_true", help="overwrite a run in the folder")
    _add_quiet(parser)


def _add_escape(parser: ArgumentParser) -> None:
    text = "in CSV, an apostrophe before names that a spreadsheet takes for formulas"
    parser.add_argument("--escape-formulas", action="store_true", help=text)


def _add_force(parser: ArgumentParser) -> None:
    parser.add_argument("--force", action="store_true", help="overwrite FILE")


def _add_quiet(parser: ArgumentParser) -> None:
    parser.add_argument("--quiet", action="store_true", help="print errors only")
