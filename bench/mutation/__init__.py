"""Correct kernels, faults put into them, and who notices."""
