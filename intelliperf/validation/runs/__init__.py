"""Runs under interception, side by side: processes, their memory, and which of it belongs together."""
