"""What other tools that need no GPU say of the same kernels."""
