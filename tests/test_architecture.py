"""Architecture rules, checked on the source: import directions and where things belong."""

from __future__ import annotations

import ast
import importlib
import re
import sys
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "convexhc"

# Each module may import from those before it. A new file at the top of the package must
# be added here.
ROOMS = [
    "_types",
    "_checks",
    "_files",
    "_text",
    "_views",
    "_warnings",
    "_extras",
    "_workers",
    "version",
    "kernels",
    "graph_checks",
    "graph",
    "provenance",
    "io",
    "similarity",
    "model",
    "solvers",
    "fusion",
    "smooth",
    "tree",
    "metrics",
    "export",
    "path",
    "cohort",
    "progress_line",
    "api",
    "resampling",
    "stability",
    "datasets",
    "estimators",
    "tl",
    "layout",
    "plots",
    "report",
    "commands",
    "cli",
]
# The package itself and `python -m convexhc` are outside this order: they import from all modules.
OUTSIDE = ["__init__", "__main__"]

OPTIONAL = {"anndata", "cvxpy", "dask", "distributed", "igraph", "matplotlib", "networkx"}
OPTIONAL |= {"pandas", "tqdm"}
# Results are saved as arrays and text only, and the library does not use the network.
FORBIDDEN_MODULES = {"pickle", "cloudpickle", "dill", "marshal", "shelve"}
FORBIDDEN_MODULES |= {"ftplib", "http", "httpx", "requests", "socket", "urllib", "urllib3"}
FORBIDDEN_CALLS = {"__import__", "eval", "exec", "joblib.dump", "joblib.load"}
MAX_LINES = 400

Finding = tuple[int, str]
Import = tuple[int, str]


@dataclass(frozen=True)
class Module:
    """One file of the package: its path inside it, its text, its syntax tree."""

    path: str
    source: str

    @property
    def tree(self) -> ast.Module:
        return ast.parse(self.source)

    @property
    def room(self) -> str:
        return self.path.split("/")[0].removesuffix(".py")

    @property
    def dotted(self) -> list[str]:
        """Full name of the package that relative imports start from."""
        return ["convexhc", *self.path.split("/")[:-1]]


def modules() -> list[Module]:
    files = sorted(PACKAGE.rglob("*.py"))
    return [Module(f.relative_to(PACKAGE).as_posix(), f.read_text(encoding="utf-8")) for f in files]


def imports(module: Module, nodes: Iterator[ast.AST] | None = None) -> Iterator[Import]:
    """Line and full dotted name of everything imported, relative names resolved."""
    for node in ast.walk(module.tree) if nodes is None else nodes:
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            package = module.dotted[: len(module.dotted) + 1 - node.level] if node.level else []
            origin = ".".join([*package, *([node.module] if node.module else [])])
            yield from ((node.lineno, f"{origin}.{alias.name}") for alias in node.names)


def calls(tree: ast.AST) -> Iterator[tuple[ast.Call, str]]:
    """Every call with the name of its function as written: `print`, `joblib.load`, `a.b.step`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield node, ast.unparse(node.func)


def run_on_import(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes executed when the module is imported: no function bodies, no type-only blocks."""
    yield node
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(child, ast.If) and ast.unparse(child.test).endswith("TYPE_CHECKING"):
            for other in child.orelse:
                yield from run_on_import(other)
            continue
        yield from run_on_import(child)


def within(name: str, package: str) -> bool:
    return name == package or name.startswith(f"{package}.")


def imports_of(module: Module, packages: set[str]) -> Iterator[Finding]:
    for line, name in imports(module):
        if any(within(name, package) for package in packages):
            yield line, f"imports {name}"


def rooms_in_order(module: Module) -> Iterator[Finding]:
    if module.room in OUTSIDE:
        return
    if module.room not in ROOMS:
        yield 1, f"{module.room} is no known room: give it a place in ROOMS"
        return
    here = ROOMS.index(module.room)
    for line, name in imports(module):
        if not within(name, "convexhc"):
            continue
        target = [*name.split("."), ""][1]
        if target not in ROOMS:
            # Only the command line may import from the package itself.
            if module.room != "cli":
                yield line, f"imports {name}, which is not a room below {module.room}"
        elif ROOMS.index(target) > here:
            yield line, f"{module.room} imports {target}, which stands above it"


def numba_in_kernels(module: Module) -> Iterator[Finding]:
    if module.room != "kernels":
        yield from imports_of(module, {"numba"})


def matplotlib_in_plots(module: Module) -> Iterator[Finding]:
    if module.room != "plots":
        yield from imports_of(module, {"matplotlib"})


def sklearn_base_in_estimators(module: Module) -> Iterator[Finding]:
    if module.room != "estimators":
        yield from imports_of(module, {"sklearn.base"})


def print_in_cli(module: Module) -> Iterator[Finding]:
    if module.room != "cli":
        yield from ((call.lineno, "prints") for call, name in calls(module.tree) if name == "print")


def optional_packages_lazily(module: Module) -> Iterator[Finding]:
    for line, name in imports(module, run_on_import(module.tree)):
        if name.split(".")[0] in OPTIONAL:
            yield line, f"imports {name} when it is itself imported: move it into the function"


def no_code_from_data(module: Module) -> Iterator[Finding]:
    yield from imports_of(module, FORBIDDEN_MODULES)
    for call, name in calls(module.tree):
        if name in FORBIDDEN_CALLS:
            yield call.lineno, f"calls {name}"
        for keyword in call.keywords:
            if keyword.arg == "allow_pickle" and ast.unparse(keyword.value) != "False":
                yield call.lineno, "loads pickles"


LOOPS = (ast.For, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def one_solver_loop(module: Module) -> Iterator[Finding]:
    # matplotlib's axes have a `step` method too.
    if module.path == "solvers/loop.py" or module.room == "plots":
        return
    for loop in ast.walk(module.tree):
        if isinstance(loop, LOOPS):
            for call, name in calls(loop):
                if name.endswith(".step"):
                    yield call.lineno, "steps a method in a loop of its own: use solvers/loop.py"


def short_file(module: Module) -> Iterator[Finding]:
    length = len(module.source.splitlines())
    if length > MAX_LINES:
        yield length, f"{length} lines, more than {MAX_LINES}: is it one idea?"


def docstring_first(module: Module) -> Iterator[Finding]:
    if not ast.get_docstring(module.tree):
        yield 1, "has no docstring"


Rule = Callable[[Module], Iterator[Finding]]
RULES: list[Rule] = [
    rooms_in_order,
    numba_in_kernels,
    matplotlib_in_plots,
    sklearn_base_in_estimators,
    print_in_cli,
    optional_packages_lazily,
    no_code_from_data,
    one_solver_loop,
    short_file,
    docstring_first,
]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_package_follows_the_rule(rule):
    found = [f"{m.path}:{line}: {what}" for m in modules() for line, what in rule(m)]
    assert not found, "\n".join(found)


def test_the_rooms_written_down_are_those_of_the_package():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    block = text.split("## Rooms", 1)[1].split("\n\n")[2]
    # A name stands at the start of a line of the block, further lines of a room are indented more.
    starts = [line[4:] for line in block.splitlines() if line[4:5] != " "]
    named = [re.split(r"\s{2,}", line)[0].split(", ") for line in starts]
    assert [name.rstrip("/") for names in named for name in names] == ROOMS
    found = {module.room for module in modules()} - set(OUTSIDE)
    assert found == set(ROOMS)


def written_call_path() -> list[tuple[str, str]]:
    """Module and function of every line of the call path in CONTRIBUTING."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    block = text.split("The call path of `solve_path(K)`", 1)[1].split("\n\n")[1]
    lines = [line.split() for line in block.splitlines()]
    return [(words[0], words[1].rstrip(":")) for words in lines]


def test_the_call_path_written_down_leads_downwards():
    steps = written_call_path()
    assert len(steps) >= 6
    rooms = [ROOMS.index(module.split(".")[0]) for module, _ in steps]
    assert rooms == sorted(rooms, reverse=True)
    for module, function in steps:
        source = (PACKAGE / (module.replace(".", "/") + ".py")).read_text(encoding="utf-8")
        name = function.split(".")[-1]
        assert re.search(rf"\b(def {name}|{name} =|C K)", source) or function == "C", function


def test_every_step_of_the_call_path_is_taken():
    """The modules written down are entered in this order when a path is solved."""
    from convexhc import solve_path

    expected = [f"convexhc.{module}" for module, _ in written_call_path()]
    K = np.kron(np.eye(2), np.ones((3, 3))) + 0.1 + np.eye(6)
    entered: set[tuple[str, str]] = set()

    def trace(frame, event, argument):
        name = frame.f_globals.get("__name__", "")
        if event == "call" and name in expected:
            caller = frame.f_back
            while caller is not None and caller.f_globals.get("__name__") not in expected:
                caller = caller.f_back
            above = "" if caller is None else caller.f_globals["__name__"]
            if above != name:
                entered.add((above, name))

    # Compiled beforehand: the compiler has a million calls of its own.
    solve_path(K, [0.1, 1.0])
    sys.setprofile(trace)
    try:
        solve_path(K, [0.1, 1.0])
    finally:
        sys.setprofile(None)
    # Compiled kernels leave no frames.
    traced = [name for name in expected if not name.startswith("convexhc.kernels")]
    assert set(pairwise(["", *traced])) <= entered


def test_the_source_of_the_package_is_read():
    assert {"kernels", "graph", "solvers"} <= {module.room for module in modules()}


BROKEN = [
    (rooms_in_order, "graph.py", "from convexhc.solvers import run"),
    (rooms_in_order, "graph.py", "from convexhc import model"),
    (rooms_in_order, "graph.py", "import convexhc.path"),
    (rooms_in_order, "graph.py", "from . import io"),
    (rooms_in_order, "model/penalty.py", "from ..solvers import loop"),
    (rooms_in_order, "tree.py", "def f():\n    from convexhc.path import Path"),
    (rooms_in_order, "path.py", "from convexhc import solve"),
    (rooms_in_order, "path.py", "import convexhc"),
    (rooms_in_order, "helpers.py", "x = 1"),
    (numba_in_kernels, "graph.py", "from numba import njit"),
    (numba_in_kernels, "solvers/admm.py", "def f():\n    import numba.typed"),
    (matplotlib_in_plots, "report/page.py", "def f():\n    import matplotlib.pyplot as plt"),
    (sklearn_base_in_estimators, "path.py", "from sklearn.base import BaseEstimator"),
    (sklearn_base_in_estimators, "path.py", "from sklearn import base"),
    (print_in_cli, "path.py", "def f():\n    print('done')"),
    (optional_packages_lazily, "io.py", "import pandas as pd"),
    (optional_packages_lazily, "plots.py", "from matplotlib import pyplot"),
    (
        optional_packages_lazily,
        "io.py",
        "try:\n    import networkx\nexcept ImportError:\n    x = 1",
    ),
    (optional_packages_lazily, "io.py", "class A:\n    import igraph"),
    (no_code_from_data, "path.py", "import pickle"),
    (no_code_from_data, "path.py", "def f():\n    from urllib.request import urlopen"),
    (no_code_from_data, "path.py", "eval('1')"),
    (no_code_from_data, "path.py", "import joblib\njoblib.load('file')"),
    (no_code_from_data, "path.py", "import numpy as np\nnp.load('file', allow_pickle=True)"),
    (one_solver_loop, "solvers/admm.py", "while True:\n    if x:\n        method.step(p, s)"),
    (one_solver_loop, "path.py", "for lam in grid:\n    self.method.step(p, s)"),
    (one_solver_loop, "path.py", "[m.step(p, s) for _ in range(9)]"),
    (short_file, "io.py", "x = 1\n" * (MAX_LINES + 1)),
    (docstring_first, "io.py", "x = 1"),
    (docstring_first, "solvers/__init__.py", ""),
]
SOUND = [
    (rooms_in_order, "path.py", "from convexhc.tree import Tree\nfrom .solvers.loop import run"),
    (
        rooms_in_order,
        "solvers/admm.py",
        "from convexhc.solvers.loop import run\nfrom . import loop",
    ),
    (rooms_in_order, "model/penalty.py", "from ..graph import Graph\nimport convexhc.kernels"),
    (rooms_in_order, "cli.py", "from convexhc import __version__, solve"),
    (rooms_in_order, "__init__.py", "from convexhc.path import solve_path"),
    (rooms_in_order, "kernels/prox.py", "import convexhc_other.path"),
    (numba_in_kernels, "kernels/prox.py", "from numba import njit"),
    (matplotlib_in_plots, "plots.py", "def f():\n    import matplotlib.pyplot as plt"),
    (sklearn_base_in_estimators, "estimators.py", "from sklearn.base import BaseEstimator"),
    (sklearn_base_in_estimators, "path.py", "from sklearn.cluster import KMeans"),
    (print_in_cli, "cli.py", "print('done')"),
    (print_in_cli, "path.py", "report.print()"),
    (optional_packages_lazily, "io.py", "def f():\n    import pandas as pd"),
    (optional_packages_lazily, "io.py", "if TYPE_CHECKING:\n    import pandas as pd"),
    (no_code_from_data, "path.py", "import joblib\njoblib.Parallel()\nmodel.eval()"),
    (no_code_from_data, "path.py", "np.load('file', allow_pickle=False)"),
    (one_solver_loop, "solvers/loop.py", "while True:\n    method.step(p, s)"),
    (one_solver_loop, "solvers/admm.py", "for x in y:\n    x.stepsize()\nmethod.step(p, s)"),
    (short_file, "io.py", "x = 1\n" * MAX_LINES),
    (docstring_first, "io.py", '"""What it holds."""\n'),
]


@pytest.mark.parametrize(("rule", "path", "source"), BROKEN)
def test_a_violation_is_detected(rule, path, source):
    assert list(rule(Module(path, source)))


@pytest.mark.parametrize(("rule", "path", "source"), SOUND)
def test_valid_code_passes(rule, path, source):
    assert not list(rule(Module(path, source)))


def test_every_rule_has_a_violation_and_a_valid_example():
    assert {rule for rule, _, _ in BROKEN} == {rule for rule, _, _ in SOUND} == set(RULES)


def test_public_names_are_listed_once_and_resolve():
    package = importlib.import_module("convexhc")
    names = package.__all__
    assert len(names) == len(set(names))
    missing = [name for name in names if not hasattr(package, name)]
    assert not missing


def test_one_version_everywhere():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.search(r"^version: (.+)$", citation, re.MULTILINE).group(1) == project["version"]
    assert importlib.import_module("convexhc").__version__ == project["version"]


LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def broken_links(text: str, folder: Path) -> list[str]:
    """Links of a Markdown text without a target file or heading; URLs are not checked."""
    # Inside code, brackets followed by parentheses are not links.
    prose = re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.DOTALL)
    targets = [t for t in LINK.findall(prose) if not re.match(r"[a-z]+:", t)]
    broken = []
    for target in targets:
        name, _, anchor = target.partition("#")
        file = folder / name if name else None
        if file is not None and not file.exists():
            broken.append(target)
        elif anchor:
            linked = text if file is None else file.read_text(encoding="utf-8")
            headings = re.findall(r"^#+ +(.+)$", linked, flags=re.MULTILINE)
            anchors = {
                re.sub(r"[^\w\- ]", "", h.lower()).strip().replace(" ", "-") for h in headings
            }
            if anchor not in anchors:
                broken.append(target)
    return broken


def documents() -> list[Path]:
    return sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def test_links_resolve():
    assert ROOT / "README.md" in documents()
    found = {
        document.relative_to(ROOT).as_posix(): broken
        for document in documents()
        if (broken := broken_links(document.read_text(encoding="utf-8"), document.parent))
    }
    assert not found


def test_a_broken_link_is_detected(tmp_path):
    (tmp_path / "other.md").write_text("# The other page\n", encoding="utf-8")
    good = "[a](other.md) [b](other.md#the-other-page) [c](mailto:a@b) `x[i](j)`\n"
    assert broken_links(good, tmp_path) == []
    bad = "# Here\n[a](gone.md) [b](other.md#gone) [c](#there) [d](#here)\n"
    assert broken_links(bad, tmp_path) == ["gone.md", "other.md#gone", "#there"]


def test_every_public_module_lists_its_names():
    package = importlib.import_module("convexhc")
    modules = [getattr(package, name) for name in package.__all__]
    modules = [module for module in modules if isinstance(module, type(package))]
    assert len(modules) >= 7
    for module in modules:
        # Constants, then classes, then functions, as the linter sorts them.
        order = sorted(set(module.__all__), key=lambda n: (not n.isupper(), n[0].islower(), n))
        assert module.__all__ == order, module.__name__
        assert all(hasattr(module, name) for name in module.__all__), module.__name__
