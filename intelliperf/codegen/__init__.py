"""Rewriters: rules, models and replays that propose candidates."""
