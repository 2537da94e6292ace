"""What is measured on real kernels, each by one command: see the docstring of each folder's `__main__.py`."""
