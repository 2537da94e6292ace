"""How fast the CPU engine is beside others that run Triton's kernels without a GPU."""
