"""Program that gives up rights, then becomes another: `python confine.py SPEC COMMAND…`.

Runs in the child only, and stands alone: it imports nothing of this package. SPEC is JSON with
"writable": the directories that stay writable. Everything else becomes read-only; what is written
to /tmp is private and forgotten (where overlays are to be had, else refused). There is no network,
processes outside are neither visible nor reachable, and whatever the command leaves running dies
with it. Ends like the command ends, by the same signal if by one; status 126 and a line on stderr
where the kernel refuses.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import json
import os
import signal
import socket
import struct
import sys

_MS_RDONLY, _MS_NOSUID, _MS_NODEV, _MS_REMOUNT = 1, 2, 4, 32
_MS_BIND, _MS_REC, _MS_PRIVATE = 4096, 16384, 1 << 18
_CLONE_NEWNS, _CLONE_NEWIPC, _CLONE_NEWUSER = 0x20000, 0x08000000, 0x10000000
_CLONE_NEWPID, _CLONE_NEWNET = 0x20000000, 0x40000000
_PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS = 1, 38
_AT_FDCWD, _AT_RECURSIVE = -100, 0x8000
_MOUNT_ATTR_RDONLY = 1
_SYS_MOUNT_SETATTR = 442
_SIOCSIFFLAGS, _IFF_UP, _IFF_RUNNING = 0x8914, 1, 0x40
_SHARED_MEMORY = "/dev/shm"
_TEMPORARY = ("/tmp", "/var/tmp")
_FORWARDED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)

_libc = ctypes.CDLL(None, use_errno=True)


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
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        fcntl.ioctl(asking, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", _IFF_UP | _IFF_RUNNING))


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


def _restrict_files(writable: list[str]) -> None:
    _mount("none", "/", None, _MS_REC | _MS_PRIVATE)
    kept = {path: os.open(path, os.O_PATH | os.O_DIRECTORY) for path in writable}
    _read_only_recursively()
    _mount("tmpfs", _SHARED_MEMORY, "tmpfs", _MS_NOSUID | _MS_NODEV)
    for path in _TEMPORARY:
        _overlay(path)
    for path, descriptor in kept.items():
        _mount(f"/proc/self/fd/{descriptor}", path, None, _MS_BIND)
        os.close(descriptor)
        attributes = _MS_BIND | _MS_REMOUNT | _MS_NOSUID
        _mount("none", path, None, attributes)
    _mount("proc", "/proc", "proc", _MS_NOSUID | _MS_NODEV)


def _overlay(path: str) -> None:
    """What stands in `path` stays visible; what is written there goes to memory."""
    layers = [f"{_SHARED_MEMORY}/.confine{path.replace('/', '-')}-{kind}" for kind in ("upper", "work")]
    for layer in layers:
        os.mkdir(layer)  # noqa: PTH102 (starts faster without pathlib)
    options = f"lowerdir={path},upperdir={layers[0]},workdir={layers[1]},userxattr"
    with contextlib.suppress(OSError):  # stays read-only
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


def _first_process(command: list[str], writable: list[str], directory: str) -> int:
    """Runs as process 1 of the namespace: when it ends, the kernel ends all others. Returns a wait status."""
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    _own_loopback()
    _restrict_files(writable)
    os.chdir(directory)
    pid = os.fork()
    if pid == 0:
        _libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        try:
            os.execvp(command[0], command)
        except OSError as error:
            _say(f"cannot run {command[0]}: {error.strerror}")
            os._exit(127)
    return _wait_for(pid)


def _say(text: str) -> None:
    os.write(2, f"confine: {text}\n".encode("utf-8", "surrogateescape"))


def main(argv: list[str]) -> int:
    """See the module."""
    writable = [str(path) for path in json.loads(argv[1])["writable"]]
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
            status = _first_process(argv[2:], writable, directory)
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
