"""Argv wrapper that takes network, other processes, secrets and write access away from a candidate's runs.

Uses Linux user namespaces through `confine.py`. Where the machine does not allow them the sandbox
is honest about it: `available` is False, `reason` says why, and only the environment, the limits and
the ban on looking into other processes are left.
"""

from __future__ import annotations

import contextlib
import marshal
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Lock

from intelliperf.processes.process import output_of
from intelliperf.processes.secrets import is_secret
from intelliperf.processes.storage import cache_directory
from intelliperf.records import Check, CheckStatus

_CONFINE = Path(__file__).with_name("confine.py")
_PROBE_DEADLINE_S = 20.0
_MARK = "sandbox-works"
_TAKEN_AWAY = "no network, no other process, one writable directory, no secrets in files or environment"
# Positive control: what is written elsewhere must not arrive, and the network must be gone.
_PROBE = """
import contextlib, pathlib, socket, sys
elsewhere, own = map(pathlib.Path, sys.argv[1:3])
(own / "inside").write_text("x")
with contextlib.suppress(OSError):
    (elsewhere / "inside").write_text("x")
if any(name != "lo" for _, name in socket.if_nameindex()):
    sys.exit("there is a network")
print("sandbox-works")
"""


# What a program needs from its surroundings to run as usual; a * stands for any end. Nothing else is handed on.
KEPT_VARIABLES = (
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "PWD", "LANG", "LANGUAGE", "LC_*", "TZ", "TERM", "TMPDIR", "COLUMNS",
    "LINES", "LD_LIBRARY_PATH", "LD_PRELOAD", "INTELLIPERF_*", "SIMT_*", "OMP_*", "GOMP_*", "KMP_*", "MALLOC_*",
    "HIP_*", "HSA_*", "ROCR_*", "ROCM_*", "ROCP_*", "ROCPROFILER_*", "AMD_*", "GPU_*", "CUDA_*", "NVIDIA_*", "NV_*",
    "NCCL_*", "RCCL_*", "XDG_RUNTIME_DIR", "XDG_CACHE_HOME", "PYTHONPATH", "PYTHONHOME", "PYTHONHASHSEED",
    "PYTHONUNBUFFERED", "VIRTUAL_ENV", "CONDA_PREFIX", "SLURM_*", "FLUX_*", "OMPI_*", "PMI_*", "PMIX_*",
)  # fmt: skip
_MOST_PROCESSES = 8192  # and threads: OpenMP on a large host takes hundreds
_SHARE_OF_MEMORY = 0.9  # of the machine's
_SHARE_OF_DISK = 0.5  # of what is free at the start
_KEY_FILES = (".env", ".envrc", ".env.local", ".netrc", ".git-credentials", ".pypirc", ".npmrc")
_MOST_PARENTS = 12


class Sandbox:
    """Made by `probe`; whether it works here is tried when it is first needed."""

    def __init__(self, find_out: Callable[[], str], passed: Sequence[str] = (), switched_off: bool = False) -> None:
        """`find_out` returns why it does not work, "" where it does; called at most once.

        `passed`: names of variables that the user hands on beside `KEPT_VARIABLES`.
        """
        self._find_out = find_out
        self._passed = tuple(passed)
        self._switched_off = switched_off
        self._lock = Lock()
        self._reason: str | None = None

    @property
    def reason(self) -> str:
        """Why it is not available; empty where it is."""
        with self._lock:
            if self._reason is None:
                self._reason = self._find_out()
        return self._reason

    @property
    def available(self) -> bool:
        return not self.reason

    @classmethod
    def probe(cls, scratch: Path, passed: Sequence[str] = ()) -> Sandbox:
        """Tried once, with what it must forbid, below the directory `scratch`. `passed`: see `Sandbox`."""

        def find_out() -> str:
            scratch.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(prefix="sandbox-", dir=scratch) as name:
                return cls._probe(Path(name))

        return cls(find_out, passed)

    @classmethod
    def _probe(cls, scratch: Path) -> str:
        outside, own = scratch / "outside", scratch / "own"
        for directory in (outside, own):
            directory.mkdir()
        argv = cls(str)._wrapped([sys.executable, "-I", "-S", "-c", _PROBE, str(outside), str(own)], [own])
        done, out, err = output_of(argv, _PROBE_DEADLINE_S)
        leaked = (outside / "inside").exists()
        if done.ok and _MARK in out and (own / "inside").exists() and not leaked:
            return ""
        said = "a directory outside was written" if leaked else (err.strip().splitlines() or [done.describe()])[-1]
        return f"it cannot be set up here, as in most containers ({said})"

    def wrap(
        self, command: Sequence[str], writable: Sequence[Path], names: Sequence[str] = (), traces: bool = False
    ) -> tuple[str, ...]:
        """`command` confined to write in `writable` (existing directories) only; unchanged where switched off.

        `names`: variables that the application itself sets. `traces`: it has to look into its children, as tools do.
        """
        if self._switched_off:
            return tuple(command)
        return self._wrapped(command, writable, names, traces)

    def _wrapped(
        self, command: Sequence[str], writable: Sequence[Path], names: Sequence[str] = (), traces: bool = False
    ) -> tuple[str, ...]:
        places = sorted({str(path.resolve()) for path in writable})
        spec = {
            "namespaces": self.available,
            "writable": places,
            "hidden": _hidden(writable) if self.available else [],
            "kept": _needed() if self.available else [],
            "environment": _environment_names((*self._passed, *names)),
            "traces": traces,
            "most_processes": _MOST_PROCESSES,
            "most_bytes": _memory_bytes(),
            "most_disk_bytes": min((_free_bytes(path) for path in writable), default=0),
        }
        return (sys.executable, "-I", "-S", str(_CONFINE), marshal.dumps(spec).hex(), *command)

    def check(self) -> Check:
        if self.available:
            return Check("sandbox", CheckStatus.PASSED, _TAKEN_AWAY)
        left = "" if self._switched_off else "; only its environment, memory, disk and processes are limited"
        return Check("sandbox", CheckStatus.NOT_RUN, self.reason + left)


def _environment_names(more: Sequence[str]) -> list[str]:
    """Names as they are in our environment, so that a secret of a kept family is left out."""
    prefixes = tuple(name[:-1] for name in KEPT_VARIABLES if name.endswith("*"))
    ours = [name for name in os.environ if name in KEPT_VARIABLES or name.startswith(prefixes)]
    secret = {name for name in ours if is_secret(name)}
    families = [name for name in KEPT_VARIABLES if not any(_of_family(name, one) for one in secret)]
    return sorted({*families, *(set(ours) - secret), *more})


def _of_family(pattern: str, name: str) -> bool:
    return pattern.endswith("*") and name.startswith(pattern[:-1])


def _hidden(writable: Sequence[Path]) -> list[str]:
    """Files that hold keys, beside and above what is judged and in the home directory, where dot files go as well."""
    found: set[Path] = set()
    home = _home()
    for place in {path.resolve() for path in writable}:
        for parent in [place, *place.parents][:_MOST_PARENTS]:
            found |= {parent / name for name in _KEY_FILES}
    if home is not None:
        with contextlib.suppress(OSError):
            found |= {entry for entry in home.iterdir() if entry.name.startswith(".")}
    own = {path.resolve() for path in writable}
    visible = {path for path in found - own if os.path.exists(path)}  # noqa: PTH110 (False where closed to us)
    return sorted(str(path) for path in visible if not path.is_symlink())


def _home() -> Path | None:
    try:
        home = Path.home().resolve()
    except (RuntimeError, OSError):
        return None
    return home if len(home.parts) > 1 and os.path.isdir(home) else None  # noqa: PTH112 (False where closed)


def _needed() -> list[str]:
    """Directories that programs run from and that may stand below hidden ones: ours, Python's, the search paths'."""
    found = {cache_directory(), Path(sys.prefix), Path(sys.base_prefix), Path(__file__).resolve().parents[1]}
    for variable in ("PATH", "LD_LIBRARY_PATH", "PYTHONPATH"):
        for entry in os.environ.get(variable, "").split(":"):
            path = Path(entry)
            if path.is_absolute():
                found |= {path, *(path.parent / name for name in ("lib", "lib64", "include") if path.name == "bin")}
    return sorted({os.path.realpath(path) for path in found if os.path.isdir(path)})  # noqa: PTH112 (False where closed)


def _memory_bytes() -> int:
    return int(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") * _SHARE_OF_MEMORY)


def _free_bytes(path: Path) -> int:
    status = os.statvfs(path)
    return max(1 << 30, int(status.f_bavail * status.f_frsize * _SHARE_OF_DISK))


UNCONFINED = Sandbox(lambda: "switched off", switched_off=True)
