"""Rules of the category performance."""
