"""The compile cache: an object is reused if the command and every file that was read are unchanged.

An entry's manifest lists the files that both front ends read, with their content hashes; looking
it up costs no preprocessing. Entries are written atomically; concurrent builds may share them.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import time
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import Any

from intelliperf.dropins.frontend import Unit
from intelliperf.dropins.toolchain import Toolchain, store_output, write_atomically
from intelliperf.emulator.compiler.device import facts_wanted, shadows_wanted
from intelliperf.emulator.compiler.machinecode import machine_code_wanted
from intelliperf.emulator.compiler.unit import Compiled, compile_unit
from intelliperf.processes.storage import cache_directory

_FORMAT = 1
_LIMIT_BYTES = 2 * 1024**3
_LOOKED_EVERY_S = 60.0
_EMULATOR = Path(__file__).resolve().parents[1]
_DROP_INS = _EMULATOR.parent / "dropins"


def compile_cached(unit: Unit, output: Path, toolchain: Toolchain) -> Compiled:
    """As `compile_unit`, from the cache if nothing has changed. `INTELLIPERF_NO_CACHE=1` compiles anew."""
    if os.environ.get("INTELLIPERF_NO_CACHE"):
        return compile_unit(unit, output, toolchain)
    directory = cache_directory() / "units"
    key = _key(unit, toolchain)
    manifest, kept = directory / f"{key}.json", directory / f"{key}.o"
    found = _valid(manifest, kept, unit.directory)
    if found is not None:
        store_output(output, kept.read_bytes())
        return found
    compiled = compile_unit(unit, output, toolchain)
    _keep(manifest, kept, unit, output, compiled)
    return compiled


def _key(unit: Unit, toolchain: Toolchain) -> str:
    what = {**asdict(unit), "source": str(unit.source), "directory": str(unit.directory)}
    text = json.dumps([_FORMAT, what, *kept_state(toolchain)], sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:32]


def kept_state(toolchain: Toolchain) -> list[object]:
    """What decides besides source and flags how device code is compiled."""
    return [toolchain.identity, _own_code(), shadows_wanted(), facts_wanted(), machine_code_wanted()]


@lru_cache(maxsize=1)
def _own_code() -> str:
    """A hash over the modules that make the object: a new version of them invalidates old objects."""
    digest = hashlib.sha256()
    for folder in (_EMULATOR / "ir", _EMULATOR / "ir" / "shadow", _EMULATOR / "compiler", _DROP_INS):
        for path in sorted(folder.glob("*.py")):
            digest.update(path.read_bytes())
    for name in ("container.py", "isa.py"):
        digest.update((_EMULATOR / name).read_bytes())
    return digest.hexdigest()


@lru_cache(maxsize=4096)
def file_hash(path: str) -> str | None:
    try:
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()
    except OSError:
        return None


def _valid(manifest: Path, kept: Path, directory: Path) -> Compiled | None:
    try:
        entry: dict[str, Any] = json.loads(manifest.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if not kept.exists() or any(file_hash(str(directory / file)) != digest for file, digest in entry["files"].items()):
        return None
    with contextlib.suppress(OSError):
        os.utime(kept)
    made = entry["compiled"]
    return Compiled(
        warnings=made["warnings"],
        dependencies=tuple(made["dependencies"]),
        device_dependencies=tuple(made["device_dependencies"]),
        system_directories=tuple(made["system_directories"]),
    )


def _keep(manifest: Path, kept: Path, unit: Unit, output: Path, compiled: Compiled) -> None:
    files = dict.fromkeys((*compiled.dependencies, *compiled.device_dependencies, str(unit.source)))
    hashes = {file: file_hash(str(unit.directory / file)) for file in files}
    if None in hashes.values():
        return  # a file vanished during the compilation: nothing that could be checked later
    _make_room(kept.parent)
    write_atomically(kept, output.read_bytes())
    write_atomically(manifest, json.dumps({"files": hashes, "compiled": asdict(compiled)}).encode())


def _make_room(directory: Path) -> None:
    """Drop the entries that were used longest ago once the cache is larger than its limit.

    Looking at thousands of entries takes longer than some compilations, so that it is not done for each of them.
    """
    if not directory.exists():
        return
    looked = directory / ".looked"
    with contextlib.suppress(FileNotFoundError):
        if 0 <= time.time() - looked.stat().st_mtime < _LOOKED_EVERY_S:
            return
    looked.touch()
    entries = []
    for path in directory.glob("*.o"):
        with contextlib.suppress(FileNotFoundError):
            entries.append((path.stat().st_mtime, path.stat().st_size, path))
    total = sum(size for _, size, _ in entries)
    for _, size, path in sorted(entries):
        if total <= _LIMIT_BYTES:
            return
        total -= size
        for victim in (path, path.with_suffix(".json")):
            with contextlib.suppress(FileNotFoundError):
                victim.unlink()
