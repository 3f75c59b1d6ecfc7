"""Experiments beside the package: what its defaults rest on."""
