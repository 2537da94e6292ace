"""How fast it is, beside what others take."""
