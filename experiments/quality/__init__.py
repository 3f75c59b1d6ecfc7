"""How good the clusters are where the groups are known: ``python -m experiments.quality``."""
