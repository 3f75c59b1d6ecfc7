"""Break the code behind the certificate, one line at a time, and check that a test fails.

A mutant is one faulty line and the tests that must fail because of it. Each is applied to a copy of
the sources, never to the checkout, and its tests are run on that copy:

    python tests/mutants.py              all of them, a few minutes
    python tests/mutants.py flows.py     those whose file or reason contains this text

The exit status is 1 if a mutant survives, gets no verdict, or quotes text that does not occur
exactly once.
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
# Parts of the checkout that the tests need.
COPIED = ("src", "tests", "pyproject.toml")
# Time limit of a run in seconds: the tests of one mutant take a few seconds.
LIMIT = 900
# Exit codes of pytest: some tests failed, all tests passed.
FAILED, PASSED = 1, 0


class Mutant(NamedTuple):
    """A faulty line: its file inside the package, old and new text, reason, and failing tests."""

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
        """The source with the faulty line; the old text must occur exactly once."""
        count = source.count(self.old)
        if count != 1:
            raise ValueError(f"{self.file} has {count} times, and not once: {self.old!r}")
        return source.replace(self.old, self.new)


FLOWS = "tests/fusion/test_graph_flows.py::"
ELECTRICAL = "tests/fusion/test_electrical_flow.py::"
BOUNDS = "tests/fusion/test_lam_max.py::"
CONTRACTION = "tests/fusion/test_contraction.py::"
POINT_FLOWS = "tests/fusion/test_point_flows.py::"
NEWTON = "tests/solvers/test_newton.py::"
PROBLEM = "tests/model/test_problem.py::"
FIDELITY = "tests/model/test_fidelity.py::"
PROOF = "tests/fusion/test_partition_proof.py::"
MERGING = "tests/fusion/test_merging.py::"

COST = FLOWS + "test_the_cost_is_that_of_the_flow_under_the_final_conductances"
BUDGET = FLOWS + "test_the_cost_never_exceeds_the_budget"
BLOCKS = BOUNDS + "test_the_bound_does_not_depend_on_the_block_size"
TALLY = ELECTRICAL + "test_a_tally_agrees_with_the_flow_formed_in_full"
PRODUCT = ELECTRICAL + "test_a_product_is_tallied_like_the_flow_it_stands_for"
FAR = ELECTRICAL + "test_loads_of_near_and_far_columns_are_those_of_all_columns"
SURPLUS = ELECTRICAL + "test_the_surplus_is_the_smallest_change_that_makes_a_flow_feasible"
CONSISTENT = (
    "tests/model/test_weighted_laplacian.py::"
    "test_without_a_factor_only_the_consistent_part_of_every_component_is_solved"
)
LAYERED = ELECTRICAL + "test_a_layered_flow_meets_the_demand_under_conductances_of_any_range"

MUTANTS = (
    Mutant(
        "model/problem.py",
        "return max(abs(self.objective), self.floor)",
        "return abs(self.objective) + self.floor",
        "the floor makes every gap look smaller",
        (PROBLEM + "test_relative_gap_ignores_round_off_of_a_vanishing_objective",),
    ),
    Mutant(
        "model/fidelity.py",
        "return 0.5 * SETTINGS.floor * self.lipschitz",
        "return 50.0 * SETTINGS.floor * self.lipschitz",
        "gaps of ordinary similarities are compared with more than their objective",
        (PROBLEM + "test_the_scale_of_a_nonnegative_similarity_is_its_objective",),
    ),
    Mutant(
        "fusion/graph_flows.py",
        "residual_cost += 2.0 * search.measure(unproven, loads)",
        "residual_cost += 0.0 * search.measure(unproven, loads)",
        "the residual of a flow costs nothing",
        (FLOWS + "test_the_residual_of_a_wrong_flow_is_added_to_the_cost",),
    ),
    Mutant(
        "fusion/graph_flows.py",
        "cost = residual_cost + search.cost(unproven, loads)",
        "cost = search.cost(unproven, loads)",
        "the cost of residuals is left out of the total",
        (FLOWS + "test_the_residual_of_a_wrong_flow_is_added_to_the_cost",),
    ),
    Mutant(
        "fusion/graph_flows.py",
        "overloaded = clusters[self.cluster] & (loads > _MAX_LOAD)",
        "overloaded = clusters[self.cluster] & (loads > 1.1)",
        "slightly overloaded edges cost nothing",
        (COST,),
    ),
    Mutant(
        "fusion/graph_flows.py",
        "            return np.inf\n",
        "            return 0.0\n",
        "too many overloaded edges cost nothing",
        (BUDGET,),
    ),
    Mutant(
        "fusion/graph_flows.py",
        "unmet = adjoint(surplus, local, rows.size)",
        "unmet = adjoint(surplus, local._replace(head=local.tail), rows.size)",
        "the surplus of an edge cancels at its ends",
        (COST,),
    ),
    Mutant(
        "fusion/graph_flows.py",
        "np.maximum(unmet.max(axis=1), 0.0).sum()",
        "np.maximum(unmet.max(axis=1), 0.0).max()",
        "only the row with the largest unmet demand adds to the cost",
        (COST,),
    ),
    Mutant(
        "fusion/graph_flows.py",
        "residual_cost += 2.0 * search.measure(unproven, loads)",
        "search.search_loads(unproven, loads)",
        "the proof uses loads of the sketch",
        (COST,),
    ),
    Mutant(
        "fusion/merging.py",
        "gap=before.gap + objective - before.objective",
        "gap=before.gap + 2.0 * (objective - before.objective)",
        "merging lowers the gap by more than the objective",
        (MERGING + "test_a_merged_solution_is_better_and_its_bound_still_holds",),
    ),
    Mutant(
        "fusion/merging.py",
        "rises = rises + 1 if found.certificate.objective >= best.certificate.objective else 0",
        "rises = 0",
        "clusters are merged whatever it costs",
        (MERGING + "test_the_minimiser_is_not_merged",),
    ),
    Mutant(
        "fusion/electrical_flow.py",
        "soft, block = net.soft, edges.block[self.at]",
        "soft, block = vars(self).setdefault('r', (net.soft, edges.block[self.at]))",
        "loads are measured in the balls of another lam",
        (FLOWS + "test_conductances_are_reused_at_another_lam_with_new_dual_balls",),
    ),
    Mutant(
        "fusion/graph_flows.py",
        "unproven = unproven & (search.max_loads(loads) > _MAX_LOAD)",
        "unproven = unproven & (search.max_loads(loads) > 2.0)",
        "an overloaded cluster counts as proven for any budget",
        (BUDGET,),
    ),
    Mutant(
        "fusion/graph_flows.py",
        "if cost <= budget or not unproven.any():",
        "if cost <= 2.0 * budget or not unproven.any():",
        "the cost may exceed the budget",
        (BUDGET,),
    ),
    Mutant(
        "kernels/loads.py",
        "                    left[k] -= c * (here[k] - there[k])\n                continue",
        "                    left[k] += c * (here[k] - there[k])\n                continue",
        "inflow and outflow are exchanged",
        (TALLY,),
    ),
    Mutant(
        "kernels/loads.py",
        "largest = max(largest, abs(left[k]))\n        out.lacking[i]",
        "largest = max(largest, left[k])\n        out.lacking[i]",
        "only a deficit counts as residual, not an excess",
        (TALLY,),
    ),
    Mutant(
        "kernels/loads.py",
        "most = max(most, abs(c * (here[k] - there[k])))",
        "most = abs(c * (here[k] - there[k]))",
        "the largest entry of a flow is its last one",
        (TALLY,),
    ),
    Mutant(
        "kernels/loads.py",
        "over = (y - soft) + abs(y - soft)",
        "over = (y - 2.0 * soft) + abs(y - 2.0 * soft)",
        "dual balls are too large",
        (TALLY,),
    ),
    Mutant(
        "kernels/loads.py",
        "                most = out.most[e]\n",
        "                most = 0.0\n",
        "the largest entry of a flow is that of its last block",
        (TALLY,),
    ),
    Mutant(
        "kernels/loads.py",
        "if bound <= softer:",
        "if bound <= 2.0 * threshold:",
        "far columns that exceed the ball are skipped",
        (PRODUCT,),
    ),
    Mutant(
        "kernels/loads.py",
        "                most = max(most, bound)\n                break",
        "                break",
        "the largest entry of skipped columns counts as zero",
        (PRODUCT,),
    ),
    Mutant(
        "kernels/loads.py",
        "if not np.isfinite(X.sum(dtype=np.float64)):",
        "if False:",
        "potentials that are not finite count as a flow",
        (ELECTRICAL + "test_potentials_that_are_not_finite_prove_nothing",),
    ),
    Mutant(
        "fusion/electrical_flow.py",
        "if demand.far.columns.size:",
        "if False:",
        "far columns carry no flow",
        (FAR,),
    ),
    Mutant(
        "fusion/electrical_flow.py",
        "np.maximum(out.lacking, np.abs(lacking) @ np.abs(far.W).max(axis=0))",
        "out.lacking",
        "residuals of far columns are left out",
        (ELECTRICAL + "test_the_residual_of_far_columns_is_never_understated",),
    ),
    Mutant(
        "fusion/inner_demand.py",
        "W = np.column_stack([-self.dual[:, columns].T, np.full(columns.size, -1.0)])",
        "W = np.column_stack([-self.dual[:, columns].T, np.zeros(columns.size)])",
        "far columns lose the offset of the rows",
        (FAR,),
    ),
    Mutant(
        "kernels/flows.py",
        "            out[j, k] -= y\n\n\nclass _Network",
        "            out[j, k] += y\n\n\nclass _Network",
        "a flow is delivered at both of its ends",
        (ELECTRICAL + "test_what_a_flow_delivers_is_the_product_with_the_laplacian",),
    ),
    Mutant(
        "kernels/flows.py",
        "outside = length > enough",
        "outside = length > 1.01 * enough",
        "a flow just outside its ball is not projected, and others stay outside",
        (SURPLUS,),
    ),
    Mutant(
        "kernels/flows.py",
        "t = np.where(outside, largest, t)",
        "pass",
        "a flow on which Newton's method ends too early stays outside its ball",
        (ELECTRICAL + "test_a_surplus_that_is_found_too_slowly_still_makes_a_flow_feasible",),
    ),
    Mutant(
        "kernels/flows.py",
        "return curvature if curvature > 1e-14 * bound else 0.0",
        "return curvature if curvature > 0.2 * bound else 0.0",
        "conjugate gradients stop before they have converged",
        (POINT_FLOWS + "test_conjugate_gradients_converge_on_a_chain",),
    ),
    Mutant(
        "fusion/electrical_flow.py",
        "return np.maximum(_divide(np.sqrt(excess), block), _divide(largest, soft + block))",
        "return _divide(np.sqrt(excess), block)",
        "balls without a Euclidean part are never overloaded",
        (FLOWS + "test_above_the_bound_the_consensus_holds_and_far_below_it_does_not",),
    ),
    Mutant(
        "fusion/electrical_flow.py",
        "residual, most = float(out.lacking.sum())",
        "residual, most = float(out.lacking.max())",
        "only the residual of the worst node counts",
        (ELECTRICAL + "test_the_residual_is_the_sum_of_the_largest_error_of_every_node",),
    ),
    Mutant(
        "fusion/electrical_flow.py",
        "residual if not residual <= ROUND_OFF * float(out.wanted.sum()) else 0.0",
        "residual if not residual <= float(out.wanted.sum()) else 0.0",
        "residuals are reported only if they are as large as the demand",
        (ELECTRICAL + "test_the_residual_of_round_off_is_reported",),
    ),
    Mutant(
        "fusion/electrical_flow.py",
        "            load_kernels.tally(X, R, self.net, self.stretch, out)\n",
        "            load_kernels.tally(X, R, self.net, self.stretch, out)\n            break\n",
        "only the first block of columns is measured",
        (ELECTRICAL + "test_loads_do_not_depend_on_the_block_size",),
    ),
    Mutant(
        "fusion/electrical_flow.py",
        "out = out.joined(tally)",
        "out = tally",
        "only the last run of columns counts",
        (ELECTRICAL + "test_loads_do_not_depend_on_the_block_size",),
    ),
    Mutant(
        "fusion/inner_demand.py",
        "for first in range(0, self.near.size, most))",
        "for first in range(0, self.near.size - most, most))",
        "the last run of columns is left out",
        (ELECTRICAL + "test_loads_do_not_depend_on_the_block_size",),
    ),
    Mutant(
        "fusion/demand.py",
        "centered = np.asarray(X - (self.mean @ X)[self.labels])",
        "centered = np.asarray(X)",
        "demands do not sum to zero over clusters",
        (ELECTRICAL + "test_a_demand_sums_to_zero_over_every_cluster",),
    ),
    Mutant(
        "fusion/demand.py",
        "out -= (V.T @ self.offset)[:, None]",
        "out -= 0.0",
        "the bound is computed for another demand than norms",
        (ELECTRICAL + "test_a_demand_is_multiplied_without_being_formed",),
    ),
    Mutant(
        "fusion/inner_demand.py",
        "out -= (V.T @ self.offset)[:, None]",
        "out -= 0.0",
        "costs are computed for another demand than loads",
        (ELECTRICAL + "test_a_demand_is_multiplied_without_being_formed",),
    ),
    Mutant(
        "fusion/electrical_flow.py",
        "demand = demand - layer.pull @ X",
        "pass",
        "strong layers ignore the flow of weak layers",
        (LAYERED,),
    ),
    Mutant(
        "model/problem.py",
        "objective, objective - bound, self.constraint.residual(C), self.floor",
        "objective, 0.9 * (objective - bound), self.constraint.residual(C), self.floor",
        "a tenth of the gap is left out",
        (PROBLEM + "test_the_gap_at_the_best_dual_covers_the_suboptimality",),
    ),
    Mutant(
        "model/problem.py",
        "objective, objective - bound, self.constraint.residual(C), self.floor",
        "objective, objective - bound, 0.0, self.floor",
        "infeasible points count as feasible",
        (PROBLEM + "test_a_certificate_reports_the_constraint_violation",),
    ),
    Mutant(
        "model/problem.py",
        "return max(abs(self.objective), self.floor)",
        "return max(abs(self.objective), 1.0)",
        "small objectives are solved to an absolute tolerance",
        (PROBLEM + "test_relative_gap_ignores_round_off_of_a_vanishing_objective",),
    ),
    Mutant(
        "model/fidelity.py",
        "return max(SETTINGS.floor_of_scatter * self.scale,",
        "return max(1e12 * SETTINGS.floor_of_scatter * self.scale,",
        "gaps are relative to the data and not to the objective",
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
        "the tangent and its slope belong to different points",
        (FIDELITY + "test_lower_bound_is_below_the_minimum_at_any_centroids",),
    ),
    Mutant(
        "model/fidelity.py",
        "        return X, self.right_multiply(X)",
        "        return X, G - self.ridge * X",
        "conjugate gradients that stop early count as exact",
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
        "a value at some point counts as the minimum",
        (FIDELITY + "test_lower_bound_is_below_every_feasible_point",),
    ),
    Mutant(
        "model/fidelity.py",
        "return 0.5 * (inner(C, gradient) - inner(C, self.target)), gradient",
        "return 0.5 * inner(C, gradient) - inner(C, self.target), gradient",
        "values and gradients belong to different functions",
        (FIDELITY + "test_values_agree_with_the_formulas",),
    ),
    Mutant(
        "fusion/lam_max.py",
        "if norm[chosen[0]] <= bound:",
        "if bound > 0.0:",
        "the bound is that of the first block of edges",
        (BLOCKS,),
    ),
    Mutant(
        "fusion/lam_max.py",
        "bound = max(bound, float(dual_norms(scaled, penalty.l1_ratio).max()))",
        "bound = float(dual_norms(scaled, penalty.l1_ratio).max())",
        "the bound is that of the last block of edges",
        (BLOCKS,),
    ),
    Mutant(
        "fusion/lam_max.py",
        "scaled = flow.along(demand, chosen) / relative[chosen, None]",
        "scaled = flow.along(demand, chosen)",
        "weak edges have the capacity of strong ones",
        (BOUNDS + "test_on_a_tree_the_bound_is_exact_for_weights_of_any_range",),
    ),
    Mutant(
        "fusion/demand.py",
        "centered if self.mass is None else centered * self.mass[:, None]",
        "centered",
        "clusters of a contracted problem count as single nodes",
        (BOUNDS + "test_on_a_tree_of_fused_points_the_bound_is_exact_too",),
    ),
    Mutant(
        "fusion/points_solve.py",
        "certificate = problem.certify(found.centroids, flows.dual)",
        "certificate = found.certificate",
        "the certificate of the contracted problem is used for the full one",
        (NEWTON + "test_contraction_does_not_change_the_solution",),
    ),
    Mutant(
        "fusion/points_solve.py",
        "if whole and certificate.relative_gap <= tol:",
        "if whole:",
        "a solution counts as solved for any gap",
        (NEWTON + "test_infeasible_flows_are_not_certified",),
    ),
    Mutant(
        "fusion/points_solve.py",
        "return spread(dual, self.pair, self.sign * self.share, inside)",
        "return spread(dual, self.pair, self.sign, inside)",
        "every edge between two clusters has the dual of all of them together",
        (NEWTON + "test_links_between_contractions_agree_with_direct_contraction",),
    ),
    Mutant(
        "fusion/points_solve.py",
        "sign, share = self.sign[some] * other.sign[some]",
        "sign, share = other.sign[some]",
        "duals lose their sign from one contraction to the next",
        (NEWTON + "test_links_between_contractions_agree_with_direct_contraction",),
    ),
    Mutant(
        "fusion/point_flows.py",
        "dual = penalty.feasible_dual(solution.dual)",
        "dual = solution.dual.copy()",
        "a dual outside its balls is passed on",
        (POINT_FLOWS + "test_the_completed_dual_is_feasible_from_any_warm_start",),
    ),
    Mutant(
        "fusion/point_flows.py",
        "outside = ~well_inside(Y, edges, 1.0)",
        "outside = ~well_inside(Y, edges, 1.2)",
        "a flow outside its balls is accepted",
        (POINT_FLOWS + "test_clusters_of_a_solution_have_flows",),
    ),
    Mutant(
        "fusion/point_flows.py",
        "failed = unmet > ROUND_OFF**2 * asked",
        "failed = unmet > 2.0 * asked",
        "a flow that misses its demand is accepted",
        (POINT_FLOWS + "test_flows_that_miss_the_demand_are_not_accepted",),
    ),
    Mutant(
        "fusion/point_flows.py",
        "between[inside] = 0.0",
        "between[inside] *= 1.0",
        "the demand leaves out the present flow inside clusters",
        (POINT_FLOWS + "test_the_warm_start_inside_clusters_does_not_matter",),
    ),
    Mutant(
        "fusion/point_flows.py",
        "dual=dual, labels=finer, n_iter=found.n_iter",
        "dual=dual, n_iter=found.n_iter",
        "a split cluster is reported as one",
        (POINT_FLOWS + "test_clusters_without_flows_are_split_and_others_kept",),
    ),
    Mutant(
        "fusion/graph_flows.py",
        "np.bincount(labels) > 1, np.zeros(initial.size), 0.0",
        "np.bincount(labels) > 2, np.zeros(initial.size), 0.0",
        "clusters of two nodes need no proof",
        (COST,),
    ),
    Mutant(
        "fusion/electrical_flow.py",
        "if not np.array_equal(conductance, self.conductance):",
        "if np.array_equal(conductance, -1.0 - self.conductance):",
        "loads are measured under conductances of an earlier round",
        (COST,),
    ),
    Mutant(
        "fusion/demand.py",
        "if not problem.constraint.unit_row_sums:",
        "if problem.constraint.unit_row_sums:",
        "row means are omitted where row sums are not fixed",
        (BOUNDS + "test_on_a_tree_the_bound_is_exact_for_weights_of_any_range",),
    ),
    Mutant(
        "fusion/demand.py",
        "out -= np.asarray(self.between.T @ SV).T @ self.dual",
        "pass",
        "bounds leave out the flow between clusters",
        (ELECTRICAL + "test_a_demand_is_multiplied_without_being_formed",),
    ),
    Mutant(
        "fusion/inner_demand.py",
        "out -= (self.inflow.T @ V).T @ self.dual",
        "pass",
        "costs leave out the flow between clusters",
        (ELECTRICAL + "test_a_flow_makes_gradients_equal_inside_clusters",),
    ),
    Mutant(
        "fusion/lam_max.py",
        "max(bound / largest, _least(problem))",
        "max(bound, _least(problem))",
        "the bound does not scale with the weights",
        (BOUNDS + "test_the_bound_scales_like_kernel_over_weights",),
    ),
    Mutant(
        "fusion/contraction.py",
        "sign = np.where(tail[crossing] < head[crossing], 1.0, -1.0)",
        "sign = np.ones(crossing.size)",
        "edges between two clusters lose their sign",
        (CONTRACTION + "test_the_contracted_pull_is_the_cluster_mean_for_any_inner_dual",),
    ),
    Mutant(
        "fusion/contraction.py",
        "share[crossing] = graph.weight[crossing] / weight[index]",
        "share[crossing] = 1.0",
        "every edge between two clusters gets the dual of all of them",
        (CONTRACTION + "test_an_expanded_dual_is_feasible",),
    ),
    Mutant(
        "fusion/contraction.py",
        "np.concatenate([part, -part])",
        "np.concatenate([part, part])",
        "flow between clusters enters at both ends of an edge",
        (ELECTRICAL + "test_a_flow_makes_gradients_equal_inside_clusters",),
    ),
    Mutant(
        "model/weighted_laplacian.py",
        "R = R - group_means(R, component, np.ones(component.size))[component]",
        "R = R + 0.0",
        "conjugate gradients diverge on an inconsistent right side",
        (CONSISTENT,),
    ),
    Mutant(
        "model/weighted_laplacian.py",
        "unit = scale[component]",
        "unit = np.ones(component.size)",
        "conjugate gradients stop once the weakest component has converged",
        (CONSISTENT,),
    ),
    Mutant(
        "fusion/points_proof.py",
        "float(2.0 * np.sqrt(gap)",
        "float(np.sqrt(2.0) * np.sqrt(gap)",
        "two rows err like one",
        (PROOF + "test_the_error_of_a_difference_is_that_of_two_rows_that_move_apart",),
    ),
    Mutant(
        "fusion/points_proof.py",
        "gap = 0.5 * apart**2 + between",
        "gap = 0.5 * apart**2 + 0.0 * between",
        "the gap of the edges is no part of the error",
        (PROOF + "test_the_gap_of_the_edges_is_part_of_the_error",),
    ),
    Mutant(
        "fusion/graph_proof.py",
        "error = 2.0 * np.sqrt(gap)",
        "error = np.sqrt(2.0 * gap)",
        "pairs are apart beyond the error of one row",
        (PROOF + "test_rows_are_apart_beyond_the_error_of_two_rows",),
    ),
    Mutant(
        "kernels/dual_errors.py",
        "turn[known] *= 2.0 * np.sin(0.5 *",
        "turn[known] *= np.sin(0.5 *",
        "a direction turns by half the angle",
        (PROOF + "test_a_direction_turns_by_the_angle_of_the_tangent",),
    ),
    Mutant(
        "kernels/dual_errors.py",
        "0.0, soft + np.abs(s))",
        "0.0, np.abs(s))",
        "an unknown sign is wrong on one side only",
        (PROOF + "test_dual_errors_bound_every_subgradient_nearby",),
    ),
    Mutant(
        "kernels/dual_errors.py",
        "room = block[some] - lengths(",
        "room = block[some] + lengths(",
        "the slack grows with the flow",
        (PROOF + "test_slack_is_room_inside_the_ball_and_distance_outside",),
    ),
    Mutant(
        "fusion/partition_proof.py",
        "extra < USABLE * room",
        "extra < USABLE * abs(room)",
        "the sign of the slack is ignored",
        (
            PROOF + "test_a_flow_outside_its_ball_is_not_a_proof",
            PROOF + "test_unknown_signs_need_room_in_every_entry",
        ),
    ),
    Mutant(
        "fusion/partition_proof.py",
        "(1.0 - 2.0 * share) * here",
        "(1.0 - share) * here - share * here * 2.0",
        "the mean of a demand is subtracted twice",
        (
            PROOF + "test_errors_fit_up_to_the_slack_of_the_tree",
            PROOF + "test_what_is_unmet_counts_like_errors",
        ),
    ),
    Mutant(
        "fusion/partition_proof.py",
        "added(leaving.error + inner.unmet)",
        "added(leaving.error)",
        "what is not delivered costs no slack",
        (PROOF + "test_what_is_unmet_counts_like_errors",),
    ),
    Mutant(
        "fusion/partition_proof.py",
        "outside, nothing = np.maximum(-slack, 0.0)",
        "outside, nothing = np.maximum(0.0 * slack, 0.0)",
        "a flow outside its ball needs no correction",
        (PROOF + "test_a_flow_outside_its_ball_is_not_a_proof",),
    ),
    Mutant(
        "fusion/partition_proof.py",
        "leaving.plus(edges.tail[cut], edges.head[cut], block + bent, signs)",
        "leaving.plus(edges.tail[cut], edges.head[cut], 0.0 * bent, signs)",
        "the dual between two parts is certain",
        (PROOF + "test_the_dual_between_two_parts_may_be_anything",),
    ),
    Mutant(
        "fusion/partition_proof.py",
        "tail, head, ~apart)",
        "tail, head, apart)",
        "pairs that are apart are joined",
        (PROOF + "test_clusters_that_are_not_apart_are_joined",),
    ),
    Mutant(
        "fusion/routing.py",
        "np.abs(route) @ np.abs(share))",
        "np.abs(route @ share))",
        "errors always add up with their signs",
        (PROOF + "test_errors_of_different_centroids_do_not_cancel",),
    ),
    Mutant(
        "fusion/routing.py",
        "        if (extra < USABLE * room).all():",
        "        if (extra < USABLE * room).any():",
        "one edge with room is enough",
        (PROOF + "test_errors_are_spread_over_all_edges_and_added_up_where_they_are_common",),
    ),
)


@contextmanager
def copied() -> Iterator[Path]:
    """A temporary folder with a copy of the tested code."""
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
    """Run Python in a copy, with the package of that copy.

    No bytecode is written, because its timestamps have a resolution of one second. Compiled kernels
    stay in the copy, in one folder per version of their sources (see conftest.py).
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
    """Whether the tests of a mutant detect it; the copy is restored afterwards."""
    target, kept = folder / mutant.path, ROOT / mutant.path
    target.write_text(mutant.applied(kept.read_text(encoding="utf-8")), encoding="utf-8")
    try:
        code = run_tests(folder, mutant.tests).returncode
    except subprocess.TimeoutExpired:
        return "no verdict: the tests do not end"
    finally:
        # With its modification time, which identifies compiled kernels.
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
