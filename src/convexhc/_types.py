"""The types of arrays that annotations name, and the size of temporary ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
# One integer per node; nodes of one cluster have the same.
Labels = NDArray[np.int64]

# Entries of a block of rows of what would be a large table: 32 MB of float64.
BLOCK_ENTRIES = 2**22
