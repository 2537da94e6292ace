"""The code around kernels: one evaluator of wrappers, on symbols and on numbers."""
