"""`intelliperf mcp`: the server, where its extra is installed."""

from __future__ import annotations

from pathlib import Path

from intelliperf.errors import BackendUnavailable, UsageError


def serve_tools(root: Path) -> int:
    """Until the client goes."""
    try:
        from intelliperf.mcp.server import serve
    except ModuleNotFoundError as error:
        raise BackendUnavailable(f"{error}: pip install 'intelliperf[mcp]'") from error
    if not root.is_dir():
        raise UsageError(f"--root {root}: no such directory")
    serve(root)
    return 0
