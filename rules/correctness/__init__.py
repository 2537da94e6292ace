"""Rules of the category correctness."""
