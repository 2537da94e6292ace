"""How many kernels of published packages the compile stage compiles."""
