"""How well policies of tolerance tell right kernels from wrong ones."""
