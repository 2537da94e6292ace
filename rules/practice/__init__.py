"""Rules of the category practice."""
