"""The types of arrays that annotations name."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
# One integer per node; nodes of one cluster have the same.
Labels = NDArray[np.int64]
