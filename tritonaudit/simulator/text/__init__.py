"""The pieces of TTIR's printed form: tokens, types, attributes, locations and operations."""
