"""Drop-in programs: tiny scripts that call this installation's driver with this very interpreter.

They are written into the cache, named after the installation, so that they work from any virtual
environment and with any PATH; `bin/` is what PATH gets, the rest is what build systems look for
beside it (`include/`, `lib/`, CMake packages).
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shlex
import sys
from pathlib import Path

from intelliperf.devices.models import DEFAULT_TARGETS, device_file_text, target_names
from intelliperf.dropins.headers import header_directories
from intelliperf.dropins.toolchain import include_directory, write_atomically
from intelliperf.emulator.shims.packages import library_links, package_files
from intelliperf.emulator.shims.programs import script_programs
from intelliperf.emulator.shims.redirect import DROP_INS_VARIABLE
from intelliperf.errors import StorageFull

COMPILERS = {
    "hipcc": "hipcc",
    "hipcc.bin": "hipcc",
    "nvcc": "nvcc",
    "intelliperf-link": "hipcc",  # CMake's CUDA language links through the host linker that nvcc names
    "clang++": "clang++",
    "amdclang++": "clang++",
    "clang": "clang",
    "amdclang": "clang",
    "intelliperf-rtc": "rtc",  # the runtime's, for NVRTC and hipRTC
}
_PACKAGE_ROOT = Path(__file__).resolve().parents[3]


def materialise(root: Path) -> Path:
    """Write the drop-ins below `root` unless they are there already; returns their `bin` directory."""
    from intelliperf.emulator.native import runtime_library  # builds it on first use

    files = _files()
    links = {**_header_links(), **library_links(str(runtime_library()))}
    content = repr((sorted(files.items()), sorted(links.items())))
    home = root / hashlib.sha256(content.encode()).hexdigest()[:12]
    if not (home / "complete").exists():
        for name, text in files.items():
            path = home / name
            write_atomically(path, text.encode())
            path.chmod(0o755 if path.parent.name == "bin" else 0o644)
        for link, target in links.items():
            _link(home / link, target)
        write_atomically(home / "complete", b"")
    _name_installation(Path(runtime_library()).parent / "installation", home)
    return home / "bin"


def _name_installation(beside: Path, home: Path) -> None:
    """Leads the runtime library to its compiler in runs that nobody prepared; ours name it in the environment."""
    text = f"{home}\n".encode()
    with contextlib.suppress(OSError, StorageFull):  # in a package that cannot be written
        if not beside.is_file() or beside.read_bytes() != text:
            write_atomically(beside, text)


def _header_links() -> dict[str, str]:
    """Links below `include/`: our headers, and the folders of the libraries that are found, as a toolkit has them.

    Where CUDA and HIP have folders of the same name it is CUDA's: GPU sources do not look here.
    """
    places = [*header_directories("hip"), *header_directories("cuda"), include_directory()]
    return {f"include/{entry.name}": str(entry) for place in places for entry in sorted(place.iterdir())}


def _link(link: Path, target: str) -> None:
    link.parent.mkdir(parents=True, exist_ok=True)
    staged = link.with_name(f".{link.name}.{os.getpid()}")
    staged.symlink_to(target)
    staged.replace(link)


def _files() -> dict[str, str]:
    files = {f"bin/{name}": _compiler_script(flavour) for name, flavour in COMPILERS.items()}
    files.update({f"bin/{name}": text for name, text in script_programs().items()})
    files.update(package_files())
    files.update({f"devices/{name}": device_file_text(name) for name in target_names()})
    files.update({f"devices/{language}": device_file_text(target) for language, target in DEFAULT_TARGETS.items()})
    return files


def _compiler_script(flavour: str) -> str:
    """-I keeps the user's PYTHON* variables and current directory out of the search path."""
    python, package = shlex.quote(sys.executable), str(_PACKAGE_ROOT)
    code = (
        "import sys; "
        f"sys.path[:0] = [] if any(p == {package!r} for p in sys.path) else [{package!r}]; "
        "from intelliperf.emulator.driver import main; sys.exit(main())"
    )
    # A compiler below /opt/rocm that the toolchain itself may be is not to lead back here.
    itself = f"unset {DROP_INS_VARIABLE}\n"
    here = 'INTELLIPERF_SHIM_BIN=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd) || exit 1\nexport INTELLIPERF_SHIM_BIN\n'
    return f'#!/bin/sh\n{itself}{here}exec {python} -I -c {shlex.quote(code)} {flavour} "$@"\n'
