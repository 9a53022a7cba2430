"""Whether Ray is here."""

from __future__ import annotations

import importlib.util


def missing() -> str | None:
    return None if importlib.util.find_spec("ray") is not None else "needs Ray (pip install 'intelliperf[ray]')"
