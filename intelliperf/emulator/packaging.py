"""Hatchling's hook: a wheel brings the emulator's runtime library built, so that nobody waits for it at first use.

Built with the machine's own C++ library, the wheel is for this machine. With `INTELLIPERF_PORTABLE_WHEEL=1`, as for a
release, zig's compiler and its C++ library make one that runs wherever glibc 2.31 or newer is.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PROCESSORS = ("x86-64", "x86-64-v3")  # what `dropins.toolchain.host_processor` answers


class ShippedRuntime(BuildHookInterface):  # type: ignore[type-arg]
    """Adds `emulator/shipped/` to wheels; an editable installation builds at first use, as its sources change."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable" or self.target_name != "wheel":
            return
        portable = os.environ.get("INTELLIPERF_PORTABLE_WHEEL") == "1"
        if portable:
            os.environ["INTELLIPERF_STANDARD_LIBRARY"] = "libc++"
        sys.path.insert(0, self.root)
        from intelliperf.emulator.native import build_shipped

        for made in build_shipped(PROCESSORS):
            build_data["artifacts"].append(f"/{made.relative_to(Path(self.root)).as_posix()}")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{'manylinux_2_31' if portable else 'linux'}_x86_64"
