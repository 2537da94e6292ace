"""How long the compile stage takes."""
