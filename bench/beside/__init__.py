"""tritonaudit beside simpler checkers, on bugs that were fixed and on published packages."""
