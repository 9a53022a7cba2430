"""What decides whether a visit would see anything new: sources, build, inputs, compiler, driver, device, ourselves."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping
from functools import lru_cache

from intelliperf import __version__
from intelliperf.dropins.toolchain import find_toolchain
from intelliperf.errors import IntelliPerfError
from intelliperf.nightly.checkout import Checkout
from intelliperf.nightly.plan import Device, Target
from intelliperf.processes.process import output_of

_VERSION_DEADLINE_S = 20.0
_COMPILERS = {
    "emulator": ("g++",),
    "cuda": ("nvcc", "g++"),
    "rocm": ("hipcc", "g++"),
    "auto": ("nvcc", "hipcc", "g++"),
}


def fingerprint(parts: Mapping[str, str]) -> str:
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def parts_of(
    target: Target, workload: str, device: Device, checkout: Checkout, inputs: Mapping[str, str]
) -> dict[str, str]:
    """By name, what the visit depends on, so that a report can say what changed."""
    command = dict(target.commands)[workload]
    build = [target.build, target.build_timeout_s]
    run = [command, target.environment, target.expect_exit, target.launcher, target.top_n, target.run_timeout_s]
    return {
        "sources": checkout.sources,
        "build": _hashed(build),
        "command": _hashed(run),
        "inputs": _hashed(inputs),
        "compiler": compilers(device.backend),
        "device": f"{device}; {drivers(device.backend)}",
        "intelliperf": __version__,
    }


def search_fingerprint(parts: Mapping[str, str], target: Target) -> str:
    """Of a search for patches, which also depends on who rewrites and what judges. Its workload does not matter."""
    rewriter = [target.model, target.provider, target.num_attempts, target.unit_tests]
    kept = {name: value for name, value in parts.items() if name not in ("command", "inputs")}
    return fingerprint({**kept, "rewriter": _hashed(rewriter), "commands": _hashed(target.commands)})


@lru_cache
def compilers(backend: str) -> str:
    """First lines of what the compilers say that they are."""
    found = [_first_line(name, "--version") for name in _COMPILERS[backend]]
    if backend in ("emulator", "auto"):
        found.append(_our_compiler())
    return "; ".join(line for line in found if line) or "none"


@lru_cache
def drivers(backend: str) -> str:
    """The GPUs and their driver, of a back end that uses them."""
    if backend == "emulator":
        return "no driver"
    nvidia = _output("nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader")
    amd = _output("rocm-smi", "--showproductname", "--showdriverversion", "--csv") if backend != "cuda" else ""
    return "; ".join(text for text in (nvidia, amd) if text) or "no driver"


def _our_compiler() -> str:
    try:
        return find_toolchain().identity
    except IntelliPerfError:
        return ""


def _first_line(*words: str) -> str:
    lines = _output(*words).splitlines()
    return lines[0] if lines else ""


def _output(*words: str) -> str:
    if shutil.which(words[0]) is None:
        return ""
    done, out, _ = output_of(list(words), _VERSION_DEADLINE_S)
    return out.strip() if done.ok else ""


def _hashed(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode("utf-8", "surrogateescape")).hexdigest()[:16]
