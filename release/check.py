"""Is this checkout ready to be released? `make release-check` builds and tries it.

Versions and addresses agree between files, the workflows are YAML, sdist and wheel are built,
checked and small, and the wheel works in a clean environment without HOME, on every Python that is
found or named with --python. Leaves sdist and wheel in dist/.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
VERSION = PYPROJECT["project"]["version"]
REPOSITORY = PYPROJECT["project"]["urls"]["Repository"]
# Bytes; what a wheel of Python, JavaScript and one page of HTML should stay below.
MAX_WHEEL = 400_000
# First folder of every file that belongs into the wheel.
WHEEL_FOLDERS = {"convexhc", f"convexhc-{VERSION}.dist-info"}


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def only(pattern: str, name: str) -> str:
    """The one match of a pattern in a file."""
    found = re.findall(pattern, read(name), flags=re.MULTILINE)
    if len(found) != 1:
        raise SystemExit(f"{name}: {len(found)} matches of {pattern}, expected one")
    return found[0]


def disagreements() -> Iterator[str]:
    """Files with another version or another address of the repository than pyproject.toml."""
    versions = {
        "src/convexhc/version.py": only(r'^__version__ = "(.+)"$', "src/convexhc/version.py"),
        "CITATION.cff": only(r"^version: (.+)$", "CITATION.cff"),
        "release/recipe/meta.yaml": only(r'set version = "(.+)"', "release/recipe/meta.yaml"),
    }
    yield from (f"{n} has version {v}, not {VERSION}" for n, v in versions.items() if v != VERSION)
    if f"## [{VERSION}]" not in read("CHANGELOG.md"):
        yield f"CHANGELOG.md has no section of version {VERSION}"
    for name in ("pyproject.toml", "CITATION.cff", "release/recipe/meta.yaml"):
        for address in re.findall(r"https://github\.com/[\w-]+/[\w-]+", read(name)):
            if address != REPOSITORY:
                yield f"{name} has the address {address}, not {REPOSITORY}"


def unreadable_yaml() -> Iterator[str]:
    files = [*(ROOT / ".github").rglob("*.yml"), ROOT / "CITATION.cff"]
    for file in files:
        try:
            yaml.safe_load(file.read_text(encoding="utf-8"))
        except yaml.YAMLError as error:
            yield f"{file.relative_to(ROOT)}: {error}"


def build() -> tuple[Path, Path]:
    """Build the sdist, and the wheel from the sdist."""
    shutil.rmtree(DIST, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "build", "--outdir", DIST, ROOT], check=True)
    (sdist,), (wheel,) = DIST.glob("*.tar.gz"), DIST.glob("*.whl")
    subprocess.run([sys.executable, "-m", "twine", "check", "--strict", sdist, wheel], check=True)
    return sdist, wheel


def faults_of_wheel(wheel: Path) -> Iterator[str]:
    size = wheel.stat().st_size
    print(f"{wheel.name}: {size / 1000:.0f} kB")
    if size > MAX_WHEEL:
        yield f"the wheel has {size} bytes, more than {MAX_WHEEL}"
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (metadata,) = (name for name in names if name.endswith("/METADATA"))
        description = archive.read(metadata).decode("utf-8")
    yield from (f"{n} is in the wheel" for n in names if n.split("/")[0] not in WHEEL_FOLDERS)
    if "convexhc/py.typed" not in names:
        yield "py.typed is missing in the wheel"
    # Outside the repository a relative link leads nowhere, and a picture is not shown.
    for target in re.findall(r"\]\((?!https://|#)([^)]+)\)", description):
        yield f"the description has the relative link {target}"


def pythons(named: list[str]) -> list[str]:
    """Interpreters to try: those named, or this one and every python3.x that is found."""
    if named:
        return named
    supported = [f"python3.{minor}" for minor in range(11, 15)]
    this = f"python3.{sys.version_info.minor}"
    return [sys.executable, *(p for p in supported if p != this and shutil.which(p))]


def try_wheel(python: str, wheel: Path) -> bool:
    """Install the wheel into a fresh environment without HOME; run the smoke test twice."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        outside = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "NUMBA_"))}
        outside.pop("HOME", None)
        inside = folder / "env" / "bin" / "python"
        steps = [
            [python, "-m", "venv", folder / "env"],
            [inside, "-m", "pip", "install", "--quiet", "--no-cache-dir", wheel],
            # Once with kernels to compile, and once with compiled kernels.
            [inside, ROOT / "release" / "smoke.py"],
            [inside, ROOT / "release" / "smoke.py"],
            [folder / "env" / "bin" / "convexhc", "--version"],
        ]
        for step in steps:
            if subprocess.run(step, cwd=folder, env=outside).returncode:
                print(f"{python}: failed: {' '.join(map(str, step))}")
                return False
    return True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", nargs="+", default=[], help="interpreters to try")
    options = parser.parse_args()
    faults = [*disagreements(), *unreadable_yaml()]
    if not faults:
        _, wheel = build()
        faults += faults_of_wheel(wheel)
        tried = pythons(options.python)
        faults += [f"the wheel fails on {p}" for p in tried if not try_wheel(p, wheel)]
    sys.exit("\n".join(faults) or None)


if __name__ == "__main__":
    main()
