"""Native code keeps to the rooms that it may know, which no contract over Python's imports can see."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "intelliperf"
# Folder → our folders whose headers its sources may include, besides its own.
MAY_INCLUDE = {
    "counting/native": (),
    "interception/protocol": (),
    "interception/native": ("interception/protocol",),
    "emulator/machine": (),
    "emulator/runtime": ("emulator/machine", "interception/protocol", "counting/native", "dropins/include"),
    "cuda/native": ("interception/native", "interception/protocol"),
    "python/native": (),
    "rocm/native": ("interception/native", "interception/protocol"),
    "rocm/counting": ("counting/native", "rocm/native"),
    "rocm/plugin": ("rocm/native",),
}
_INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
_SOURCES = (".cpp", ".h", ".cu", ".c")


def native_folders() -> list[str]:
    """Every folder of our native sources; the headers for applications are a world of their own."""
    found = {path.parent for path in PACKAGE.rglob("*.cpp")}
    named = (path.relative_to(PACKAGE).as_posix() for path in found)
    return sorted(name for name in named if not name.startswith(("dropins/include", "emulator/shims")))


def test_every_folder_of_native_code_says_what_it_may_include() -> None:
    assert native_folders() == sorted(MAY_INCLUDE)


@pytest.mark.parametrize("folder", sorted(MAY_INCLUDE))
def test_native_code_includes_only_what_its_folder_may(folder: str) -> None:
    own = PACKAGE / folder
    allowed = (own, *(PACKAGE / other for other in MAY_INCLUDE[folder]))
    ours = {path.name for path in PACKAGE.rglob("*.h")}
    for source in sorted(path for path in own.iterdir() if path.suffix in _SOURCES):
        for name in _INCLUDE.findall(source.read_text(encoding="utf-8")):
            assert ".." not in Path(name).parts, f"{source}: {name}"
            if Path(name).name in ours:
                assert any((place / name).is_file() for place in allowed), f"{source}: {name}"
