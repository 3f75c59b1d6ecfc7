"""Both versions of the passes that small problems leave to numpy."""

from __future__ import annotations

import pytest

from convexhc.kernels import compile


@pytest.fixture(params=["numpy", "compiled"], scope="module")
def version(request):
    """Laws hold for both versions: small matrices in numpy, and the same by compiled passes."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "compiled":
            patch.setattr(compile, "_FEW_ENTRIES", 0)
        yield request.param
