"""Launches executed on the CPU: their Triton IR, for all programs at once, with the faults that a GPU would hide."""
