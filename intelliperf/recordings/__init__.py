"""Recorded dispatches: what a kernel was given and what it left, in one file, made ready to be launched again."""
