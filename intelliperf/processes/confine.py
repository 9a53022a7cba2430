"""Program that gives up rights, then becomes another: `python confine.py SPEC COMMAND…`.

Runs in the child only, and stands alone: it imports nothing of this package. SPEC is a dictionary, marshalled, in
hexadecimal digits:
"writable": the directories that stay writable. Everything else becomes read-only; what is written
to /tmp is private and forgotten (where overlays are available, else refused). There is no network,
processes outside are neither visible nor reachable, and whatever the command leaves running dies
with it. "hidden": files and directories that look empty, except what "kept" names below them.
"environment": names of variables that stay, with * at the end for all that begin so; null for all.
"traces": whether it may look into other processes (ptrace and the like).
"most_processes", "most_bytes", "most_disk_bytes": above one of these the command is ended.
"namespaces": false where the kernel has none for us: then only the environment, ptrace and the
limits are taken care of. Ends like the command ends, by the same signal if by one; status 126 and
a line on stderr where the kernel refuses.
"""

from __future__ import annotations

import ctypes
import fcntl
import marshal
import os
import resource
import struct
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
else:  # what it stands for imports much that each run would wait for, and so do json and socket
    import _signal as signal

_MS_RDONLY, _MS_NOSUID, _MS_NODEV, _MS_REMOUNT = 1, 2, 4, 32
_MS_BIND, _MS_REC, _MS_PRIVATE = 4096, 16384, 1 << 18
_CLONE_NEWNS, _CLONE_NEWIPC, _CLONE_NEWUSER = 0x20000, 0x08000000, 0x10000000
_CLONE_NEWPID, _CLONE_NEWNET = 0x20000000, 0x40000000
_PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS, _PR_CAPBSET_DROP, _PR_SET_CHILD_SUBREAPER = 1, 38, 24, 36
_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER = 22, 2
_CAPABILITIES = 64
# linux/audit.h and unistd.h: ptrace, process_vm_readv and _writev, kcmp, perf_event_open, bpf, keyctl, add_key and
# pidfd_getfd
_ARCHITECTURES = {
    "x86_64": (0xC000003E, (101, 310, 311, 312, 298, 321, 250, 248, 438)),
    "aarch64": (0xC00000B7, (117, 270, 271, 272, 241, 280, 219, 217, 438)),
}
_X32_BIT = 0x40000000
_WATCH_S = 0.2
_MOST_ROUNDS = 200  # of ending what starts others meanwhile
_AT_FDCWD, _AT_RECURSIVE = -100, 0x8000
_MOUNT_ATTR_RDONLY = 1
_SYS_MOUNT_SETATTR = 442
_SIOCSIFFLAGS, _IFF_UP, _IFF_RUNNING = 0x8914, 1, 0x40
_AF_INET, _SOCK_DGRAM = 2, 2
_SHARED_MEMORY = "/dev/shm"
_TEMPORARY = ("/tmp", "/var/tmp")
_FORWARDED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)

_libc = ctypes.CDLL(None, use_errno=True)


class _Suppressed:
    """`contextlib.suppress`, without what that module imports."""

    def __init__(self, *errors: type[BaseException]) -> None:
        self._errors = errors

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> bool:
        return kind is not None and issubclass(kind, self._errors)


def _checked(name: str, returned: int) -> None:
    if returned != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


def _mount(source: str, target: str, kind: str | None, flags: int, options: str | None = None) -> None:
    texts = [None if text is None else os.fsencode(text) for text in (source, target, kind, options)]
    _checked(f"mount {target}", _libc.mount(*texts[:3], ctypes.c_ulong(flags), texts[3]))


def _become_root_of_namespace() -> None:
    user, group = os.geteuid(), os.getegid()
    flags = _CLONE_NEWUSER | _CLONE_NEWNS | _CLONE_NEWPID | _CLONE_NEWNET | _CLONE_NEWIPC
    _checked("unshare", _libc.unshare(flags))
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        descriptor = os.open(f"/proc/self/{name}", os.O_WRONLY)
        os.write(descriptor, text.encode())
        os.close(descriptor)


def _own_loopback() -> None:
    """The namespace's own 127.0.0.1, which reaches nothing outside: debuggers and MPI talk to themselves by it."""
    asking = _libc.socket(_AF_INET, _SOCK_DGRAM, 0)
    if asking < 0:
        return
    with _Suppressed(OSError):
        fcntl.ioctl(asking, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", _IFF_UP | _IFF_RUNNING))
    os.close(asking)


def _read_only_recursively() -> None:
    """`mount_setattr` reaches every mount below; the older remount only knows the root's."""

    class Attributes(ctypes.Structure):
        _fields_ = [(name, ctypes.c_uint64) for name in ("attr_set", "attr_clr", "propagation", "userns_fd")]

    wanted = Attributes(_MOUNT_ATTR_RDONLY, 0, 0, 0)
    size = ctypes.c_size_t(ctypes.sizeof(wanted))
    path = ctypes.c_char_p(b"/")
    flags = ctypes.c_uint(_AT_RECURSIVE)
    _checked(
        "mount_setattr",
        _libc.syscall(
            ctypes.c_long(_SYS_MOUNT_SETATTR), ctypes.c_int(_AT_FDCWD), path, flags, ctypes.byref(wanted), size
        ),
    )


def _restrict_files(writable: list[str], hidden: list[str], visible: list[str]) -> None:
    _mount("none", "/", None, _MS_REC | _MS_PRIVATE)
    kept = {path: os.open(path, os.O_PATH | os.O_DIRECTORY) for path in writable}
    seen = {path: os.open(path, os.O_PATH | os.O_DIRECTORY) for path in visible if _below(path, hidden)}
    _read_only_recursively()
    _mount("tmpfs", _SHARED_MEMORY, "tmpfs", _MS_NOSUID | _MS_NODEV)
    for path in _TEMPORARY:
        _overlay(path)
    for path in hidden:
        if _is_directory(path):
            _mount("tmpfs", path, "tmpfs", _MS_NOSUID | _MS_NODEV, "size=1m,mode=755")
    for path, descriptor in sorted({**seen, **kept}.items()):
        if _below(path, hidden):
            os.makedirs(path, exist_ok=True)  # noqa: PTH103
        _mount(f"/proc/self/fd/{descriptor}", path, None, _MS_BIND)
        os.close(descriptor)
        if path in kept:
            _mount("none", path, None, _MS_BIND | _MS_REMOUNT | _MS_NOSUID)
    for path in hidden:
        if os.path.exists(path) and not _is_directory(path):  # noqa: PTH110
            _mount("/dev/null", path, None, _MS_BIND)
    _mount("proc", "/proc", "proc", _MS_NOSUID | _MS_NODEV)


def _below(path: str, places: list[str]) -> bool:
    return any(path.startswith(place + "/") for place in places)


def _is_directory(path: str) -> bool:
    return os.path.isdir(path) and not os.path.islink(path)  # noqa: PTH112,PTH114 (starts faster without pathlib)


def _overlay(path: str) -> None:
    """What stands in `path` stays visible; what is written there goes to memory."""
    layers = [f"{_SHARED_MEMORY}/.confine{path.replace('/', '-')}-{kind}" for kind in ("upper", "work")]
    for layer in layers:
        os.mkdir(layer)  # noqa: PTH102 (starts faster without pathlib)
    options = f"lowerdir={path},upperdir={layers[0]},workdir={layers[1]},userxattr"
    with _Suppressed(OSError):  # stays read-only
        _mount("overlay", path, "overlay", _MS_NOSUID | _MS_NODEV, options)


def _like(status: int) -> int:
    """An exit status, or death by the same signal."""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        _libc.prctl(4, 0, 0, 0, 0)  # PR_SET_DUMPABLE off: one core file is enough
        signal.signal(number, signal.SIG_DFL) if number not in (signal.SIGKILL, signal.SIGSTOP) else None
        os.kill(os.getpid(), number)
    return os.WEXITSTATUS(status)


def _wait_for(pid: int) -> int:
    """Reap orphans until `pid` ends; returns its wait status."""
    while True:
        ended, status = os.wait()
        if ended == pid:
            return status


def _give_up_privileges(traces: bool) -> None:
    """Of the command itself: no capabilities, even for root, so that no mount can be undone; no look into others."""
    for number in range(_CAPABILITIES):
        _libc.prctl(_PR_CAPBSET_DROP, number, 0, 0, 0)
    header, data = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()  # linux/capability.h, version 3
    _libc.capset(header, data)
    _libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if not traces:
        _refuse_tracing()


def _refuse_tracing() -> None:
    """A filter of system calls: these fail with EPERM. The machine's other ABI is refused whole."""
    known = _ARCHITECTURES.get(os.uname().machine)
    if known is None:
        return
    architecture, numbers = known
    refused = 0x00050000 | 1  # SECCOMP_RET_ERRNO, EPERM
    program = [(0x20, 0, 0, 4), (0x15, 1, 0, architecture), (0x06, 0, 0, refused), (0x20, 0, 0, 0)]
    program += [(0x35, len(numbers) + 1, 0, _X32_BIT)]
    program += [(0x15, len(numbers) - at, 0, number) for at, number in enumerate(numbers)]
    program += [(0x06, 0, 0, 0x7FFF0000), (0x06, 0, 0, refused)]
    filters = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *row) for row in program))
    whole = ctypes.create_string_buffer(struct.pack("HP", len(program), ctypes.addressof(filters)))
    _checked("seccomp", _libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(whole), 0, 0))


def _environment(names: list[str] | None) -> dict[str, str]:
    if names is None:
        return dict(os.environ)
    prefixes = tuple(name[:-1] for name in names if name.endswith("*"))
    return {name: value for name, value in os.environ.items() if name in names or name.startswith(prefixes)}


class _Limits:
    """What the command and all that it starts may use together; looked at now and then."""

    def __init__(self, spec: dict[str, object], writable: list[str]) -> None:
        self._processes, self._bytes, self._disk = (
            int(str(spec.get(name) or 0)) for name in ("most_processes", "most_bytes", "most_disk_bytes")
        )
        self._writable = writable
        self._free = self._free_bytes()
        self._page = os.sysconf("SC_PAGE_SIZE")

    def _free_bytes(self) -> list[int]:
        found = []
        for path in self._writable:
            status = os.statvfs(path)
            found.append(status.f_bavail * status.f_frsize)
        return found

    def broken(self, family: list[int]) -> str:
        """What is used beyond its limit, in words; empty if nothing. `family`: processes to count."""
        tasks = resident = 0
        for pid in family:
            with _Suppressed(OSError, ValueError, IndexError):
                tasks += len(os.listdir(f"/proc/{pid}/task"))  # noqa: PTH208
                words = _read(f"/proc/{pid}/statm").split()
                resident += (int(words[1]) - int(words[2])) * self._page
        if self._processes and tasks > self._processes:
            return f"more than {self._processes} processes and threads"
        if self._bytes and resident > self._bytes:
            return f"more than {self._bytes >> 20} MiB of memory"
        used = max((before - now for before, now in zip(self._free, self._free_bytes())), default=0)  # noqa: B905
        if self._disk and used > self._disk:
            return f"more than {self._disk >> 20} MiB of disk"
        return ""


def _read(path: str) -> str:
    with open(path, encoding="latin-1") as file:  # noqa: PTH123 (starts faster without pathlib)
        return file.read()


def _others() -> list[int]:
    """All processes that we see but ourselves; in a namespace of our own these are the command's."""
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()]  # noqa: PTH208


def _descendants() -> list[int]:
    """Our children and theirs."""
    parents: dict[int, int] = {}
    for pid in _others():
        with _Suppressed(OSError, ValueError, IndexError):
            parents[pid] = int(_read(f"/proc/{pid}/stat").rpartition(")")[2].split()[1])
    found: set[int] = {os.getpid()}
    while True:
        more = {pid for pid, parent in parents.items() if parent in found} - found
        if not more:
            return sorted(found - {os.getpid()})
        found |= more


def _supervise(pid: int, limits: _Limits, alone: bool) -> int:
    """Reap orphans until `pid` ends; returns its wait status. What breaks a limit is ended, and so is what is left.

    `alone`: all processes that we see are the command's.
    """
    family = _others if alone else _descendants
    told = ""
    while True:
        ended, status = os.waitpid(-1, os.WNOHANG)
        if ended == pid:
            break
        if ended == 0 and signal.sigtimedwait([signal.SIGCHLD], _WATCH_S) is None:
            told = told or limits.broken(family())
            if told:
                _kill(family())
    if told:
        _say(f"ended: it used {told}")
    for _ in range(_MOST_ROUNDS):
        left = family()
        if not left:
            break
        _kill(left)
        with _Suppressed(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        time.sleep(0.005)
    return status


def _kill(family: list[int]) -> None:
    for pid in family:
        with _Suppressed(OSError):
            os.kill(pid, signal.SIGKILL)


def _start(command: list[str], spec: dict[str, object]) -> int:
    """The command's process. Leaves SIGCHLD blocked, to be waited for."""
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
    pid = os.fork()
    if pid == 0:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])
        names = spec.get("environment")
        environment = _environment([str(name) for name in names] if isinstance(names, list) else None)
        for number in _FORWARDED:
            signal.signal(number, signal.SIG_DFL)
        _give_up_privileges(bool(spec.get("traces")))
        try:
            os.execvpe(command[0], command, environment)
        except OSError as error:
            _say(f"cannot run {command[0]}: {error.strerror}")
            os._exit(127)
    return pid


def _first_process(command: list[str], spec: dict[str, object], directory: str) -> int:
    """Runs as process 1 of the namespace: when it ends, the kernel ends all others. Returns a wait status."""
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    _own_loopback()
    writable, hidden, kept = _paths(spec, "writable"), _paths(spec, "hidden"), _paths(spec, "kept")
    _restrict_files(writable, hidden, kept)
    os.chdir(directory)
    limits = _Limits(spec, writable)
    return _supervise(_start(command, spec), limits, alone=True)


def _paths(spec: dict[str, object], name: str) -> list[str]:
    found = spec.get(name)
    return [str(path) for path in found] if isinstance(found, list) else []


def _without_namespaces(command: list[str], spec: dict[str, object]) -> int:
    """What still works of it. Returns a wait status."""
    _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    pid = _start(command, spec)
    for number in _FORWARDED:
        signal.signal(number, lambda *_: os.kill(pid, signal.SIGKILL))
    return _supervise(pid, _Limits(spec, _paths(spec, "writable")), alone=False)


def _say(text: str) -> None:
    os.write(2, f"confine: {text}\n".encode("utf-8", "surrogateescape"))


def main(argv: list[str]) -> int:
    """See the module."""
    spec: dict[str, object] = marshal.loads(bytes.fromhex(argv[1]))
    if not spec.get("namespaces", True):
        return _like(_without_namespaces(argv[2:], spec))
    directory = os.getcwd()  # noqa: PTH109
    report, to_parent = os.pipe()
    try:
        _become_root_of_namespace()
    except OSError as error:
        _say(str(error))
        return 126
    first = os.fork()
    if first == 0:
        os.close(report)
        try:
            status = _first_process(argv[2:], spec, directory)
        except OSError as error:
            _say(str(error))
            status = 126 << 8
        os.write(to_parent, status.to_bytes(2, "little"))
        os._exit(0)
    os.close(to_parent)
    for number in _FORWARDED:
        signal.signal(number, lambda *_: os.kill(first, signal.SIGKILL))
    told = os.read(report, 2)
    status = _wait_for(first)
    if len(told) < 2:
        return _like(status)
    return _like(int.from_bytes(told, "little"))


if __name__ == "__main__":
    sys.exit(main(sys.argv))
