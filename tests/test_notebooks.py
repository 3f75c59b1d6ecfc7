"""Every notebook runs from top to bottom, and is stored without outputs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).resolve().parents[1] / "docs" / "notebooks").glob("*.ipynb"))


def code_cells(notebook: Path) -> list[dict]:
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]


@pytest.fixture(params=NOTEBOOKS, ids=lambda notebook: notebook.stem)
def notebook(request):
    return request.param


@pytest.fixture
def run(monkeypatch):
    """Run the code of a notebook; return its variables."""
    from matplotlib import pyplot as plt

    monkeypatch.setattr(plt, "show", lambda: None)

    def run_one(name):
        variables: dict = {}
        for cell in code_cells(next(n for n in NOTEBOOKS if n.stem == name)):
            exec("".join(cell["source"]), variables)
        return variables

    yield run_one
    plt.close("all")


def test_a_notebook_is_stored_without_outputs(notebook):
    for cell in code_cells(notebook):
        assert cell["outputs"] == []
        assert cell["execution_count"] is None


def test_the_network_has_six_confident_clusters(run):
    variables = run("network")
    assert variables["path"].suggestion.n_clusters == 6
    assert variables["path"].suggestion.confident


def test_two_scans_of_a_subject_are_more_alike_than_those_of_others(run):
    variables = run("connectomes")
    distance, subjects = variables["distance"], variables["subjects"]
    assert variables["metrics"].discriminability(distance, subjects) > 0.7


def test_cells_are_clustered_by_their_type_and_the_t_cells_stay_together(run):
    obs = run("single_cells")["cells"].obs
    assert obs.groupby("type", observed=True)["convexhc"].nunique().eq(1).all()
    assert obs["convexhc"].nunique() == 3
    t_cells = obs["type"].str.startswith("T")
    assert obs["coarse"][t_cells].nunique() == 1
    assert set(obs["coarse"][t_cells]).isdisjoint(obs["coarse"][~t_cells])


def test_every_notebook_is_tested():
    tested = Path(__file__).read_text(encoding="utf-8")
    assert NOTEBOOKS
    for notebook in NOTEBOOKS:
        assert f'run("{notebook.stem}")' in tested
