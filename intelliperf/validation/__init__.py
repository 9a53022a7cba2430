"""Judging a candidate against the original."""
