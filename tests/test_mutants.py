"""The mutants of the certificate refer to existing code and tests."""

from __future__ import annotations

import ast
from collections import Counter

import pytest
from mutants import MUTANTS, ROOT, Mutant

# Every file behind the certificate has mutants.
FILES = {
    "fusion/contraction.py",
    "fusion/demand.py",
    "fusion/graph_flows.py",
    "fusion/inner_demand.py",
    "kernels/flows.py",
    "kernels/loads.py",
    "fusion/electrical_flow.py",
    "model/problem.py",
    "model/fidelity.py",
    "model/weighted_laplacian.py",
    "fusion/lam_max.py",
    "fusion/merging.py",
    "fusion/points_solve.py",
    "fusion/point_flows.py",
    "fusion/points_proof.py",
    "fusion/graph_proof.py",
    "fusion/partition_proof.py",
    "fusion/routing.py",
    "kernels/dual_errors.py",
}


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.reason)
def test_a_mutant_changes_one_line_of_the_source(mutant):
    source = (ROOT / mutant.path).read_text(encoding="utf-8")
    broken = mutant.applied(source)
    # Valid Python, and a different program.
    assert ast.dump(ast.parse(broken)) != ast.dump(ast.parse(source))


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.reason)
def test_the_tests_of_a_mutant_exist(mutant):
    assert mutant.tests
    for test in mutant.tests:
        file, _, name = test.partition("::")
        tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
        functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        assert not name or name in functions, test


def test_mutants_are_distinct_and_cover_every_file():
    assert len(MUTANTS) >= 20
    assert {mutant.file for mutant in MUTANTS} == FILES
    for each in (Counter(m.reason for m in MUTANTS), Counter((m.file, m.new) for m in MUTANTS)):
        assert max(each.values()) == 1


@pytest.mark.parametrize("source", ["", "x = 1\nx = 1\n"])
def test_text_that_does_not_occur_exactly_once_is_rejected(source):
    with pytest.raises(ValueError, match="and not once"):
        Mutant("model/problem.py", "x = 1", "x = 2", "none", ()).applied(source)
