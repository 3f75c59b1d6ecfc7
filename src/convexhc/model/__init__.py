"""Fidelity, penalty and constraint; the problems they form, and their certificates."""
