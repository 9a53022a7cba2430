"""Rewrites that are provably right, one file per rewrite; `RULES` in rulebook.py lists them."""
