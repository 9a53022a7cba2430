"""Nightly runs over many programs: what changed is surveyed, searched and judged, and the history says what is new."""
