"""The smooth model (appendix D): closed form, modes, clusters."""

from convexhc.smooth.model import SmoothModel

__all__ = ["SmoothModel"]
