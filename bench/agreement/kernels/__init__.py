"""Kernels of the kinds that are written every day, each with its wrapper."""
