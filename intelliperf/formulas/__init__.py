"""Bottleneck classes: how each is detected, located, explained and accepted."""
