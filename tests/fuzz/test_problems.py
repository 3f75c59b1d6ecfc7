"""A small part of the search for problems that are neither solved nor refused."""

from __future__ import annotations

import pytest

pytest.importorskip("anndata")

# Cases of every family, of which the search tries more: single solves, and paths.
SINGLES, PATHS = 6, 1


@pytest.mark.parametrize("family", range(14))
def test_nasty_problems_are_solved_or_refused(family):
    from fuzz import problems

    name, outcomes = problems.FAMILIES[family].__name__, set()
    for number in range(SINGLES):
        outcomes.add(problems.single(f"{name}-21-{number}"))
    for number in range(PATHS):
        outcomes.add(problems.path(f"{name}-22-{number}"))
    # A status that says why is an answer, too.
    assert outcomes <= {problems.SOLVED, problems.REFUSED, "STAGNATED"}
