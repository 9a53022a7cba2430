"""A target's sources on this machine, and which version of them this is."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from intelliperf.errors import UsageError
from intelliperf.history.records import Revision
from intelliperf.nightly.plan import Target
from intelliperf.processes.process import output_of
from intelliperf.processes.storage import write_atomically

_GIT_DEADLINE_S = 60.0
_FETCH_DEADLINE_S = 900.0
_LEFT_OUT = frozenset({".git", ".intelliperf", "__pycache__", ".env"})
_MAX_FILES = 50_000
_MANIFEST_FILES = 2_000  # more are not kept in the database
_LFS_POINTER = b"version https://git-lfs.github.com/spec/"
_QUIET = {"GIT_TERMINAL_PROMPT": "0", "GIT_LFS_SKIP_SMUDGE": "0", "LC_ALL": "C"}


@dataclass(frozen=True)
class Checkout:
    """Where the project lies, and what it is."""

    project: Path
    repository: Path | None  # the top of its git work tree
    revision: Revision
    sources: str  # hash of all files


def checkout(target: Target, sources: Path, stat_cache: StatCache) -> Checkout:
    """A directory as it is; of a repository, its ref in a work tree below `sources`.

    Raises `UsageError` for what is missing: the directory, the repository, the ref, the path, an LFS file's content.
    """
    if target.directory is not None:
        if not target.directory.is_dir():
            raise UsageError(f"target {target.name}: no such directory: {target.directory}")
        project = target.directory
    else:
        project = _from_repository(target, sources)
    files = _files(project, target)
    hashes = {name: stat_cache.hash_of(project / name) for name in files}
    pointers = [name for name in files if _is_pointer(project / name)]
    if pointers:
        raise UsageError(
            f"target {target.name}: {pointers[0]} is a Git LFS pointer: install git-lfs and run git lfs pull"
        )
    digest = hashlib.sha256(json.dumps(hashes, sort_keys=True).encode()).hexdigest()
    top = _git(["rev-parse", "--show-toplevel"], project)
    commit = _git(["rev-parse", "HEAD"], project) if top else None
    dirty = bool(top and _git(["status", "--porcelain", "--ignore-submodules=none", "--", "."], project))
    manifest = hashes if len(hashes) <= _MANIFEST_FILES else {}
    return Checkout(project, Path(top) if top else None, Revision(commit or None, dirty, manifest), digest)


def _from_repository(target: Target, sources: Path) -> Path:
    bare = sources / f"{target.name}.git"
    url = target.repository or ""
    if bare.is_dir() and _git(["config", "remote.origin.url"], bare) != url:
        shutil.rmtree(bare)
    if not bare.is_dir():
        sources.mkdir(parents=True, exist_ok=True)
        _fetched(["clone", "--quiet", "--bare", "--", url, str(bare)], sources, target, "cannot be cloned")
        _git(["config", "remote.origin.fetch", "+refs/heads/*:refs/heads/*"], bare)
    else:
        _fetched(["fetch", "--quiet", "--prune", "--tags", "--force", "origin"], bare, target, "cannot be fetched")
    ref = target.ref or "HEAD"
    commit = _git(["rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}"], bare)
    if not commit:
        raise UsageError(f"target {target.name}: {url} has no ref {ref!r} (any more)")
    tree = work_tree(bare, commit, sources / f"{target.name}-{commit[:12]}")
    project = (tree / (target.path or ".")).resolve()
    if tree.resolve() not in (project, *project.parents) or not project.is_dir():
        raise UsageError(f"target {target.name}: {url} at {ref} has no directory {target.path!r}")
    return project


def work_tree(repository: Path, commit: str, place: Path) -> Path:
    """The commit's files at `place`, with submodules. Raises `UsageError` where git cannot make them."""
    if not (place / ".git").exists():
        shutil.rmtree(place, ignore_errors=True)
        place.parent.mkdir(parents=True, exist_ok=True)
        making = Path(tempfile.mkdtemp(prefix=f".{place.name}-", dir=place.parent))
        try:
            _made(["clone", "--quiet", "--shared", "--no-checkout", "--", str(repository), str(making)], place.parent)
            _made(["checkout", "--quiet", "--detach", commit], making)
            if (making / ".gitmodules").is_file():
                _made(["submodule", "update", "--quiet", "--init", "--recursive"], making)
            making.replace(place)
        finally:
            shutil.rmtree(making, ignore_errors=True)
    return place


def commits_between(
    repository: Path, good: str | None, bad: str | None, below: Path, limit: int = 50
) -> tuple[str, ...]:
    """ "abc1234 subject" of the commits that lead from `good` to `bad` and touch the project, newest first."""
    if not good or not bad or good == bad:
        return ()
    words = ["log", f"--max-count={limit}", "--format=%h %s", f"{good}..{bad}", "--", str(below)]
    return tuple(_git(words, repository).splitlines())


def files_between(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[str, ...]:
    """The files that differ, where no commits can be named."""
    return tuple(sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name)))


def input_hashes(target: Target, project: Path, command: Iterable[str], stat_cache: StatCache) -> dict[str, str]:
    """Hashes of what the command reads: the target's `inputs`, and arguments that name files."""
    found: dict[str, str] = {}
    for pattern in target.inputs:
        base = Path(pattern).parent if Path(pattern).is_absolute() else project
        matches = sorted(base.glob(Path(pattern).name if Path(pattern).is_absolute() else pattern))
        if not matches:
            raise UsageError(f"target {target.name}: no file matches the input {pattern!r} in {base}")
        found.update((str(path), stat_cache.hash_of(path)) for path in matches if path.is_file())
    for word in list(command)[1:]:
        path = project / word
        if word and "\0" not in word and len(word) < 4096 and path.is_file():
            found[str(path)] = stat_cache.hash_of(path)
    return found


def _files(project: Path, target: Target) -> list[str]:
    """What git would keep of the project, else all files; relative, sorted. What a build made is left out by its
    .gitignore only.
    """
    words = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    done, listed, _ = output_of(["git", *words], _GIT_DEADLINE_S, _QUIET, project)
    if done.ok and listed:
        names = [name for name in listed.split("\0") if name]
        found: list[str] = []
        for name in names:  # a submodule is listed as one directory
            path = project / name
            found += _walked(path, project) if path.is_dir() and not path.is_symlink() else [name]
        names = [name for name in found if (project / name).is_file() and not _LEFT_OUT.intersection(Path(name).parts)]
    else:
        names = _walked(project, project)
    if len(names) > _MAX_FILES:
        raise UsageError(
            f"target {target.name}: {project} holds {len(names):,} files; give the program's own directory"
        )
    return sorted(set(names))


def _walked(top: Path, project: Path) -> list[str]:
    names = []
    for root, directories, files in os.walk(top):
        directories[:] = sorted(set(directories) - _LEFT_OUT)
        names += [os.path.relpath(Path(root) / name, project) for name in files if name not in _LEFT_OUT]
    return [name for name in names if (project / name).is_file()]


def _is_pointer(path: Path) -> bool:
    if path.stat().st_size > 1024:
        return False
    with path.open("rb") as file:
        return file.read(len(_LFS_POINTER)) == _LFS_POINTER


def _fetched(words: list[str], directory: Path, target: Target, problem: str) -> None:
    done, _, err = output_of(["git", *words], _FETCH_DEADLINE_S, _QUIET, directory)
    if not done.ok:
        why = (err.strip().splitlines() or [done.describe()])[-1]
        raise UsageError(f"target {target.name}: the repository {target.repository} {problem}: {why}")


def _made(words: list[str], directory: Path) -> None:
    done, _, err = output_of(["git", *words], _FETCH_DEADLINE_S, _QUIET, directory)
    if not done.ok:
        raise UsageError(f"git {words[0]} failed: {(err.strip().splitlines() or [done.describe()])[-1]}")


def _git(words: list[str], directory: Path) -> str:
    """What git prints; empty where it fails."""
    done, out, _ = output_of(["git", *words], _GIT_DEADLINE_S, _QUIET, directory)
    return out.strip() if done.ok else ""


class StatCache:
    """Hashes of files, not read again while size, times and inode stay: 100 targets are looked at in seconds."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._new: dict[str, list[object]] = {}
        try:
            self._known: dict[str, list[object]] = json.loads(path.read_text("utf-8"))
        except (OSError, ValueError):
            self._known = {}

    def hash_of(self, path: Path) -> str:
        status = path.stat()
        key = [status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino]
        name = str(path)
        known = self._known.get(name)
        if known is not None and known[:-1] == key:
            self._new[name] = known
            return str(known[-1])
        digest = hashlib.sha256()
        with path.open("rb") as file:
            while chunk := file.read(1 << 20):
                digest.update(chunk)
        self._new[name] = [*key, digest.hexdigest()]
        return digest.hexdigest()

    def save(self) -> None:
        write_atomically(self._path, json.dumps({**self._known, **self._new}).encode("utf-8", "surrogateescape"))
