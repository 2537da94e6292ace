"""What it does with files that nobody wrote for it."""
