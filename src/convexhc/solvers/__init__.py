"""Solvers: a method defines ``init`` and ``step``; `loop.run` iterates them."""
