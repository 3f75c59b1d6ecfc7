"""Solvers: a method is ``init`` and ``step``; `loop.run` drives them all."""
