"""Events of a run as lines for people."""

from __future__ import annotations

from typing import Any

from intelliperf.report.wording import command_line


def describe(event: dict[str, Any], verbose: bool) -> str:
    """One line for a person, or nothing."""
    name = event["event"]
    if name == "stage":
        return _stage_line(event, verbose)
    if name == "progress":
        return f"  {event['text']}" if verbose else ""
    if name == "note":
        return str(event["text"])
    if name == "finding":
        return f"finding: {event['sentence']}" if event["sentence"] else "finding: none"
    if name == "attempt":
        # Of a patch that was given, the report begins with the reason.
        reason = "" if event.get("given") else f": {event['detail']}"
        return f"attempt {event['index']} ({event['origin']}): {event['outcome']}{reason}"
    return ""


def _stage_line(event: dict[str, Any], verbose: bool) -> str:
    if event["state"] == "end":
        return f"{event['stage']}: {event['seconds']:.1f} s" if verbose else ""
    if event["stage"] == "build":
        commands = "; ".join(command_line(command) for command in event.get("commands", []))
        return f"build: {commands or 'nothing to build: kernels are compiled as the program runs'}"
    suffix = f" {event['attempt']}" if "attempt" in event else ""
    return f"{event['stage']}{suffix}"
