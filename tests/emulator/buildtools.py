"""What the tests of other build tools need on this machine."""

from __future__ import annotations

import shutil

TOOLS = ("ninja", "meson", "ccache", "mpicxx")


def missing() -> str | None:
    absent = [tool for tool in TOOLS if shutil.which(tool) is None]
    return f"not installed: {', '.join(absent)}" if absent else None
