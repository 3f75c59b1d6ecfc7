"""The smooth model (appendix D): closed form at every size, and its projected gradient method."""

from convexhc.solvers.smooth.diffusion import Columns
from convexhc.solvers.smooth.gradient import ProjectedGradient
from convexhc.solvers.smooth.modes import Modes
from convexhc.solvers.smooth.path import SmoothPath, smooth_path

__all__ = ["Columns", "Modes", "ProjectedGradient", "SmoothPath", "smooth_path"]
