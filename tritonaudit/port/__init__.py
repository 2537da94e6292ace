"""Porting work: of the variants of an operation, the best of those that are right."""
