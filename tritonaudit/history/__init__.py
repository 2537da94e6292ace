"""Audits that were kept, each in a file, and what they say side by side. Imports neither torch nor triton."""
