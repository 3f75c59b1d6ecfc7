"""A problem with a known solution, and a method that converges to it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from convexhc.graph import Graph
from convexhc.model.problem import FusionProblem, points_problem
from convexhc.solvers.loop import Candidate


def shrinking_pair(lam=0.25):
    """Two points a unit apart: the minimiser and its dual are known."""
    X = np.array([[0.0], [1.0]])
    problem = points_problem(X, Graph.from_edges(2, [0], [1]), lam)
    best = np.array([[lam], [1.0 - lam]])
    return problem, best, np.array([[-lam]])


@dataclass
class Scripted:
    """A method that halves its distance to the solution and counts its calls."""

    best: np.ndarray
    dual: np.ndarray
    labels: np.ndarray = field(default_factory=lambda: np.arange(2))
    name: str = "scripted"
    needs: ClassVar = FusionProblem
    stepped: int = 0
    offered: int = 0
    started: object = None

    def init(self, problem, start):
        self.started = start
        return {"C": problem.fidelity.target.copy(), "Y": np.zeros((1, 1)), "labels": self.labels}

    def step(self, problem, state):
        self.stepped += 1
        state["C"] = 0.5 * (state["C"] + self.best)
        state["Y"][:] = 0.5 * (state["Y"] + self.dual)

    def candidate(self, problem, state):
        self.offered += 1
        return Candidate(state["C"], state["Y"], state["labels"])
