"""Provenance of a result: version, options and data, to tell whether a rerun would agree."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from convexhc.graph import Graph
from convexhc.version import __version__


@dataclass(frozen=True)
class Provenance:
    """Version, options, fingerprint of the data, and a digest of the three."""

    version: str
    options: Mapping[str, Any]
    data: str
    digest: str

    @classmethod
    def of(cls, options: Mapping[str, Any], data: str) -> Provenance:
        """Provenance of a run by this version."""
        text = json.dumps([__version__, dict(options), data], sort_keys=True)
        return cls(__version__, dict(options), data, hashlib.sha256(text.encode()).hexdigest())

    def to_text(self) -> dict[str, Any]:
        """As a JSON-serialisable dictionary."""
        return asdict(self)

    @classmethod
    def from_text(cls, text: Mapping[str, Any]) -> Provenance:
        """Inverse of `to_text`; ignores other keys."""
        if not isinstance(text["options"], dict):
            raise ValueError("its options are not named")
        return cls(text["version"], text["options"], text["data"], text["digest"])


def fingerprint(*graphs: Graph) -> str:
    """Digest of the entries of graphs: the similarity and the edge weights."""
    return digest_of(*(part for g in graphs for part in (g.tail, g.head, g.weight, g.diagonal)))


def digest_of(*arrays: NDArray[Any]) -> str:
    """Digest of the entries of arrays, in this order."""
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
