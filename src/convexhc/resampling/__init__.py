"""How sure each branch of a tree is: resample what was observed, and solve again.

``draws`` resamples edges, counts or columns; ``run`` solves the resamples; ``comparison`` compares
their trees and partitions with those of the whole; ``support`` is the result.
"""
