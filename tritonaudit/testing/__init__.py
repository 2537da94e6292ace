"""Subjects as tests of pytest."""
