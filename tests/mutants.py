"""Break the code that carries the certificate, one line at a time, and see that a test notices.

A mutant is one wrong line, and the tests that have to fail because of it. Each is applied to a copy
of the sources, never to the checkout, and its tests are run against that copy:

    python tests/mutants.py              all of them, some minutes
    python tests/mutants.py flows.py     those whose file or reason has this in it

The exit status is 1 if a mutant survives, gets no verdict, or names text that is not there exactly
once.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
# What the tests need of the checkout.
COPIED = ("src", "tests", "pyproject.toml")
# A run that takes longer, in seconds, has no verdict: tests of one mutant take some seconds.
LIMIT = 900
# What pytest returns when tests have failed, and when all have passed.
FAILED, PASSED = 1, 0


class Mutant(NamedTuple):
    """A wrong line: its file inside the package, old and new text, why it matters, who notices."""

    file: str
    old: str
    new: str
    reason: str
    tests: tuple[str, ...]

    @property
    def path(self) -> Path:
        """The file, from the root of a checkout."""
        return Path("src") / "convexhc" / self.file

    def applied(self, source: str) -> str:
        """The source with the wrong line; the old text has to be there exactly once."""
        count = source.count(self.old)
        if count != 1:
            raise ValueError(f"{self.file} has {count} times, and not once: {self.old!r}")
        return source.replace(self.old, self.new)


FLOWS = "tests/fusion/test_graph_flows.py::"
CURRENTS = "tests/fusion/test_electrical_flow.py::"
BOUNDS = "tests/fusion/test_lam_max.py::"
POINT_FLOWS = "tests/fusion/test_point_flows.py::"
NEWTON = "tests/solvers/test_newton.py::"
PROBLEM = "tests/model/test_problem.py::"
FIDELITY = "tests/model/test_fidelity.py::"

PRICE = FLOWS + "test_a_price_is_that_of_the_very_flow_it_is_paid_for"
SPARE = FLOWS + "test_no_more_is_spent_than_there_is_to_spare"
EDGES = BOUNDS + "test_the_bound_does_not_depend_on_how_many_edges_are_looked_at_together"
TALLY = CURRENTS + "test_a_tally_is_that_of_the_flow_in_full"
SURPLUS = CURRENTS + "test_without_its_surplus_a_flow_fits_and_no_smaller_one_would_do"

MUTANTS = (
    Mutant(
        "fusion/graph_flows.py",
        "lost += 2.0 * leak",
        "lost += 0.0 * leak",
        "what round-off keeps a flow from bringing is not charged",
        (FLOWS + "test_a_flow_that_does_not_bring_what_it_should_is_paid_for",),
    ),
    Mutant(
        "fusion/graph_flows.py",
        "price = lost + search.price(system, at, load)",
        "price = search.price(system, at, load)",
        "round-off is measured and then forgotten",
        (FLOWS + "test_a_flow_that_does_not_bring_what_it_should_is_paid_for",),
    ),
    Mutant(
        "fusion/graph_flows.py",
        "over = np.flatnonzero(load[at] > 1.0 + _ROUND_OFF)",
        "over = np.flatnonzero(load[at] > 1.1)",
        "edges a little too full cost nothing",
        (PRICE,),
    ),
    Mutant(
        "fusion/graph_flows.py",
        "            return np.inf\n",
        "            return 0.0\n",
        "too many full edges to reckon with cost nothing",
        (SPARE,),
    ),
    Mutant(
        "fusion/graph_flows.py",
        "np.subtract.at(lacking, ends[over.size :], surplus)",
        "np.add.at(lacking, ends[over.size :], surplus)",
        "what one end lacks the other has too much of",
        (PRICE,),
    ),
    Mutant(
        "fusion/graph_flows.py",
        "np.maximum(lacking.max(axis=1), 0.0).sum()",
        "np.maximum(lacking.max(axis=1), 0.0).max()",
        "only the row that lacks the most is paid for",
        (PRICE,),
    ),
    Mutant(
        "fusion/graph_flows.py",
        "system.loads(self.demand, _STRETCH)",
        "system.loads(self.guide, _STRETCH)",
        "the sketch is taken for the proof",
        (PRICE,),
    ),
    Mutant(
        "fusion/graph_flows.py",
        "return last[2].within(some)",
        "return last[2]",
        "loads are measured in the balls of another lam",
        (FLOWS + "test_what_was_learned_at_one_lam_proves_nothing_at_another",),
    ),
    Mutant(
        "fusion/graph_flows.py",
        "waiting = search.heaviest(at, load[at]) > 1.0 + _ROUND_OFF",
        "waiting = search.heaviest(at, load[at]) > 2.0",
        "an overloaded cluster counts as held together, whatever may be spent",
        (SPARE,),
    ),
    Mutant(
        "fusion/graph_flows.py",
        "if price <= spare or not waiting.any():",
        "if price <= 2.0 * spare or not waiting.any():",
        "more is spent than there is to spare",
        (SPARE,),
    ),
    Mutant(
        "kernels/flows.py",
        "                    left[k] -= c * (here[k] - there[k])\n                continue",
        "                    left[k] += c * (here[k] - there[k])\n                continue",
        "what flows in is taken for what flows out",
        (TALLY,),
    ),
    Mutant(
        "kernels/flows.py",
        "largest = max(largest, abs(left[k]))\n        out.lacking[i]",
        "largest = max(largest, left[k])\n        out.lacking[i]",
        "only what is too little counts as lost, not what is too much",
        (TALLY,),
    ),
    Mutant(
        "kernels/flows.py",
        "most = max(most, y)",
        "most = y",
        "the largest entry of a flow is its last one",
        (TALLY,),
    ),
    Mutant(
        "kernels/flows.py",
        "over = y - soft\n",
        "over = y - 2.0 * soft\n",
        "dual balls have more room than they have",
        (TALLY,),
    ),
    Mutant(
        "kernels/flows.py",
        "            if math.sqrt(total) <= b:\n                high = t",
        "            if math.sqrt(total) <= 1.01 * b:\n                high = t",
        "a flow that is cut down stays outside its ball",
        (SURPLUS,),
    ),
    Mutant(
        "kernels/flows.py",
        "        if math.sqrt(total) <= b:\n            y[:] = 0.0",
        "        if math.sqrt(total) <= 1.01 * b:\n            y[:] = 0.0",
        "a flow just outside its ball is not cut down",
        (SURPLUS,),
    ),
    Mutant(
        "kernels/flows.py",
        "return curvature if curvature > 1e-14 * bound else 0.0",
        "return curvature if curvature > 0.2 * bound else 0.0",
        "conjugate gradients end before they have brought what they should",
        (POINT_FLOWS + "test_potentials_reach_the_end_of_a_chain",),
    ),
    Mutant(
        "fusion/electrical_flow.py",
        "return np.maximum(round_, largest)",
        "return round_",
        "balls without a round part are never full",
        (FLOWS + "test_above_the_bound_the_consensus_holds_and_far_below_it_does_not",),
    ),
    Mutant(
        "fusion/electrical_flow.py",
        "leak = float(out.lacking.sum())",
        "leak = float(out.lacking.max())",
        "only the worst node is charged for round-off",
        (CURRENTS + "test_what_is_lost_is_what_every_node_lacks_the_most_of",),
    ),
    Mutant(
        "fusion/electrical_flow.py",
        "leak if leak > _ROUND_OFF * float(out.wanted.sum()) else 0.0",
        "leak if leak > float(out.wanted.sum()) else 0.0",
        "round-off is told only when all is lost",
        (CURRENTS + "test_what_round_off_loses_is_told",),
    ),
    Mutant(
        "fusion/electrical_flow.py",
        "            yield R, X\n",
        "            yield R, X\n            break\n",
        "only the first columns of a flow are measured",
        (CURRENTS + "test_measures_do_not_depend_on_how_many_columns_are_solved_for_together",),
    ),
    Mutant(
        "fusion/electrical_flow.py",
        "return np.asarray(X - (self.mean @ X)[self.labels])",
        "return np.asarray(X)",
        "flows are asked for what adds up to no zero",
        (CURRENTS + "test_a_flow_makes_gradients_equal_inside_clusters",),
    ),
    Mutant(
        "fusion/electrical_flow.py",
        "out -= (V.T @ self.shift)[:, None]",
        "out -= 0.0",
        "prices are reckoned for another demand than loads",
        (CURRENTS + "test_a_demand_is_multiplied_without_being_made",),
    ),
    Mutant(
        "fusion/electrical_flow.py",
        "demand = demand - layer.pull @ X",
        "pass",
        "strong edges do not make up for what weak ones bring",
        (CURRENTS + "test_a_cascade_brings_what_it_should_however_far_conductances_are_apart",),
    ),
    Mutant(
        "model/problem.py",
        "objective, objective - bound, self.constraint.residual(C), self.floor",
        "objective, 0.9 * (objective - bound), self.constraint.residual(C), self.floor",
        "a tenth of the gap is left out",
        (PROBLEM + "test_no_part_of_a_gap_is_left_out",),
    ),
    Mutant(
        "model/problem.py",
        "objective, objective - bound, self.constraint.residual(C), self.floor",
        "objective, objective - bound, 0.0, self.floor",
        "a point outside its constraint is not told from one inside",
        (PROBLEM + "test_a_certificate_reports_the_violation_of_its_point",),
    ),
    Mutant(
        "model/problem.py",
        "return max(self.gap, 0.0) / max(abs(self.objective), self.floor)",
        "return max(self.gap, 0.0) / max(abs(self.objective), 1.0)",
        "small objectives are solved to an absolute tolerance",
        (PROBLEM + "test_relative_gap_counts_round_off_of_a_vanishing_objective_as_nothing",),
    ),
    Mutant(
        "model/problem.py",
        "max(1e-12 * (self.fidelity.scale or self.lam)",
        "max(1.0 * (self.fidelity.scale or self.lam)",
        "gaps are measured by the size of the data, and not of the objective",
        (PROBLEM + "test_gaps_are_relative_to_the_objective_and_not_to_the_data",),
    ),
    Mutant(
        "model/problem.py",
        "bound = offset + self.fidelity",
        "bound = self.fidelity",
        "the minorant of a penalty loses its offset",
        ("tests/smooth/test_smooth.py",),
    ),
    Mutant(
        "model/problem.py",
        "np.ascontiguousarray(cluster_means(C, labels, mass)[labels])",
        "np.ascontiguousarray(cluster_means(C, labels)[labels])",
        "fused points of a contracted problem leave the constraint",
        (PROBLEM + "test_fusing_rows_of_different_mass_keeps_the_sums",),
    ),
    Mutant(
        "model/fidelity.py",
        "tangent = -0.5 * self.metric.inner(C + move, slope + self.target)",
        "tangent = -0.5 * self.metric.inner(C, slope + self.target)",
        "the tangent is that of another point than its slope",
        (FIDELITY + "test_lower_bound_is_below_the_minimum_wherever_it_is_taken",),
    ),
    Mutant(
        "model/fidelity.py",
        "        return X, self.right_multiply(X)",
        "        return X, G - self.ridge * X",
        "conjugate gradients that stop early are taken for exact",
        (FIDELITY + "test_the_product_of_a_ridge_solution_is_exact",),
    ),
    Mutant(
        "model/fidelity.py",
        "return tangent + constraint.minimum(slope + pull, potentials)",
        "return tangent + constraint.minimum(slope, potentials)",
        "the pull of the edges is left out of the bound",
        (FIDELITY + "test_lower_bound_is_below_every_feasible_point",),
    ),
    Mutant(
        "model/fidelity.py",
        "best = constraint.project(self.target - pull).C",
        "best = constraint.project(self.target).C",
        "a value at some point is taken for the minimum",
        (FIDELITY + "test_lower_bound_is_below_every_feasible_point",),
    ),
    Mutant(
        "model/fidelity.py",
        "return 0.5 * (inner(C, gradient) - inner(C, self.target)), gradient",
        "return 0.5 * inner(C, gradient) - inner(C, self.target), gradient",
        "values and gradients are of two functions",
        (FIDELITY + "test_values_are_the_formulas",),
    ),
    Mutant(
        "fusion/lam_max.py",
        "if size[some[0]] <= bound:",
        "if bound > 0.0:",
        "the bound is that of the first edges, and not of all",
        (EDGES,),
    ),
    Mutant(
        "fusion/lam_max.py",
        "bound = max(bound, float(dual_norms(steps, penalty.l1_ratio).max()))",
        "bound = float(dual_norms(steps, penalty.l1_ratio).max())",
        "the edges looked at last decide",
        (EDGES,),
    ),
    Mutant(
        "fusion/lam_max.py",
        "steps = flow.flow(excess, some) / share[some, None]",
        "steps = flow.flow(excess, some)",
        "weak edges count as if they could carry as much as strong ones",
        (BOUNDS + "test_on_a_tree_the_bound_is_exact_however_far_weights_are_apart",),
    ),
    Mutant(
        "fusion/lam_max.py",
        "heavy = V * self.mass[:, None]",
        "heavy = V * 1.0",
        "clusters of a contracted problem count as single nodes",
        (BOUNDS + "test_on_a_tree_of_fused_points_the_bound_is_exact_too",),
    ),
    Mutant(
        "fusion/points_solve.py",
        "certificate = problem.certify(found.centroids, flows.dual)",
        "certificate = found.certificate",
        "the certificate of the contracted problem is taken for that of the full one",
        (NEWTON + "test_contraction_changes_nothing",),
    ),
    Mutant(
        "fusion/points_solve.py",
        "return certificate.relative_gap <= tol or certificate.gap <= tol * least",
        "return True",
        "a solution is called solved whatever its gap",
        (NEWTON + "test_spoiled_flows_are_not_believed",),
    ),
    Mutant(
        "fusion/points_solve.py",
        "return spread(dual, self.pair, self.sign * self.share, inside)",
        "return spread(dual, self.pair, self.sign, inside)",
        "every edge between two clusters has the dual of all of them together",
        (NEWTON + "test_links_between_contractions_are_the_contractions_themselves",),
    ),
    Mutant(
        "fusion/points_solve.py",
        "sign, share = self.sign[some] * other.sign[some]",
        "sign, share = other.sign[some]",
        "duals lose their direction from one contraction to the next",
        (NEWTON + "test_links_between_contractions_are_the_contractions_themselves",),
    ),
    Mutant(
        "fusion/point_flows.py",
        "dual = penalty.feasible_dual(found.dual)",
        "dual = found.dual.copy()",
        "a dual outside its balls is passed on",
        (POINT_FLOWS + "test_whatever_dual_it_begins_with_the_completed_one_is_in_its_balls",),
    ),
    Mutant(
        "fusion/point_flows.py",
        "over = ~well_inside(Y, some, 1.0)",
        "over = ~well_inside(Y, some, 1.2)",
        "a flow outside its balls is accepted",
        (POINT_FLOWS + "test_clusters_of_a_solution_have_flows",),
    ),
    Mutant(
        "fusion/point_flows.py",
        "torn = torn & (short > _LACKING**2 * whole)",
        "torn = torn & (short > 2.0 * whole)",
        "a flow that brings nothing counts as whole",
        (POINT_FLOWS + "test_flows_that_bring_too_little_are_not_taken_for_whole",),
    ),
    Mutant(
        "fusion/point_flows.py",
        "outer[inside] = 0.0",
        "outer[inside] *= 1.0",
        "flows are asked for what is left beside themselves",
        (POINT_FLOWS + "test_it_does_not_matter_what_the_dual_inside_is_to_begin_with",),
    ),
    Mutant(
        "fusion/point_flows.py",
        "dual=dual, labels=finer, n_iter=flows.n_iter",
        "dual=dual, n_iter=flows.n_iter",
        "a cluster that came apart is told as one",
        (POINT_FLOWS + "test_clusters_without_flows_are_parted_and_others_kept",),
    ),
)


@contextmanager
def copied() -> Iterator[Path]:
    """A folder with a copy of what is tested, for as long as it is needed."""
    with tempfile.TemporaryDirectory(prefix="mutants-") as name:
        folder = Path(name)
        for part in COPIED:
            source = ROOT / part
            if source.is_dir():
                shutil.copytree(source, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy2(source, folder / part)
        yield folder


def python(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python in a copy, on the package that is there.

    No bytecode is kept, which goes by the second of a change. Compiled kernels stay in the copy, in
    a folder for every version of their sources (see conftest.py).
    """
    path = os.pathsep.join([str(folder / "src"), str(folder)])
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )


def run_tests(folder: Path, tests: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run some tests in a copy, up to the first that fails."""
    return python(folder, "-m", "pytest", "-q", "-x", *tests)


def verdict(folder: Path, mutant: Mutant) -> str:
    """Whether the tests of a mutant notice it; the copy is then what it was."""
    target, kept = folder / mutant.path, ROOT / mutant.path
    target.write_text(mutant.applied(kept.read_text(encoding="utf-8")), encoding="utf-8")
    try:
        code = run_tests(folder, mutant.tests).returncode
    except subprocess.TimeoutExpired:
        return "no verdict: the tests do not end"
    finally:
        # With its time, by which compiled kernels are known.
        shutil.copy2(kept, target)
    if code == FAILED:
        return "killed"
    return "SURVIVED" if code == PASSED else f"no verdict: pytest returned {code}"


def check_the_copy(folder: Path, mutants: Sequence[Mutant]) -> None:
    """The package under test is the copy, and without mutants every test passes."""
    where = python(folder, "-c", "import convexhc; print(convexhc.__file__)").stdout.strip()
    if not Path(where).is_relative_to(folder.resolve()):
        sys.exit(f"the package under test is not the copy, but {where}")
    sound = run_tests(folder, sorted({test for mutant in mutants for test in mutant.tests}))
    if sound.returncode != PASSED:
        sys.exit(f"tests fail without any mutant:\n{sound.stdout}{sound.stderr}")


def main() -> None:
    parser = argparse.ArgumentParser(description="Break the certificate and see a test notice.")
    parser.add_argument("only", nargs="*", help="part of a file name or of a reason")
    only = parser.parse_args().only
    chosen = [m for m in MUTANTS if not only or any(o in f"{m.file} {m.reason}" for o in only)]
    if not chosen:
        parser.error(f"no mutant has any of {only} in its file or reason.")
    for mutant in chosen:
        mutant.applied((ROOT / mutant.path).read_text(encoding="utf-8"))
    found: Counter[str] = Counter()
    with copied() as folder:
        check_the_copy(folder, chosen)
        for mutant in chosen:
            outcome = verdict(folder, mutant)
            found[outcome] += 1
            print(f"{outcome:9} {mutant.file}: {mutant.reason}", flush=True)
    print(f"{found['killed']} of {len(chosen)} killed")
    sys.exit(found["killed"] != len(chosen))


if __name__ == "__main__":
    main()
