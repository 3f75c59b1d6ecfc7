"""What a single solve imports, and the public names of the package of paths."""

import subprocess
import sys

import pytest

import convexhc.path

UNUSED = ("convexhc.path.path", "convexhc.tree", "convexhc.metrics", "sklearn")


def test_a_solve_imports_no_trees_and_scores():
    code = "import sys, convexhc; convexhc.solve; print([m for m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "convexhc.api.single_lam" in run.stdout
    assert not [name for name in UNUSED if f"'{name}'" in run.stdout]


def test_public_names_are_found_on_first_use():
    for name in convexhc.path.__all__:
        assert getattr(convexhc.path, name).__name__ == name
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = convexhc.path.nothing
