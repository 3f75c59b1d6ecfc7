"""Compiled kernels: arrays in, arrays out. The only room that uses numba."""
