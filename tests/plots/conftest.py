"""Figures are closed after each test, and nothing may be shown."""

from __future__ import annotations

import pytest
from matplotlib import pyplot as plt


@pytest.fixture(autouse=True)
def _closed_figures(monkeypatch):
    def shown(*args, **kwargs):
        raise AssertionError("a figure was shown")

    monkeypatch.setattr(plt, "show", shown)
    yield
    plt.close("all")
