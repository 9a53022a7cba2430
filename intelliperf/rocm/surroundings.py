"""What is wrong with a machine, an environment or a binary before anything runs: one line and the remedy each.

Paths of the system are parameters, so that each case can be tried where it does not exist.
"""

from __future__ import annotations

import grp
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_HIDING = ("ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL", "CUDA_VISIBLE_DEVICES")
_CONTAINER_MARKS = (".dockerenv", "run/.containerenv", "run/systemd/container", ".singularity.d")
_RUNTIMES = ("libamdhip64.so*", "libhsa-runtime64.so*")
_VERSION = re.compile(r"(\d+)\.(\d+)")


@dataclass(frozen=True)
class System:
    """Where the kernel tells of GPUs; another root for a test."""

    root: Path = Path("/")

    @property
    def driver(self) -> Path:
        return self.root / "dev" / "kfd"

    @property
    def in_container(self) -> bool:
        return any((self.root / mark).exists() for mark in _CONTAINER_MARKS)

    @property
    def module_loaded(self) -> bool:
        return (self.root / "sys" / "module" / "amdgpu").exists()

    def render_nodes(self) -> list[Path]:
        return sorted((self.root / "dev" / "dri").glob("renderD*"))

    def gpus(self) -> int | None:
        """That the driver shows, whatever the environment hides; None where there is no driver."""
        nodes = self.root / "sys" / "class" / "kfd" / "kfd" / "topology" / "nodes"
        if not nodes.is_dir():
            return None
        return sum(bool(_property(node / "properties", "simd_count")) for node in nodes.iterdir())


def _property(file: Path, name: str) -> int:
    try:
        lines = file.read_text("ascii", "replace").splitlines()
    except OSError:
        return 0
    return next((int(words[1]) for line in lines if (words := line.split())[:1] == [name]), 0)


def driver_problem(system: System = System()) -> str:
    """Why ROCr finds no driver, with the remedy; "" where it can be opened."""
    driver = system.driver
    if not driver.exists():
        if system.in_container:
            return (
                "this container has no /dev/kfd: start it with --device /dev/kfd --device /dev/dri --group-add render"
            )
        if system.module_loaded:
            return "amdgpu is loaded without compute support (no /dev/kfd): install amdgpu-dkms of ROCm and reboot"
        return "no AMD kernel driver (no /dev/kfd): install amdgpu-dkms or load it with sudo modprobe amdgpu"
    closed = [place for place in (driver, *system.render_nodes()[:1]) if not os.access(place, os.R_OK | os.W_OK)]
    if not closed:
        return ""
    names = list(dict.fromkeys(_group(place) for place in closed))
    told = f"{' and '.join(map(str, closed))} {'is' if len(closed) == 1 else 'are'} closed to you"
    if system.in_container:
        numbers = dict.fromkeys(place.stat().st_gid for place in closed)
        how = " ".join(f"--group-add {number}" for number in numbers)
        return f"{told} in this container: start it with {how} ({', '.join(names)})"
    return f"{told}: sudo usermod -a -G {','.join(names)} $USER, then log in again"


def _group(place: Path) -> str:
    number = place.stat().st_gid
    try:
        return grp.getgrgid(number).gr_name
    except KeyError:
        return str(number)


def hidden_gpus(environment: Mapping[str, str], visible: int, there: int | None) -> str:
    """Which variable hides GPUs; "" where none does. `there`: how many there are, None where that is not known."""
    set_here = [f"{name}={environment[name]}" for name in _HIDING if name in environment]
    if not set_here or (there is not None and visible >= there):
        return ""
    count = f"{visible} of {there} GPUs" if there is not None else f"{visible} GPUs"
    if not visible:
        return f"{count} visible with {' '.join(set_here)}: unset it, or name the GPU that the program shall use"
    return f"{count} visible with {' '.join(set_here)}: the program runs there; unset it to show all"


def mixed_releases(parts: Sequence[Path], environment: Mapping[str, str]) -> str:
    """Of `parts`, files that a run uses, and of the libraries that are found first, those of another release of ROCm.

    "" where they are not known to differ.
    """
    found = {place: _release(place.resolve()) for place in parts}
    for entry in environment.get("LD_LIBRARY_PATH", "").split(os.pathsep):
        place = Path(entry)
        if entry and any(library for pattern in _RUNTIMES for library in place.glob(pattern)):
            found[place] = _release(place.resolve())
    by_release: dict[tuple[int, int], Path] = {}
    for place, release in found.items():
        if release is not None:
            by_release.setdefault(release, place)
    if len(by_release) < 2:
        return ""
    told = ", ".join(f"{place} is of ROCm {_spelled(release)}" for release, place in by_release.items())
    return f"{told}: take all from one release (module load, or remove the others from PATH and LD_LIBRARY_PATH)"


def _release(place: Path) -> tuple[int, int] | None:
    """Of the installation that holds the file: by its note, else by the name of its directory."""
    for parent in place.parents if place.suffix or place.is_file() else (place, *place.parents):
        note = parent / ".info" / "version"
        text = note.read_text("ascii", "replace") if note.exists() else ""
        if not text and parent.name.startswith("rocm"):
            text = parent.name
        found = _VERSION.search(text)
        if found:
            return int(found[1]), int(found[2])
    return None


def _spelled(release: tuple[int, int]) -> str:
    return ".".join(map(str, release))


def partition(compute_units: int, whole: int | None) -> str:
    """A GPU that shows a part of its chip's compute units; "" where it shows all, or the chip is not known."""
    if not whole or compute_units >= whole * 0.9:  # a few are fused off in some products
        return ""
    return (
        f"a partition: {compute_units} of the chip's {whole} compute units, with its share of memory and bandwidth; "
        "for the whole chip: sudo amd-smi set --compute-partition SPX"
    )


def wrong_code(targets: Sequence[str], architecture: str) -> str:
    """Why a program whose device code is for `targets` has none for this device; "" where it has."""
    chips = [target.rpartition("--")[2] for target in targets if not target.startswith("host")]
    if not chips:
        return ""
    own, *features = architecture.split(":")
    same = [chip for chip in chips if chip.split(":")[0] == own]
    if not same:
        told = ", ".join(dict.fromkeys(chips))
        return f"the program has device code for {told}, none for {own}: build it with --offload-arch={own}"
    if any(_runs_on(chip, features) for chip in same):
        return ""
    told = ", ".join(dict.fromkeys(same))
    return (
        f"the program has device code for {told}, and the device is {architecture}: build it with "
        f"--offload-arch={own} for both, or set HSA_XNACK=1 where it was built for xnack+"
    )


def _runs_on(chip: str, features: Sequence[str]) -> bool:
    """A feature that the code does not name goes with both settings of the device."""
    known = {feature[:-1]: feature[-1] for feature in features}
    asked = {feature[:-1]: feature[-1] for feature in chip.split(":")[1:]}
    return all(known.get(name, sign) == sign for name, sign in asked.items())


COMPRESSED = "its device code is compressed, which an older HIP cannot load: build without --offload-compress"
STRIPPED = "its device code is stripped of symbols: build without -s, --strip-all and llvm-strip of the code object"


def stripped(listing: str) -> str:
    """Whether a disassembly shows a code object without symbols, in which no kernel can be found; "" if not."""
    labels = re.findall(r"^[0-9a-f]{8,} <([^>]+)>:", listing, re.MULTILINE)
    return "" if labels and not any(name == ".text" for name in labels) else STRIPPED
