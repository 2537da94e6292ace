"""How many kernel files of published packages can be imported."""
