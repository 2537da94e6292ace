"""Records the Triton launches that a command makes, and checks them from the record, without the command's code."""
