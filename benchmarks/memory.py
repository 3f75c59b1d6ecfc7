"""Peak memory of this process."""

from __future__ import annotations

import resource
from pathlib import Path


def peak_megabytes() -> float:
    """Largest resident size so far.

    On Linux `getrusage` hands the peak of a parent on to its children, so that the record of the
    address space is read instead.
    """
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024.0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0
