"""The tests of the natives with every warning an error and with traps on undefined behaviour; `make sanitize`.

The runtime, the tools libraries and the compiler drop-ins are built from a copy of the tree whose flags have more in
them. A trap ends the process with SIGILL, and so the test. Lanes switch stacks by hand and share one arena, which
AddressSanitizer does not follow; bounds are tested by the arena's own guards.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys

from treecopy import ROOT, copy_tree

COPY = ROOT / "build" / "sanitized"
PLACES = (
    "intelliperf/emulator/native.py",
    "intelliperf/emulator/shims/redirect.py",
    "intelliperf/interception/building.py",
    "intelliperf/rocm/recording.py",
)
# What every g++ and clang takes. `function` compares types that a launch through the runtime's table cannot have.
MORE = ("-Werror", "-fsanitize=undefined", "-fsanitize-undefined-trap-on-error")
TESTS = (
    "tests/emulator/test_semantics.py",
    "tests/emulator/test_device_runtime.py",
    "tests/emulator/test_host_calls.py",
    "tests/emulator/test_machine_executor.py",
    "tests/emulator/test_shadow_formats.py",
    "tests/emulator/test_validation_order.py",
    "tests/contract",
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tests", nargs="*", default=TESTS)
    asked = parser.parse_args()
    copy_tree(COPY)
    for place in PLACES:
        path = COPY / place
        changed, count = re.subn(
            r'"-Wall",', ", ".join(f'"{flag}"' for flag in ("-Wall", *MORE)) + ",", path.read_text()
        )
        if count != 1:
            raise RuntimeError(f"{place}: {count} lists of flags with -Wall, not one")
        path.write_text(changed)
    command = [sys.executable, "-m", "pytest", "-q", "-n", "auto", "--dist", "loadfile", *asked.tests]
    return subprocess.run(command, cwd=COPY, env={**os.environ, "PYTHONPATH": str(COPY)}).returncode


if __name__ == "__main__":
    sys.exit(main())
