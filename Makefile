# One road of commands. Everything is installed into .venv, inside the checkout.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Two test workers, each on one thread: more would only wait for each other.
WORKERS ?= 2
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 NUMBA_NUM_THREADS=1

.DEFAULT_GOAL := help
.PHONY: help demo test check bench compare docs screenshots clean browser large quality paper mutants fuzz \
	release-check

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/demo.stamp ## cluster a graph whose groups are known, end to end
	$(BIN)/convexhc demo

test: $(VENV)/dev.stamp browser ## every test, and every example in the documentation
	$(ONE_THREAD) $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile

check: $(VENV)/dev.stamp ## format, lint and types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

mutants: $(VENV)/dev.stamp ## break the certificate, line by line, and see that a test notices
	$(ONE_THREAD) $(BIN)/python tests/mutants.py $(MUTANTS)

fuzz: $(VENV)/dev.stamp ## damaged files, killed fits, nasty problems, poisoned cohorts (FUZZ='--seconds 3600 --seed 1')
	$(ONE_THREAD) $(BIN)/python tests/fuzz/files.py $(FUZZ)
	$(ONE_THREAD) $(BIN)/python tests/fuzz/kills.py
	$(ONE_THREAD) PYTHONPATH=tests $(BIN)/python -m fuzz.problems
	$(ONE_THREAD) PYTHONPATH=tests $(BIN)/python -m fuzz.cohort

bench: $(VENV)/dev.stamp ## time solvers, paths, points, features, cohorts, support and the smooth model, side by side
	$(BIN)/python benchmarks/first_use.py
	$(BIN)/python benchmarks/run.py
	$(BIN)/python benchmarks/paths.py
	$(BIN)/python benchmarks/points.py --sizes 1000 5000
	$(BIN)/python benchmarks/features.py --nodes 1000 5000 --agreement 300
	$(BIN)/python benchmarks/fit_cost.py
	$(BIN)/python benchmarks/cohort.py
	$(BIN)/python benchmarks/support.py
	$(BIN)/python benchmarks/smooth.py --nodes 10000 100000

compare: $(VENV)/dev.stamp ## CPU time beside that of another checkout: make compare BASE=../other/src
	$(BIN)/python benchmarks/side_by_side.py --base $(BASE) $(COMPARE)

quality: $(VENV)/dev.stamp ## clusters against known groups, beside other methods (minutes: QUALITY=--quick)
	$(BIN)/python -m experiments quality $(QUALITY)

paper: $(VENV)/dev.stamp ## the claims of the paper, rerun (hours: PAPER=--quick; data: PAPER='--data DIR')
	for claim in synthetic algorithms connectomes khan robustness; do \
		$(BIN)/python -m experiments $$claim $(PAPER) || exit 1; \
	done

large: $(VENV)/dev.stamp ## the same at larger sizes
	$(BIN)/python benchmarks/paths.py --no-fractal --whole 1000 2000 --coarse 5000 10000
	$(BIN)/python benchmarks/points.py --sizes 20000
	$(BIN)/python benchmarks/features.py --nodes 20000 100000 --agreement 300 500 --leaves 1000
	$(BIN)/python benchmarks/features.py --nodes 100000 --max-clusters 100
	$(BIN)/python benchmarks/smooth.py --nodes 1000000

docs: $(VENV)/docs.stamp ## the documentation site, in build/site, and the code in the documents
	$(ONE_THREAD) $(BIN)/python -m pytest README.md CONTRIBUTING.md docs tests/test_architecture.py::test_links_resolve
	$(ONE_THREAD) $(BIN)/sphinx-build -q -n -W --keep-going -d build/doctrees docs build/site
	@echo "open build/site/index.html"

release-check: $(VENV)/release.stamp ## sdist and wheel, tried in clean environments
	$(BIN)/python release/check.py $(RELEASE)

screenshots: $(VENV)/dev.stamp browser ## the pictures of the README
	$(BIN)/python docs/screenshots/take.py

clean: ## back to a fresh clone: no .venv, no caches, no builds
	rm -rf $(VENV) .cache .hypothesis build dist docs/_live docs/gallery docs/reference
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("convexhc needs Python 3.11 or newer, and $(PYTHON) is " + sys.version.split()[0] + "; name another: make PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)

# A stamp is older than pyproject.toml once that changes, so its packages are installed anew.
$(VENV)/demo.stamp: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[plots,graphs]'
	@touch $@

$(VENV)/dev.stamp: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[test,check]'
	@touch $@ $(VENV)/demo.stamp

$(VENV)/docs.stamp: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[docs]'
	@touch $@ $(VENV)/demo.stamp

$(VENV)/release.stamp: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet 'build>=1.2' 'pyyaml>=6' 'twine>=6.1'
	@touch $@

# The tests of the report drive Chromium. Debian's is installed where make runs as root; elsewhere
# they are skipped, and say what is missing.
APT := DEBIAN_FRONTEND=noninteractive apt-get -qq -o Acquire::Retries=1 -o DPkg::Lock::Timeout=120
browser:
	@if command -v chromedriver >/dev/null; then exit 0; fi; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null \
	    && $(APT) update && $(APT) install --yes --no-install-recommends chromium chromium-driver >/dev/null; \
	then exit 0; fi; \
	echo "no Chromium with its chromedriver, and none could be installed: tests in a browser are skipped"
