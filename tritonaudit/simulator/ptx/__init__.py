"""Executes PTX on the CPU: what a kernel makes of single elements, bit by bit as a GPU does."""
