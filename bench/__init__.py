"""What is measured on real kernels: accuracy, speed and robustness, each by one command."""
