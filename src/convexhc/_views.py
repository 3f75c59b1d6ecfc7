"""How a notebook shows a path: set by the package, since reports are made of paths."""

from collections.abc import Callable
from typing import Any

notebook_view: Callable[[Any], str] = repr
