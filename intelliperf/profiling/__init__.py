"""Ranking and statistics over profiles."""
