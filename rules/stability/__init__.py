"""Rules of the category stability."""
