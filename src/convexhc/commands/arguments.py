"""Arguments that several commands share."""

from __future__ import annotations

import argparse

from convexhc.api.clustering import PAIRWISE
from convexhc.api.options import FEATURES, Options
from convexhc.api.points_path import SPACES
from convexhc.commands.inputs import columns_of
from convexhc.similarity.result import Shift
from convexhc.solvers.choose import METHODS


def add_similarity(parser: argparse.ArgumentParser) -> None:
    """Add how the similarity and the weights are made from a graph."""
    parser.add_argument(
        "--similarity",
        default="graph",
        choices=PAIRWISE,
        help="how the similarity is made from the graph; precomputed: the file holds a similarity "
        "(default %(default)s)",
    )
    parser.add_argument(
        "--shift", type=_shift, help="added to the diagonal; auto: what makes it positive definite"
    )
    parser.add_argument(
        "--columns",
        type=columns_of,
        metavar="A,B[,W]",
        help="columns of the two ends and of the weight in a table of edges: names in its title "
        "line, or numbers from 1 if it has none",
    )
    parser.add_argument("--symmetrize", choices=["mean", "max", "min"], help="for directed graphs")
    parser.add_argument(
        "--weights",
        default="multiscale",
        metavar="W",
        help="edge weights of the penalty; multiscale: preserve every scale; a number: that many "
        "strongest neighbours per node; all: every pair (default %(default)s)",
    )
    parser.add_argument(
        "--space",
        default="auto",
        choices=SPACES,
        help="where the penalty acts; similarity: the paper's problem; auto: features for "
        "multiscale weights, else similarity (default %(default)s)",
    )


def _shift(text: str) -> Shift:
    return "auto" if text == "auto" else float(text)


def add_solver(parser: argparse.ArgumentParser) -> None:
    """Add how the path is solved: lam, norm, tolerance, method."""
    parser.add_argument(
        "--l1-ratio",
        type=float,
        help="share of the l1 norm in the penalty, from 0 to 1 (default "
        f"{FEATURES.l1_ratio:g} for features, {Options.l1_ratio} for the paper's problem)",
    )
    parser.add_argument(
        "--lambdas", help="'0.1,0.5,1' or 'from:to:count' (default: chosen automatically)"
    )
    parser.add_argument(
        "--tol", type=float, default=Options.tol, help="relative gap (default %(default)g)"
    )
    parser.add_argument(
        "--method",
        default=Options.method,
        choices=METHODS,
        help="solver of the paper's problem (default %(default)s)",
    )
    parser.add_argument(
        "--max-iter",
        type=int,
        help=f"iterations per lam (default {FEATURES.max_iter} for features, "
        f"{Options.max_iter} for the paper's problem)",
    )
    parser.add_argument(
        "--max-clusters",
        type=int,
        metavar="K",
        help="solve only the levels of at most about K clusters, from the top down",
    )
    parser.add_argument(
        "--min-cluster-size",
        type=int,
        metavar="N",
        help="smaller clusters do not count in the suggested labels",
    )
    parser.add_argument(
        "--lam-step",
        type=float,
        default=Options.lam_step,
        help="relative step of lam below which merges are not separated (default %(default)s)",
    )
    parser.add_argument(
        "--prove",
        action="store_true",
        help="solve more accurately where the clusters are not proven",
    )


def add_bootstrap(parser: argparse.ArgumentParser) -> None:
    """Add the resamples of the graph."""
    group = parser.add_argument_group("support of the branches")
    group.add_argument(
        "--bootstrap",
        type=int,
        metavar="N",
        help="solve N resamples of the graph, for instance 100",
    )
    group.add_argument(
        "--resample",
        choices=["drop", "edges", "weights"],
        help="leave edges out, draw edges with replacement, or draw weights that are counts "
        "(default: weights for counts, else drop)",
    )
    group.add_argument(
        "--edge-share",
        type=float,
        default=0.95,
        help="share of the edges that drop keeps (default %(default)s)",
    )
    group.add_argument("--seed", type=int, default=0, help="of the resamples (default %(default)s)")


def add_attributes(parser: argparse.ArgumentParser) -> None:
    """Add a file of attributes of the nodes."""
    parser.add_argument(
        "--attributes",
        metavar="FILE",
        help="CSV with the names of the nodes in its first column; the report colours nodes by the "
        "others, and shows how well the clusters agree with them",
    )


def add_folder(parser: argparse.ArgumentParser) -> None:
    """Add the folder of the results."""
    parser.add_argument(
        "-o", "--output", required=True, metavar="OUT", help="folder for the results"
    )
    add_escape(parser)
    again = parser.add_mutually_exclusive_group()
    again.add_argument("--resume", action="store_true", help="continue an interrupted run")
    again.add_argument("--force", action="store_true", help="overwrite a run in the folder")
    parser.add_argument("--quiet", action="store_true", help="print errors only")


def add_escape(parser: argparse.ArgumentParser) -> None:
    """Add an escape for names that a spreadsheet takes for formulas."""
    parser.add_argument(
        "--escape-formulas",
        action="store_true",
        help="in CSV, an apostrophe before names that a spreadsheet takes for formulas",
    )
