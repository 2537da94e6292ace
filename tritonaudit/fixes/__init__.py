"""Fixes of what rules find in kernels, one module for each kind of change."""
