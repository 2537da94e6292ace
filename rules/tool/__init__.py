"""Rules of the tool itself."""
