"""How many of the findings on real kernels are true."""
