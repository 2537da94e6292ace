"""What the rules on Triton's names find in published packages."""

CODES = frozenset({"TAC105", "TAC106"})
"""The rules on names, keywords and arguments that a release of Triton has or has not."""
