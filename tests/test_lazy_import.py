"""`import convexhc` is cheap: every public name is loaded on first use."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import convexhc

HEAVY = ["joblib", "matplotlib", "networkx", "numba", "numpy", "pandas", "scipy", "sklearn"]


def loaded_by(code: str) -> list[str]:
    """The heavy packages that a fresh process has imported after running the code."""
    report = f"{code}\nimport sys\nprint([name for name in {HEAVY} if name in sys.modules])"
    run = subprocess.run([sys.executable, "-c", report], capture_output=True, text=True, check=True)
    return ast.literal_eval(run.stdout)


def test_importing_the_package_imports_nothing_heavy():
    assert loaded_by("import convexhc; convexhc.__version__; dir(convexhc)") == []


def test_solving_needs_numba_but_not_scikit_learn_or_an_optional_package():
    found = loaded_by("from convexhc import Path, solve, solve_path, similarity")
    assert "numba" in found
    assert not {"matplotlib", "networkx", "pandas", "sklearn"} & set(found)


def names_for_type_checkers() -> set[str]:
    """The names that the block under TYPE_CHECKING imports, with the modules they come from."""
    tree = ast.parse(Path(convexhc.__file__).read_text(encoding="utf-8"))
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    lines = [node for node in block.body if isinstance(node, ast.ImportFrom)]
    return {f"{line.module}.{alias.name}" for line in lines for alias in line.names}


def test_type_checkers_and_the_interpreter_find_a_name_in_the_same_module():
    homes = {name: f"convexhc.{home}" for name, home in convexhc._HOMES.items()}
    public = set(convexhc.__all__) - {"__version__"}
    assert names_for_type_checkers() == {f"{homes.get(name, 'convexhc')}.{name}" for name in public}


def test_every_public_name_can_be_imported_and_is_listed():
    scope: dict[str, object] = {}
    exec("from convexhc import *", scope)
    assert set(convexhc.__all__) <= set(scope)
    assert set(dir(convexhc)) == set(convexhc.__all__)
    assert convexhc.solve is scope["solve"]


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'absent'"):
        _ = convexhc.absent
