"""What a path shows and computes by modules that are made of paths: set by the package."""

from collections.abc import Callable
from typing import Any

notebook_view: Callable[[Any], str] = repr
# The support of a path, given its settings.
path_support: Callable[..., Any]
