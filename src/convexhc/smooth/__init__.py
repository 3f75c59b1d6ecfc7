"""The smooth model (appendix D): closed form at every size, and its projected gradient method."""

from convexhc.smooth.diffusion import Columns
from convexhc.smooth.modes import Modes
from convexhc.smooth.path import SmoothPath, smooth_path
from convexhc.solvers.projected_gradient import ProjectedGradient

__all__ = ["Columns", "Modes", "ProjectedGradient", "SmoothPath", "smooth_path"]
